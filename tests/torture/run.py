#!/usr/bin/env python3
"""Tries to break a linsep program: kills, full disks, closed pipes, concurrent writers, memory limits, damaged and
changing files, round trips, read-only folders, control groups and clocks that jump.

    python3 tests/torture/run.py PROGRAM --minutes 60           the long form
    python3 tests/torture/run.py PROGRAM --short                what check.sh runs: a fixed number of trials
    python3 tests/torture/run.py PROGRAM --only kills --trial 7 --seed 1    one trial again

README.md says what each kind tries and what counts as a failure. Exits with 1 if something failed.
"""

import argparse
import concurrent.futures
import importlib
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from trial import Trial  # noqa: E402

KINDS = (
    "kills",
    "full_disk",
    "closed_pipes",
    "concurrent_writers",
    "memory_limits",
    "mutated_files",
    "changing_files",
    "round_trips",
    "surroundings",
)
# In the long form the kinds take turns of about this many seconds.
TURN = 20.0


class Tally:
    """What was tried of one kind, and what failed."""

    def __init__(self):
        self.trials, self.seconds = 0, 0.0
        self.failures, self.counts, self.longest = [], {}, {}

    def add(self, other):
        self.trials += other.trials
        self.seconds += other.seconds
        self.failures += other.failures
        for what, count in other.counts.items():
            self.counts[what] = self.counts.get(what, 0) + count
        for what, seconds in other.longest.items():
            self.longest[what] = max(seconds, self.longest.get(what, 0.0))


def work(program, kind, numbers, seed, place, seconds):
    """Makes trials of one kind, until the numbers or the seconds have run out."""
    module = importlib.import_module(f"kinds.{kind}")
    tally, started, broken = Tally(), time.monotonic(), False
    for number in numbers:
        trial = Trial(program, kind, number, seed, place)
        try:
            module.trial(trial)
        except Exception:
            # A trial that cannot be made has not shown anything: that must not look like success.
            trial.fail("the trial itself failed:\n" + traceback.format_exc())
            broken = True
        trial.close()
        tally.trials += 1
        tally.failures += [(number, *failure, str(trial.folder)) for failure in trial.failures]
        for what, count in trial.counts.items():
            tally.counts[what] = tally.counts.get(what, 0) + count
        for what, longest in trial.longest.items():
            tally.longest[what] = max(longest, tally.longest.get(what, 0.0))
        if broken or seconds is not None and time.monotonic() - started >= seconds:
            break
    tally.seconds = time.monotonic() - started
    return tally


def short_form(pool, kinds, arguments, place):
    """A fixed number of trials of each kind, the longest kinds first."""
    modules = {kind: importlib.import_module(f"kinds.{kind}") for kind in kinds}
    for kind in kinds:
        numbers = range(modules[kind].SHORT)
        yield kind, pool.submit(work, arguments.program, kind, numbers, arguments.seed, place, None)


def long_form(pool, kinds, arguments, place, tallies):
    """Turns of each kind until the time is up; the kind that has had the least time comes next."""
    deadline = time.monotonic() + arguments.minutes * 60
    busy = {}
    while True:
        left = deadline - time.monotonic()
        idle = [kind for kind in kinds if kind not in busy.values()]
        while left > 0 and idle and len(busy) < arguments.jobs:
            kind = min(idle, key=lambda kind: tallies[kind].seconds)
            idle.remove(kind)
            first = tallies[kind].trials
            numbers = range(first, first + 1_000_000)
            turn = min(TURN, left)
            busy[pool.submit(work, arguments.program, kind, numbers, arguments.seed, place, turn)] = kind
        if not busy:
            return
        done, _ = concurrent.futures.wait(busy, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            yield busy.pop(future), future


def show(kind, number, problem, lines, folder, arguments):
    again = f"python3 {sys.argv[0]} {arguments.program} --only {kind} --trial {number} --seed {arguments.seed}"
    print(f"\nFAILED  {kind}, trial {number}: {problem}")
    print(f"    files: {folder}")
    print(f"    again: {again}")
    for line in lines[-6:]:
        print(f"    {line[:500]}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM", help="the linsep program to try")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on [default: 10]")
    parser.add_argument("--short", action="store_true", help="a fixed number of trials of each kind instead")
    parser.add_argument("--seed", type=int, help="of everything random [default: 1 with --short, else by the clock]")
    parser.add_argument("--only", choices=KINDS, action="append", metavar="KIND", help="only this kind (may be repeated)")
    parser.add_argument("--trial", type=int, help="only the trial with this number")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="trials at a time")
    parser.add_argument("--keep", type=Path, help="folder for the files of failures [default: a new one]")
    arguments = parser.parse_args()
    arguments.program = str(Path(arguments.program).resolve())
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"{arguments.program} is not a program")
    if arguments.seed is None:
        arguments.seed = 1 if arguments.short or arguments.trial is not None else int(time.time())
    kinds = arguments.only or list(KINDS)
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    place = (arguments.keep or Path(tempfile.mkdtemp(prefix="linsep-torture-"))).resolve()
    started = time.monotonic()
    print(f"{arguments.program}, seed {arguments.seed}, files in {place}", flush=True)

    tallies = {kind: Tally() for kind in kinds}
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        if arguments.trial is not None:
            numbers = [arguments.trial]
            turns = [(kind, pool.submit(work, arguments.program, kind, numbers, arguments.seed, place, None)) for kind in kinds]
        elif arguments.short:
            turns = list(short_form(pool, kinds, arguments, place))
        else:
            turns = long_form(pool, kinds, arguments, place, tallies)
        for kind, future in turns:
            tally = future.result()
            tallies[kind].add(tally)
            for failure in tally.failures:
                show(kind, *failure, arguments)

    print(f"\n{'kind':<20}{'trials':>8}{'failed':>8}{'seconds':>9}  what was tried")
    for kind, tally in tallies.items():
        failed = len({failure[0] for failure in tally.failures})
        told = [f"{count} {what}" for what, count in sorted(tally.counts.items())]
        told += [f"{what} at most {seconds:.2f} s" for what, seconds in sorted(tally.longest.items())]
        print(f"{kind:<20}{tally.trials:>8}{failed:>8}{tally.seconds:>9.1f}  {'; '.join(told)}")
    failures = sum(len(tally.failures) for tally in tallies.values())
    trials = sum(tally.trials for tally in tallies.values())
    took = time.monotonic() - started
    for kind in kinds:
        shutil.rmtree(place / f"{kind}-shared", ignore_errors=True)
    if failures:
        print(f"\n{failures} failures in {trials} trials, seed {arguments.seed}, {took:.0f} s. Their files: {place}")
        return 1
    shutil.rmtree(place, ignore_errors=True) if not arguments.keep else None
    print(f"\nNothing failed in {trials} trials, seed {arguments.seed}, {took:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
