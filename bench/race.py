#!/usr/bin/env python3
"""Races linsep against Vowpal Wabbit, LIBLINEAR, scikit-learn and pandas, and against the memory of the machine.

One command, no arguments needed: builds linsep, installs the others, makes the data, runs all races, writes a record.
"""

import argparse
import dataclasses
import datetime
import json
import platform
import subprocess
import time
from pathlib import Path

from common import COMMIT, RECORDS, WORK, build, machine, say, write_record
from races import cache, growth, predict, reading, roofline, svm, text
from races.contest import PACKAGES, PATIENCE, Claim, Options, Section, python, with_liblinear

RACES = {
    "text": text,
    "reading": reading,
    "roofline": roofline,
    "svm": svm,
    "predict": predict,
    "cache": cache,
    "growth": growth,
}
RESULTS = WORK / "results"


def save(name, section, quick):
    """Keeps what a race found, so that a record can be put together from several runs."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = {"commit": COMMIT, "quick": quick, "machine": machine(), "section": dataclasses.asdict(section)}
    (RESULTS / f"{name}.json").write_text(json.dumps(found))


def saved(quick):
    """The sections that were found with the program as it is, in the order of the races."""
    sections, circumstances = {}, {}
    for name in RACES:
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        found = json.loads(path.read_text())
        if (found["commit"], found["quick"]) != (COMMIT, quick):
            say(f"the race {name} was run with another linsep or another size: left out of the record")
            continue
        section = found["section"]
        claims = [Claim(**claim) for claim in section.pop("claims")]
        sections[name] = Section(**section, claims=claims)
        for line in found["machine"]:
            circumstances.setdefault(line, []).append(name)
    return sections, circumstances


def claims_table(sections):
    lines = ["| what | asked | reached | |", "|---|---:|---:|---|"]
    for section in sections.values():
        for claim in section.claims:
            holds = "" if not claim.asked else "holds" if claim.holds else "**does not hold**"
            lines.append(f"| {claim.what} | {claim.asked} | {claim.reached} | {holds} |")
    return lines


def versions():
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "liblinear-tools"], capture_output=True, text=True)
    debian = done.stdout if with_liblinear() else "not installed, left out"
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    peers = ", ".join(package.replace("==", " ") for package in PACKAGES)
    return [
        f"* Peers: {peers} (PyPI); LIBLINEAR tools {debian} (Debian)",
        f"* {compiler}; Python {platform.python_version()}",
    ]


def write(name, quick, rounds, arguments):
    sections, circumstances = saved(quick)
    # A quick run proves that all is in order, and is no record.
    folder = WORK if quick else RECORDS
    charts = (folder / name).with_suffix("")
    charts.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Races: linsep beside Vowpal Wabbit, LIBLINEAR, scikit-learn, pandas and the memory",
        "",
        "Made by `bench/race.py`; `bench/README.md` says what is measured and how.",
        "",
        "## What was asked, and what was reached",
        "",
        *claims_table(sections),
        "",
        f"Medians of {rounds} rounds (at most 3 for real data, large files and growth), the programs taking turns, after a round that "
        f"does not count; who needs more than {PATIENCE} s runs in one counted round. Files are in the cache of the "
        "system. Ratios are to the first line of each table.",
        "",
    ]
    for section in sections.values():
        lines += [f"## {section.title}", ""]
        for line in section.lines:
            if line.startswith("CHART "):
                chart = line.removeprefix("CHART ")
                (charts / f"{chart}.svg").write_text(section.charts[chart])
                line = f"![{chart}]({charts.name}/{chart}.svg)"
            lines.append(line)
    lines += ["## Circumstances", ""]
    for line, names in circumstances.items():
        lines.append(line if len(names) == len(sections) else f"{line} ({', '.join(names)})")
    lines += [*versions(), "", "```text", f"python3 bench/race.py{arguments}", "```", ""]
    write_record(folder / name, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=RACES, default=list(RACES), help="run these races alone")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works; no record is made")
    parser.add_argument("--rounds", type=int, help="rounds that count [default: 5; 2 with --quick]")
    parser.add_argument("--data", type=Path, help="folder of real data [default: ../shared/data, if it is there]")
    parser.add_argument("--record", default=f"{datetime.date.today()}-race.md", help="name of the record")
    arguments = parser.parse_args()
    rounds = arguments.rounds or (2 if arguments.quick else 5)
    options = Options(rounds, arguments.quick, arguments.data.resolve() if arguments.data else None)

    build()
    python()
    for name in arguments.only:
        before = time.perf_counter()
        save(name, RACES[name].race(options), arguments.quick)
        say(f"{name}: {time.perf_counter() - before:.0f} s")
    write(arguments.record, arguments.quick, rounds, " --quick" if arguments.quick else "")


if __name__ == "__main__":
    main()
