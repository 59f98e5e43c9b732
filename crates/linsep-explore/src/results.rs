//! The results of jobs, kept for a while so that a page can draw and save them.

use linsep::Model;
use linsep::job::Spec;
use linsep::theory::trace::TracePoint;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The stored results of a finished job.
pub(crate) struct Kept {
    pub(crate) id: String,
    /// The names of its files, without an ending.
    pub(crate) name: String,
    pub(crate) spec: Spec,
    pub(crate) model: Option<Box<Model>>,
    pub(crate) trace: Option<Vec<TracePoint>>,
    pub(crate) certificate: Option<String>,
    /// The arrays of the picture.
    pub(crate) drawing: Vec<u8>,
}

impl Kept {
    fn bytes(&self) -> usize {
        let weights = |point: &TracePoint| point.weights.as_ref().map_or(0, Vec::len);
        let point = |point: &TracePoint| size_of::<TracePoint>() + 8 * weights(point);
        let trace = self.trace.as_ref().map_or(0, |points| points.len() * points.first().map_or(0, point));
        let certificate = self.certificate.as_ref().map_or(0, String::len);
        let model = self.model.as_ref().map_or(0, |model| 24 * model.recipe.features());
        self.drawing.len() + trace + certificate + model
    }
}

const MAX_RESULTS: usize = 400;
const MAX_BYTES: usize = 1 << 30;

/// The results by their ids. The oldest give way.
#[derive(Default)]
pub(crate) struct Results {
    kept: Mutex<VecDeque<Arc<Kept>>>,
}

impl Results {
    pub(crate) fn keep(&self, result: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Arc::new(result));
        let mut held: usize = kept.iter().map(|result| result.bytes()).sum();
        while (held > MAX_BYTES || kept.len() > MAX_RESULTS) && kept.len() > 1 {
            held -= kept.pop_front().map_or(0, |oldest| oldest.bytes());
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Kept>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|result| result.id == id).cloned()
    }
}
