//! Comparison of learners.

use super::report::blocks;
use crate::data::DataSet;
use crate::results::Kept;
use crate::server::App;
use crate::watch::{Listener, Watch};
use linsep::Error;
use linsep::job::{CompareSpec, Spec};
use linsep::report::compare_report;
use serde_json::{Value, json};

pub(super) fn run(
    app: &App,
    set: &DataSet,
    spec: CompareSpec,
    id: String,
    listener: &Listener,
) -> Result<(Value, Kept), Error> {
    let job = CompareSpec { data: set.to_learn(), ..spec.clone() };
    let comparison = job.run(&mut Watch::new(listener))?;
    if listener.is_gone() {
        return Err(Error::Interrupted);
    }
    let result = json!({
        "job": "compare",
        "record": comparison,
        "report": blocks(app, &compare_report(&comparison, &set.name, &job)),
    });
    let classes = set.weighted(spec.classes.clone());
    let spec = Spec::Compare(CompareSpec { data: set.as_file(), classes, ..spec });
    let name = set.name.clone();
    Ok((result, Kept { id, name, spec, model: None, trace: None, certificate: None, drawing: Vec::new() }))
}
