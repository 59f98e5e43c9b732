//! The kernel perceptron as it stands in the books.

use crate::random::Random;
use crate::train::learners::Combine;
use crate::train::learners::kernel::{Kernel, KernelOptions};
use crate::train::{Order, Settings};

/// A kernel as its formula says.
pub(super) fn plain_kernel(kernel: Kernel, bias_input: f64, a: &[f64], b: &[f64]) -> f64 {
    let product = a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() + bias_input * bias_input;
    match kernel {
        Kernel::Linear => product,
        Kernel::Polynomial { degree, gamma, offset } => (gamma * product + offset).powi(degree as i32),
        Kernel::Rbf { gamma } => {
            let distance: f64 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
            (-gamma.unwrap_or(1.0 / a.len() as f64) * distance).exp()
        }
    }
}

/// The size of what is added up for the value of a kernel, which its rounding error is in proportion to: where a product cancels
/// its offset the value is far smaller.
fn magnitude(kernel: Kernel, bias_input: f64, a: &[f64], b: &[f64]) -> f64 {
    let absolute = |row: &[f64]| -> Vec<f64> { row.iter().map(|x| x.abs()).collect() };
    match kernel {
        Kernel::Rbf { .. } => plain_kernel(kernel, bias_input, a, b),
        _ => plain_kernel(kernel, bias_input, &absolute(a), &absolute(b)),
    }
}

/// The algorithm as it stands in the books: nothing kept but α, everything summed anew at every row.
pub(super) struct Plain {
    /// Whether every sum was either clearly something or clearly nothing: the plain form cannot tell otherwise.
    pub(super) clear: bool,
    pub(super) mistakes: Vec<u64>,
    /// α after each example, with its signs.
    functions: Vec<Vec<f64>>,
}

pub(super) fn plain(
    rows: &[Vec<f64>],
    signs: &[i8],
    weights: Option<&[f64]>,
    settings: &Settings,
    kernel: Kernel,
) -> Plain {
    let mut alpha = vec![0.0; rows.len()];
    let (mut clear, mut mistakes, mut functions) = (true, Vec::new(), Vec::new());
    for epoch in 0..settings.epochs {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        match settings.order {
            Order::Given => {}
            Order::ShuffleOnce => Random::stream(settings.seed, 0).shuffle(&mut order),
            Order::Shuffle => Random::stream(settings.seed, epoch).shuffle(&mut order),
        }
        let before = mistakes.len();
        for i in order {
            let terms = alpha.iter().zip(rows).filter(|(a, _)| **a != 0.0);
            let bias_input = settings.bias.input();
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size): (f64, f64), (a, x)| {
                let value = plain_kernel(kernel, bias_input, x, &rows[i]);
                (sum + a * value, size + a.abs() * magnitude(kernel, bias_input, x, &rows[i]))
            });
            clear &= !(1e-15 * size..1e-11 * size).contains(&sum.abs()) || sum == 0.0;
            if f64::from(signs[i]) * sum <= 1e-11 * size {
                alpha[i] += f64::from(signs[i]) * weights.map_or(1.0, |weights| weights[i]);
                mistakes.push(i as u64);
            }
            functions.push(alpha.clone());
        }
        if mistakes.len() == before {
            break;
        }
    }
    Plain { clear, mistakes, functions }
}

impl Plain {
    pub(super) fn score(
        &self,
        rows: &[Vec<f64>],
        x: &[f64],
        bias_input: f64,
        options: &KernelOptions,
    ) -> f64 {
        let value = |alpha: &Vec<f64>| -> f64 {
            alpha.iter().zip(rows).map(|(a, row)| a * plain_kernel(options.kernel, bias_input, row, x)).sum()
        };
        let count = self.functions.len() as f64;
        match options.combine {
            Combine::Last => value(self.functions.last().unwrap()),
            Combine::Average => self.functions.iter().map(value).sum::<f64>() / count,
            Combine::Vote => {
                self.functions.iter().map(|f| if value(f) >= 0.0 { 1.0 } else { -1.0 }).sum::<f64>() / count
            }
        }
    }
}
