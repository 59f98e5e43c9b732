//! The extension module `linsep._engine`: a thin door on the library.
//!
//! Specifications come in as JSON, records go out as JSON, and rows, models and states are handles. The shape of
//! scikit-learn, the conversions of frames and all ergonomics are Python, in `python/linsep`.
//!
//! | file | what |
//! |---|---|
//! | `rows.rs` | arrays of NumPy and SciPy, tables and files as rows; nothing is copied where the layout allows it |
//! | `table.rs` | columns of frames as the text of a table |
//! | `jobs.rs` | train, tune, separate, verify, compare, theory |
//! | `model.rs` | labels, scores, probabilities; why, and how good they are; save and load |
//! | `export.rs` | models as ONNX, what 32 bits change |
//! | `state.rs` | the mergeable state of learners that go row by row |
//! | `registry.rs` | the learners and the settings that they share, as data |
//! | `watch.rs` | running a job without the interpreter: Ctrl-C, notes, history |
//! | `errors.rs` | errors of the library as exceptions, with settings spelled as parameters |

// Pointers into arrays of NumPy need it, in rows.rs.
#![deny(unsafe_code)]
// What Python sees is documented in python/linsep/_engine.pyi; nothing here is seen from Rust.
#![allow(unreachable_pub, reason = "the functions are public for the module that Python imports")]

mod errors;
mod export;
mod jobs;
mod model;
mod registry;
mod rows;
mod state;
mod table;
mod watch;

/// The engine.
#[pyo3::pymodule(gil_used = false)]
mod _engine {
    #[pymodule_export]
    use crate::errors::{doors, spelled_at};
    #[pymodule_export]
    use crate::export::{onnx, rounded, rounding, rounding_of_table, scaled_weights, write_file};
    #[pymodule_export]
    use crate::jobs::{compare, separate, theory, train, tune, verify};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::registry::{class_keys, class_names, commands, learners, settings};
    #[pymodule_export]
    use crate::rows::{Rows, check_memory};
    #[pymodule_export]
    use crate::state::{State, shard_orders};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::watch::main;
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        linsep::read::silence_guarded_panics();
        Ok(())
    }
}
