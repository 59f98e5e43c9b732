//! Prefetch and huge-page hints; they affect speed only.

/// Prefetches the beginning of a slice into the second-level cache, on x86-64: as much as helps before the hardware
/// prefetcher sees the pattern. The first-level cache would lose it again before it is needed.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        const LINE: usize = 64;
        const MAX_LINES: usize = 32;
        let start = values.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(values)).step_by(LINE).take(MAX_LINES) {
            // SAFETY: the address lies inside the slice, and a prefetch reads nothing that the program sees.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// Advises Linux to back memory that is about to be filled with huge pages, which cost fewer address lookups. Meant for
/// weights, which are gathered from random places. Rows are read in order and gain little, and virtual machines that
/// return free huge pages to their host take longer to get them back than the rows take to read.
pub(crate) fn prefer_large_pages<T>(room: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 1 << 21;
        let bytes = room.as_mut_ptr_range();
        let start = (bytes.start as usize).next_multiple_of(LARGE);
        let length = (bytes.end as usize).saturating_sub(start) / LARGE * LARGE;
        if length > 0 {
            // SAFETY: the range lies within room that belongs to the caller, and the advice changes no content.
            unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}
