//! The members of an `.npz` archive: a dense matrix, or a sparse one as SciPy saves it.

use super::npy::Npy;
use super::npy_stream::Stream;
use super::zip::Archive;
use crate::read::error::ReadErrorKind;

/// A matrix of rows.
pub(super) enum Matrix {
    Dense(Npy),
    /// Dense, and never in memory as a whole.
    Stream(Stream),
    Sparse(Csr),
}

/// Numbers in the order of their rows: where each is stored, and its column.
type ByRow = Vec<(usize, u32)>;

/// Compressed sparse rows.
#[derive(Debug)]
pub(super) struct Csr {
    pub(super) data: Npy,
    /// The column of each number, as stored.
    indices: Npy,
    /// Where each row starts, and the end.
    offsets: Vec<usize>,
    /// For a matrix that is not stored by rows: where the numbers are stored, row by row, and their columns.
    by_row: Option<ByRow>,
    /// Whether numbers of the same place are to be added, as SciPy does with a matrix that is stored by places.
    pub(super) adds: bool,
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
    // As SciPy saves any sparse matrix, also one whose format is not read.
    let is_sparse = ["format", "shape", "data"].iter().all(|name| names.contains(name));
    let matrix = if find(&["indptr"]).is_some() || is_sparse {
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
        let shape = member(archive, "shape")?;
        let size = |k| shape.whole(k).and_then(|size| usize::try_from(size).ok());
        let (Some(2), Some(rows), Some(columns)) = (shape.line_length(), size(0), size(1)) else {
            return Err("the shape of the sparse matrix is not two whole numbers".to_string());
        };
        match format.as_str() {
            "csr" => Self::by_rows(archive, rows, columns),
            "csc" => {
                let matrix = Self::by_rows(archive, columns, rows)?;
                let column = |k: usize| matrix.offsets.partition_point(|&start| start <= k) - 1;
                let places = (0..matrix.stored()).map(|k| (matrix.indices.whole(k), Some(column(k) as i128)));
                let (offsets, by_row) = sorted_by_row(places, rows, columns)?;
                Ok(Self { offsets, by_row: Some(by_row), columns, ..matrix })
            }
            "coo" => {
                let (data, row, indices) =
                    (member(archive, "data")?, member(archive, "row")?, member(archive, "col")?);
                let stored = data.line_length().filter(|_| data.is_numeric());
                if stored.is_none() || stored != row.line_length() || stored != indices.line_length() {
                    return Err(
                        "the sparse matrix needs a row and a column for each stored number".to_string()
                    );
                }
                let places = (0..stored.unwrap_or(0)).map(|k| (row.whole(k), indices.whole(k)));
                let (offsets, by_row) = sorted_by_row(places, rows, columns)?;
                Ok(Self { data, indices, offsets, by_row: Some(by_row), adds: true, columns })
            }
            _ => Err(format!(
                "the sparse matrix has the format \"{format}\", which is not read: save it by rows, in Python \
                 scipy.sparse.save_npz(\"FILE\", matrix.tocsr())"
            )),
        }
    }

    /// A matrix that is stored line by line: rows, or the columns of one that is stored by columns.
    fn by_rows(archive: &Archive, rows: usize, columns: usize) -> Result<Self, String> {
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
        Ok(Self { data, indices, offsets, by_row: None, adds: false, columns })
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

    /// A number.
    pub(super) fn number(&self, position: usize) -> Result<f64, ReadErrorKind> {
        self.data.number(self.by_row.as_ref().map_or(position, |by_row| by_row[position].0))
    }

    /// The column of a number, if the matrix has such a column; otherwise what was written.
    pub(super) fn column(&self, position: usize) -> Result<u32, String> {
        if let Some(by_row) = &self.by_row {
            return Ok(by_row[position].1);
        }
        let whole = self.indices.whole(position);
        whole
            .and_then(|index| u32::try_from(index).ok())
            .filter(|&index| (index as usize) < self.columns)
            .ok_or_else(|| whole.map_or("not a whole number".to_string(), |index| index.to_string()))
    }
}

/// The starts of the rows, and the numbers in the order of their rows: where each is stored, and its column. `places` holds
/// the row and column of each number as stored.
fn sorted_by_row(
    places: impl Iterator<Item = (Option<i128>, Option<i128>)> + Clone,
    rows: usize,
    columns: usize,
) -> Result<(Vec<usize>, ByRow), String> {
    let mut offsets = Vec::new();
    // The file need not be as long as it has rows: most of them may be empty.
    let too_large = crate::memory::available().is_some_and(|available| rows as u64 > available / 16);
    if too_large || offsets.try_reserve_exact(rows.saturating_add(1)).is_err() {
        return Err(format!("the sparse matrix has {rows} rows, which do not fit into memory"));
    }
    let place = |(row, column): (Option<i128>, Option<i128>)| {
        let inside = |index: Option<i128>, limit: usize| {
            index.and_then(|index| usize::try_from(index).ok()).filter(|&index| index < limit)
        };
        let column = inside(column, columns).and_then(|column| u32::try_from(column).ok());
        inside(row, rows).zip(column).ok_or("the sparse matrix has a number outside its shape")
    };
    offsets.resize(rows + 1, 0);
    for found in places.clone() {
        offsets[place(found)?.0 + 1] += 1;
    }
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    let mut next = offsets.clone();
    let mut by_row = vec![(0, 0); offsets[rows]];
    for (position, found) in places.enumerate() {
        let (row, column) = place(found)?;
        by_row[next[row]] = (position, column);
        next[row] += 1;
    }
    Ok((offsets, by_row))
}
