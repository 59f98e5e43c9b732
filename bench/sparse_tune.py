#!/usr/bin/env python3
"""Test errors of `linsep tune` on sparse data, beside others that choose their own penalty: LIBLINEAR, scikit-learn, and
Vowpal Wabbit, which has none."""

import json
import math
import shlex
import subprocess
from pathlib import Path

from common import WORK, environment, machine, say, write_record
from online import PASSES
from sparse_defaults import PACKAGES
from sparse_sets import SETS, TEXTS, labels, linsep_error, parser, ready, wabbit_error
from tables import Failure, variant

PACKAGES = [*PACKAGES, "liblinear-official==2.50.0"]
INSIDE = Path(__file__).resolve().parent / "real_tables" / "sparse_tuned_peers.py"
TUNED = ["LIBLINEAR -s 0 -C", "LIBLINEAR -s 2 -C", "LogisticRegressionCV", "LinearSVC grid"]
WABBIT = "VW 5 passes"
PEERS = [*TUNED, WABBIT]


def peer_error(python, folder, name, peer, seconds):
    """The error in percent; none if it takes longer."""
    if peer == WABBIT:
        # No two features of these sets share a weight.
        return wabbit_error(python, folder, name, PASSES, ["-b", 22])
    command = [python, INSIDE, peer, folder / f"{name}.train", folder / f"{name}.test"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    # LIBLINEAR writes remarks before it.
    return json.loads(done.stdout.splitlines()[-1])["error"]


def peer_errors(folder, names, wanted, seconds, path):
    """Errors of the peers by set, kept in a file."""
    python = environment(WORK / "sparse-tune", PACKAGES)
    known = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        for peer in wanted:
            found = known.setdefault(name, {})
            if peer not in found:
                say(f"{name}: {peer}")
                found[peer] = peer_error(python, folder, name, peer, seconds)
                path.write_text(json.dumps(known, indent=1) + "\n")
    return known


def main():
    asked = parser(__doc__, [*SETS, *TEXTS])
    asked.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a command to compare, such as svm="--learner svm" for train (repeat) [default: tune="tune --judge none"]',
    )  # fmt: skip
    asked.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, metavar="PEER", help="these peers alone")
    asked.add_argument(
        "--seconds", type=float, default=900, help="a peer that takes longer is left out [default: 900]"
    )
    arguments = asked.parse_args()
    program, folder, names = ready(arguments)
    peers = peer_errors(folder, names, arguments.peers, arguments.seconds, folder / "tuned_peers.json")
    variants = dict(arguments.variant or [("tune", "tune --judge none")])

    columns = ["rows", "classes", *variants, *arguments.peers, "± of the best"]
    lines = [f"| set | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    failures = []
    for name in names:
        say(f"{name}: linsep")
        truth, tested = labels(folder / f"{name}.train"), len(labels(folder / f"{name}.test"))
        found = []
        for title, options in variants.items():
            try:
                found.append(linsep_error(program, folder, name, shlex.split(options)))
            except Failure as failure:
                found.append(None)
                failures.append(f"* **{name}**, {title}: {str(failure).replace(f'{folder}/', '')}")
        found += [peers[name][peer] for peer in arguments.peers]
        best = min((error for error in found if error is not None), default=0) / 100
        deviation = 100 * math.sqrt(best * (1 - best) / tested)
        cells = [name, f"{len(truth):,}", str(len(set(truth)))]
        cells += ["" if error is None else f"{error:.2f}" for error in found]
        lines.append(f"| {' | '.join([*cells, f'{deviation:.2f}'])} |")
    record = [
        "# Sparse data: `linsep tune` and others that choose their penalty",
        "",
        "Made by `bench/sparse_tune.py`; `bench/README.md` says what is measured and how. Errors on test rows in percent; "
        f"`rows` are those learned from; empty: more than {arguments.seconds:.0f} s. The last column is the standard error of the "
        "least error, √(p(1−p)/n).",
        "",
        *lines,
        "",
        *failures,
        *[""] * bool(failures),
        *(f"* {title}: `linsep {options}`, one thread" for title, options in variants.items()),
        "* LIBLINEAR: its own `-C` chooses C by cross-validation; `-s 0` is logistic regression, `-s 2` has the squared hinge",
        "* LogisticRegressionCV: ten C, five folds; LinearSVC: ten C from 1e-4 to 100 by GridSearchCV, five folds",
        "* VW: Vowpal Wabbit, `--loss_function logistic --passes 5 --holdout_off -b 22`, with `--oaa` for more than two classes",
    ]
    print("\n".join(record))
    if arguments.record:
        write_record(arguments.record, [*record, *machine(), f"* {', '.join(PACKAGES)}", ""])


if __name__ == "__main__":
    main()
