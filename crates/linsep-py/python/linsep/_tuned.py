"""The search of `linsep tune` as an estimator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from linsep import _engine
from linsep._base import WeightedClassifier
from linsep._functions import Metric, Tuned, tune_spec
from linsep._model import Model

if TYPE_CHECKING:
    from typing_extensions import Self


class TunedClassifier(WeightedClassifier):
    """Searches preparation, learner and penalty by cross-validation, and learns the best way from all rows.

    Parameters
    ----------
    metric : default 'error'
        By what candidates are judged: 'error', 'balanced-error', 'auc', 'log-loss' or 'f1'.
        With 'error', the log loss chooses C for each way to prepare the rows, and the error among these.
    folds : default 5
        Into how many parts the rows are dealt, each held out in turn.
    max_seconds : default None
        The search ends after so many seconds with the best so far.
    judging : default 'nested'
        How the error on new rows is measured: 'nested', 'aside' or 'none'.
    simpler : default 0.0
        A simpler candidate is taken if it is worse than the best by no more than this many standard errors.
    bias : default 'append'
        Whether the boundary may miss the origin. 'append' or 'none'.
    bias_scale : default None
        The value of the appended coordinate; None for 1.
    class_weight : default None
        How much the rows of each class count: 'balanced', or a dict from class to weight; None for once.
    seed : default 0
        The seed of folds and of rows kept aside.

    Attributes
    ----------
    tuned_ : linsep.Tuned
        What was tried, what was chosen, and the estimated error on new rows.

    All others are those of the learner that was chosen.
    """

    _learner: ClassVar[str] = "tuned"

    tuned_: Tuned

    def __init__(
        self,
        *,
        metric: Metric = "error",
        folds: int = 5,
        max_seconds: float | None = None,
        judging: Literal["nested", "aside", "none"] = "nested",
        simpler: float = 0.0,
        bias: Literal["append", "none"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        seed: int = 0,
    ) -> None:
        self.metric = metric
        self.folds = folds
        self.max_seconds = max_seconds
        self.judging = judging
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
            judging=self.judging,
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
        self._remember(model, trained, labels, text)
        self.tuned_ = Tuned(found, text, Model(model))
        return self

    def _may_have_probabilities(self) -> bool:
        return self.metric == "log-loss"
