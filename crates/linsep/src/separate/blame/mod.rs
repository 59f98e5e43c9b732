//! Few rows whose removal separates the rest, and how few can be enough.
//!
//! Finding the fewest is as hard as finding the smallest training error of a boundary. So there are two searches, and what
//! each finds is proved: boundaries with few rows on their wrong sides ([`fits`], [`line`](self::line), then exact
//! exchanges of rows), which bound the least cost from above, and sets of conflicting rows ([`fewest`]),
//! which bound it from below. Where they meet, the answer is the smallest.

mod ceiling;
mod circuits;
mod fewest;
mod fits;
mod ground;
mod line;
#[cfg(test)]
mod tests;

use super::budget::Budget;
use super::decide::{decide, separated_by};
use super::number::ExactVector;
use super::{Bias, Examples, SeparateSettings, Separation, Verdict};
use crate::Error;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::random::{Random, Stream};
use ceiling::{Ceiling, Descender};
use circuits::{Answer, Judge};
use ground::Ground;
use line::Walker;
use std::time::Instant;

/// Multiplications that the search for few rows may take, where no time is given; and those of the lower bound.
const WORK: [u64; 2] = [4_000_000_000, 6_000_000_000];
/// The parts of the time after which each ends, where a time is given.
const TIME: [f64; 2] = [0.4, 0.9];
/// With a wider gap than this the least set is not searched for: the search would not come near its end.
const MAX_GAP: u64 = 64;

/// A small set of rows whose removal leaves the others completely separable, and a proved lower bound on its size.
///
/// *Separable* means that some boundary, through the origin if there is no bias, has every row that is left strictly on
/// its right side; where no row can be, all are removed. That does not depend on how a bias is counted, nor on the units of the columns. All rows of one side may be
/// among the removed ones, if nothing smaller was found; among sets of equal weight, one that leaves rows of both sides is
/// preferred.
#[derive(Clone, Debug)]
pub struct Removal {
    /// The rows, in order.
    pub rows: Vec<usize>,
    /// How much they count: their number, or the sum of their weights.
    pub weight: f64,
    /// It is proved that every such set counts at least this much.
    pub at_least: f64,
    /// Whether it is proved that no such set counts less.
    pub is_smallest: bool,
    /// Whether rows of both sides are left, or of as many sides as there are.
    pub leaves_both_sides: bool,
    /// Why the search ended, unless the set is the smallest.
    pub stopped: Option<String>,
    /// The verdict on the rows that are left: complete. Its certificate is about the same data, with the removed rows on neither
    /// side. `None` if no row is left.
    pub rest: Option<Separation>,
}

/// Searches for a set of rows of small total weight whose removal separates the rest.
pub fn find_removal(
    data: &Dataset,
    settings: &SeparateSettings,
    observer: &mut dyn Observer,
) -> Result<Removal, Error> {
    settings.validate()?;
    let classes = &settings.sides(data)?;
    let examples = Examples::new(data, classes, settings.bias);
    let ground = Ground::new(&examples)?;
    let mut best = Best::new(&ground);
    let mut budget = Budget::new(observer, settings.max_seconds);
    let (at_least, why) = {
        let mut meter = Meter { budget: &mut budget, work: 0, phase: 0 };
        meter.budget.begin("rows to remove");
        let at_least = search(&ground, settings, &mut best, &mut meter);
        (at_least, meter.reason())
    };
    let left = settings.max_seconds.map(|limit| limit * (1.0 - budget.passed()).max(0.05));
    let weigh = |rows: &[usize]| {
        data.weights().map_or(rows.len() as f64, |weights| rows.iter().map(|&row| weights[row]).sum())
    };
    let Some(Candidate { w, wrong, cost, one_sided }) = best.candidate else {
        // Rows of zeros, without a bias, are on every boundary.
        let rows: Vec<usize> = examples.present().collect();
        let weight = weigh(&rows);
        let is_smallest = rows.iter().all(|&row| data.row(row).iter().all(|(_, x)| x == 0.0));
        return Ok(Removal {
            weight,
            at_least: if is_smallest { weight } else { (at_least as f64 * ground.unit).min(weight) },
            is_smallest,
            leaves_both_sides: false,
            stopped: (!is_smallest).then_some(why),
            rows,
            rest: None,
        });
    };
    let rows = ground.all_rows(&wrong);
    let mut signs = examples.signs().to_vec();
    rows.iter().for_each(|&row| signs[row] = 0);
    let remaining = [1, -1].iter().filter(|side| signs.contains(side)).count();
    // Rows of one side have no margin with a free bias: theirs is that of an appended one.
    let bias = match settings.bias {
        Bias::Free if remaining < 2 => Bias::Append(1.0),
        bias => bias,
    };
    let settings = SeparateSettings { bias, max_seconds: left, ..settings.clone() };
    let others = Examples::with_signs(data, signs, bias);
    // The margin is worth a search; the boundary that is known is enough for the verdict.
    let rest = match decide(&others, classes, &settings, observer)? {
        rest if rest.verdict == Verdict::Complete => rest,
        _ => separated_by(&others, classes, ground.with_bias(&w, bias)),
    };
    let is_smallest = at_least >= cost && ground.is_exact;
    Ok(Removal {
        weight: weigh(&rows),
        at_least: at_least.min(cost) as f64 * ground.unit,
        is_smallest,
        leaves_both_sides: !one_sided,
        stopped: (!is_smallest).then_some(why),
        rows,
        rest: Some(rest),
    })
}

/// Finds few rows to remove, and gives what every such set costs at least.
fn search<'g, 'a>(
    ground: &'g Ground<'a>,
    settings: &SeparateSettings,
    best: &mut Best<'g, 'a>,
    meter: &mut Meter<'_, '_>,
) -> u64 {
    let mut judge = Judge::new(ground, settings);
    let program = circuits::ceiling(ground, settings.seed);
    boundaries(ground, settings.seed, best, meter);
    exchange(ground, &mut judge, program.as_ref(), best, meter);
    meter.phase = 1;
    meter.work = 0;
    let mut at_least = fewest::packing(ground, &mut judge, program.as_ref(), best.cost(), meter);
    if let Some(program) = &program
        && at_least < best.limit()
        && best.cost().saturating_sub(at_least)
            <= MAX_GAP.saturating_mul(ground.costs.iter().copied().max().unwrap_or(1))
    {
        let memory = settings.max_memory.unwrap_or(1 << 30) as usize;
        let found = fewest::Search::new(ground, &mut judge, program, best, memory).run(meter);
        at_least = at_least.max(found);
    }
    at_least
}

/// Boundaries with few rows on their wrong sides: constant ones, those of learners, and from the best of them on along lines.
fn boundaries(ground: &Ground<'_>, seed: u64, best: &mut Best<'_, '_>, meter: &mut Meter<'_, '_>) {
    const STARTS: usize = 3;
    const KICKS: usize = 24;
    let examples = ground.scaled();
    if ground.has_bias() {
        for side in [1, -1] {
            best.offer(ground::constant(ground.examples.dimension(), side));
        }
    }
    let mut starts: Vec<(u64, Vec<f64>)> = Vec::new();
    let mut fitted = fits::support_vector_machines(ground, seed, meter);
    fitted.extend(fits::logistic_regressions(ground, meter));
    fitted.extend(fits::perceptrons(ground, seed, meter));
    for w in fitted {
        best.offer_scaled(&w);
        starts.push((fits::errors(ground, &examples, &w), w));
    }
    starts.sort_by_key(|(cost, _)| *cost);
    starts.truncate(STARTS);
    for (_, w) in starts.clone() {
        for w in fits::reweighted(ground, &w, seed, meter) {
            best.offer_scaled(&w);
            starts.push((fits::errors(ground, &examples, &w), w));
        }
    }
    starts.sort_by_key(|(cost, _)| *cost);
    starts.truncate(STARTS);
    let mut random = Random::of(seed, Stream::Blame);
    let mut walked: Option<(u64, Vec<f64>)> = None;
    for (_, w) in &starts {
        let mut walker = Walker::new(ground, &examples, w);
        walker.walk(2, &mut random, meter);
        best.offer_scaled(&walker.w);
        if walked.as_ref().is_none_or(|(cost, _)| walker.cost < *cost) {
            walked = Some((walker.cost, walker.w));
        }
    }
    let Some((mut cost, mut w)) = walked else { return };
    for kick in 0..KICKS {
        if meter.is_over() || cost == 0 {
            break;
        }
        let mut walker = Walker::new(ground, &examples, &w);
        walker.kick([0.02, 0.1, 0.3][kick % 3], &mut random);
        walker.walk(1, &mut random, meter);
        best.offer_scaled(&walker.w);
        if walker.cost <= cost {
            (cost, w) = (walker.cost, walker.w);
        }
    }
}

/// Takes rows back for as long as the others stay separable; then, if a row can come back in exchange for one that
/// costs no more, and with it others, takes that.
fn exchange<'g, 'a>(
    ground: &'g Ground<'a>,
    judge: &mut Judge<'g, 'a>,
    ceiling: Option<&Ceiling>,
    best: &mut Best<'g, 'a>,
    meter: &mut Meter<'_, '_>,
) {
    let mut descender = ceiling.map(Descender::new);
    let mut ask = |allowed: &[bool], judge: &mut Judge<'g, 'a>, meter: &mut Meter<'_, '_>| {
        let answer = judge.ask(descender.as_mut(), ceiling, allowed, meter);
        let work = descender.as_mut().map_or(0, |descender| std::mem::take(&mut descender.work));
        meter.spend(work + std::mem::take(&mut judge.work));
        answer
    };
    let Some(mut allowed) = best.allowed() else { return };
    'again: loop {
        // Rows come back one by one.
        let mut circuits: Vec<(usize, Vec<usize>)> = Vec::new();
        for kind in best.wrong() {
            if meter.is_over() {
                return;
            }
            if allowed[kind] {
                continue;
            }
            allowed[kind] = true;
            match ask(&allowed, judge, meter) {
                Answer::Separator(w) => {
                    best.offer(w);
                }
                Answer::Circuit(circuit) => {
                    allowed[kind] = false;
                    circuits.push((kind, circuit));
                }
                Answer::Unknown => allowed[kind] = false,
            }
        }
        // One comes back, one of its circuit goes: then perhaps another can come back.
        for (back, circuit) in circuits {
            for gone in circuit.into_iter().filter(|&kind| kind != back) {
                if ground.costs[gone] > ground.costs[back] || !allowed[gone] {
                    continue;
                }
                if meter.is_over() {
                    return;
                }
                let mut changed = allowed.clone();
                (changed[back], changed[gone]) = (true, false);
                if !matches!(ask(&changed, judge, meter), Answer::Separator(_)) {
                    continue;
                }
                for other in best.wrong() {
                    if changed[other] || meter.is_over() {
                        continue;
                    }
                    changed[other] = true;
                    if let Answer::Separator(w) = ask(&changed, judge, meter) {
                        if best.offer(w) {
                            let Some(better) = best.allowed() else { return };
                            allowed = better;
                            continue 'again;
                        }
                    } else {
                        changed[other] = false;
                    }
                }
            }
        }
        return;
    }
}

/// A boundary and the kinds that it does not have strictly on their right sides.
struct Candidate {
    w: ExactVector,
    wrong: Vec<usize>,
    cost: u64,
    /// Whether all kinds of a side are wrong.
    one_sided: bool,
}

/// The best boundary so far.
struct Best<'g, 'a> {
    ground: &'g Ground<'a>,
    candidate: Option<Candidate>,
}

impl<'g, 'a> Best<'g, 'a> {
    fn new(ground: &'g Ground<'a>) -> Self {
        Self { ground, candidate: None }
    }

    /// Takes a boundary, judged exactly, if it costs less, or as much and leaves rows of more sides. Whether it costs less.
    fn offer(&mut self, w: ExactVector) -> bool {
        let wrong = self.ground.wrong(&w);
        if wrong.len() == self.ground.len() {
            return false;
        }
        let cost = self.ground.cost(&wrong);
        let mut stays = vec![true; self.ground.len()];
        wrong.iter().for_each(|&kind| stays[kind] = false);
        let has = |side: i8, only: bool| {
            (0..stays.len()).any(|kind| (stays[kind] || !only) && self.ground.has_side(kind, side))
        };
        let one_sided = [1, -1].into_iter().any(|side| has(side, false) && !has(side, true));
        let before = self.candidate.as_ref().map(|known| (known.cost, known.one_sided));
        if before.is_none_or(|before| (cost, one_sided) < before) {
            self.candidate = Some(Candidate { w, wrong, cost, one_sided });
        }
        before.is_none_or(|(known, _)| cost < known)
    }

    /// The same for weights of the scaled columns.
    fn offer_scaled(&mut self, w: &[f64]) {
        if let Some(w) = self.ground.unscaled(w) {
            self.offer(w);
        }
    }

    /// What the best costs.
    fn cost(&self) -> u64 {
        self.candidate.as_ref().map_or(u64::MAX, |known| known.cost)
    }

    /// Only what costs less than this is better: what costs as much, too, if it might leave rows of both sides.
    fn limit(&self) -> u64 {
        let known = self.candidate.as_ref();
        known.map_or(u64::MAX, |known| known.cost.saturating_add(u64::from(known.one_sided)))
    }

    /// The kinds that it removes.
    fn wrong(&self) -> Vec<usize> {
        self.candidate.as_ref().map_or(Vec::new(), |known| known.wrong.clone())
    }

    /// For each kind whether it stays.
    fn allowed(&self) -> Option<Vec<bool>> {
        let known = self.candidate.as_ref()?;
        let mut allowed = vec![true; self.ground.len()];
        known.wrong.iter().for_each(|&kind| allowed[kind] = false);
        Some(allowed)
    }
}

/// What may still be spent: multiplications, which are the same on every machine, or time where a time is given.
struct Meter<'b, 'o> {
    budget: &'b mut Budget<'o>,
    work: u64,
    phase: usize,
}

impl Meter<'_, '_> {
    fn spend(&mut self, work: u64) {
        self.work += work;
    }

    fn is_over(&mut self) -> bool {
        (!self.budget.has_deadline() && self.work >= WORK[self.phase]) || self.is_out_of_time()
    }

    /// Whether the time of this part is over, or the search was interrupted: then a step that takes long ends where it is.
    /// Without a time limit every step is done to its end, so that the answer is the same everywhere.
    fn is_out_of_time(&mut self) -> bool {
        self.budget.is_over() || self.budget.passed() >= TIME[self.phase]
    }

    /// When the time of this part ends, for steps that other threads take.
    fn end(&self) -> Option<Instant> {
        self.budget.at(TIME[self.phase])
    }

    /// Why the search ended.
    fn reason(&mut self) -> String {
        match self.budget.is_over() {
            true => self.budget.reason(),
            false if self.budget.has_deadline() => "the time limit was reached".to_string(),
            false => "the default work limit was reached; ⟦time⟧ sets another".to_string(),
        }
    }
}
