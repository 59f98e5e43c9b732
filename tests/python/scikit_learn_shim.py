"""linsep's estimators under the names and parameters of scikit-learn, to run scikit-learn's own tests on them.

Each class is linsep's estimator; only the names and values of its parameters are translated, when a specification is made
of them, and the words of a `ConvergenceWarning`, which differ from solver to solver. Features are not scaled, as scikit-learn
does not scale. A value for which linsep has no feature raises `Missing`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import linsep
import numpy as np
from sklearn.utils import check_random_state


class Missing(Exception):
    """What linsep has no feature for. No error that a test could expect, so that it is never taken for one."""

    #: What was missing since a test began, also where the test caught the exception.
    seen: ClassVar[list[str]] = []

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Missing.seen.append(what)


class Shim:
    """An estimator whose parameters are scikit-learn's."""

    #: The estimator of linsep that it is.
    ours: ClassVar[type]
    #: Parameters of which linsep has the default alone, with what the other values ask for.
    only: ClassVar[dict[str, tuple[Any, str]]] = {}
    #: How many estimators were made since a test began.
    made: ClassVar[int] = 0
    #: What scikit-learn says of a run that has not converged.
    unfinished: ClassVar[str] = ""

    scale = "none"
    probabilities = False
    shards = None

    def translated(self) -> dict[str, Any]:
        """The parameters of linsep."""
        for name, (usual, what) in self.only.items():
            value = getattr(self, name)
            if value is not usual and value != usual:
                raise Missing(what)
        return {"bias": "append" if self.fit_intercept else "none", "scale": "none", "class_weight": self.class_weight}

    def _spec(self) -> dict[str, Any]:
        return self.ours(**self.translated())._spec()

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = super()._fit(X, y, sample_weight)
        for warning in caught:
            own = issubclass(warning.category, linsep.ConvergenceWarning)
            text = f"{self.unfinished}: {warning.message}" if own else str(warning.message)
            warnings.warn(text, warning.category, stacklevel=3)
        return fitted


def seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def gap_of(tol: float, smallest: float) -> float:
    """A gradient of the size of `tol` leaves the objective as far from its optimum as the square of it."""
    return min(max(tol * tol, smallest), 0.5) if isinstance(tol, (int, float)) else tol


class RowByRow(Shim):
    """Those that go through the rows one after the other."""

    only: ClassVar[dict[str, tuple[Any, str]]] = {
        "early_stopping": (False, "early_stopping: to stop when the error of held-out rows no longer falls"),
        "verbose": (0, "verbose: to print progress from Python"),
    }

    def translated(self) -> dict[str, Any]:
        if self.tol is not None and self.tol != 1e-3:
            # None is linsep's rule, and the default is left to it.
            raise Missing("tol: to stop when the loss of the training rows no longer falls")
        return super().translated() | {
            "epochs": self.max_iter,
            "order": "shuffle" if self.shuffle else "given",
            "seed": seed(self.random_state),
        }

    def _start(self) -> Any:
        learned = self.__dict__.get("_learned")
        if self.warm_start and learned is not None and not learned.model.two_sides:
            raise Missing("warm_start: to fit from the weights of more than two classes")
        return super()._start()

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        if coef_init is not None or intercept_init is not None:
            raise Missing("coef_init, intercept_init: to fit from given weights")
        return super().fit(X, y, sample_weight)


class Perceptron(RowByRow, linsep.Perceptron):
    ours = linsep.Perceptron

    def __init__(
        self, *, penalty=None, alpha=0.0001, l1_ratio=0.15, fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True,
        verbose=0, eta0=1.0, n_jobs=None, random_state=0, early_stopping=False, validation_fraction=0.1,
        n_iter_no_change=5, class_weight=None, warm_start=False,
    ):  # fmt: skip
        keep(self, locals())

    only = RowByRow.only | {
        "penalty": (None, "penalty: a perceptron with a penalty"),
        "eta0": (1.0, "eta0: steps of a perceptron that are not 1"),
    }


class SGDClassifier(RowByRow, linsep.SGDClassifier):
    ours = linsep.SGDClassifier
    losses: ClassVar[dict[str, str]] = {
        "hinge": "hinge", "log_loss": "log", "perceptron": "perceptron", "squared_error": "squared",
    }  # fmt: skip
    #: Of scikit-learn, which tests go through.
    loss_functions: ClassVar[dict[str, Any]] = dict.fromkeys([
        "hinge", "squared_hinge", "perceptron", "log_loss", "modified_huber", "squared_error", "huber",
        "epsilon_insensitive", "squared_epsilon_insensitive",
    ])  # fmt: skip

    def __init__(
        self, loss="hinge", *, penalty="l2", alpha=0.0001, l1_ratio=0.15, fit_intercept=True, max_iter=1000, tol=1e-3,
        shuffle=True, verbose=0, epsilon=0.1, n_jobs=None, random_state=None, learning_rate="optimal", eta0=0.01,
        power_t=0.5, early_stopping=False, validation_fraction=0.1, n_iter_no_change=5, class_weight=None,
        warm_start=False, average=False,
    ):  # fmt: skip
        keep(self, locals())

    def translated(self) -> dict[str, Any]:
        if self.loss in self.loss_functions and self.loss not in self.losses:
            raise Missing(f"loss: {self.loss} by SGD")
        if self.penalty in ("l1", "elasticnet"):
            raise Missing(f"penalty: {self.penalty} by SGD")
        if self.learning_rate in ("adaptive", "pa1", "pa2"):
            raise Missing(f"learning_rate: {self.learning_rate} by SGD")
        if self.average not in (False, True):
            raise Missing("average: a mean from a given row on")
        steps = {
            # 1 / (alpha (t + t0)) is eta / (1 + eta alpha t) with eta = 1 / (alpha t0), which scikit-learn chooses so.
            "optimal": {"schedule": "shrinking", "step": self.alpha**-0.25 if self.alpha > 0 else "auto"},
            "constant": {"schedule": "constant", "step": self.eta0},
            "invscaling": {"schedule": "power", "step": self.eta0, "power": self.power_t},
        }.get(self.learning_rate, {"schedule": self.learning_rate})
        return super().translated() | steps | {
            "loss": self.losses.get(self.loss, self.loss),
            "l2": 0 if self.penalty is None else self.alpha,
            "combine": "average" if self.average else "last",
        }

    def _may_have_probabilities(self) -> bool:
        return self.losses.get(self.loss) == "log"


class PassiveAggressiveClassifier(RowByRow, linsep.PassiveAggressiveClassifier):
    ours = linsep.PassiveAggressiveClassifier

    def __init__(
        self, *, C=1.0, fit_intercept=True, max_iter=1000, tol=1e-3, early_stopping=False, validation_fraction=0.1,
        n_iter_no_change=5, shuffle=True, verbose=0, loss="hinge", n_jobs=None, random_state=None, warm_start=False,
        class_weight=None, average=False,
    ):  # fmt: skip
        keep(self, locals())

    def translated(self) -> dict[str, Any]:
        if self.average not in (False, True):
            raise Missing("average: a mean from a given row on")
        return super().translated() | {
            "aggression": {"hinge": "capped", "squared_hinge": "softened"}.get(self.loss, self.loss),
            "C": self.C,
            "combine": "average" if self.average else "last",
        }


class LinearSVC(Shim, linsep.LinearSVM):
    ours = linsep.LinearSVM
    unfinished = "Liblinear failed to converge, increase the number of iterations."
    only: ClassVar[dict[str, tuple[Any, str]]] = {
        "penalty": ("l2", "penalty: an l1 penalty of a support vector machine"),
        "multi_class": ("ovr", "multi_class: the machine of Crammer and Singer"),
        "verbose": (0, "verbose: to print progress from Python"),
    }

    def __init__(
        self, penalty="l2", loss="squared_hinge", *, dual="auto", tol=1e-4, C=1.0, multi_class="ovr", fit_intercept=True,
        intercept_scaling=1, class_weight=None, verbose=0, random_state=None, max_iter=1000,
    ):  # fmt: skip
        # `dual` chooses the way to one and the same optimum.
        keep(self, locals())

    def translated(self) -> dict[str, Any]:
        return super().translated() | {
            "loss": {"squared_hinge": "squared-hinge"}.get(self.loss, self.loss),
            "C": self.C,
            "gap": gap_of(self.tol, 1e-12),
            "epochs": self.max_iter,
            "bias_scale": self.intercept_scaling if self.fit_intercept else None,
            "seed": seed(self.random_state),
        }


class LogisticRegression(Shim, linsep.LogisticRegression):
    ours = linsep.LogisticRegression
    unfinished_by: ClassVar[dict[str, str]] = {
        "lbfgs": "lbfgs failed to converge",
        "liblinear": "Liblinear failed to converge, increase the number of iterations.",
        "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
        "newton-cholesky": "Newton solver did not converge after 1 iterations",
        "sag": "The max_iter was reached which means the coef_ did not converge",
        "saga": "The max_iter was reached which means the coef_ did not converge",
    }
    only: ClassVar[dict[str, tuple[Any, str]]] = {
        "warm_start": (False, "warm_start: to fit from the weights of the last fit"),
        "verbose": (0, "verbose: to print progress from Python"),
        "intercept_scaling": (1, "intercept_scaling: logistic regression with a penalty on the intercept"),
    }

    def __init__(
        self, penalty="deprecated", *, C=1.0, l1_ratio=0.0, dual=False, tol=1e-4, fit_intercept=True,
        intercept_scaling=1, class_weight=None, random_state=None, solver="lbfgs", max_iter=100, verbose=0,
        warm_start=False, n_jobs=None,
    ):  # fmt: skip
        # `solver` and `dual` choose the way to one and the same optimum.
        keep(self, locals())

    @property
    def unfinished(self) -> str:
        return self.unfinished_by[self.solver]

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        # One solver takes no float32.
        wide = self.solver == "liblinear" and getattr(X, "dtype", None) == np.float32
        return super()._fit(X.astype(np.float64) if wide else X, y, sample_weight)

    def translated(self) -> dict[str, Any]:
        if self.penalty == "deprecated":
            ratio = self.l1_ratio
            penalty = "none" if self.C == math.inf else {0: "l2", None: "l2", 1: "l1"}.get(ratio, "elastic-net")
            l1_ratio = ratio if penalty == "elastic-net" else None
        else:
            penalty = {"elasticnet": "elastic-net", None: "none"}.get(self.penalty, self.penalty)
            l1_ratio = self.l1_ratio if penalty == "elastic-net" or self.l1_ratio != 0.0 else None
        found = super().translated() | {
            "penalty": penalty,
            "gap": gap_of(self.tol, 1e-12),
            "epochs": self.max_iter,
            "seed": seed(self.random_state),
        }
        if self.C != math.inf:
            found["C"] = self.C
        if l1_ratio is not None:
            found["l1_ratio"] = l1_ratio
        return found


class LogisticRegressionCV(Shim, linsep.LogisticRegression):
    """Without a counterpart: `linsep.TunedClassifier` searches by its own rules, without folds and scores of scikit-learn."""

    def __init__(
        self, *, Cs=10, l1_ratios="warn", fit_intercept=True, cv=None, dual=False, penalty="deprecated", scoring=None,
        solver="lbfgs", tol=1e-4, max_iter=100, class_weight=None, n_jobs=None, verbose=0, refit=True,
        intercept_scaling=1.0, random_state=None, use_legacy_attributes="warn",
    ):  # fmt: skip
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        raise Missing("LogisticRegressionCV: a search of C within the estimator")


def keep(estimator: Any, parameters: dict[str, Any]) -> None:
    """Stores the parameters as they were given, as every estimator does."""
    Shim.made += 1
    for name, value in parameters.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


ESTIMATORS = {
    "sklearn.linear_model": (
        Perceptron, SGDClassifier, PassiveAggressiveClassifier, LogisticRegression, LogisticRegressionCV,
    ),
    "sklearn.svm": (LinearSVC,),
}  # fmt: skip
