#!/usr/bin/env python3
"""Test errors of the defaults on real sparse data: linsep beside scikit-learn, LIBLINEAR and Vowpal Wabbit."""

import argparse
import bz2
import collections
import gzip
import json
import random
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from common import LINSEP, TARGET, WORK, build, environment, install, machine, say, write_record
from tables import Failure, linsep, same, variant

# The versions of the races.
PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "vowpalwabbit==9.11.9"]
INSIDE = Path(__file__).resolve().parent / "real_tables" / "sparse_peers.py"
TEST_SHARE = 0.3
# Name: training file, test file or none (then 30 % of the rows are test rows), and the most rows that are taken.
SETS = {
    "a9a": ("libsvm/a9a", "libsvm/a9a.t", None),
    "w8a": ("libsvm/w8a", None, None),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", "libsvm/ijcnn1.tst.bz2", None),
    "mushrooms": ("libsvm/mushrooms", None, None),
    "20news": ("libsvm/20news_vectorized.train.svm.gz", "libsvm/20news_vectorized.test.svm.gz", None),
    "enron": ("libsvm/enron_binary_bow.svm.gz", None, None),
    "covtype": ("libsvm/covtype.libsvm.gz", None, 100_000),
    "sms": ("sms-spam/SMSSpamCollection", None, None),
    "spambase": ("spambase/spambase.data", None, None),
    "digits": ("classics/sklearn_digits.csv.gz", None, None),
}
PEERS = [
    "LinearSVC",
    "LogisticRegression",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressive",
    "LIBLINEAR",
    "Vowpal Wabbit",
]


def lines_of(path):
    opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rt") as file:
        return [line.rstrip() + "\n" for line in file if line.strip()]


def bags_of_words(lines):
    """LIBSVM rows from lines of label, tab and text: how often each word occurs."""
    numbers, rows = {}, []
    for line in lines:
        label, text = line.split("\t", 1)
        counts = collections.Counter(re.findall(r"\w+", text.lower()))
        pairs = sorted((numbers.setdefault(word, len(numbers) + 1), count) for word, count in counts.items())
        rows.append(f"{'+1' if label == 'spam' else '-1'} {' '.join(f'{number}:{count}' for number, count in pairs)}\n")
    return rows


def rows_of_table(lines):
    """LIBSVM rows from lines of numbers, the label last; a first line of names is left out. Zeros are not written."""
    rows = []
    for line in lines:
        *cells, label = line.strip().split(",")
        try:
            pairs = [f"{place}:{cell}" for place, cell in enumerate(cells, 1) if float(cell)]
        except ValueError:
            continue
        rows.append(f"{label} {' '.join(pairs)}\n")
    return rows


# What makes LIBSVM rows of the files that have none.
MADE = {"sms": bags_of_words, "spambase": rows_of_table, "digits": rows_of_table}


def prepare(name, data, folder):
    """Writes the training and the test rows as text, once. Returns whether they are there."""
    train, test, most = SETS[name]
    paths = [folder / f"{name}.train", folder / f"{name}.test"]
    if all(path.exists() for path in paths):
        return True
    if not (data / train).exists():
        say(f"{name}: left out, {train} is not in the data folder")
        return False
    dice = random.Random(0)
    rows = lines_of(data / train)
    if name in MADE:
        rows = MADE[name](rows)
    if test:
        parts = [rows, lines_of(data / test)]
    else:
        dice.shuffle(rows)
        rows = rows[:most]
        cut = round(TEST_SHARE * len(rows))
        parts = [rows[cut:], rows[:cut]]
    # Some files are sorted by class, and Vowpal Wabbit does not shuffle.
    dice.shuffle(parts[0])
    for path, part in zip(paths, parts):
        path.write_text("".join(part))
    return True


def labels(path):
    with open(path) as file:
        return [line.split(maxsplit=1)[0] for line in file]


def share_wrong(answers, truth):
    if len(answers) != len(truth):
        raise Failure(f"{len(answers)} answers for {len(truth)} rows")
    return 100 * sum(not same(*pair) for pair in zip(answers, truth)) / len(truth)


def linsep_error(program, folder, name, options):
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / "model"
        command, *rest = options if options[:1] == ["tune"] else ["train", *options]
        linsep(program, command, folder / f"{name}.train", "-o", model, *rest)
        answers = linsep(program, "predict", model, folder / f"{name}.test").splitlines()
    return share_wrong(answers, labels(folder / f"{name}.test"))


def liblinear_error(folder, name):
    train, test = folder / f"{name}.train", folder / f"{name}.test"
    with tempfile.TemporaryDirectory() as temporary:
        model, answers = Path(temporary) / "model", Path(temporary) / "answers"
        subprocess.run(["liblinear-train", "-q", train, model], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["liblinear-predict", test, model, answers], check=True, stdout=subprocess.DEVNULL)
        return share_wrong(answers.read_text().splitlines(), labels(test))


def wabbit_error(python, folder, name):
    """One pass of logistic loss; one against all where there are several classes."""
    train, test = folder / f"{name}.train", folder / f"{name}.test"
    names = sorted(set(labels(train)), key=float)
    coded = {label: number + 1 for number, label in enumerate(names)}
    if len(names) == 2:
        coded, goal = dict(zip(names, (-1, 1))), ["--binary"]
    else:
        goal = ["--oaa", len(names)]
    decoded = {str(code): label for label, code in coded.items()}
    with tempfile.TemporaryDirectory() as temporary:
        texts = [Path(temporary) / "train", Path(temporary) / "test"]
        for path, text in zip((train, test), texts):
            with open(path) as source, open(text, "w") as target:
                for line in source:
                    label, _, rest = line.strip().partition(" ")
                    target.write(f"{coded.get(label, 1)} | {rest}\n")
        model, answers = Path(temporary) / "model", Path(temporary) / "answers"
        wabbit = [python, "-m", "vowpalwabbit", "--quiet"]
        learn = [*wabbit, "--loss_function", "logistic", *goal, "-d", texts[0], "-f", model]
        subprocess.run(list(map(str, learn)), check=True)
        subprocess.run(list(map(str, [*wabbit, "-t", "-i", model, "-d", texts[1], "-p", answers])), check=True)
        found = [decoded[str(round(float(line.split()[0])))] for line in answers.read_text().splitlines()]
        return share_wrong(found, labels(test))


def peer_errors(folder, names, path):
    """Errors of the peers by set, kept in a file."""
    python = environment(WORK / "sparse", PACKAGES)
    known = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        found = known.setdefault(name, {})
        if "LIBLINEAR" not in found and install("liblinear-tools", "liblinear-train"):
            say(f"{name}: LIBLINEAR")
            found["LIBLINEAR"] = liblinear_error(folder, name)
        if "Vowpal Wabbit" not in found:
            say(f"{name}: Vowpal Wabbit")
            found["Vowpal Wabbit"] = wabbit_error(python, folder, name)
        if "LinearSVC" not in found:
            say(f"{name}: scikit-learn")
            command = [python, INSIDE, folder / f"{name}.train", folder / f"{name}.test"]
            found |= json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        path.write_text(json.dumps(known, indent=1) + "\n")
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of real data")
    parser.add_argument(
        "--sets", type=Path, default=TARGET / "sparse", help="the prepared rows [default: target/sparse]"
    )
    parser.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    parser.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a set of options to compare, such as svm="--learner svm" (repeat) [default: linsep, without options]',
    )  # fmt: skip
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help="these sets alone")
    parser.add_argument("--record", metavar="FILE", help="write a record of this name")
    arguments = parser.parse_args()
    folder = arguments.sets.resolve()
    for path in (folder, WORK):
        path.mkdir(parents=True, exist_ok=True)
    if not arguments.linsep:
        build()
    program = arguments.linsep.resolve() if arguments.linsep else LINSEP
    names = [name for name in arguments.only if prepare(name, arguments.data, folder)]
    peers = peer_errors(folder, names, folder / "peers.json")
    variants = dict(arguments.variant or [("linsep", "")])

    columns = ["rows", "classes", *variants, *PEERS]
    lines = [f"| set | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    failures = []
    for name in names:
        say(f"{name}: linsep")
        truth = labels(folder / f"{name}.train")
        cells = [name, f"{len(truth):,}", str(len(set(truth)))]
        for title, options in variants.items():
            try:
                cells.append(f"{linsep_error(program, folder, name, shlex.split(options)):.2f}")
            except Failure as failure:
                cells.append("failed")
                failures.append(f"* **{name}**, {title}: {str(failure).replace(f'{folder}/', '')}")
        cells += [f"{peers[name][peer]:.2f}" if peer in peers[name] else "" for peer in PEERS]
        lines.append(f"| {' | '.join(cells)} |")
    record = [
        "# Real sparse data: the defaults of linsep and of others",
        "",
        "Made by `bench/sparse_defaults.py`; `bench/README.md` says what is measured and how. Errors on test rows in percent; "
        "`rows` are those learned from.",
        "",
        *lines,
        "",
        *failures,
        *[""] * bool(failures),
        *(f"* {title}: `{f'linsep train FILE {options}'.strip()}`" for title, options in variants.items()),
    ]
    print("\n".join(record))
    if arguments.record:
        write_record(arguments.record, [*record, *machine(), f"* {', '.join(PACKAGES)}", ""])


if __name__ == "__main__":
    main()
