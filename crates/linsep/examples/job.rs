//! A training job as a value: what `linsep train DATA -o MODEL --scale standard --holdout 0.25` does.

#![allow(clippy::print_stdout, reason = "the result is printed")]

use linsep::job::TrainSpec;
use linsep::scale::Scaling;

fn main() -> Result<(), linsep::Error> {
    let mut arguments = std::env::args().skip(1);
    let (Some(data), Some(model)) = (arguments.next(), arguments.next()) else { return Ok(()) };
    let spec = TrainSpec {
        output: Some(model.into()),
        scale: Some(Scaling::Standard),
        holdout: Some(0.25),
        ..TrainSpec::file(data)
    };
    let trained = spec.run(&mut ())?;
    println!("{} rows, {:?}", trained.model.evidence.examples, trained.status);
    Ok(())
}
