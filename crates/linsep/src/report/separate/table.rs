//! The report on several pairs of sides: each class against the rest, or every pair of classes.

use super::{facts, kind_of_margin, word};
use crate::classes::ClassPair;
use crate::job::Separated;
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::report::Block;
use crate::report::layout::{MAX_LINES, cell, column_width};
use crate::separate::Verdict;

pub(super) fn report(separated: &Separated) -> Vec<Block> {
    let margin =
        format!("γ* is the best margin of the rows as read ({})", kind_of_margin(separated.settings.bias));
    let mut blocks = vec![
        Block::Facts(vec![("Data", facts::data(separated, separated.data.len())), ("Margin", margin)]),
        Block::Text(table(separated)),
        Block::text("\n"),
        Block::paragraph(
            "witness: the number of rows found that cannot all be on their right sides, none of which can be left out of \
             the proof. To see which rows, choose ⟦positive=CLASS⟧ or ⟦classes=A,B⟧.",
        ),
    ];
    let stopped = separated.decided.iter().filter_map(|decided| {
        Some((title(&decided.separation.classes), decided.separation.stopped.as_ref()?))
    });
    for (title, why) in stopped.take(MAX_LINES) {
        blocks.push(Block::paragraph(format!("{title}: {why}.")));
    }
    if let Some(folder) = &separated.spec.output {
        let written = separated.decided.iter().filter(|decided| decided.certificate.is_some()).count() as u64;
        let certificates = counted(written, "certificate", "certificates");
        blocks.push(Block::paragraph(format!("{certificates} written to {}.", folder.display())));
    }
    blocks
}

fn table(separated: &Separated) -> String {
    let titles: Vec<String> =
        separated.decided.iter().map(|decided| title(&decided.separation.classes)).collect();
    let width = column_width(titles.iter().map(String::as_str), 7, 40);
    let mut text = format!(
        "\n  {:<width$}  {:>9}  {:<14}  {:>10}  {:>10}  {:>7}  {:>8}\n",
        "classes", "rows", "verdict", "γ* ≥", "γ* ≤", "witness", "seconds"
    );
    for (decided, title) in separated.decided.iter().zip(&titles).take(MAX_LINES) {
        let separation = &decided.separation;
        let lower =
            separation.margin.lower.map_or("none".to_string(), |lower| rounded(lower, Rounding::Down));
        let witness = match separation.witness.len() {
            0 => "none".to_string(),
            count => grouped(count as u64),
        };
        text += &format!(
            "  {}  {:>9}  {:<14}  {lower:>10}  {:>10}  {witness:>7}  {:>8.3}\n",
            cell(title, width),
            grouped(separation.rows as u64),
            word(separation.verdict),
            rounded(separation.margin.upper, Rounding::Up),
            decided.seconds
        );
    }
    if titles.len() > MAX_LINES {
        let more = grouped((titles.len() - MAX_LINES) as u64);
        text += &format!(
            "  … and {more} more; the JSON record has all. Of all {}:",
            grouped(titles.len() as u64)
        );
        for verdict in [Verdict::Complete, Verdict::QuasiComplete, Verdict::Overlap, Verdict::Undecided] {
            let all = separated.decided.iter().filter(|decided| decided.separation.verdict == verdict);
            text += &format!(" {} {},", grouped(all.count() as u64), word(verdict));
        }
        text.pop();
        text.push('\n');
    }
    text
}

/// The name of a pair of sides.
fn title(pair: &ClassPair) -> String {
    match pair.negative.only() {
        Some(only) => format!("{only} against {}", pair.positive),
        None => format!("{} against the rest", pair.positive),
    }
}
