//! Mixing: perceptrons on parts of the rows, joined after every pass (McDonald, Hall and Mann, *Distributed Training
//! Strategies for the Structured Perceptron*, 2010).
//!
//! The rows are dealt into S shards. In pass n every shard s goes through its rows as a perceptron that starts at the
//! common θ, makes k_s mistakes and ends at θ_s; then θ becomes Σ_s μ_s θ_s, where μ_s ≥ 0 and Σ_s μ_s = 1. Both may
//! differ from pass to pass. Let K = Σ_n Σ_s μ_s k_s, the mistakes as they are mixed.
//!
//! **Theorem.** From θ = 0, in any order of the rows and with any μ: γ* ≤ ‖θ‖/K and K ≤ (R/γ*)².
//!
//! *Proof.* Shard s adds k_s examples, so θ grows by Σ_s μ_s Σ z: it is Σ α_t z_t with α ≥ 0 and Σ α_t = K, and for every θ*
//! of length 1 with margin γ, ‖θ‖ ≥ ⟨θ*, θ⟩ ≥ γK. A mistake has ⟨θ, z⟩ ≤ 0, so ‖θ_s‖² exceeds ‖θ‖² by at most k_s R²; the
//! squared length is convex, so that of the mixture exceeds it by at most Σ_s μ_s k_s R². Hence ‖θ‖² ≤ K R², and
//! γK ≤ R√K. ∎
//!
//! Nothing in it needs a pass to be whole, so the shards may be mixed at any moment.
//!
//! μ decides how fast K grows. Since K is bounded, there are few passes with a mistake where each adds much to K. With
//! μ_s = 1/S such a pass adds at least 1/S, so there are at most S (R/γ*)² of them. With μ_s = k_s/Σk it adds
//! Σk²/Σk ≥ 1, because whole numbers are no larger than their squares: at most (R/γ*)² of them, however many shards, as for
//! one perceptron alone.
//!
//! That is the worst case. On separable rows as `bench/shards.py` makes them, equal weights end in fewer passes, the more so
//! the thinner the margin: near the end few shards still err, and a step that is shared by all undoes less of what they have
//! right. So equal weights are the default; the other rule has the better guarantee.

use serde::{Deserialize, Serialize};

/// How much each shard counts in the mixture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mixing {
    /// As much as every other: μ_s = 1/S.
    #[default]
    Uniform,
    /// As much as it made updates in the pass: μ_s = k_s/Σk.
    Updates,
}

impl Mixing {
    /// Whole numbers in the ratio of the μ_s, for shards that made these updates. None counts if none made any.
    pub fn weights(self, updates: &[u64]) -> Vec<u64> {
        match self {
            Mixing::Uniform => {
                let some = u64::from(updates.iter().any(|&k| k > 0));
                vec![some; updates.len()]
            }
            Mixing::Updates => updates.to_vec(),
        }
    }

    /// The most passes with a mistake, where (R/γ*)² is at most `bound`.
    pub fn most_passes(self, bound: f64, shards: usize) -> f64 {
        match self {
            Mixing::Uniform => (bound * shards as f64).next_up(),
            Mixing::Updates => bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Row;
    use crate::theory::margin::{Extent, MarginInterval, MarginKind, lower_bound};
    use crate::theory::novikoff::mistake_bound;
    use crate::train::whole_rows::dataset;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// The theorem, in whole numbers times 1/W: any rows that a normal separates, any shards, any weights in any
        /// pass, passes cut short at random. K stays below the bound of the normal, ‖θ‖/K above its margin, and passes
        /// with a mistake are as few as promised where the weights are those of a rule.
        #[test]
        fn no_mixture_breaks_the_theorem(
            points in prop::collection::vec(prop::collection::vec(-9i32..10, 3), 1..25),
            normal in prop::collection::vec(-9i32..10, 3),
            dealt in prop::collection::vec(0usize..5, 25),
            rule in prop_oneof![Just(None), Just(Some(Mixing::Updates)), Just(Some(Mixing::Uniform))],
            seed: u64,
        ) {
            let side = |p: &[i32]| p.iter().zip(&normal).map(|(a, b)| a * b).sum::<i32>();
            let rows: Vec<Vec<i32>> = points.into_iter().filter(|p| side(p) != 0).collect();
            prop_assume!(!rows.is_empty());
            let data = dataset(&rows, 1.0);
            let signs: Vec<i8> = rows.iter().map(|p| side(p).signum() as i8).collect();
            let separator = crate::theta::Theta {
                weights: normal.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0,
            };
            let lower = lower_bound(&data, &signs, &separator).unwrap();
            let extent = Extent::of(&data, 0.0);
            let margin = MarginInterval { lower: Some(lower), upper: extent.shortest, kind: MarginKind::ThroughOrigin };
            let bound = mistake_bound(&extent, &margin).upper.unwrap();

            let mut random = crate::random::Random::new(seed);
            let shards = 1 + dealt.iter().copied().max().unwrap_or(0);
            let (mut theta, mut mixed, mut passes) = ([0.0f64; 3], 0.0, 0u32);
            for _ in 0..3000 {
                let mut ends = vec![theta; shards];
                let mut updates = vec![0u64; shards];
                for (i, row) in rows.iter().enumerate() {
                    // Without a rule, a shard now and then leaves rows out.
                    if rule.is_none() && random.below(8) == 0 {
                        continue;
                    }
                    let s = dealt[i];
                    let y = f64::from(signs[i]);
                    let x: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
                    let agreement = y * Row::DenseF64(&x).dot(&ends[s]);
                    // Mixtures round: an agreement near zero may be counted on either side.
                    if agreement <= 1e-9 {
                        ends[s].iter_mut().zip(&x).for_each(|(w, x)| *w += y * x);
                        updates[s] += 1;
                    }
                }
                let made: u64 = updates.iter().sum();
                if made == 0 && rule.is_some() {
                    break;
                }
                let weights = match rule {
                    Some(rule) => rule.weights(&updates),
                    None => (0..shards).map(|_| random.below(4)).collect(),
                };
                let whole: u64 = weights.iter().sum();
                if whole == 0 {
                    continue;
                }
                passes += u32::from(made > 0);
                theta = [0.0; 3];
                for ((end, &w), &k) in ends.iter().zip(&weights).zip(&updates) {
                    let mu = w as f64 / whole as f64;
                    theta.iter_mut().zip(end).for_each(|(sum, x)| *sum += mu * x);
                    mixed += mu * k as f64;
                }
                let norm = theta.iter().map(|w| w * w).sum::<f64>().sqrt();
                prop_assert!(mixed <= bound * (1.0 + 1e-6), "K = {mixed} of at most {bound}");
                prop_assert!(norm >= mixed * lower * (1.0 - 1e-6), "{norm} / {mixed} below {lower}");
                if let Some(rule) = rule {
                    let most = rule.most_passes(bound, shards);
                    prop_assert!(f64::from(passes) <= most * (1.0 + 1e-6), "{passes} passes of at most {most}");
                }
            }
        }
    }

    #[test]
    fn shards_without_mistakes_count_as_the_rule_says() {
        assert_eq!(Mixing::Updates.weights(&[3, 0, 5]), [3, 0, 5]);
        assert_eq!(Mixing::Uniform.weights(&[3, 0, 5]), [1, 1, 1]);
        assert_eq!(Mixing::Uniform.weights(&[0, 0]), [0, 0]);
    }
}
