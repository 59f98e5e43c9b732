"""Training in parts: states that are forked, merged, pickled; in processes, with the bits of a run in shards."""

from __future__ import annotations

import json
import multiprocessing
import pickle

import joblib
import linsep
import numpy as np
import pytest
from conftest import model_content
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

X, Y = load_breast_cancer(return_X_y=True)
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)


def learn_shard(snapshot: bytes, rows, labels, order) -> bytes:
    """What one process does: it takes up a fork, learns its rows, and gives it back."""
    state = linsep.State.restore(snapshot)
    state.learn(rows, labels, order=order)
    return state.snapshot()


def in_processes(run, rows, labels, shards: int, passes: int, learner: str) -> linsep.State:
    state = linsep.State(learner, columns=rows.shape[1], classes=np.unique(labels))
    for epoch in range(passes):
        before = state.updates
        orders = linsep.shard_orders(rows, labels, shards=shards, epoch=epoch)
        forks = [state.fork().snapshot() for _ in orders]
        learned = run((fork, rows, labels, order) for fork, order in zip(forks, orders))
        state.merge([linsep.State.restore(fork) for fork in learned])
        if state.updates == before:
            break
    return state


@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
@pytest.mark.parametrize("method", ["fork", "spawn", "joblib"])
def test_four_processes_give_the_bits_of_four_shards(program, tmp_path, learner, method):
    rows = np.ascontiguousarray(SCALED)
    passes = 6
    estimators = {"perceptron": linsep.Perceptron, "averaged": linsep.AveragedPerceptron}
    # The threads of this process are at work before others are forked from it.
    whole = estimators[learner](shards=4, epochs=passes, scale="none").fit(rows, Y)
    if method == "joblib":

        def run(calls):
            return joblib.Parallel(n_jobs=4)(joblib.delayed(learn_shard)(*call) for call in calls)

        state = in_processes(run, rows, Y, 4, passes, learner)
    else:
        with multiprocessing.get_context(method).Pool(4) as pool:
            state = in_processes(lambda calls: pool.starmap(learn_shard, list(calls)), rows, Y, 4, passes, learner)
    assert np.array_equal(state.model().coef, whole.coef_)
    assert np.array_equal(state.model().intercept, whole.intercept_)
    assert state.updates == whole.n_updates_

    values, labels, path = tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "model"
    np.save(values, rows)
    np.save(labels, Y)
    arguments = ["--learner", learner, "--shards", 4, "--epochs", passes, "--scale", "none"]
    program("train", values, "--labels", labels, *arguments, "-o", path, "-q")
    assert np.array_equal(state.model().coef, linsep.load(path).coef)
    assert model_content(whole.model_.to_bytes()) == model_content(path.read_bytes())


def test_a_state_learns_what_an_estimator_learns():
    for rows, labels in ((X, Y), load_iris(return_X_y=True)):
        for name, cls in (("perceptron", linsep.Perceptron), ("averaged", linsep.AveragedPerceptron), ("sgd", linsep.SGDClassifier)):
            state = linsep.State(name, columns=rows.shape[1])
            order = np.random.default_rng(0).permutation(len(rows))
            rows, labels = rows[order], labels[order]
            for start in range(0, len(rows), 50):
                state.learn(sparse.csr_matrix(rows[start : start + 50]), labels[start : start + 50])
            whole = cls(epochs=1, order="given", scale="none").fit(sparse.csr_matrix(rows), labels)
            assert np.array_equal(state.model().coef, whole.coef_)
            assert state.rows == len(rows) and state.updates == whole.n_updates_
            assert state.classes.tolist() == np.unique(labels).tolist()
            assert state.evidence["updates"] == state.updates
            assert np.array_equal(state.model().predict(rows), whole.predict(rows))


def test_states_are_pickled_and_restored():
    state = linsep.State("perceptron", columns=30)
    state.learn(X[:300], Y[:300])
    again = pickle.loads(pickle.dumps(state))
    for one in (state, again):
        one.learn(X[300:], Y[300:])
    assert state.snapshot() == again.snapshot()
    assert repr(state) == f"<linsep.State: 569 rows, {state.updates} updates, 2 classes>"
    assert state.margin_upper > 0 and state.settings["learner"] == "perceptron"


def test_hostile_snapshots_are_refused():
    state = linsep.State("averaged", columns=30)
    state.learn(X, Y)
    good = state.snapshot()
    rng = np.random.default_rng(5)
    contents = [b"", b"x", good[:-1], good[: len(good) // 2], b"\0" * len(good), b"\xff" * 64]
    for _ in range(1000):
        broken = bytearray(good)
        for _ in range(int(rng.integers(1, 5))):
            broken[int(rng.integers(len(broken)))] = int(rng.integers(256))
        contents.append(bytes(broken))
    for content in contents:
        try:
            state = linsep.State.restore(content)
        except ValueError:
            continue
        try:
            state.learn(X[:10], Y[:10])
            state.model().predict(X[:10])
            state.merge([state.fork()])
        except ValueError:
            continue
    # A pickle carries bytes and nothing else: what is not a snapshot is refused as one.
    factory, (snapshot,) = linsep.State("averaged", columns=2).__reduce__()
    assert isinstance(snapshot, bytes)
    with pytest.raises(ValueError):
        factory(b"not a snapshot")
    with pytest.raises(TypeError):
        factory("text")


def test_what_a_state_refuses():
    for arguments, message in [
        ({"learner": "svm", "columns": 2}, "one row at a time"),
        ({"learner": "nothing", "columns": 2}, "no learner named"),
        ({"columns": 0}, "columns=0"),
        ({"columns": -1}, "columns=-1"),
        ({"columns": "2"}, "columns='2'"),
        ({"columns": 2, "classes": ["a"]}, "class"),
        ({"columns": 2, "options": {"C": 1}}, "^C in options= is an option of learner='svm', 'logistic' and 'passive-aggressive', not"),
        ({"columns": 2, "seed": -1}, "seed=-1"),
        ({"columns": 2, "bias": "free"}, "bias='free'"),
        ({"columns": 2, "class_weight": "balanced"}, "balanced"),
        ({"columns": 2, "init": "there"}, "init='there'"),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.State(**arguments)
    state = linsep.State("perceptron", columns=2, classes=["a", "b"])
    with pytest.raises(ValueError, match="3 features"):
        state.learn(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(ValueError, match="label"):
        state.learn(np.ones((2, 2)), ["a", "c"])
    with pytest.raises(ValueError, match="order="):
        state.learn(np.ones((2, 2)), ["a", "b"], order=[2])
    with pytest.raises(ValueError, match="order="):
        state.learn(np.ones((2, 2)), ["a", "b"], order=[0.5])
    other = linsep.State("perceptron", columns=2, classes=["a", "b"])
    state.learn([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="forks of it"):
        state.merge([other])
    with pytest.raises(TypeError):
        state.merge([5])
    # A state with the same counts that has learned other rows is a stranger, and no shard counts twice.
    other.learn([[0.1, 0.2], [0.2, 0.1]], ["a", "b"])
    assert (other.rows, other.updates) == (state.rows, state.updates)
    with pytest.raises(ValueError, match="forks of it"):
        state.merge([other.fork()])
    with pytest.raises(ValueError, match="shard number 3"):
        state.merge([state.fork(3), state.fork(shard=3)])
    for shard in (-1, 0.5, True, "0", 2**64):
        with pytest.raises(ValueError, match="shard="):
            state.fork(shard)
    with pytest.raises(ValueError, match="mixing='luck'"):
        state.merge([state.fork()], mixing="luck")
    with pytest.raises(ValueError, match="class"):
        linsep.State("perceptron", columns=2).model()
    assert json.loads(json.dumps(state.evidence))["examples"] == 2
