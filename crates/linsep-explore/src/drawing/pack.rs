//! Arrays of numbers for the page, in the safetensors format: a header in JSON, then the bytes of each array.

use safetensors::tensor::{Dtype, TensorView};
use std::collections::HashMap;

/// A number that arrays hold.
pub(crate) trait Number: Copy {
    const DTYPE: Dtype;
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty: $dtype:ident),*) => {
        $(impl Number for $number {
            const DTYPE: Dtype = Dtype::$dtype;
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        })*
    };
}

numbers!(u8: U8, i8: I8, u32: U32, f32: F32, f64: F64);

/// Named arrays, and a few words about them.
#[derive(Default)]
pub(crate) struct Arrays {
    arrays: Vec<(&'static str, Dtype, usize, Vec<u8>)>,
    about: HashMap<String, String>,
}

impl Arrays {
    pub(crate) fn put<N: Number>(&mut self, name: &'static str, numbers: impl IntoIterator<Item = N>) {
        let mut bytes = Vec::new();
        let mut count = 0;
        for number in numbers {
            number.put(&mut bytes);
            count += 1;
        }
        self.arrays.push((name, N::DTYPE, count, bytes));
    }

    /// The description of the arrays, as JSON.
    pub(crate) fn say(&mut self, name: &str, value: &impl serde::Serialize) {
        let text = serde_json::to_string(value).unwrap_or_default();
        self.about.insert(name.to_string(), text);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let views = self.arrays.iter().filter(|(_, _, count, _)| *count > 0).filter_map(
            |(name, dtype, count, bytes)| {
                // The number of bytes is that of the numbers, which is all that could be refused.
                Some((*name, TensorView::new(*dtype, vec![*count], bytes).ok()?))
            },
        );
        safetensors::serialize(views, Some(self.about)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::SafeTensors;

    #[test]
    fn arrays_come_back() {
        let mut arrays = Arrays::default();
        arrays.put("x", [1.5f32, -2.0]);
        arrays.put("row", [7u32]);
        arrays.put("none", Vec::<u8>::new());
        arrays.say("kind", &"columns");
        let bytes = arrays.into_bytes();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        assert_eq!(header.metadata().as_ref().unwrap()["kind"], "\"columns\"");
        let read = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(
            read.tensor("x").unwrap().data(),
            [1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat()
        );
        assert_eq!(read.tensor("row").unwrap().shape(), [1]);
        assert!(read.tensor("none").is_err());
    }
}
