//! A part of a scenario: `Name(arguments)`, to be looked up in a registry.

use super::path::find;
use super::tree::Rendered;
use super::{At, Mistake, Node, Value};
use crate::registry::{ArgumentError, Arguments, Entry, Registry};

/// A part as written: its name and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name as written.
    pub name: At<String>,
    arguments: Option<Node>,
    rendered: Option<Rendered>,
}

impl Part {
    /// A part from its name and the parentheses behind it.
    pub fn new(name: At<String>, arguments: Option<Node>) -> Self {
        let rendered = arguments.as_ref().map(Rendered::new);
        Self {
            name,
            arguments,
            rendered,
        }
    }

    /// The arguments with their parentheses; empty when there are none.
    pub fn arguments(&self) -> &str {
        self.rendered.as_ref().map_or("", |rendered| &rendered.text)
    }

    /// Name and arguments on one line.
    pub fn one_line(&self) -> String {
        let text = format!("{}{}", self.name.value, self.arguments());
        text.replace('\n', " ")
    }

    /// The value of a parameter, when it is given.
    pub fn parameter(&self, name: &str) -> Option<&Node> {
        let Some(Value::Struct(fields)) = self.arguments.as_ref().map(|node| &node.value) else {
            return None;
        };
        let field = fields.iter().find(|field| field.key == name)?;
        Some(&field.value)
    }

    /// Looks the part up.
    ///
    /// # Errors
    /// When no entry has the name: lists what there is, with the nearest.
    pub fn entry<B: Copy>(&self, registry: &Registry<B>) -> Result<&'static Entry<B>, Mistake> {
        registry
            .lookup(&self.name.value)
            .map_err(|message| self.name.mistake(message))
    }

    /// Calls the entry's constructor and moves its complaints to where the arguments were written.
    ///
    /// # Errors
    /// What the constructor returns.
    pub fn build<T>(
        &self,
        constructor: impl FnOnce(Arguments<'_>) -> Result<T, ArgumentError>,
    ) -> Result<T, Mistake> {
        constructor(Arguments {
            text: self.arguments(),
        })
        .map_err(|error| self.locate(&error))
    }

    /// A mistake about one parameter; at the name when it was not given.
    pub fn parameter_mistake(&self, parameter: &str, message: &str) -> Mistake {
        let path = format!("{}.{parameter}", self.name.path);
        let given = self.parameter(parameter);
        let place = given.map_or(self.name.place, |node| node.place);
        Mistake::new(place, path, message)
    }

    /// A complaint of the constructor: about the parameter its message starts with (`` `load` is 2 ``),
    /// else about what stands at its line and column.
    fn locate(&self, error: &ArgumentError) -> Mistake {
        let message = &error.message;
        let mut quoted = message.split('`');
        if let (Some(""), Some(name)) = (quoted.next(), quoted.next())
            && self.parameter(name).is_some()
        {
            return self.parameter_mistake(name, message);
        }
        // the rendered arguments are one line
        let rendered = self.rendered.as_ref().filter(|_| error.line <= 1);
        let Some(rendered) = rendered.filter(|_| !message.ends_with("is missing")) else {
            return self.name.mistake(message);
        };
        let (place, below) = rendered.origin(error.column);
        let path = format!("{}{below}", self.name.path);
        let found = self.arguments.as_ref().filter(|_| !below.is_empty());
        let found = found.and_then(|arguments| find(arguments, below));
        // all values of a map have its path
        match found.filter(|node| !matches!(node.value, Value::Map(_))) {
            Some(node) if !message.contains('`') => {
                Mistake::new(node.place, path, of_type(message, Some(node)))
            }
            _ => Mistake::new(place, path, of_type(message, None)),
        }
    }
}

/// Types as the reader of arguments calls them, in words and with an example.
const TYPES: [(&str, &str); 4] = [
    ("expected float", "a number, such as 0.3"),
    ("expected integer", "a whole number, such as 4"),
    (
        "expected string",
        "a text in quotes (quantities have units, such as \"100 ns\")",
    ),
    ("expected boolean", "`true` or `false`"),
];

/// A message that may name a type and no value, with the value and what is allowed.
fn of_type(message: &str, node: Option<&Node>) -> String {
    // where a whole number is read, a fraction is what stands in place of the comma behind it
    let is_fraction = message == "expected comma"
        && node.is_some_and(|node| matches!(node.value, Value::Number(_)));
    let name = if is_fraction {
        "expected integer"
    } else {
        message
    };
    let known = TYPES.iter().find(|(known, _)| *known == name);
    match (known, node) {
        (Some((_, words)), Some(node)) => format!("{} is not {words}", node.quoted()),
        (Some((_, words)), None) => format!("expected {words}"),
        (None, Some(node)) => format!("{}: {message}", node.quoted()),
        (None, None) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Item;
    use super::super::parser::parse;
    use crate::registry::{ArgumentError, Arguments};
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Parameters {
        load: f64,
        sizes: Vec<u32>,
        file: String,
        is_open: bool,
        rates: BTreeMap<String, u32>,
    }

    /// Offset, key path and message.
    fn wrong(arguments: &str) -> (usize, String, String) {
        let node = parse(&format!("Name({arguments})"), 0).unwrap();
        let item = Item {
            node: &node,
            path: "part".into(),
        };
        let part = item.part("part").unwrap();
        let build =
            |arguments: Arguments<'_>| -> Result<Parameters, ArgumentError> { arguments.parse() };
        let mistake = part.build(build).unwrap_err();
        (mistake.place.offset, mistake.path, mistake.message)
    }

    #[test]
    fn values_of_another_type_are_named_with_what_is_allowed() {
        for (arguments, offset, path, message) in [
            (
                "load: \"30 %\"",
                11,
                "load",
                "`\"30 %\"` is not a number, such as 0.3",
            ),
            ("load: x", 11, "load", "`x` is not a number, such as 0.3"),
            (
                "sizes: [4, \"x\"]",
                16,
                "sizes[1]",
                "`\"x\"` is not a whole number, such as 4",
            ),
            (
                "sizes: [1.5]",
                13,
                "sizes[0]",
                "`1.5` is not a whole number, such as 4",
            ),
            ("is_open: 1", 14, "is_open", "`1` is not `true` or `false`"),
        ] {
            let expected = (offset, format!("part.{path}"), message.to_owned());
            assert_eq!(wrong(arguments), expected, "{arguments}");
        }
        let (_, path, message) = wrong("file: 3");
        assert_eq!(path, "part.file");
        assert!(
            message.starts_with("`3` is not a text in quotes"),
            "{message}"
        );
        // of a map no single value is known
        let (_, path, message) = wrong("rates: {\"a\": \"b\"}");
        assert_eq!(
            (path.as_str(), message.as_str()),
            ("part.rates", "expected a whole number, such as 4")
        );
    }
}
