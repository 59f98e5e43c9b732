//! Rows from Python: arrays of NumPy, compressed sparse rows of SciPy, tables as text, files.

#![allow(unsafe_code, reason = "numbers in arrays of NumPy are seen where they are")]

use crate::errors::{Door, exception};
use crate::jobs::parsed;
use crate::table::Table;
use crate::watch::{detached, watched};
use linsep::dataset::{Array, Dataset, Plain, Rows as Layout, Values};
use linsep::features::{CellForm, Column, ColumnKind, MissingWords, Number, Schema};
use linsep::prepare::leave_out_row_names;
use linsep::read::{Format, Loaded, ReadNotes, ReadOptions, Source, read};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Refuses what needs more memory than there is. `what` is the beginning of a sentence.
#[pyfunction]
pub fn check_memory(needed: u64, what: &str) -> PyResult<()> {
    linsep::memory::check(needed, || what.to_string()).map_err(|error| exception(Door::Estimator, error))
}

/// Rows with labels, ready for every job. Nothing is copied: where the memory is that of an array, the array is kept.
#[pyclass(frozen, module = "linsep._engine")]
pub struct Rows {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) name: String,
}

/// Numbers in an array of NumPy, which is kept as long as they are needed.
struct Held<T> {
    start: *const T,
    length: usize,
    _array: Py<PyArray1<T>>,
}

// SAFETY: the numbers are only read, and the array is released by whichever thread drops it, as PyO3 allows.
unsafe impl<T: Plain> Send for Held<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Held<T> {}

impl<T> AsRef<[T]> for Held<T> {
    fn as_ref(&self) -> &[T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: both come from the contiguous memory of the array, which NumPy neither moves nor frees while the array is
        // referred to. A program of Python that writes to it meanwhile changes values; they are never used to find a place
        // in memory, and every value is a number.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The numbers of a contiguous array, where they are.
fn held<T: Plain + Element>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Array<T>> {
    // SAFETY: the slice is only used to find where it starts, and how long it is.
    let numbers = unsafe { array.as_slice() }
        .map_err(|_| PyValueError::new_err("the values must lie one after the other in memory"))?;
    let (start, length) = (numbers.as_ptr(), numbers.len());
    Ok(Array::shared(Arc::new(Held { start, length, _array: array.clone().unbind() })))
}

/// Values of f32 or f64, where they are.
fn values_of(array: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Ok(array) = array.cast::<PyArray1<f32>>() {
        return Ok(Values::F32(held(array)?));
    }
    match array.cast::<PyArray1<f64>>() {
        Ok(array) => Ok(Values::F64(held(array)?)),
        Err(_) => Err(PyTypeError::new_err("values must be float32 or float64")),
    }
}

/// The class of each row and the names of the classes; all rows of one class, where there are no labels.
type Coded<'py> = Option<(PyReadonlyArray1<'py, u32>, Vec<String>)>;

fn labels_of(labels: Coded<'_>, rows: usize) -> PyResult<(Vec<u32>, Vec<String>)> {
    let Some((codes, names)) = labels else { return Ok((vec![0; rows], vec!["0".to_string()])) };
    let codes = codes.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?.to_vec();
    if codes.len() != rows {
        return Err(PyValueError::new_err(format!(
            "{rows} rows and {} labels: each row needs one",
            codes.len()
        )));
    }
    Ok((codes, names))
}

/// How often each row counts.
pub type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

pub fn weights_of(weights: Weights<'_>) -> PyResult<Option<Vec<f64>>> {
    let weights = weights.map(|weights| weights.as_slice().map(<[f64]>::to_vec)).transpose();
    weights.map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl Rows {
    /// Dense rows: `values` is contiguous, one row after the other. With names, they are the columns of a table.
    #[staticmethod]
    #[pyo3(signature = (values, columns, labels=None, weights=None, names=None, label="y", name="X"))]
    #[expect(clippy::too_many_arguments, reason = "each is a part of the rows")]
    fn dense(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        columns: usize,
        labels: Coded<'_>,
        weights: Weights<'_>,
        names: Option<Vec<String>>,
        label: &str,
        name: &str,
    ) -> PyResult<Self> {
        let values = values_of(values)?;
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let coded = labels_of(labels, rows)?;
        if names.as_ref().is_some_and(|names| names.len() != columns) {
            return Err(PyValueError::new_err("each column needs one name"));
        }
        let schema = match names {
            None => Schema::Array { features: columns },
            Some(names) => table_of(names, label),
        };
        Self::new(py, Layout::Dense { values }, columns, coded, weights_of(weights)?, schema, name)
    }

    /// Compressed sparse rows: the columns of a row increase, and no zero is stored.
    #[staticmethod]
    #[pyo3(signature = (offsets, indices, values, columns, labels=None, weights=None, name="X"))]
    #[expect(clippy::too_many_arguments, reason = "each is a part of the rows")]
    fn sparse(
        py: Python<'_>,
        offsets: Whole<'_>,
        indices: Whole<'_>,
        values: &Bound<'_, PyAny>,
        columns: usize,
        labels: Coded<'_>,
        weights: Weights<'_>,
        name: &str,
    ) -> PyResult<Self> {
        let values = values_of(values)?;
        // These find places in memory, and a program may write to them meanwhile: they are copied. What is negative or too
        // large becomes the largest number, which is no row start and no column, and is found with all others.
        let offsets: Vec<usize> = offsets.copied(py, |start| usize::try_from(start).unwrap_or(usize::MAX))?;
        let indices: Vec<u32> = indices.copied(py, |column| u32::try_from(column).unwrap_or(u32::MAX))?;
        let coded = labels_of(labels, offsets.len().saturating_sub(1))?;
        let (offsets, indices) = (Array::shared(Arc::new(offsets)), Array::shared(Arc::new(indices)));
        let layout = Layout::Sparse { offsets, indices, values };
        let schema = Schema::Array { features: columns };
        Self::new(py, layout, columns, coded, weights_of(weights)?, schema, name)
    }

    /// A table, read as the command line reads one. `options` are those of reading, as JSON.
    #[staticmethod]
    #[pyo3(signature = (table, options, weights=None, name="X"))]
    fn table(
        py: Python<'_>,
        table: &Table,
        options: &str,
        weights: Weights<'_>,
        name: &str,
    ) -> PyResult<Self> {
        let weights = weights_of(weights)?;
        let options: ReadOptions = parsed(options)?;
        let source = Source::Shared(name.to_string(), table.text.clone());
        Self::read_from(py, Door::Estimator, &source, &options, weights, name)
    }

    /// A file in any format of the command line. `options` are those of reading, as JSON.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<Self> {
        let options: ReadOptions = parsed(options)?;
        let name = path.display().to_string();
        let rows = Self::read_from(py, Door::Read, &Source::File(path), &options, None, &name)?;
        let mut loaded = Arc::unwrap_or_clone(rows.loaded);
        leave_out_row_names(&mut loaded).map_err(|error| exception(Door::Read, error))?;
        Ok(Self { loaded: Arc::new(loaded), name })
    }

    /// Rows and columns (features).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.data().len(), self.data().columns())
    }

    /// The names of the classes, sorted.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.data().classes().to_vec()
    }

    /// The class of each row, as a place among the classes.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.data().labels())
    }

    /// The names of the features, where there are names.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.loaded.schema.feature_names()
    }

    /// The name of each feature: its number where there are no names.
    fn feature_name(&self, feature: usize) -> String {
        self.loaded.schema.feature_name(feature)
    }

    /// Notes made while reading: how the format was understood, and remarks.
    #[getter]
    fn notes(&self) -> (String, Vec<String>) {
        let notes = &self.loaded.notes;
        let remarks =
            notes.remarks.iter().map(|remark| crate::errors::in_python(Door::Read, remark)).collect();
        (notes.format.clone(), remarks)
    }

    /// The hash of the content.
    fn fingerprint(&self, py: Python<'_>) -> String {
        detached(py, || self.data().fingerprint().to_string())
    }

    /// A copy of the values: `{"values"}` of dense rows, `{"offsets", "indices", "values"}` of sparse ones.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        let values = match self.data().rows() {
            Layout::Dense { values } => values,
            Layout::Sparse { offsets, indices, values } => {
                let offsets: Vec<i64> = offsets.iter().map(|&offset| offset as i64).collect();
                arrays.set_item("offsets", PyArray1::from_vec(py, offsets))?;
                arrays.set_item(
                    "indices",
                    PyArray1::from_vec(py, indices.iter().map(|&j| i64::from(j)).collect()),
                )?;
                values
            }
        };
        match values {
            Values::F32(values) => arrays.set_item("values", PyArray1::from_slice(py, values))?,
            Values::F64(values) => arrays.set_item("values", PyArray1::from_slice(py, values))?,
        }
        Ok(arrays)
    }

    /// Which kind of column each is, for a table: its name, and `number`, `words`, `label` or `ignored`.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = match &self.loaded.schema {
            Schema::Table { columns, .. } => columns.as_slice(),
            _ => &[],
        };
        PyList::new(py, columns.iter().map(|column| (column.name.as_str(), kind_name(&column.kind))))
    }
}

/// The name of a kind of column.
pub fn kind_name(kind: &ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number(_) => "number",
        ColumnKind::Words(_) => "words",
        ColumnKind::Text(_) => "text",
        ColumnKind::Label => "label",
        ColumnKind::Ignored => "ignored",
    }
}

/// The schema of a table of numbers with these columns, and the label after them.
fn table_of(names: Vec<String>, label: &str) -> Schema {
    let number = |(feature, name): (usize, &String)| Column {
        name: name.clone(),
        kind: ColumnKind::Number(Number { feature, fill: None, gap: None, form: CellForm::Plain }),
        names_rows: None,
    };
    let mut columns: Vec<Column> = names.iter().enumerate().map(number).collect();
    columns.push(Column { name: label.to_string(), kind: ColumnKind::Label, names_rows: None });
    Schema::Table {
        header: true,
        columns,
        features: names,
        missing_words: MissingWords::Usual,
        delimiter: None,
    }
}

/// Starts of rows, or columns, as SciPy stores them.
#[derive(FromPyObject)]
enum Whole<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

impl Whole<'_> {
    /// A copy, made on all threads.
    fn copied<T: Send>(&self, py: Python<'_>, number: impl Fn(i64) -> T + Sync + Send) -> PyResult<Vec<T>> {
        let contiguous = |error: numpy::AsSliceError| PyValueError::new_err(error.to_string());
        match self {
            Whole::Narrow(numbers) => {
                let numbers = numbers.as_slice().map_err(contiguous)?;
                Ok(detached(py, || numbers.par_iter().map(|&x| number(x.into())).collect()))
            }
            Whole::Wide(numbers) => {
                let numbers = numbers.as_slice().map_err(contiguous)?;
                Ok(detached(py, || numbers.par_iter().map(|&x| number(x)).collect()))
            }
        }
    }
}

impl Rows {
    pub(crate) fn data(&self) -> &Dataset {
        &self.loaded.dataset
    }

    /// The rows as the source of a job.
    pub(crate) fn source(&self) -> Source {
        Source::Rows(self.name.clone(), self.loaded.clone())
    }

    fn new(
        py: Python<'_>,
        layout: Layout,
        columns: usize,
        (codes, names): (Vec<u32>, Vec<String>),
        weights: Option<Vec<f64>>,
        schema: Schema,
        name: &str,
    ) -> PyResult<Self> {
        let (format, what) = match (&schema, &layout) {
            (Schema::Table { .. }, _) => (Format::CSV, "table of numbers"),
            (_, Layout::Dense { .. }) => (Format::NPY, "array"),
            (_, Layout::Sparse { .. }) => (Format::NPZ, "sparse matrix"),
        };
        let dataset = detached(py, || {
            let data = Dataset::with_codes(layout, columns, codes, &names)?;
            weights.map_or(Ok(data.clone()), |weights| data.with_weights(weights))
        })
        .map_err(|error| exception(Door::Estimator, error.into()))?;
        let notes = ReadNotes { format: what.to_string(), ..ReadNotes::default() };
        let own_schema = schema.clone();
        let loaded = Loaded { dataset, format, schema, notes, own_schema, fingerprint: None };
        Ok(Self { loaded: Arc::new(loaded), name: name.to_string() })
    }

    pub(crate) fn read_from(
        py: Python<'_>,
        door: Door,
        source: &Source,
        options: &ReadOptions,
        weights: Option<Vec<f64>>,
        name: &str,
    ) -> PyResult<Self> {
        let (mut loaded, _) = watched(py, door, false, |watch| read(source, options, watch))?;
        if let Some(weights) = weights {
            loaded.dataset = loaded
                .dataset
                .with_weights(weights)
                .map_err(|error| exception(Door::Estimator, error.into()))?;
        }
        Ok(Self { loaded: Arc::new(loaded), name: name.to_string() })
    }
}
