#!/usr/bin/env python3
"""Repeats the experiment of Freund and Schapire (1999) on MNIST with the kernel perceptron, and writes a record.

One command; the folder with the four IDX files of MNIST (gzipped) is its only argument.
"""

import argparse
import datetime
import os
import subprocess
from pathlib import Path

from common import PROFILE, ROOT, TARGET, WORK, Run, install, machine, say, write_record

EXAMPLE = TARGET / PROFILE / "examples" / "freund_schapire"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the four IDX files of MNIST, as they are distributed (.gz)")
    parser.add_argument("--rows", type=int, default=60_000, help="training rows, for a quick look")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if not install("time", "time"):
        raise SystemExit("GNU time is needed: install the package time")
    build = ["cargo", "build", "--profile", PROFILE, "--locked", "-p", "linsep", "--example", "freund_schapire"]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)})
    # Taken now: the tree may change while the benchmark runs.
    circumstances = machine()
    say("training 10 classes for each of 3 degrees: this takes some minutes")
    with open(WORK / "mnist.md", "w+") as table:
        run = Run([EXAMPLE, arguments.folder.resolve(), arguments.rows], stdout=table).wait()
        table.seek(0)
        lines = table.read().splitlines()
    write_record(
        f"{datetime.date.today()}-mnist.md",
        [
            "# Kernel perceptrons on MNIST: last, averaged, voted",
            "",
            "Made by `bench/mnist.py`, after Freund and Schapire, *Large margin classification using the perceptron "
            "algorithm* (1999): one kernel perceptron for each digit against the rest, K(x, x′) = (⟨x, x′⟩ + 1)^degree, "
            "pixels from 0 to 1, rows shuffled anew in every pass with seed 0. The digit with the largest score wins; "
            "the scores of a digit are those of its last function, of the mean of all its functions, or the balance of "
            "their votes. All come from one run: a table's column is that run, stopped there. Updates and support rows "
            "are sums over the ten digits.",
            "",
            *lines,
            "",
            f"{run.seconds:.0f} seconds in all, {run.processor:.0f} of processor time; peak memory {run.megabytes:.0f} MiB.",
            "",
            "## Circumstances",
            "",
            *circumstances,
            "",
            "```text",
            f"freund_schapire FOLDER {arguments.rows}",
            "```",
            "",
        ],
    )


if __name__ == "__main__":
    main()
