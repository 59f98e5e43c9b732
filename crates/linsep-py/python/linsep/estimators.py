"""The estimators: one for each learner.

Written by crates/linsep-py/generate.py from the registry of the engine; a test compares them. Do not edit by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from linsep._base import Classifier, WeightedClassifier
from linsep._online import OnlineClassifier, WeightedOnlineClassifier

__all__ = [
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
]


class Perceptron(WeightedOnlineClassifier):
    """Keeps the last weights: the textbook algorithm, for studying the convergence theorem.

    Parameters
    ----------
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    mistake : default 'nonpositive'
        Whether a score of exactly 0 counts as a mistake. 'nonpositive': A score of 0 is a mistake (label ×
        score ≤ 0); 'negative': A score of 0 is correct (only label × score < 0 is a mistake); needs
        init='first' or a model, because zero weights would never change.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    shards : default None
        Split the rows into S random shards, train them in parallel and average their weights after every
        pass; the result depends on the number of shards, not of threads; None for the default: 1.
    mixing : default 'uniform'
        Weight of each shard in the average. 'uniform': Equal weights: fewer passes on most data; 'updates':
        Weights proportional to the updates in the pass: at most (R/γ*)² passes with a mistake, for any number
        of shards.
    init : default 'zero'
        Initial weights. 'zero': all weights are 0; 'first': the first row, which counts as an update.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    teaching_set_ : array
        Two classes: the rows that were ever mistaken, in the order of their first mistake.
    """

    _learner: ClassVar[str] = "perceptron"
    _options: ClassVar[dict[str, str]] = {}
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "mistake",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
        "shards",
        "mixing",
        "init",
    )
    _traces: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        mistake: Literal["nonpositive", "negative"] = "nonpositive",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        shards: int | None = None,
        mixing: Literal["uniform", "updates"] = "uniform",
        init: Literal["zero", "first"] = "zero",
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.mistake = mistake
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.shards = shards
        self.mixing = mixing
        self.init = init
        self.warm_start = warm_start


class AveragedPerceptron(WeightedOnlineClassifier):
    """Averages the weights over the run: a good first choice, generalises better than the perceptron at no cost.

    Parameters
    ----------
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    mistake : default 'nonpositive'
        Whether a score of exactly 0 counts as a mistake. 'nonpositive': A score of 0 is a mistake (label ×
        score ≤ 0); 'negative': A score of 0 is correct (only label × score < 0 is a mistake); needs
        init='first' or a model, because zero weights would never change.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    shards : default None
        Split the rows into S random shards, train them in parallel and average their weights after every
        pass; the result depends on the number of shards, not of threads; None for the default: 1.
    mixing : default 'uniform'
        Weight of each shard in the average. 'uniform': Equal weights: fewer passes on most data; 'updates':
        Weights proportional to the updates in the pass: at most (R/γ*)² passes with a mistake, for any number
        of shards.
    init : default 'zero'
        Initial weights. 'zero': all weights are 0; 'first': the first row, which counts as an update.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    teaching_set_ : array
        Two classes: the rows that were ever mistaken, in the order of their first mistake.
    """

    _learner: ClassVar[str] = "averaged"
    _options: ClassVar[dict[str, str]] = {}
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "mistake",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
        "shards",
        "mixing",
        "init",
    )
    _traces: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        mistake: Literal["nonpositive", "negative"] = "nonpositive",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        shards: int | None = None,
        mixing: Literal["uniform", "updates"] = "uniform",
        init: Literal["zero", "first"] = "zero",
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.mistake = mistake
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.shards = shards
        self.mixing = mixing
        self.init = init
        self.warm_start = warm_start


class VotedPerceptron(OnlineClassifier):
    """Predicts by a vote of all weight vectors of the run: often as accurate as averaged, slower to predict.

    Parameters
    ----------
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    mistake : default 'nonpositive'
        Whether a score of exactly 0 counts as a mistake. 'nonpositive': A score of 0 is a mistake (label ×
        score ≤ 0); 'negative': A score of 0 is correct (only label × score < 0 is a mistake); needs
        init='first' or a model, because zero weights would never change.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    init : default 'zero'
        Initial weights. 'zero': all weights are 0; 'first': the first row, which counts as an update.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    teaching_set_ : array
        Two classes: the rows that were ever mistaken, in the order of their first mistake.
    """

    _learner: ClassVar[str] = "voted"
    _options: ClassVar[dict[str, str]] = {}
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "mistake",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
        "init",
    )
    _traces: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        mistake: Literal["nonpositive", "negative"] = "nonpositive",
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        init: Literal["zero", "first"] = "zero",
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.mistake = mistake
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.init = init
        self.warm_start = warm_start


class MarginPerceptron(OnlineClassifier):
    """Also learns from rows with too small a margin: for separable data, when a nearly optimal margin is wanted.

    Parameters
    ----------
    epsilon : default 0.1
        Reach at least 1−ε of the best margin. Above 0 and below 1.
    beta : default None
        Instead, learn from rows closer than β to the boundary. 0 or more.
    agreement : default None
        Instead, learn from rows with an agreement up to b. 0 or more.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    init : default 'zero'
        Initial weights. 'zero': all weights are 0; 'first': the first row, which counts as an update.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "margin"
    _options: ClassVar[dict[str, str]] = {
        "epsilon": "number",
        "beta": "number",
        "agreement": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
        "init",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        epsilon: float = 0.1,
        beta: float | None = None,
        agreement: float | None = None,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        init: Literal["zero", "first"] = "zero",
        warm_start: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.beta = beta
        self.agreement = agreement
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.init = init
        self.warm_start = warm_start


class BatchPerceptron(WeightedClassifier):
    """Updates the weights once per pass with all mistakes, on all cores: when the order of the rows must not
    matter.

    Parameters
    ----------
    schedule : default 'constant'
        How the step changes. 'constant': The same in every step; '1/k': η/k in step k; '1/sqrt-k': η/√k in
        step k; 'power': η/k^p in step k, with p from power=; 'mean': η times the mean of the mistakes.
    power : default None
        The power p of schedule='power'. From 0 to 1.
    step : default 1.0
        The first step. From 0.001 to 1000.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "batch"
    _options: ClassVar[dict[str, str]] = {
        "schedule": "choice",
        "power": "number",
        "step": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        schedule: Literal["constant", "1/k", "1/sqrt-k", "power", "mean"] = "constant",
        power: float | None = None,
        step: float = 1.0,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.schedule = schedule
        self.power = power
        self.step = step
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class PocketPerceptron(Classifier):
    """Keeps the weights with the lowest training error found so far: for overlapping classes.

    Parameters
    ----------
    margin : default 0.0
        Keep the weights with the most rows at least this far on the right side. 0 or more.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "pocket"
    _options: ClassVar[dict[str, str]] = {
        "margin": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        margin: float = 0.0,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.margin = margin
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class LiftedPerceptron(Classifier):
    """Gives every row an extra coordinate of its own, so that it converges on any data: for studying overlap as
    in the lecture notes.

    Parameters
    ----------
    lift : default 'auto'
        The share a of the features in a lifted row. Above 0 and below 1, or 'auto' for the best share by the
        lifting lemma.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "lifted"
    _options: ClassVar[dict[str, str]] = {
        "lift": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        lift: float | Literal["auto"] = "auto",
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.lift = lift
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class KernelPerceptron(WeightedClassifier):
    """Learns a kernel expansion instead of weights: for curved boundaries and moderate numbers of rows.

    Parameters
    ----------
    kernel : default 'rbf'
        Which kernel. 'linear': ⟨x, x′⟩: the perceptron itself, in its dual form; 'poly': (g⟨x, x′⟩ + c)^N:
        polynomials up to degree N; 'rbf': exp(−g‖x − x′‖²): radial basis functions.
    degree : default 2
        The degree N of the polynomial kernel. From 1 to 100.
    gamma : default 'auto'
        The factor g of the polynomial and the RBF kernel. Above 0, or 'auto' for 1/features (1 with the
        polynomial kernel).
    offset : default 0.0
        The constant c of the polynomial kernel, in addition to an appended bias. 0 or more.
    kernel_cache : default '500MB'
        Memory for cached kernel values. A size such as 500MB or 2GB.
    combine : default 'last'
        How the weights of the run are combined. 'last': The last weights; 'average': The mean over all rows
        seen; 'vote': A vote of all weights, each with the number of rows it survived.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "kernel"
    _options: ClassVar[dict[str, str]] = {
        "kernel": "choice",
        "degree": "whole",
        "gamma": "number",
        "offset": "number",
        "kernel_cache": "size",
        "combine": "choice",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        kernel: Literal["linear", "poly", "rbf"] = "rbf",
        degree: int = 2,
        gamma: float | Literal["auto"] = "auto",
        offset: float = 0.0,
        kernel_cache: int | str = "500MB",
        combine: Literal["last", "average", "vote"] = "last",
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.offset = offset
        self.kernel_cache = kernel_cache
        self.combine = combine
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class MulticlassPerceptron(WeightedOnlineClassifier):
    """Trains one weight vector for each class, all jointly: for many classes, smaller and often better than one
    against the rest.

    Parameters
    ----------
    combine : default 'average'
        How the weights of the run are combined. 'last': The last weights; 'average': The mean over all rows
        seen.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    mistake : default 'nonpositive'
        Whether a score of exactly 0 counts as a mistake. 'nonpositive': A score of 0 is a mistake (label ×
        score ≤ 0); 'negative': A score of 0 is correct (only label × score < 0 is a mistake); needs
        init='first' or a model, because zero weights would never change.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "multiclass"
    _options: ClassVar[dict[str, str]] = {
        "combine": "choice",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "mistake",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        combine: Literal["last", "average"] = "average",
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        mistake: Literal["nonpositive", "negative"] = "nonpositive",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.combine = combine
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.mistake = mistake
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class SGDClassifier(WeightedOnlineClassifier):
    """Stochastic gradient descent with a step size for each feature: for streams, and for a choice of losses.

    Parameters
    ----------
    loss : default 'hinge'
        The loss of a row with agreement a. 'perceptron': max(0, −a); 'hinge': max(0, 1−a); 'log': ln(1 +
        e^−a), logistic regression; 'squared': ½(1−a)², least squares.
    schedule : default None
        How the step changes; None for adaptive (shrinking with a penalty, constant with the perceptron loss).
        'adaptive': A step size for each feature, independent of its scale; 'constant': The same in every
        step; '1/k': η/k in step k; '1/sqrt-k': η/√k in step k; 'power': η/k^p in step k, with p from power=;
        'shrinking': η/(1 + ηλk).
    power : default None
        The power p of schedule='power'. From 0 to 1.
    step : default None
        The first step; None for auto (1 with the perceptron loss). Above 0, or 'auto' for 1.5 for adaptive
        steps, else 1/R².
    l2 : default None
        The penalty on ½ of the squared length of the weights and the bias, not for adaptive steps; None for 0
        (0.0001 with shrinking steps). 0 or more.
    combine : default None
        How the weights of the run are combined; None for average (last with the perceptron loss). 'last': The
        last weights; 'average': The mean over all rows seen.
    epochs : default 10
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "sgd"
    _options: ClassVar[dict[str, str]] = {
        "loss": "choice",
        "schedule": "choice",
        "power": "number",
        "step": "number",
        "l2": "number",
        "combine": "choice",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        loss: Literal["perceptron", "hinge", "log", "squared"] = "hinge",
        schedule: Literal["adaptive", "constant", "1/k", "1/sqrt-k", "power", "shrinking"] | None = None,
        power: float | None = None,
        step: float | Literal["auto"] | None = None,
        l2: float | None = None,
        combine: Literal["last", "average"] | None = None,
        epochs: int = 10,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.schedule = schedule
        self.power = power
        self.step = step
        self.l2 = l2
        self.combine = combine
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.warm_start = warm_start

    def _may_have_probabilities(self) -> bool:
        return self.probabilities or self.loss == "log"


class LinearSVM(WeightedClassifier):
    """The soft-margin support vector machine, solved to a proved gap: for optimal weights, when time allows.

    Parameters
    ----------
    loss : default 'hinge'
        The loss of a row with agreement a. 'hinge': max(0, 1−a); 'squared-hinge': max(0, 1−a)².
    C : default 1.0
        The weight of the loss against regularisation. Above 0.
    gap : default 0.001
        Stop when the objective is proved to be within this relative gap of the optimum. Above 0 and below 1.
    epochs : default 1000
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "svm"
    _options: ClassVar[dict[str, str]] = {
        "loss": "choice",
        "C": "number",
        "gap": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        loss: Literal["hinge", "squared-hinge"] = "hinge",
        C: float = 1.0,
        gap: float = 0.001,
        epochs: int = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.loss = loss
        self.C = C
        self.gap = gap
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class LogisticRegression(WeightedClassifier):
    """Logistic regression, solved to a proved gap: for probabilities, and for small or sparse weights.

    Parameters
    ----------
    penalty : default 'l2'
        The penalty on the weights; the intercept is not penalised. 'l2': ½‖w‖²: keeps all weights small;
        'l1': ‖w‖₁: makes weights sparse; 'elastic-net': a mixture of both; 'firth': half the log-determinant
        of the Fisher information: finite, nearly unbiased weights on small data, even when the classes are
        separable; 'none': no penalty; separable classes then have no finite optimum.
    C : default 1.0
        The weight of the loss against the penalty. Above 0.
    l1_ratio : default 0.5
        The share of ‖w‖₁ in an elastic net; the rest is ½‖w‖². From 0 to 1.
    gap : default 1e-06
        Stop when the objective is proved to be within this relative gap of the optimum. From 1e-12 and below
        1.
    epochs : default 1000
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "logistic"
    _options: ClassVar[dict[str, str]] = {
        "penalty": "choice",
        "C": "number",
        "l1_ratio": "number",
        "gap": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False
    _counts_in_array: ClassVar[bool] = True

    def __init__(
        self,
        *,
        penalty: Literal["l2", "l1", "elastic-net", "firth", "none"] = "l2",
        C: float = 1.0,
        l1_ratio: float = 0.5,
        gap: float = 1e-06,
        epochs: int = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.gap = gap
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities

    def _may_have_probabilities(self) -> bool:
        return True


class MaxMarginClassifier(Classifier):
    """Finds the boundary with the largest margin, with a proof: for separable data.

    Parameters
    ----------
    gap : default 1e-06
        Stop when the margin is proved to be within this relative gap of the best. From 1e-15 and below 1.
    epochs : default 1000
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "max-margin"
    _options: ClassVar[dict[str, str]] = {
        "gap": "number",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        gap: float = 1e-06,
        epochs: int = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.gap = gap
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class Memoriser(WeightedClassifier):
    """Memorises the training rows: only as a baseline; its training error is zero unless equal rows have both
    labels.

    Parameters
    ----------
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "memoriser"
    _options: ClassVar[dict[str, str]] = {}
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
    ) -> None:
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities


class PassiveAggressiveClassifier(WeightedOnlineClassifier):
    """Makes the smallest change of the weights that gives each row a margin of 1: for streams whose classes
    drift.

    Parameters
    ----------
    aggression : default 'capped'
        How far one row may move the weights. 'full': PA: as far as needed; 'capped': PA-I: as far as needed,
        at most C; 'softened': PA-II: less far, regularised by C.
    C : default 1.0
        The longest step. Above 0.
    combine : default 'average'
        How the weights of the run are combined. 'last': The last weights; 'average': The mean over all rows
        seen.
    epochs : default 100
        Maximum number of passes over the data.
    max_updates : default None
        Stop after this many updates (with shards=, at the next synchronisation of the shards).
    max_seconds : default None
        Stop after this many seconds of training, summed over all classes.
    order : default 'shuffle'
        Order in which rows are visited. 'given': File order; 'shuffle-once': Shuffle once and use the same
        order in every pass; 'shuffle': Shuffle before every pass.
    seed : default 0
        Random seed for shuffling and for choosing held-out rows.
    bias : default 'append'
        How the bias (intercept) is modelled. 'none': No bias: the boundary goes through the origin; 'append':
        A constant coordinate is appended to every row.
    bias_scale : default None
        Value of the appended constant coordinate; None for the default: 1.
    class_weight : default None
        Class weights: balanced (equal total weight per class), or a weight for each class.
    scale : default 'auto'
        Feature scaling, fitted on the training rows and stored in the model. 'auto': Standardise dense
        features; leave sparse 0/1 features unchanged; divide other sparse features by their root mean square
        (by their largest magnitude if there are more than 300); 'none': No scaling; 'max-abs': Divide each
        feature by its largest magnitude; 'standard': Standardise each feature to mean 0 and variance 1
        (sparse features are not centred); 'unit-rows': Divide each row by its Euclidean norm.
    features : default None
        Feature expansion, fitted on the training rows and stored in the model; None for the default: plain.
        'plain': The columns themselves: the boundary is linear in them; 'splines': Add natural cubic splines
        of each numeric column, linear beyond the outer knots; 'pairs': Add products of pairs of columns,
        categories included; if there are too many, those that best explain a plain model's errors;
        'splines+pairs': Add both.
    max_pairs : default None
        Maximum number of pairwise products; None for the default: half the rows per boundary, between 50 and
        2000.
    probabilities : default False
        Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed
        for logistic regression.
    warm_start : default False
        Start from the weights of the last fit, if there is one, and keep its scaling and features; for two
        classes.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : arrays
        The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
    converged_ : bool
        Whether the algorithm converged.
    n_iter_, n_updates_ : int
        Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
    margin_interval_ : tuple
        The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
        most the second.
    mistake_bound_ : float
        No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
    history_ : list of dict
        The passes, each with `epoch`, `updates` and `margin_upper`.
    evidence_ : dict
        The evidence about the run, as `linsep train --json` prints it.
    model_ : linsep.Model
        The model, as it is saved.
    """

    _learner: ClassVar[str] = "passive-aggressive"
    _options: ClassVar[dict[str, str]] = {
        "aggression": "choice",
        "C": "number",
        "combine": "choice",
    }
    _settings: ClassVar[tuple[str, ...]] = (
        "epochs",
        "max_updates",
        "max_seconds",
        "order",
        "seed",
        "bias",
        "bias_scale",
        "class_weight",
        "scale",
        "features",
        "max_pairs",
        "probabilities",
    )
    _traces: ClassVar[bool] = False

    def __init__(
        self,
        *,
        aggression: Literal["full", "capped", "softened"] = "capped",
        C: float = 1.0,
        combine: Literal["last", "average"] = "average",
        epochs: int = 100,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
        seed: int = 0,
        bias: Literal["none", "append"] = "append",
        bias_scale: float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        scale: Literal["auto", "none", "max-abs", "standard", "unit-rows"] = "auto",
        features: Literal["plain", "splines", "pairs", "splines+pairs"] | None = None,
        max_pairs: int | None = None,
        probabilities: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.aggression = aggression
        self.C = C
        self.combine = combine
        self.epochs = epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.order = order
        self.seed = seed
        self.bias = bias
        self.bias_scale = bias_scale
        self.class_weight = class_weight
        self.scale = scale
        self.features = features
        self.max_pairs = max_pairs
        self.probabilities = probabilities
        self.warm_start = warm_start
