//! Bytes that are compressed, as their first ones say.

use super::error::ReadErrorKind;
#[cfg(feature = "compression")]
use super::guarded::GuardedReader;
use std::io::{BufReader, Read};

/// How bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// By gzip.
    Gzip,
    /// By Zstandard.
    Zstd,
    /// By a program whose files are not read.
    Other(&'static str),
}

impl Compression {
    /// How bytes are compressed that begin so, if they are.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] => Some(Self::Other("bzip2")),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Other("xz")),
            _ => None,
        }
    }

    /// The bytes as they were before.
    #[cfg(feature = "compression")]
    pub(crate) fn undone<'a>(
        self,
        raw: impl Read + Send + 'a,
    ) -> Result<Box<dyn Read + Send + 'a>, ReadErrorKind> {
        Ok(match self {
            Self::Gzip => {
                let raw = BufReader::with_capacity(1 << 16, raw);
                Box::new(GuardedReader::new(flate2::bufread::MultiGzDecoder::new(raw)))
            }
            Self::Zstd => Box::new(GuardedReader::new(zstd::Decoder::new(raw)?)),
            Self::Other(name) => return Err(ReadErrorKind::Compression(name)),
        })
    }

    #[cfg(not(feature = "compression"))]
    pub(crate) fn undone<'a>(
        self,
        _raw: impl Read + Send + 'a,
    ) -> Result<Box<dyn Read + Send + 'a>, ReadErrorKind> {
        Err(ReadErrorKind::Compression(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "Zstandard",
            Self::Other(name) => name,
        }))
    }
}
