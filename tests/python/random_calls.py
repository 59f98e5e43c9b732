"""Calls the package with random arguments: python random_calls.py CALLS SEED.

Every call must return or raise an exception of the usual kinds in a sentence. A panic (which is no `Exception`), an exception
of an unexpected kind, a mark of the library that was not spelled, or a crash ends the program with an error.
"""

from __future__ import annotations

import pickle
import random
import sys
import warnings

import linsep
import numpy as np
import pandas as pd
from linsep import estimators
from scipy import sparse

warnings.simplefilter("ignore")

EXPECTED = (ValueError, TypeError, AttributeError, OSError, MemoryError)
#: What has no weights or no probabilities says so in this way; any other attribute that lacks is a mistake.
LACKING = ("has no probabilities", "has no coefficients", "is not fitted", "object has no attribute 'coef_'")

STRANGE = [
    None, True, False, 0, 1, -1, 2, 5, 10**30, 2**63, 0.0, -0.0, 0.5, 1e-300, 1e300, float("nan"), float("inf"), "", "auto",
    "none", "all", "é⟦x⟧", b"bytes", [], [1, 2], {}, {"a": 1}, {0: 2.0, 1: 0.5}, "balanced", (), object(), np.float32(1.5),
    np.int8(3), np.array([1.0]), 1 + 2j, lambda: 0,
]  # fmt: skip


class Calls:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.models: list = []
        self.states: list = []

    def pick(self, values):
        return self.random.choice(values)

    def rows(self):
        """Rows of a random shape, type and layout; now and then something else."""
        n, d = self.pick([0, 1, 2, 3, 5, 8, 20, 50]), self.pick([0, 1, 2, 3, 7, 30])
        kind = self.random.random()
        if kind < 0.08:
            return self.pick(STRANGE), n
        array = self.numbers.normal(size=(n, d)) * self.pick([1.0, 1.0, 1.0, 1e-200, 1e200, 100.0])
        if kind < 0.13 and array.size:
            array.flat[self.random.randrange(array.size)] = self.pick([np.nan, np.inf, -np.inf, 1e308, 5e-324])
        if kind < 0.3:
            array = np.round(array).astype(self.pick([np.int8, np.int32, np.int64, np.float32, np.float16, ">f8", object]))
        if kind < 0.4:
            form = self.pick([sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array])
            try:
                return form(np.where(np.abs(array.astype(float)) > 0.5, array.astype(float), 0)), n
            except (ValueError, TypeError):
                return array, n
        if kind < 0.5:
            frame = pd.DataFrame(array.astype(float), columns=[f"c{j}" for j in range(d)])
            if d and n:
                frame["w"] = self.numbers.choice(["a", "b", "", None, "é,\"\n"], n)
                if self.random.random() < 0.5:
                    frame.iloc[self.random.randrange(n), 0] = np.nan
            return frame, n
        if kind < 0.6:
            array = self.pick([array.T, array[::-1], array[:, ::-1], np.asfortranarray(array), array[::2], array.ravel(), array[None]])
            return array, len(array)
        return array, n

    def labels(self, n):
        kind = self.random.random()
        if kind < 0.08:
            return self.pick(STRANGE)
        if kind < 0.12:
            n += self.pick([-1, 1, 5])
        classes = self.pick([[0, 1], [0, 1], [0, 1, 2], ["a", "b"], ["1", "01"], [True, False], [-1.0, 1.0], [0], ["", "x"], list(range(9)), [None, 1], [1.5, 2]])
        labels = [self.pick(classes) for _ in range(max(0, n))]
        return self.pick([np.array(labels, dtype=object), labels]) if None in classes else self.pick([np.array(labels), labels])

    def estimator(self):
        cls = getattr(linsep, self.pick(estimators.__all__))
        params = dict(epochs=self.pick([1, 2, 5]), max_seconds=0.2)
        if self.random.random() < 0.5:
            names = list(cls().get_params())
            for _ in range(self.pick([1, 1, 2])):
                params[self.pick(names)] = self.value()
        # A run that a random value makes long is cut short.
        if not isinstance(params.get("max_seconds"), float) or not 0 < params["max_seconds"] <= 0.2:
            params.setdefault("max_updates", 1000)
        if not isinstance(params["epochs"], int) or params["epochs"] > 1000:
            params["max_seconds"] = 0.2
        return cls(**params)

    def value(self):
        words = ["append", "none", "given", "shuffle", "zero", "first", "uniform", "updates", "standard", "max-abs", "unit-rows", "log", "hinge", "l1", "l2", "firth", "poly", "rbf", "linear", "splines", "pairs", "negative", "average", "last", "vote", "constant"]
        return self.pick(STRANGE) if self.random.random() < 0.6 else self.pick(words)

    def weight(self, n):
        return self.pick([None, None, None, np.ones(n), self.numbers.random(n), self.pick(STRANGE)])

    # Each of these is a call.

    def fit(self):
        (X, n), estimator = self.rows(), self.estimator()
        y = self.labels(n)
        if hasattr(estimator, "partial_fit") and self.random.random() < 0.3:
            estimator.partial_fit(X, y, classes=self.pick([None, None, np.unique(np.asarray(y)) if n else None, self.pick(STRANGE)]))
        elif isinstance(estimator, linsep._base.WeightedClassifier):
            estimator.fit(X, y, sample_weight=self.weight(n))
        else:
            estimator.fit(X, y)
        self.models = [*self.models[-20:], (estimator, X)]
        self.predict()

    def predict(self):
        if not self.models:
            return
        estimator, X = self.pick(self.models)
        rows = X if self.random.random() < 0.6 else self.rows()[0]
        method = self.pick(["predict", "decision_function", "predict_proba", "_repr_html_", "report", "coef_", "intercept_", "history_"])
        found = getattr(estimator, method)
        if callable(found):
            found() if method in ("_repr_html_", "report") else found(rows)

    def pickle(self):
        if self.models:
            estimator, _ = self.pick(self.models)
            content = bytearray(estimator.model_.to_bytes())
            for _ in range(self.pick([0, 0, 1, 3])):
                content[self.random.randrange(len(content))] = self.random.randrange(256)
            linsep.Model.from_bytes(bytes(content)).predict(self.rows()[0])
            pickle.loads(pickle.dumps(estimator)).get_params()

    def state(self):
        if self.states and self.random.random() < 0.7:
            state = self.pick(self.states)
        else:
            arguments = {"columns": self.pick([1, 2, 3, 7, 30, self.pick(STRANGE)])}
            if self.random.random() < 0.3:
                arguments[self.pick(["classes", "options", "bias", "seed", "class_weight", "init", "mistake"])] = self.value()
            state = linsep.State(self.pick(["perceptron", "averaged", "voted", "sgd", "multiclass", "passive-aggressive", "svm", "x"]), **arguments)
            self.states = [*self.states[-20:], state]
        X, n = self.rows()
        action = self.random.randrange(6)
        if action < 2:
            state.learn(X, self.labels(n), self.weight(n), order=self.pick([None, None, None, [0], self.pick(STRANGE)]))
        elif action == 2:
            forks = [state.fork(), self.pick(self.states) if self.states else state.fork()]
            state.merge(forks[: self.pick([1, 2])], self.pick(["uniform", "updates", "x"]))
        elif action == 3:
            content = bytearray(state.snapshot())
            for _ in range(self.pick([0, 1, 3])):
                content[self.random.randrange(len(content))] = self.random.randrange(256)
            linsep.State.restore(bytes(content[: self.pick([len(content), len(content) // 2])]))
        elif action == 4:
            state.model().predict(X)
        else:
            repr(state), state.evidence, state.classes, state.margin_upper, state.settings

    def functions(self):
        (X, n) = self.rows()
        y = self.labels(n)
        extra = {}
        which = self.random.randrange(5)
        if which == 0:
            if self.random.random() < 0.3:
                extra[self.pick(["positive", "classes", "pairs", "bias", "bias_scale", "gap", "blame", "columns", "seed"])] = self.value()
            found = linsep.separate(X, y, max_seconds=0.2, **extra)
            repr(found)
            if isinstance(found, linsep.Separation) and found.certificate is not None:
                text = found.certificate
                if self.random.random() < 0.5:
                    place = self.random.randrange(len(text))
                    text = text[:place] + self.pick("0123456789 abc\n") + text[place + 1 :]
                linsep.verify(text, X, y)
        elif which == 1:
            linsep.check_separation(X, y, on_found=self.pick(["warn", "raise", "ignore"]), max_seconds=0.2)
        elif which == 2:
            linsep.theory(X, y, max_seconds=0.05, epochs=3, **({"delta": self.value()} if self.random.random() < 0.2 else {}))
        elif which == 3:
            linsep.compare(X, y, learners=[self.pick(["perceptron", "svm", "sgd", "x"])], folds=self.pick([2, 3, self.value()]), max_seconds=0.05, epochs=2)
        else:
            linsep.shard_orders(X, y, shards=self.pick([1, 2, 4, self.value()]), seed=self.pick([0, self.value()]))


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    calls = Calls(seed)
    kinds = [calls.fit] * 5 + [calls.predict] * 4 + [calls.state] * 3 + [calls.pickle] + [calls.functions] * 2
    returned = raised = 0
    for number in range(count):
        call = calls.pick(kinds)
        state = calls.random.getstate()
        try:
            call()
            returned += 1
        except EXPECTED as error:
            raised += 1
            if isinstance(error, AttributeError) and not any(text in str(error) for text in LACKING):
                raise
            if "⟧" in str(error).replace("é⟦x⟧", "") or "panicked" in str(error):
                raise SystemExit(f"call {number} ({call.__name__}): {error!r}") from error
        except BaseException as error:
            del state
            print(f"call {number} ({call.__name__}) of seed {seed}: {type(error).__name__}: {error}")
            raise
    print(f"{count} calls, {returned} returned, {raised} raised")
    if returned < count // 20:
        raise SystemExit("hardly any call returned: the arguments are too strange to test anything")


if __name__ == "__main__":
    main()
