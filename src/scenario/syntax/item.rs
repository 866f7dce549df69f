//! Reading typed values out of the tree, with precise mistakes.

use super::parser::{float, integer, parse};
use super::{Field, Mistake, Node, Part, Place, Value};
use crate::registry::{Parameter, nearest};
use crate::units::UnitError;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A value that remembers where it was written, for checks that come later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it was written; for a default, where its section was.
    pub place: Place,
    /// Its key path.
    pub path: String,
}

impl<T> At<T> {
    /// A mistake about this value.
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake::new(self.place, self.path.clone(), message)
    }
}

/// A node with its key path.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The node.
    pub node: &'a Node,
    /// Key path of the node.
    pub path: String,
}

/// Whether a key is the number of an entry.
fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'a> Item<'a> {
    /// A mistake about this value.
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake::new(self.node.place, self.path.clone(), message)
    }

    /// The mistake of a value that is something else than `expected`.
    pub fn unexpected(&self, expected: &str) -> Mistake {
        self.mistake(format!("{} is not {expected}", self.node.quoted()))
    }

    /// Attaches place and path to a value.
    pub fn at<T>(&self, value: T) -> At<T> {
        At {
            value,
            place: self.node.place,
            path: self.path.clone(),
        }
    }

    /// The keys of a section, none of them unknown.
    ///
    /// # Errors
    /// When this is not a section or has a key that is not among `known`.
    pub fn fields(&self, known: &'static [Parameter]) -> Result<Fields<'a>, Mistake> {
        let fields: &[Field] = match &self.node.value {
            Value::Struct(fields) => fields,
            Value::Tuple(nodes) if nodes.is_empty() => &[],
            _ => return Err(self.unexpected("a section such as `(key: value)`")),
        };
        for field in fields {
            if !known.iter().any(|parameter| parameter.name == field.key) {
                let names = known.iter().map(|parameter| parameter.name);
                let message = crate::registry::unknown("key", &field.key, names);
                return Err(Mistake::new(field.place, self.path.clone(), message));
            }
        }
        Ok(Fields {
            list: fields,
            place: self.node.place,
            path: self.path.clone(),
        })
    }

    /// The values of a list.
    ///
    /// # Errors
    /// When this is not a list.
    pub fn items(&self) -> Result<Vec<Item<'a>>, Mistake> {
        match &self.node.value {
            Value::List(nodes) => Ok(self.children(nodes)),
            // what a path to an entry of a list makes where there is no list
            Value::Struct(fields) if fields.iter().any(|field| is_number(&field.key)) => {
                let message = "there is no list of which an entry could be changed: write it, such as `[...]`";
                Err(self.mistake(message.to_owned()))
            }
            _ => Err(self.unexpected("a list such as `[...]`")),
        }
    }

    /// The values of a tuple of `count` values.
    ///
    /// # Errors
    /// When this is something else; `expected` says what it should be.
    pub fn tuple(&self, count: usize, expected: &str) -> Result<Vec<Item<'a>>, Mistake> {
        match &self.node.value {
            Value::Tuple(nodes) if nodes.len() == count => Ok(self.children(nodes)),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn children(&self, nodes: &'a [Node]) -> Vec<Item<'a>> {
        let child = |(index, node)| Item {
            node,
            path: format!("{}[{index}]", self.path),
        };
        nodes.iter().enumerate().map(child).collect()
    }

    /// `Name` or `Name(...)`: the name, and the arguments when there are any.
    pub fn variant(&self) -> Option<(&'a str, Option<Item<'a>>)> {
        match &self.node.value {
            Value::Word(name) => Some((name, None)),
            Value::Text(name) if self.node.place.is_override() => Some((name, None)),
            Value::Named(name, arguments) => {
                let path = self.path.clone();
                let node = &**arguments;
                Some((name, Some(Item { node, path })))
            }
            _ => None,
        }
    }

    /// Whether this is exactly the word `word`.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.variant(), Some((name, None)) if name == word)
    }

    /// A value that may be `None`, `Some(value)` or `value`.
    pub fn optional(&self) -> Option<Self> {
        match &self.node.value {
            Value::Word(name) if name == "None" => None,
            Value::Text(name) if name == "None" && self.node.place.is_override() => None,
            Value::Named(name, arguments) if name == "Some" => match &arguments.value {
                Value::Tuple(nodes) if nodes.len() == 1 => Some(Self {
                    node: &nodes[0],
                    path: self.path.clone(),
                }),
                _ => Some(self.clone()),
            },
            _ => Some(self.clone()),
        }
    }

    /// A string. On the command line quotes may be missing: `--set title=test`.
    ///
    /// # Errors
    /// When this is something else.
    pub fn text(&self, expected: &str) -> Result<&'a str, Mistake> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            Value::Word(text) | Value::Number(text) if self.node.place.is_override() => Ok(text),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A quantity with a unit.
    ///
    /// # Errors
    /// When this is not a string or not such a quantity.
    pub fn quantity<T: FromStr<Err = UnitError>>(&self) -> Result<T, Mistake> {
        let text = match &self.node.value {
            Value::Text(text) | Value::Word(text) | Value::Number(text) => text.clone(),
            _ => self.node.to_text(),
        };
        let value = text.parse();
        let value = value.map_err(|error: UnitError| self.mistake(error.to_string()))?;
        self.text("a string: write the quantity in quotes, such as \"16 flits\"")?;
        Ok(value)
    }

    /// A whole number within `range`.
    ///
    /// # Errors
    /// When this is not a whole number or out of range.
    pub fn integer(&self, range: RangeInclusive<u64>) -> Result<u64, Mistake> {
        let (least, most) = (*range.start(), *range.end());
        let number = match &self.node.value {
            Value::Number(text) => integer(text),
            _ => None,
        };
        let is_large = number.is_some_and(|number| number > u64::MAX.into());
        let expected = match most {
            u64::MAX if is_large => format!("a whole number of at least {least} and below 2^64"),
            u64::MAX => format!("a whole number of at least {least}"),
            most => format!("a whole number from {least} to {most}"),
        };
        number
            .and_then(|number| u64::try_from(number).ok())
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.unexpected(&expected))
    }

    /// A finite number.
    ///
    /// # Errors
    /// When this is something else.
    pub fn number(&self) -> Result<f64, Mistake> {
        let number = match &self.node.value {
            Value::Number(text) => float(text),
            _ => None,
        };
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| self.unexpected("a number"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// When this is something else.
    pub fn boolean(&self) -> Result<bool, Mistake> {
        self.choice(&[("true", true), ("false", false)])
    }

    /// One of some words.
    ///
    /// # Errors
    /// When this is none of them.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Mistake> {
        let names = || words.iter().map(|(name, _)| *name);
        let Some((name, None)) = self.variant() else {
            let names: Vec<_> = names().map(|name| format!("`{name}`")).collect();
            return Err(self.unexpected(&format!("one of {}", names.join(", "))));
        };
        let found = words.iter().find(|(word, _)| *word == name);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.mistake(crate::registry::unknown("value", name, names())))
    }

    /// A part: `Name` or `Name(arguments)`.
    ///
    /// # Errors
    /// When this is something else.
    pub fn part(&self, kind: &str) -> Result<Part, Mistake> {
        let Some((name, arguments)) = self.variant() else {
            return Err(self.unexpected(&format!(
                "a {kind}: expected a name with its arguments, such as `Name(key: value)`"
            )));
        };
        Ok(Part::new(
            self.at(name.to_owned()),
            arguments.map(|item| item.node.clone()),
        ))
    }
}

/// The keys of one section.
#[derive(Debug)]
pub struct Fields<'a> {
    list: &'a [Field],
    place: Place,
    path: String,
}

impl<'a> Fields<'a> {
    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The value of `key`; `None` when it is missing or `None`.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        let field = self.list.iter().find(|field| field.key == key)?;
        let path = self.path_of(key);
        let node = &field.value;
        Item { node, path }.optional()
    }

    /// The value of a key that has no default.
    ///
    /// # Errors
    /// When it is missing.
    pub fn need(&self, key: &str) -> Result<Item<'a>, Mistake> {
        self.get(key).ok_or_else(|| {
            let given = self.list.iter().map(|field| field.key.as_str());
            let hint =
                nearest(key, given).map_or(String::new(), |near| format!(", found `{near}`"));
            let message = format!("the key `{key}` is missing{hint}");
            Mistake::new(self.place, self.path.clone(), message)
        })
    }

    /// Reads a key that must be given.
    ///
    /// # Errors
    /// When it is missing, and what `read` returns.
    pub fn required<T>(
        &self,
        key: &str,
        read: impl Fn(&Item<'_>) -> Result<T, Mistake>,
    ) -> Result<At<T>, Mistake> {
        let item = self.need(key)?;
        read(&item).map(|value| item.at(value))
    }

    /// Reads a key, or its default when it is left out.
    ///
    /// # Errors
    /// What `read` returns.
    pub fn or<T>(
        &self,
        key: &str,
        default: &str,
        read: impl Fn(&Item<'_>) -> Result<T, Mistake>,
    ) -> Result<At<T>, Mistake> {
        if let Some(item) = self.get(key) {
            return read(&item).map(|value| item.at(value));
        }
        let node = Node {
            place: self.place,
            ..parse(default, self.place.source)?
        };
        let path = self.path_of(key);
        let item = Item { node: &node, path };
        read(&item).map(|value| item.at(value))
    }

    /// Reads a key that has no value when it is left out.
    ///
    /// # Errors
    /// What `read` returns.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl Fn(&Item<'_>) -> Result<T, Mistake>,
    ) -> Result<At<Option<T>>, Mistake> {
        let value = self.get(key).map(|item| Ok(item.at(Some(read(&item)?))));
        value.unwrap_or_else(|| {
            Ok(At {
                value: None,
                place: self.place,
                path: self.path_of(key),
            })
        })
    }
}
