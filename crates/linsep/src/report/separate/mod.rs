//! The reports on separation: of a decision, and of a certificate that was checked.

mod coefficients;
mod facts;
mod lists;
mod next;
mod record;
mod table;
mod verify;

pub use coefficients::coefficient_words;
pub use record::SeparateRecord;
pub use verify::{VerifyRecord, verify_report};

use super::Block;
use crate::job::{Separated, SeparationTasks, Spec};
use crate::separate::{Bias, Verdict};

/// The report of a decision about separation, for people.
pub fn separate_report(separated: &Separated) -> Vec<Block> {
    let [decided] = separated.decided.as_slice() else { return table::report(separated) };
    if separated.sides != SeparationTasks::Two {
        return table::report(separated);
    }
    let separation = &decided.separation;
    let mut steps = next::steps(separated, decided).into_iter();
    let mut blocks = vec![Block::Facts(facts::facts(separated, decided))];
    blocks.extend(steps.next().map(Block::next).into_iter().flatten());
    blocks.push(Block::Details(facts::details(separated, decided)));
    blocks.extend(coefficients::table(separated, separation));
    match separation.verdict {
        Verdict::Complete => {
            blocks.extend(coefficients::alone(separated, separation));
            blocks.extend(lists::closest(separated, separation));
        }
        Verdict::QuasiComplete => {
            if separation.columns.is_none() {
                blocks.push(lists::features(separated, separation));
            }
            blocks.extend(lists::apart(separated, separation));
            blocks.extend(coefficients::rest(separated, separation));
            blocks.extend(lists::witness(separated, separation));
        }
        Verdict::Overlap => blocks.extend(lists::witness(separated, separation)),
        // There are such rows where complete separability is ruled out, and such features where overlap is.
        Verdict::Undecided => {
            if separation.overlap_is_ruled_out {
                blocks.push(lists::features(separated, separation));
            }
            blocks.extend(lists::witness(separated, separation));
        }
    }
    if let Some(removal) = &decided.blame {
        blocks.extend(lists::removal(separated, removal));
    }
    blocks.extend(coefficients::cure(separated, separation));
    let later =
        |(what, job): (&str, Spec)| [Block::text(format!("\nNext, {what}\n")), Block::Job(Box::new(job))];
    blocks.extend(steps.flat_map(later));
    blocks
}

/// Which margin is meant.
fn kind_of_margin(bias: Bias) -> String {
    match bias {
        Bias::None => "boundary through the origin".to_string(),
        Bias::Append(scale) => format!("appended bias of scale {scale}"),
        Bias::Free => "free bias: half the distance between the convex hulls of the classes".to_string(),
    }
}

/// A boundary of the kind that is meant.
fn boundary_name(bias: Bias) -> &'static str {
    if bias == Bias::None { "boundary through the origin" } else { "boundary" }
}

/// One word for a verdict.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "complete",
        Verdict::QuasiComplete => "quasi-complete",
        Verdict::Overlap => "overlap",
        Verdict::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::SeparateSpec;

    fn separated(table: &str) -> Separated {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        std::fs::write(&file, table).unwrap();
        SeparateSpec::file(file).run(&mut ()).unwrap()
    }

    fn text(separated: &Separated) -> String {
        let shown = |block: Block| match block {
            Block::Facts(facts) | Block::Details(facts) => {
                facts.into_iter().map(|(name, text)| format!("{name}: {text}\n")).collect()
            }
            Block::Text(text) | Block::Item(text) | Block::Paragraph { text, .. } => text + "\n",
            _ => String::new(),
        };
        separate_report(separated).into_iter().map(shown).collect()
    }

    /// The bias alone is said to separate only where a boundary is known in which it does.
    #[test]
    fn no_boundary_is_named_where_none_is_known() {
        let alone = "No feature separates: the bias alone does.";
        let mut separated = separated("x,kind\n1,a\n2,a\n2,b\n3,b\n");
        let separation = &mut separated.decided[0].separation;
        assert_eq!(separation.verdict, Verdict::QuasiComplete);
        separation.columns = None;
        let mut theta = separation.weights.clone().unwrap();
        theta.weights = vec![0.0];
        let mut shown = |weights| {
            separated.decided[0].separation.weights = weights;
            text(&separated)
        };
        assert!(!shown(None).contains(alone));
        theta.bias = 0.0;
        assert!(!shown(Some(theta.clone())).contains(alone));
        theta.bias = 1.0;
        assert!(shown(Some(theta)).contains(alone));
    }

    /// Rows that a verdict speaks of are listed, also where the time ended before more was known.
    #[test]
    fn rows_that_are_said_to_prove_something_are_below() {
        for table in ["x,kind\n1,a\n2,b\n3,a\n4,b\n", "x,kind\n1,a\n2,b\n2,a\n0,b\n"] {
            let mut separated = separated(table);
            let separation = &mut separated.decided[0].separation;
            assert!(separation.verdict == Verdict::Overlap && separation.complete_is_ruled_out);
            let rows: Vec<usize> = separation.witness.iter().map(|share| share.row).collect();
            separation.verdict = Verdict::Undecided;
            separation.columns = None;
            let text = text(&separated);
            let (_, below) = text.split_once("as the rows below prove").expect("what is known");
            for row in rows {
                assert!(below.contains(&format!("rows.csv:{}", row + 2)), "{row}: {text}");
            }
        }
    }

    /// The meaning of the verdict and the table of coefficients agree on whether the estimate is unique: words make their
    /// reference levels combinations of others, and those are set aside; columns that are combinations beside that are not.
    #[test]
    fn the_report_agrees_with_itself_on_uniqueness() {
        let words = "u,x,kind\np,1,a\np,1,b\nq,2,a\nq,2,b\nr,1,a\nr,4,b\nr,2,b\nr,3,a\np,3,b\np,5,a\n";
        let unique = text(&separated(words));
        assert!(unique.contains("finite, unique estimates"), "{unique}");
        assert!(unique.contains("unique given the reference level"), "{unique}");
        assert!(!unique.contains("not unique"), "{unique}");
        let twice = "x,y,kind\n1,2,a\n1,2,b\n2,4,a\n2,4,b\n3,6,a\n";
        let several = text(&separated(twice));
        assert!(several.contains("not unique") && !several.contains("unique estimates"), "{several}");
    }
}
