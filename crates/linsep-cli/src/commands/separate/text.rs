//! The report of `separate` for people.

use super::{Decided, Job, kind_of_margin};
use crate::commands::again::quoted;
use crate::commands::{report_lines, shortened, wrapped};
use linsep::Theta;
use linsep::numbers::{Rounding, counted, grouped, percent, rounded};
use linsep::separate::{Bias, Separation, Verdict};
use linsep::theory::margin::MarginInterval;
use std::fmt::Write;

/// Rows, sets or features listed at most; `--json` has all.
const LISTED: usize = 20;

impl Job<'_> {
    /// The report on one task.
    pub(super) fn to_text(&self, decided: &Decided) -> String {
        let separation = &decided.separation;
        let mut lines = vec![
            ("Data", data_line(self, separation.rows)),
            ("Classes", self.classes_line(decided)),
            ("Verdict", self.verdict(separation)),
            ("Margin", self.margin(separation)),
            ("Bound", self.bound(decided)),
        ];
        if let Some(rank) = separation.rank {
            lines.push(("Rank", self.rank(rank)));
        }
        if let Some(meaning) = self.meaning(separation) {
            lines.push(("Meaning", meaning));
        }
        if separation.certificate.is_some() {
            let accepted = "the independent checker has accepted the certificate";
            lines.push((
                "Proof",
                match &decided.certificate {
                    Some(path) => format!("{accepted}; it is in {}", path.display()),
                    None => format!("{accepted}, which is kept nowhere: name a file with -o CERTIFICATE"),
                },
            ));
        }
        lines.push((
            "Time",
            format!(
                "read {:.3} s, decided in {:.3} s, {}",
                self.read_seconds,
                decided.seconds,
                counted(rayon::current_num_threads() as u64, "thread", "threads")
            ),
        ));
        let mut text = report_lines(&lines);
        match separation.verdict {
            Verdict::Complete => text.push_str(&self.closest(separation)),
            Verdict::QuasiComplete => {
                text.push_str(&self.boundary(separation));
                text.push_str(&self.features(separation));
                text.push_str(&self.witness(separation));
            }
            Verdict::Overlap => text.push_str(&self.witness(separation)),
            Verdict::Undecided => {}
        }
        if let Some(blamed) = &decided.blame {
            text.push_str(&self.blame_text(decided, blamed));
        }
        text.push_str(&self.next_steps(decided));
        text
    }

    fn classes_line(&self, decided: &Decided) -> String {
        let pair = &decided.classes;
        let counts = self.data.class_counts();
        let of = |sign: i8| {
            let classes = self.data.classes().iter().zip(&counts);
            let rows =
                classes.filter(|(class, _)| pair.sign_of(class) == Some(sign)).map(|(_, &count)| count);
            counted(rows.sum::<usize>() as u64, "row", "rows")
        };
        format!("−1 = {} ({}), +1 = {} ({})", pair.negative.join(" or "), of(-1), pair.positive, of(1))
    }

    fn verdict(&self, separation: &Separation) -> String {
        let boundary =
            if self.settings.bias == Bias::None { "boundary through the origin" } else { "boundary" };
        match separation.verdict {
            Verdict::Complete => format!(
                "completely separable: some {boundary} has every row strictly on its right side. Proof: its weights, \
                 checked exactly on every row."
            ),
            Verdict::QuasiComplete => format!(
                "quasi-completely separable: some {boundary} has no row on its wrong side, but every such {boundary} goes \
                 through the same {} of the {} rows. Proof: weights, checked exactly on every row, and a combination of \
                 rows that vanishes.",
                grouped(separation.boundary.len() as u64),
                grouped(separation.rows as u64)
            ),
            Verdict::Overlap => format!(
                "not separable, the classes overlap: every {boundary} has some row on its wrong side, unless it goes \
                 through all rows. Proof: a combination of few rows that vanishes exactly."
            ),
            Verdict::Undecided => {
                let why = separation.stopped.as_deref().unwrap_or("a budget ran out");
                format!("undecided: {why}. Nothing is claimed but the margin below.")
            }
        }
    }

    /// Which margin is meant.
    pub(super) fn kind(&self) -> String {
        format!("γ* is the best margin of the rows as read ({})", kind_of_margin(self.settings.bias))
    }

    fn margin(&self, separation: &Separation) -> String {
        let mut text = format!(
            "{} ({}); R ≤ {}",
            interval(&separation.margin),
            kind_of_margin(self.settings.bias),
            rounded(separation.extent.radius_upper, Rounding::Up)
        );
        let MarginInterval { lower, upper, .. } = separation.margin;
        if let (Verdict::Complete, Some(lower)) = (separation.verdict, lower)
            && lower < upper
            && upper < f64::MAX
        {
            let _ = write!(text, "; the ends are {:.1e} of γ* apart", (upper - lower) / upper);
        }
        if let (Verdict::Complete, Some(why)) = (separation.verdict, &separation.stopped) {
            let _ = write!(text, ": {why}");
        }
        text
    }

    fn bound(&self, decided: &Decided) -> String {
        let (lower, upper) = (decided.difficulty.lower, decided.difficulty.upper);
        let means = match self.settings.bias {
            Bias::Free => {
                "; for the mistakes of a perceptron, whose bias counts in the norm, see --bias append"
            }
            _ => ": no perceptron that starts at zero makes more mistakes, in any order",
        };
        match (decided.separation.verdict, lower, upper) {
            (Verdict::QuasiComplete | Verdict::Overlap, ..) | (_, None, _) => {
                "none: no margin is above zero, so Novikoff's theorem promises nothing".to_string()
            }
            (_, Some(lower), Some(upper)) => format!(
                "{} ≤ (R/γ*)² ≤ {}{means}",
                rounded(lower, Rounding::Down),
                rounded(upper, Rounding::Up)
            ),
            (_, Some(lower), None) => {
                format!("(R/γ*)² ≥ {}, no upper end known", rounded(lower, Rounding::Down))
            }
        }
    }

    fn rank(&self, rank: usize) -> String {
        let features = self.data.columns();
        let bias = self.settings.bias != Bias::None;
        let of = counted(features as u64, "feature", "features") + if bias { " and the bias" } else { "" };
        if rank < features + usize::from(bias) {
            format!(
                "{} of {}: some of the {of} depend on others",
                grouped(rank as u64),
                features + usize::from(bias)
            )
        } else {
            format!("{}, full: {of} do not depend on each other", grouped(rank as u64))
        }
    }

    /// What the verdict means for other methods.
    fn meaning(&self, separation: &Separation) -> Option<String> {
        let logistic = if self.settings.bias == Bias::None {
            "Logistic regression without an intercept"
        } else {
            "Logistic regression"
        };
        Some(match separation.verdict {
            Verdict::Complete => format!(
                "A perceptron converges. {logistic} has no finite maximum-likelihood estimate on these rows: its weights \
                 grow without end (complete separation)."
            ),
            Verdict::QuasiComplete => format!(
                "{logistic} has no finite maximum-likelihood estimate on these rows: its weights grow without end along \
                 the features below (quasi-complete separation). No perceptron converges: the rows on the boundary are in \
                 its way."
            ),
            Verdict::Overlap => format!(
                "No perceptron converges. {logistic} has a finite maximum-likelihood estimate on these rows{}.",
                if separation.rank.is_some_and(|rank| rank < self.dimension()) {
                    ", though not a unique one, since features depend on others"
                } else {
                    ""
                }
            ),
            Verdict::Undecided => return None,
        })
    }

    fn dimension(&self) -> usize {
        self.data.columns() + usize::from(self.settings.bias != Bias::None)
    }

    /// The rows nearest to the boundary.
    fn closest(&self, separation: &Separation) -> String {
        const NEAREST: usize = 8;
        let rows: Vec<_> = separation.closest.iter().take(NEAREST).collect();
        let list: Vec<_> = rows.iter().map(|near| (near.row, rounded(near.value, Rounding::Down))).collect();
        if list.is_empty() {
            return String::new();
        }
        format!("\nThe rows closest to the boundary, with their distance:\n{}", row_list(self, &list))
    }

    /// The rows that every boundary without a wrong side goes through.
    fn boundary(&self, separation: &Separation) -> String {
        let list: Vec<_> = separation.boundary.iter().map(|&i| (i, String::new())).collect();
        let rows = counted(list.len() as u64, "row", "rows");
        format!("\nOn the boundary, whichever is chosen: {rows}\n{}", row_list(self, &list))
    }

    /// The features with a weight in the separating boundary, the largest weight first.
    pub(super) fn separating_features(&self, separation: &Separation) -> Vec<(String, f64)> {
        let Some(theta) = &separation.weights else { return Vec::new() };
        let mut features: Vec<(usize, f64)> =
            theta.weights.iter().copied().enumerate().filter(|&(_, weight)| weight != 0.0).collect();
        features.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        features.into_iter().map(|(j, weight)| (self.schema.feature_name(j), weight)).collect()
    }

    fn features(&self, separation: &Separation) -> String {
        let features = self.separating_features(separation);
        if features.is_empty() {
            return "\nNo feature separates: the bias alone does.\n".to_string();
        }
        let mut text = "\nThe features that separate, with their weights in such a boundary:\n".to_string();
        let width = features
            .iter()
            .take(LISTED)
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0)
            .clamp(6, 40);
        for (name, weight) in features.iter().take(LISTED) {
            let _ = writeln!(text, "  {:<width$}  {weight:>+12.6}", shortened(name, width));
        }
        text.push_str(&more(features.len()));
        let intercept = separation.weights.as_ref().map_or(0.0, Theta::intercept);
        if intercept != 0.0 {
            let _ = writeln!(text, "  {:<width$}  {intercept:>+12.6}", "(bias)");
        }
        text
    }

    /// The rows that cannot all be right.
    fn witness(&self, separation: &Separation) -> String {
        if !separation.contradictions.is_empty() {
            return self.contradictions(&separation.contradictions);
        }
        let named = |i: usize| format!("{} ({})", self.place(i), self.label(i));
        match separation.witness.as_slice() {
            [] => String::new(),
            [row] => format!(
                "\n{} is zero, and every boundary through the origin goes through it.\n",
                named(row.row)
            ),
            witness => {
                let why = if self.settings.bias == Bias::None {
                    "mixed in these shares, each with the sign of its side, they are zero"
                } else {
                    "mixed in these shares, those of the one side are the same point as those of the other"
                };
                let list: Vec<_> = witness.iter().map(|share| (share.row, percent(share.value))).collect();
                let opening = format!(
                    "These {} rows cannot all be right: {why}. None of them can be left out.",
                    grouped(witness.len() as u64)
                );
                format!("\n{}{}", wrapped(&opening, 0), row_list(self, &list))
            }
        }
    }

    /// Two rows for each direction that occurs both ways.
    fn contradictions(&self, pairs: &[[usize; 2]]) -> String {
        let opening = match (self.settings.bias == Bias::None, pairs.len() as u64) {
            (false, 1) => "Two rows have the same features and different labels: nothing can tell them apart.".to_string(),
            (false, count) => format!(
                "{} times two rows have the same features and different labels: nothing can tell them apart.",
                grouped(count)
            ),
            (true, 1) => "Two rows contradict each other: seen from the origin, what the one asks for the other forbids."
                .to_string(),
            (true, count) => format!(
                "{} times two rows contradict each other: seen from the origin, what the one asks for the other forbids.",
                grouped(count)
            ),
        };
        let mut text = format!("\n{}", wrapped(&opening, 0));
        for [a, b] in pairs.iter().take(LISTED) {
            let named = |i: usize| format!("{} ({})", self.place(i), self.label(i));
            let _ = writeln!(text, "  {} and {}", named(*a), named(*b));
        }
        text + &more(pairs.len())
    }

    /// What to do, and the commands that do it.
    fn next_steps(&self, decided: &Decided) -> String {
        let args = self.args;
        if args.data.as_os_str() == "-" {
            return String::new();
        }
        let classes = |words: super::Words| {
            words
                .option("--positive", args.positive.clone())
                .option("--classes", (!args.keep.is_empty()).then(|| args.keep.join(",")))
        };
        let data = classes(self.again()).text();
        let bias = match self.settings.bias {
            Bias::None => " --bias none".to_string(),
            Bias::Append(scale) if scale != 1.0 => format!(" --bias-scale {scale}"),
            Bias::Append(_) => String::new(),
            Bias::Free => " --bias free".to_string(),
        };
        let mut steps = Vec::new();
        match decided.separation.verdict {
            Verdict::Complete => {
                let what = match self.settings.bias {
                    Bias::Free => "For the classifier with the best margin that counts the bias in the norm:",
                    _ => "For the classifier with that margin:",
                };
                let bias = bias.replace(" --bias free", "");
                steps.push((what, format!("linsep train {data}{bias} --learner max-margin -o MODEL")));
            }
            Verdict::QuasiComplete | Verdict::Overlap => {
                if decided.blame.is_none() {
                    steps.push((
                        "For few rows whose removal separates the rest:",
                        format!("linsep separate {data}{bias} --blame"),
                    ));
                }
                steps.push((
                    "For a good classifier all the same, see which learner does best:",
                    format!("linsep compare {data}{}", bias.replace(" --bias free", "")),
                ));
            }
            Verdict::Undecided => {
                if args.time.is_some() {
                    steps.push((
                        "To decide without a limit of time:",
                        format!("linsep separate {data}{bias}"),
                    ));
                }
            }
        }
        if let Some(path) = &decided.certificate {
            steps.push((
                "To check the proof again, here or elsewhere:",
                format!("linsep verify {} {}", quoted(&path.display().to_string()), self.again().text()),
            ));
        }
        let mut text = String::new();
        for (what, command) in steps {
            // Commands stand alone and whole, to be copied.
            let _ = write!(text, "\n{what}\n    {command}\n");
        }
        text
    }
}

/// What was read, and how many rows of it are spoken of.
pub(super) fn data_line(job: &Job<'_>, rows: usize) -> String {
    let others = job.data.len() - rows.min(job.data.len());
    let others = match others {
        0 => String::new(),
        others => format!(", {} of other classes", counted(others as u64, "more row", "more rows")),
    };
    format!(
        "{}: {}, {} ({}){others}",
        job.name,
        counted(rows as u64, "row", "rows"),
        counted(job.data.columns() as u64, "feature", "features"),
        job.notes.format,
    )
}

/// The margin interval in print.
pub(super) fn interval(margin: &MarginInterval) -> String {
    ends(margin.lower, margin.upper)
}

/// Both ends of a margin in print, where they are known.
pub(in crate::commands) fn ends(lower: Option<f64>, upper: f64) -> String {
    // The largest float stands for no upper end.
    let most = (upper < f64::MAX).then(|| rounded(upper, Rounding::Up));
    match (lower, most) {
        (Some(lower), Some(most)) if lower == upper => format!("γ* = {most}"),
        (Some(lower), Some(most)) => format!("{} ≤ γ* ≤ {most}", rounded(lower, Rounding::Down)),
        (Some(lower), None) => format!("γ* ≥ {}, no upper end known", rounded(lower, Rounding::Down)),
        (None, Some(most)) => format!("γ* ≤ {most}"),
        (None, None) => "nothing is known of γ*".to_string(),
    }
}

/// Rows with their places, labels, and something to say about each.
pub(super) fn row_list(job: &Job<'_>, rows: &[(usize, String)]) -> String {
    let cells: Vec<(String, &str, &str)> =
        rows.iter().take(LISTED).map(|(i, say)| (job.place(*i), job.label(*i), say.as_str())).collect();
    let width = |length: &dyn Fn(&(String, &str, &str)) -> usize| cells.iter().map(length).max().unwrap_or(0);
    let (places, labels, says) = (
        width(&|cell| cell.0.chars().count()),
        width(&|cell| cell.1.chars().count()).min(30),
        width(&|cell| cell.2.chars().count()),
    );
    let mut text = String::new();
    for (place, label, say) in &cells {
        let line = format!("  {place:<places$}  {:<labels$}  {say:>says$}", shortened(label, labels));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text + &more(rows.len())
}

/// How much of a list is not shown.
fn more(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        rest => format!("  … and {} more (--json has all)\n", grouped(rest as u64)),
    }
}
