#!/usr/bin/env python3
"""Test errors of five online passes: linsep's gradient descent beside Vowpal Wabbit."""

import argparse
import shlex
import subprocess
import tempfile
from pathlib import Path

from common import LINSEP, TARGET, WORK, build, environment, machine, say, write_record
from sparse_defaults import PACKAGES, SETS, labels, linsep_error, prepare, share_wrong
from tables import variant

PASSES = 5
# Rows like those of text: rows to learn from; the next ones of the same seed are test rows.
TEXTS = {"text 40,000": 40_000, "text 200,000": 200_000}
TEST_ROWS = 10_000
# Vowpal Wabbit keeps 2^18 weights unless told otherwise; with 22 bits no two features of these sets share one.
PEERS = {"Vowpal Wabbit": [], "Vowpal Wabbit -b 22": ["-b", 22]}


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


def wabbit_error(python, folder, name, options):
    """Passes of logistic loss over all rows; one against all where there are several classes."""
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
        learn = ["--loss_function", "logistic", "--passes", PASSES, "--holdout_off", *goal, *options]
        files = ["--cache_file", temporary / "cache", "-d", temporary / "train", "-f", temporary / "model"]
        subprocess.run(list(map(str, [*wabbit, *learn, *files])), check=True)
        files = ["-i", temporary / "model", "-d", temporary / "test", "-p", temporary / "answers"]
        subprocess.run(list(map(str, [*wabbit, "-t", *files])), check=True)
        answers = (temporary / "answers").read_text().splitlines()
    return share_wrong([decoded[str(round(float(line.split()[0])))] for line in answers], labels(test))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of real data")
    parser.add_argument(
        "--sets", type=Path, default=TARGET / "sparse", help="the prepared rows [default: target/sparse]"
    )
    parser.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    parser.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a set of options to compare (repeat) [default: linsep="--learner sgd --loss log --epochs 5"]',
    )  # fmt: skip
    parser.add_argument("--only", nargs="+", choices=[*TEXTS, *SETS], metavar="SET", help="these sets alone")
    parser.add_argument("--record", metavar="FILE", help="write a record of this name")
    arguments = parser.parse_args()
    folder = arguments.sets.resolve()
    for path in (folder, WORK):
        path.mkdir(parents=True, exist_ok=True)
    if not arguments.linsep:
        build()
    program = arguments.linsep.resolve() if arguments.linsep else LINSEP
    python = environment(WORK / "sparse", PACKAGES)
    variants = dict(arguments.variant or [("linsep", f"--learner sgd --loss log --epochs {PASSES}")])
    columns = ["rows", "classes", *variants, *PEERS]
    lines = [f"| set | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for name in arguments.only or [*TEXTS, *SETS]:
        if name in TEXTS:
            make_text(program, name, folder)
        elif not prepare(name, arguments.data, folder):
            continue
        say(name)
        truth = labels(folder / f"{name}.train")
        cells = [name, f"{len(truth):,}", str(len(set(truth)))]
        cells += [f"{linsep_error(program, folder, name, shlex.split(options)):.2f}" for options in variants.values()]
        cells += [f"{wabbit_error(python, folder, name, options):.2f}" for options in PEERS.values()]
        lines.append(f"| {' | '.join(cells)} |")
    record = [
        f"# {PASSES} online passes: linsep's gradient descent and Vowpal Wabbit",
        "",
        "Made by `bench/online.py`; `bench/README.md` says what is measured and how. Errors on test rows in percent; "
        "`rows` are those learned from.",
        "",
        *lines,
        "",
        *(f"* {title}: `linsep train FILE {options}`" for title, options in variants.items()),
        f"* Vowpal Wabbit: `--loss_function logistic --passes {PASSES} --holdout_off`, with `--oaa` for more than two classes",
    ]
    print("\n".join(record))
    if arguments.record:
        write_record(arguments.record, [*record, *machine(), f"* {', '.join(PACKAGES)}", ""])


if __name__ == "__main__":
    main()
