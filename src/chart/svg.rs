//! A finished chart as SVG text: for files, for pages, for pixels.

use super::canvas::Hover;
use super::theme::SIZE;
use super::theme::{PAPER, SERIES, hexadecimal, roles};
use std::fmt::Write;

/// Line that opens the drawing.
const OPEN: &str = "<svg ";
/// Name of the format, which a page does not need.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A drawing in the colours of paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// Takes what plotters wrote; every curve gets the dash of its role, and places that tell a value lie above all.
    pub(super) fn new(mut text: String, hovers: &[Hover]) -> Self {
        for role in &SERIES {
            if let Some(dash) = role.dash {
                let stroke = format!("stroke=\"{}\"", hexadecimal(role.color));
                let dashed = format!("{stroke} stroke-dasharray=\"{dash}\"");
                text = text.replace(&stroke, &dashed);
            }
        }
        if let (Some(end), false) = (text.rfind("</svg>"), hovers.is_empty()) {
            let mut above = String::from("<g fill=\"transparent\">\n");
            for Hover { at, size, text } in hovers {
                let ((x, y), (width, height), text) = (at, size, escape(text));
                let _ = writeln!(
                    above,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{text}</title></rect>"
                );
            }
            text.insert_str(end, &(above + "</g>\n"));
        }
        Self { text }
    }

    /// Whether it is wider than a chart on its own.
    pub fn is_wide(&self) -> bool {
        let width = self.text.split("width=\"").nth(1);
        let width = width.and_then(|rest| rest.split('"').next()?.parse::<u32>().ok());
        width.is_some_and(|width| width > SIZE.0)
    }

    /// A file of its own, on white.
    pub fn standalone(&self) -> String {
        let paper = hexadecimal(PAPER.color);
        let background = format!("<rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>\n");
        match self.text.find(">\n") {
            Some(end) => {
                let (open, rest) = self.text.split_at(end + 2);
                format!("{open}{background}{rest}")
            }
            None => self.text.clone(),
        }
    }

    /// Part of a page: colours are custom properties, `label` is what a screen reader says.
    pub fn inline(&self, label: &str) -> String {
        let mut text = self.text.replacen(NAMESPACE, "", 1);
        for role in roles() {
            let color = format!("\"{}\"", hexadecimal(role.color));
            text = text.replace(&color, &format!("\"var({})\"", role.property));
        }
        let label = escape(label);
        text.replacen(
            OPEN,
            &format!("<svg role=\"img\" aria-label=\"{label}\" "),
            1,
        )
    }
}

/// Text as the value of an attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '"' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_decide_the_colors() {
        let line = "<svg width=\"9\" xmlns=\"http://www.w3.org/2000/svg\">\n\
                    <polyline stroke=\"#C85001\" fill=\"none\"/>\n</svg>\n";
        let hover = Hover {
            at: (1, 2),
            size: (3, 4),
            text: "a < b".into(),
        };
        let svg = Svg::new(line.into(), &[hover]);
        let page = svg.inline("a < b");
        assert!(
            page.contains("stroke=\"var(--series-2)\" stroke-dasharray=\"7 4\""),
            "{page}"
        );
        assert!(
            page.starts_with("<svg role=\"img\" aria-label=\"a &#60; b\" width"),
            "{page}"
        );
        assert!(!page.contains("http"), "{page}");
        let told = "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\"><title>a &#60; b</title></rect>";
        assert!(
            page.contains(told) && page.ends_with("</g>\n</svg>\n"),
            "{page}"
        );
        let file = svg.standalone();
        assert!(file.contains(">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n<poly"));
        assert!(
            file.contains("stroke=\"#C85001\" stroke-dasharray=\"7 4\""),
            "{file}"
        );
    }
}
