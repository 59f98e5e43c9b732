"""A linear classifier you can trust: it trains at the speed of memory, and its claims come with proof.

The estimators are shaped like those of scikit-learn, which is an optional dependency. After `fit`, each has the proved
facts about its run: whether it converged, the interval of the best margin, the bound on mistakes.

Estimators
    `Perceptron`, `AveragedPerceptron`, `VotedPerceptron`, `MarginPerceptron`, `BatchPerceptron`, `PocketPerceptron`,
    `LiftedPerceptron`, `KernelPerceptron`, `MulticlassPerceptron`, `SGDClassifier`, `PassiveAggressiveClassifier`,
    `LinearSVM`, `LogisticRegression`, `MaxMarginClassifier`, `Memoriser`, and `TunedClassifier`, which chooses
    features, learner and penalty.
Functions
    `separate` decides with proof whether a boundary can separate the classes, `verify` checks the proof,
    `check_separation` looks before a logistic regression; `compare`, `tune` and `theory` are the commands of the same
    names; `read` reads files, `load` opens models.
Plots, with matplotlib
    `plot_trace`, `plot_boundary`, `plot_compare`, `plot_calibration`, `plot_separation`.
Training in parts
    `State` learns batches, is forked, merged, pickled; `shard_orders` gives the rows of each process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linsep._engine import __version__

if TYPE_CHECKING:
    from linsep._data import Data
    from linsep._export import ExportWarning, OnnxFile
    from linsep._functions import Comparison, TheoryReport, Tuned, compare, load, read, theory, tune
    from linsep._inspect import Evaluation
    from linsep._model import Model
    from linsep._plot_separation import plot_separation
    from linsep._plot_trace import plot_trace
    from linsep._plots import plot_boundary, plot_calibration, plot_compare
    from linsep._scikit_learn import ConvergenceWarning
    from linsep._separation import (
        Separation,
        SeparationError,
        SeparationTable,
        SeparationWarning,
        Verification,
        check_separation,
        separate,
        verify,
    )
    from linsep._state import State, shard_orders
    from linsep._tuned import TunedClassifier
    from linsep.estimators import (
        AveragedPerceptron,
        BatchPerceptron,
        KernelPerceptron,
        LiftedPerceptron,
        LinearSVM,
        LogisticRegression,
        MarginPerceptron,
        MaxMarginClassifier,
        Memoriser,
        MulticlassPerceptron,
        PassiveAggressiveClassifier,
        Perceptron,
        PocketPerceptron,
        SGDClassifier,
        VotedPerceptron,
    )

#: Where each name is. Modules are imported when a name is first asked for: the program, which `pip` installs with the
#: package, needs none of them.
_HOMES = {
    "_data": ["Data"],
    "_export": ["ExportWarning", "OnnxFile"],
    "_functions": ["Comparison", "TheoryReport", "Tuned", "compare", "load", "read", "theory", "tune"],
    "_inspect": ["Evaluation"],
    "_model": ["Model"],
    "_plot_separation": ["plot_separation"],
    "_plot_trace": ["plot_trace"],
    "_plots": ["plot_boundary", "plot_calibration", "plot_compare"],
    "_scikit_learn": ["ConvergenceWarning"],
    "_separation": [
        "Separation",
        "SeparationError",
        "SeparationTable",
        "SeparationWarning",
        "Verification",
        "check_separation",
        "separate",
        "verify",
    ],
    "_state": ["State", "shard_orders"],
    "_tuned": ["TunedClassifier"],
    "estimators": [
        "AveragedPerceptron",
        "BatchPerceptron",
        "KernelPerceptron",
        "LiftedPerceptron",
        "LinearSVM",
        "LogisticRegression",
        "MarginPerceptron",
        "MaxMarginClassifier",
        "Memoriser",
        "MulticlassPerceptron",
        "PassiveAggressiveClassifier",
        "Perceptron",
        "PocketPerceptron",
        "SGDClassifier",
        "VotedPerceptron",
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AveragedPerceptron",
    "BatchPerceptron",
    "Comparison",
    "ConvergenceWarning",
    "Data",
    "Evaluation",
    "ExportWarning",
    "KernelPerceptron",
    "LiftedPerceptron",
    "LinearSVM",
    "LogisticRegression",
    "MarginPerceptron",
    "MaxMarginClassifier",
    "Memoriser",
    "Model",
    "MulticlassPerceptron",
    "OnnxFile",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PocketPerceptron",
    "SGDClassifier",
    "Separation",
    "SeparationError",
    "SeparationTable",
    "SeparationWarning",
    "State",
    "TheoryReport",
    "Tuned",
    "TunedClassifier",
    "Verification",
    "VotedPerceptron",
    "__version__",
    "check_separation",
    "compare",
    "load",
    "plot_boundary",
    "plot_calibration",
    "plot_compare",
    "plot_separation",
    "plot_trace",
    "read",
    "separate",
    "shard_orders",
    "theory",
    "tune",
    "verify",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"linsep.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
