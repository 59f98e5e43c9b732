//! Dates and times as numbers.

use serde::{Deserialize, Serialize};

/// In which order a date has its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2024-01-31`
    YearFirst,
    /// `31.01.2024`
    DayFirst,
    /// `01/31/2024`
    MonthFirst,
}

impl DateOrder {
    /// Every order.
    pub(crate) const ALL: [DateOrder; 3] = [DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst];
}

/// The days since 1970-01-01, with the time as a fraction; `None` if the text is no date in this order.
///
/// The month may be a number, or an English name: `31-Jan-2024`, `Jan 31, 2024`. A year may have two digits where the date
/// is divided by slashes, by points with two digits in every part, or has the name of its month: `1/31/24`, `31.01.24`,
/// `31-Jan-24`; those from 69 on are of the twentieth century.
pub(crate) fn days(text: &str, order: DateOrder) -> Option<f64> {
    let bytes = text.as_bytes();
    if !(6..=40).contains(&bytes.len()) || !bytes[0].is_ascii_alphanumeric() {
        return None;
    }
    let (day, time) = named_month(text, order).or_else(|| numbered_month(text, order))?;
    match time {
        None => Some(day as f64),
        Some(time) => {
            let (time, offset) = split_offset(time)?;
            Some(day as f64 + (seconds(time)? - offset) / 86_400.0)
        }
    }
}

/// The day of a date such as `2024-01-31`, and the text of the time after it.
fn numbered_month(text: &str, order: DateOrder) -> Option<(i64, Option<&str>)> {
    let end = text.find([' ', 'T', 't']).unwrap_or(text.len());
    let (date, time) = (&text[..end], text.get(end + 1..));
    let divider = date.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = date.split(divider);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let known = match divider {
        '-' | '/' => true,
        // Months never come first before a point.
        '.' => order != DateOrder::MonthFirst,
        _ => false,
    };
    if parts.next().is_some() || !known {
        return None;
    }
    let (year, month, day) = match order {
        DateOrder::YearFirst => (first, second, third),
        DateOrder::DayFirst => (third, second, first),
        DateOrder::MonthFirst => (third, first, second),
    };
    let may_be_short = order != DateOrder::YearFirst
        && (divider == '/' || divider == '.' && day.len() == 2 && month.len() == 2);
    let year = year_of(year, may_be_short)?;
    let (month, day) = (number(month, 1..=2)?, number(day, 1..=2)?);
    Some((day_number(year, i64::from(month), i64::from(day))?, time))
}

/// The day of a date such as `31-Jan-2024`, and the text of the time after it.
fn named_month(text: &str, order: DateOrder) -> Option<(i64, Option<&str>)> {
    let divides = |c: char| matches!(c, ' ' | '-' | '/' | '.' | ',');
    let mut rest = text;
    let mut next = || {
        let end = rest.find(divides).unwrap_or(rest.len());
        let part;
        (part, rest) = rest.split_at(end);
        let after = rest.trim_start_matches(divides);
        // A time comes after a space, or after a T.
        let time = std::mem::replace(&mut rest, after);
        (part, (!after.is_empty() && time.starts_with(' ')).then_some(after))
    };
    let (first, _) = next();
    // Most words end here.
    if !(first.as_bytes()[0].is_ascii_digit() || month_of(first).is_some()) {
        return None;
    }
    let ((second, _), (third, time)) = (next(), next());
    let (year, month, day) = match order {
        DateOrder::YearFirst => (first, second, third),
        DateOrder::DayFirst => (third, second, first),
        DateOrder::MonthFirst => (third, first, second),
    };
    let day = number(day, 1..=2)?;
    let whole = day_number(year_of(year, order == DateOrder::DayFirst)?, month_of(month)?, i64::from(day))?;
    (rest.is_empty() || time.is_some()).then_some((whole, time))
}

/// The number of a month, by its English name or the first three letters of that.
fn month_of(name: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is_it = |month: &str| {
        let wanted = if name.len() == 3 { &month[..3] } else { month };
        name.eq_ignore_ascii_case(wanted)
    };
    MONTHS.iter().position(|month| is_it(month)).map(|place| place as i64 + 1)
}

/// A year of four digits, or of two where that is usual.
fn year_of(text: &str, may_be_short: bool) -> Option<i64> {
    if text.len() == 2 && may_be_short {
        let year = i64::from(number(text, 2..=2)?);
        return Some(if year >= 69 { 1900 + year } else { 2000 + year });
    }
    number(text, 4..=4).map(i64::from)
}

/// Whether the text is a date in some order, or a time of day.
pub(crate) fn looks_like_date(text: &str) -> bool {
    DateOrder::ALL.iter().any(|&order| days(text, order).is_some()) || hours(text).is_some()
}

/// The hours since midnight; `None` if the text is no time of day.
pub(crate) fn hours(text: &str) -> Option<f64> {
    Some(seconds(text)? / 3600.0)
}

/// The seconds since midnight of `12:30`, `12:30:05`, `12:30:05.25`, `1:30 pm`.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if !text.as_bytes().first()?.is_ascii_digit() || text.len() > 24 {
        return None;
    }
    let half = text.len().checked_sub(2).and_then(|at| text.get(at..)).map(str::to_ascii_lowercase);
    let (clock, half) = match half.as_deref() {
        Some(half @ ("am" | "pm")) => (text[..text.len() - 2].trim_end(), Some(half == "pm")),
        _ => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (hour, minute) = (number(hour, 1..=2)?, number(minute, 2..=2)?);
    let second = match second {
        None => 0.0,
        Some(second) => {
            let (whole, fraction) = second.split_once(['.', ',']).unwrap_or((second, "0"));
            let fraction_is_sound =
                !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            let whole = number(whole, 2..=2).filter(|&whole| whole < 61 && fraction_is_sound)?;
            format!("{whole}.{fraction}").parse::<f64>().ok()?
        }
    };
    let hour = match half {
        None if hour < 24 => hour,
        Some(afternoon) if (1..=12).contains(&hour) => hour % 12 + if afternoon { 12 } else { 0 },
        _ => return None,
    };
    (minute < 60).then(|| f64::from(hour * 3600 + minute * 60) + second)
}

/// A time and its offset from universal time in seconds: `12:30Z`, `12:30+02:00`.
fn split_offset(text: &str) -> Option<(&str, f64)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time, 0.0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0.0)) };
    let (hours, minutes) = match text[at + 1..].split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => text[at + 1..].split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2..=2).filter(|&m| m < 60)? };
    let seconds = f64::from(number(hours, 2..=2).filter(|&hours| hours < 24)? * 3600 + minutes * 60);
    Some((&text[..at], if text.as_bytes()[at] == b'-' { -seconds } else { seconds }))
}

/// A whole number of so many digits.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let sound = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if sound { text.parse().ok() } else { None }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such day.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day at the end; 400 years have 146097 days.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// A number of days since 1970-01-01 as a date, year first, with the time if it is not midnight; `None` if the year has not four
/// digits.
pub(crate) fn date_of(days: f64) -> Option<String> {
    let whole = (days * 86_400.0).round() / 86_400.0;
    let day = whole.floor();
    // From the first day of the year 1 to the last of 9999.
    if !(-719_162.0..=2_932_896.0).contains(&day) {
        return None;
    }
    // As in `day_number`, years begin in March.
    let shifted = day as i64 + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day_of_month, month) = (of_year - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = era * 400 + year + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day_of_month:02}");
    let time = time_of((whole - day) * 24.0)?;
    Some(if time == "00:00" { date } else { format!("{date} {time}") })
}

/// A number of hours since midnight as a time of day; `None` if a day has less.
pub(crate) fn time_of(hours: f64) -> Option<String> {
    let seconds = (hours * 3600.0).round();
    if !(0.0..=86_400.0).contains(&seconds) {
        return None;
    }
    let seconds = seconds as u32;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(match seconds {
        0 => format!("{hours:02}:{minutes:02}"),
        _ => format!("{hours:02}:{minutes:02}:{seconds:02}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_the_dates_that_they_stand_for() {
        for text in [
            "0001-01-01",
            "1900-02-28",
            "1970-01-01",
            "2000-02-29",
            "2024-12-31 13:30",
            "9999-12-31 23:59:59",
        ] {
            let number = days(text, DateOrder::YearFirst).unwrap();
            assert_eq!(date_of(number).as_deref(), Some(text));
        }
        for day in (-300_000..300_000).step_by(37) {
            let text = date_of(f64::from(day)).unwrap();
            assert_eq!(days(&text, DateOrder::YearFirst), Some(f64::from(day)), "{text}");
        }
        assert_eq!([f64::NAN, 1e9, -1e9].map(date_of), [None, None, None]);
        for text in ["00:00", "09:05", "23:59:59"] {
            assert_eq!(time_of(hours(text).unwrap()).as_deref(), Some(text));
        }
        assert_eq!((time_of(-1.0), time_of(30.0)), (None, None));
    }

    #[test]
    fn dates_are_days_since_1970() {
        use DateOrder::*;
        for (text, order, expected) in [
            ("1970-01-01", YearFirst, 0.0),
            ("2024-01-31", YearFirst, 19753.0),
            ("2024/1/31", YearFirst, 19753.0),
            ("31.01.2024", DayFirst, 19753.0),
            ("1/31/2024", MonthFirst, 19753.0),
            ("1969-12-31", YearFirst, -1.0),
            ("2000-02-29", YearFirst, 11016.0),
            ("2024-01-31 12:00", YearFirst, 19753.5),
            ("2024-01-31T18:00:00Z", YearFirst, 19753.75),
            ("2024-01-31T12:00:00+06:00", YearFirst, 19753.25),
            ("2024-01-31 12:00:00.000-0600", YearFirst, 19753.75),
            ("01/31/2024 6:00 PM", MonthFirst, 19753.75),
            ("1/31/24", MonthFirst, 19753.0),
            ("31.01.24", DayFirst, 19753.0),
            ("1/1/70", DayFirst, 0.0),
            ("31-Jan-2024", DayFirst, 19753.0),
            ("31 january 2024", DayFirst, 19753.0),
            ("31-JAN-24", DayFirst, 19753.0),
            ("Jan 31, 2024", MonthFirst, 19753.0),
            ("January 31 2024 12:00", MonthFirst, 19753.5),
            ("2024-Jan-31", YearFirst, 19753.0),
        ] {
            assert_eq!(days(text, order), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_day_is_no_date() {
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-32",
            "20240131",
            "24-01-31",
            "2024-01",
            "2024-01-31-05",
            "2024-01/31",
            "2024-01-31 25:00",
            "2024-01-31 12",
            "2024-01-31x",
            "555-1234",
            "1.2.3.4",
            "192.168.1.1",
            "2024-01-31 12:00+99:00",
            "31.1.24",
            "1.2.24",
            "31-Foo-2024",
            "Jan 2024",
            "Jan 31",
            "January 32, 2024",
            "Mark 3, 2024",
            "may be 1, 2",
            "31-Jan-2024x",
            "31-Jan-2024-5",
            "Jan 31, 24",
            "",
        ] {
            assert_eq!(DateOrder::ALL.map(|order| days(text, order)), [None; 3], "{text}");
        }
        assert_eq!(days("31/01/2024", DateOrder::MonthFirst), None);
        assert_eq!(
            days("01.31.2024", DateOrder::MonthFirst),
            None,
            "nobody writes months before a point first"
        );
    }

    #[test]
    fn times_are_hours() {
        assert_eq!(hours("12:30"), Some(12.5));
        assert_eq!(hours("00:00:36"), Some(0.01));
        assert_eq!(hours("1:30 pm"), Some(13.5));
        assert_eq!(hours("12:15am"), Some(0.25));
        for text in ["24:00", "12:60", "12", "1:2", "12:30:99", "3:1 win", "12:30:00:00", "13:00 pm", "é:30"]
        {
            assert_eq!(hours(text), None, "{text}");
        }
    }
}
