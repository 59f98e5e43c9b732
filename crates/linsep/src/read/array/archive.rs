//! The members of an `.npz` archive: a dense matrix, or a sparse one as SciPy saves it.

use super::npy::Npy;
use super::npy_stream::Stream;
use super::zip::Archive;

/// A matrix of rows.
pub(super) enum Matrix {
    Dense(Npy),
    /// Dense, and never in memory as a whole.
    Stream(Stream),
    Sparse(Csr),
}

/// Compressed sparse rows.
#[derive(Debug)]
pub(super) struct Csr {
    pub(super) data: Npy,
    indices: Npy,
    /// Where each row starts, and the end.
    offsets: Vec<usize>,
    pub(super) columns: usize,
}

/// Names under which the rows are saved, in order of preference.
const ROWS: [&str; 5] = ["X", "x", "data", "features", "arr_0"];
const LABELS: [&str; 4] = ["y", "labels", "target", "arr_1"];

/// Opens an archive: its rows, and its labels if it has some.
pub(super) fn open(bytes: Vec<u8>) -> Result<(Matrix, Option<Npy>), String> {
    let archive = Archive::open(bytes).map_err(broken)?;
    let names: Vec<&str> = archive.names().filter_map(|name| name.strip_suffix(".npy")).collect();
    let find = |wanted: &[&'static str]| -> Option<&'static str> {
        wanted.iter().copied().find(|name| names.contains(name))
    };
    let labels = match find(&LABELS) {
        Some(name) => Some(member(&archive, name)?),
        None => None,
    };
    let matrix = if find(&["indptr"]).is_some() {
        Matrix::Sparse(Csr::open(&archive)?)
    } else {
        let Some(name) = find(&ROWS) else {
            return Err(format!("the archive has no array X; it has {}", listed(&names)));
        };
        Matrix::Dense(member(&archive, name)?)
    };
    Ok((matrix, labels))
}

fn member(archive: &Archive, name: &str) -> Result<Npy, String> {
    let bytes = archive.member(&format!("{name}.npy")).map_err(broken)?;
    Npy::parse(bytes).map_err(|problem| format!("array \"{name}\": {problem}"))
}

fn broken(problem: String) -> String {
    format!("the archive cannot be read: {problem}")
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_string();
    }
    let mut text = names.iter().take(8).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > 8 {
        text.push_str(", …");
    }
    text
}

impl Csr {
    fn open(archive: &Archive) -> Result<Self, String> {
        let format = member(archive, "format")?.text(0).unwrap_or_default();
        if format != "csr" {
            return Err(format!("the sparse matrix has the format \"{format}\": save it with tocsr()"));
        }
        let shape = member(archive, "shape")?;
        let size = |k| shape.whole(k).and_then(|size| usize::try_from(size).ok());
        let (Some(2), Some(rows), Some(columns)) = (shape.line_length(), size(0), size(1)) else {
            return Err("the shape of the sparse matrix is not two whole numbers".to_string());
        };
        let (data, indices) = (member(archive, "data")?, member(archive, "indices")?);
        let indptr = member(archive, "indptr")?;
        let stored = data.line_length().filter(|_| data.is_numeric());
        if stored.is_none() || stored != indices.line_length() {
            return Err("the sparse matrix needs one index for each stored number".to_string());
        }
        let mismatch = || "the row starts of the sparse matrix do not fit its shape and data".to_string();
        if indptr.line_length() != rows.checked_add(1) {
            return Err(mismatch());
        }
        let offset = |k| indptr.whole(k).and_then(|start| usize::try_from(start).ok());
        let offsets: Vec<usize> = (0..=rows).map(offset).collect::<Option<_>>().ok_or_else(mismatch)?;
        let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !rising || offsets.first() != Some(&0) || offsets.last() != stored.as_ref() {
            return Err(mismatch());
        }
        Ok(Self { data, indices, offsets, columns })
    }

    /// How many numbers are stored.
    pub(super) fn stored(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    pub(super) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The positions of a row's numbers.
    pub(super) fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// The column of a number, if the matrix has such a column; otherwise what was written.
    pub(super) fn column(&self, position: usize) -> Result<u32, String> {
        let whole = self.indices.whole(position);
        whole
            .and_then(|index| u32::try_from(index).ok())
            .filter(|&index| (index as usize) < self.columns)
            .ok_or_else(|| whole.map_or("not a whole number".to_string(), |index| index.to_string()))
    }
}
