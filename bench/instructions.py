#!/usr/bin/env python3
"""Counts the instructions of what must not become slower unseen, and compares with the counts on record.

Instructions, counted by callgrind, do not depend on what else the machine does. Exit code 1 if a count grew by more than
the tolerance. They do depend on the compiler and on the processor's features: the record says which.
"""

import argparse
import json
import re
import subprocess
import sys

from common import PROFILE, RECORDS, ROOT, TARGET, install, say

RECORD = RECORDS / "instructions.json"
PROGRAM = TARGET / PROFILE / "examples" / "instructions"
# The difference between this many repetitions and one is counted, so that what is done once is not.
TIMES = 4


def count(case, times):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, case, str(times)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"callgrind failed on {case}:\n{done.stderr}")
    return int(found[1])


def measure():
    command = ["cargo", "build", "--profile", PROFILE, "--locked", "-p", "linsep", "--example", "instructions"]
    subprocess.run([*command, "--target-dir", TARGET], cwd=ROOT, check=True)
    cases = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout.split()
    counts = {}
    for case in cases:
        counts[case] = (count(case, 1 + TIMES) - count(case, 1)) // TIMES
        say(f"{case}: {counts[case]:,}")
    return counts


def compiler():
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="put the counts on record")
    parser.add_argument("--tolerance", type=float, default=2.0, help="growth in percent that is allowed [default: 2]")
    arguments = parser.parse_args()
    if not install("valgrind", "valgrind"):
        raise SystemExit("valgrind is needed: install the package valgrind")
    counts = measure()
    if arguments.update:
        RECORD.write_text(json.dumps({"compiler": compiler(), "instructions": counts}, indent=2) + "\n")
        say(f"wrote {RECORD}")
        return 0
    if not RECORD.exists():
        raise SystemExit("there are no counts on record: make them with --update")
    record = json.loads(RECORD.read_text())
    if record["compiler"] != compiler():
        say(f"the counts on record are of {record['compiler']}, these of {compiler()}")
    regressions = 0
    print("| what | on record | now | change |\n|---|---:|---:|---:|")
    for case, now in counts.items():
        before = record["instructions"].get(case)
        if before is None:
            print(f"| {case} | | {now:,} | new: put it on record with --update |")
            continue
        change = 100 * (now - before) / before
        worse = change > arguments.tolerance
        regressions += worse
        print(f"| {case} | {before:,} | {now:,} | {change:+.2f} %{' **regression**' if worse else ''} |")
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(main())
