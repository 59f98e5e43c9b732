"""One split of one set: the files for linsep, and what scikit-learn's calibrated classifiers do on the test rows."""

import bz2
import collections
import csv
import gzip
import json
import re
import sys
import warnings
from pathlib import Path

import numpy
from scipy.sparse import csr_matrix, issparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

PEERS = {
    "LinearSVC": LinearSVC(),
    "SGDClassifier": SGDClassifier(random_state=0),
    "Perceptron": Perceptron(random_state=0),
}


def opened(path, mode="rb"):
    return {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)(path, mode)


def bags_of_words(path):
    numbers, rows, columns, values, labels = {}, [], [], [], []
    for line in opened(path, "rt"):
        label, text = line.split("\t", 1)
        for word, count in collections.Counter(re.findall(r"\w+", text.lower())).items():
            rows.append(len(labels))
            columns.append(numbers.setdefault(word, len(numbers)))
            values.append(float(count))
        labels.append(float(label == "spam"))
    return csr_matrix((values, (rows, columns)), shape=(len(labels), len(numbers))), numpy.array(labels)


def table(path):
    """Numbers with the class in the last column; a line of other names or counts comes first, or none."""
    lines = list(csv.reader(opened(path, "rt")))
    lines = [line for line in lines if len(line) == len(lines[-1])]
    if any(re.search("[A-Za-z]", cell) for cell in lines[0][:-1]):
        lines = lines[1:]
    classes = sorted({line[-1] for line in lines})
    return (
        numpy.array([[float(cell) for cell in line[:-1]] for line in lines]),
        numpy.array([float(classes.index(line[-1])) for line in lines]),
    )


def loaded(path):
    if path.name == "SMSSpamCollection":
        return bags_of_words(path)
    if path.suffix in (".csv", ".data"):
        return table(path)
    return load_svmlight_file(opened(path))


def measures(p, y):
    bins = numpy.minimum((p * 10).astype(int), 9)
    error = sum(abs((p[bins == b] - y[bins == b]).sum()) for b in range(10)) / len(y)
    return {
        "expected_calibration_error": error,
        "log_loss": log_loss(y, p, labels=[0, 1]),
        "brier": brier_score_loss(y, p, labels=[0, 1]),
    }


def main():
    task = json.loads(sys.argv[1])
    x, y = loaded(Path(task["train"]))
    y = (y == y.max()).astype(float)
    if task["most"] and task["most"] < len(y):
        kept = numpy.random.default_rng(0).permutation(len(y))[: task["most"]]
        x, y = x[kept], y[kept]
    if task["test"]:
        other, z = loaded(Path(task["test"]))
        width = max(x.shape[1], other.shape[1])
        x.resize((x.shape[0], width))
        other.resize((other.shape[0], width))
        z = (z == z.max()).astype(float)
    else:
        x, other, y, z = train_test_split(x, y, test_size=0.5, random_state=task["seed"], stratify=y)
    folder = Path(task["folder"])
    dump_svmlight_file(x, y.astype(int), str(folder / "train.svm"), zero_based=False)
    dump_svmlight_file(other, z.astype(int), str(folder / "test.svm"), zero_based=False)
    warnings.simplefilter("ignore")
    results = {}
    for name, peer in {**{name: CalibratedClassifierCV(peer) for name, peer in PEERS.items()},
                       "LogisticRegression": LogisticRegression(max_iter=10_000)}.items():  # fmt: skip
        scaler = MaxAbsScaler() if issparse(x) else StandardScaler()
        results[name] = measures(make_pipeline(scaler, peer).fit(x, y).predict_proba(other)[:, 1], z)
    print(json.dumps(results))


main()
