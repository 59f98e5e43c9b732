#!/usr/bin/env python3
"""The Python package: what it adds to the time of the engine, its peak memory, and its times beside scikit-learn and SciPy."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from common import ROOT, TARGET, WORK, environment, machine, say, write_record

PACKAGES = ["maturin==1.16.0", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1"]
REPEATS = 5

# Each measurement is a program of its own, so that peak memory is its own. It prints one JSON object.
HEAD = """
import json, os, resource, sys, time
import numpy as np

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def best(work, repeats={repeats}):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found
"""

OVERHEAD = """
import linsep
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, {columns}), dtype=np.float32)
y = (X[:, 0] + 0.3 * rng.standard_normal({rows}) > 0).astype(np.int64)
linsep.{estimator}(epochs=1, scale="none").fit(X[:1000], y[:1000])
before = peak()
estimator = linsep.{estimator}(epochs={epochs}, scale="none")
walls, engines = [], []
for _ in range({repeats}):
    start = time.perf_counter()
    estimator.fit(X, y)
    walls.append(time.perf_counter() - start)
    seconds = estimator.evidence_["seconds"]
    engines.append(seconds["read"] + seconds["train"])
place = int(np.argmin(walls))
print(json.dumps({{"wall": walls[place], "engine": engines[place], "data": X.nbytes / 2**20, "more": peak() - before}}))
"""

SPARSE = """
import linsep
from sklearn.linear_model import Perceptron
data = linsep.read({path!r})
X, y = data.X, data.y
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
own, model = best(lambda: linsep.Perceptron(epochs=5, scale="none").fit(X, y))
their, other = best(lambda: Perceptron(max_iter=5, tol=None).fit(X, y))
print(json.dumps({{"own": own, "their": their, "own_score": model.score(X, y), "their_score": other.score(X, y), "rows": X.shape[0], "nonzeros": int(X.nnz)}}))
"""

LOGISTIC = """
import linsep
from sklearn.linear_model import LogisticRegression
{rows}
signs = 2 * y - 1
def objective(coef, intercept):
    return 0.5 * coef @ coef + np.logaddexp(0, -signs * (X @ coef + intercept)).sum()
own, model = best(lambda: linsep.LogisticRegression(scale="none", C=1.0).fit(X, y))
their, other = best(lambda: LogisticRegression(C=1.0, tol=1e-6, max_iter=1000).fit(X, y))
least = min(objective(model.coef_[0], model.intercept_[0]), objective(other.coef_[0], other.intercept_[0]))
print(json.dumps({{"own": own, "their": their, "own_above": objective(model.coef_[0], model.intercept_[0]) / least - 1, "their_above": objective(other.coef_[0], other.intercept_[0]) / least - 1}}))
"""

# Rows for logistic regression: X, and y that is 0 or 1.
MADE = """
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, 50))
w = rng.standard_normal(50)
y = (X @ w / np.sqrt(50) + rng.logistic(size={rows}) > 0).astype(int)
"""
READ = """
data = linsep.read({path!r})
X, y = data.X, (data.y == data.y[0]).astype(int)
if hasattr(X, "indices"):
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
else:
    X = np.asarray(X, dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
"""

SEPARATE = """
import linsep
from scipy.optimize import linprog
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, {columns}))
w = rng.standard_normal({columns})
y = np.where(X @ w > 0, 1, -1)
own, found = best(lambda: linsep.separate(X, y, columns="none"))
Z = -y[:, None] * np.column_stack([X, np.ones({rows})])
their, other = best(lambda: linprog(np.zeros({columns} + 1), A_ub=Z, b_ub=-np.ones({rows}), bounds=(None, None)), 1)
print(json.dumps({{"own": own, "their": their, "own_says": found.verdict, "their_says": other.status}}))
"""


def measured(python, program, **values):
    text = HEAD.format(repeats=REPEATS) + program.format(repeats=REPEATS, **values)
    done = subprocess.run([python, "-c", text], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def sparse_rows(python):
    """The rows of the races: 200,000 like those of text."""
    path = WORK / "text-200000.libsvm"
    if not path.exists():
        command = ["generate", "text", "--rows", "200000", "--seed", "0", "--quiet", "-o", str(path)]
        subprocess.run([str(Path(python).parent / "linsep"), *command], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works: no record")
    parser.add_argument("--python", type=Path, help="a Python that has the package [default: built from this folder]")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder of real data sets")
    parser.add_argument("--record", metavar="FILE", help="write a record of this name")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    python = arguments.python
    if python is None:
        python = environment(TARGET / "bench" / "python-package", PACKAGES)
        say("building the package")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"]
        subprocess.run([*pip, str(ROOT)], check=True, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)})
    scale = 20 if arguments.quick else 1
    lines = [
        "# The Python package",
        "",
        f"`python3 bench/python.py`: the best of {REPEATS} runs each, every measurement in a process of its own.",
        "",
        "## Overhead of `fit`",
        "",
        f"{1_000_000 // scale:,} × 100 float32, 5 passes, `scale=\"none\"`. Engine: what the job itself measures. The rest of the time is",
        "for the labels, for looking at every value once (all must be finite), and for Python.",
        "",
        "| estimator | `fit` s | engine s | overhead | data MB | memory beside the data MB |",
        "|---|---|---|---|---|---|",
    ]
    for estimator in ("Perceptron", "AveragedPerceptron", "SGDClassifier"):
        say(f"overhead of {estimator}")
        found = measured(python, OVERHEAD, estimator=estimator, rows=1_000_000 // scale, columns=100, epochs=5)
        overhead = found["wall"] / found["engine"] - 1
        lines.append(
            f"| `{estimator}` | {found['wall']:.3f} | {found['engine']:.3f} | {overhead:.1%} | {found['data']:.0f} | {found['more']:.0f} |"
        )
    lines += ["", "## Beside others", "", "| | linsep s | other s | faster | answers |", "|---|---|---|---|---|"]
    say("sparse perceptron")
    found = measured(python, SPARSE, path=str(sparse_rows(python)))
    lines.append(
        f"| `Perceptron`, 5 passes, {found['rows']:,} sparse rows, {found['nonzeros']:,} values; scikit-learn's `Perceptron` | "
        f"{found['own']:.3f} | {found['their']:.3f} | {found['their'] / found['own']:.1f} × | accuracy on these rows "
        f"{found['own_score']:.4f}, {found['their_score']:.4f} |"
    )
    shared = arguments.data / "libsvm"
    real = [("data/spam.csv, each column to variance 1", ROOT / "data" / "spam.csv")]
    real += [(name, shared / name) for name in ("a9a", "w8a", "mushrooms") if (shared / name).exists()]
    cases = [(name, READ.format(path=str(path))) for name, path in real]
    for name, rows in [*cases, (f"{200_000 // scale:,} × 50 normal numbers", MADE.format(rows=200_000 // scale))]:
        say(f"logistic regression, {name}")
        found = measured(python, LOGISTIC, rows=rows)
        lines.append(
            f"| `LogisticRegression`, {name}; scikit-learn's, `tol=1e-6` | {found['own']:.3f} | {found['their']:.3f} | "
            f"{found['their'] / found['own']:.1f} × | objective above the best {found['own_above']:.1e}, {found['their_above']:.1e} |"
        )
    say("separation")
    found = measured(python, SEPARATE, rows=100_000 // scale, columns=50)
    lines.append(
        f"| `separate`, {100_000 // scale:,} × 50; `scipy.optimize.linprog` | {found['own']:.3f} | {found['their']:.3f} | "
        f"{found['their'] / found['own']:.0f} × | {found['own_says']}, with a proof; status {found['their_says']} |"
    )
    lines += ["", "## Machine", "", *machine(), ""]
    if arguments.record and not arguments.quick:
        write_record(arguments.record, lines)
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
