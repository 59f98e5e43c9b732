//! From numbers to places: linear, logarithmic and square-root scales, with their ticks.

use crate::numbers::grouped;

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Linear,
    /// For positive numbers.
    Log,
    /// For numbers from 0: small ones are apart, and large ones still have their place.
    SquareRoot,
}

/// An axis: which numbers it shows, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
}

impl Scale {
    /// From `low` to `high`, made a little wider where they are the same.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        if high > low {
            return Self { kind: Kind::Linear, low, high };
        }
        let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        Self { kind: Kind::Linear, low: low - room, high: low + room }
    }

    /// A linear scale for these numbers with this share of room at both ends.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone, room: f64) -> Self {
        let (low, high) = range(values);
        let extra = room * (high - low);
        Self::linear(low - extra, high + extra)
    }

    /// A logarithmic scale between positive numbers, at least a factor of 2 apart.
    pub(super) fn log(low: f64, high: f64) -> Self {
        let low = if low > 0.0 && low.is_finite() { low.max(1e-300) } else { 1e-300 };
        let high = if high.is_finite() { high.max(low) } else { low };
        let (low, high) = if high >= 2.0 * low { (low, high) } else { (low / 1.5, high * 1.5) };
        Self { kind: Kind::Log, low, high }
    }

    /// A square-root scale from 0.
    pub(super) fn square_root(high: f64) -> Self {
        Self { kind: Kind::SquareRoot, low: 0.0, high: if high > 0.0 { high } else { 1.0 } }
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Where a number is: 0 at the low end, 1 at the high end.
    pub(super) fn share(&self, value: f64) -> f64 {
        let warp = |value: f64| match self.kind {
            Kind::Linear => value,
            Kind::Log => libm::log(value.max(1e-308)),
            Kind::SquareRoot => value.max(0.0).sqrt(),
        };
        let (low, high) = (warp(self.low), warp(self.high));
        (warp(value) - low) / (high - low)
    }

    /// Numbers to mark, about so many, each with its text.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        match self.kind {
            Kind::Linear => linear_ticks(self.low, self.high, about),
            Kind::Log => self.log_ticks(about),
            Kind::SquareRoot => self.root_ticks(about),
        }
    }

    fn log_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let (first, last) = (libm::log10(self.low).floor() as i32, libm::log10(self.high).ceil() as i32);
        let decades = (last - first).max(1) as usize;
        let every = decades.div_ceil(about.max(2)) as i32;
        let factors: &[f64] = match 3 * decades <= 2 * about {
            true => &[1.0, 2.0, 5.0],
            false => &[1.0],
        };
        let ticks: Vec<(f64, String)> = (first..=last)
            .step_by(every as usize)
            .flat_map(|exponent| factors.iter().map(move |factor| tick_of(*factor, exponent)))
            .filter(|&(value, _)| value >= self.low * (1.0 - 1e-12) && value <= self.high * (1.0 + 1e-12))
            .collect();
        // Between two powers of ten, a linear choice is better than one tick.
        if ticks.len() >= 2 { ticks } else { linear_ticks(self.low, self.high, about.min(4)) }
    }

    fn root_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let exponent = libm::log10(self.high).floor() as i32;
        let mut ticks = vec![tick_of(0.0, 0)];
        for (place, power) in
            [(0.5, -1), (1.0, -1), (2.0, -1), (5.0, -1), (1.0, 0), (2.0, 0), (3.0, 0), (5.0, 0), (7.5, 0)]
        {
            let (value, text) = tick_of(place, exponent + power);
            let last = ticks.last().map_or(0.0, |&(last, _)| self.share(last));
            if value <= self.high && self.share(value) - last >= 0.8 / about as f64 {
                ticks.push((value, text));
            }
        }
        ticks
    }
}

/// A tick at factor · 10^exponent, without the rounding errors of a product.
fn tick_of(factor: f64, exponent: i32) -> (f64, String) {
    let value: f64 = format!("{factor}e{exponent}").parse().unwrap_or(0.0);
    (value, plain(value))
}

/// The least and the greatest of the numbers that are finite; 0 and 1 if there is none.
pub(super) fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, about: usize) -> Vec<(f64, String)> {
    let rough = (high - low) / about.max(1) as f64;
    if !(rough > 0.0 && rough.is_finite()) {
        return vec![(low, plain(low))];
    }
    let exponent = libm::log10(rough).floor() as i32;
    let power: f64 = format!("1e{exponent}").parse().unwrap_or(1.0);
    let (digits, more) = [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0)]
        .into_iter()
        .find(|(d, _)| d * power >= rough)
        .unwrap_or((10.0, -1));
    let step = digits * power;
    let decimals = (more - exponent).clamp(0, 12) as usize;
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let most = low.abs().max(high.abs());
    // As many digits as tell neighbours apart, which are many where the numbers are large beside their differences.
    let needed = (libm::log10(most).floor() as i32 - exponent + more).clamp(0, 17) as usize;
    let text = |value: f64| match most {
        _ if value == 0.0 => "0".to_string(),
        // Four digits may be those of a year.
        most if (1e-4..1e4).contains(&most) => with_minus(format!("{value:.decimals$}")),
        most if (1e-4..1e7).contains(&most) => fixed(value, decimals),
        most if needed > SCIENTIFIC && (1e7..1e15).contains(&most) => fixed(value, decimals),
        _ => scientific(value, needed.max(SCIENTIFIC)),
    };
    let mut ticks: Vec<(f64, String)> =
        (first..=last).take(50).map(|k| k as f64 * step).map(|value| (value, text(value))).collect();
    // Beyond the digits of floating-point numbers, neighbours are the same.
    ticks.dedup_by(|next, tick| next.1 == tick.1);
    ticks
}

/// Digits after the point of a number with an exponent, where nothing else is needed.
const SCIENTIFIC: usize = 3;

/// A number with so many digits after the point, its thousands apart.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let whole = whole.parse::<u64>().map_or(whole.to_string(), grouped);
    with_minus(format!("{}{whole}{rest}", if value < 0.0 { "-" } else { "" }))
}

/// A number as short as it can be.
pub(super) fn plain(value: f64) -> String {
    match value.abs() {
        _ if value == 0.0 => "0".to_string(),
        size if !(1e-4..1e9).contains(&size) => scientific(value, SCIENTIFIC),
        size if value.fract() == 0.0 => {
            with_minus(format!("{}{}", if value < 0.0 { "-" } else { "" }, grouped(size as u64)))
        }
        _ => with_minus(value.to_string()),
    }
}

/// A number with at most so many significant digits.
pub(super) fn short(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    plain(rounded)
}

fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    with_minus(format!("{mantissa}e{exponent}"))
}

/// Minus signs as wide as a plus.
fn with_minus(text: String) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_read_well() {
        assert_eq!(texts(Scale::linear(0.0, 1.0), 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(Scale::linear(-1.0, 1.0), 4), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(texts(Scale::linear(0.0, 12_345.0), 4), ["0", "5,000", "10,000"]);
        assert_eq!(texts(Scale::log(0.1, 1000.0), 5), ["0.1", "1", "10", "100", "1,000"]);
        assert_eq!(texts(Scale::log(1.0, 10.0), 6), ["1", "2", "5", "10"]);
        assert_eq!(texts(Scale::linear(1e-9, 3e-9), 2)[0], "1e−9");
        assert_eq!(short(0.123_456, 3), "0.123");
        assert_eq!(short(-1.5e-7, 3), "−1.5e−7");
        assert_eq!(short(-1234.5, 3), "−1,230");
    }

    #[test]
    fn ticks_differ_where_numbers_are_large_beside_their_differences() {
        let time = 1_700_000_000.0;
        assert_eq!(texts(Scale::linear(time, time + 40.0), 2)[1], "1,700,000,020");
        assert_eq!(texts(Scale::linear(time, time + 0.5), 2)[1], "1,700,000,000.25");
        assert_eq!(texts(Scale::linear(-1.7e20, -1.7e20 + 4e15), 2)[0], "−1.7e20");
        assert_eq!(texts(Scale::linear(3e-9, 3e-9 + 4e-14), 2)[1], "3.00002e−9");
        assert_eq!(texts(Scale::linear(0.0, 3e7), 3), ["0", "1e7", "2e7", "3e7"]);
    }

    proptest! {
        #[test]
        fn ticks_all_differ(mantissa in -10.0f64..10.0, exponent in -30i32..30, part in 1e-10f64..10.0, about in 2usize..10) {
            let low = mantissa * 10f64.powi(exponent);
            let ticks = Scale::linear(low, low + part * low.abs().max(1e-300)).ticks(about);
            let texts: std::collections::BTreeSet<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
            prop_assert!(texts.len() == ticks.len() && !ticks.is_empty(), "{ticks:?}");
        }

        #[test]
        fn ticks_are_within_and_in_order(low in -1e6f64..1e6, span in 1e-9f64..1e9, about in 2usize..10) {
            for scale in [Scale::linear(low, low + span), Scale::log(span, span * 1e4), Scale::square_root(span)] {
                let ticks = scale.ticks(about);
                prop_assert!(ticks.len() <= 60, "{ticks:?}");
                prop_assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ticks:?}");
                for (value, _) in ticks {
                    let share = scale.share(value);
                    prop_assert!((-1e-6..=1.0 + 1e-6).contains(&share), "{value} {share}");
                }
            }
        }
    }
}
