//! Bytes to rows: one file or folder per format, behind one trait and in one list.
//!
//! [`RowStream`] gives the rows of any source in batches, in bounded memory where the format allows it;
//! [`read()`] collects them into a [`Dataset`](crate::Dataset). The format is detected from the content.
//!
//! A format is a descriptor in the list [`FORMATS`] and a reader of records. To add one, write both in a file of its own
//! and add the descriptor to the list.

mod arff;
mod array;
pub mod cache;
mod chunks;
#[cfg(feature = "parquet")]
mod columnar;
mod compression;
mod csv;
#[cfg(target_arch = "x86_64")]
mod digits;
#[cfg(feature = "mail")]
mod documents;
#[cfg_attr(not(feature = "encodings"), path = "utf_8_only.rs")]
mod encoding;
mod error;
mod filter;
mod folder;
mod foreign;
mod formats;
mod guarded;
mod input;
mod jsonl;
mod label_table;
mod libsvm;
mod load;
mod notes;
mod number;
pub(crate) mod options;
#[cfg(feature = "pictures")]
mod pictures;
pub(crate) mod read_back;
mod reader;
mod rewritten;
mod row_stream;
mod second_file;
mod source;
mod stamp;
#[cfg(test)]
mod tests;
mod vw;
#[cfg(feature = "excel")]
mod xlsx;

pub use crate::dataset::Batch;
pub use crate::features::{Column, ColumnKind, Missing, Schema};
pub(crate) use array::checksum::Crc;
pub use array::read_weights;
pub(crate) use compression::Compression;
pub(crate) use csv::RowsSoFar;
#[cfg(feature = "mail")]
pub use documents::{document_text, mbox_mails};
pub(crate) use encoding::{
    Encoding, LineDecoder, PartDecoder, UTF_8, guess as guess_encoding, guess_wide, named as named_encoding,
};
pub(crate) use error::excerpt;
pub use error::{NotAsMarked, ReadError, ReadErrorKind};
pub(crate) use folder::folder_length;
pub use foreign::ForeignFile;
pub(crate) use formats::detect_format;
pub use formats::{FORMATS, Format, FormatColumns, FormatDescriptor};
pub use guarded::silence_guarded_panics;
pub(crate) use input::BYTE_ORDER_MARK;
pub use load::{Loaded, read};
pub use notes::{ReadNotes, SkippedRow};
pub use options::{
    ArrayOptions, ColumnAs, CsvOptions, Labels, LibsvmOptions, PictureOptions, PictureSize, ReadOptions,
    parse_delimiter,
};
#[cfg(feature = "pictures")]
pub use pictures::decode_picture;
pub use row_stream::RowStream;
pub use source::{OnceReader, Source};
