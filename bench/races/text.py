"""From a text file to a saved model: whole programs, five epochs each where they count epochs."""

import json
import subprocess

from common import LINSEP, WORK, say

from . import chart, data
from .contest import (
    Claim,
    Contender,
    Section,
    bar_rows,
    contest,
    inside,
    ratio_claim,
    seconds_text,
    spread_text,
    wabbit,
    with_liblinear,
)

# Errors that differ by no more than this are called comparable: one row in a hundred.
TOLERANCE = 0.01
# The size that the claims are about: 174 MB of text.
CLAIMED = 200_000


def output(command):
    return subprocess.run(list(map(str, command)), cwd=WORK, check=True, capture_output=True, text=True).stdout


def wrong(held, positive):
    with open(held) as opened:
        truth = [line.split(maxsplit=1)[0] == "1" for line in opened]
    assert len(truth) == len(positive)
    return sum(a != b for a, b in zip(truth, positive)) / len(truth)


def linsep(rows, name, *more):
    model = "linsep" + "".join(more) + ".safetensors"
    command = [LINSEP, "train", rows.train, "--learner", "averaged", "--epochs", "5", "--json", "--quiet"]
    contender = Contender(name, [*command, *more, "-o", model], lambda record: record["seconds"], ours=True)
    contender.error = lambda: json.loads(output([LINSEP, "evaluate", model, rows.held, "--json"]))["error"]
    return contender


def vowpal_wabbit(rows, loss, keep_cache=False):
    name = f"{loss}{'-kept' if keep_cache else ''}"
    model, cache = f"wabbit-{name}.model", f"wabbit-{name}.cache"
    command = wabbit("-d", rows.wabbit(rows.train), "--loss_function", loss, "--passes", "5", "--cache_file", cache)
    command += ["--holdout_off", "--quiet", "-f", model]
    # Without the cache of an earlier run it reads the text once and makes the cache that more passes need.
    fresh = [model] if keep_cache else [cache, model]
    if keep_cache:
        # Of other rows, perhaps.
        (WORK / cache).unlink(missing_ok=True)
    contender = Contender(f"Vowpal Wabbit, {loss}{', its cache kept' if keep_cache else ''}", command, fresh=fresh)

    def error():
        output(wabbit("-t", "-i", model, "-d", rows.wabbit(rows.held), "-p", "predictions", "--quiet"))
        return wrong(rows.held, [float(line) > 0 for line in (WORK / "predictions").read_text().split()])

    contender.error = error
    return contender


def liblinear(rows, solver):
    model = f"liblinear-{solver}.model"
    command = ["liblinear-train", "-s", str(solver), "-B", "1", "-q", rows.train, model]
    contender = Contender(f"LIBLINEAR -s {solver}", command)

    def error():
        output(["liblinear-predict", rows.held, model, "predictions"])
        return wrong(rows.held, [line == "1" for line in (WORK / "predictions").read_text().split()])

    contender.error = error
    return contender


def scikit_learn(rows, kind):
    model = f"scikit-learn-{kind}.pickle"
    name = {"perceptron": "scikit-learn Perceptron", "averaged": "scikit-learn SGD, averaged"}[kind]
    contender = Contender(name, inside("fit", kind, rows.train, model), lambda record: record)
    contender.error = lambda: json.loads(output(inside("judge", model, rows.held)))["error"]
    return contender


def line_up(rows, short):
    """Everybody, or one of each for files that take long."""
    found = [linsep(rows, "linsep, averaged")]
    if not short:
        found.append(linsep(rows, "linsep, one thread", "--threads", "1"))
    found.append(vowpal_wabbit(rows, "hinge"))
    if not short:
        found += [vowpal_wabbit(rows, "logistic"), vowpal_wabbit(rows, "hinge", keep_cache=True)]
    if with_liblinear():
        found += [liblinear(rows, solver) for solver in ((1,) if short else (1, 3))]
    return found + [scikit_learn(rows, kind) for kind in (("perceptron",) if short else ("perceptron", "averaged"))]


def start_up(rounds):
    """Seconds in which Python starts and loads Vowpal Wabbit."""
    contender = Contender("start", wabbit("--version"))
    contest([contender], rounds)
    return contender.median()


def table(contenders, errors):
    lines = [
        "| program | median | least to most | reading | learning | processor | peak memory | held-out error | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    mine = contenders[0].median()
    for c in contenders:
        if not c.runs:
            lines.append(f"| {c.name} | stopped: too slow | | | | | | | |")
            continue
        last = c.runs[-1]
        parts = [seconds_text(c.median(part)) if part in last.parts else "" for part in ("read", "train")]
        lines.append(
            f"| {c.name} | {seconds_text(c.median())} | {spread_text(c.seconds())} | {parts[0]} | {parts[1]} "
            f"| {last.processor:.2f} s | {last.megabytes:.0f} MiB | {100 * errors[c.name]:.2f} % "
            f"| {c.median() / mine:.1f} |"
        )
    return lines


def verdict(contenders, errors):
    """Whether the answers are comparable."""
    mine = errors[contenders[0].name]
    counted = {c.name: errors[c.name] for c in contenders if c.name in errors and not c.ours}
    best = min(counted, key=counted.get)
    distance = 100 * (mine - counted[best])
    how = "comparable" if abs(distance) <= 100 * TOLERANCE else "not comparable"
    return (
        f"Held-out error of linsep: {100 * mine:.2f} %, of the best of the others ({best}): "
        f"{100 * counted[best]:.2f} %; a difference of {distance:+.2f} points: {how} within {100 * TOLERANCE:g}."
    )


def claims(rows, contenders, errors, python_start):
    ours = contenders[0]
    mine = ours.median()
    by_name = {c.name: c for c in contenders}
    passes = [c for c in contenders if c.name.startswith("Vowpal Wabbit") and "kept" not in c.name]
    fastest = min(passes, key=Contender.median)
    where = f"text to saved model, {rows.megabytes:.0f} MB, five epochs"
    found = [
        ratio_claim(f"{where}: beside the five passes of {fastest.name}", 10, fastest.median(), mine),
        ratio_claim(f"{where}: the same without the start of Python", 10, fastest.median() - python_start, mine),
    ]
    if "LIBLINEAR -s 1" in by_name:
        found.append(ratio_claim(f"{where}: beside LIBLINEAR -s 1", 20, by_name["LIBLINEAR -s 1"].median(), mine))
    learned = min(c.median("read") + c.median("train") for c in contenders if c.name.startswith("scikit-learn"))
    found.append(ratio_claim(f"{where}: beside scikit-learn, loading and fitting alone", 40, learned, mine))
    # LIBLINEAR does not count epochs.
    equal = {c.name: errors[c.name] for c in contenders if c.runs and not c.ours and "LIBLINEAR" not in c.name}
    best = min(equal, key=equal.get)
    found.append(
        Claim(
            f"{where}: held-out error at equal epochs",
            f"at most {100 * equal[best]:.2f} % ({best})",
            f"{100 * errors[ours.name]:.2f} %",
            errors[ours.name] <= equal[best],
        )
    )
    return found


def race(options):
    sizes = [2_000, 20_000] if options.quick else [20_000, CLAIMED, 1_000_000]
    sets = [data.made(rows) for rows in sizes] + data.real(options.data, ("a9a",) if options.quick else tuple(data.REAL))
    python_start = start_up(options.rounds)
    lines, found, charts = [], [], {}
    for rows in sets:
        large = rows.megabytes > 500
        say(f"text to saved model: {rows.name}")
        contenders = line_up(rows, short=large)
        contest(contenders, options.rounds if rows.name.startswith("text") else min(options.rounds, 3))
        errors = {c.name: c.error() for c in contenders if c.runs}
        name = f"text-{rows.train.stem.removeprefix('text-')}"
        title = f"Text to saved model: {rows.name} ({rows.megabytes:.1f} MB)"
        charts[name] = chart.bars(title, "seconds", bar_rows(contenders))
        lines += [f"### {rows.name}", "", f"{rows.about}; {rows.megabytes:.1f} MB of LIBSVM.", ""]
        lines += [*table(contenders, errors), "", verdict(contenders, errors), "", f"CHART {name}", ""]
        if rows.name == f"text {CLAIMED:,}" or options.quick and rows.train.stem == f"text-{sizes[-1]}":
            found = claims(rows, contenders, errors, python_start)
            lines += ["```text", *[c.shown() for c in contenders], "```", ""]
    lines += [f"Python needs {seconds_text(python_start)} to start and load Vowpal Wabbit, which its times contain.", ""]
    return Section("Text to saved model", lines, found, charts)
