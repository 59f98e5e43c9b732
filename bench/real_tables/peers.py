"""Test errors of scikit-learn on every split, kept in a file: peers.py FOLDER RESULTS [--forests] [--only NAME …]

Each answer is from the pipeline of a careful user: numbers get the mean where a cell is missing, and are standardised;
words get a word of their own where a cell is missing, and one column for each word.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy
import pandas
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SPLITS = range(5)


def read(path, label):
    """Features and labels. Other words that pandas takes for a missing cell, such as None, are words."""
    table = pandas.read_csv(
        path, dtype={label: str}, keep_default_na=False, na_values=["", "NA", "?"], skipinitialspace=True
    )
    return table.drop(columns=label), table[label].astype(str).str.strip().to_numpy(dtype=object)


def load(folder, label):
    train, train_labels = read(folder / "train.csv", label)
    test, test_labels = read(folder / "test.csv", label)
    for column in train.columns:
        if is_number(train[column]):
            test[column] = pandas.to_numeric(test[column], errors="coerce")
        else:
            for table in (train, test):
                words = table[column].astype(object)
                table[column] = words.where(words.isna(), words.map(str)).where(words.notna(), numpy.nan)
    return train, train_labels, test, test_labels


def is_number(column):
    return pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column)


def prepared(train, sparse=True):
    numbers = [column for column in train.columns if is_number(train[column])]
    words = [column for column in train.columns if column not in numbers]
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), numbers),
            ("words", make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), categories), words),
        ],
        sparse_threshold=0.3 if sparse else 0,
    )


def majority(train, labels, test):
    names, counts = numpy.unique(labels.astype(str), return_counts=True)
    return numpy.full(len(test), names[counts.argmax()], dtype=object)


def fitted(learner, sparse=True):
    def answer(train, labels, test):
        return make_pipeline(prepared(train, sparse), learner()).fit(train, labels).predict(test)

    return answer


LINEAR = {
    "majority": majority,
    "LR": fitted(lambda: LogisticRegression(max_iter=1000)),
    "LRCV": fitted(lambda: LogisticRegressionCV(Cs=10, cv=5, max_iter=1000)),
}
FORESTS = {
    "boosting": fitted(lambda: HistGradientBoostingClassifier(random_state=0), sparse=False),
    "forest": fitted(lambda: RandomForestClassifier(300, random_state=0)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--forests", action="store_true")
    parser.add_argument("--only", nargs="+")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    peers = {**LINEAR, **(FORESTS if arguments.forests else {})}
    index = json.loads((arguments.folder / "index.json").read_text())
    for entry in sorted(index, key=lambda entry: entry["rows"] * entry["columns"] * entry["classes"]):
        name = entry["name"]
        if arguments.only and name not in arguments.only:
            continue
        before = time.perf_counter()
        for split in SPLITS:
            found = results.setdefault(f"{name}/{split}/{sklearn.__version__}", {})
            if set(peers) <= set(found):
                continue
            train, train_labels, test, test_labels = load(arguments.folder / name / str(split), entry["label"])
            for peer in set(peers) - set(found):
                try:
                    answers = peers[peer](train, train_labels, test)
                    found[peer] = float(numpy.mean(answers != test_labels))
                except ValueError as error:
                    found[peer] = f"failed: {str(error).splitlines()[0]}"
            part = arguments.results.with_suffix(".part")
            part.write_text(json.dumps(results, indent=1) + "\n")
            part.replace(arguments.results)
        if time.perf_counter() - before > 0.1:
            print(f"scikit-learn on {name}: {time.perf_counter() - before:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
