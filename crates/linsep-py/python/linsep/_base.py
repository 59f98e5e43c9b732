"""The common base of all estimators. They derive from scikit-learn's base classes if it is installed, and work without it."""

from __future__ import annotations

import inspect
import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linsep import _arrays, _data, _engine, _frames, _labels
from linsep._model import Model, answers, evidence_html
from linsep._scikit_learn import Base, ConvergenceWarning, NotFittedError, validate_data
from linsep._settings import SETTINGS

if TYPE_CHECKING:
    from typing_extensions import Self

    from linsep._export import Input, OnnxFile
    from linsep._inspect import Evaluation


#: Values of settings that say no more than that nothing was said.
UNSAID = {"scale": "auto", "bias": "append", "mixing": "uniform"}


def plain(name: str, value: Any, kind: str) -> Any:
    """A parameter in the form of the specification; invalid values raise an error that names the parameter."""
    if value is None:
        return None
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if kind == "flag":
        if not isinstance(value, bool):
            raise ValueError(f"{name}={value!r}: expected True or False")
        return value
    if isinstance(value, bool):
        raise ValueError(f"{name}={value!r}: expected a number or a word, not a truth value")
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError(f"{name}={value!r}: the number is too large")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{name}={value!r}: the number must be finite")
        return value
    raise ValueError(f"{name}={value!r}: expected a number or a word, not {type(value).__name__}")


def class_weights(class_weight: Any, names_of: dict[Any, str] | None = None) -> Any:
    """Weights of classes as the specification has them."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight={class_weight!r}: expected 'balanced', a dict from class to weight, or None")
        return "balanced"
    if not hasattr(class_weight, "items"):
        raise ValueError(f"class_weight={class_weight!r}: expected 'balanced', a dict from class to weight, or None")
    named = []
    for label, weight in class_weight.items():
        name = _labels.label_name(label)
        weight = plain("class_weight", weight, "number")
        if isinstance(weight, str):
            raise ValueError(f"class_weight={class_weight!r}: the weight of class {label!r} is not a number")
        named.append([name, float(weight)])
    return {"named": named}


class Learned(NamedTuple):
    """The result of a fit, replaced as a whole: a thread that predicts while another one fits sees one or the other."""

    model: _engine.Model
    #: The place among the classes of each outcome of the model.
    places: NDArray[np.intp]
    classes: NDArray[Any]
    #: The type of its numbers: float32 where the rows were, otherwise float64.
    kind: np.dtype[Any]

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each outcome of the model."""
        found: NDArray[Any] = self.classes[self.places]
        return found

    def in_order(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Columns of outcomes in the order of the classes."""
        if np.array_equal(self.places, np.arange(len(self.places))):
            return columns
        ordered = np.empty_like(columns)
        ordered[:, self.places] = columns
        return ordered


class Classifier(Base):
    """The base of all estimators: a learner of the registry, trained by the engine."""

    #: The name of the learner in the registry.
    _learner: ClassVar[str] = ""
    #: The settings that it shares with others, and the kind of each option of its own.
    _settings: ClassVar[tuple[str, ...]] = ()
    _options: ClassVar[dict[str, str]] = {}
    #: Whether its updates are mistakes of rows that can be listed, and whether its scores are log odds by nature.
    _traces: ClassVar[bool] = False
    #: Whether `n_iter_` is an array, as that of scikit-learn's estimator of the same name.
    _counts_in_array: ClassVar[bool] = False

    classes_: NDArray[Any]
    n_features_in_: int
    n_iter_: int | NDArray[np.int_]
    n_updates_: int
    converged_: bool
    status_: str
    margin_interval_: tuple[float | None, float]
    mistake_bound_: float
    history_: list[dict[str, Any]]
    evidence_: dict[str, Any]
    notes_: list[tuple[str, str]]
    model_: Model
    duality_gap_: float
    teaching_set_: NDArray[np.intp]
    feature_names_in_: NDArray[Any]
    _learned: Learned
    _report: str

    # ------------------------------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the model to rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or linsep.Data
            The rows. Contiguous float32 and float64 arrays are not copied. Words and missing cells of a frame become
            features as on the command line.
        y : array of shape (n_samples,)
            The labels: numbers or words. None where X is `linsep.Data`, which has its own.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with self._columns_of_model():
            self._train(X, y, sample_weight)
        unfinished = self._fitted().model.unfinished
        if unfinished is not None:
            end, limit = unfinished
            remedy = f"; raise {limit}=" if limit in self.get_params(deep=False) else ""
            text = f"{type(self).__name__} has not converged: {end}{remedy}"
            warnings.warn(text, ConvergenceWarning, stacklevel=_labels.level_of_caller())
        return self

    @contextmanager
    def _columns_of_model(self) -> Iterator[None]:
        """If training fails or is interrupted, the columns stay those of the current model."""
        names = ("n_features_in_", "feature_names_in_")
        before = {name: self.__dict__[name] for name in names if name in self.__dict__}
        fitted = self.__sklearn_is_fitted__()
        try:
            yield
        except BaseException:
            if fitted:
                for name in names:
                    self.__dict__.pop(name, None)
                self.__dict__.update(before)
            raise

    def _train(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, labels, data = self._training_rows(X, y, sample_weight)
        spec = {**self._spec(), "data": data}
        start = self._start()
        try:
            model, record, report, updated = _engine.train(rows, json.dumps(spec), self._traces, start)
        except ValueError as error:
            if start is None:
                raise
            # The engine has one setting for every start.
            raise ValueError(str(error).replace("init=", "warm_start=")) from None
        self._remember(model, json.loads(record), labels, report, _data.number_type(X))
        if self._traces and model.two_sides:
            self.teaching_set_ = np.asarray(updated, dtype=np.intp)
        return self

    def _start(self) -> _engine.Model | None:
        """The model to start from, where the last fit is gone on with."""
        warm, learned = getattr(self, "warm_start", False), self.__dict__.get("_learned")
        if not plain("warm_start", warm, "flag") or learned is None:
            return None
        model: _engine.Model = learned.model
        if not model.two_sides:
            raise ValueError("warm_start=True: only two classes can be gone on with, and the last fit has more")
        return model

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[_engine.Rows, _labels.Labels, dict[str, Any]]:
        """The training rows, their labels, and the data part of the specification."""
        if isinstance(X, _data.Data) and y is None and sample_weight is None:
            # The rows as they were read, with the names of their features.
            self._check_columns(X, reset=True)
            names = X._rows.classes
            return X._rows, self._of_two_classes(_labels.Labels(X.classes, X._rows.labels, names)), {"source": "-"}
        X, y = _data.with_labels(X, y)
        self._check_columns(X, reset=True)
        labels = _labels.encode_labels(y)
        labels = self._of_two_classes(labels)
        self._check_weighted_classes(labels)
        return _data.rows_of(X, labels, sample_weight), labels, _data.data_spec(X, labels)

    def _check_weighted_classes(self, labels: _labels.Labels) -> None:
        """Refuses weights of classes that no row has."""
        weights: Any = getattr(self, "class_weight", None)
        if isinstance(weights, Mapping):
            # 1 and 1.0 are one class, as they are one key.
            known = _engine.class_names(labels.names)
            for label in weights:
                if _engine.class_names([_labels.label_name(label)])[0] not in known:
                    raise ValueError(
                        f"class_weight= names the class {label!r}, which no row has; the classes are "
                        f"{labels.classes.tolist()}"
                    )

    def _of_two_classes(self, labels: _labels.Labels) -> _labels.Labels:
        if len(labels.classes) == 0:
            raise ValueError("Found array with 0 sample(s): y has no labels, and a minimum of 1 is required.")
        if len(labels.classes) < 2:
            raise ValueError(
                f"y has one class, {labels.classes.tolist()[0]!r}: a classifier needs rows of at least two classes"
            )
        return labels

    def _check_columns(self, X: Any, reset: bool) -> None:
        """Keeps the number and the names of the columns, or compares them with those that were kept."""
        if isinstance(X, _data.Data):
            X = X.X
        frame = _frames.is_frame(X)
        plain_array = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"
        if not frame and not plain_array and not _arrays.is_sparse(X):
            X = _arrays.dense_array(X)
        if validate_data is not None:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return
        columns = len(_frames.column_names(X)) if frame else int(X.shape[1])
        if reset:
            self.n_features_in_ = columns
            self.__dict__.pop("feature_names_in_", None)
            if frame:
                self.feature_names_in_ = np.array([str(name) for name in _frames.column_names(X)], dtype=object)
        elif columns != self.n_features_in_:
            raise ValueError(
                f"X has {columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )

    def _spec(self) -> dict[str, Any]:
        """The specification of training with the parameters as they are."""
        spec: dict[str, Any] = {"learner": self._learner}
        for name in self._settings:
            place, kind, words = SETTINGS[name]
            value = getattr(self, name)
            value = class_weights(value) if kind == "class_weight" else plain(name, value, kind)
            if value is None or value == UNSAID.get(name):
                # What suits the learner and its bias is chosen by the engine.
                continue
            if words:
                if not isinstance(value, str) or value not in words:
                    raise ValueError(f"{name}={value!r}: expected {' or '.join(map(repr, words))}")
                value = words[value]
            elif kind == "number" and isinstance(value, str):
                raise ValueError(f"{name}={value!r}: expected a number")
            part = spec
            *outer, last = place.split(".")
            for inner in outer:
                part = part.setdefault(inner, {})
            part[last] = value
        options = {name: plain(name, getattr(self, name), kind) for name, kind in self._options.items()}
        if "penalty" in options and options["penalty"] is None:
            # As scikit-learn says it.
            options["penalty"] = "none"
        # Some options have a meaning only beside others: their usual values are left to the learner.
        spec["options"] = {
            name: value for name, value in options.items() if value is not None and value != self._usual(name)
        }
        return spec

    @classmethod
    def _usual(cls, name: str) -> Any:
        """The default of a parameter; a derived class may not have it in its own list."""
        for ancestor in cls.__mro__:
            own = vars(ancestor)
            if "_options" in own and "__init__" in own:
                return inspect.signature(own["__init__"]).parameters[name].default
        return None

    def _remember(
        self, model: _engine.Model, record: dict[str, Any], labels: _labels.Labels, report: str, kind: np.dtype[Any]
    ) -> None:
        """Stores the model and its evidence."""
        margin, bound = record["margin"], record["mistake_bound"]
        places, classes = labels.places(model.outcomes), labels.classes
        if len(places) < len(classes):
            # A class whose rows all have weight 0 has no row, and is none of the classes.
            known, places = np.unique(places, return_inverse=True)
            classes = classes[known]
        found: dict[str, Any] = {
            "_learned": Learned(model, places, classes, kind),
            "_report": report,
            "_state": None,
            "classes_": classes,
            "n_iter_": np.array([record["epochs"]]) if self._counts_in_array else record["epochs"],
            "n_updates_": record["updates"],
            "converged_": record.get("converged", record["status"] == "converged"),
            "status_": record["status"],
            "margin_interval_": (margin["lower"], margin["upper"]),
            "mistake_bound_": math.inf if bound["upper"] is None else bound["upper"],
            "history_": record.pop("history", []),
            "notes_": [(kind, text) for kind, text in record.pop("notes", [])],
            "evidence_": record,
            "model_": Model(model),
        }
        gap = _duality_gap(record)
        for name in ("duality_gap_", "teaching_set_"):
            self.__dict__.pop(name, None)
        if gap is not None:
            found["duality_gap_"] = gap
        self.__dict__.update(found)

    # --------------------------------------------------------------------------------------------------------- predict

    def _fitted(self) -> Learned:
        learned: Learned | None = self.__dict__.get("_learned")
        if learned is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return learned

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_learned") is not None

    def _asked(self, asked: str, X: Any) -> tuple[Learned, NDArray[Any]]:
        learned = self._fitted()
        self._check_columns(X, reset=False)
        return learned, answers(learned.model, asked, X)

    def _narrowed(self, learned: Learned, numbers: NDArray[np.float64], X: Any) -> NDArray[Any]:
        """Numbers of rows: float32 where the training rows and these are."""
        return _data.narrowed(numbers, np.result_type(learned.kind, _data.number_type(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        learned, labels = self._asked("labels", X)
        found: NDArray[Any] = learned.classes[learned.places[labels]]
        return found

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The score of each row, 0 or more for the second class; of more than two classes, one for each."""
        learned, scores = self._asked("scores", X)
        scores = self._narrowed(learned, scores, X)
        if not learned.model.two_sides:
            scores = learned.in_order(scores)
            # Two classes with a score each: the second leads by the difference.
            return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        return scores[:, 0] if learned.places[1] == 1 else -scores[:, 0]

    @property
    def predict_proba(self) -> Any:
        """The probability of each class for each row, if the estimator has probabilities."""
        fitted: Learned | None = self.__dict__.get("_learned")
        has = self._may_have_probabilities() if fitted is None else fitted.model.has_probabilities
        if not has:
            raise AttributeError(
                f"this {type(self).__name__} has no probabilities: set probabilities=True"
            )

        def predict_proba(X: Any) -> NDArray[Any]:
            learned, probabilities = self._asked("probabilities", X)
            return learned.in_order(self._narrowed(learned, probabilities, X))

        return predict_proba

    @property
    def predict_log_proba(self) -> Any:
        """The logarithm of the probabilities, if the estimator has probabilities."""
        self.predict_proba  # noqa: B018

        def predict_log_proba(X: Any) -> NDArray[Any]:
            learned, probabilities = self._asked("probabilities", X)
            # float32 holds the logarithm of probabilities that it does not hold.
            return self._narrowed(learned, np.log(learned.in_order(probabilities)), X)

        return predict_log_proba

    def _may_have_probabilities(self) -> bool:
        return bool(getattr(self, "probabilities", False))

    @property
    def coef_(self) -> NDArray[Any]:
        """The change of the score per unit of each feature: one row for two classes, otherwise one for each."""
        return self._weights(0)

    @property
    def intercept_(self) -> NDArray[Any]:
        """The score of a row of zeros."""
        return self._weights(1)

    def _weights(self, part: int) -> NDArray[Any]:
        """The weights of the score of the second class, or of each class, or the intercepts."""
        learned: Learned | None = self.__dict__.get("_learned")
        found = None if learned is None else learned.model.coefficients()
        if learned is None or found is None:
            raise AttributeError(
                f"this {type(self).__name__} has no coefficients: it is not fitted, or its decision function has no "
                "weights for rows as they are"
            )
        weights = found[part]
        if learned.model.two_sides:
            weights = weights if learned.places[1] == 1 else -weights
        else:
            ordered = np.empty_like(weights)
            ordered[learned.places] = weights
            weights = ordered[1:] - ordered[:1] if len(ordered) == 2 else ordered
        weights = _data.narrowed(weights, learned.kind)
        # Predictions are the model's: what is written here would be lost without a word.
        weights.setflags(write=False)
        return weights

    # ------------------------------------------------------------------------------------------------------------ show

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the model atomically, for `linsep predict` and `linsep.load`."""
        self._fitted().model.save(path)

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Evaluation:
        """Judges the estimator on labelled rows, as `linsep evaluate` does; see `linsep.Model.evaluate`.

        Classes have the order of `classes_`.
        """
        from linsep._inspect import evaluate

        learned = self._fitted()
        return evaluate(learned.model, learned.labels, np.argsort(learned.places), X, y, sample_weight)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """Why each row is given its class: see `linsep.Model.explain`."""
        from linsep._inspect import explain

        learned = self._fitted()
        self._check_columns(X, reset=False)
        return explain(learned.model, learned.labels, X)

    def weights(self, top: int | None = None) -> list[dict[str, Any]]:
        """The weights by name, the largest of each class first: see `linsep.Model.weights`."""
        from linsep._inspect import weights

        learned = self._fitted()
        return weights(learned.model, learned.labels, top)

    def effects(self) -> dict[Any, dict[str, Any]]:
        """What each column adds to the score: see `linsep.Model.effects`."""
        from linsep._inspect import effects

        learned = self._fitted()
        return effects(learned.model, learned.labels)

    def to_onnx(
        self, path: str | os.PathLike[str] | None = None, input: Input = "f32", data: Any = None
    ) -> OnnxFile:
        """The model as an ONNX file; see `linsep.Model.to_onnx`. Scores and probabilities have the order of `classes_`.

        Parameters
        ----------
        path
            The file to write, atomically; none if None.
        input
            The number type of the inputs: 'f32' or 'f64'.
        data
            Rows on which `ExportWarning` says which get another class from 'f32'.
        """
        from linsep._export import to_onnx

        learned = self._fitted()
        return to_onnx(learned.model, path, input, data, order=np.argsort(learned.places).tolist(), stacklevel=3)

    def to_sklearn(self, data: Any = None) -> Any:
        """A fitted estimator of scikit-learn with the same weights, in the units of the rows as given.

        See `linsep.Model.to_sklearn` for the kind of estimator and for unsupported models.

        Parameters
        ----------
        data
            Rows on which the predictions are compared; `ExportWarning` names rows that get another class.
        """
        from linsep._export import to_sklearn

        names = self.__dict__.get("feature_names_in_")
        learned = self._fitted()
        return to_sklearn(learned.model, learned.classes, learned.places, names, data, stacklevel=3)

    def report(self) -> str:
        """The report of `linsep train` about the run."""
        self._fitted()
        return str(self._report)

    def _repr_html_(self) -> str:
        learned: Learned | None = self.__dict__.get("_learned")
        title = repr(self)
        if learned is None:
            return evidence_html(title, [("Fitted", "not yet")])
        facts = learned.model.facts()
        facts += [(kind.capitalize(), text) for kind, text in self.notes_ if kind != "remark"]
        return evidence_html(title, facts)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The HTML form in notebooks: scikit-learn's own does not show the evidence."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _duality_gap(record: dict[str, Any]) -> float | None:
    """The largest relative gap that is proved, over the boundaries of all classes."""
    details = [record.get("detail")] + [
        boundary["evidence"].get("detail") for boundary in record.get("boundaries", [])
    ]
    gaps = [detail["gap"] for detail in details if detail and detail.get("gap") is not None]
    return max(gaps) if gaps else None


class WeightedClassifier(Classifier):
    """An estimator that accepts row weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model to rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or linsep.Data
            The rows. Contiguous float32 and float64 arrays are not copied. Words and missing cells of a frame become
            features as on the command line.
        y : array of shape (n_samples,)
            The labels: numbers or words. None where X is `linsep.Data`, which has its own.
        sample_weight : array of shape (n_samples,), optional
            The weight of each row. Whole numbers say how often a row occurs: 2 is the row twice, one after the other, and 0 is
            no row. With other weights, learners that go row by row take longer or shorter steps.
        """
        return self._fit(X, y, sample_weight)
