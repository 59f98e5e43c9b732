//! The layout of reports: paragraphs wrapped to the terminal's width.

use crate::commands::command;
use crate::console::flags;
use linsep::classes::printable;
use linsep::report::Block;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Where standard output is no terminal.
const USUAL_WIDTH: usize = 100;
/// Narrower terminals break the lines themselves.
const MIN_WIDTH: usize = 40;

/// The width of the terminal, or the usual one.
fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)).max(MIN_WIDTH)
}

/// Lines of a report: a short name, then the text that belongs to it, wrapped to the terminal's width.
pub(crate) fn report_lines(lines: &[(&str, String)]) -> String {
    report_lines_to(lines, width())
}

fn report_lines_to(lines: &[(&str, String)], width: usize) -> String {
    const INDENT: usize = 10;
    lines.iter().map(|(name, content)| wrap(&format!("{name:<INDENT$}"), INDENT, content, width)).collect()
}

/// A paragraph, wrapped to the terminal's width.
pub(crate) fn paragraph(content: &str) -> String {
    wrapped_to(content, 0, width())
}

/// A paragraph, wrapped to this width.
fn wrapped_to(content: &str, indent: usize, width: usize) -> String {
    wrap(&" ".repeat(indent), indent, content, width)
}

/// `content` after `start`; further lines are indented by `indent`. Words stay whole. A paragraph has no tabs and ends of lines
/// but those of names, which are spelled out.
fn wrap(start: &str, indent: usize, content: &str, width: usize) -> String {
    if content.is_empty() {
        return start.trim_end().to_string() + "\n";
    }
    let further = " ".repeat(indent);
    let options = Options::new(width)
        .initial_indent(start)
        .subsequent_indent(&further)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let mut text = String::new();
    // A number and its percent sign stay on one line.
    for line in textwrap::wrap(&flags(&printable(content)).replace(" %", "\u{a0}%"), options) {
        text.push_str(&line.trim_end().replace("\u{a0}%", " %"));
        text.push('\n');
    }
    text
}

/// A report, wrapped to the terminal, or within `most` columns beside a table; with its details, or without.
pub(crate) fn rendered(blocks: &[Block], most: usize, details: bool) -> String {
    let shown = blocks.iter().filter(|block| details || !matches!(block, Block::Details(_)));
    shown.map(|block| block_text(block, width().min(most))).collect()
}

/// A block of a report as lines.
fn block_text(block: &Block, width: usize) -> String {
    match block {
        Block::Facts(facts) | Block::Details(facts) => report_lines_to(facts, width),
        Block::Heading(text) => format!("\n{}\n", flags(&printable(text))),
        Block::Paragraph { indent, text } => wrapped_to(text, *indent, width),
        Block::Item(text) => wrapped_to(&format!("- {text}"), 2, width),
        Block::Text(text) => flags(text).split_inclusive('\n').map(|line| folded(line, width)).collect(),
        // Commands stand alone and whole, to be copied.
        Block::Job(spec) => format!("    {}\n", command(spec)),
        _ => String::new(),
    }
}

/// A line of a table: where it is wider than the terminal, its last columns go below.
fn folded(line: &str, width: usize) -> String {
    if display_width(line.trim_end()) <= width {
        line.to_string()
    } else {
        wrap("", 4, line.trim_end(), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_are_indented_as_far_as_the_first() {
        let lines = [("Data", "three small words".to_string()), ("Margin", String::new())];
        assert_eq!(report_lines_to(&lines, 22), "Data      three small\n          words\nMargin\n");
        assert_eq!(wrapped_to("three small words", 2, 13), "  three small\n  words\n");
        assert_eq!(wrapped_to("", 2, 13), "\n");
        assert_eq!(wrapped_to("one  two", 0, 80), "one  two\n");
        assert_eq!(wrapped_to("from 10 % to 20 % of it", 0, 16), "from 10 % to\n20 % of it\n");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_unless_a_word_is() {
        let text =
            "A perceptron converges. The rows are in /a/very/long/path/that/has/no/spaces/in/it.csv here.";
        for width in [MIN_WIDTH, 41, 60, 80, 200] {
            let lines = report_lines_to(&[("Meaning", text.to_string())], width);
            for line in lines.lines() {
                assert!(
                    display_width(line) <= width || line.trim().split(' ').count() == 1,
                    "{width}: {line}"
                );
            }
            let words: Vec<&str> = lines.split_whitespace().skip(1).collect();
            assert_eq!(words, text.split(' ').collect::<Vec<_>>());
        }
        // A word that does not fit even alone stays whole.
        assert_eq!(wrapped_to("a extraordinarily b", 0, 5), "a\nextraordinarily\nb\n");
        assert_eq!(wrapped_to("well-known low-dimensional", 0, 12), "well-known\nlow-dimensional\n");
    }

    #[test]
    fn tables_are_folded_where_the_terminal_is_narrow() {
        assert_eq!(folded("  a         1.00 %  none\n", 40), "  a         1.00 %  none\n");
        assert_eq!(folded("  a         1.00 %  none\n", 20), "  a         1.00 %\n    none\n");
        assert_eq!(folded("\n", 40), "\n");
    }

    #[test]
    fn details_are_shown_on_request() {
        let blocks = [
            Block::Facts(vec![("Error", "none".to_string())]),
            Block::Details(vec![("Time", "1 s".to_string())]),
        ];
        assert_eq!(rendered(&blocks, 80, false), "Error     none\n");
        assert_eq!(rendered(&blocks, 80, true), "Error     none\nTime      1 s\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrapped_to("日本 語語 γ* ≤ 1", 0, 9), "日本 語語\nγ* ≤ 1\n");
        assert_eq!(wrapped_to("日本 語語 γ* ≤ 1", 0, 8), "日本\n語語 γ*\n≤ 1\n");
    }

    #[test]
    fn without_a_terminal_lines_are_as_long_as_ever() {
        // Tests have no terminal when their output is collected; with one, any width may come.
        let text = wrapped_to(&"word ".repeat(50), 0, width());
        assert!(text.lines().all(|line| display_width(line) <= width()));
        assert!(width() >= MIN_WIDTH);
    }
}
