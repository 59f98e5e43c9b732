//! A kernel machine as arrays of a file.
//!
//! What the settings say (kernel, combination, bias) is not written twice.

use super::KernelOptions;
use super::gram::{Support, square};
use super::machine::{KernelMachine, Terms};
use crate::dataset::Row;
use crate::store::{Arrays, StoreError, Tensors};
use crate::train::Settings;
use crate::train::engine::checkpoint::{get_theta, put_theta};
use crate::train::learners::Combine;

/// Puts a machine into a file.
pub(crate) fn put_kernel<'a>(tensors: &mut Tensors<'a>, prefix: &str, machine: &'a KernelMachine) {
    let name = |part: &str| format!("{prefix}kernel.{part}");
    put_theta(tensors, &format!("{prefix}theta"), machine.theta());
    let (support, terms) = machine.parts();
    tensors.put_u64(&name("offsets"), support.offsets.iter().map(|&offset| offset as u64));
    tensors.put_u32(&name("indices"), support.indices.iter().copied());
    tensors.put_f64(&name("values"), support.values.iter().copied());
    tensors.put_i8(&name("complete"), [i8::from(support.complete)].into_iter());
    match terms {
        Terms::Sum(coefficients) => tensors.put_f64(&name("coefficients"), coefficients.iter().copied()),
        Terms::Votes { sequence, survivals } => {
            tensors.put_u32(&name("rows"), sequence.iter().map(|&(row, _)| row));
            tensors.put_f64(&name("sizes"), sequence.iter().map(|&(_, size)| size));
            tensors.put_u64(&name("survivals"), survivals.iter().copied());
        }
    }
}

/// Takes a machine from a file. What does not fit together is an error.
pub(super) fn get_kernel(
    opened: &Arrays<'_>,
    prefix: &str,
    settings: &Settings,
    options: &KernelOptions,
) -> Result<KernelMachine, StoreError> {
    let name = |part: &str| format!("{prefix}kernel.{part}");
    let KernelOptions { kernel, combine, .. } = *options;
    // The weights are zero: they tell how many features there are.
    let columns = get_theta(opened, &format!("{prefix}theta"), settings)?.weights.len();
    let bias_input = settings.bias.input();
    let damaged = |what: &str| StoreError::Damaged(what.to_string());
    let complete = match opened.i8s(&name("complete"))?.as_slice() {
        [0] => false,
        [1] => true,
        _ => return Err(damaged("its support rows are neither complete nor not")),
    };
    let offsets = opened.u64s(&name("offsets"))?;
    let offsets: Vec<usize> =
        offsets.into_iter().map(|offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect();
    let (indices, values) = (opened.u32s(&name("indices"))?, opened.f64s(&name("values"))?);
    let terms = match combine {
        Combine::Last | Combine::Average => Terms::Sum(opened.f64s(&name("coefficients"))?),
        Combine::Vote => {
            let (rows, sizes) = (opened.u32s(&name("rows"))?, opened.f64s(&name("sizes"))?);
            if rows.len() != sizes.len() {
                return Err(damaged("it has updates without a size"));
            }
            let survivals = opened.u64s(&name("survivals"))?;
            Terms::Votes { sequence: rows.into_iter().zip(sizes).collect(), survivals }
        }
    };
    let support = Support { offsets, indices, values, squares: Vec::new(), complete };
    let mut machine = KernelMachine::from_parts(kernel, combine, (columns, bias_input), support, terms);
    if !machine.is_consistent(columns) {
        return Err(damaged("its support rows do not fit together"));
    }
    machine.measure();
    Ok(machine)
}

impl Support {
    /// Computes ‖x‖² of each row anew.
    pub(super) fn measure(&mut self) {
        let rows = self.offsets.windows(2);
        self.squares = rows
            .map(|pair| {
                square(Row::SparseF64(&self.indices[pair[0]..pair[1]], &self.values[pair[0]..pair[1]]))
            })
            .collect();
    }
}
