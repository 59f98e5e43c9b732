//! Everything that is promised of one problem, checked.

use super::claims::judge;
use super::instances::Instance;
use super::oracle::{
    boundary, circuit, dot, fraction, rank, scaled, squared_margin, squared_margin_free, whole,
};
use dashu_int::IBig;
use dashu_ratio::RBig;
use linsep::random::Random;
use linsep::separate::{
    Bias, Certificate, CertificateText, Examples, SeparateSettings, Separation, Verdict, separate,
};
use linsep_check::{Accepted, Claim, Dyadic, Rejected, Sparse};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Whether the checker finds the claim true, be the rows of one side or of two.
fn verify(certificate: &Certificate, examples: &Examples<'_>) -> Result<Accepted, Rejected> {
    linsep_check::check(certificate, examples, &|| false)
}

/// What was seen of one problem.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) verdict: Verdict,
    /// (upper − lower) / upper, for separable rows whose margin is no subnormal number.
    pub(crate) gap: Option<f64>,
    /// Whether the margin was compared with the exact one.
    pub(crate) exact_margin: bool,
    pub(crate) time: Duration,
}

/// How much to check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) settings_seed: u64,
    pub(crate) gap: Option<f64>,
    /// On one thread and on two.
    pub(crate) threads: bool,
    /// The exact margin also where its numbers are long.
    pub(crate) long_numbers: bool,
}

macro_rules! ensure {
    ($truth:expr, $($told:tt)*) => {
        if !$truth {
            return Err(format!($($told)*));
        }
    };
}

/// Runs the engine and checks all it says. The error says what is wrong.
pub(crate) fn check(instance: &Instance, effort: Effort) -> Result<Seen, String> {
    match catch_unwind(AssertUnwindSafe(|| examine(instance, effort))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(format!(
                "panic: {}",
                text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of another kind")
            ))
        }
    }
}

fn examine(instance: &Instance, effort: Effort) -> Result<Seen, String> {
    let settings = SeparateSettings {
        bias: instance.bias,
        gap: effort.gap,
        seed: effort.settings_seed,
        ..SeparateSettings::default()
    };
    let data = instance.dataset();
    let run = || separate(&data, &settings.with_classes(&Instance::classes()), &mut ());
    let start = Instant::now();
    let found = run();
    let time = start.elapsed();
    // With one side only, half the distance of two hulls is no number: an engine may refuse, but not be wrong.
    let one_sided = instance.bias == Bias::Free && !instance.has_both_sides();
    let found = match found {
        Ok(found) => found,
        Err(_) if one_sided => {
            return Ok(Seen { verdict: Verdict::Undecided, gap: None, exact_margin: false, time });
        }
        Err(error) => return Err(format!("refused: {error}")),
    };

    let z = instance.z();
    let present = instance.present();
    let inside = boundary(&z);
    let verdict = match inside.iter().filter(|&&inside| inside).count() {
        0 => Verdict::Complete,
        count if count == z.len() => Verdict::Overlap,
        _ => Verdict::QuasiComplete,
    };
    ensure!(found.verdict == verdict, "the verdict is {:?}, but {verdict:?} is true", found.verdict);
    ensure!(found.rows == z.len(), "{} rows of {}", found.rows, z.len());
    let true_rank = rank(&z);
    ensure!(
        found.rank.is_none_or(|rank| rank == true_rank),
        "rank {:?}, but {true_rank} is true",
        found.rank
    );
    check_radius(&found, instance, &z)?;
    check_certificate(&found, instance, &inside, &present)?;
    check_witness(&found, instance, &inside, &present)?;
    let on_boundary: Vec<usize> = (0..z.len()).filter(|&i| inside[i]).map(|i| present[i]).collect();
    match verdict {
        Verdict::QuasiComplete => {
            ensure!(found.boundary == on_boundary, "B is {:?}, but {on_boundary:?} is true", found.boundary)
        }
        _ => ensure!(found.boundary.is_empty(), "B is told of data that is not quasi-complete"),
    }
    let exact_margin = verdict == Verdict::Complete && !one_sided && (effort.long_numbers || are_short(&z));
    let gap = check_margin(&found, instance, &z, &settings, exact_margin, one_sided)?;
    check_weights(&found, instance, &present)?;
    if effort.threads {
        check_threads(&found, run)?;
    }
    Ok(Seen { verdict, gap, exact_margin, time })
}

/// Whether exact arithmetic with these numbers is quick.
fn are_short(z: &[Vec<f64>]) -> bool {
    whole(z)
        .0
        .iter()
        .flatten()
        .all(|value| value.clone() < IBig::ONE << 200 && value.clone() > -(IBig::ONE << 200))
}

/// R is not below the length of a row, nor much above.
fn check_radius(found: &Separation, instance: &Instance, z: &[Vec<f64>]) -> Result<(), String> {
    let measured = z[0].len() - usize::from(instance.bias == Bias::Free);
    let (rows, exponent) = whole(z);
    let longest = rows.iter().map(|row| dot(&row[..measured], &row[..measured])).max().unwrap();
    let longest = RBig::from(longest) * scaled(&IBig::ONE, 2 * exponent);
    if found.extent.radius_upper == f64::INFINITY {
        let largest = fraction(f64::MAX);
        ensure!(longest > &largest * &largest / RBig::from(4), "R is infinite, but the longest row is not");
        return Ok(());
    }
    let radius = fraction(found.extent.radius_upper);
    ensure!(&radius * &radius >= longest, "R = {:e} is below the length of a row", found.extent.radius_upper);
    let below = fraction(found.extent.radius_upper * (1.0 - 1e-9)) - fraction(1e-322);
    ensure!(
        below <= RBig::ZERO || &below * &below <= longest,
        "R = {:e} is far from the length of the longest row",
        found.extent.radius_upper
    );
    Ok(())
}

fn check_certificate(
    found: &Separation,
    instance: &Instance,
    inside: &[bool],
    present: &[usize],
) -> Result<(), String> {
    let certificate = found.certificate.as_ref().ok_or("no certificate")?;
    let data = instance.dataset();
    let examples = Examples::new(&data, &Instance::classes(), instance.bias);
    ensure!(certificate.bias == instance.bias, "the certificate speaks of another bias");
    ensure!(certificate.subject.fingerprint == data.fingerprint(), "the fingerprint is that of other data");
    let told = match certificate.claim {
        Claim::Complete { .. } => Verdict::Complete,
        Claim::QuasiComplete { .. } => Verdict::QuasiComplete,
        Claim::Overlap { .. } => Verdict::Overlap,
    };
    ensure!(told == found.verdict, "the certificate is of {told:?}, the verdict of {:?}", found.verdict);

    let accepted = verify(certificate, &examples).map_err(|rejected| format!("rejected: {rejected:?}"))?;
    ensure!(accepted.rows == present.len(), "the checker has seen {} rows", accepted.rows);
    if told == Verdict::QuasiComplete {
        let size = inside.iter().filter(|&&inside| inside).count();
        ensure!(
            accepted.boundary_rows == size && accepted.boundary_is_exact,
            "{accepted:?}, but B has {size} rows"
        );
    }
    let text = CertificateText(certificate).to_string();
    let again = Certificate::parse(&text).map_err(|error| format!("its own text is not read: {error:?}"))?;
    ensure!(
        again == *certificate && CertificateText(&again).to_string() == text,
        "the text of the certificate is not that certificate"
    );
    verify(&again, &examples).map_err(|rejected| format!("rejected after reading: {rejected:?}"))?;

    let judged =
        judge(certificate, instance).map_err(|reason| format!("accepted, but it is no proof: {reason}"))?;
    if told == Verdict::QuasiComplete {
        let size = inside.iter().filter(|&&inside| inside).count();
        ensure!(
            judged.boundary_is_exact && judged.boundary.len() == size,
            "the certificate's boundary is not B"
        );
    }
    check_forgeries(certificate, instance, &examples)
}

/// Certificates with something changed: those that the checker accepts must still be proofs.
fn check_forgeries(
    certificate: &Certificate,
    instance: &Instance,
    examples: &Examples<'_>,
) -> Result<(), String> {
    let mut random =
        Random::new(instance.rows.len() as u64 + 31 * CertificateText(certificate).to_string().len() as u64);
    for _ in 0..6 {
        let mut forged = certificate.clone();
        let what = forge(&mut forged, &mut random);
        if let Ok(accepted) = verify(&forged, examples) {
            let judged = judge(&forged, instance).map_err(|reason| {
                format!("a forgery ({what}) is accepted, but {reason}: {}", CertificateText(&forged))
            })?;
            let is_quasi = matches!(forged.claim, Claim::QuasiComplete { .. });
            ensure!(
                !is_quasi || !accepted.boundary_is_exact || judged.boundary_is_exact,
                "a forgery ({what}) is accepted as exact: {}",
                CertificateText(&forged)
            );
        }
    }
    Ok(())
}

fn forge(certificate: &mut Certificate, random: &mut Random) -> &'static str {
    if random.below(8) == 0 {
        certificate.bias =
            [Bias::None, Bias::Append(1.0), Bias::Append(2.0), Bias::Free][random.below(4) as usize];
        return "bias";
    }
    if random.below(8) == 0 {
        certificate.claim = match certificate.claim.clone() {
            Claim::Complete { weights, margin } => {
                Claim::QuasiComplete { weights, combination: margin.combination, kernel: Vec::new() }
            }
            Claim::QuasiComplete { combination, kernel, .. } => Claim::Overlap { combination, kernel },
            Claim::Overlap { combination, kernel } => {
                let weights = kernel.first().cloned().unwrap_or_default();
                Claim::QuasiComplete { weights, combination, kernel }
            }
        };
        return "verdict";
    }
    match &mut certificate.claim {
        Claim::Complete { weights, margin } => match random.below(4) {
            0 => tamper(weights, random),
            1 => tamper(&mut margin.combination, random),
            2 => {
                margin.lower *= [1.0 + 1e-15, 1.0 + 1e-6, 2.0][random.below(3) as usize];
                "lower end"
            }
            _ => {
                margin.upper *= [1.0 - 1e-15, 1.0 - 1e-6, 0.5][random.below(3) as usize];
                "upper end"
            }
        },
        Claim::QuasiComplete { weights, combination, kernel } => match random.below(4) {
            0 | 1 => tamper(weights, random),
            2 => tamper(combination, random),
            _ => tamper_kernel(kernel, random),
        },
        Claim::Overlap { combination, kernel } => match random.below(2) {
            0 => tamper(combination, random),
            _ => tamper_kernel(kernel, random),
        },
    }
}

fn tamper_kernel(kernel: &mut Vec<Sparse>, random: &mut Random) -> &'static str {
    if kernel.is_empty() {
        kernel.push(vec![(0, Dyadic::from_f64(1.0).unwrap())]);
        return "a vector more in the kernel";
    }
    let which = random.below(kernel.len() as u64) as usize;
    match random.below(3) {
        0 => {
            let copy = kernel[which].clone();
            kernel.push(copy);
            "a vector of the kernel twice"
        }
        1 => {
            kernel.remove(which);
            "a vector less in the kernel"
        }
        _ => tamper(&mut kernel[which], random),
    }
}

/// The number times a float.
fn times(number: &Dyadic, factor: f64) -> Dyadic {
    let factor = Dyadic::from_f64(factor).unwrap();
    let (mut words, mut carry) = (Vec::new(), 0);
    for word in number.parts().0 {
        let low;
        (low, carry) = word.carrying_mul(factor.parts().0[0], carry);
        words.push(low);
    }
    words.push(carry);
    Dyadic::new(number.sign() != factor.sign(), words, number.parts().1 + factor.parts().1)
}

pub(crate) fn tamper(vector: &mut Sparse, random: &mut Random) -> &'static str {
    if vector.is_empty() {
        vector.push((0, Dyadic::from_f64(1.0).unwrap()));
        return "a number more";
    }
    let which = random.below(vector.len() as u64) as usize;
    match random.below(5) {
        0 => {
            vector[which].1 = times(&vector[which].1, -1.0);
            "a number negated"
        }
        1 => {
            vector.remove(which);
            "a number less"
        }
        2 => {
            vector[which].1 = times(&vector[which].1, 1.0 + f64::EPSILON);
            "a number grown a little"
        }
        3 => {
            vector[which].0 += 1;
            "a number moved"
        }
        _ => {
            vector[which].1 = times(&vector[which].1, 2f64.powi(random.below(200) as i32 - 100));
            "a number scaled"
        }
    }
}

/// The witness: rows of B whose z have just one dependence, a positive one, and that is told.
fn check_witness(
    found: &Separation,
    instance: &Instance,
    inside: &[bool],
    present: &[usize],
) -> Result<(), String> {
    if found.verdict == Verdict::Complete {
        ensure!(found.witness.is_empty(), "separable rows have a witness");
        return Ok(());
    }
    ensure!(!found.witness.is_empty(), "no witness");
    ensure!(
        found.witness.windows(2).all(|pair| pair[0].value >= pair[1].value),
        "the largest share is not first"
    );
    let all = instance.z();
    let mut z = Vec::new();
    for share in &found.witness {
        let place = present.iter().position(|&i| i == share.row).ok_or("a witness of neither side")?;
        ensure!(inside[place], "row {} is a witness, but not in B", share.row);
        z.push(all[place].clone());
    }
    let exact = circuit(&z).ok_or_else(|| format!("the witness is no circuit: {:?}", found.witness))?;
    for (share, exact) in found.witness.iter().zip(exact) {
        let off = fraction(share.value) - &exact;
        let off = if off < RBig::ZERO { -off } else { off };
        ensure!(
            off <= exact * fraction(1e-9) + fraction(1e-300),
            "the share of row {} is not {:e}",
            share.row,
            share.value
        );
    }
    Ok(())
}

fn check_margin(
    found: &Separation,
    instance: &Instance,
    z: &[Vec<f64>],
    settings: &SeparateSettings,
    exact: bool,
    one_sided: bool,
) -> Result<Option<f64>, String> {
    let (lower, upper) = (found.margin.lower, found.margin.upper);
    match found.verdict {
        Verdict::Complete => {}
        Verdict::QuasiComplete => {
            ensure!(
                upper == 0.0 && lower.is_none_or(|lower| lower <= 0.0),
                "the margin of quasi-complete rows is {lower:?} to {upper}"
            );
            return Ok(None);
        }
        _ => {
            ensure!(
                upper <= 0.0 && lower.is_none_or(|lower| lower <= upper),
                "the margin of overlapping rows is {lower:?} to {upper}"
            );
            return Ok(None);
        }
    }
    let lower = lower.ok_or("separable rows without a lower end of the margin")?;
    ensure!(lower >= 0.0 && lower <= upper, "the margin is {lower:e} to {upper:e}");
    if let Some(Claim::Complete { margin, .. }) =
        found.certificate.as_ref().map(|certificate| &certificate.claim)
    {
        let same = (margin.lower, margin.upper) == (lower, upper.min(f64::MAX));
        ensure!(same, "the certificate tells another margin: {margin:?}");
    }
    if one_sided {
        return Ok(None);
    }
    if exact {
        let squared = match instance.bias {
            Bias::Free => {
                let present = instance.present();
                let rows: Vec<Vec<f64>> = present.iter().map(|&i| instance.rows[i].clone()).collect();
                let signs: Vec<i8> = present.iter().map(|&i| instance.signs[i]).collect();
                squared_margin_free(&rows, &signs)
            }
            _ => squared_margin(z),
        };
        let (low, high) = (fraction(lower), fraction(upper.min(f64::MAX)));
        ensure!(&low * &low <= squared, "the lower end {lower:e} is above the margin");
        // The largest float stands for no upper end, where none is a float.
        let bounded = upper < f64::MAX;
        ensure!(!bounded || &high * &high >= squared, "the upper end {upper:e} is below the margin");
        let near = squared > &high * &high / RBig::from(100);
        ensure!(bounded || near, "the margin is a float, but has no upper end");
    }
    if !(1e-290..1e290).contains(&upper) {
        return Ok(None);
    }
    let gap = (upper - lower) / upper;
    let wanted = settings.gap.unwrap_or(1e-6);
    ensure!(gap <= wanted || found.stopped.is_some(), "the gap is {gap:e}, and nothing says why");
    Ok(Some(gap))
}

/// Weights are numbers, and the closest rows are rows.
fn check_weights(found: &Separation, instance: &Instance, present: &[usize]) -> Result<(), String> {
    let separable = found.verdict == Verdict::Complete;
    ensure!(
        found.weights.is_some() == (found.verdict != Verdict::Overlap),
        "weights where none are due, or none where some are"
    );
    if let Some(theta) = &found.weights {
        ensure!(theta.weights.len() == instance.rows[0].len(), "{} weights", theta.weights.len());
        ensure!(
            theta.weights.iter().chain([&theta.bias]).all(|w| w.is_finite()),
            "weights that are not finite: {theta:?}"
        );
    }
    ensure!(
        found.closest.len() == if separable { present.len().min(20) } else { 0 },
        "{} closest rows",
        found.closest.len()
    );
    ensure!(found.closest.iter().all(|share| present.contains(&share.row)), "a closest row of neither side");
    ensure!(
        found.closest.windows(2).all(|pair| pair[0].value <= pair[1].value),
        "the closest row is not first"
    );
    Ok(())
}

/// The same bits on one thread and on two.
fn check_threads(
    found: &Separation,
    run: impl Fn() -> Result<Separation, linsep::Error> + Sync,
) -> Result<(), String> {
    let expected = format!("{found:?}");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(&run).map_err(|error| format!("refused on {threads} threads: {error}"))?;
        ensure!(format!("{again:?}") == expected, "another answer on {threads} threads");
    }
    Ok(())
}
