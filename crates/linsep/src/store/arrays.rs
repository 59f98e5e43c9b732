//! Safetensors files: named arrays of numbers, and one JSON text that says what they mean.
//!
//! They are written array by array from where the numbers lie, and read in the same way, so that neither the bytes of a
//! file nor a copy of its arrays is ever held as a whole.

use super::place::open_whole;
use super::{StoreError, VERSION};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const METADATA_KEY: &str = "linsep";
/// The longest header that readers of safetensors accept.
const LONGEST_HEADER: u64 = 100_000_000;
/// Numbers that are turned into bytes, or back, at a time.
const CHUNK: usize = 1 << 13;

/// The JSON text of every file: its kind, its version, the program that wrote it, and the content.
#[derive(Serialize)]
struct Envelope<'a, T> {
    kind: &'a str,
    version: u32,
    program: String,
    #[serde(flatten)]
    content: &'a T,
}

/// The beginning of that text. The rest is read as the content.
#[derive(serde::Deserialize)]
struct Head {
    kind: String,
    version: u32,
}

/// Named arrays on their way to a file. They stay where they are until they are written.
#[derive(Default)]
pub(crate) struct Tensors<'a> {
    entries: Vec<Entry<'a>>,
}

/// Writes the bytes of an array.
type WriteArray<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

struct Entry<'a> {
    name: String,
    dtype: Dtype,
    /// Numbers, and bytes.
    length: usize,
    size: usize,
    write: Box<WriteArray<'a>>,
}

impl<'a> Tensors<'a> {
    pub(crate) fn put_f64(&mut self, name: &str, values: impl Numbers<f64> + 'a) {
        self.put(name, Dtype::F64, values, f64::to_le_bytes);
    }

    pub(crate) fn put_u64(&mut self, name: &str, values: impl Numbers<u64> + 'a) {
        self.put(name, Dtype::U64, values, u64::to_le_bytes);
    }

    pub(crate) fn put_u32(&mut self, name: &str, values: impl Numbers<u32> + 'a) {
        self.put(name, Dtype::U32, values, u32::to_le_bytes);
    }

    pub(crate) fn put_i8(&mut self, name: &str, values: impl Numbers<i8> + 'a) {
        self.put(name, Dtype::I8, values, i8::to_le_bytes);
    }

    fn put<T: 'a, const N: usize>(
        &mut self,
        name: &str,
        dtype: Dtype,
        values: impl Numbers<T> + 'a,
        bytes: fn(T) -> [u8; N],
    ) {
        let length = values.len();
        let write = move |out: &mut dyn Write| {
            let mut buffer = Vec::with_capacity(N * CHUNK.min(length));
            for value in values.clone() {
                buffer.extend_from_slice(&bytes(value));
                if buffer.len() >= N * CHUNK {
                    out.write_all(&buffer)?;
                    buffer.clear();
                }
            }
            out.write_all(&buffer)
        };
        let (name, size) = (name.to_string(), N * length);
        self.entries.push(Entry { name, dtype, length, size, write: Box::new(write) });
    }

    /// Writes the file: the same arrays and content give the same bytes.
    pub(crate) fn write<T: Serialize>(
        mut self,
        kind: &str,
        content: &T,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // Large numbers first, so that each array lies where its numbers may lie.
        self.entries.sort_by(|a, b| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
        let program = format!("linsep {}", env!("CARGO_PKG_VERSION"));
        let envelope = Envelope { kind, version: VERSION, program, content };
        let infos = self.infos()?;
        // The length of the text comes before it, so the text is made twice: counted, and written.
        let mut length = Counted(0);
        write_header(&envelope, &infos, &mut length)?;
        let padded = length.0.next_multiple_of(8);
        if padded > LONGEST_HEADER {
            let problem = format!(
                "its names and settings take {} bytes of text, and a file has room for {LONGEST_HEADER}",
                length.0
            );
            return Err(io::Error::other(problem));
        }
        out.write_all(&padded.to_le_bytes())?;
        write_header(&envelope, &infos, out)?;
        out.write_all(&b"        "[..(padded - length.0) as usize])?;
        self.entries.iter().try_for_each(|entry| (entry.write)(out))
    }

    /// The bytes of the file.
    pub(crate) fn into_bytes<T: Serialize>(self, kind: &str, content: &T) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        self.write(kind, content, &mut bytes).map_err(|error| StoreError::Damaged(error.to_string()))?;
        Ok(bytes)
    }

    /// The places of the arrays as JSON, without the brace before it.
    fn infos(&self) -> io::Result<String> {
        let mut start = 0;
        let info = |entry: &Entry<'_>| {
            let data_offsets = (start, start + entry.size);
            start = data_offsets.1;
            (entry.name.clone(), TensorInfo { dtype: entry.dtype, shape: vec![entry.length], data_offsets })
        };
        let metadata =
            Metadata::new(None, self.entries.iter().map(info).collect()).map_err(io::Error::other)?;
        let mut text = serde_json::to_string(&metadata)?;
        text.remove(0);
        Ok(text)
    }
}

/// Numbers that can be gone through again, and whose count is known.
pub(crate) trait Numbers<T>: ExactSizeIterator<Item = T> + Clone {}

impl<T, I: ExactSizeIterator<Item = T> + Clone> Numbers<T> for I {}

fn write_header<T: Serialize>(
    envelope: &Envelope<'_, T>,
    infos: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{{\"__metadata__\":{{\"{METADATA_KEY}\":\"")?;
    serde_json::to_writer(Quoted(out), envelope)?;
    out.write_all(if infos == "}" { b"\"}" } else { b"\"}," })?;
    out.write_all(infos.as_bytes())
}

/// JSON on its way into a string of JSON. It has no line breaks and no other control characters.
struct Quoted<'a>(&'a mut dyn Write);

impl Write for Quoted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'"' | b'\\')) {
            match part.split_last() {
                Some((&last @ (b'"' | b'\\'), before)) => {
                    self.0.write_all(before)?;
                    self.0.write_all(&[b'\\', last])?;
                }
                _ => self.0.write_all(part)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts bytes instead of writing them.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An opened file: its content, and its arrays.
pub(crate) struct Opened<'a, T> {
    pub(crate) content: T,
    arrays: Arrays<'a>,
}

impl<'a, T> std::ops::Deref for Opened<'a, T> {
    type Target = Arrays<'a>;

    fn deref(&self) -> &Arrays<'a> {
        &self.arrays
    }
}

/// The arrays of an opened file, by name.
pub(crate) struct Arrays<'a> {
    metadata: Metadata,
    bytes: Bytes<'a>,
    /// Where the arrays begin.
    start: u64,
}

/// The bytes of a file, in memory or on the disk.
enum Bytes<'a> {
    Memory(&'a [u8]),
    Held(Vec<u8>),
    File { path: PathBuf, file: File, length: u64 },
}

impl Bytes<'_> {
    fn len(&self) -> u64 {
        match self {
            Bytes::Memory(bytes) => bytes.len() as u64,
            Bytes::Held(bytes) => bytes.len() as u64,
            Bytes::File { length, .. } => *length,
        }
    }

    /// Fills `into` from a place within these bytes.
    fn read(&self, start: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let mut in_memory = |bytes: &[u8]| {
            let start = start as usize;
            into.copy_from_slice(&bytes[start..start + into.len()]);
        };
        match self {
            Bytes::Memory(bytes) => in_memory(bytes),
            Bytes::Held(bytes) => in_memory(bytes),
            Bytes::File { path, file, .. } => {
                let mut file = file;
                file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(into)).map_err(|error| {
                    let source = match error.kind() {
                        io::ErrorKind::UnexpectedEof => {
                            io::Error::other("it was cut short while it was read")
                        }
                        _ => error,
                    };
                    StoreError::Read { path: path.clone(), source }
                })?;
            }
        }
        Ok(())
    }
}

/// The bytes of a file that comes through a pipe, and one more if it does not end where its header says.
fn taken_from_pipe(pipe: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let take = |bytes: &mut Vec<u8>, count: u64| (&pipe).take(count).read_to_end(bytes);
    take(&mut bytes, 8)?;
    let Ok(length) = bytes.as_slice().try_into().map(u64::from_le_bytes) else { return Ok(bytes) };
    if length <= LONGEST_HEADER {
        take(&mut bytes, length)?;
        if let Ok(metadata) = serde_json::from_slice::<Metadata>(&bytes[8..]) {
            take(&mut bytes, (metadata.data_len() as u64).saturating_add(1))?;
        }
    }
    Ok(bytes)
}

impl<'a, T: DeserializeOwned> Opened<'a, T> {
    /// Opens the bytes of a file.
    pub(crate) fn open(bytes: &'a [u8], kind: &'static str) -> Result<Self, StoreError> {
        Self::of(Bytes::Memory(bytes), kind)
    }

    /// Opens a file. Its arrays are read when they are taken.
    pub(crate) fn load(path: &Path, kind: &'static str) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Read { path: path.to_path_buf(), source };
        let file = open_whole(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let bytes = if metadata.is_file() {
            Bytes::File { path: path.to_path_buf(), file, length: metadata.len() }
        } else {
            // What comes through a pipe comes only once.
            Bytes::Held(taken_from_pipe(file).map_err(failed)?)
        };
        Self::of(bytes, kind)
    }

    fn of(bytes: Bytes<'a>, kind: &'static str) -> Result<Self, StoreError> {
        let not_ours =
            |error: SafeTensorError| StoreError::NotSafetensors { kind, reason: error.to_string() };
        let damaged = |error: serde_json::Error| StoreError::Damaged(error.to_string());
        let mut length = [0; 8];
        if bytes.len() < 8 {
            return Err(not_ours(SafeTensorError::HeaderTooSmall));
        }
        bytes.read(0, &mut length)?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(not_ours(SafeTensorError::HeaderTooLarge));
        }
        let start = 8 + length;
        if start > bytes.len() {
            return Err(not_ours(SafeTensorError::InvalidHeaderLength));
        }
        let mut header = vec![0; length as usize];
        bytes.read(8, &mut header)?;
        let header = String::from_utf8(header)
            .map_err(|error| not_ours(SafeTensorError::InvalidHeader(error.utf8_error())))?;
        let metadata: Metadata = serde_json::from_str(&header)
            .map_err(|error| not_ours(SafeTensorError::InvalidHeaderDeserialization(error)))?;
        drop(header);
        if start + metadata.data_len() as u64 != bytes.len() {
            return Err(not_ours(SafeTensorError::MetadataIncompleteBuffer));
        }
        let text =
            metadata.metadata().as_ref().and_then(|map| map.get(METADATA_KEY)).ok_or(StoreError::Foreign)?;
        let head: Head = serde_json::from_str(text).map_err(damaged)?;
        if head.kind != kind {
            return Err(StoreError::OtherKind { found: head.kind, expected: kind });
        }
        if head.version > VERSION {
            return Err(StoreError::Newer { found: head.version });
        }
        let content = serde_json::from_str(text).map_err(damaged)?;
        Ok(Self { content, arrays: Arrays { metadata, bytes, start } })
    }
}

impl Arrays<'_> {
    pub(crate) fn f64s(&self, name: &str) -> Result<Vec<f64>, StoreError> {
        self.get(name, Dtype::F64, f64::from_le_bytes)
    }

    pub(crate) fn u64s(&self, name: &str) -> Result<Vec<u64>, StoreError> {
        self.get(name, Dtype::U64, u64::from_le_bytes)
    }

    pub(crate) fn u32s(&self, name: &str) -> Result<Vec<u32>, StoreError> {
        self.get(name, Dtype::U32, u32::from_le_bytes)
    }

    pub(crate) fn i8s(&self, name: &str) -> Result<Vec<i8>, StoreError> {
        self.get(name, Dtype::I8, i8::from_le_bytes)
    }

    fn get<V, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        value: fn([u8; N]) -> V,
    ) -> Result<Vec<V>, StoreError> {
        let missing = || StoreError::Damaged(SafeTensorError::TensorNotFound(name.to_string()).to_string());
        let info = self.metadata.info(name).ok_or_else(missing)?;
        if info.dtype != dtype || info.shape.len() != 1 {
            return Err(StoreError::Damaged(format!("the array \"{name}\" has the wrong type or shape")));
        }
        // As many as there are: the places of all arrays lie within the file.
        let length = info.shape[0];
        let mut values = Vec::new();
        values.try_reserve_exact(length).map_err(|error| {
            StoreError::Damaged(format!("the array \"{name}\" does not fit into memory: {error}"))
        })?;
        let mut buffer = vec![0; N * CHUNK.min(length)];
        while values.len() < length {
            let part = &mut buffer[..N * CHUNK.min(length - values.len())];
            let start = self.start + (info.data_offsets.0 + N * values.len()) as u64;
            self.bytes.read(start, part)?;
            values.extend(part.as_chunks::<N>().0.iter().map(|&bytes| value(bytes)));
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use safetensors::tensor::TensorView;
    use std::collections::HashMap;

    fn le<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(|&value| bytes(value)).collect()
    }

    proptest! {
        /// What is written piece by piece is what the library writes as a whole, and it comes back from memory and disk.
        #[test]
        fn files_are_those_of_the_library(
            reals in prop::collection::vec(any::<f64>(), 0..20),
            wholes in prop::collection::vec(any::<u64>(), 0..5),
            small in prop::collection::vec(any::<u32>(), 0..5),
            signs in prop::collection::vec(any::<i8>(), 0..5),
            names in prop::collection::hash_set("[a-z.\"\\\\ä\u{1}]{1,6}", 0..5),
            text in "\\PC{0,20}[\"\\\\\n\u{7f}\u{1}]{0,3}",
        ) {
            let content = HashMap::from([("text".to_string(), text)]);
            let mut tensors = Tensors::default();
            let mut whole = Vec::new();
            for (place, name) in names.iter().enumerate() {
                let (dtype, length, data) = match place % 4 {
                    0 => (Dtype::F64, reals.len(), le(&reals, f64::to_le_bytes)),
                    1 => (Dtype::U64, wholes.len(), le(&wholes, u64::to_le_bytes)),
                    2 => (Dtype::U32, small.len(), le(&small, u32::to_le_bytes)),
                    _ => (Dtype::I8, signs.len(), le(&signs, i8::to_le_bytes)),
                };
                match place % 4 {
                    0 => tensors.put_f64(name, reals.iter().copied()),
                    1 => tensors.put_u64(name, wholes.iter().copied()),
                    2 => tensors.put_u32(name, small.iter().copied()),
                    _ => tensors.put_i8(name, signs.iter().copied()),
                }
                whole.push((name.clone(), dtype, length, data));
            }
            let program = format!("linsep {}", env!("CARGO_PKG_VERSION"));
            let envelope = Envelope { kind: "model", version: VERSION, program, content: &content };
            let views = whole
                .iter()
                .map(|(name, dtype, length, data)| (name, TensorView::new(*dtype, vec![*length], data).unwrap()));
            let text = serde_json::to_string(&envelope).unwrap();
            let expected =
                safetensors::serialize(views, Some(HashMap::from([(METADATA_KEY.to_string(), text)]))).unwrap();
            let bytes = tensors.into_bytes("model", &content).unwrap();
            prop_assert_eq!(&bytes, &expected);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            type Content = HashMap<String, serde_json::Value>;
            let opened = [
                Opened::<Content>::open(&bytes, "model").unwrap(),
                Opened::<Content>::load(file.path(), "model").unwrap(),
            ];
            for opened in opened {
                prop_assert_eq!(opened.content["text"].as_str(), Some(content["text"].as_str()));
                for (name, dtype, _, data) in &whole {
                    let found = match dtype {
                        Dtype::F64 => le(&opened.f64s(name).unwrap(), f64::to_le_bytes),
                        Dtype::U64 => le(&opened.u64s(name).unwrap(), u64::to_le_bytes),
                        Dtype::U32 => le(&opened.u32s(name).unwrap(), u32::to_le_bytes),
                        _ => le(&opened.i8s(name).unwrap(), i8::to_le_bytes),
                    };
                    prop_assert_eq!(&found, data);
                }
            }
        }
    }

    #[test]
    fn long_arrays_come_in_parts() {
        let values: Vec<f64> = (0..3 * CHUNK + 5).map(|value| value as f64).collect();
        let mut tensors = Tensors::default();
        tensors.put_f64("values", values.iter().copied());
        let bytes = tensors.into_bytes("model", &HashMap::<String, String>::new()).unwrap();
        let opened: Opened<'_, HashMap<String, serde_json::Value>> = Opened::open(&bytes, "model").unwrap();
        assert_eq!(opened.f64s("values").unwrap(), values);
    }

    /// No write is larger than a part of an array: the file is never held as a whole.
    #[test]
    fn files_are_written_in_parts() {
        struct Largest(usize);
        impl Write for Largest {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.max(bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut tensors = Tensors::default();
        tensors.put_f64("values", (0..1 << 20).map(f64::from));
        let names: Vec<String> = (0..100_000).map(|name| format!("feature \"{name}\"")).collect();
        let mut largest = Largest(0);
        tensors.write("model", &HashMap::from([("names", names)]), &mut largest).unwrap();
        assert!(largest.0 <= 8 * CHUNK, "{}", largest.0);
    }
}
