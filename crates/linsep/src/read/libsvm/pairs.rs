//! Plain pairs `index:value`: digits, with at most a point and a sign in the value. As fast as the processor allows.

#![allow(unsafe_code, reason = "vector instructions")]

use super::rows::is_space;
use crate::read::number::{eight_digits, plain_number};

/// What an index must be.
#[derive(Clone, Copy)]
pub(super) struct PairRules {
    /// The index of the first feature, as far as it is known; it is subtracted.
    pub(super) base: u32,
    /// The largest index accepted.
    pub(super) last_index: u32,
}

/// Pairs of a row, without those whose value is zero.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Pairs {
    #[inline(always)]
    pub(super) fn push(&mut self, column: u32, value: f64) {
        if value != 0.0 {
            self.indices.push(column);
            self.values.push(value);
        }
    }
}

/// Takes plain pairs from `position` on while each index is above `previous`, the index before it, and each value is
/// followed by a single space or the end of the line; as many as it likes to take. Gives the place after the last of them.
///
/// Index 0 is left to the careful path: it shows that the file counts from 0.
#[inline]
pub(super) fn plain_pairs(
    text: &[u8],
    position: usize,
    previous: &mut u32,
    rules: PairRules,
    pairs: &mut Pairs,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_available() {
        // SAFETY: the processor has what the function needs.
        return unsafe { avx2::plain_pairs(text, position, previous, rules, pairs) };
    }
    plain_pairs_portable(text, position, previous, rules, pairs)
}

/// The same on any processor.
fn plain_pairs_portable(
    text: &[u8],
    mut position: usize,
    previous: &mut u32,
    rules: PairRules,
    pairs: &mut Pairs,
) -> usize {
    loop {
        let next = if text.get(position) == Some(&b' ') { position + 1 } else { position };
        match plain_pair(&text[next.min(text.len())..], rules) {
            Some((index, value, length)) if index > *previous => {
                pairs.push(index - rules.base, value);
                *previous = index;
                position = next + length;
            }
            _ => return position,
        }
    }
}

/// An `index:value` of plain digits at the beginning of a text, with its length. Anything else, right or wrong, is `None`.
#[inline]
pub(super) fn plain_pair(text: &[u8], rules: PairRules) -> Option<(u32, f64, usize)> {
    let (index, digits) = match text.first_chunk::<8>() {
        Some(eight) => eight_digits(u64::from_le_bytes(*eight)),
        None => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (text[..digits].iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0')), digits)
        }
    };
    if digits == 0 || text.get(digits) != Some(&b':') {
        return None;
    }
    let index = index as u32;
    if index > rules.last_index || index < rules.base {
        return None;
    }
    let (number, length) = plain_number(&text[digits + 1..])?;
    let end = digits + 1 + length;
    text.get(end).is_none_or(|byte| is_space(byte) || *byte == b'\n').then_some((index, number, end))
}

/// Sixteen bytes at a time. A pair of at most fifteen bytes has one of a few hundred shapes: where its colon, sign, point
/// and end are. The places of all bytes that are no digits name the shape; the shape says where each digit goes, and by
/// what the whole number is divided. No step depends on the lengths of the numbers, so nothing is guessed wrong.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{PairRules, Pairs};
    pub(super) use crate::read::digits::is_available;
    use crate::read::digits::{WINDOW, digits, load, two_numbers};
    use std::arch::x86_64::{
        _bzhi_u32, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    /// How the bytes of a pair become two whole numbers.
    #[derive(Clone, Copy)]
    #[repr(align(16))]
    struct Shape {
        /// Which byte each digit comes from: eight of the index, eight of the value; 0x80 for none.
        digits: [u8; WINDOW],
        /// The bytes that are no digits.
        marks: [u8; WINDOW],
        /// 10 to the number of decimals, with the sign of the value.
        divisor: f64,
    }

    struct Shapes {
        shapes: [Shape; Shapes::COUNT],
        /// The shape of each set of places that hold no digit, up to the end of the pair; 0 for none.
        of_places: [u16; 1 << WINDOW],
    }

    static SHAPES: Shapes = Shapes::new();

    impl Shapes {
        const COUNT: usize = 470;

        const fn new() -> Self {
            let none = Shape { digits: [0x80; WINDOW], marks: [0; WINDOW], divisor: 1.0 };
            let mut all = Self { shapes: [none; Self::COUNT], of_places: [0; 1 << WINDOW] };
            let mut number = 1;
            let mut key = 0;
            // Digits of the index and of the whole part, 1 to 8; decimals, 0 to 7; sign.
            while key < 8 * 8 * 8 * 2 {
                let (index, whole, decimals) = ((key & 7) + 1, (key >> 3 & 7) + 1, key >> 6 & 7);
                let (sign, point) = (key >> 9, (decimals > 0) as usize);
                let start = index + 1 + sign;
                let end = start + whole + point + decimals;
                key += 1;
                if whole + decimals > 8 || end >= WINDOW {
                    continue;
                }
                let shape = &mut all.shapes[number];
                let mut places = 1 << index | 1 << end;
                shape.marks[index] = b':';
                if sign == 1 {
                    shape.marks[index + 1] = b'-';
                    places |= 1 << (index + 1);
                }
                if point == 1 {
                    shape.marks[start + whole] = b'.';
                    places |= 1 << (start + whole);
                }
                let mut i = 0;
                while i < 8 {
                    if i < index {
                        shape.digits[7 - i] = (index - 1 - i) as u8;
                    }
                    if i < decimals {
                        shape.digits[15 - i] = (end - 1 - i) as u8;
                        shape.divisor *= 10.0;
                    } else if i < decimals + whole {
                        shape.digits[15 - i] = (end - 1 - i - point) as u8;
                    }
                    i += 1;
                }
                if sign == 1 {
                    shape.divisor = -shape.divisor;
                }
                all.of_places[places] = number as u16;
                number += 1;
            }
            assert!(number == Self::COUNT, "every shape is made, and no more");
            all
        }
    }

    /// The index and the value of the pair that takes up the first `length` bytes, and whether it is plain.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn pair(bytes: &[u8; WINDOW], length: usize) -> (u32, f64, bool) {
        let text = load(bytes);
        let (digits, is_digit) = digits(text);
        let places = _bzhi_u32(!(_mm_movemask_epi8(is_digit) as u32), length as u32 + 1);
        let number = SHAPES.of_places[(places & 0xffff) as usize] as usize;
        let shape = &SHAPES.shapes[number];
        let fits = _mm_or_si128(is_digit, _mm_cmpeq_epi8(text, load(&shape.marks)));
        let misfits = _bzhi_u32(!(_mm_movemask_epi8(fits) as u32), length as u32);
        // The index in the lower half, the value in the upper.
        let both = two_numbers(digits, &shape.digits);
        let value = f64::from((both >> 32) as i32) / shape.divisor;
        (both as u32, value, misfits == 0 && number != 0)
    }

    /// Which of 32 bytes end a token: white space, and with it all control characters.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ends(bytes: &[u8; 32]) -> u32 {
        // SAFETY: 32 bytes are there, and the load needs no alignment.
        let text = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let last = _mm256_set1_epi8(b' ' as i8);
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(text, last), text)) as u32
    }

    /// [`super::plain_pairs`] for pairs of at most fifteen bytes, two at a time, not too near to the end of the text.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn plain_pairs(
        text: &[u8],
        mut position: usize,
        previous: &mut u32,
        rules: PairRules,
        pairs: &mut Pairs,
    ) -> usize {
        let mut last = *previous;
        loop {
            let start = position + usize::from(text.get(position) == Some(&b' '));
            let Some(window) = text.get(start..).and_then(|rest| rest.first_chunk::<32>()) else { break };
            let ends = ends(window);
            let first = ends.trailing_zeros() as usize;
            if first >= WINDOW || !matches!(window[first], b' ' | b'\n') {
                break;
            }
            let (index, value, plain) = pair(window.first_chunk().expect("32 bytes hold 16"), first);
            if !plain || index <= last || index > rules.last_index {
                break;
            }
            pairs.push(index - rules.base, value);
            last = index;
            position = start + first;
            // The second pair of the window does not wait for the first.
            let second = (ends & ends.wrapping_sub(1)).trailing_zeros() as usize;
            if window[first] == b'\n'
                || second > first + WINDOW
                || !matches!(window.get(second), Some(b' ' | b'\n'))
            {
                continue;
            }
            let Some(bytes) = text[position + 1..].first_chunk() else { break };
            let (index, value, plain) = pair(bytes, second - first - 1);
            if plain && index > last && index <= rules.last_index {
                pairs.push(index - rules.base, value);
                last = index;
                position = start + second;
            }
        }
        *previous = last;
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Taken = (Vec<(u32, u64)>, u32, usize);

    fn taken(
        take: impl Fn(&[u8], usize, &mut u32, PairRules, &mut Pairs) -> usize,
        text: &[u8],
        previous: u32,
        rules: PairRules,
    ) -> Taken {
        let (mut pairs, mut previous) = (Pairs::default(), previous);
        let end = take(text, 0, &mut previous, rules, &mut pairs);
        let found = pairs.indices.iter().zip(&pairs.values).map(|(&i, value)| (i, value.to_bits())).collect();
        (found, previous, end)
    }

    /// Token by token, with the numbers of the standard library.
    fn naive(text: &[u8], mut previous: u32, rules: PairRules, end: usize) -> Option<Taken> {
        let mut found = Vec::new();
        for token in std::str::from_utf8(&text[..end]).ok()?.split_ascii_whitespace() {
            let (index, value) = token.split_once(':')?;
            let (index, value): (u32, f64) = (index.parse().ok()?, value.parse().ok()?);
            if index <= previous || index > rules.last_index {
                return None;
            }
            previous = index;
            if value != 0.0 {
                found.push((index - rules.base, value.to_bits()));
            }
        }
        Some((found, previous, end))
    }

    fn row() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            4 => "-?[0-9]{1,4}\\.[0-9]{1,7}",
            2 => "-?[0-9]{1,9}",
            1 => "[+-]?[0-9]{0,9}\\.[0-9]{0,12}",
            1 => "[0-9.:e-]{0,6}",
            1 => any::<f64>().prop_map(|x| x.to_string()),
        ];
        let pair = (1u32..3000, number, prop_oneof![9 => " ", 1 => "[ \\t\r\n\u{1}]{0,2}"]);
        prop::collection::vec(pair, 0..12).prop_map(|pairs| {
            let mut index = 0;
            let mut text = String::new();
            for (step, number, space) in pairs {
                index += step;
                text.push_str(&format!("{index}:{number}{space}"));
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Whatever is taken is what the naive form makes of it. Both ways take the same numbers; the portable one goes
        /// on where the other stops.
        #[test]
        fn what_is_taken_is_right(row in row(), tail in "(\n1 1:1 2:2\\.5 30000:4){0,3}", previous in 0u32..2, base in 0u32..2) {
            let text = [row.as_bytes(), tail.as_bytes()].concat();
            let rules = PairRules { base, last_index: 25_000 };
            let portable = taken(plain_pairs_portable, &text, previous, rules);
            prop_assert_eq!(naive(&text, previous, rules, portable.2), Some(portable.clone()));
            let fast = taken(plain_pairs, &text, previous, rules);
            prop_assert_eq!(naive(&text, previous, rules, fast.2), Some(fast.clone()));
            prop_assert!(fast.2 <= portable.2);
        }

        /// A long row of short pairs is taken to its end but for what needs room.
        #[test]
        fn short_pairs_are_taken(values in prop::collection::vec("-?[0-9]{1,2}(\\.[0-9]{1,4})?", 40)) {
            let pairs: Vec<String> = values.iter().zip(1..).map(|(value, index)| format!("{index}:{value}")).collect();
            let text = format!("{}\n", pairs.join(" "));
            let rules = PairRules { base: 1, last_index: 1000 };
            let (_, _, end) = taken(plain_pairs, text.as_bytes(), 0, rules);
            prop_assert!(end + 40 >= text.len(), "{} of {}", end, text.len());
        }
    }
}
