//! The text of a `GraphML` file in the encoding that it declares.
//!
//! Guarantees: never panics; ISO-8859-1 is decoded, and so is UTF-16 with a byte-order mark. In a file of UTF-8, declared or not,
//! bytes that are none become the replacement character, as in the other formats: labels are free text.
//! Fails with: [`LineError`] for other encodings, unless the text is ASCII all the same.

use crate::text_file::owned;
use crate::topology::formats::fabric_file::LineError;

/// The largest part of a file in which its declaration stands \[bytes\].
const HEAD: usize = 256;

/// The text of a file, without its byte-order mark.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, LineError> {
    match bytes[..] {
        [0xFF, 0xFE, ref rest @ ..] => return utf_16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, ref rest @ ..] => return utf_16(rest, u16::from_be_bytes),
        _ => {}
    }
    let declared = declared(&bytes);
    match declared.to_ascii_lowercase().as_str() {
        "" | "utf-8" | "utf8" => Ok(owned(String::from_utf8_lossy(&bytes).into_owned())),
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" => {
            Ok(bytes.into_iter().map(char::from).collect())
        }
        _ => String::from_utf8(bytes)
            .ok()
            .filter(|text| text.is_ascii())
            .ok_or_else(|| {
                let reason = format!(
                    "the encoding `{declared}` is not read, expected `UTF-8` or `ISO-8859-1`, or UTF-16 with a byte-order mark"
                );
                LineError::new(1, reason)
            }),
    }
}

/// The encoding that the XML declaration at the start names; empty when it names none.
fn declared(bytes: &[u8]) -> String {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).into_owned();
    let head = owned(head);
    let declaration = head
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"));
    let value = declaration.and_then(|(inside, _)| {
        let (_, value) = inside.split_once("encoding")?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let quote = value
            .chars()
            .next()
            .filter(|quote| ['"', '\''].contains(quote))?;
        value[1..].split(quote).next()
    });
    value.unwrap_or_default().to_owned()
}

/// A text of words of two bytes.
fn utf_16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> Result<String, LineError> {
    let (words, rest) = bytes.as_chunks();
    let units: Vec<u16> = words.iter().map(|&pair| word(pair)).collect();
    let text = String::from_utf16(&units).ok().filter(|_| rest.is_empty());
    text.ok_or_else(|| {
        let reason =
            "this begins as UTF-16 and is none (is the file cut off?), expected UTF-8 or UTF-16";
        LineError::new(0, reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_the_encoding_they_declare() {
        let latin = |name: &str| {
            let head = format!("<?xml version='1.0' encoding='{name}'?><a>");
            [head.as_bytes(), b"M\xFCnchen</a>"].concat()
        };
        for name in ["ISO-8859-1", "latin1"] {
            let text = decode(latin(name)).unwrap();
            assert!(text.ends_with("<a>M\u{fc}nchen</a>"), "{text}");
        }
        assert!(decode(latin("UTF-8")).unwrap().contains('\u{fffd}'));
        assert_eq!(
            decode(latin("KOI8-R")).unwrap_err(),
            LineError::new(
                1,
                "the encoding `KOI8-R` is not read, expected `UTF-8` or `ISO-8859-1`, or UTF-16 with a byte-order mark"
            )
        );
        let ascii = b"<?xml version=\"1.0\" encoding = \"US-ASCII\"?><a/>".to_vec();
        assert!(decode(ascii).unwrap().ends_with("<a/>"));
        assert_eq!(decode(b"\xEF\xBB\xBF<a/>".to_vec()).unwrap(), "<a/>");
    }

    #[test]
    fn utf_16_is_read_when_it_has_a_mark() {
        let text = "<a>M\u{fc}nchen \u{1f600}</a>";
        let bytes = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let words = std::iter::once(0xFEFF).chain(text.encode_utf16());
            words.flat_map(order).collect()
        };
        assert_eq!(decode(bytes(u16::to_le_bytes)).unwrap(), text);
        assert_eq!(decode(bytes(u16::to_be_bytes)).unwrap(), text);
        let mut cut = bytes(u16::to_le_bytes);
        cut.pop();
        assert!(decode(cut).unwrap_err().reason.contains("begins as UTF-16"));
    }
}
