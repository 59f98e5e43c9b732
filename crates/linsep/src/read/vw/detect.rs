//! Whether a text is one for Vowpal Wabbit, and not a table whose columns are divided by bars.

/// How many lines are looked at.
const LINES: usize = 50;

/// Whether the first lines have a label and features behind a bar: `1 |f price:0.5 red`.
pub(super) fn is_vowpal_wabbit(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    // The last line may be cut.
    let end = memchr::memrchr(b'\n', text).unwrap_or(text.len());
    let lines = text[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let lines = lines.filter(|line| !line.is_empty()).take(LINES);
    let Some(lines) = lines.map(|line| Line::of(std::str::from_utf8(line).ok()?)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let Some(first) = lines.first() else { return false };
    let numbers = lines.iter().all(|line| line.has_number);
    // Names with values are found nowhere else; names alone, behind the same namespace on every line and longer on some.
    let same_namespace =
        !first.namespace.is_empty() && lines.iter().all(|line| line.namespace == first.namespace);
    let all_values = lines.iter().all(|line| line.values > 0);
    let values = lines.iter().any(|line| line.values > 0) && (numbers || same_namespace || all_values);
    let names = same_namespace && numbers && lines.iter().any(|line| line.names > 0);
    values || names
}

/// What tells a line of features from a row of a table.
struct Line<'a> {
    /// Whether the label is a number, or there is none.
    has_number: bool,
    /// What follows the first bar at once.
    namespace: &'a str,
    /// Names with a value, and without.
    values: usize,
    names: usize,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (label, features) = line.split_once('|')?;
        if label.contains([',', ';', '\t', '"', ':']) {
            return None;
        }
        let tag = !label.is_empty() && !label.ends_with(' ');
        let mut tokens: Vec<&str> = label.split_whitespace().collect();
        if tag || tokens.last().is_some_and(|token| token.starts_with('\'')) {
            tokens.pop();
        }
        let is_number = |token: &&str| token.parse::<f64>().is_ok();
        if tokens.len() > 3 || !tokens.iter().skip(1).all(is_number) {
            return None;
        }
        let has_number = tokens.first().is_none_or(is_number);
        let (mut values, mut names, mut namespace) = (0, 0, "");
        for (place, part) in features.split('|').enumerate() {
            let attached = !part.starts_with([' ', '\t']);
            let mut tokens = part.split_whitespace();
            let first = if attached { tokens.next().unwrap_or_default() } else { "" };
            if place == 0 {
                namespace = first;
            }
            for token in tokens {
                let is_value = token.rsplit_once(':').is_some_and(|(name, value)| {
                    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && value.parse::<f64>().is_ok()
                });
                *(if is_value { &mut values } else { &mut names }) += 1;
            }
        }
        Some(Self { has_number, namespace, values, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_features_are_told_from_tables() {
        for text in [
            "1 |f price:0.5 red\n-1 |f price:2\n",
            "1 2.0 'tag | a b:1\n",
            "1 |words hello world\n-1 |words hi\n",
            "|f price:2\n",
            "spam |f a:1 b\nham |f b:2\n",
            "spam |t win prize:2\nham |t hello\n",
            "1 0.5 tag|f a b\n-1 |f c\n",
        ] {
            assert!(is_vowpal_wabbit(text.as_bytes()), "{text}");
        }
        for text in [
            "1|2|3\n",
            "1 | 2 | a\n",
            "1 |f\n",
            "12:30|x:1\n",
            "id |name |x\n1 |foo bar |y\n2 |bar foo |z\n",
            "1 |foo bar |y\n2 |bar foo |z\n",
            "",
            "a,b\n1,2\n",
            "1 1:2 3:4\n",
            "time | note\n12 | x:1\n",
        ] {
            assert!(!is_vowpal_wabbit(text.as_bytes()), "{text}");
        }
    }
}
