//! Decimal numbers to floats, correctly rounded.

use std::str::from_utf8;

/// Powers of ten that a float holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The largest whole number up to which every whole number is a float.
const LARGEST_EXACT: u64 = 1 << 53;

/// The float nearest to the decimal number, or `None` if the text is not a number.
#[inline]
pub(crate) fn parse_number(text: &[u8]) -> Option<f64> {
    match plain_number(text) {
        Some((number, length)) if length == text.len() => Some(number),
        _ => parse_slowly(text),
    }
}

/// Whether a text, which is this number, is a whole number beyond 2⁵³. Floats do not have all of these: two of them may
/// become one.
#[inline(always)]
pub(crate) fn is_inexact_whole(number: f64, text: &[u8]) -> bool {
    // The value tells at once for nearly all numbers. The first that is lost, 2⁵³ + 1, is rounded to 2⁵³.
    number.abs() >= LARGEST_EXACT as f64 && is_long_whole(text)
}

#[cold]
fn is_long_whole(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let whole = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    whole.is_none_or(|whole| whole > LARGEST_EXACT)
}

/// The number at the beginning of a text and its length, if it is plain: digits, at most 19 of them, with at most
/// one point and a sign. It ends at the first byte that is neither digit nor point.
///
/// If the digits make a whole number of at most 2⁵³, it is the quotient of two exact floats, and one division rounds
/// correctly (Clinger). Otherwise it is divided in whole numbers.
#[inline]
pub(crate) fn plain_number(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let (mut mantissa, mut length) = leading_digits(text, start, 0);
    let mut count = length;
    let mut decimals = 0;
    if text.get(start + length) == Some(&b'.') {
        (mantissa, decimals) = leading_digits(text, start + length + 1, mantissa);
        count += decimals;
        length += 1 + decimals;
    }
    if count == 0 || count > 19 {
        return None;
    }
    let magnitude = match mantissa <= LARGEST_EXACT {
        true => mantissa as f64 / EXACT_POWERS[decimals],
        false => rounded_quotient(mantissa, POWERS[decimals]),
    };
    Some((if negative { -magnitude } else { magnitude }, start + length))
}

/// Appends the digits from `start` on to a whole number. Gives that number, wrapped around if there are too many, and how
/// many digits there are.
#[inline]
fn leading_digits(text: &[u8], start: usize, mut number: u64) -> (u64, usize) {
    let mut position = start;
    while let Some(eight) = text.get(position..).and_then(|rest| rest.first_chunk::<8>()) {
        let (value, count) = eight_digits(u64::from_le_bytes(*eight));
        number = number.wrapping_mul(POWERS[count]).wrapping_add(value);
        position += count;
        if count < 8 {
            return (number, position - start);
        }
    }
    // The last few bytes of a text.
    for byte in text.get(position..).unwrap_or_default() {
        if !byte.is_ascii_digit() {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        position += 1;
    }
    (number, position - start)
}

/// Powers of ten that 64 bits hold.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// The float nearest to the quotient of two whole numbers that are not zero.
#[inline]
fn rounded_quotient(numerator: u64, denominator: u64) -> f64 {
    // Both are moved up to their 64th bit, so that the quotient q of n·2⁶³ and d has 63 or 64 bits.
    let (up, down) = (numerator.leading_zeros(), denominator.leading_zeros());
    let (n, d) = (u128::from(numerator << up) << 63, u128::from(denominator << down));
    let q = (n / d) as u64;
    // A rest decides only between halves: it is enough to know whether there is one.
    let rest = u64::from(u128::from(q) * d != n);
    // The conversion rounds once, to the nearest; the power of two is exact.
    let exponent = 1023 + u64::from(down) - u64::from(up) - 63;
    (q | rest) as f64 * f64::from_bits(exponent << 52)
}

/// The whole number that the first bytes of eight spell, and how many of them are digits.
///
/// All eight are looked at together, as one number whose lowest byte comes first: neighbours are joined to pairs, pairs to
/// fours, fours to all eight.
#[inline(always)]
pub(crate) fn eight_digits(bytes: u64) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = bytes ^ (EACH * 0x30);
    // The top bit of a byte is set if it is not a digit: adding 0x76 carries from 10 on.
    let other = (((digits & (EACH * 0x7f)) + EACH * 0x76) | digits) & (EACH * 0x80);
    let count = (other.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // What follows the digits falls out, and zeros come before them.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    const EVEN_PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let upper = (pairs & EVEN_PAIRS).wrapping_mul(0x000f_4240_0000_0064);
    let lower = ((pairs >> 16) & EVEN_PAIRS).wrapping_mul(0x0000_2710_0000_0001);
    (upper.wrapping_add(lower) >> 32, count)
}

#[cold]
fn parse_slowly(text: &[u8]) -> Option<f64> {
    from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn check(text: &str) {
        let expected = text.parse::<f64>().ok().map(f64::to_bits);
        assert_eq!(parse_number(text.as_bytes()).map(f64::to_bits), expected, "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn numbers_equal_those_of_the_standard_library(
            text in prop_oneof![
                "[+-]?[0-9]{0,18}\\.?[0-9]{0,18}(e[+-]?[0-9]{1,3})?",
                any::<f64>().prop_map(|x| x.to_string()),
                any::<f32>().prop_map(|x| format!("{x:e}")),
                "[-+.e0-9infa]{0,8}",
                "[0-9]{0,12}[\\x00-\\xff][0-9]{0,12}",
            ]
        ) {
            check(&text);
        }

        #[test]
        fn eight_bytes_are_read_as_one_by_one(bytes: [u8; 8], digits in "[0-9]{0,8}") {
            let mut bytes = bytes;
            bytes[..digits.len()].copy_from_slice(digits.as_bytes());
            let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = bytes[..count].iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'));
            prop_assert_eq!(eight_digits(u64::from_le_bytes(bytes)), (value, count));
        }
    }

    /// Millions of numbers of every length and shape, those around the limit of the fast way, and halfway between floats.
    #[test]
    fn millions_of_numbers_are_rounded_correctly() {
        let mut random = Random::new(1);
        for _ in 0..1_000_000 {
            let digits = {
                let length = 1 + random.below(18) as u32;
                random.below(10u64.pow(length))
            };
            let decimals = random.below(20) as usize;
            let text = format!("{digits:0>width$}", width = decimals + 1);
            let (whole, fraction) = text.split_at(text.len() - decimals);
            check(&format!("{whole}.{fraction}"));
            check(&text);
            let near = LARGEST_EXACT - 50 + random.below(100);
            check(&format!("-{near}"));
            check(&f64::from_bits(random.next_u64()).to_string());
            // Halfway between two neighbours, with or without something that tips the balance.
            let float = (1u64 << 53 | random.next_u64() >> 11) as u128;
            let halfway = (2 * float + 1) << random.below(40);
            check(&format!("{halfway}"));
            check(&format!("{halfway}.{:0>30}1", 0));
        }
    }
}
