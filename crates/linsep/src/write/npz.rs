//! Rows as NumPy and SciPy save them: `X` and `y`, or a sparse matrix and `y`.

use super::Watch;
use crate::dataset::{Dataset, Rows, Values};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::FileOptions;

/// Numbers that are turned into bytes at a time.
const CHUNK: usize = 1 << 16;

/// Writes an archive. It is put together in a file beside the output first, because a zip archive goes back to note how
/// long each member became.
pub(super) fn write(data: &Dataset, path: &Path, out: &mut dyn Write, watch: Watch<'_>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let scratch = path.with_file_name(format!(".{name}.{}.zip.part", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&scratch)?;
    let result = put_together(data, &file, watch).and_then(|()| {
        (&file).rewind()?;
        io::copy(&mut &file, out).map(|_| ())
    });
    let _ = fs::remove_file(&scratch);
    result
}

fn put_together(data: &Dataset, file: &File, watch: Watch<'_>) -> io::Result<()> {
    let mut archive = Archive { zip: ZipWriter::new(BufWriter::new(file)) };
    let (rows, columns) = (data.len(), data.columns());
    let values = match data.rows() {
        Rows::Dense { values } => {
            archive.values("X", &format!("({rows}, {columns})"), values)?;
            values
        }
        Rows::Sparse { offsets, indices, values } => {
            archive.begin("format", "|S3", "()")?;
            archive.zip.write_all(b"csr")?;
            archive.begin("shape", "<i8", "(2,)")?;
            archive.put(&[rows as u64, columns as u64], u64::to_le_bytes)?;
            archive.begin("indptr", "<i8", &format!("({},)", offsets.len()))?;
            archive.put(offsets, |offset| (offset as u64).to_le_bytes())?;
            let line = format!("({},)", indices.len());
            match i32::try_from(columns).is_ok() {
                true => {
                    archive.begin("indices", "<i4", &line)?;
                    archive.put(indices, u32::to_le_bytes)?;
                }
                false => {
                    archive.begin("indices", "<i8", &line)?;
                    archive.put(indices, |index| u64::from(index).to_le_bytes())?;
                }
            }
            archive.values("data", &line, values)?;
            values
        }
    };
    archive.labels(data)?;
    archive.zip.finish().map_err(io::Error::other)?.flush()?;
    watch(rows as u64, values.len() as u64 * 8)
}

struct Archive<'a> {
    zip: ZipWriter<BufWriter<&'a File>>,
}

impl Archive<'_> {
    /// Begins a member with the header of an array.
    fn begin(&mut self, name: &str, kind: &str, shape: &str) -> io::Result<()> {
        let options =
            FileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
        self.zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)?;
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        // Magic, version and length take ten bytes; the numbers begin at a multiple of 64.
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        self.zip.write_all(b"\x93NUMPY\x01\x00")?;
        self.zip.write_all(&(header.len() as u16).to_le_bytes())?;
        self.zip.write_all(header.as_bytes())
    }

    fn put<T: Copy, const N: usize>(
        &mut self,
        numbers: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(CHUNK.min(numbers.len()) * N);
        for chunk in numbers.chunks(CHUNK) {
            buffer.clear();
            chunk.iter().for_each(|&number| buffer.extend_from_slice(&bytes(number)));
            self.zip.write_all(&buffer)?;
        }
        Ok(())
    }

    fn values(&mut self, name: &str, shape: &str, values: &Values) -> io::Result<()> {
        match values {
            Values::F32(values) => {
                self.begin(name, "<f4", shape)?;
                self.put(values, f32::to_le_bytes)
            }
            Values::F64(values) => {
                self.begin(name, "<f8", shape)?;
                self.put(values, f64::to_le_bytes)
            }
        }
    }

    /// Whole numbers where all classes are, otherwise texts.
    fn labels(&mut self, data: &Dataset) -> io::Result<()> {
        let classes = data.classes();
        let whole = |class: &String| class.parse::<i64>().ok().filter(|number| number.to_string() == *class);
        let shape = format!("({},)", data.len());
        if let Some(numbers) = classes.iter().map(whole).collect::<Option<Vec<i64>>>() {
            self.begin("y", "<i8", &shape)?;
            return self.put(data.labels(), |label| numbers[label as usize].to_le_bytes());
        }
        let longest = classes.iter().map(|class| class.chars().count()).max().unwrap_or(0);
        self.begin("y", &format!("<U{longest}"), &shape)?;
        let texts: Vec<Vec<u8>> = classes
            .iter()
            .map(|class| {
                let mut text: Vec<u8> = class.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
                text.resize(4 * longest, 0);
                text
            })
            .collect();
        data.labels().iter().try_for_each(|&label| self.zip.write_all(&texts[label as usize]))
    }
}
