//! Numbers in memory or in a mapped file, looked at in the same way.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Numbers that are owned, or that lie in a file which is mapped into memory. The latter are copied when they are changed
/// for the first time.
#[derive(Clone)]
pub struct Array<T: Plain>(Place<T>);

#[derive(Clone)]
enum Place<T: Plain> {
    Owned(Vec<T>),
    Shared(Shared<T>),
}

/// Types of which every pattern of bits is a value, so that the bytes of a file can be looked at as such.
///
/// # Safety
/// The type has no padding, no invalid pattern of bits and no pointers.
pub unsafe trait Plain: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The number whose bytes in memory are those of this one in the order of files, and the other way round.
    fn little_endian(self) -> Self;
}

// SAFETY: whole numbers are nothing but their bits.
unsafe impl Plain for u32 {
    fn little_endian(self) -> Self {
        self.to_le()
    }
}
// SAFETY: as above.
unsafe impl Plain for u64 {
    fn little_endian(self) -> Self {
        self.to_le()
    }
}
// SAFETY: as above.
unsafe impl Plain for usize {
    fn little_endian(self) -> Self {
        self.to_le()
    }
}
// SAFETY: every pattern of bits is a float, if only one that is no number.
unsafe impl Plain for f32 {
    fn little_endian(self) -> Self {
        Self::from_bits(self.to_bits().to_le())
    }
}
// SAFETY: as above.
unsafe impl Plain for f64 {
    fn little_endian(self) -> Self {
        Self::from_bits(self.to_bits().to_le())
    }
}

/// The bytes of numbers as they lie in memory.
pub(crate) fn bytes_of<T: Plain>(numbers: &[T]) -> &[u8] {
    // SAFETY: plain types have no padding, so all of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// The bytes of numbers as they lie in memory, to be replaced.
pub(crate) fn bytes_of_mut<T: Plain>(numbers: &mut [T]) -> &mut [u8] {
    // SAFETY: as for `bytes_of`, and whatever bytes are written make plain numbers.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}

/// The bytes of a whole file.
#[derive(Debug)]
pub(crate) enum FileBytes {
    /// Mapped: read from the disk when they are looked at.
    Mapped(memmap2::Mmap),
    /// In memory, aligned for every plain type; with their number.
    Held(Vec<u64>, usize),
}

impl FileBytes {
    /// A copy of bytes that came from elsewhere.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain((!rest.is_empty()).then_some(&last));
        Self::Held(words.map(|&word| u64::from_ne_bytes(word)).collect(), bytes.len())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            // SAFETY: the words are initialised, and `copy_of` made as many as hold `length` bytes.
            Self::Held(words, length) => unsafe {
                std::slice::from_raw_parts(words.as_ptr().cast(), *length)
            },
        }
    }
}

/// Numbers within the bytes of a file.
#[derive(Clone)]
struct Shared<T> {
    start: NonNull<T>,
    length: usize,
    /// Keeps the bytes where they are.
    _file: Arc<FileBytes>,
}

// SAFETY: the numbers are only read, and the file that they lie in is shared by an `Arc`.
unsafe impl<T: Plain> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Shared<T> {}

impl<T: Plain> Array<T> {
    /// The `length` numbers that start at byte `start` of a file, which wrote them as this machine stores them. `None` if
    /// they do not lie within the file, or not where such numbers may lie.
    pub(crate) fn in_file(file: &Arc<FileBytes>, start: usize, length: usize) -> Option<Self> {
        let end = start.checked_add(length.checked_mul(size_of::<T>())?)?;
        let first = NonNull::from(file.get(start..end)?).cast::<T>();
        if !first.is_aligned() {
            return None;
        }
        Some(Self(Place::Shared(Shared { start: first, length, _file: file.clone() })))
    }

    /// The numbers as a vector of their own.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Place::Shared(_) = self.0 {
            self.0 = Place::Owned(self.to_vec());
        }
        match &mut self.0 {
            Place::Owned(values) => values,
            Place::Shared(_) => unreachable!("owned since a moment ago"),
        }
    }

    pub(super) fn push(&mut self, value: T) {
        self.to_mut().push(value);
    }

    pub(super) fn extend_from_slice(&mut self, values: &[T]) {
        self.to_mut().extend_from_slice(values);
    }

    /// Makes room for so many more numbers. Only a hint: what does not fit is found out when it comes.
    pub(super) fn reserve(&mut self, more: usize) {
        let _ = self.to_mut().try_reserve_exact(more);
    }

    /// How many numbers there is room for.
    pub(crate) fn capacity(&self) -> usize {
        match &self.0 {
            Place::Owned(values) => values.capacity(),
            Place::Shared(shared) => shared.length,
        }
    }
}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(values) => values,
            // SAFETY: `in_file` checked that so many numbers lie there, aligned, and the bytes stay as long as `_file` does.
            // Every pattern of bits is a number. Nothing of this program writes to a mapped file: caches are replaced by
            // renaming. Another program that does so while the rows are in use breaks the promise of every map.
            Place::Shared(shared) => unsafe {
                std::slice::from_raw_parts(shared.start.as_ptr(), shared.length)
            },
        }
    }
}

impl<T: Plain> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.to_mut()
    }
}

impl<T: Plain> Extend<T> for Array<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.to_mut().extend(values);
    }
}

impl<T: Plain> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Place::Owned(values))
    }
}

impl<T: Plain> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Plain> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_file_are_seen_and_copied_when_changed() {
        let numbers = [1u32, 2, 3, 4];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).chain([9]).collect();
        let file = Arc::new(FileBytes::copy_of(&bytes));
        assert_eq!(&file[..], bytes);
        let mut array = Array::<u32>::in_file(&file, 4, 3).unwrap();
        let other = array.clone();
        assert_eq!(array[..], [2, 3, 4]);
        array[1] = 7;
        array.push(5);
        assert_eq!((&array[..], &other[..]), (&[2, 7, 4, 5][..], &[2, 3, 4][..]));
        assert_eq!(Array::<u32>::in_file(&file, 16, 0).unwrap().len(), 0);
    }

    #[test]
    fn what_does_not_lie_in_the_file_is_refused() {
        let file = Arc::new(FileBytes::copy_of(&[0; 20]));
        for (start, length) in [(0, 6), (20, 1), (24, 0), (4, usize::MAX), (usize::MAX, 1), (2, 1), (16, 2)] {
            assert!(Array::<u32>::in_file(&file, start, length).is_none(), "{start} {length}");
        }
        assert!(Array::<f64>::in_file(&file, 4, 1).is_none());
        assert!(Array::<f64>::in_file(&file, 8, 1).is_some());
    }
}
