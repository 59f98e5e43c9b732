#!/usr/bin/env python3
"""Few rows whose removal separates the rest: how many, the proved bound, how long, beside an earlier program.

One command: builds linsep, runs `separate --blame` on real data, writes a record.
"""

import argparse
import datetime
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import LINSEP, ROOT, build, machine, say, write_record  # noqa: E402

# Name, file in the folder of data, arguments.
SETS = [
    ("iris, versicolor and virginica", ROOT / "data/iris.csv", ["--classes", "versicolor,virginica"]),
    ("iris, versicolor and the rest", ROOT / "data/iris.csv", ["--positive", "versicolor"]),
    ("noverlap_Z2", "separation/noverlap_Z2.csv", ["--label", "y"]),
    ("silvapulle1981", "separation/silvapulle1981.csv", ["--label", "y"]),
    ("endometrial", "separation/endometrial.csv", ["--label", "HG"]),
    ("ionosphere", "classics/mlbench_Ionosphere.csv", []),
    ("heart", "libsvm/heart_scale", []),
    ("breast-cancer", "libsvm/breast-cancer", []),
    ("digits, 8 and the rest", "classics/sklearn_digits.csv.gz", ["--positive", "8"]),
    ("digits, 9 and the rest", "classics/sklearn_digits.csv.gz", ["--positive", "9"]),
    ("titanic", "csv/titanic.csv", ["--label", "Survived", "--ignore", "Name,Ticket,Cabin,PassengerId", "--missing", "mean"]),
    ("spambase", "spambase/kernlab_spam.csv", []),
    ("a1a", "libsvm/a1a", []),
    ("bank", "csv/bank.csv", []),
    ("a9a", "libsvm/a9a", []),
    ("w8a", "libsvm/w8a", []),
]


def run(program, file, arguments, bias):
    """The record of one run, and the seconds of the whole program."""
    command = [program, "separate", file, *arguments, "--blame", "--bias", bias, "--columns", "none", "--json", "--quiet"]
    before = time.perf_counter()
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return None, 600.0
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command} failed with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), time.perf_counter() - before


def cell(record):
    if record is None:
        return "over 600 s"
    blame = record.get("blame")
    return f"{len(blame['rows']):,}" if blame else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder of real data sets")
    parser.add_argument("--before", type=Path, help="an earlier program to run beside")
    parser.add_argument("--program", type=Path, help="run this program instead of building one")
    parser.add_argument("--only", nargs="*", help="sets whose names begin so")
    options = parser.parse_args()
    program = options.program or LINSEP
    if not options.program:
        build()
    head = ["set", "rows", "features", *(["before, append", "before, free"] if options.before else [])]
    head += ["append", "free", "at least", "smallest", "seconds"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for name, file, arguments in SETS:
        path = options.data / file
        if not path.exists() or (options.only and not any(name.startswith(start) for start in options.only)):
            continue
        say(name)
        old = [run(options.before, path, arguments, bias)[0] for bias in ("append", "free")] if options.before else []
        (now, seconds), (free, _) = (run(program, path, arguments, bias) for bias in ("append", "free"))
        blame = now["blame"]
        assert blame["rest"] == "complete"
        cells = [name, f"{now['rows']:,}", f"{now['features']:,}", *map(cell, old), cell(now), cell(free)]
        cells += [f"{blame['at_least']:,}", "proved" if blame["is_smallest"] else "open", f"{seconds:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
        say(lines[-1])
    text = [
        "# Few rows whose removal separates the rest",
        "",
        "Made by `python3 bench/separation/blame.py --before PROGRAM`. Numbers of rows that `separate --blame` removes, with an",
        "appended and with a free bias; the proved lower bound; whether the set is proved to be the smallest; seconds of the whole program",
        "with an appended bias, the decision about all rows included.",
        "",
        *lines,
        "",
        "## Circumstances",
        "",
        *machine(),
        "",
    ]
    write_record(f"{datetime.date.today()}-separation-blame.md", text)


if __name__ == "__main__":
    main()
