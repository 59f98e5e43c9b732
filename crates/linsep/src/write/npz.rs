//! Rows as NumPy and SciPy save them: `X` and `y`, or a sparse matrix and `y`.

use super::Watch;
use crate::dataset::{Dataset, Rows, Values};
use crate::read::Crc;
use std::io::{self, Write};

/// Numbers that are turned into bytes at a time.
const CHUNK: usize = 1 << 16;

/// Writes an archive.
pub(super) fn write(data: &Dataset, out: &mut dyn Write, watch: Watch<'_>) -> io::Result<()> {
    let mut archive = Archive { out, position: 0, directory: Vec::new(), members: 0 };
    let (rows, columns) = (data.len(), data.columns());
    let values = match data.rows() {
        Rows::Dense { values } => {
            archive.values("X", &format!("({rows}, {columns})"), values)?;
            values
        }
        Rows::Sparse { offsets, indices, values } => {
            archive.member("format", "|S3", "()", |sink| sink.write_all(b"csr"))?;
            archive.member("shape", "<i8", "(2,)", |sink| {
                put(sink, &[rows as u64, columns as u64], u64::to_le_bytes)
            })?;
            archive.member("indptr", "<i8", &format!("({},)", offsets.len()), |sink| {
                put(sink, offsets, |offset| (offset as u64).to_le_bytes())
            })?;
            let line = format!("({},)", indices.len());
            match i32::try_from(columns).is_ok() {
                true => {
                    archive.member("indices", "<i4", &line, |sink| put(sink, indices, u32::to_le_bytes))?
                }
                false => archive.member("indices", "<i8", &line, |sink| {
                    put(sink, indices, |index| u64::from(index).to_le_bytes())
                })?,
            }
            archive.values("data", &line, values)?;
            values
        }
    };
    archive.labels(data)?;
    archive.finish()?;
    watch(rows as u64, values.len() as u64 * 8)
}

/// Writes numbers as bytes.
fn put<T: Copy, const N: usize>(
    sink: &mut dyn Write,
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(CHUNK.min(numbers.len()) * N);
    for chunk in numbers.chunks(CHUNK) {
        buffer.clear();
        chunk.iter().for_each(|&number| buffer.extend_from_slice(&bytes(number)));
        sink.write_all(&buffer)?;
    }
    Ok(())
}

/// Counts bytes and sums them up, instead of writing them.
#[derive(Default)]
struct Checksum {
    crc: Crc,
    length: u64,
}

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.crc.update(bytes);
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A zip archive of stored members, each with lengths of 64 bits.
struct Archive<'a> {
    out: &'a mut dyn Write,
    /// Bytes written so far.
    position: u64,
    directory: Vec<u8>,
    members: u64,
}

/// The version of the zip format that has lengths of 64 bits.
const VERSION: u16 = 45;
/// Stands in a field of 32 bits for a number that is in the extra field.
const ELSEWHERE: [u8; 4] = u32::MAX.to_le_bytes();
/// 1 January 1980, the first day of zip.
const DATE: u16 = 0x21;

impl Archive<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes an array. Its items are made twice, because their length and checksum are written before them.
    fn member(
        &mut self,
        name: &str,
        kind: &str,
        shape: &str,
        items: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let name = format!("{name}.npy");
        let header = array_header(kind, shape);
        let mut sum = Checksum::default();
        sum.write_all(&header)?;
        items(&mut sum)?;
        let (checksum, length) = (sum.crc.sum().to_le_bytes(), sum.length.to_le_bytes());
        // What the header of a member and its entry in the directory have in common, up to the length of the name.
        let mut common = [VERSION, 0, 0, 0, DATE].map(u16::to_le_bytes).concat();
        common.extend_from_slice(&checksum);
        common.extend_from_slice(&[ELSEWHERE, ELSEWHERE].concat());
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        let wide = |numbers: &[[u8; 8]]| {
            let mut field = [1, 8 * numbers.len() as u16].map(u16::to_le_bytes).concat();
            field.extend_from_slice(&numbers.concat());
            field
        };
        let start = self.position.to_le_bytes();
        let extra = wide(&[length, length, start]);
        self.directory.extend_from_slice(b"PK\x01\x02");
        self.directory.extend_from_slice(&VERSION.to_le_bytes());
        self.directory.extend_from_slice(&common);
        self.directory.extend_from_slice(&(extra.len() as u16).to_le_bytes());
        // No comment, the first disk, no attributes.
        self.directory.extend_from_slice(&[0; 10]);
        self.directory.extend_from_slice(&ELSEWHERE);
        self.directory.extend_from_slice(name.as_bytes());
        self.directory.extend_from_slice(&extra);
        self.members += 1;
        let extra = wide(&[length, length]);
        self.write(b"PK\x03\x04")?;
        self.write(&common)?;
        self.write(&(extra.len() as u16).to_le_bytes())?;
        self.write(name.as_bytes())?;
        self.write(&extra)?;
        self.out.write_all(&header)?;
        items(self.out)?;
        self.position += sum.length;
        Ok(())
    }

    fn values(&mut self, name: &str, shape: &str, values: &Values) -> io::Result<()> {
        match values {
            Values::F32(values) => {
                self.member(name, "<f4", shape, |sink| put(sink, values, f32::to_le_bytes))
            }
            Values::F64(values) => {
                self.member(name, "<f8", shape, |sink| put(sink, values, f64::to_le_bytes))
            }
        }
    }

    /// Whole numbers where all classes are, otherwise texts.
    fn labels(&mut self, data: &Dataset) -> io::Result<()> {
        let classes = data.classes();
        let whole = |class: &String| class.parse::<i64>().ok().filter(|number| number.to_string() == *class);
        let shape = format!("({},)", data.len());
        if let Some(numbers) = classes.iter().map(whole).collect::<Option<Vec<i64>>>() {
            return self.member("y", "<i8", &shape, |sink| {
                put(sink, data.labels(), |label| numbers[label as usize].to_le_bytes())
            });
        }
        let longest = classes.iter().map(|class| class.chars().count()).max().unwrap_or(0);
        let texts: Vec<Vec<u8>> = classes
            .iter()
            .map(|class| {
                let mut text: Vec<u8> = class.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
                text.resize(4 * longest, 0);
                text
            })
            .collect();
        self.member("y", &format!("<U{longest}"), &shape, |sink| {
            data.labels().iter().try_for_each(|&label| sink.write_all(&texts[label as usize]))
        })
    }

    /// Writes the directory and its ends: that of 64 bits, where it is, and the old one.
    fn finish(&mut self) -> io::Result<()> {
        let (start, directory) = (self.position, std::mem::take(&mut self.directory));
        self.write(&directory)?;
        let wide_end = self.position;
        let mut end = b"PK\x06\x06".to_vec();
        // The length of the rest of this record.
        end.extend_from_slice(&44u64.to_le_bytes());
        end.extend_from_slice(&[VERSION, VERSION].map(u16::to_le_bytes).concat());
        end.extend_from_slice(&[0; 8]);
        for number in [self.members, self.members, directory.len() as u64, start] {
            end.extend_from_slice(&number.to_le_bytes());
        }
        end.extend_from_slice(b"PK\x06\x07\x00\x00\x00\x00");
        end.extend_from_slice(&wide_end.to_le_bytes());
        end.extend_from_slice(&1u32.to_le_bytes());
        end.extend_from_slice(b"PK\x05\x06\x00\x00\x00\x00");
        end.extend_from_slice(&[self.members as u16; 2].map(u16::to_le_bytes).concat());
        for number in [directory.len() as u64, start] {
            end.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        end.extend_from_slice(&[0; 2]);
        self.write(&end)
    }
}

/// The bytes before the items of an array.
fn array_header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes; the numbers begin at a multiple of 64.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
