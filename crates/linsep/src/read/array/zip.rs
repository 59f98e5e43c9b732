//! The members of a zip archive, as NumPy writes them: stored or deflated, with the 64-bit extension.
//!
//! Written by hand because an `.npz` file needs so little of the format: the directory at the end is read, and every
//! length in it is compared with the bytes that are there before anything is allocated.

#[cfg(feature = "compression")]
use super::super::guarded::GuardedReader;
use super::checksum::Crc;
use crate::numbers;
use std::io::{Read, Write};
use std::ops::Range;

/// An archive in memory.
#[derive(Debug)]
pub(in crate::read) struct Archive {
    bytes: Vec<u8>,
    members: Vec<Member>,
}

/// What the directory says of a member.
#[derive(Debug)]
struct Member {
    name: String,
    method: u16,
    encrypted: bool,
    checksum: u32,
    /// Length as stored, and length when unpacked.
    packed: u64,
    length: u64,
    /// Where the header before its bytes starts.
    header: u64,
}

/// The signatures and lengths of the records that are read.
const MEMBER: (&[u8], usize) = (b"PK\x03\x04", 30);
const ENTRY: (&[u8], usize) = (b"PK\x01\x02", 46);
const END: (&[u8], usize) = (b"PK\x05\x06", 22);
const LOCATOR: (&[u8], usize) = (b"PK\x06\x07", 20);
const WIDE_END: (&[u8], usize) = (b"PK\x06\x06", 56);

/// The longest comment after the directory.
const LONGEST_COMMENT: usize = u16::MAX as usize;
/// The number of the extra field with lengths of 64 bits.
const WIDE: u16 = 1;

/// Measures the texts between the tags of XML that is written to it.
#[derive(Default)]
struct TextLengths {
    current: u64,
    longest: u64,
}

impl Write for TextLengths {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut start = 0;
        for tag in memchr::memchr_iter(b'<', bytes) {
            self.longest = self.longest.max(self.current + (tag - start) as u64);
            (self.current, start) = (0, tag);
        }
        self.current += (bytes.len() - start) as u64;
        self.longest = self.longest.max(self.current);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Archive {
    /// Reads the directory; an error says what is wrong.
    pub(in crate::read) fn open(bytes: Vec<u8>) -> Result<Self, String> {
        let members = directory(&bytes)?;
        Ok(Self { bytes, members })
    }

    /// The names of the members, in the order of the directory.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Refuses an archive of XML whose members unpack to more than that in all, to another length than the directory says, or
    /// not at all, or hold a longer text between two tags. Nothing is kept of them.
    pub(in crate::read) fn check_unpacked(&self, most: u64, longest_text: u64) -> Result<(), String> {
        let mut total = 0u64;
        for member in &self.members {
            let name = &member.name;
            let stored = &self.bytes[self.place(member)?];
            total = total.saturating_add(member.length);
            if total > most {
                let (most, length) = (numbers::grouped(most), numbers::grouped(self.bytes.len() as u64));
                return Err(format!(
                    "it unpacks to more than {most} bytes, which is the most that is accepted of a file of {length} bytes"
                ));
            }
            let mut texts = TextLengths::default();
            let copied = match member.method {
                _ if member.encrypted => return Err(format!("{name} is encrypted")),
                0 => std::io::copy(&mut &stored[..], &mut texts),
                8 => {
                    let mut unpacked = inflated(stored)?.take(member.length.saturating_add(1));
                    std::io::copy(&mut unpacked, &mut texts)
                }
                other => {
                    return Err(format!("{name} is compressed by method {other}, which is not supported"));
                }
            };
            let length = copied.map_err(|error| format!("{name} cannot be unpacked: {error}"))?;
            if texts.longest > longest_text {
                let limit = numbers::grouped(longest_text);
                return Err(format!("{name} holds a text that is longer than {limit} bytes"));
            }
            if length != member.length {
                return Err(format!("{name} does not have the length that the directory says"));
            }
        }
        Ok(())
    }

    /// The archive itself.
    pub(in crate::read) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes of a member, unpacked and compared with their checksum. Of several with the same name the last counts.
    pub(super) fn member(&self, name: &str) -> Result<Vec<u8>, String> {
        let Some(member) = self.members.iter().rfind(|member| member.name == name) else {
            return Err(format!("it has no member {name}"));
        };
        let stored = &self.bytes[self.place(member)?];
        let mut bytes = Vec::new();
        match member.method {
            _ if member.encrypted => return Err(format!("{name} is encrypted")),
            0 => bytes.extend_from_slice(stored),
            // Reading one byte more than the directory says detects a member that is too long.
            8 => {
                _ = inflated(stored)?
                    .take(member.length.saturating_add(1))
                    .read_to_end(&mut bytes)
                    .map_err(|error| format!("{name} cannot be unpacked: {error}"))?
            }
            other => return Err(format!("{name} is compressed by method {other}, which is not supported")),
        }
        if bytes.len() as u64 != member.length {
            return Err(format!("{name} does not have the length that the directory says"));
        }
        let mut checksum = Crc::new();
        checksum.update(&bytes);
        if checksum.sum() != member.checksum {
            return Err(format!("{name} does not match its checksum"));
        }
        Ok(bytes)
    }

    /// Where the bytes of a member lie: after a header whose name and extra field have lengths of their own.
    fn place(&self, member: &Member) -> Result<Range<usize>, String> {
        let outside = || format!("{} does not lie within the file", member.name);
        let header = record(&self.bytes, member.header, MEMBER).ok_or_else(outside)?;
        let before = MEMBER.1 as u64 + u64::from(short(header, 26)) + u64::from(short(header, 28));
        let start = member.header.checked_add(before).ok_or_else(outside)?;
        let end = start.checked_add(member.packed).ok_or_else(outside)?;
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if end <= self.bytes.len() => Ok(start..end),
            _ => Err(outside()),
        }
    }
}

/// The bytes that were compressed to these.
#[cfg(feature = "compression")]
fn inflated(packed: &[u8]) -> Result<impl Read, String> {
    Ok(GuardedReader::new(flate2::read::DeflateDecoder::new(packed)))
}

#[cfg(not(feature = "compression"))]
fn inflated(_packed: &[u8]) -> Result<impl Read, String> {
    let problem = "it is compressed, and this linsep was built without its feature `compression`";
    Err::<std::io::Empty, _>(problem.to_string())
}

/// The little-endian numbers at a place of a record, which the caller knows to be long enough.
fn short(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

fn word(record: &[u8], at: usize) -> u32 {
    u32::from(short(record, at)) | u32::from(short(record, at + 2)) << 16
}

fn long(record: &[u8], at: usize) -> u64 {
    u64::from(word(record, at)) | u64::from(word(record, at + 4)) << 32
}

/// The record of this kind that starts at a place, with all bytes after it; `None` if there is none.
fn record<'a>(bytes: &'a [u8], start: u64, (signature, length): (&[u8], usize)) -> Option<&'a [u8]> {
    let bytes = bytes.get(usize::try_from(start).ok()?..)?;
    (bytes.len() >= length && bytes.starts_with(signature)).then_some(bytes)
}

fn directory(bytes: &[u8]) -> Result<Vec<Member>, String> {
    let (first, last) = (
        bytes.len().saturating_sub(END.1 + LONGEST_COMMENT) as u64,
        bytes.len().checked_sub(END.1).ok_or("it has no directory")? as u64,
    );
    let end_at = (first..=last)
        .rev()
        .find(|&at| {
            record(bytes, at, END).is_some_and(|end| usize::from(short(end, 20)) == end.len() - END.1)
        })
        .ok_or("it has no directory")?;
    let end = &bytes[end_at as usize..];
    let (mut count, mut start) = (u64::from(short(end, 10)), u64::from(word(end, 16)));
    let locator = end_at.checked_sub(LOCATOR.1 as u64).and_then(|at| record(bytes, at, LOCATOR));
    if let Some(locator) = locator {
        let wide = record(bytes, long(locator, 8), WIDE_END).ok_or("its directory is damaged")?;
        (count, start) = (long(wide, 32), long(wide, 48));
    }
    let mut members = Vec::new();
    for _ in 0..count {
        let entry = record(bytes, start, ENTRY).ok_or("its directory is damaged")?;
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(short(entry, at)));
        let rest = &entry[ENTRY.1..];
        let (Some(text), Some(extra_field)) = (rest.get(..name), rest.get(name..name + extra)) else {
            return Err("its directory is damaged".to_string());
        };
        let mut member = Member {
            name: String::from_utf8_lossy(text).into_owned(),
            method: short(entry, 10),
            encrypted: short(entry, 8) & 1 == 1,
            checksum: word(entry, 16),
            packed: u64::from(word(entry, 20)),
            length: u64::from(word(entry, 24)),
            header: u64::from(word(entry, 42)),
        };
        widen(&mut member, extra_field).ok_or("its directory is damaged")?;
        members.push(member);
        start += (ENTRY.1 + name + extra + comment) as u64;
    }
    Ok(members)
}

/// Replaces the lengths that do not fit 32 bits by those of the extra field; `None` if they are not there.
fn widen(member: &mut Member, mut extra: &[u8]) -> Option<()> {
    const ELSEWHERE: u64 = u32::MAX as u64;
    let mut wide: &[u8] = &[];
    while extra.len() >= 4 {
        let (kind, length) = (short(extra, 0), usize::from(short(extra, 2)));
        let content = extra.get(4..4 + length)?;
        if kind == WIDE {
            wide = content;
        }
        extra = &extra[4 + length..];
    }
    for number in [&mut member.length, &mut member.packed, &mut member.header] {
        if *number == ELSEWHERE {
            let (first, rest) = wide.split_at_checked(8)?;
            *number = long(first, 0);
            wide = rest;
        }
    }
    Some(())
}
