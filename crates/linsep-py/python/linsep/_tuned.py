"""The search of `linsep tune` as an estimator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from linsep import _engine
from linsep._data import number_type
from linsep._base import WeightedClassifier
from linsep._functions import Tuned, tune_spec
from linsep._model import Model
from linsep._settings import Judge, Metric

if TYPE_CHECKING:
    from typing_extensions import Self


class TunedClassifier(WeightedClassifier):
    """Searches preparation, learner and penalty by cross-validation, and trains the best candidate on all rows.

    Parameters
    ----------
    metric : default 'error'
        The metric of candidates: 'error', 'balanced-error', 'auc', 'log-loss' or 'f1'.
        With 'error', C is chosen by log loss (less noisy), the features by error.
    folds : default 5
        The number of folds of the cross-validation.
    max_seconds : default None
        Stop the search after this many seconds, with the best candidate so far.
    judge : default 'auto'
        How the error on new rows is estimated: 'nested' repeats the whole search in each of five outer folds, 'aside' sets a fifth of
        the rows aside, 'auto' is 'nested' for few rows and 'aside' for many, 'none' leaves it out.
    simpler : default 0.0
        A simpler candidate is taken if it is worse than the best by no more than this many standard errors.
    bias : default 'append'
        Whether the boundary has a bias, or goes through the origin. 'append' or 'none'.
    bias_scale : default None
        The value of the appended coordinate; None for 1.
    class_weight : default None
        The weight of the rows of each class: 'balanced', or a dict from class to weight; None for 1.
    seed : default 0
        The seed of the folds and of held-out rows.

    Attributes
    ----------
    tuned_ : linsep.Tuned
        The candidates, the choice, and the estimated error on new rows.

    All other attributes are those of the chosen learner.
    """

    _learner: ClassVar[str] = "tuned"

    tuned_: Tuned

    def __init__(
        self,
        *,
        metric: Metric = "error",
        folds: int = 5,
        max_seconds: float | None = None,
        judge: Judge = "auto",
        simpler: float = 0.0,
        bias: Literal["append", "none"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        seed: int = 0,
    ) -> None:
        self.metric = metric
        self.folds = folds
        self.max_seconds = max_seconds
        self.judge = judge
        self.simpler = simpler
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.seed = seed

    def _train(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, labels, data = self._training_rows(X, y, sample_weight)
        spec = tune_spec(
            data,
            metric=self.metric,
            folds=self.folds,
            max_seconds=self.max_seconds,
            judge=self.judge,
            simpler=self.simpler,
            bias=self.bias,
            bias_scale=self.bias_scale,
            positive=None,
            class_weight=self.class_weight,
            seed=self.seed,
        )
        model, record, text = _engine.tune(rows, json.dumps(spec))
        found = json.loads(record)
        trained = dict(found["model"])
        trained["notes"] = list(found.get("notes", []))
        self._remember(model, trained, labels, text, number_type(X))
        self.tuned_ = Tuned(found, text, Model(model))
        return self

    def _may_have_probabilities(self) -> bool:
        return self.metric == "log-loss"
