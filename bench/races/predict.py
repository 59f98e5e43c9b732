"""Labels for a whole file: linsep predict beside liblinear-predict and Vowpal Wabbit, whole programs."""

import subprocess

from common import LINSEP, WORK, say

from . import chart, data
from .contest import (
    Contender,
    Section,
    bar_rows,
    contest,
    ratio_claim,
    seconds_text,
    spread_text,
    wabbit,
    with_liblinear,
)
from .text import wrong


def learn(rows):
    """A model of each, on the same rows; not timed."""
    say("learning the models")
    commands = [[LINSEP, "train", rows.train, "--epochs", "5", "--quiet", "-o", "predict.safetensors"]]
    commands.append(wabbit("-d", rows.wabbit(rows.train), "--loss_function", "hinge", "--quiet", "-f", "predict.vw"))
    if with_liblinear():
        commands.append(["liblinear-train", "-s", "1", "-B", "1", "-q", rows.train, "predict.liblinear"])
    for command in commands:
        subprocess.run(list(map(str, command)), cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def race(options):
    rows = data.made(20_000 if options.quick else 200_000)
    learn(rows)
    command = [LINSEP, "predict", "predict.safetensors", rows.train, "--quiet"]
    contenders = [
        Contender("linsep predict", [*command, "-o", "labels.linsep"], ours=True),
        Contender("linsep predict, one thread", [*command, "--threads", "1", "-o", "labels.one"], ours=True),
        Contender(
            "Vowpal Wabbit -t",
            wabbit("-t", "-i", "predict.vw", "-d", rows.wabbit(rows.train), "-p", "labels.vw", "--quiet"),
        ),
    ]
    outputs = ["labels.linsep", "labels.one", "labels.vw"]
    if with_liblinear():
        command = ["liblinear-predict", rows.train, "predict.liblinear", "labels.liblinear"]
        contenders.insert(2, Contender("liblinear-predict", command))
        outputs.insert(2, "labels.liblinear")
    say("prediction")
    contest(contenders, options.rounds)
    lines = [
        f"The {rows.megabytes:.0f} MB that were learned from, each program with its own model.",
        "",
        "| program | median | least to most | MB/s | peak memory | error on these rows |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for c, labels in zip(contenders, outputs):
        error = wrong(rows.train, [float(word) > 0 for word in (WORK / labels).read_text().split()])
        lines.append(
            f"| {c.name} | {seconds_text(c.median())} | {spread_text(c.seconds())} | {rows.megabytes / c.median():.0f} "
            f"| {c.runs[-1].megabytes:.0f} MiB | {100 * error:.2f} % |"
        )
    lines += ["", "CHART predict", "", "```text", *[c.shown() for c in contenders], "```", ""]
    title = f"Labels for {rows.megabytes:.0f} MB of text"
    claims = []
    if with_liblinear():
        what = f"prediction, {rows.megabytes:.0f} MB: beside liblinear-predict"
        claims = [ratio_claim(what, 10, contenders[2].median(), contenders[0].median())]
    return Section("Prediction", lines, claims, {"predict": chart.bars(title, "seconds", bar_rows(contenders))})
