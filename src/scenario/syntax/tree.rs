//! The syntax tree and its way back to text.

use super::Place;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it starts.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A RON value, uninterpreted.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number as written.
    Number(String),
    /// A string, escapes resolved.
    Text(String),
    /// An identifier on its own: `All`, `None`, `true`.
    Word(String),
    /// A character or byte string as written.
    Verbatim(String),
    /// `()` or `(1, 2)`.
    Tuple(Vec<Node>),
    /// `(key: value, ...)`.
    Struct(Vec<Field>),
    /// `Name(...)`: the second is a tuple or struct.
    Named(String, Box<Node>),
    /// `[1, 2]`.
    List(Vec<Node>),
    /// `{key: value}`.
    Map(Vec<(Node, Node)>),
}

/// One `key: value` of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// Where the key is.
    pub place: Place,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The value itself, of `Some(value)`.
    pub fn inside(&self) -> &Self {
        let mut node = self;
        while let Value::Named(name, arguments) = &node.value
            && name == "Some"
            && let Value::Tuple(nodes) = &arguments.value
            && let [inner] = &nodes[..]
        {
            node = inner;
        }
        node
    }

    /// The value as text on one line.
    pub fn to_text(&self) -> String {
        Rendered::new(self).text
    }

    /// The value, shortened, in backticks: for messages.
    pub fn quoted(&self) -> String {
        const LONGEST: usize = 40;
        let text = self.to_text();
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("`{}...`", &text[..end]),
            None => format!("`{text}`"),
        }
    }
}

/// Text of a node in which every position leads back to where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// RON on one line.
    pub text: String,
    /// (start in `text`, place, key path below the node), in order.
    marks: Vec<(usize, Place, String)>,
}

impl Rendered {
    /// Renders `node`.
    pub fn new(node: &Node) -> Self {
        let mut rendered = Self {
            text: String::new(),
            marks: Vec::new(),
        };
        rendered.node(node, "");
        rendered
    }

    /// Place and key path (below the node) of the character in `column` (from 1).
    pub fn origin(&self, column: usize) -> (Place, &str) {
        let offset = self
            .text
            .char_indices()
            .nth(column.saturating_sub(1))
            .map_or(self.text.len(), |(offset, _)| offset);
        let after = self.marks.partition_point(|(start, ..)| *start <= offset);
        let (_, place, path) = &self.marks[after.saturating_sub(1)];
        (*place, path)
    }

    fn mark(&mut self, place: Place, path: &str) {
        self.marks.push((self.text.len(), place, path.to_owned()));
    }

    fn node(&mut self, node: &Node, path: &str) {
        self.mark(node.place, path);
        match &node.value {
            Value::Number(text) | Value::Word(text) | Value::Verbatim(text) => {
                self.text.push_str(text);
            }
            Value::Text(text) => self.text.push_str(&quote(text)),
            Value::Named(name, arguments) => {
                self.text.push_str(name);
                self.node(arguments, path);
            }
            // `Some(value)` has the path of its value
            Value::Tuple(nodes) if self.text.ends_with("Some") && nodes.len() == 1 => {
                self.text.push('(');
                self.node(&nodes[0], path);
                self.text.push(')');
            }
            Value::Tuple(nodes) => self.sequence(nodes, path, ['(', ')']),
            Value::List(nodes) => self.sequence(nodes, path, ['[', ']']),
            Value::Struct(fields) => self.fields(fields, path),
            Value::Map(entries) => {
                self.text.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.separate(index);
                    self.node(key, path);
                    self.text.push_str(": ");
                    self.node(value, path);
                }
                self.text.push('}');
            }
        }
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.text.push_str(", ");
        }
    }

    fn sequence(&mut self, nodes: &[Node], path: &str, [open, close]: [char; 2]) {
        self.text.push(open);
        for (index, node) in nodes.iter().enumerate() {
            self.separate(index);
            self.node(node, &format!("{path}[{index}]"));
        }
        self.text.push(close);
    }

    fn fields(&mut self, fields: &[Field], path: &str) {
        self.text.push('(');
        for (index, field) in fields.iter().enumerate() {
            self.separate(index);
            let path = format!("{path}.{}", field.key);
            self.mark(field.place, &path);
            self.text.push_str(&field.key);
            self.text.push_str(": ");
            self.node(&field.value, &path);
        }
        self.text.push(')');
    }
}

/// A string as RON writes it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.extend(c.escape_unicode()),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
