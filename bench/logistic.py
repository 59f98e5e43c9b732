#!/usr/bin/env python3
"""Processor time to the same objective of logistic regression: linsep beside scikit-learn and LIBLINEAR, one thread each."""

import json
import os
import resource
import subprocess
from pathlib import Path

from common import WORK, environment, machine, say, write_record
from sparse_defaults import PACKAGES
from sparse_sets import labels, parser, ready

PEERS = Path(__file__).resolve().parent / "real_tables" / "logistic_peers.py"
NEEDED = [package for package in PACKAGES if "vowpal" not in package] + ["liblinear-official==2.50.0"]
NAMES = ["a9a", "w8a", "ijcnn1", "mushrooms", "20news", "enron", "covtype", "text 200,000"]
# The class against the rest where there are several, for LIBLINEAR, which does not learn them together.
AGAINST_REST = {"20news": "1", "covtype": "2"}
STEPS = [*range(1, 17), 18, 20, 22, 25, 28, 32, 40, 50, 64, 100, 200, 1000]
REPEATS = 5
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def run(program, path, options):
    """Processor seconds of a whole run on one thread, the best of some, and its record."""
    command = [program, "train", path, "--scale", "none", "--threads", 1, "--json", "--quiet", *options]
    best = None
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(list(map(str, command)), check=True, capture_output=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or seconds, seconds)
        if best > 10:
            break
    return best, json.loads(output)


def train(program, path, options, reading):
    """Processor seconds of training, and the objective: a whole run, less one that reads the same file and learns for one pass of
    the perceptron."""
    seconds, record = run(program, path, ["--learner", "logistic", *options])
    return seconds - reading, record["detail"]["primal"]


def to_objective(program, path, options, wanted, reading):
    """The time with the fewest steps whose objective is at most this one, and those steps."""
    for steps in STEPS:
        seconds, objective = train(program, path, [*options, "--epochs", steps, "--gap", 1e-10], reading)
        if objective <= wanted * (1 + 1e-9):
            return seconds, steps
    return None, None


def main():
    asked = parser(__doc__, NAMES)
    asked.add_argument("--python", type=Path, help="a Python that has the peers [default: made anew]")
    asked.add_argument("--C", type=float, default=1.0, help="the weight of the loss [default: 1]")
    asked.add_argument("--two", action="store_true", help="of several classes, one against the rest alone")
    arguments = asked.parse_args()
    program, folder, names = ready(arguments)
    python = arguments.python or environment(WORK / "logistic", NEEDED)

    columns = ["peer", "its seconds", "linsep", "steps", "times as fast", "default gap", "times as fast", "best objective below its"]
    lines = [f"| set | {' | '.join(columns)} |", "|---|---|" + "---:|" * (len(columns) - 1)]
    for name in names:
        path = folder / f"{name}.train"
        tasks = ["-"] if len(set(labels(path))) == 2 else ["-", AGAINST_REST[name]]
        tasks = tasks[-1:] if arguments.two else tasks
        for positive in tasks:
            title = name if positive == "-" else f"{name}, {positive} against the rest"
            say(title)
            against = [] if positive == "-" else ["--positive", positive]
            reading, _ = run(program, path, ["--learner", "perceptron", "--epochs", 1, *against])
            command = [python, PEERS, path, arguments.C, positive]
            environ = {**os.environ, **ONE_THREAD}
            done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=environ)
            usual = {}
            for line in done.stdout.splitlines():
                peer = json.loads(line)
                kind = ["--penalty", peer["penalty"], "--C", arguments.C]
                kind += [] if peer["intercept"] else ["--bias", "none"]
                kind += against
                if str(kind) not in usual:
                    usual[str(kind)] = train(program, path, kind, reading)
                seconds, steps = to_objective(program, path, kind, peer["objective"], reading)
                cells = [title, f"{peer['name']}, {peer['penalty'].upper()}", f"{peer['seconds']:.3f}"]
                if seconds is None:
                    cells += ["not reached", "", ""]
                else:
                    cells += [f"{seconds:.3f}", f"{steps}", f"{peer['seconds'] / seconds:.1f}"]
                default, best = usual[str(kind)]
                cells += [f"{default:.3f}", f"{peer['seconds'] / default:.1f}"]
                cells.append(f"{(peer['objective'] - best) / best:.1e}")
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    record = [
        "# Logistic regression: time to the same objective",
        "",
        "Made by `bench/logistic.py`; `bench/README.md` says what is measured and how. Processor seconds (user and system) of training "
        f"on one thread, the best of {REPEATS} runs, at C = {arguments.C:g}. A peer runs with its default tolerance; linsep with the fewest "
        "steps that reach its objective, and with the default gap, 1e-6, always with its proof. linsep's are those of the whole program "
        "less those of a run that reads the same file and learns for one pass of the perceptron: small ones are known to a few milliseconds.",
        "",
        *lines,
        "",
    ]
    print("\n".join(record))
    if arguments.record:
        write_record(arguments.record, [*record, *machine(), f"* {', '.join(NEEDED)}", ""])


if __name__ == "__main__":
    main()
