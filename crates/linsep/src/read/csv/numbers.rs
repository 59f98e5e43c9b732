//! Runs of plain numbers: digits, with at most a point and a minus sign. As fast as the processor allows.

#![allow(unsafe_code, reason = "vector instructions")]

use crate::read::number::{is_inexact_whole, plain_number};

/// Takes plain numbers, each followed by the delimiter, from `position` on: as many as it likes, at most as many as there
/// is room for. Gives how many, and the place after the last delimiter.
#[inline]
pub(super) fn plain_numbers(
    text: &[u8],
    position: usize,
    delimiter: u8,
    numbers: &mut [f64],
) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_available() {
        // SAFETY: the processor has what the function needs.
        return unsafe { avx2::plain_numbers(text, position, delimiter, numbers) };
    }
    plain_numbers_portable(text, position, delimiter, numbers)
}

/// The same on any processor.
fn plain_numbers_portable(
    text: &[u8],
    mut position: usize,
    delimiter: u8,
    numbers: &mut [f64],
) -> (usize, usize) {
    for (taken, place) in numbers.iter_mut().enumerate() {
        match plain_number(&text[position..]) {
            Some((number, length))
                if text.get(position + length) == Some(&delimiter)
                    && !is_inexact_whole(number, &text[position..position + length]) =>
            {
                *place = number;
                position += length + 1;
            }
            _ => return (taken, position),
        }
    }
    (numbers.len(), position)
}

/// The delimiters of 64 bytes are found together, so that no number waits for the one before it. A number of at most
/// fifteen bytes, as most are, is then read in one go: its length and the place of its point say where each digit goes, and by what the
/// whole number is divided. Both are exact floats, so the quotient is rounded correctly (Clinger).
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{is_inexact_whole, plain_number};
    pub(super) use crate::read::digits::is_available;
    use crate::read::digits::{WINDOW, digits, load, two_numbers};
    use std::arch::x86_64::{
        _bzhi_u32, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    /// How the bytes of a number become a whole number and a divisor.
    #[derive(Clone, Copy)]
    #[repr(align(32))]
    struct Shape {
        /// Which byte each digit comes from, the last digit last; 0x80 for none.
        digits: [u8; WINDOW],
        /// 10 to the number of decimals.
        divisor: f64,
    }

    /// The shapes by the place of the point, or 16 without one, and the length.
    static SHAPES: [[Shape; WINDOW]; WINDOW + 1] = shapes();

    const fn shapes() -> [[Shape; WINDOW]; WINDOW + 1] {
        let none = Shape { digits: [0x80; WINDOW], divisor: 1.0 };
        let mut all = [[none; WINDOW]; WINDOW + 1];
        let mut point = 0;
        while point <= WINDOW {
            let mut length = 1;
            while length < WINDOW {
                let shape = &mut all[point][length];
                let (mut from, mut to) = (length, WINDOW);
                while from > 0 {
                    from -= 1;
                    if from > point && point < length {
                        shape.divisor *= 10.0;
                    }
                    if from != point {
                        to -= 1;
                        shape.digits[to] = from as u8;
                    }
                }
                length += 1;
            }
            point += 1;
        }
        all
    }

    /// The number that takes up the first `length` bytes, at most fifteen, and whether it is plain.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn number(bytes: &[u8; WINDOW], length: usize) -> (f64, bool) {
        let text = load(bytes);
        let (digits, is_digit) = digits(text);
        let points = _mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(b'.' as i8))) as u32;
        let others = _bzhi_u32(!(_mm_movemask_epi8(is_digit) as u32), length as u32);
        let points = _bzhi_u32(points, length as u32);
        let minus = u32::from(bytes[0] == b'-');
        // At most a sign and one point, and at least a digit.
        let is_plain = others == points | minus
            && points & points.wrapping_sub(1) == 0
            && others.count_ones() < length as u32;
        let point = (points | 1 << WINDOW).trailing_zeros() as usize;
        let shape = &SHAPES[point][length];
        // A sign counts as the digit zero.
        let both = two_numbers(_mm_and_si128(digits, is_digit), &shape.digits);
        let whole = (both & 0xffff_ffff) * 100_000_000 + (both >> 32);
        // At most fifteen digits: the conversion is exact.
        let magnitude = whole as i64 as f64 / shape.divisor;
        (f64::from_bits(magnitude.to_bits() | u64::from(minus) << 63), is_plain)
    }

    /// A longer number, and whether it is plain.
    #[inline(never)]
    fn long_number(cell: &[u8]) -> (f64, bool) {
        match plain_number(cell) {
            Some((number, length)) => (number, length == cell.len() && !is_inexact_whole(number, cell)),
            None => (0.0, false),
        }
    }

    /// Which of 64 bytes are the delimiter.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn delimiters(bytes: &[u8; 64], delimiter: u8) -> u64 {
        let wanted = _mm256_set1_epi8(delimiter as i8);
        // SAFETY: twice 32 bytes are there, and the loads need no alignment.
        let (first, second) = unsafe {
            (_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast()))
        };
        let mask = |half| u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, wanted)) as u32);
        mask(first) | mask(second) << 32
    }

    /// [`super::plain_numbers`], not too near to the end of the text.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn plain_numbers(
        text: &[u8],
        mut position: usize,
        delimiter: u8,
        numbers: &mut [f64],
    ) -> (usize, usize) {
        const LOOKED_AT: usize = 64 + WINDOW;
        let mut taken = 0;
        while taken < numbers.len()
            && let Some(window) = text.get(position..).and_then(|rest| rest.first_chunk::<LOOKED_AT>())
        {
            let mut ends = delimiters(window.first_chunk().expect("80 bytes hold 64"), delimiter);
            let mut start = 0;
            while ends != 0 && taken < numbers.len() {
                let end = ends.trailing_zeros() as usize;
                let Some(bytes) = window.get(start..).and_then(|rest| rest.first_chunk()) else { break };
                let length = end - start;
                let (number, is_plain) = match length < WINDOW {
                    true => number(bytes, length),
                    false => long_number(&text[position + start..position + end]),
                };
                if !is_plain {
                    return (taken, position + start);
                }
                numbers[taken] = number;
                taken += 1;
                start = end + 1;
                ends &= ends - 1;
            }
            if start == 0 {
                break;
            }
            position += start;
        }
        (taken, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            6 => "-?[0-9]{1,4}\\.[0-9]{1,7}",
            3 => "-?[0-9]{1,15}",
            3 => "-?[0-9]{0,9}\\.[0-9]{0,9}",
            1 => "[0-9.+e -]{0,6}",
            1 => any::<f64>().prop_map(|x| x.to_string()),
        ];
        let end = prop_oneof![30 => Just(","), 1 => Just("\n"), 1 => Just("\r\n"), 1 => Just(";")];
        let cell = (number, end).prop_map(|(number, end)| number + end);
        prop::collection::vec(cell, 0..40).prop_map(|cells| cells.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Whatever is taken is what stands there, rounded as the standard library rounds it.
        #[test]
        fn numbers_equal_those_of_the_standard_library(text in text(), room in 0usize..40, damage: (u8, u8)) {
            let mut text = text.into_bytes();
            if let Some(byte) = text.get_mut(damage.0 as usize) {
                *byte = damage.1;
            }
            for take in [plain_numbers, plain_numbers_portable] {
                let mut numbers = vec![0.0; room];
                let (taken, end) = take(&text, 0, b',', &mut numbers);
                let mut cells = text.split(|&byte| byte == b',');
                let mut place = 0;
                for number in &numbers[..taken] {
                    let cell = cells.next().unwrap();
                    place += cell.len() + 1;
                    let expected: f64 = std::str::from_utf8(cell).unwrap().parse().unwrap();
                    prop_assert_eq!(number.to_bits(), expected.to_bits());
                }
                prop_assert_eq!(place, end);
                prop_assert!(end <= text.len());
                prop_assert!(numbers[taken..].iter().all(|&number| number == 0.0));
            }
        }
    }

    #[test]
    fn a_run_of_plain_numbers_is_taken_to_the_room_there_is() {
        let text = "1,-2.5,.5,7.,123456789012345,-0,".to_string() + &"0.25,".repeat(40);
        let mut numbers = [0.0; 20];
        let expected = [1.0, -2.5, 0.5, 7.0, 123_456_789_012_345.0, -0.0, 0.25];
        for take in [plain_numbers, plain_numbers_portable] {
            assert_eq!(take(text.as_bytes(), 0, b',', &mut numbers), (20, 32 + 14 * 5));
            assert_eq!(
                numbers[..7].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                expected.map(f64::to_bits)
            );
        }
    }
}
