//! The step schedules that the batch perceptron and gradient descent share.

use super::options::Options;
use super::registry::{Choice, NumberRange, OptionDescriptor, OptionKind};
use crate::SettingsError;

pub(crate) const CONSTANT: Choice = Choice { name: "constant", help: "The same in every step" };
pub(crate) const INVERSE: Choice = Choice { name: "1/k", help: "η/k in step k" };
pub(crate) const INVERSE_ROOT: Choice = Choice { name: "1/sqrt-k", help: "η/√k in step k" };
pub(crate) const POWER: Choice = Choice { name: "power", help: "η/k^p in step k, with p from ⟦power⟧" };

/// The powers for which the steps neither grow nor add up to a finite sum.
pub(crate) const POWERS: NumberRange = NumberRange::from_to(0.0, 1.0);

pub(crate) const POWER_OPTION: OptionDescriptor = OptionDescriptor {
    name: "power",
    symbol: "p",
    kind: OptionKind::Number(POWERS),
    auto: None,
    default: "",
    help: "the power p of ⟦schedule=power⟧",
};

/// The p of a schedule that is a power, by whichever name it is given.
pub(crate) fn power(given: &Options) -> Result<Option<f64>, SettingsError> {
    match (given.text("schedule"), given.number("power")) {
        (Some("1/k"), None) => Ok(Some(1.0)),
        (Some("1/sqrt-k"), None) => Ok(Some(0.5)),
        (Some("power") | None, Some(p)) => Ok(Some(p)),
        (Some("power"), None) => {
            Err(SettingsError::new("power", "⟦schedule=power⟧ needs ⟦power=p⟧, from 0 to 1"))
        }
        (Some(_), Some(_)) => Err(SettingsError::new("power", "⟦power⟧ belongs to ⟦schedule=power⟧")),
        (_, None) => Ok(None),
    }
}
