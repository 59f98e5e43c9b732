#!/usr/bin/env python3
"""Test errors of the defaults on real sparse data: linsep beside scikit-learn, LIBLINEAR and Vowpal Wabbit."""

import json
import shlex
import subprocess
import tempfile
from pathlib import Path

from common import WORK, environment, install, machine, say, write_record
from sparse_sets import SETS, labels, linsep_error, parser, ready, share_wrong, wabbit_error
from tables import Failure, variant

# The versions of the races.
PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "vowpalwabbit==9.11.9"]
INSIDE = Path(__file__).resolve().parent / "real_tables" / "sparse_peers.py"
PEERS = [
    "LinearSVC",
    "LogisticRegression",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressive",
    "LIBLINEAR",
    "Vowpal Wabbit",
]


def liblinear_error(folder, name):
    train, test = folder / f"{name}.train", folder / f"{name}.test"
    with tempfile.TemporaryDirectory() as temporary:
        model, answers = Path(temporary) / "model", Path(temporary) / "answers"
        subprocess.run(["liblinear-train", "-q", train, model], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["liblinear-predict", test, model, answers], check=True, stdout=subprocess.DEVNULL)
        return share_wrong(answers.read_text().splitlines(), labels(test))


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
            found["Vowpal Wabbit"] = wabbit_error(python, folder, name, 1)
        if "LinearSVC" not in found:
            say(f"{name}: scikit-learn")
            command = [python, INSIDE, folder / f"{name}.train", folder / f"{name}.test"]
            found |= json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        path.write_text(json.dumps(known, indent=1) + "\n")
    return known


def main():
    asked = parser(__doc__, SETS)
    asked.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a set of options to compare, such as svm="--learner svm" (repeat) [default: linsep, without options]',
    )  # fmt: skip
    arguments = asked.parse_args()
    program, folder, names = ready(arguments)
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
