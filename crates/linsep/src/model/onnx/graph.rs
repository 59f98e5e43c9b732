//! A computation graph in the format ONNX: values, each made by one operation from earlier ones.
//!
//! ONNX files are protobuf messages. What is written of them here is small: numbers, texts and nested messages by the field
//! numbers of the ONNX standard (its `onnx.proto`), opset 17 and version 3 of the operators for machine learning.

use std::collections::HashSet;

/// The version of the format, and of its two sets of operators.
const FORMAT: u64 = 8;
const OPERATORS: u64 = 17;
const LEARNING_OPERATORS: u64 = 3;
/// The operators for machine learning.
pub(super) const LEARNING: &str = "ai.onnx.ml";

/// The element type of a tensor. The numbers are those of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32 = 1,
    I64 = 7,
    Text = 8,
    F64 = 11,
}

/// A protobuf message in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn each<T>(self, items: impl IntoIterator<Item = T>, add: impl Fn(Self, T) -> Self) -> Self {
        items.into_iter().fold(self, add)
    }
}

/// A value of the graph, by its name.
pub(super) type Value = String;

/// The attributes of an operation.
pub(super) enum Attribute<'a> {
    Number(i64),
    Texts(&'a [&'a str]),
}

/// The graph in the making.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    names: HashSet<String>,
}

impl Graph {
    /// A name that no value has: this one, or with a number behind it.
    fn name(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}.{number}"));
        let mut names = std::iter::once(wanted.to_string()).chain(numbered);
        let free = names.find(|name| !name.is_empty() && !self.names.contains(name)).unwrap_or_default();
        self.names.insert(free.clone());
        free
    }

    /// Keeps a name for an output.
    pub(super) fn reserve(&mut self, name: &str) {
        self.names.insert(name.to_string());
    }

    /// An input with `width` columns and any number of rows. Its name may be changed, where another value has it.
    pub(super) fn input(&mut self, name: &str, element: Element, width: usize) -> Value {
        let name = self.name(name);
        self.inputs.push(described(&name, element, Some(width)));
        name
    }

    /// Makes a value an output under a reserved name, with `width` columns, or with one number for each row.
    pub(super) fn output(&mut self, name: &str, value: &str, element: Element, width: Option<usize>) {
        self.add("Identity", "", &[value], &[], name);
        self.outputs.push(described(name, element, width));
    }

    fn add(
        &mut self,
        operator: &str,
        domain: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute<'_>)],
        to: &str,
    ) {
        let node = Message::default()
            .each(inputs, |node, input| node.text(1, input))
            .text(2, to)
            .text(4, operator)
            .each(attributes, |node, (name, attribute)| {
                node.message(5, &described_attribute(name, attribute))
            })
            .text(7, domain);
        self.nodes.push(node);
    }

    /// The result of an operator on values.
    pub(super) fn apply(&mut self, operator: &str, inputs: &[&str]) -> Value {
        self.apply_with(operator, inputs, &[])
    }

    /// The same with attributes. The operators that take words as attributes are those for machine learning.
    pub(super) fn apply_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute<'_>)],
    ) -> Value {
        let name = self.name(&format!("{operator} {}", self.nodes.len()));
        let learns = attributes.iter().any(|(_, attribute)| matches!(attribute, Attribute::Texts(_)));
        self.add(operator, if learns { LEARNING } else { "" }, inputs, attributes, &name);
        name
    }

    /// The value as another kind of number.
    pub(super) fn cast(&mut self, value: &str, to: Element) -> Value {
        self.apply_with("Cast", &[value], &[("to", Attribute::Number(to as i64))])
    }

    /// Values side by side.
    pub(super) fn beside(&mut self, values: &[&str]) -> Value {
        match values {
            [one] => (*one).to_string(),
            _ => self.apply_with("Concat", values, &[("axis", Attribute::Number(1))]),
        }
    }

    /// These columns of a value, in this order.
    pub(super) fn columns(&mut self, value: &str, columns: &[usize]) -> Value {
        let places = self.whole_numbers(columns.iter().map(|&column| column as i64));
        self.apply_with("Gather", &[value, &places], &[("axis", Attribute::Number(1))])
    }

    /// The sum of each row; `keep` as a column, otherwise as one number for each row.
    pub(super) fn row_sums(&mut self, value: &str, keep: bool) -> Value {
        let axes = self.whole_numbers([1]);
        self.apply_with("ReduceSum", &[value, &axes], &[("keepdims", Attribute::Number(i64::from(keep)))])
    }

    /// The value in another shape; −1 stands for what remains.
    pub(super) fn shaped(&mut self, value: &str, shape: &[i64]) -> Value {
        let shape = self.whole_numbers(shape.iter().copied());
        self.apply("Reshape", &[value, &shape])
    }

    /// A constant: numbers in this shape, row after row. Without a shape it is one number.
    pub(super) fn numbers(&mut self, shape: &[usize], numbers: impl IntoIterator<Item = f64>) -> Value {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
        self.constant(shape, Element::F64, |tensor| tensor.bytes(9, &bytes))
    }

    /// A constant row.
    pub(super) fn row(&mut self, numbers: impl IntoIterator<Item = f64>) -> Value {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        self.numbers(&[1, numbers.len()], numbers)
    }

    /// A constant list of whole numbers.
    fn whole_numbers(&mut self, numbers: impl IntoIterator<Item = i64>) -> Value {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(i64::to_le_bytes).collect();
        self.constant(&[bytes.len() / 8], Element::I64, |tensor| tensor.bytes(9, &bytes))
    }

    /// A constant list of texts.
    pub(super) fn texts(&mut self, texts: &[String]) -> Value {
        self.constant(&[texts.len()], Element::Text, |tensor| {
            tensor.each(texts, |tensor, text| tensor.text(6, text))
        })
    }

    fn constant(&mut self, shape: &[usize], element: Element, fill: impl Fn(Message) -> Message) -> Value {
        let name = self.name(&format!("constant {}", self.constants.len()));
        let tensor = Message::default()
            .each(shape, |tensor, &length| tensor.number(1, length as u64))
            .number(2, element as u64)
            .text(8, &name);
        self.constants.push(fill(tensor));
        name
    }

    /// The whole file. `about` says what the model is, and `properties` are what a program may ask of it.
    pub(super) fn finish(self, about: &str, properties: &[(&str, String)]) -> Vec<u8> {
        let graph = Message::default()
            .each(&self.nodes, |graph, node| graph.message(1, node))
            .text(2, "linsep")
            .each(&self.constants, |graph, constant| graph.message(5, constant))
            .each(&self.inputs, |graph, input| graph.message(11, input))
            .each(&self.outputs, |graph, output| graph.message(12, output));
        let operators = |domain: &str, version| Message::default().text(1, domain).number(2, version);
        let model = Message::default()
            .number(1, FORMAT)
            .text(2, "linsep")
            .text(3, env!("CARGO_PKG_VERSION"))
            .text(6, about)
            .message(7, &graph)
            .message(8, &operators("", OPERATORS))
            .message(8, &operators(LEARNING, LEARNING_OPERATORS))
            .each(properties, |model, (key, value)| {
                model.message(14, &Message::default().text(1, key).text(2, value))
            });
        model.0
    }
}

/// The name and type of an input or output: any number of rows.
fn described(name: &str, element: Element, width: Option<usize>) -> Message {
    let rows = Message::default().message(1, &Message::default().text(2, "rows"));
    let shape =
        rows.each(width, |shape, width| shape.message(1, &Message::default().number(1, width as u64)));
    let tensor = Message::default().number(1, element as u64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

fn described_attribute(name: &str, attribute: &Attribute<'_>) -> Message {
    let message = Message::default().text(1, name);
    match attribute {
        // A negative number is written as its 64 bits.
        Attribute::Number(number) => message.number(3, *number as u64).number(20, 2),
        Attribute::Texts(texts) => message.each(*texts, |message, text| message.text(9, text)).number(20, 8),
    }
}
