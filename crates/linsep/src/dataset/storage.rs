//! Numbers in memory, in a mapped file, or in memory of someone else, seen in the same way.

#![allow(unsafe_code, reason = "pointers to numbers in shared memory")]

use crate::memory::fallibly;
use std::collections::TryReserveError;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Numbers that are owned, or that lie in shared memory: a file that is mapped, or an array of another library. Shared
/// numbers are copied when they are changed for the first time.
#[derive(Clone)]
pub struct Array<T: Plain>(Place<T>);

#[derive(Clone)]
enum Place<T: Plain> {
    Owned(Vec<T>),
    Shared(Shared<T>),
}

/// Types of which every pattern of bits is a value, so that the bytes of a file can be seen as such.
pub trait Plain: bytemuck::Pod + fmt::Debug + PartialEq + Send + Sync {
    /// The number whose bytes in memory are those of this one in the order of files, and the other way round.
    fn little_endian(self) -> Self;
}

macro_rules! plain {
    ($($whole:ty),*; $($float:ty),*) => {
        $(impl Plain for $whole {
            fn little_endian(self) -> Self {
                self.to_le()
            }
        })*
        $(impl Plain for $float {
            fn little_endian(self) -> Self {
                Self::from_bits(self.to_bits().to_le())
            }
        })*
    };
}

plain!(u32, u64, usize; f32, f64);

/// The bytes of numbers as they lie in memory.
pub(crate) fn bytes_of<T: Plain>(numbers: &[T]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

/// The bytes of numbers as they lie in memory, to be replaced.
pub(crate) fn bytes_of_mut<T: Plain>(numbers: &mut [T]) -> &mut [u8] {
    bytemuck::cast_slice_mut(numbers)
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
        let mut words = vec![0; bytes.len().div_ceil(size_of::<u64>())];
        bytes_of_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::Held(words, bytes.len())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Held(words, length) => &bytes_of(words)[..*length],
        }
    }
}

/// Numbers in memory that an owner keeps where it is.
#[derive(Clone)]
struct Shared<T> {
    start: NonNull<T>,
    length: usize,
    /// Keeps the numbers where they are.
    _owner: Arc<dyn Send + Sync>,
}

// SAFETY: the numbers are only read, and their owner can be shared among threads.
unsafe impl<T: Plain> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Shared<T> {}

impl<T: Plain> Shared<T> {
    /// The numbers that `slice` finds in what an owner keeps.
    fn new<O: Send + Sync + 'static>(
        owner: Arc<O>,
        slice: impl for<'a> FnOnce(&'a O) -> Option<&'a [T]>,
    ) -> Option<Self> {
        // The slice is borrowed from what the `Arc` points to. That neither moves nor is changed by way of `&mut` as long as
        // this clone of the `Arc` lives, so the borrow, and with it the pointer, may last as long.
        let numbers = slice(&owner)?;
        let (start, length) = (NonNull::from(numbers).cast(), numbers.len());
        Some(Self { start, length, _owner: owner })
    }
}

impl<T: Plain> Array<T> {
    /// Numbers that stay where they are, in memory that `owner` keeps: an array of another library, for example.
    pub fn shared<O: AsRef<[T]> + Send + Sync + 'static>(owner: Arc<O>) -> Self {
        let shared = Shared::new(owner, |owner| Some(owner.as_ref()));
        Self(shared.map_or(Place::Owned(Vec::new()), Place::Shared))
    }

    /// The `length` numbers that start at byte `start` of a file, which wrote them as this machine stores them. `None` if
    /// they do not lie within the file, or not where such numbers may lie.
    pub(crate) fn in_file(file: &Arc<FileBytes>, start: usize, length: usize) -> Option<Self> {
        let end = start.checked_add(length.checked_mul(size_of::<T>())?)?;
        let shared = Shared::new(file.clone(), |file| bytemuck::try_cast_slice(file.get(start..end)?).ok())?;
        Some(Self(Place::Shared(shared)))
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
        let _ = fallibly(|| self.to_mut().try_reserve_exact(more));
    }

    /// Makes room for so many more numbers, and some to spare if there is memory for it.
    pub(super) fn try_room(&mut self, more: usize) -> Result<(), TryReserveError> {
        let numbers = self.to_mut();
        if numbers.capacity() - numbers.len() >= more {
            return Ok(());
        }
        fallibly(|| numbers.try_reserve(more).or_else(|_| numbers.try_reserve_exact(more)))
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
            // SAFETY: `Shared::new` took both from a slice that is valid as long as `_owner` lives. Nothing of this program
            // writes to a mapped file: caches are replaced by renaming. Another program that does so breaks the promise
            // of every map; what stays mapped is only ever used as values of rows, never to find a place in memory.
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
    fn numbers_of_another_owner_stay_where_they_are() {
        let owner = Arc::new(vec![1.5f64, -2.0]);
        let mut array = Array::shared(owner.clone());
        assert_eq!(array.as_ptr(), owner.as_ptr());
        let moved = std::thread::spawn({
            let array = array.clone();
            move || array.iter().sum::<f64>()
        });
        assert_eq!(moved.join().unwrap(), -0.5);
        array[0] = 0.5;
        assert_eq!((&array[..], &owner[..]), (&[0.5, -2.0][..], &[1.5, -2.0][..]));
        assert_eq!(Array::<f32>::shared(Arc::new([])).len(), 0);
        // The array outlives every other owner.
        let kept = Array::shared(Arc::new(vec![7u32; 3]));
        assert_eq!(kept[..], [7, 7, 7]);
    }

    #[test]
    fn bytes_come_back() {
        for length in 0..20 {
            let bytes: Vec<u8> = (0..length).collect();
            assert_eq!(FileBytes::copy_of(&bytes)[..], bytes);
        }
        let mut numbers = [1u32, 2];
        bytes_of_mut(&mut numbers)[4..].copy_from_slice(&9u32.to_ne_bytes());
        assert_eq!(numbers, [1, 9]);
        assert_eq!(bytes_of(&numbers)[4..], 9u32.to_ne_bytes());
        assert_eq!(1.5f64.little_endian().to_ne_bytes(), 1.5f64.to_le_bytes());
        assert_eq!(0x0102_0304u32.little_endian().to_ne_bytes(), 0x0102_0304u32.to_le_bytes());
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
