//! Numbers as people read them. A bound stays a bound: it is rounded outwards.

/// In which direction a printed bound may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The printed number is at most the true one.
    Down,
    /// The printed number is at least the true one.
    Up,
}

/// A number with four significant digits, rounded in the safe direction: a bound stays a bound in print.
pub fn rounded(x: f64, direction: Rounding) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if x.fract() == 0.0 && x.abs() < 1e6 {
        return grouped_number(x);
    }
    // Scientific notation gives four digits rounded to nearest; a step is made where that went the wrong way.
    let text = format!("{x:.3e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (mut digits, mut exponent): (i64, i32) =
        ((mantissa.parse::<f64>().unwrap_or(0.0) * 1000.0).round() as i64, exponent.parse().unwrap_or(0));
    let shown =
        |digits: i64, exponent: i32| format!("{}e{}", digits, exponent - 3).parse::<f64>().unwrap_or(x);
    match direction {
        Rounding::Up if shown(digits, exponent) < x => digits += 1,
        Rounding::Down if shown(digits, exponent) > x => digits -= 1,
        _ => {}
    }
    if digits.abs() >= 10_000 {
        digits /= 10;
        exponent += 1;
    } else if digits == 999 {
        // One step below a power of ten: the next four digits are nines, still not above x.
        digits = 9999;
        exponent -= 1;
    }
    if (-4..4).contains(&exponent) {
        let decimals = (3 - exponent) as usize;
        let number = shown(digits, exponent);
        if number.fract() == 0.0 {
            return grouped_number(number);
        }
        return format!("{number:.decimals$}").trim_end_matches('0').to_string();
    }
    if (4..15).contains(&exponent) {
        return grouped_number(shown(digits, exponent));
    }
    format!(
        "{}e{exponent}",
        format!("{:.3}", digits as f64 / 1000.0).trim_end_matches('0').trim_end_matches('.')
    )
}

fn grouped_number(x: f64) -> String {
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(x.abs() as u64))
}

/// A whole number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

/// `1 pass`, `2 passes`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The bytes that a text such as `10GB`, `500MB` or `123` denotes, in decimal multiples; at least 1.
pub fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "T" | "TB" => 1_000_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_well() {
        for (x, down, up) in [
            (0.0, "0", "0"),
            (7.0, "7", "7"),
            (0.123456, "0.1234", "0.1235"),
            (1.5, "1.5", "1.5"),
            (999.99, "999.9", "1,000"),
            (4436.5, "4,436", "4,437"),
            (123456.0, "123,456", "123,456"),
            (12345678.9, "12,340,000", "12,350,000"),
            (1.23456e-7, "1.234e-7", "1.235e-7"),
            (9.9999e20, "9.999e20", "1e21"),
        ] {
            assert_eq!(
                (rounded(x, Rounding::Down).as_str(), rounded(x, Rounding::Up).as_str()),
                (down, up),
                "{x}"
            );
        }
        assert_eq!(counted(1, "pass", "passes"), "1 pass");
        assert_eq!(counted(12345, "pass", "passes"), "12,345 passes");
    }

    proptest! {
        #[test]
        fn a_printed_bound_is_a_bound(mantissa in 1.0f64..10.0, exponent in -200i32..200) {
            let x = mantissa * 10f64.powi(exponent);
            let number = |text: String| text.replace(',', "").parse::<f64>().unwrap();
            let (low, high) = (number(rounded(x, Rounding::Down)), number(rounded(x, Rounding::Up)));
            prop_assert!(low <= x && x <= high, "{low} {x} {high}");
            prop_assert!(high - low <= 2e-3 * x);
        }
    }
}
