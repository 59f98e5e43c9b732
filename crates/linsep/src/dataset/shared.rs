//! Data sets over memory of someone else: checked like any other, but not copied.
//!
//! The memory is kept by an owner in an [`Arc`]: a vector, an array of NumPy, a buffer of Arrow. Values stay as they are
//! stored: f64 values are not narrowed to f32, even where that would lose nothing, because narrowing needs a copy. It
//! saves memory and time and never changes a result, since f32 values are widened exactly before any arithmetic.

use super::builder::classes_of;
use super::{Array, Dataset, DatasetError, Plain, Rows, Values};
use crate::classes::{class_name, sorted_order};
use std::sync::Arc;

impl Dataset {
    /// A data set of dense rows with `columns` values each, one row after the other, which stay where they are.
    ///
    /// ```
    /// use linsep::dataset::Array;
    /// use std::sync::Arc;
    ///
    /// let petals: Arc<Vec<f32>> = Arc::new(vec![1.4, 0.2, 4.7, 1.4]);
    /// let data = linsep::Dataset::shared_dense(2, Array::shared(petals), &["setosa", "other"])?;
    /// assert_eq!(data.len(), 2);
    /// # Ok::<(), linsep::dataset::DatasetError>(())
    /// ```
    pub fn shared_dense<L: AsRef<str>>(
        columns: usize,
        values: impl Into<Values>,
        labels: &[L],
    ) -> Result<Self, DatasetError> {
        let values = values.into();
        if columns == 0 || columns.checked_mul(labels.len()) != Some(values.len()) {
            let (found, rows) = (values.len(), labels.len());
            return Err(DatasetError::Shape(format!(
                "{found} values do not make {rows} rows of {columns} columns"
            )));
        }
        Self::of_shared(Rows::Dense { values }, columns, labels)
    }

    /// A data set of compressed sparse rows, which stay where they are: row i has the values `offsets[i]..offsets[i + 1]`
    /// in the columns that `indices` gives, which must increase within a row. A stored zero is an error; use
    /// [`Dataset::sparse`], which copies, to have zeros dropped.
    pub fn shared_sparse<L: AsRef<str>>(
        columns: usize,
        offsets: impl Into<Array<usize>>,
        indices: impl Into<Array<u32>>,
        values: impl Into<Values>,
        labels: &[L],
    ) -> Result<Self, DatasetError> {
        let (offsets, indices, values) = (offsets.into(), indices.into(), values.into());
        Self::of_shared(Rows::Sparse { offsets, indices, values }, columns, labels)
    }

    /// A data set of rows whose labels are numbers of classes already: `labels` are places in `classes`, in any order. As
    /// everywhere, classes are sorted; two names of one class, such as `1` and `1.0`, are an error.
    pub fn with_codes(
        rows: Rows,
        columns: usize,
        labels: Vec<u32>,
        classes: &[String],
    ) -> Result<Self, DatasetError> {
        let shape = |what: String| Err(DatasetError::Shape(what));
        if labels.len() > u32::MAX as usize || columns > u32::MAX as usize {
            return shape("more than 4294967295 rows or columns".to_string());
        }
        let mut names = Vec::with_capacity(classes.len());
        for (place, label) in classes.iter().enumerate() {
            let Some(name) = class_name(label) else {
                let row = labels.iter().position(|&code| code as usize == place).unwrap_or(0);
                return Err(DatasetError::Label { row, label: label.clone() });
            };
            names.push(name);
        }
        let order = sorted_order(&names);
        if let Some(same) = order.windows(2).find(|pair| names[pair[0]] == names[pair[1]]) {
            let (one, other) = (&classes[same[0]], &classes[same[1]]);
            return shape(format!("the labels \"{one}\" and \"{other}\" are two names of one class"));
        }
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &class)| places[class] = place as u32);
        let sorted = order.iter().map(|&class| names[class].clone()).collect();
        let mut labels = labels;
        if labels.iter().any(|&code| code as usize >= classes.len()) {
            return shape("a label is no place among the classes".to_string());
        }
        if places.iter().enumerate().any(|(class, &place)| class != place as usize) {
            labels.iter_mut().for_each(|label| *label = places[*label as usize]);
        }
        Self::checked(rows, columns, Array::shared(Arc::new(labels)), sorted)
    }

    fn of_shared<L: AsRef<str>>(rows: Rows, columns: usize, labels: &[L]) -> Result<Self, DatasetError> {
        if labels.len() > u32::MAX as usize || columns > u32::MAX as usize {
            return Err(DatasetError::Shape("more than 4294967295 rows or columns".to_string()));
        }
        let (labels, classes) = classes_of(labels)?;
        Self::checked(rows, columns, labels.into(), classes)
    }

    fn checked(
        rows: Rows,
        columns: usize,
        labels: Array<u32>,
        classes: Vec<String>,
    ) -> Result<Self, DatasetError> {
        let of_shape = rows.clone();
        Self::from_arrays(rows, columns, labels, None, classes, None, 1).map_err(|error| match error {
            DatasetError::Shape(_) => not_finite(&of_shape, columns).unwrap_or(error),
            error => error,
        })
    }
}

/// The first value that is not finite, among rows that were found unfit.
pub(super) fn not_finite(rows: &Rows, columns: usize) -> Option<DatasetError> {
    let position = |values: &Values| match values {
        Values::F32(values) => values.iter().position(|x| !x.is_finite()),
        Values::F64(values) => values.iter().position(|x| !x.is_finite()),
    };
    match rows {
        Rows::Dense { values } => {
            let place = position(values)?;
            Some(DatasetError::NotFinite { row: place / columns, column: place % columns })
        }
        Rows::Sparse { offsets, indices, values } => {
            let place = position(values)?;
            let row = offsets.iter().rposition(|&start| start <= place)?;
            Some(DatasetError::NotFinite { row, column: *indices.get(place)? as usize })
        }
    }
}

impl From<Array<f32>> for Values {
    fn from(values: Array<f32>) -> Self {
        Values::F32(values)
    }
}

impl From<Array<f64>> for Values {
    fn from(values: Array<f64>) -> Self {
        Values::F64(values)
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(values.into())
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(values.into())
    }
}

impl<T: Plain> From<Arc<Vec<T>>> for Array<T> {
    fn from(owner: Arc<Vec<T>>) -> Self {
        Array::shared(owner)
    }
}

impl<T: Plain> From<Arc<[T]>> for Array<T> {
    fn from(owner: Arc<[T]>) -> Self {
        Array::shared(Arc::new(owner))
    }
}

/// Whole numbers of an owner, seen as those of another type that has the same bits for them.
struct Seen<O, T>(Arc<O>, std::marker::PhantomData<fn() -> T>);

macro_rules! seen_as {
    ($($from:ty => $to:ty),*) => {
        $(impl<O: AsRef<[$from]>> AsRef<[$to]> for Seen<O, $from> {
            fn as_ref(&self) -> &[$to] {
                bytemuck::cast_slice(self.0.as_ref().as_ref())
            }
        })*
    };
}

seen_as!(i32 => u32);
#[cfg(target_pointer_width = "64")]
seen_as!(i64 => usize, u64 => usize);

fn negative() -> DatasetError {
    DatasetError::Shape("a row start or a column is negative or too large".to_string())
}

impl Array<u32> {
    /// Columns as SciPy stores them, which stay where they are. A negative column is an error.
    pub fn shared_i32<O: AsRef<[i32]> + Send + Sync + 'static>(owner: Arc<O>) -> Result<Self, DatasetError> {
        if (*owner).as_ref().iter().any(|&index| index < 0) {
            return Err(negative());
        }
        Ok(Array::shared(Arc::new(Seen(owner, std::marker::PhantomData::<fn() -> i32>))))
    }
}

impl Array<usize> {
    /// Row starts as SciPy stores them in large matrices, which stay where they are (on machines of 64 bits). A negative
    /// start is an error.
    pub fn shared_i64<O: AsRef<[i64]> + Send + Sync + 'static>(owner: Arc<O>) -> Result<Self, DatasetError> {
        if (*owner).as_ref().iter().any(|&start| usize::try_from(start).is_err()) {
            return Err(negative());
        }
        #[cfg(target_pointer_width = "64")]
        return Ok(Array::shared(Arc::new(Seen(owner, std::marker::PhantomData::<fn() -> i64>))));
        #[cfg(not(target_pointer_width = "64"))]
        Ok((*owner).as_ref().iter().map(|&start| start as usize).collect::<Vec<_>>().into())
    }

    /// Row starts of 64 bits, which stay where they are (on machines of 64 bits).
    pub fn shared_u64<O: AsRef<[u64]> + Send + Sync + 'static>(owner: Arc<O>) -> Result<Self, DatasetError> {
        if (*owner).as_ref().iter().any(|&start| usize::try_from(start).is_err()) {
            return Err(negative());
        }
        #[cfg(target_pointer_width = "64")]
        return Ok(Array::shared(Arc::new(Seen(owner, std::marker::PhantomData::<fn() -> u64>))));
        #[cfg(not(target_pointer_width = "64"))]
        Ok((*owner).as_ref().iter().map(|&start| start as usize).collect::<Vec<_>>().into())
    }

    /// Row starts of 32 bits, as SciPy stores them in most matrices. These are copied: there is one for each row only.
    pub fn copied_i32(starts: &[i32]) -> Result<Self, DatasetError> {
        let starts: Result<Vec<usize>, _> = starts.iter().map(|&start| usize::try_from(start)).collect();
        Ok(starts.map_err(|_| negative())?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Learner, Settings, train};
    use crate::{Model, dataset::Row};

    /// Petals of two kinds, exactly f32, and their labels.
    fn petals() -> (Vec<f64>, Vec<&'static str>) {
        let mut random = crate::random::Random::stream(7, 3);
        let rows = 200;
        let values = (0..rows * 3).map(|k| {
            let side = if k / 3 % 2 == 0 { 0.75 } else { -0.75 };
            side + (random.below(1000) as f64 - 500.0) / 512.0
        });
        (values.collect(), (0..rows).map(|i| ["a", "b"][i % 2]).collect())
    }

    fn model(data: &Dataset, learner: Learner) -> Vec<u8> {
        let settings = Settings { learner, epochs: 4, ..Settings::default() };
        Model::new(train(data, &settings, &mut ()).unwrap()).to_bytes().unwrap()
    }

    #[test]
    fn borrowed_rows_give_the_same_bits() {
        let (values, labels) = petals();
        let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        let owned = Dataset::dense(3, &values, &labels).unwrap();
        let f64s = Dataset::shared_dense(3, Array::shared(Arc::new(values.clone())), &labels).unwrap();
        let f32s = Dataset::shared_dense(3, Array::shared(Arc::new(narrow)), &labels).unwrap();
        assert!(matches!(owned.rows(), Rows::Dense { values: Values::F32(_) }));
        assert!(matches!(f64s.rows(), Rows::Dense { values: Values::F64(_) }));
        let starts: Vec<i64> = (0..=labels.len() as i64).map(|i| 3 * i).collect();
        let columns: Vec<i32> = (0..values.len() as i32).map(|k| k % 3).collect();
        let nonzero: Vec<f64> = values.iter().map(|&x| if x == 0.0 { 0.5 } else { x }).collect();
        let sparse = Dataset::shared_sparse(
            3,
            Array::<usize>::shared_i64(Arc::new(starts.clone())).unwrap(),
            Array::<u32>::shared_i32(Arc::new(columns.clone())).unwrap(),
            Array::shared(Arc::new(nonzero.clone())),
            &labels,
        )
        .unwrap();
        let offsets: Vec<usize> = starts.iter().map(|&start| start as usize).collect();
        let indices: Vec<u32> = columns.iter().map(|&column| column as u32).collect();
        let copied = Dataset::sparse(3, &offsets, &indices, &nonzero, &labels).unwrap();
        assert_eq!(owned.fingerprint(), f64s.fingerprint());
        assert_eq!(owned.fingerprint(), f32s.fingerprint());
        assert_eq!(sparse.fingerprint(), copied.fingerprint());
        for learner in [
            Learner::Perceptron,
            Learner::Averaged,
            Learner::Svm(Default::default()),
            Learner::Sgd(Default::default()),
        ] {
            let expected = model(&owned, learner);
            assert_eq!(model(&f64s, learner), expected, "{learner:?}");
            assert_eq!(model(&f32s, learner), expected, "{learner:?}");
            assert_eq!(model(&sparse, learner), model(&copied, learner), "{learner:?}");
        }
    }

    #[test]
    fn labels_that_are_numbers_of_classes_give_the_same_data() {
        let (values, labels) = petals();
        let owned = Dataset::dense(3, &values, &labels).unwrap();
        let codes: Vec<u32> = labels.iter().map(|&label| u32::from(label == "a")).collect();
        let rows = Rows::Dense { values: values.into() };
        let names = ["b".to_string(), "a".to_string()];
        let coded = Dataset::with_codes(rows.clone(), 3, codes.clone(), &names).unwrap();
        assert_eq!((coded.labels(), coded.classes()), (owned.labels(), owned.classes()));
        assert_eq!(coded.fingerprint(), owned.fingerprint());
        let refused = |codes: Vec<u32>, names: [&str; 2]| {
            Dataset::with_codes(rows.clone(), 3, codes, &names.map(str::to_string)).map(|_| ()).unwrap_err()
        };
        assert!(matches!(refused(codes.clone(), ["1", "1.0"]), DatasetError::Shape(_)));
        assert!(matches!(refused(codes.clone(), ["", "1"]), DatasetError::Label { row: 1, .. }));
        assert!(matches!(refused(vec![2; codes.len()], ["a", "b"]), DatasetError::Shape(_)));
        assert!(matches!(refused(vec![0; 7], ["a", "b"]), DatasetError::Shape(_)));
    }

    #[test]
    fn nothing_is_copied() {
        let values = Arc::new(vec![1.5f64, 2.5]);
        let data = Dataset::shared_dense(1, Array::shared(values.clone()), &["a", "b"]).unwrap();
        let Row::DenseF64(row) = data.row(0) else { panic!("values are f64") };
        assert_eq!(row.as_ptr(), values.as_ptr());
        let columns = Arc::new(vec![0i32, 1]);
        let indices = Array::<u32>::shared_i32(columns.clone()).unwrap();
        assert_eq!(indices.as_ptr().cast(), columns.as_ptr());
        drop(values);
        assert_eq!(data.row(1).iter().collect::<Vec<_>>(), [(0, 2.5)]);
    }

    #[test]
    fn unfit_memory_is_refused() {
        let dense = |values: Vec<f64>| Dataset::shared_dense(2, values, &["a", "b"]).map(|_| ());
        assert_eq!(dense(vec![1.0, 2.0, f64::NAN, 4.0]), Err(DatasetError::NotFinite { row: 1, column: 0 }));
        assert!(matches!(dense(vec![1.0; 3]), Err(DatasetError::Shape(_))));
        assert!(matches!(Dataset::shared_dense::<&str>(2, Vec::<f32>::new(), &[]), Err(DatasetError::Empty)));
        let sparse = |offsets: &[usize], indices: &[u32], values: &[f32]| {
            let (offsets, indices) = (offsets.to_vec(), indices.to_vec());
            Dataset::shared_sparse(3, offsets, indices, values.to_vec(), &["a", "b"]).map(|_| ())
        };
        assert_eq!(sparse(&[0, 1, 3], &[2, 0, 1], &[1.0, 2.0, 3.0]), Ok(()));
        assert_eq!(
            sparse(&[0, 1, 3], &[2, 0, 1], &[1.0, 2.0, f32::INFINITY]),
            Err(DatasetError::NotFinite { row: 1, column: 1 })
        );
        for (offsets, indices, values) in [
            (&[0, 1, 3][..], &[2, 1, 0][..], &[1.0, 2.0, 3.0][..]),
            (&[0, 1, 3], &[3, 0, 1], &[1.0, 2.0, 3.0]),
            (&[0, 1, 3], &[2, 0, 1], &[1.0, 0.0, 3.0]),
            (&[0, 1], &[2], &[1.0]),
            (&[0, 4, 3], &[2, 0, 1], &[1.0, 2.0, 3.0]),
            (&[0, 1, 4], &[2, 0, 1], &[1.0, 2.0, 3.0]),
            (&[], &[], &[]),
        ] {
            assert!(matches!(sparse(offsets, indices, values), Err(DatasetError::Shape(_))), "{offsets:?}");
        }
        assert!(Array::<u32>::shared_i32(Arc::new(vec![0, -1])).is_err());
        assert!(Array::<usize>::shared_i64(Arc::new(vec![0i64, -1])).is_err());
        assert!(Array::<usize>::copied_i32(&[0, -1]).is_err());
        assert_eq!(Array::<usize>::shared_u64(Arc::new(vec![0u64, 5])).unwrap()[..], [0, 5]);
    }
}
