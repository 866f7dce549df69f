//! A part of a scenario: `Name(arguments)`, to be looked up in a registry.

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
        // a message that names no value, such as "expected integer", needs one
        match self.parameter(below.trim_start_matches('.')) {
            Some(node) if !message.contains('`') => Mistake::new(
                node.place,
                format!("{}{below}", self.name.path),
                format!("{}: {message}", node.quoted()),
            ),
            _ => Mistake::new(place, format!("{}{below}", self.name.path), message),
        }
    }
}
