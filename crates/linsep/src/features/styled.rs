//! Numbers as people write them in spreadsheets: percents, amounts of money, digits in groups, a decimal comma, and
//! negative numbers in brackets.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Style {
    /// The decimal separator.
    pub decimal: Decimal,
    /// Whether every number is followed by a percent sign. The sign changes nothing: `12 %` is 12.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub percent: bool,
    /// The currency that numbers may have before or after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// The decimal separator; the other one separates thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// A currency, by its sign or code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(&'static str);

/// The currencies that are known. Where the decimals follow a point as a rule, that is said.
const CURRENCIES: [(&str, bool); 26] = [
    ("US$", true),
    ("C$", true),
    ("A$", true),
    ("$", true),
    ("£", true),
    ("€", false),
    ("¥", true),
    ("₹", true),
    ("₽", false),
    ("₩", true),
    ("₺", false),
    ("₫", false),
    ("฿", true),
    ("₪", true),
    ("R$", false),
    ("zł", false),
    ("Kč", false),
    ("kr", false),
    ("USD", true),
    ("EUR", false),
    ("GBP", true),
    ("CHF", true),
    ("JPY", true),
    ("CAD", true),
    ("AUD", true),
    ("INR", true),
];

impl Currency {
    fn named(name: &str) -> Option<Self> {
        CURRENCIES.iter().find(|(sign, _)| *sign == name).map(|(sign, _)| Self(sign))
    }

    /// Whether amounts in it are written with a decimal point as a rule.
    pub(crate) fn has_decimal_point(self) -> bool {
        CURRENCIES.iter().any(|&(sign, point)| sign == self.0 && point)
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom(format!("no currency is called \"{name}\"")))
    }
}

impl Style {
    /// The number that a text denotes; `None` if it is written in another style.
    pub(crate) fn parse(self, text: &str) -> Option<f64> {
        let written = Written::of(text)?;
        let fits = written.percent == self.percent
            && (written.currency.is_none() || written.currency == self.currency);
        if fits { written.number(self.decimal) } else { None }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Written<'a> {
    pub(crate) negative: bool,
    pub(crate) brackets: bool,
    pub(crate) percent: bool,
    pub(crate) currency: Option<Currency>,
    /// Digits with what divides them.
    pub(crate) body: &'a str,
}

impl<'a> Written<'a> {
    /// Takes a text apart; `None` if it is no number in any style.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        // Every style has a digit, and most words have none.
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut rest = text.trim();
        let brackets = rest.starts_with('(') && rest.ends_with(')') && rest.len() > 2;
        if brackets {
            rest = rest[1..rest.len() - 1].trim();
        }
        let mut negative = brackets;
        let mut sign = false;
        let mut take_sign = |rest: &mut &'a str| {
            let minus = rest.strip_prefix(['-', '−', '–']);
            if let Some(after) = minus.or_else(|| rest.strip_prefix('+'))
                && !sign
                && !brackets
            {
                (sign, negative, *rest) = (true, minus.is_some(), after.trim_start());
            }
        };
        take_sign(&mut rest);
        let mut currency = None;
        for &(name, _) in &CURRENCIES {
            if let Some(after) = rest.strip_prefix(name).filter(|_| currency.is_none()) {
                (currency, rest) = (Currency::named(name), after.trim_start());
            }
        }
        take_sign(&mut rest);
        let percent = rest.strip_suffix('%').map(str::trim_end);
        rest = percent.unwrap_or(rest);
        for &(name, _) in &CURRENCIES {
            if let Some(before) = rest.strip_suffix(name).filter(|_| currency.is_none() && percent.is_none())
            {
                (currency, rest) = (Currency::named(name), before.trim_end());
            }
        }
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.' || c == ',');
        let sound = digit(rest.chars().next()) && digit(rest.chars().next_back());
        sound.then_some(Self { negative, brackets, percent: percent.is_some(), currency, body: rest })
    }

    /// The number, with decimals after a point or a comma.
    pub(crate) fn number(&self, decimal: Decimal) -> Option<f64> {
        let magnitude = magnitude(self.body, decimal).filter(|number| number.is_finite())?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// Whether there are signs between the digits at all.
    pub(crate) fn is_divided(&self) -> bool {
        !self.body.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// A number without sign, currency and percent.
fn magnitude(body: &str, decimal: Decimal) -> Option<f64> {
    let (point, group) = match decimal {
        Decimal::Point => ('.', ','),
        Decimal::Comma => (',', '.'),
    };
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], &body[at..]),
        None => (body, ""),
    };
    let (whole, decimals) = match mantissa.split_once(point) {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (mantissa, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.is_some_and(|decimals| !all_digits(decimals) || (decimals.is_empty() && whole.is_empty())) {
        return None;
    }
    let mut digits = String::with_capacity(body.len());
    let divider = whole.chars().find(|c| !c.is_ascii_digit());
    match divider {
        None => digits.push_str(whole),
        Some(divider) => {
            if divider != group && !matches!(divider, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')
            {
                return None;
            }
            // Groups of three; what begins with a zero is not a large number.
            for (place, part) in whole.split(divider).enumerate() {
                let length = if place == 0 { 1..=3 } else { 3..=3 };
                if !length.contains(&part.len()) || !all_digits(part) || (place == 0 && part.starts_with('0'))
                {
                    return None;
                }
                digits.push_str(part);
            }
        }
    }
    // A code: its zeros mean something.
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    if let Some(decimals) = decimals {
        digits.push('.');
        digits.push_str(decimals);
    }
    digits.push_str(exponent);
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, decimal: Decimal) -> Option<f64> {
        Written::of(text)?.number(decimal)
    }

    #[test]
    fn numbers_as_people_write_them() {
        for (text, number) in [
            ("12 %", 12.0),
            ("12%", 12.0),
            ("-3.5 %", -3.5),
            ("$86,606", 86606.0),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("($1,250.50)", -1250.5),
            ("(12)", -12.0),
            ("1,234,567.25", 1_234_567.25),
            ("€ 12", 12.0),
            ("12 €", 12.0),
            ("USD 3", 3.0),
            ("1 234.5", 1234.5),
            ("1'234.5", 1234.5),
            ("1\u{202f}234", 1234.0),
            (".5", 0.5),
            ("−7", -7.0),
            ("1.5e3", 1500.0),
            ("R$ 12", 12.0),
            ("+4%", 4.0),
        ] {
            assert_eq!(read(text, Decimal::Point), Some(number), "{text}");
        }
        for (text, number) in [
            ("1.234,5", 1234.5),
            ("84,7", 84.7),
            ("-0,25", -0.25),
            ("1.234 €", 1234.0),
            ("1,234", 1.234),
            ("12,5 %", 12.5),
            ("1 234,50 zł", 1234.5),
            ("1.234.567", 1_234_567.0),
            ("1,5E+03", 1500.0),
        ] {
            assert_eq!(read(text, Decimal::Comma), Some(number), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_a_word() {
        for text in [
            "12%off",
            "(555) 123-4567",
            "00501",
            "0171 1234567",
            "1-2",
            "12,34,5",
            "A12",
            "12 kg",
            "1.2.3",
            "$",
            "%",
            "()",
            "(-5)",
            "$5 €",
            "1,23,456",
            "12,",
            "1e",
            "٣",
            "5 - 6",
            "--5",
            "0,123.5x",
            "#12",
            "12:30",
            "1/2",
        ] {
            let read = [Decimal::Point, Decimal::Comma].map(|decimal| read(text, decimal));
            // "12," may be a decimal comma without decimals.
            if text != "12," {
                assert_eq!(read, [None, None], "{text}");
            }
        }
        assert_eq!(read("0,123", Decimal::Point), None, "a group does not begin with zero");
        assert_eq!(read("1,5", Decimal::Point), None);
        assert_eq!(read("1.5", Decimal::Comma), None);
    }

    #[test]
    fn a_style_is_kept_by_every_cell() {
        let dollars = Style { decimal: Decimal::Point, percent: false, currency: Currency::named("$") };
        assert_eq!(dollars.parse("$1,000"), Some(1000.0));
        assert_eq!(dollars.parse("1,000"), Some(1000.0));
        assert_eq!((dollars.parse("€5"), dollars.parse("5 %")), (None, None));
        let json = serde_json::to_string(&dollars).unwrap();
        assert_eq!(json, r#"{"decimal":"point","currency":"$"}"#);
        assert_eq!(serde_json::from_str::<Style>(&json).unwrap(), dollars);
    }
}
