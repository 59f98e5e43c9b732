"""Threads, Ctrl-C, the program that the package installs, and calls with random arguments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import linsep
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

ROOT = Path(__file__).resolve().parents[2]
IRIS, LABELS = load_iris(return_X_y=True)


def test_threads_may_share_an_estimator():
    """Whoever comes last leaves its result, whole: no thread sees half of another's."""
    shared = linsep.Perceptron(epochs=20)
    alone = {}
    for flip in (False, True):
        labels = LABELS[::-1].copy() if flip else LABELS
        alone[flip] = linsep.Perceptron(epochs=20).fit(IRIS, labels).coef_

    def work(number):
        labels = LABELS[::-1].copy() if number % 2 else LABELS
        for _ in range(20):
            shared.fit(IRIS, labels)
            shared.predict(IRIS)
            shared.decision_function(IRIS)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert any(np.array_equal(shared.coef_, coef) for coef in alone.values())

    state = linsep.State("perceptron", columns=4, classes=[0, 1, 2])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda part: state.learn(IRIS[part::8], LABELS[part::8]), range(8)))
    assert state.rows == 150


def test_a_prediction_belongs_to_one_fit():
    """Classes of other names and in another number, fitted by one thread while others predict."""
    shared = linsep.Perceptron(epochs=3)
    targets = [np.array(["a", "b", "c"])[LABELS], (LABELS == 2).astype(int) + 7, 10 * LABELS[::-1]]
    shared.fit(IRIS, targets[0])
    possible = [set(np.unique(target).tolist()) for target in targets]
    done = threading.Event()

    def predict(_):
        while not done.is_set():
            found = set(shared.predict(IRIS).tolist())
            assert any(found <= classes for classes in possible), found
            assert shared.decision_function(IRIS).shape in ((150,), (150, 3))
        return True

    with ThreadPoolExecutor(4) as pool:
        watching = [pool.submit(predict, number) for number in range(4)]
        for number in range(60):
            shared.fit(IRIS, targets[number % 3])
        done.set()
        assert all(future.result() for future in watching)


def test_other_threads_go_on_while_rust_works():
    X, y = make_classification(20_000, 100, n_informative=5, flip_y=0.3, random_state=0)
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = counted
    linsep.Perceptron(epochs=10**6, max_seconds=1.0).fit(X, y)
    meanwhile = counted - before
    done.set()
    counter.join()
    # With the interpreter held it would be none or one.
    assert meanwhile > 50


@pytest.mark.parametrize(
    "call",
    [
        "linsep.Perceptron(epochs=10**9).fit(X, y)",
        "linsep.AveragedPerceptron(epochs=10**9, shards=4).fit(X, y)",
        "linsep.LinearSVM(C=1e6, gap=1e-13, epochs=10**9).fit(X, y)",
        "linsep.MulticlassPerceptron(epochs=10**9).fit(X, z)",
        "linsep.tune(X, y)",
        # A linear kernel: with others these rows are separable, and the run ends by itself.
        "linsep.KernelPerceptron(kernel='linear', epochs=10**9).fit(X[:3000], y[:3000])",
    ],
)
def test_ctrl_c_interrupts(call):
    """Within a second of the machine's time: the limit here is what a busy machine may add."""
    program = f"""
import sys, time, numpy as np, linsep
from sklearn.datasets import make_classification
X, y = make_classification(20_000, 50, n_informative=5, flip_y=0.4, random_state=0)
z = (y + (X[:, 0] > 0)).astype(int)
print("ready", flush=True)
try:
    {call}
    print("came to its end", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
linsep.Perceptron(epochs=1).fit(X, y)
print("and goes on", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - started < 20
    assert process.stdout.readline() == "and goes on\n"
    assert process.wait() == 0


def installed() -> list[str]:
    """The program that the package installs."""
    path = Path(sysconfig.get_path("scripts")) / "linsep"
    assert path.is_file(), f"{path} is missing: the package does not install the program"
    return [str(path)]


def test_the_program_is_installed(tmp_path, program):
    run = lambda *arguments, **options: subprocess.run(  # noqa: E731
        [*installed(), *map(str, arguments)], capture_output=True, text=True, **options
    )
    assert run("--version").stdout == program("--version").stdout
    assert run("--help").stdout == program("--help").stdout
    iris = ROOT / "data" / "iris.csv"
    model = tmp_path / "model"
    done = run("train", iris, "-o", model, "-q")
    assert done.returncode == 0, done.stderr
    assert linsep.load(model).predict(IRIS)[0] == "setosa"
    for arguments in (["separate", iris, "-q"], ["no-such-command"], ["train", tmp_path / "none.csv"], ["predict", model, iris]):
        own, other = run(*arguments), program(*arguments, expect=(0, 1, 2, 3))
        assert own.returncode == other.returncode, (arguments, own.stderr)
    module = subprocess.run([sys.executable, "-m", "linsep", "--version"], capture_output=True, text=True)
    assert module.stdout == program("--version").stdout
    # A closed pipe is no error.
    process = subprocess.Popen([*installed(), "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.wait() == 0 and process.stderr.read() == b""


def test_the_installed_program_stops_at_ctrl_c(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model"
    X, y = make_classification(5_000, 20, n_informative=5, flip_y=0.4, random_state=0)
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.6g")
    command = [*installed(), "train", str(path), "--learner", "perceptron", "--epochs", "1000000000", "-o", str(model)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    # The model so far is saved.
    assert linsep.load(model).evidence["status"] == "interrupted"


# ---------------------------------------------------------------------------------------------------------------- fuzz


def test_random_calls():
    """Calls with random arguments, in an interpreter that tells where it crashed: exceptions, and nothing worse.

    LINSEP_FUZZ_CALLS says how many; 100000 is the long form.
    """
    calls = int(os.environ.get("LINSEP_FUZZ_CALLS", "2000"))
    seed = int(os.environ.get("LINSEP_FUZZ_SEED", "0"))
    script = Path(__file__).with_name("random_calls.py")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(script), str(calls), str(seed)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stdout.startswith(f"{calls} calls"), done.stdout
    assert random.Random(seed) is not None
