//! RON text to syntax tree.
//!
//! Accepts RON with the extensions `implicit_some` (an optional value may be written without `Some`) and
//! comments, trailing commas, raw strings and raw identifiers as RON has them. Everything else is read as
//! written; what a value means is decided by the reader of the key, and what may not stand twice by `doubles`.

mod scalars;

pub use scalars::{float, integer};

use super::{Field, Mistake, Node, Place, Value};

/// Deepest nesting; RON's own limit.
const DEEPEST: usize = 128;

/// Reads a whole text as one value.
///
/// # Errors
/// Where the text is not RON.
pub fn parse(text: &str, source: u32) -> Result<Node, Mistake> {
    let mut parser = Parser {
        text,
        at: 0,
        source,
        depth: 0,
    };
    parser.extensions()?;
    let node = parser.value()?;
    parser.skip()?;
    if parser.at < text.len() {
        return Err(parser.mistake("expected the end of the text"));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    source: u32,
    depth: usize,
}

/// Whether `c` can start an identifier.
fn starts_word(c: char) -> bool {
    c == '_' || unicode_letter(c)
}

/// Whether `c` can go on an identifier.
fn continues_word(c: char) -> bool {
    starts_word(c) || c.is_ascii_digit()
}

fn unicode_letter(c: char) -> bool {
    c.is_alphabetic()
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn here(&self) -> Place {
        Place {
            source: self.source,
            offset: self.at,
        }
    }

    /// A mistake at the next token, which the message names.
    fn mistake(&self, expected: &str) -> Mistake {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(c) => format!("`{c}`"),
        };
        self.mistake_at(self.at, format!("{expected}, found {found}"))
    }

    fn mistake_at(&self, offset: usize, message: impl Into<String>) -> Mistake {
        let place = Place {
            source: self.source,
            offset,
        };
        Mistake::new(place, "", message)
    }

    /// Passes `token` if it is next.
    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), Mistake> {
        loop {
            self.take_while(char::is_whitespace);
            if self.eat("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                self.block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn block_comment(&mut self) -> Result<(), Mistake> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            if self.eat("/*") {
                depth += 1;
            } else if self.eat("*/") {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            } else if let Some(c) = self.peek() {
                self.at += c.len_utf8();
            } else {
                return Err(self.mistake_at(start, "this comment has no closing `*/`"));
            }
        }
    }

    /// Passes `#![enable(...)]` lines: what they enable is always on.
    fn extensions(&mut self) -> Result<(), Mistake> {
        self.eat("\u{feff}");
        self.skip()?;
        while self.eat("#") {
            for token in ["!", "[", "enable", "("] {
                self.skip()?;
                if !self.eat(token) {
                    return Err(self.mistake(&format!("expected `{token}` of `#![enable(...)]`")));
                }
            }
            self.take_while(|c| c != ')');
            for token in [")", "]"] {
                self.skip()?;
                if !self.eat(token) {
                    return Err(self.mistake(&format!("expected `{token}` of `#![enable(...)]`")));
                }
            }
            self.skip()?;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Node, Mistake> {
        self.skip()?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.mistake_at(self.at, "values are nested too deeply"));
        }
        let place = self.here();
        let value = match self.peek() {
            Some('(') => self.parentheses()?,
            Some('[') => Value::List(self.sequence("[", "]")?),
            Some('{') => self.map()?,
            Some('"') => Value::Text(self.string()?),
            Some('\'') => self.character()?,
            Some(c) if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') => self.number()?,
            Some(c) if starts_word(c) => self.word_value()?,
            _ => return Err(self.mistake("expected a value")),
        };
        self.depth -= 1;
        Ok(Node { place, value })
    }

    /// A value that starts with a letter: raw string, byte string, word, `Name(...)`.
    fn word_value(&mut self) -> Result<Value, Mistake> {
        let rest = self.rest();
        if rest.starts_with("r\"") || (rest.starts_with("r#") && self.is_raw_string()) {
            return self.raw_string().map(Value::Text);
        }
        if rest.starts_with("b\"") || rest.starts_with("b'") {
            let start = self.at;
            self.at += 1;
            match self.peek() {
                Some('"') => drop(self.string()?),
                _ => drop(self.character()?),
            }
            return Ok(Value::Verbatim(self.text[start..self.at].to_owned()));
        }
        let name = self.word();
        if matches!(name.as_str(), "inf" | "NaN") {
            return Ok(Value::Number(name));
        }
        let end = self.at;
        self.skip()?;
        if self.peek() != Some('(') {
            self.at = end;
            return Ok(Value::Word(name));
        }
        let place = self.here();
        let value = self.parentheses()?;
        Ok(Value::Named(name, Box::new(Node { place, value })))
    }

    /// An identifier, with or without `r#`; the caller has seen its first letter.
    fn word(&mut self) -> String {
        self.eat("r#");
        self.take_while(continues_word).to_owned()
    }

    fn parentheses(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        self.eat("(");
        self.skip()?;
        if self.starts_key()? {
            return self.fields(start).map(Value::Struct);
        }
        self.at = start;
        self.sequence("(", ")").map(Value::Tuple)
    }

    /// Whether `key:` is next; changes nothing.
    fn starts_key(&mut self) -> Result<bool, Mistake> {
        let start = self.at;
        let is_word = self.peek().is_some_and(starts_word) && !self.word().is_empty();
        self.skip()?;
        let is_key = is_word && self.peek() == Some(':');
        self.at = start;
        Ok(is_key)
    }

    fn fields(&mut self, start: usize) -> Result<Vec<Field>, Mistake> {
        let mut fields = Vec::new();
        loop {
            self.skip()?;
            if self.eat(")") {
                return Ok(fields);
            }
            let place = self.here();
            if !self.peek().is_some_and(starts_word) {
                return Err(self.unclosed(start, '(', "expected a key"));
            }
            let key = self.word();
            self.skip()?;
            if !self.eat(":") {
                return Err(self.mistake(&format!("expected `:` after the key `{key}`")));
            }
            let value = self.value()?;
            fields.push(Field { key, place, value });
            self.skip()?;
            if !self.eat(",") && self.peek() != Some(')') {
                return Err(self.unclosed(start, '(', "expected `,` or `)`"));
            }
        }
    }

    fn sequence(&mut self, open: &str, close: &str) -> Result<Vec<Node>, Mistake> {
        let start = self.at;
        self.eat(open);
        let mut nodes = Vec::new();
        loop {
            self.skip()?;
            if self.eat(close) {
                return Ok(nodes);
            }
            if self.at == self.text.len() {
                let bracket = if open == "(" { '(' } else { '[' };
                return Err(self.unclosed(start, bracket, "expected a value"));
            }
            nodes.push(self.value()?);
            self.skip()?;
            if !self.eat(",") && !self.rest().starts_with(close) {
                let bracket = if open == "(" { '(' } else { '[' };
                return Err(self.unclosed(start, bracket, &format!("expected `,` or `{close}`")));
            }
        }
    }

    /// At the end of the text the opening bracket is the better place to name.
    fn unclosed(&self, start: usize, bracket: char, expected: &str) -> Mistake {
        if self.at < self.text.len() {
            return self.mistake(expected);
        }
        self.mistake_at(start, format!("this `{bracket}` is never closed"))
    }

    fn map(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        self.eat("{");
        let mut entries = Vec::new();
        loop {
            self.skip()?;
            if self.eat("}") {
                return Ok(Value::Map(entries));
            }
            if self.at == self.text.len() {
                return Err(self.unclosed(start, '{', ""));
            }
            let key = self.value()?;
            self.skip()?;
            if !self.eat(":") {
                return Err(self.mistake("expected `:`"));
            }
            entries.push((key, self.value()?));
            self.skip()?;
            if !self.eat(",") && self.peek() != Some('}') {
                return Err(self.unclosed(start, '{', "expected `,` or `}`"));
            }
        }
    }
}
