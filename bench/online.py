#!/usr/bin/env python3
"""Test errors of five online passes: linsep's gradient descent beside Vowpal Wabbit."""

import shlex

from common import WORK, environment, machine, say, write_record
from sparse_defaults import PACKAGES
from sparse_sets import SETS, TEXTS, labels, linsep_error, parser, ready, wabbit_error
from tables import variant

PASSES = 5
# Vowpal Wabbit keeps 2^18 weights unless told otherwise; with 22 bits no two features of these sets share one.
PEERS = {"Vowpal Wabbit": [], "Vowpal Wabbit -b 22": ["-b", 22]}


def main():
    asked = parser(__doc__, [*TEXTS, *SETS])
    asked.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a set of options to compare (repeat) [default: linsep="--learner sgd --loss log --epochs 5"]',
    )  # fmt: skip
    arguments = asked.parse_args()
    program, folder, names = ready(arguments)
    python = environment(WORK / "sparse", PACKAGES)
    variants = dict(arguments.variant or [("linsep", f"--learner sgd --loss log --epochs {PASSES}")])
    columns = ["rows", "classes", *variants, *PEERS]
    lines = [f"| set | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for name in names:
        say(name)
        truth = labels(folder / f"{name}.train")
        cells = [name, f"{len(truth):,}", str(len(set(truth)))]
        cells += [f"{linsep_error(program, folder, name, shlex.split(options)):.2f}" for options in variants.values()]
        cells += [f"{wabbit_error(python, folder, name, PASSES, options):.2f}" for options in PEERS.values()]
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
