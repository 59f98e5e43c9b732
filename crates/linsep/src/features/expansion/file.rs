//! An expansion in the file of a model, and back. Nothing of a file is believed before it is checked.

use super::Expansion;
use super::pairs::{Factor, Products};
use super::splines::Splines;
use crate::store::{Arrays, StoreError, Tensors};

/// Puts an expansion among the arrays.
pub(crate) fn put_expansion<'a>(tensors: &mut Tensors<'a>, expansion: &'a Expansion) {
    let Expansion { splines, products, .. } = expansion;
    if !splines.is_empty() {
        let numbers = |number: fn(&Splines) -> u32| splines.iter().map(number);
        tensors.put_u32("splines.feature", numbers(|splines| splines.feature as u32));
        tensors.put_u32("splines.knots", numbers(|splines| splines.standard_knots().len() as u32));
        tensors.put_u32("splines.count", numbers(|splines| splines.count() as u32));
        let sizes = splines
            .iter()
            .flat_map(|splines| [splines.mean, splines.deviation, splines.range[0], splines.range[1]]);
        tensors.put_f64("splines.size", sizes.collect::<Vec<f64>>().into_iter());
        let knots = splines.iter().flat_map(|splines| splines.standard_knots().iter().copied());
        tensors.put_f64("splines.knot", knots.collect::<Vec<f64>>().into_iter());
        let values = splines.iter().flat_map(|splines| splines.values().iter().flatten().copied());
        tensors.put_f64("splines.value", values.collect::<Vec<f64>>().into_iter());
    }
    if !products.pairs.is_empty() {
        let Products { factors, pairs, .. } = products;
        tensors.put_u32("factors.feature", factors.iter().map(|factor| factor.feature as u32));
        tensors.put_f64("factors.centre", factors.iter().map(|factor| factor.centre));
        tensors.put_f64("factors.scale", factors.iter().map(|factor| factor.scale));
        tensors.put_u32("products.first", pairs.iter().map(|pair| pair[0]));
        tensors.put_u32("products.second", pairs.iter().map(|pair| pair[1]));
    }
}

/// Opens the expansion of rows with `inputs` features; `splines` and `products` say which parts it has.
pub(crate) fn get_expansion(
    opened: &Arrays<'_>,
    inputs: usize,
    (has_splines, has_products): (bool, bool),
    candidates: u64,
) -> Result<Expansion, StoreError> {
    let splines = if has_splines { get_splines(opened, inputs)? } else { Vec::new() };
    let products = if has_products { get_products(opened, inputs, candidates)? } else { Products::default() };
    Ok(Expansion::new(inputs, splines, products))
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_string())
}

fn get_splines(opened: &Arrays<'_>, inputs: usize) -> Result<Vec<Splines>, StoreError> {
    let wrong = || damaged("its spline features are inconsistent");
    let features = opened.u32s("splines.feature")?;
    let (knots, counts) = (opened.u32s("splines.knots")?, opened.u32s("splines.count")?);
    let (sizes, all_knots, all_values) =
        (opened.f64s("splines.size")?, opened.f64s("splines.knot")?, opened.f64s("splines.value")?);
    let fits = !features.is_empty()
        && knots.len() == features.len()
        && counts.len() == features.len()
        && sizes.len() == 4 * features.len()
        && features.windows(2).all(|pair| pair[0] < pair[1])
        && features.last().is_some_and(|&last| (last as usize) < inputs);
    if !fits {
        return Err(wrong());
    }
    let (mut rest_of_knots, mut rest_of_values) = (&all_knots[..], &all_values[..]);
    let mut splines = Vec::new();
    for (place, &feature) in features.iter().enumerate() {
        let (length, count) = (knots[place] as usize, counts[place] as usize);
        let own_knots = rest_of_knots.split_off(..length).ok_or_else(wrong)?;
        let size = length.checked_mul(count).ok_or_else(wrong)?;
        let own_values = rest_of_values.split_off(..size).ok_or_else(wrong)?;
        let values = own_values.chunks(length.max(1)).map(<[f64]>::to_vec).collect();
        let [mean, deviation, low, high] = [0, 1, 2, 3].map(|part| sizes[4 * place + part]);
        let own = Splines::new(feature as usize, (mean, deviation), [low, high], own_knots.to_vec(), values);
        splines.push(own.ok_or_else(wrong)?);
    }
    if !rest_of_knots.is_empty() || !rest_of_values.is_empty() {
        return Err(wrong());
    }
    Ok(splines)
}

fn get_products(opened: &Arrays<'_>, inputs: usize, candidates: u64) -> Result<Products, StoreError> {
    let features = opened.u32s("factors.feature")?;
    let (centres, scales) = (opened.f64s("factors.centre")?, opened.f64s("factors.scale")?);
    let (first, second) = (opened.u32s("products.first")?, opened.u32s("products.second")?);
    let fits = !first.is_empty()
        && first.len() == second.len()
        && centres.len() == features.len()
        && scales.len() == features.len()
        && features.windows(2).all(|pair| pair[0] < pair[1])
        && features.last().is_some_and(|&last| (last as usize) < inputs)
        && first.iter().chain(&second).all(|&factor| (factor as usize) < features.len())
        && centres.iter().all(|x| x.is_finite())
        && scales.iter().all(|&x| x.is_finite() && x > 0.0);
    if !fits {
        return Err(damaged("its product features are inconsistent"));
    }
    let factors = features.iter().zip(centres).zip(scales);
    let factors =
        factors.map(|((&feature, centre), scale)| Factor { feature: feature as usize, centre, scale });
    let pairs = first.into_iter().zip(second).map(|(first, second)| [first, second]).collect();
    Ok(Products { factors: factors.collect(), pairs, candidates })
}
