#!/usr/bin/env python3
"""The Python package: what it adds to the time of the engine, its peak memory, and its times beside scikit-learn and SciPy."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from common import ROOT, TARGET, WORK, environment, machine, say, write_record

PACKAGES = ["maturin==1.16.0", "numpy==2.4.6", "pandas==3.1.1", "scipy==1.17.1", "scikit-learn==1.9.1"]
REPEATS = 5
#: Real sparse sets, in the folder of data.
SPARSE_SETS = ("enron_binary_bow.svm.gz", "20news_vectorized.train.svm.gz", "w8a", "a9a")

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
walls, engines, jobs = [], [], []
from linsep import _engine
codes, spec = y.astype(np.uint32), json.dumps(dict(estimator._spec(), data={{"source": "-"}}))
def rust():
    rows = _engine.Rows.dense(X.reshape(-1), X.shape[1], (codes, ["0", "1"]))
    _engine.train(rows, spec, estimator._traces)
# In turns, so that a busy moment of the machine meets both.
for _ in range(2 * {repeats}):
    start = time.perf_counter()
    estimator.fit(X, y)
    walls.append(time.perf_counter() - start)
    seconds = estimator.evidence_["seconds"]
    jobs.append(seconds["read"] + seconds["train"])
    start = time.perf_counter()
    rust()
    engines.append(time.perf_counter() - start)
print(json.dumps({{"wall": min(walls), "engine": min(engines), "job": min(jobs), "data": X.nbytes / 2**20, "more": peak() - before}}))
"""

SPARSE = """
import linsep
from sklearn.linear_model import Perceptron
data = linsep.read({path!r})
X, y = data.X, data.y
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
y = (y == y[0]).astype(int)
found = {{"rows": X.shape[0], "nonzeros": int(X.nnz)}}
for order, shuffle in (("shuffle", True), ("given", False)):
    times = []
    # In turns, so that a busy moment of the machine meets both.
    for _ in range(2 * {repeats}):
        own, model = best(lambda: linsep.Perceptron(epochs=5, scale="none", order=order).fit(X, y), 1)
        their, other = best(lambda: Perceptron(max_iter=5, tol=None, shuffle=shuffle).fit(X, y), 1)
        times.append((own, their, model.evidence_["seconds"]["train"]))
    own, their, train = (min(part) for part in zip(*times))
    found[order] = {{"own": own, "their": their, "train": train, "own_score": model.score(X, y), "their_score": other.score(X, y)}}
print(json.dumps(found))
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

# A table with words: as a frame of pandas, and read from its file.
FRAME = """
import linsep, pandas as pd
names = [f"c{{j}}" for j in range(15)]
frame = pd.read_csv({path!r}, header=None, names=names, skipinitialspace=True)
frame = pd.concat([frame] * {times}, ignore_index=True)
file = {out!r}
frame.to_csv(file, index=False)
y, X = frame.pop("c14"), frame
from linsep import _data, _labels
reading, data = best(lambda: linsep.read(file))
before = peak()
handing, rows = best(lambda: _data.rows_of(X, _labels.encode_labels(y)), 3)
more = peak() - before
print(json.dumps({{"reading": reading, "handing": handing, "rows": len(y), "file": os.path.getsize(file) / 2**20, "frame": X.memory_usage(deep=True).sum() / 2**20, "more": more, "same": rows.shape == data.shape}}))
os.remove(file)
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
        f"{1_000_000 // scale:,} × 100 float32, 5 passes, `scale=\"none\"`. Rust: the two calls that `fit` makes, without the",
        "interpreter: the rows are checked (every value must be finite), and the job runs. Job: what the job itself measures.",
        "",
        "| estimator | `fit` s | Rust s | overhead | job alone s | over the job | data MB | memory beside the data MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for estimator in ("Perceptron", "AveragedPerceptron", "SGDClassifier"):
        say(f"overhead of {estimator}")
        found = measured(python, OVERHEAD, estimator=estimator, rows=1_000_000 // scale, columns=100, epochs=5)
        overhead = found["wall"] / found["engine"] - 1
        lines.append(
            f"| `{estimator}` | {found['wall']:.3f} | {found['engine']:.3f} | {overhead:.1%} | {found['job']:.3f} | "
            f"{found['wall'] / found['job'] - 1:.1%} | {found['data']:.0f} | {found['more']:.0f} |"
        )
    lines += ["", "## Beside others", "", "| | linsep s | other s | faster | answers |", "|---|---|---|---|---|"]
    shared = arguments.data / "libsvm"
    sparse = [("generated text", sparse_rows(python))]
    sparse += [(name, shared / name) for name in SPARSE_SETS if (shared / name).exists()]
    for name, path in sparse:
        say(f"sparse perceptron, {name}")
        whole = measured(python, SPARSE, path=str(path))
        for order, found in ((order, whole[order]) for order in ("shuffle", "given")):
            lines.append(
                f"| `Perceptron`, 5 passes, {order}, {name}: {whole['rows']:,} sparse rows, {whole['nonzeros']:,} values; "
                f"scikit-learn's `Perceptron` | {found['own']:.3f} (job {found['train']:.3f}) | {found['their']:.3f} | "
                f"{found['their'] / found['own']:.1f} × | accuracy on these rows {found['own_score']:.4f}, {found['their_score']:.4f} |"
            )
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
    adult = arguments.data / "csv" / "adult.data"
    if adult.exists():
        lines += [
            "",
            "## Frames with words",
            "",
            "adult (14 columns, 8 of words) as a frame of pandas, and the same table read from its CSV file.",
            "",
            "| rows | from the frame s | from the file s | ratio | file MB | frame MB | memory beside the frame MB |",
            "|---|---|---|---|---|---|---|",
        ]
        for times in (1, 31 // scale or 1):
            say(f"frames, {times} times adult")
            found = measured(python, FRAME, path=str(adult), times=times, out=str(WORK / "adult.csv"))
            lines.append(
                f"| {found['rows']:,} | {found['handing']:.3f} | {found['reading']:.3f} | {found['handing'] / found['reading']:.1f} | "
                f"{found['file']:.0f} | {found['frame']:.0f} | {found['more']:.0f} |"
            )
    lines += ["", "## Machine", "", *machine(), ""]
    if arguments.record and not arguments.quick:
        write_record(arguments.record, lines)
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
