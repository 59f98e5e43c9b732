//! Models as files: safetensors with versioned metadata.

use super::Model;
use crate::Error;
use crate::classes::ClassPair;
use crate::read::{ColumnKind, Schema};
use crate::scale::{Scaler, Scaling};
use crate::store::{self, Opened, StoreError, Tensors};
use crate::theta::Theta;
use crate::train::checkpoint::{get_theta, get_votes, put_theta, put_votes};
use crate::train::{Ballot, Evidence, Learned, Learner, Settings};
use serde::{Deserialize, Serialize};
use std::path::Path;

const KIND: &str = "model";

/// What a model file holds beside its arrays.
#[derive(Serialize, Deserialize)]
struct Content {
    classes: ClassPair,
    schema: Schema,
    scaling: Scaling,
    centred: bool,
    settings: Settings,
    evidence: Evidence,
    fingerprint: Option<String>,
}

impl Model {
    /// Saves the model, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.to_bytes()?;
        store::write_atomically(path, |out| out.write_all(&bytes))
    }

    /// Opens a saved model. A file that is anything else is an error, never a surprise.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self::from_bytes(&store::read_file(path)?)?)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let mut tensors = Tensors::default();
        put_theta(&mut tensors, "theta", self.learned.theta());
        if let Learned::Voted { start, ballot, .. } = &self.learned {
            put_theta(&mut tensors, "start", start);
            put_votes(&mut tensors, ballot.votes());
        }
        let mut centred = false;
        match &self.scaler {
            Scaler::None | Scaler::UnitRows => {}
            Scaler::MaxAbs { divisor } => tensors.put_f64("scale.divisor", divisor),
            Scaler::Standard { mean, divisor } => {
                tensors.put_f64("scale.divisor", divisor);
                if let Some(mean) = mean {
                    tensors.put_f64("scale.mean", mean);
                    centred = true;
                }
            }
        }
        let content = Content {
            classes: self.classes.clone(),
            schema: self.schema.clone(),
            scaling: self.scaler.scaling(),
            centred,
            settings: self.settings.clone(),
            evidence: self.evidence.clone(),
            fingerprint: self.fingerprint.clone(),
        };
        tensors.to_bytes(KIND, &content)
    }

    /// Opens a model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        let opened: Opened<'_, Content> = Opened::open(bytes, KIND)?;
        let Content { settings, schema, .. } = &opened.content;
        let damaged = |what: &str| StoreError::Damaged(what.to_string());
        let theta = get_theta(&opened, "theta", settings)?;
        let columns = theta.weights.len();
        check_schema(schema, columns)?;
        let learned = match settings.learner {
            Learner::Perceptron | Learner::Averaged => Learned::Linear(theta),
            Learner::Voted => {
                let (start, votes) = (get_theta(&opened, "start", settings)?, get_votes(&opened)?);
                if start.weights.len() != columns || !votes.is_consistent(columns) {
                    return Err(damaged("its votes do not fit together"));
                }
                Learned::Voted { start, last: theta, ballot: Box::new(Ballot::new(votes, columns)) }
            }
        };
        let numbers = |name: &str| -> Result<Vec<f64>, StoreError> {
            let values = opened.f64s(name)?;
            let usable = values.len() == columns && values.iter().all(|x| x.is_finite());
            usable.then_some(values).ok_or_else(|| damaged("its scaling does not fit its weights"))
        };
        let divisor = || -> Result<Vec<f64>, StoreError> {
            let divisor = numbers("scale.divisor")?;
            let usable = divisor.iter().all(|&x| x > 0.0);
            usable.then_some(divisor).ok_or_else(|| damaged("its scaling divides by zero"))
        };
        let scaler = match opened.content.scaling {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            Scaling::MaxAbs => Scaler::MaxAbs { divisor: divisor()? },
            Scaling::Standard => Scaler::Standard {
                mean: if opened.content.centred { Some(numbers("scale.mean")?) } else { None },
                divisor: divisor()?,
            },
        };
        if opened.content.classes.negative.is_empty() {
            return Err(damaged("it names no negative class"));
        }
        let content = opened.content;
        let mut settings = content.settings;
        if let crate::train::Init::Warm(start) = &mut settings.init {
            // The start itself is not kept: only that there was one.
            *start = Theta::default();
        }
        Ok(Self {
            learned,
            classes: content.classes,
            schema: content.schema,
            scaler,
            settings,
            evidence: content.evidence,
            fingerprint: content.fingerprint,
        })
    }
}

/// Checks that every feature that the schema speaks of has a weight.
fn check_schema(schema: &Schema, columns: usize) -> Result<(), StoreError> {
    let damaged = |what: &str| Err(StoreError::Damaged(what.to_string()));
    if schema.features() != columns {
        return damaged("it has another number of features than of weights");
    }
    match schema {
        Schema::Numbered { index_base, .. } if *index_base > 1 => {
            damaged("its indices count from neither 0 nor 1")
        }
        Schema::Table { columns: table, .. } => {
            let known = table.iter().all(|column| match &column.kind {
                ColumnKind::Number { feature, fill } => *feature < columns && fill.is_none_or(f64::is_finite),
                ColumnKind::Words { words, .. } => words.iter().all(|&(_, feature)| feature < columns),
                ColumnKind::Label | ColumnKind::Ignored => true,
            });
            if known { Ok(()) } else { damaged("a column speaks of a feature without a weight") }
        }
        _ => Ok(()),
    }
}
