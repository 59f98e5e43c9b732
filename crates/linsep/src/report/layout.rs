//! Names in columns of tables, counted in columns of a terminal (a Chinese character takes two). Control characters in them are spelled
//! out: a name with the end of a line in it would break the table.

use crate::classes::printable;
use unicode_width::UnicodeWidthStr;

/// Lines of a table of classes that a report shows before it says only how many more there are.
pub(crate) const MAX_LINES: usize = 400;

/// How many columns of a terminal a name takes, as it is shown.
pub(crate) fn columns(name: &str) -> usize {
    printable(name).width()
}

/// The width of a column for these names, within limits.
pub(crate) fn column_width<'a>(names: impl Iterator<Item = &'a str>, least: usize, most: usize) -> usize {
    names.map(columns).max().unwrap_or(0).clamp(least, most)
}

/// A name that takes at most this many columns. Control characters, such as tabs, are spelled out.
fn shortened(name: &str, width: usize) -> String {
    let name = printable(name);
    if columns(&name) <= width {
        return name.into_owned();
    }
    let mut short = String::new();
    for character in name.chars() {
        short.push(character);
        if columns(&short) >= width {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

/// A name on the left of a table's cell: shortened if need be, and filled with spaces.
pub(crate) fn cell(name: &str, width: usize) -> String {
    let name = shortened(name, width);
    let room = width.saturating_sub(columns(&name));
    name + &" ".repeat(room)
}

/// A name on the right of a table's cell.
pub(crate) fn right_cell(name: &str, width: usize) -> String {
    let name = shortened(name, width);
    let room = width.saturating_sub(columns(&name));
    " ".repeat(room) + &name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("日本"), 4);
        assert_eq!(cell("日本", 6), "日本  ");
        assert_eq!(right_cell("日本", 6), "  日本");
        assert_eq!(cell("日本語版", 6), "日本… ");
        assert_eq!(cell("setosa", 6), "setosa");
        assert_eq!(cell("versicolor", 6), "versi…");
        assert_eq!(shortened("versicolor", 1), "…");
        assert_eq!(shortened("é", 1), "é");
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(column_width(["a\tb"].into_iter(), 1, 9), 4);
        assert_eq!(columns("a\tb\n"), 6);
        assert_eq!(cell("a\tb", 6), "a\\tb  ");
        assert_eq!(right_cell("a\nb", 6), "  a\\nb");
    }
}
