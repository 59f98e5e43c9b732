//! The inequalities of Novikoff's proof, recorded at each update.
//!
//! For each update k and a separator θ* with functional margin γ:
//! ⟨θ_k, θ*⟩ ≥ kγ grows at least linearly, ‖θ_k‖² ≤ kR² at most linearly, so cos∠(θ_k, θ*) ≥ kγ / (√k R ‖θ*‖),
//! which cannot exceed 1: k ≤ (R‖θ*‖/γ)².
//!
//! Both sides of each inequality are computed by the same chain of rounded additions, which keeps the order of
//! its inputs: a line that breaks the theorem would be a broken theorem, not a rounding error.
//!
//! Of several classes, θ stacks the vectors of all, z holds the row at its class and minus the row at its rival, and R² is that of
//! such z: the same inequalities hold, word by word.
//!
//! A point also has what a picture of the run needs: θ_k itself, or of many features its line on a [`Plane`].

use super::margin::{certain_agreement, certain_lead_over, stacked_norm};
use super::mistake_ledger::grown_norm_squared;
use super::plane::Plane;
use crate::observe::Update;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// The most features of which each point of a trace has all weights.
pub const MAX_TRACED_WEIGHTS: usize = 64;

/// One moment of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// k, the number of updates so far.
    pub update: u64,
    /// The pass, from 1.
    pub epoch: u64,
    /// The row that was mistaken, from 1, among the rows learned from.
    pub row: u64,
    /// Where that row stands in its source, from 1; unknown for a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its agreement before the update.
    pub agreement: f64,
    /// ‖θ_k‖², rounded up.
    pub norm_squared: f64,
    /// kR², rounded up; for a stream, each update adds the R² known by then.
    pub norm_squared_bound: f64,
    /// ‖θ_k‖ / k, which γ* cannot exceed.
    pub margin_upper: f64,
    /// ⟨θ_k, θ*⟩, where a separator θ* is known.
    pub alignment: Option<f64>,
    /// kγ.
    pub alignment_bound: Option<f64>,
    /// The cosine of the angle between θ_k and θ*.
    pub cosine: Option<f64>,
    /// kγ / (√k R ‖θ*‖).
    pub cosine_bound: Option<f64>,
    /// θ_k after the update: the weights of the features as they are learned from, and the constant term last. Left out for
    /// more than [`MAX_TRACED_WEIGHTS`] features and for a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// For more features, the [line](Plane::line) of θ_k on the plane of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<[f64; 3]>,
}

impl TracePoint {
    /// θ_k, where the point has all weights. Its appended coordinate is 1.
    pub fn theta(&self) -> Option<Theta> {
        let (&bias, weights) = self.weights.as_ref()?.split_last()?;
        Some(Theta { weights: weights.to_vec(), bias, bias_input: 1.0 })
    }
}

/// A separator and what is known of it.
#[derive(Clone, Debug)]
pub struct Comparator {
    /// θ*; of several classes, one vector for each, which are stacked into one.
    pub thetas: Vec<Theta>,
    /// γ, a certified lower bound of min_t a_t(θ*); of several classes, of the least lead over a rival.
    pub margin: f64,
}

impl Comparator {
    /// A certified lower bound of ⟨θ*, z⟩ for the z of an update.
    fn agreement(&self, update: &Update<'_>) -> f64 {
        match update.classes {
            Some(moved) => certain_lead_over(&self.thetas, update.row, moved.class, moved.rival),
            None => certain_agreement(&self.thetas[0], update.row, update.sign),
        }
    }
}

/// Records a thinned trace of a run.
#[derive(Clone, Debug)]
pub struct TraceRecorder {
    points: Vec<TracePoint>,
    limit: usize,
    stride: u64,
    last: Option<TracePoint>,
    /// R², or that of the longest mistaken row so far where R is not known beforehand.
    radius_squared: f64,
    radius_known: bool,
    norm_squared: f64,
    norm_squared_bound: f64,
    comparator: Option<Comparator>,
    comparator_norm: f64,
    alignment: f64,
    alignment_bound: f64,
    drawn: Option<Drawn>,
}

/// What a picture needs: θ as it grows, and the plane that it is drawn on if it has many weights.
#[derive(Clone, Debug)]
struct Drawn {
    theta: Theta,
    plane: Option<Plane>,
}

impl Drawn {
    fn add_to(&self, point: &mut TracePoint) {
        if self.theta.weights.len() <= MAX_TRACED_WEIGHTS {
            let constant = std::iter::once(self.theta.intercept());
            // Adding zero turns −0 into 0.
            let all = self.theta.weights.iter().copied().chain(constant).map(|weight| weight + 0.0);
            point.weights = Some(all.collect());
        } else {
            point.projection = self.plane.as_ref().map(|plane| plane.line(&self.theta));
        }
    }
}

impl TraceRecorder {
    /// Keeps at most `limit` points (at least two) of a run that starts at zero. `radius` is an upper bound of R;
    /// for a stream, whose R is not known, the longest mistaken row so far takes its place.
    pub fn new(limit: usize, radius: Option<f64>, comparator: Option<Comparator>) -> Self {
        Self {
            points: Vec::new(),
            limit: limit.max(2),
            stride: 1,
            last: None,
            radius_squared: radius.map_or(0.0, |radius| (radius * radius).next_up()),
            radius_known: radius.is_some(),
            norm_squared: 0.0,
            norm_squared_bound: 0.0,
            comparator_norm: comparator.as_ref().map_or(0.0, |comparator| match &comparator.thetas[..] {
                [theta] => theta.norm().high,
                thetas => stacked_norm(thetas),
            }),
            comparator,
            alignment: 0.0,
            alignment_bound: 0.0,
            drawn: None,
        }
    }

    /// Keeps θ_k too, for rows with so many features and this value of the appended coordinate; or, of many features, its
    /// line on a plane.
    pub fn with_weights(mut self, columns: usize, bias_input: f64, plane: Option<Plane>) -> Self {
        self.drawn = Some(Drawn { theta: Theta::zero(columns, bias_input), plane });
        self
    }

    /// Takes an update into account.
    pub fn record(&mut self, update: &Update<'_>) {
        // Of several classes, z holds the row twice.
        let terms = if update.classes.is_some() { 2 } else { 1 } * (update.row.stored() + 1);
        let k = update.number as f64;
        if !self.radius_known {
            self.radius_squared = self.radius_squared.max(update.row_squared);
        }
        self.norm_squared =
            grown_norm_squared(self.norm_squared, update.agreement, update.row_squared, terms);
        self.norm_squared_bound =
            grown_norm_squared(self.norm_squared_bound, 0.0, self.radius_squared, terms);
        let mut point = TracePoint {
            update: update.number,
            epoch: update.epoch,
            row: update.position + 1,
            line: None,
            // Adding zero turns −0 into 0.
            agreement: update.agreement + 0.0,
            norm_squared: self.norm_squared,
            norm_squared_bound: self.norm_squared_bound,
            margin_upper: self.norm_squared.sqrt() / k,
            alignment: None,
            alignment_bound: None,
            cosine: None,
            cosine_bound: None,
            weights: None,
            projection: None,
        };
        if let Some(drawn) = &mut self.drawn {
            drawn.theta.add(f64::from(update.sign), update.row);
        }
        if let Some(comparator) = &self.comparator {
            self.alignment += comparator.agreement(update);
            // No more than kγ, and by the same additions no more than the alignment.
            self.alignment_bound =
                (self.alignment_bound + comparator.margin).min((k * comparator.margin).next_down());
            let cosine = |alignment: f64, squared: f64| alignment / (squared.sqrt() * self.comparator_norm);
            point.alignment = Some(self.alignment);
            point.alignment_bound = Some(self.alignment_bound);
            point.cosine = Some(cosine(self.alignment, self.norm_squared));
            point.cosine_bound = Some(cosine(self.alignment_bound, self.norm_squared_bound));
        }
        if update.number.is_multiple_of(self.stride) {
            let mut kept = point.clone();
            self.drawn.iter().for_each(|drawn| drawn.add_to(&mut kept));
            self.points.push(kept);
            if self.points.len() >= 2 * self.limit {
                self.stride *= 2;
                let stride = self.stride;
                self.points.retain(|point| point.update.is_multiple_of(stride));
            }
        }
        self.last = Some(point);
    }

    /// The points, evenly thinned to the limit, with the last update always among them.
    pub fn finish(mut self) -> Vec<TracePoint> {
        if let Some(mut last) = self.last.take()
            && self.points.last().map(|point| point.update) != Some(last.update)
        {
            self.drawn.iter().for_each(|drawn| drawn.add_to(&mut last));
            self.points.push(last);
        }
        let count = self.points.len();
        if count <= self.limit {
            return self.points;
        }
        (0..self.limit).map(|i| self.points[i * (count - 1) / (self.limit - 1)].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::dataset::Dataset;
    use crate::observe::{ClassUpdate, Observer};
    use crate::theory::margin::{Extent, least_agreement};
    use crate::train::{Bias, Learned, Learner, Settings, Status, Task, train};
    use proptest::prelude::*;

    struct Recording(TraceRecorder);

    impl Observer for Recording {
        fn update(&mut self, update: &Update<'_>) {
            self.0.record(update);
        }
    }

    /// The updates of several classes, and the vectors after the last.
    #[derive(Default)]
    struct ClassUpdates {
        updates: Vec<(usize, usize, usize, f64, f64)>,
        last: Vec<Theta>,
    }

    impl Observer for ClassUpdates {
        fn update(&mut self, update: &Update<'_>) {
            let moved = update.classes.expect("the rows are in memory");
            let Update { position, agreement, row_squared, .. } = *update;
            self.updates.push((position as usize, moved.class, moved.rival, agreement, row_squared));
            self.last = moved.thetas.to_vec();
        }
    }

    proptest! {
        /// Separable rows of any scale, with numbers that round: every line keeps all three inequalities, exactly.
        #[test]
        fn every_point_keeps_the_inequalities(
            points in prop::collection::vec((prop::collection::vec(-9i32..10, 3), any::<bool>()), 2..25),
            power in -60i32..60,
            gap in 1i32..4,
            limit in 2usize..40,
        ) {
            let scale = 2f64.powi(power) / 3.0;
            // The first coordinate is pushed to the side of the label.
            let values: Vec<f64> = points
                .iter()
                .flat_map(|(p, up)| {
                    let first = if *up { p[0].abs() + gap } else { -p[0].abs() - gap };
                    [f64::from(first) * scale, f64::from(p[1]) * scale, f64::from(p[2]) * scale]
                })
                .collect();
            let labels: Vec<&str> = points.iter().map(|(_, up)| if *up { "1" } else { "0" }).collect();
            prop_assume!(labels.contains(&"0") && labels.contains(&"1"));
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let settings =
                Settings { learner: Learner::Perceptron, bias: Bias::Append(scale), epochs: 5_000, ..Settings::default() };
            let outcome = train(&data, &settings, &mut ()).unwrap();
            prop_assert_eq!(outcome.status, Status::Converged);
            let Learned::Linear(theta) = outcome.learned else { unreachable!() };
            let signs = Task::new(&data, &settings).unwrap().signs;
            let margin = least_agreement(&data, &signs, &theta).unwrap();
            let radius = Extent::of(&data, scale).radius_upper;
            let last = theta.clone();
            let recorder = TraceRecorder::new(limit, Some(radius), Some(Comparator { thetas: vec![theta], margin }));
            let mut recording = Recording(recorder.with_weights(3, scale, None));
            train(&data, &settings, &mut recording).unwrap();
            let trace = recording.0.finish();
            prop_assert!(trace.len() <= limit);
            prop_assert_eq!(trace.last().map(|p| p.update), Some(outcome.evidence.updates));
            prop_assert!(trace.windows(2).all(|pair| pair[0].update < pair[1].update));
            // The weights of the trace are those of the run, and each update adds what was mistaken.
            let all = |theta: &Theta| [&theta.weights[..], &[theta.intercept()]].concat();
            prop_assert_eq!(trace.last().and_then(|p| p.weights.clone()), Some(all(&last)));
            for pair in trace.windows(2).filter(|pair| pair[1].update == pair[0].update + 1) {
                let mut next = pair[0].theta().unwrap();
                let i = pair[1].row as usize - 1;
                data.row(i).add_to(f64::from(signs[i]), &mut next.weights);
                prop_assert_eq!(&next.weights[..], &pair[1].weights.as_ref().unwrap()[..3]);
            }
            for point in trace {
                prop_assert!(point.norm_squared <= point.norm_squared_bound, "{point:?}");
                prop_assert!(point.alignment.unwrap() >= point.alignment_bound.unwrap(), "{point:?}");
                prop_assert!(point.cosine.unwrap() >= point.cosine_bound.unwrap(), "{point:?}");
                prop_assert!(point.cosine_bound.unwrap() <= 1.0);
                prop_assert!(point.agreement <= 0.0 || point.agreement < 1e-12 * scale * scale);
                prop_assert!(point.margin_upper * (1.0 + 1e-12) >= outcome.evidence.margin.lower.unwrap());
            }
        }

        /// Several classes, stacked: the same inequalities at every update, and with the last vectors as separator where they are one.
        #[test]
        fn several_classes_keep_the_inequalities(
            rows in prop::collection::vec((prop::collection::vec(-9i32..10, 3), 0usize..4), 3..40),
            power in -40i32..40,
            gap in 0i32..30,
            epochs in 1u64..12,
        ) {
            let scale = 2f64.powi(power) / 3.0;
            // Each class is pushed into a direction of its own.
            let pushes = [[1, 0, 0], [-1, 1, 0], [0, -1, 1], [0, 0, -1]];
            let place = |(p, class): &(Vec<i32>, usize)| -> Vec<f64> {
                (0..3).map(|j| f64::from(p[j] + gap * pushes[*class][j]) * scale).collect()
            };
            let values: Vec<f64> = rows.iter().flat_map(place).collect();
            let labels: Vec<String> = rows.iter().map(|(_, class)| class.to_string()).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            prop_assume!(data.classes().len() > 1);
            let learner = Learner::Multiclass(Default::default());
            let settings = Settings { learner, epochs, ..Settings::default() };
            let mut seen = ClassUpdates::default();
            let outcome = train(&data, &settings, &mut seen).unwrap();
            prop_assert_eq!(outcome.evidence.updates, seen.updates.len() as u64);
            let class = |i: usize| data.labels()[i] as usize;
            let rivals = |i: usize| (0..data.classes().len()).filter(move |&rival| rival != class(i));
            let margin = (0..data.len())
                .flat_map(|i| rivals(i).map(move |rival| (i, rival)))
                .map(|(i, rival)| certain_lead_over(&seen.last, data.row(i), class(i), rival))
                .fold(f64::MAX, f64::min);
            let comparator = (margin > 0.0).then(|| Comparator { thetas: seen.last.clone(), margin });
            prop_assert!(comparator.is_some() || outcome.status != Status::Converged);
            let known = comparator.is_some();
            let radius = outcome.evidence.extent.radius_upper;
            let mut recorder = TraceRecorder::new(seen.updates.len() + 2, Some(radius), comparator);
            for (k, &(i, own, rival, agreement, row_squared)) in seen.updates.iter().enumerate() {
                prop_assert_eq!(own, class(i));
                let classes = Some(ClassUpdate { class: own, rival, thetas: &[] });
                let (number, position, row) = (k as u64 + 1, i as u64, data.row(i));
                recorder.record(&Update { number, epoch: 1, position, row, row_squared, sign: 1, agreement, theta: None, classes });
            }
            let trace = recorder.finish();
            for point in &trace {
                prop_assert!(point.norm_squared <= point.norm_squared_bound, "{point:?}");
                prop_assert_eq!(point.cosine.is_some(), known);
                if known {
                    prop_assert!(point.alignment.unwrap() >= point.alignment_bound.unwrap(), "{point:?}");
                    prop_assert!(point.cosine.unwrap() >= point.cosine_bound.unwrap(), "{point:?}");
                    prop_assert!(point.margin_upper * (1.0 + 1e-12) >= margin / stacked_norm(&seen.last));
                }
            }
            // The length that is followed is that of the vectors.
            if let Some(last) = trace.last() {
                let squares = |theta: &Theta| theta.weights.iter().map(|w| w * w).sum::<f64>() + theta.bias * theta.bias;
                let exact: f64 = seen.last.iter().map(squares).sum();
                prop_assert!(exact <= last.norm_squared * (1.0 + 1e-12));
                prop_assert!(last.norm_squared <= exact * (1.0 + 1e-6) + 1e-9 * last.norm_squared_bound);
            }
        }

        /// Separable or not, repeated, contradictory, zero or alone: the lengths keep their inequality at every
        /// update, and with any separator that turns up so does the rest.
        #[test]
        fn hostile_rows_keep_the_inequalities(examples in examples(), passes in 1usize..60, known: bool) {
            let data = examples.dataset();
            let (learned, mistakes) = examples.learn(passes);
            let extent = Extent::of(&data, examples.bias_input);
            let margin = least_agreement(&data, &examples.signs, &learned);
            prop_assert!(margin.is_none() || !examples.are_hopeless());
            let norm = learned.norm();
            let comparator = margin.map(|margin| Comparator { thetas: vec![learned], margin });
            let radius = known.then_some(extent.radius_upper);
            let mut recorder = TraceRecorder::new(mistakes.len() + 2, radius, comparator);
            let mut theta = Theta::zero(data.columns(), examples.bias_input);
            for (k, &i) in mistakes.iter().enumerate() {
                let (row, sign) = (data.row(i as usize), examples.signs[i as usize]);
                let agreement = f64::from(sign) * theta.score(row);
                let row_squared = theta.extended_norm_squared(row);
                theta.add(f64::from(sign), row);
                let (number, position) = (k as u64 + 1, u64::from(i));
                recorder.record(&Update { number, epoch: 1, position, row, row_squared, sign, agreement, theta: None, classes: None });
            }
            let trace = recorder.finish();
            prop_assert_eq!(trace.len(), mistakes.len());
            for point in trace {
                prop_assert!(point.norm_squared <= point.norm_squared_bound, "{point:?}");
                prop_assert_eq!(point.cosine.is_some(), margin.is_some());
                if let Some(margin) = margin {
                    prop_assert!(point.alignment.unwrap() >= point.alignment_bound.unwrap(), "{point:?}");
                    prop_assert!(point.cosine.unwrap() >= point.cosine_bound.unwrap(), "{point:?}");
                    prop_assert!(point.cosine.unwrap() <= 1.0 + 1e-9, "{point:?}");
                    prop_assert!(point.margin_upper * (1.0 + 1e-9) >= margin / norm.high, "{point:?}");
                }
            }
        }
    }
}
