#!/usr/bin/env python3
"""Time to the same objective of logistic regression: linsep beside scikit-learn and LIBLINEAR."""

import argparse
import json
import subprocess
from pathlib import Path

from common import LINSEP, TARGET, WORK, build, environment, machine, say, write_record
from online import TEXTS, make_text
from sparse_defaults import PACKAGES, SETS, labels, prepare

PEERS = Path(__file__).resolve().parent / "real_tables" / "logistic_peers.py"
NEEDED = [package for package in PACKAGES if "vowpal" not in package] + ["liblinear-official==2.50.0"]
NAMES = ["a9a", "w8a", "ijcnn1", "20news", "enron", "covtype", "text 200,000"]
# The class against the rest where there are several, for LIBLINEAR, which does not learn them together.
AGAINST_REST = {"20news": "1", "covtype": "2"}
GAPS = [0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
REPEATS = 3


def train(program, path, options):
    """The best time of training, and the objective."""
    command = [program, "train", path, "--learner", "logistic", "--scale", "none", "--json", "--quiet", *options]
    found = []
    for _ in range(REPEATS):
        record = json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True).stdout)
        found.append((record["seconds"]["train"], record["detail"]["primal"]))
        if found[-1][0] > 20:
            break
    return min(found)


def to_objective(program, path, options, wanted):
    """The time with the largest gap whose objective is at most this one, and that gap."""
    for gap in GAPS:
        seconds, objective = train(program, path, [*options, "--gap", gap])
        if objective <= wanted * (1 + 1e-9):
            return seconds, gap
    return None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of real data")
    parser.add_argument(
        "--sets", type=Path, default=TARGET / "sparse", help="the prepared rows [default: target/sparse]"
    )
    parser.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    parser.add_argument("--python", type=Path, help="a Python that has the peers [default: made anew]")
    parser.add_argument("--C", type=float, default=1.0, help="the weight of the loss [default: 1]")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="SET", help="these sets alone")
    parser.add_argument("--record", metavar="FILE", help="write a record of this name")
    arguments = parser.parse_args()
    folder = arguments.sets.resolve()
    for path in (folder, WORK):
        path.mkdir(parents=True, exist_ok=True)
    if not arguments.linsep:
        build()
    program = arguments.linsep.resolve() if arguments.linsep else LINSEP
    python = arguments.python or environment(WORK / "logistic", NEEDED)

    columns = ["peer", "its seconds", "linsep, 1 thread", "linsep, all threads", "gap", "default gap, 1 thread",
               "times as fast, 1 thread", "best objective below its"]  # fmt: skip
    lines = [f"| set | {' | '.join(columns)} |", "|---|---|" + "---:|" * (len(columns) - 1)]
    for name in arguments.only:
        if name in TEXTS:
            make_text(program, name, folder)
        elif name in SETS and not prepare(name, arguments.data, folder):
            continue
        path = folder / f"{name}.train"
        tasks = ["-"] if len(set(labels(path))) == 2 else ["-", AGAINST_REST[name]]
        for positive in tasks:
            title = name if positive == "-" else f"{name}, {positive} against the rest"
            say(title)
            command = [python, PEERS, path, arguments.C, positive]
            output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
            usual = {}
            for line in output.splitlines():
                peer = json.loads(line)
                kind = ["--penalty", peer["penalty"], "--C", arguments.C]
                kind += [] if peer["intercept"] else ["--bias", "none"]
                kind += [] if positive == "-" else ["--positive", positive]
                one = [*kind, "--threads", 1]
                if str(kind) not in usual:
                    usual[str(kind)] = train(program, path, one)
                seconds, gap = to_objective(program, path, one, peer["objective"])
                cells = [title, f"{peer['name']}, {peer['penalty'].upper()}", f"{peer['seconds']:.3f}"]
                if seconds is None:
                    cells += ["not reached", "", ""]
                else:
                    both, _ = train(program, path, [*kind, "--gap", gap])
                    cells += [f"{seconds:.3f}", f"{both:.3f}", f"{gap:g}"]
                default, best = usual[str(kind)]
                cells.append(f"{default:.3f}")
                cells.append("" if seconds is None else f"{peer['seconds'] / seconds:.2f}")
                cells.append(f"{(peer['objective'] - best) / best:.1e}")
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    record = [
        "# Logistic regression: time to the same objective",
        "",
        "Made by `bench/logistic.py`; `bench/README.md` says what is measured and how. Seconds of training alone, the best of "
        f"{REPEATS} runs, at C = {arguments.C:g}. A peer runs with its default tolerance; linsep with the largest gap that reaches its "
        "objective, and with the default gap, 1e-6.",
        "",
        *lines,
        "",
    ]
    print("\n".join(record))
    if arguments.record:
        write_record(arguments.record, [*record, *machine(), f"* {', '.join(NEEDED)}", ""])


if __name__ == "__main__":
    main()
