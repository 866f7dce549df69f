//! Numbers, strings and characters.

use super::{Mistake, Parser, Value};

impl Parser<'_> {
    pub(super) fn number(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        if self.rest().starts_with(['+', '-']) {
            self.at += 1;
        }
        let is_exponent = |text: &str| {
            text.ends_with(['e', 'E']) && !text.trim_start_matches(['+', '-']).starts_with("0x")
        };
        loop {
            self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
            if is_exponent(&self.text[start..self.at]) && self.rest().starts_with(['+', '-']) {
                self.at += 1;
            } else {
                break;
            }
        }
        let text = &self.text[start..self.at];
        if integer(text).is_none() && float(text).is_none() {
            return Err(self.mistake_at(start, format!("`{text}` is not a number")));
        }
        Ok(Value::Number(text.to_owned()))
    }

    /// A string in double quotes.
    pub(super) fn string(&mut self) -> Result<String, Mistake> {
        let start = self.at;
        self.at += 1;
        let mut string = String::new();
        loop {
            match self.peek() {
                None => return Err(self.mistake_at(start, "this string has no closing `\"`")),
                Some('"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some('\\') => string.extend(self.escape()?),
                Some(c) => {
                    self.at += c.len_utf8();
                    string.push(c);
                }
            }
        }
    }

    /// An escape sequence; `None` for a line break that is left out.
    fn escape(&mut self) -> Result<Option<char>, Mistake> {
        let start = self.at;
        self.at += 1;
        let wrong = |parser: &Self| {
            let text = &parser.text[start..parser.at];
            parser.mistake_at(start, format!("`{text}` is not an escape sequence"))
        };
        let Some(c) = self.peek() else {
            return Err(wrong(self));
        };
        self.at += c.len_utf8();
        let escaped = match c {
            '"' | '\'' | '\\' => c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'x' => {
                let digits = self.rest().get(..2).unwrap_or_default();
                self.at += digits.len();
                char_from_hex(digits).ok_or_else(|| wrong(self))?
            }
            'u' if self.eat("{") => {
                let digits = self.take_while(|c| c.is_ascii_hexdigit());
                if !self.eat("}") {
                    return Err(wrong(self));
                }
                char_from_hex(digits).ok_or_else(|| wrong(self))?
            }
            '\n' => {
                self.take_while(char::is_whitespace);
                return Ok(None);
            }
            _ => return Err(wrong(self)),
        };
        Ok(Some(escaped))
    }

    /// Whether `r#...` goes on to a quote: `r#"text"#`, not `r#word`.
    pub(super) fn is_raw_string(&self) -> bool {
        self.rest()[1..].trim_start_matches('#').starts_with('"')
    }

    /// A string such as `r#"text"#`.
    pub(super) fn raw_string(&mut self) -> Result<String, Mistake> {
        let start = self.at;
        self.at += 1;
        let hashes = self.take_while(|c| c == '#');
        self.at += 1;
        let close = format!("\"{hashes}");
        let rest = self.rest();
        let Some(end) = rest.find(&close) else {
            return Err(self.mistake_at(start, format!("this string has no closing `{close}`")));
        };
        self.at += end + close.len();
        Ok(rest[..end].to_owned())
    }

    pub(super) fn character(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some('\\') => drop(self.escape()?),
            Some(c) if c != '\'' => self.at += c.len_utf8(),
            _ => return Err(self.mistake("expected a character")),
        }
        if !self.eat("'") {
            return Err(self.mistake_at(start, "this character has no closing `'`"));
        }
        Ok(Value::Verbatim(self.text[start..self.at].to_owned()))
    }
}

fn char_from_hex(digits: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Reads an integer as RON writes it: sign, `0x`, `0b`, `0o`, underscores, type suffix.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    let digits = digits
        .find(['i', 'u'])
        .filter(|&at| is_type(&digits[at..]))
        .map_or(digits, |at| &digits[..at]);
    if digits.starts_with('_') {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(&digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

fn is_type(suffix: &str) -> bool {
    matches!(&suffix[1..], "8" | "16" | "32" | "64")
}

/// Reads a number that may have a fraction or exponent.
pub fn float(text: &str) -> Option<f64> {
    let plain = text
        .strip_suffix("f32")
        .or_else(|| text.strip_suffix("f64"))
        .unwrap_or(text);
    if let Some(whole) = integer(plain) {
        return Some(whole as f64);
    }
    let is_number = plain
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-' | 'e' | 'E'));
    match plain.trim_start_matches(['+', '-']) {
        "inf" | "NaN" => plain.parse().ok(),
        rest if is_number && !rest.starts_with('_') => plain.replace('_', "").parse().ok(),
        _ => None,
    }
}
