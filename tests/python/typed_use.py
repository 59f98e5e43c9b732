"""A program that uses the package: mypy and pyright check, in their strict modes, that it is typed. It is not run."""

from __future__ import annotations

import sys
from typing import Any

import linsep
import numpy as np
from numpy.typing import NDArray

from matplotlib.axes import Axes
from matplotlib.figure import Figure

if sys.version_info >= (3, 11):
    from typing import assert_type
else:
    from typing_extensions import assert_type

X: NDArray[np.float64] = np.zeros((4, 2))
y: list[str] = ["a", "b", "a", "b"]

perceptron = linsep.Perceptron(epochs=5, scale="none", order="given", class_weight={"a": 2.0})
assert_type(perceptron.fit(X, y), linsep.Perceptron)
assert_type(perceptron.fit(X, y, sample_weight=[1.0, 1.0, 1.0, 1.0]).partial_fit(X, y), linsep.Perceptron)
assert_type(perceptron.predict(X), NDArray[Any])
assert_type(perceptron.decision_function(X), NDArray[Any])
assert_type(perceptron.coef_, NDArray[Any])
assert_type(perceptron.evaluate(X, y), linsep.Evaluation)
assert_type(perceptron.explain(X), list[dict[str, Any]])
assert_type(perceptron.weights(top=3), list[dict[str, Any]])
assert_type(perceptron.effects(), dict[Any, dict[str, Any]])
assert_type(perceptron.margin_interval_, tuple[float | None, float])
assert_type(perceptron.converged_, bool)
assert_type(perceptron.score(X, y), float)
assert_type(perceptron.model_, linsep.Model)

svm = linsep.LinearSVM(C=0.5, loss="squared-hinge", gap=1e-6)
assert_type(svm.fit(X, y).duality_gap_, float)
logistic = linsep.LogisticRegression(penalty="l1")
assert_type(linsep.TunedClassifier(metric="log-loss").fit(X, y).tuned_, linsep.Tuned)

found = linsep.separate(X, y)
if isinstance(found, linsep.Separation):
    assert_type(found.verdict, str)
    assert_type(found.margin, tuple[float | None, float])
    assert_type(found.coefficients, dict[str, str])
    assert_type(linsep.verify(found, X, y).accepted, bool)
assert_type(linsep.check_separation(X, y, on_found="ignore"), linsep.Separation)
assert_type(linsep.compare(X, y, learners=["svm"], grid={"C": [1, 2]}), linsep.Comparison)
assert_type(linsep.theory(X, y), linsep.TheoryReport)
assert_type(linsep.read("rows.csv", label="kind"), linsep.Data)
assert_type(linsep.load("rows.model").predict(X), NDArray[Any])

state = linsep.State("perceptron", columns=2)
assert_type(state.learn(X, y), int)
state.merge([state.fork()], mixing="updates")
assert_type(linsep.State.restore(state.snapshot()), linsep.State)
assert_type(linsep.shard_orders(X, y, shards=2), list[NDArray[np.uint32]])

assert_type(svm.to_onnx("svm.onnx", input="f64", data=X), linsep.OnnxFile)
assert_type(svm.model_.to_onnx().rounding, dict[str, Any] | None)
assert_type(linsep.plot_boundary(svm, X, y), Axes)
assert_type(linsep.plot_calibration(logistic, X, y), Axes)
assert_type(linsep.plot_compare(linsep.compare(X, y)), Axes)
assert_type(linsep.plot_trace(perceptron, X, y), Figure)
if isinstance(found, linsep.Separation):
    assert_type(linsep.plot_separation(found, X, y), Axes)

# What is wrong is seen before the program is run.
linsep.Perceptron(epochs="many")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
linsep.Perceptron(no_such_parameter=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
linsep.LinearSVM(loss="cubic")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
linsep.VotedPerceptron().fit(X, y, sample_weight=[1])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
linsep.LinearSVM().partial_fit(X, y)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
svm.to_onnx(input="f16")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
linsep.plot_compare(svm)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
