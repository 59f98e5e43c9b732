#!/usr/bin/env python3
"""Learns in 1 to 16 shards on 1 and 2 threads: passes until no shard makes a mistake, and how fast the passes are."""

import argparse
import datetime
import json
import statistics
import subprocess

from common import LINSEP, WORK, build, machine, say, write_record

SHARDS = [1, 2, 4, 8, 16]
THREADS = [1, 2]
MIXINGS = ["uniform", "updates"]
# Passes that are timed: the difference of two runs, because reading, judging and the fingerprint cost the same in both.
SHORT, LONG = 1, 21


def data_sets(rows):
    """Name, how it is made, and whether some boundary separates it."""
    return [
        ("dense", f"linsep generate blobs --rows {rows // 4} --features 100 --margin 0.05 --seed 0", True),
        ("text", f"linsep generate text --rows {rows} --noise 0 --seed 0", True),
        ("text, 1 % flipped", f"linsep generate text --rows {rows} --seed 0", False),
    ]


def command(text):
    return [str(LINSEP) if word == "linsep" else word for word in text.split()]


def make(sets):
    """Makes the files that are not there yet, and gives their names."""
    files = {}
    for name, recipe, _ in sets:
        file = recipe.replace("linsep generate ", "shards ").replace("--", "").replace(" ", "-")
        if not (WORK / file).exists():
            say(f"making {name}")
            subprocess.run([*command(recipe), "--quiet", "-o", file + ".part"], cwd=WORK, check=True)
            (WORK / (file + ".part")).rename(WORK / file)
        files[name] = file
    return files


def train(file, options):
    line = f"linsep train FILE {options} --json --quiet"
    words = [file if word == "FILE" else word for word in command(line)]
    return json.loads(subprocess.run(words, cwd=WORK, check=True, capture_output=True).stdout)


def spread(numbers, form):
    least, most = min(numbers), max(numbers)
    median = form.format(statistics.median(numbers))
    return median if least == most else f"{median} ({form.format(least)} to {form.format(most)})"


def convergence(file, seeds, limit):
    """Passes until no shard makes a mistake, for each number of shards and each rule, over several seeds."""
    found = {}
    for seed in range(seeds):
        for shards in SHARDS:
            # One shard is the ordinary run, whatever the rule.
            for mixing in MIXINGS if shards > 1 else MIXINGS[:1]:
                rule = f"--mixing {mixing}" if shards > 1 else ""
                run = train(file, f"--learner perceptron --epochs {limit} --shards {shards} {rule} --seed {seed}")
                counted = run["detail"]["mistakes"] if shards > 1 else run["updates"]
                bound = run["mistake_bound"]["upper"]
                assert bound is None or counted <= bound, "the theorem is broken"
                found.setdefault((shards, mixing), []).append({**run, "counted": counted})
        say(f"{file}: seed {seed}")
    return found


def convergence_table(found):
    lines = [
        "| shards | passes, equal weights | passes, by updates | updates, equal weights | K, equal weights | γ* ≤ |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for shards in SHARDS:
        runs = found[shards, "uniform"]
        passes = []
        for mixing in MIXINGS:
            of_rule = found.get((shards, mixing), runs)
            late = sum(not run["converged"] for run in of_rule)
            passes.append(spread([run["epochs"] for run in of_rule], "{:.0f}") + (f", {late} not done" if late else ""))
        lines.append(
            f"| {shards} | {passes[0]} | {passes[1]} | {spread([run['updates'] for run in runs], '{:.0f}')} "
            f"| {spread([run['counted'] for run in runs], '{:.1f}')} "
            f"| {min(run['margin']['upper'] for run in runs):.4g} |"
        )
    return lines


def speed(file, rounds):
    """Seconds of passes, for each number of shards and threads; the runs take turns."""
    seconds, last = {}, {}
    for number in range(rounds + 1):
        for shards in SHARDS:
            for threads in THREADS:
                runs = {}
                for epochs in (SHORT, LONG):
                    options = f"--epochs {epochs} --shards {shards} --threads {threads} --holdout 0.1"
                    runs[epochs] = train(file, options)
                passes = runs[LONG]["epochs"] - runs[SHORT]["epochs"]
                assert passes > 1, f"{file} with {shards} shards converges too soon to be timed: give it more rows"
                taken = runs[LONG]["seconds"]["train"] - runs[SHORT]["seconds"]["train"]
                # The first round warms the file cache.
                if number > 0:
                    seconds.setdefault((shards, threads), []).append(taken / passes)
                last[shards] = runs[LONG]
        say(f"{file}: round {number} of {rounds}")
    return seconds, last


def speed_table(seconds, last, found):
    """`found` has the passes until convergence, where there is one."""
    columns = [f"ms per pass, {count} thread{'s' * (count > 1)}" for count in THREADS]
    columns += ["passes, times as fast as one run on one thread"]
    columns += ["the same until converged"] * bool(found)
    columns += ["ns per value", "held-out error"]
    lines = [f"| shards | {' | '.join(columns)} |", "|---:|" + "---:|" * len(columns)]
    alone = statistics.median(seconds[1, 1])
    for shards in SHARDS:
        best = min(statistics.median(seconds[shards, threads]) for threads in THREADS)
        times = [spread([1e3 * taken for taken in seconds[shards, threads]], "{:.1f}") for threads in THREADS]
        cells = [str(shards), *times, f"{alone / best:.2f}"]
        if found:
            passes = [statistics.median(run["epochs"] for run in found[count, "uniform"]) for count in (1, shards)]
            cells.append(f"{alone * passes[0] / (best * passes[1]):.2f}")
        cells.append(f"{1e9 * best / last[shards]['nonzeros']:.2f}")
        cells.append(f"{100 * last[shards]['holdout_error']:.2f} %")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=5, help="seeds of the runs that go on until they converge")
    parser.add_argument("--limit", type=int, default=2000, help="the most passes of such a run")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the runs that are timed")
    parser.add_argument("--record", default=f"{datetime.date.today()}-shards.md")
    arguments = parser.parse_args()
    build()
    sets = data_sets(arguments.rows)
    files = make(sets)
    record = [
        "# Shards: passes until they converge, and how fast the passes are",
        "",
        "Made by `bench/shards.py`; `bench/README.md` says what is measured and how.",
        "",
    ]
    for name, recipe, separable in sets:
        record += [f"## {name[0].upper()}{name[1:]}", "", "```text", recipe, "```", ""]
        found = {}
        if separable:
            found = convergence(files[name], arguments.seeds, arguments.limit)
            record += [
                f"Until no shard makes a mistake: medians of {arguments.seeds} seeds, with the least and the most.",
                "",
                *convergence_table(found),
                "",
            ]
        record += [
            f"Time of a pass of the averaged perceptron: medians of {arguments.rounds} rounds, from the difference of runs "
            f"with {SHORT} and {LONG} passes (fewer where it converges); the error is that of the longer run on the tenth "
            "of the rows that it has not seen.",
            "",
            *speed_table(*speed(files[name], arguments.rounds), found),
            "",
        ]
    record += [
        "## Circumstances",
        "",
        *machine(),
        "",
        "```text",
        f"linsep train FILE --learner perceptron --epochs {arguments.limit} --shards S --mixing RULE --seed SEED --json",
        f"linsep train FILE --epochs {LONG} --shards S --threads T --holdout 0.1 --json",
        "```",
        "",
    ]
    write_record(arguments.record, record)


if __name__ == "__main__":
    main()
