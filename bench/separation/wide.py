#!/usr/bin/env python3
"""Wide data: is it decided, how fast, in how much memory, beside an earlier program.

One command: builds linsep, makes the cases, runs, writes a record.
"""

import argparse
import datetime
import gzip
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import wide_cases  # noqa: E402
from common import LINSEP, ROOT, WORK, Run, build, environment, machine, say, write_record  # noqa: E402

PACKAGES = ["numpy==2.4.6", "pillow==12.0.0"]
FOLDER = WORK / "separation" / "wide"


def install():
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment(FOLDER / "venv", PACKAGES)
    if Path(sys.prefix).resolve() != (FOLDER / "venv").resolve():
        os.execv(python, [str(python), *sys.argv])


def decide(program, arguments, *options):
    """One run: its record, the whole of its time, its peak memory, and whether the program accepts its certificate."""
    import json

    certificate = FOLDER / "certificate.json"
    certificate.unlink(missing_ok=True)
    with open(FOLDER / "record.json", "w+") as out:
        command = [program, "separate", *arguments, "-o", certificate, "--json", "--quiet", *options]
        run = Run(command, stdout=out).wait(accept=(0, 1, 4))
        out.seek(0)
        record = json.load(out)
    proof = "none"
    if certificate.exists():
        check = Run([program, "verify", certificate, *arguments, "--quiet"], stdout=subprocess.DEVNULL)
        proof = "accepted" if check.wait(accept=(0, 1)).code == 0 else "**rejected**"
    return record, run, proof


def cases(data, before, limit):
    lines = [
        "| case | verdict, certificate | seconds | processor | before: verdict | seconds |",
        "|---|---|---:|---:|---|---:|",
    ]
    decided = 0
    for name, make in wide_cases.CASES.items():
        made = FOLDER / f"{name}.made"
        arguments = make(data, FOLDER) if not made.exists() else made.read_text().split("\n")
        made.write_text("\n".join(map(str, arguments)))
        record, run, proof = decide(LINSEP, arguments, "--time", limit)
        decided += record["verdict"] != "undecided" and proof == "accepted" and run.seconds < 60
        old = "–", "–"
        if before:
            earlier, time, _ = decide(before, arguments, "--time", limit)
            old = earlier["verdict"], f"{time.seconds:.1f}"
        lines.append(
            f"| {name}: {' '.join(make.__doc__.split())} | {record['verdict']}, {proof} | {run.seconds:.1f} | {run.processor:.1f} "
            f"| {old[0]} | {old[1]} |"
        )
        say(lines[-1])
    return [
        "## Cases",
        "",
        f"{decided} of {len(wide_cases.CASES)} decided within a minute, with a certificate that is accepted. The time is that of the whole "
        f"program; processor seconds are summed over both cores. `--time {limit}`.",
        "",
        *lines,
        "",
    ]


def text(before, rounds):
    lines = [
        "| labels flipped | program | verdict, certificate | deciding | processor | peak memory | times as stored |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    claims = []
    for noise in ("0", "0.01"):
        path = FOLDER / f"text-{noise}.svm"
        if not path.exists():
            command = [LINSEP, "generate", "text", "--rows", "200000", "--features", "47000", "--noise", noise, "-o", path]
            subprocess.run(command, check=True)
        content = path.read_bytes()
        # A column of 4 bytes and a value of 8 for each entry: decimal fractions are no f32. A place, a label and a line for each row.
        stored = (12 * content.count(b":") + 16 * content.count(b"\n")) / 2**20
        medians = {}
        programs = {"before": before, "now": LINSEP} if before else {"now": LINSEP}
        runs = {title: [] for title in programs}
        for _ in range(rounds):
            for title, program in programs.items():
                runs[title].append(decide(program, [path]))
        for title, results in runs.items():
            record, run, proof = results[0]
            medians[title] = statistics.median(record["seconds"] for record, _, _ in results)
            memory = max(run.megabytes for _, run, _ in results)
            processor = statistics.median(run.processor for _, run, _ in results)
            lines.append(
                f"| {float(noise):.0%} | {title} | {record['verdict']}, {proof} | {medians[title]:.2f} s | {processor:.2f} s "
                f"| {memory:.0f} MiB | {memory / stored:.2f} |"
            )
        if before:
            claims.append(
                f"* {float(noise):.0%} of the labels flipped: {medians['before'] / medians['now']:.1f} times as fast as before (deciding, medians "
                f"of {rounds}, the programs taking turns)."
            )
    return ["## Text: 200,000 rows, 47,000 features", "", *claims, "", *lines, ""]


def enron(data, seconds):
    path = FOLDER / "enron.svm"
    if not path.exists():
        with gzip.open(data / "libsvm" / "enron_binary_bow.svm.gz") as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
    lines = ["## A margin asked for: Enron, 33,255 × 83,473", ""]
    for bias in ("append", "free"):
        # The certificate says which bias it is about.
        record, run, proof = decide(LINSEP, [path], "--gap", "0.1", "--time", seconds, "--bias", bias)
        margin = record["margin"]
        lines.append(
            f"* `--bias {bias} --gap 0.1 --time {seconds}`: {record['verdict']}, {proof}, margin {margin['lower']} to {margin['upper']} after "
            f"{run.seconds:.1f} s ({run.processor:.1f} s of processor) and {record['passes']} passes."
        )
    return [*lines, "", "A linear SVM shows a margin of 0.0286.", ""]


def main():
    default = ROOT.parent / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=default, help="folder of real data sets")
    parser.add_argument("--before", type=Path, help="an earlier program to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=60, help="seconds that one case may take")
    parser.add_argument("--record", default=f"{datetime.date.today()}-separation-wide.md")
    arguments = parser.parse_args()
    install()
    build()
    circumstances = machine()
    lines = [
        *text(arguments.before, arguments.rounds),
        *cases(arguments.data, arguments.before, arguments.limit),
        *enron(arguments.data, arguments.limit),
    ]
    title = ["# Deciding separation of wide data", "", "Made by `bench/separation/wide.py`; `bench/separation/README.md` says how.", ""]
    write_record(arguments.record, [*title, *lines, "## Circumstances", "", *circumstances, ""])


if __name__ == "__main__":
    main()
