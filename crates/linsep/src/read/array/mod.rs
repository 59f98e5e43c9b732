//! stub
use super::source::Input;
use super::*;
pub(crate) struct ArrayReader;
impl ArrayReader {
    pub(crate) fn new(
        _name: String,
        _input: Input,
        _format: Format,
        _options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        unimplemented!()
    }
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        unimplemented!()
    }
    pub(crate) fn label_names(&self) -> &[String] {
        &[]
    }
    pub(crate) fn schema(&self) -> Schema {
        unimplemented!()
    }
    pub(crate) fn notes(&self) -> ReadNotes {
        unimplemented!()
    }
}
