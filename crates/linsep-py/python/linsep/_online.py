"""Estimators whose learner processes one row at a time: `partial_fit`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep import _data, _engine, _labels
from linsep._base import Classifier, WeightedClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


class OnlineClassifier(Classifier):
    """An estimator whose learner processes one row at a time."""

    _state: _engine.State | None
    _names: list[str] | None

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Trains on more rows, in their order, once.

        Calls one after the other give the same model, to the bit, as one `fit` on all their rows with ``epochs=1``,
        ``order="given"`` and ``scale="none"``. The rows are not scaled, because scaling needs all rows. The first call
        after a `fit` starts from zero.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array, optional
            All classes. Required in the first call if its rows have fewer than two classes.
        """
        return self._partial_fit(X, y, classes, None)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        scale = getattr(self, "scale", "none")
        if scale not in ("auto", "none", None):
            raise ValueError(
                f"scale={scale!r}: partial_fit sees each row once and cannot fit a scaling; "
                "scale the rows first, or set scale='none'"
            )
        _data.refuse_words(X, "partial_fit")
        state: _engine.State | None = self.__dict__.get("_state")
        first = state is None
        self._check_columns(X, reset=first)
        labels, names = self._known_labels(y, classes, first)
        rows = _data.rows_of(X, labels, sample_weight)
        if state is None:
            state = _engine.State(json.dumps(self._state_spec()), rows.shape[1], names)
        state.learn(rows)
        if not first and names is None:
            # Classes that turn up later take their place among the others.
            labels = _labels.encode_labels(np.union1d(self.classes_, labels.classes))
        model = state.model()
        record = json.loads(model.evidence())
        record["learner"] = self._learner
        self._remember(model, record, labels, "", _data.number_type(X) if first else self._fitted().kind)
        self._state, self._names = state, names
        return self

    def _known_labels(
        self, y: Any, classes: Any, first: bool
    ) -> tuple[_labels.Labels, list[str] | None]:
        """The labels of rows; and the names of all classes, where they are known."""
        if not first and self._names is not None:
            if classes is not None and not np.array_equal(np.unique(_labels.label_column(classes)), self.classes_):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
                )
            return _labels.encode_known(y, self.classes_, self._names), self._names
        if classes is None:
            labels = _labels.encode_labels(y)
            if first and len(labels.classes) < 2:
                raise ValueError(
                    f"the first rows have one class, {labels.classes.tolist()}: name all classes in the first call, "
                    "with classes="
                )
            return labels, None
        if not first:
            raise ValueError("classes= must be given in the first call of partial_fit, or not at all")
        known = _labels.encode_labels(classes)
        if len(known.classes) < 2:
            raise ValueError(f"classes={classes!r}: expected at least two classes")
        return _labels.encode_known(y, known.classes, known.names), known.names

    def _state_spec(self) -> dict[str, Any]:
        """The settings of a state: those that have a meaning for rows that come once."""
        spec = self._spec()
        taken = ("learner", "options", "seed", "bias", "init", "mistake", "max_updates")
        state = {name: spec[name] for name in taken if name in spec}
        weight = spec.get("classes", {}).get("weight")
        if weight == "balanced":
            raise ValueError(
                "class_weight='balanced': partial_fit does not know the class counts; give the weights as a dict"
            )
        if weight is not None:
            state["class_weight"] = weight
        if spec.get("probabilities"):
            raise ValueError("probabilities=True: partial_fit does not keep rows, and calibration needs them")
        if spec.get("features") not in (None, "plain"):
            raise ValueError(f"features={spec['features']!r}: partial_fit does not keep rows, and these features need them")
        return state


class WeightedOnlineClassifier(OnlineClassifier, WeightedClassifier):
    """An estimator whose learner processes one row at a time and accepts row weights."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns from more rows, in their order, once, as `OnlineClassifier.partial_fit` says.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All classes. Required in the first call if its rows have fewer than two classes.
        """
        return self._partial_fit(X, y, classes, sample_weight)
