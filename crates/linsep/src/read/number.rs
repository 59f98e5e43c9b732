//! Decimal numbers to floats, correctly rounded.

use std::str::from_utf8;

/// Powers of ten that a float holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The float nearest to the decimal number, or `None` if the text is not a number.
#[inline]
pub(crate) fn parse_number(text: &[u8]) -> Option<f64> {
    match plain_number(text) {
        Some((number, length)) if length == text.len() => Some(number),
        _ => parse_slowly(text),
    }
}

/// The number at the beginning of a text and its length, if it is plain: digits, at most 15 of them, with at most
/// one point and a sign. It ends at the first byte that is neither digit nor point.
///
/// Such a number is the quotient of two exact floats, and one division rounds correctly (Clinger).
#[inline]
pub(crate) fn plain_number(text: &[u8]) -> Option<(f64, usize)> {
    let signed = matches!(text.first(), Some(b'-' | b'+'));
    let digits = &text[usize::from(signed)..];
    let (mut mantissa, mut point, mut length) = (0u64, None, 0usize);
    for &byte in digits {
        match byte {
            // Too many digits wrap around, and are counted below.
            b'0'..=b'9' => mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(length),
            _ => break,
        }
        length += 1;
    }
    let count = length - usize::from(point.is_some());
    if count == 0 || count > 15 {
        return None;
    }
    let decimals = point.map_or(0, |place| length - 1 - place);
    let magnitude = mantissa as f64 / EXACT_POWERS[decimals];
    Some((if text[0] == b'-' { -magnitude } else { magnitude }, length + usize::from(signed)))
}

#[cold]
fn parse_slowly(text: &[u8]) -> Option<f64> {
    from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn numbers_equal_those_of_the_standard_library(
            text in prop_oneof![
                "[+-]?[0-9]{0,18}\\.?[0-9]{0,18}(e[+-]?[0-9]{1,3})?",
                any::<f64>().prop_map(|x| x.to_string()),
                any::<f32>().prop_map(|x| format!("{x:e}")),
                "[-+.e0-9infa]{0,8}",
            ]
        ) {
            let expected = text.parse::<f64>().ok().map(f64::to_bits);
            prop_assert_eq!(parse_number(text.as_bytes()).map(f64::to_bits), expected, "{}", text);
        }
    }
}
