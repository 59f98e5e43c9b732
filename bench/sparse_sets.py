"""Sparse rows to measure on, real and like text, each as a file of training rows and one of test rows, and errors on them."""

import argparse
import bz2
import collections
import gzip
import random
import re
import subprocess
import tempfile
from pathlib import Path

from common import LINSEP, TARGET, WORK, build, say
from tables import Failure, linsep, same

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
# Rows like those of text: rows to learn from; the next ones of the same seed are test rows.
TEXTS = {"text 40,000": 40_000, "text 200,000": 200_000}
TEST_ROWS = 10_000


def parser(description, names):
    """The arguments that all measurements on these sets have."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("data", type=Path, help="folder of real data")
    made.add_argument(
        "--sets", type=Path, default=TARGET / "sparse", help="the prepared rows [default: target/sparse]"
    )
    made.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    made.add_argument("--only", nargs="+", choices=names, default=list(names), metavar="SET", help="these sets alone")
    made.add_argument("--record", metavar="FILE", help="write a record of this name")
    return made


def ready(arguments):
    """The program, the folder of the rows, and those of the sets that could be made."""
    folder = arguments.sets.resolve()
    for path in (folder, WORK):
        path.mkdir(parents=True, exist_ok=True)
    if not arguments.linsep:
        build()
    program = arguments.linsep.resolve() if arguments.linsep else LINSEP
    names = []
    for name in arguments.only:
        if name in TEXTS:
            make_text(program, name, folder)
            names.append(name)
        elif prepare(name, arguments.data, folder):
            names.append(name)
    return program, folder, names


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


def make_text(program, name, folder):
    """Writes the training and the test rows, once."""
    paths = [folder / f"{name}.train", folder / f"{name}.test"]
    if all(path.exists() for path in paths):
        return
    rows = TEXTS[name]
    with tempfile.TemporaryDirectory() as temporary:
        everything = Path(temporary) / "rows"
        arguments = ["generate", "text", "--rows", rows + TEST_ROWS, "--seed", 0, "--quiet", "-o", everything]
        subprocess.run(list(map(str, [program, *arguments])), check=True)
        with open(everything) as source:
            for path, count in zip(paths, (rows, TEST_ROWS)):
                with open(path, "w") as target:
                    target.writelines(next(source) for _ in range(count))


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


def wabbit_error(python, folder, name, passes, options=()):
    """Vowpal Wabbit's passes of logistic loss over all rows; one against all where there are several classes."""
    train, test = folder / f"{name}.train", folder / f"{name}.test"
    names = sorted(set(labels(train)), key=float)
    if len(names) == 2:
        coded, goal = dict(zip(names, (-1, 1))), ["--binary"]
    else:
        coded, goal = {label: number + 1 for number, label in enumerate(names)}, ["--oaa", len(names)]
    decoded = {str(code): label for label, code in coded.items()}
    with tempfile.TemporaryDirectory() as temporary:
        temporary = Path(temporary)
        for path, text in ((train, temporary / "train"), (test, temporary / "test")):
            with open(path) as source, open(text, "w") as target:
                for line in source:
                    label, _, rest = line.strip().partition(" ")
                    target.write(f"{coded.get(label, 1)} | {rest}\n")
        wabbit = [python, "-m", "vowpalwabbit", "--quiet"]
        learn = ["--loss_function", "logistic", "--passes", passes, "--holdout_off", *goal, *options]
        files = ["--cache_file", temporary / "cache", "-d", temporary / "train", "-f", temporary / "model"]
        subprocess.run(list(map(str, [*wabbit, *learn, *files])), check=True)
        files = ["-i", temporary / "model", "-d", temporary / "test", "-p", temporary / "answers"]
        subprocess.run(list(map(str, [*wabbit, "-t", *files])), check=True)
        answers = (temporary / "answers").read_text().splitlines()
    return share_wrong([decoded[str(round(float(line.split()[0])))] for line in answers], labels(test))
