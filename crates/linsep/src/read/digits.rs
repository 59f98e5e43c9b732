//! Sixteen bytes of text to whole numbers, on processors with AVX2: the steps that pairs and tables share.

#![allow(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16, _mm_maddubs_epi16,
    _mm_min_epu8, _mm_packus_epi32, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_shuffle_epi8,
    _mm_sub_epi8,
};

/// Bytes that are looked at together.
pub(super) const WINDOW: usize = 16;

/// Whether the processor has what these functions and their callers need.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(bytes: &[u8; WINDOW]) -> __m128i {
    // SAFETY: sixteen bytes are there, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// What each byte is worth as a digit, and which of them are digits.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn digits(text: __m128i) -> (__m128i, __m128i) {
    let digits = _mm_sub_epi8(text, _mm_set1_epi8(b'0' as i8));
    (digits, _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits))
}

/// Two whole numbers of eight digits each, which `places` takes from `digits`: the first in the lower half of the result, the
/// second in the upper. Digits become pairs, pairs fours, fours eights.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn two_numbers(digits: __m128i, places: &[u8; WINDOW]) -> u64 {
    let ones = _mm_shuffle_epi8(digits, load(places));
    let pairs = _mm_maddubs_epi16(ones, _mm_set1_epi16(0x010a));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
    let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x0001_2710));
    _mm_cvtsi128_si64(eights) as u64
}
