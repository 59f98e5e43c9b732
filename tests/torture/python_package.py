#!/usr/bin/env python3
"""Trials of the Python package that take long: memory over thousands of fits, Ctrl-C in every estimator, arrays that change while they are used.

    python tests/torture/python_package.py [--fits 10000] [--only NAME]

Needs the package and scikit-learn. Prints a line for each trial and exits with 1 if one failed.
"""

import argparse
import gc
import signal
import sys
import threading
import time
import warnings

import linsep
import numpy as np
from sklearn.datasets import load_breast_cancer

X, Y = load_breast_cancer(return_X_y=True)
ESTIMATORS = sorted(name for name in dir(linsep) if isinstance(getattr(linsep, name), type) and hasattr(getattr(linsep, name), "fit"))


def resident() -> int:
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) * 1024


def fits(count: int) -> str:
    """Thousands of small fits of all estimators in turns: the memory must not grow with their number."""
    small, labels = np.ascontiguousarray(X[:60, :4]), Y[:60]
    several = np.arange(60) % 3
    makers = [getattr(linsep, name) for name in ESTIMATORS if name != "TunedClassifier"]
    sizes = []
    for number in range(count):
        estimator = makers[number % len(makers)]()
        try:
            estimator.fit(small, several if number % 5 == 0 else labels)
            estimator.predict(small)
        except ValueError:
            # Some do not separate, or are for two classes: that is an answer too.
            pass
        if number % (count // 10) == count // 10 - 1:
            gc.collect()
            sizes.append(resident())
    growth = sizes[-1] - sizes[len(sizes) // 2]
    assert growth < 8 << 20, f"{[size >> 20 for size in sizes]} MB"
    return f"{count} fits: {', '.join(str(size >> 20) for size in sizes)} MB"


def interruptions(_: int) -> str:
    """Ctrl-C while each estimator fits: KeyboardInterrupt within a second, and the estimator works afterwards."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(40_000, 60))
    labels = random.integers(0, 2, 40_000)
    slowest, ended = (0.0, ""), []
    for name in ESTIMATORS:
        estimator = getattr(linsep, name)()
        for option in ("epochs", "max_iter"):
            if option in estimator.get_params():
                estimator.set_params(**{option: 1_000_000})
        when = []

        def interrupt(*_: object, when: list = when) -> None:
            when.append(time.monotonic())
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupt)
        # A Python handler runs when the interpreter is asked, as for Ctrl-C itself.
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        asked = time.monotonic() + 0.3
        try:
            estimator.fit(rows, labels)
            ended.append(name)
        except KeyboardInterrupt:
            slowest = max(slowest, (time.monotonic() - asked, name))
        except ValueError:
            ended.append(name)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        again = getattr(linsep, name)()
        try:
            again.fit(X[:60, :4], Y[:60])
        except ValueError:
            pass
    assert slowest[0] < 5.0, slowest
    return f"{len(ESTIMATORS) - len(ended)} of {len(ESTIMATORS)} interrupted, the slowest after {slowest[0]:.2f} s ({slowest[1]}); ended before: {', '.join(ended) or 'none'}"


def changing_arrays(_: int) -> str:
    """Another thread writes into the array during fit: the result may be that of any mixture, but nothing breaks. Numbers that rows
    may have stay; those that they may not have are there for moments, so that they come after the rows were looked at."""
    sound = np.ascontiguousarray(np.tile(X, (20, 1)))
    labels = np.tile(Y, 20)
    told = []
    for what, values in {"finite": [0.0, 1e6, -1.0], "any": [np.nan, np.inf, 1e300, -1e300, 5e-324]}.items():
        rows, stop = sound.copy(), threading.Event()

        def write(rows: np.ndarray = rows, stop: threading.Event = stop, values: list = values) -> None:
            random = np.random.default_rng(1)
            while not stop.is_set():
                places = random.integers(len(rows), size=50), random.integers(rows.shape[1], size=50)
                rows[places] = random.choice(values)
                time.sleep(0.0002)
                rows[places] = sound[places]
                time.sleep(0.002)

        writer = threading.Thread(target=write)
        writer.start()
        answers, errors = 0, 0
        try:
            for name in ESTIMATORS:
                if name == "TunedClassifier":
                    continue
                for _ in range(5):
                    try:
                        estimator = getattr(linsep, name)()
                        if "max_seconds" in estimator.get_params():
                            estimator.set_params(max_seconds=1)
                        estimator.fit(rows, labels)
                        estimator.predict(rows)
                        answers += 1
                    except (ValueError, OverflowError):
                        errors += 1
        finally:
            stop.set()
            writer.join()
        assert answers > 0, f"{what} numbers: no fit came to its end"
        told.append(f"{what} numbers: {answers} answers and {errors} errors")
    return "; ".join(told) + ", no crash"


TRIALS = {"fits": fits, "interruptions": interruptions, "changing arrays": changing_arrays}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--only", choices=list(TRIALS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for name, trial in TRIALS.items():
        if arguments.only not in (None, name):
            continue
        began = time.monotonic()
        try:
            said = trial(arguments.fits)
        except AssertionError as error:
            failed, said = failed + 1, f"FAILED: {error}"
        print(f"{name} ({time.monotonic() - began:.0f} s): {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
