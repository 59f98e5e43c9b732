//! Decimal numbers to floats, correctly rounded.

use std::str::from_utf8;

/// Powers of ten that a float holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The float nearest to the decimal number, or `None` if the text is not a number.
///
/// Digits with at most one point and up to 15 digits in all are two exact floats and one division, which
/// rounds correctly (Clinger); everything else goes to the standard library.
#[inline]
pub(crate) fn parse_number(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.len() > 16 || digits.is_empty() {
        return parse_slowly(text);
    }
    let (mut mantissa, mut point, mut count) = (0u64, None, 0usize);
    for (place, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if point.is_none() => point = Some(place),
            _ => return parse_slowly(text),
        }
    }
    if count == 0 || count > 15 {
        return parse_slowly(text);
    }
    let decimals = point.map_or(0, |place| digits.len() - 1 - place);
    let magnitude = mantissa as f64 / EXACT_POWERS[decimals];
    Some(if negative { -magnitude } else { magnitude })
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
