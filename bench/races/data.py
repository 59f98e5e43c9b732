"""The rows that are raced on: made by linsep, or real. Each set is a LIBSVM file to learn from and one held out."""

import bz2
import gzip
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from common import LINSEP, ROOT, WORK, say

FOLDER = WORK / "data"
HELD_ROWS = 20_000


@dataclass
class Set:
    name: str
    train: Path
    held: Path
    about: str

    @property
    def megabytes(self):
        return self.train.stat().st_size / 1e6

    def wabbit(self, path):
        """The same rows in the format of Vowpal Wabbit."""

        def convert(unfinished):
            with open(path) as source, open(unfinished, "w") as target:
                target.writelines(line.replace(" ", " | ", 1) for line in source)

        return once(convert, path.with_suffix(".vw"))[0]


def once(make, *paths):
    """Makes files that are not there yet. They get their names when all are whole, so that none is ever half made."""
    if not all(path.exists() for path in paths):
        say(f"making {paths[0].name}")
        unfinished = [path.with_name(f"{path.name}.part") for path in paths]
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        make(*unfinished)
        for part, path in zip(unfinished, paths):
            part.rename(path)
    return paths


def generate(path, *arguments):
    """A file that linsep makes."""

    def make(unfinished):
        subprocess.run([LINSEP, "generate", *map(str, arguments), "--quiet", "-o", unfinished], check=True)

    return once(make, path)[0]


def made(rows):
    """Rows like those of text, and the next ones of the same seed held out."""

    def make(train, held):
        # A row depends on the seed and its number alone, so the first rows are those of a file of that length.
        everything = generate(FOLDER / f"text-{rows}-all.svm", "text", "--rows", rows + HELD_ROWS, "--seed", 0)
        with open(everything, "rb") as source:
            for path, count in [(train, rows), (held, HELD_ROWS)]:
                with open(path, "wb") as target:
                    target.writelines(next(source) for _ in range(count))
        everything.unlink()

    train, held = once(make, FOLDER / f"text-{rows}.svm", FOLDER / f"text-{rows}-held.svm")
    about = f"{rows:,} generated rows like those of text, 47,000 features, the next {HELD_ROWS:,} rows held out"
    return Set(f"text {rows:,}", train, held, about)


# name: (file to learn from, file held out or none, the class against the rest, whether it is scaled, what it is)
REAL = {
    "a9a": ("libsvm/a9a", "libsvm/a9a.t", None, False, "adult, binary features"),
    "w8a": ("libsvm/w8a", None, None, False, "web pages, binary features"),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", "libsvm/ijcnn1.tst.bz2", None, False, "ijcnn1, 22 features"),
    "covtype": ("libsvm/covtype.libsvm.gz", None, "2", True, "forest cover, class 2 against the rest, max-abs scaled"),
    "enron": ("libsvm/enron_binary_bow.svm.gz", None, None, False, "Enron spam, presence of words"),
    "20news": (
        "libsvm/20news_vectorized.train.svm.gz",
        "libsvm/20news_vectorized.test.svm.gz",
        "14",
        False,
        "20 newsgroups, sci.space against the rest",
    ),
}


def folder_of_real(given):
    """Where real data is: as given, or beside the project."""
    candidates = [given] if given else [ROOT.parent / "shared" / "data"]
    return next((folder for folder in candidates if (folder / "libsvm").is_dir()), None)


def real(given, names=tuple(REAL)):
    """The real sets that are there."""
    folder = folder_of_real(given)
    if folder is None:
        say("no real data: name its folder with --data")
        return []
    present = [name for name in names if (folder / REAL[name][0]).exists()]
    return [prepare(folder, name) for name in present]


def prepare(folder, name):
    """Plain LIBSVM with labels 1 and −1, shuffled once: not every program shuffles, and some files are sorted by class."""
    source, test, positive, scaled, about = REAL[name]

    def make(train, held):
        lines = relabelled(folder / source, positive)
        if scaled:
            lines = scale(lines)
        random.Random(0).shuffle(lines)
        if test:
            held_lines = relabelled(folder / test, positive)
        else:
            held_lines = lines[::10]
            lines = [line for number, line in enumerate(lines) if number % 10]
        for path, content in [(train, lines), (held, held_lines)]:
            path.write_text("\n".join(content) + "\n")

    train, held = once(make, FOLDER / f"{name}.svm", FOLDER / f"{name}-held.svm")
    how = "its own test rows" if test else "every tenth row"
    return Set(name, train, held, f"{about}; held out: {how}")


def relabelled(path, positive):
    opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rt") as source:
        rows = [line.split(None, 1) for line in source if line.strip()]
    zero_based = any(re.search(r"(^|\s)0:", row[1]) for row in rows if len(row) > 1)
    assert not zero_based, f"{path} counts its features from 0: LIBLINEAR does not take that"
    positives = {positive} if positive else {"1", "+1", "1.0", "+1.0"}
    return [f"{'1' if row[0] in positives else '-1'} {row[1].strip() if len(row) > 1 else ''}" for row in rows]


def scale(lines):
    """Every column divided by its largest magnitude."""
    largest = {}
    rows = [[pair.split(":") for pair in line.split()[1:]] for line in lines]
    for row in rows:
        for column, value in row:
            largest[column] = max(largest.get(column, 0.0), abs(float(value)))
    return [
        " ".join([line.split(None, 1)[0], *(f"{column}:{float(value) / largest[column]:.6g}" for column, value in row)])
        for line, row in zip(lines, rows)
    ]
