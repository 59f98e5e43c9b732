"""The binary cache: five epochs from it, in memory and in bounded memory, beside the text and Vowpal Wabbit's cache."""

import subprocess

from common import LINSEP, say

from . import chart, data
from .contest import Contender, Section, bar_rows, contest, seconds_text, spread_text
from .text import vowpal_wabbit


def knows(command, word):
    """Whether a command of linsep exists and its help has a word."""
    done = subprocess.run([LINSEP, command, "--help"], capture_output=True, text=True)
    return done.returncode == 0 and word in done.stdout


def race(options):
    if not knows("convert", "convert"):
        return Section("Binary cache", ["This linsep has no `convert`: left out.", ""], [], {})
    rows = data.made(20_000 if options.quick else 200_000)
    cache = rows.train.with_suffix(".linsep")
    cache.unlink(missing_ok=True)
    learn = ["--epochs", "5", "--json", "--quiet", "-o", "cache.safetensors"]

    def linsep(name, *arguments):
        return Contender(name, [LINSEP, *arguments], lambda record: record["seconds"], ours=True)

    contenders = [
        Contender("linsep convert", [LINSEP, "convert", rows.train, cache, "--quiet"], fresh=[cache], ours=True),
        linsep("linsep train, text", "train", rows.train, *learn),
        linsep("linsep train, cache", "train", cache, *learn),
    ]
    if knows("train", "--memory"):
        contenders.append(linsep("linsep train --memory 64M", "train", cache, "--memory", "64M", *learn))
    contenders.append(vowpal_wabbit(rows, "hinge", keep_cache=True))
    say("binary cache")
    contest(contenders, options.rounds)
    lines = [
        f"{rows.about}; the text has {rows.megabytes:.0f} MB, the cache {cache.stat().st_size / 1e6:.0f} MB. Files are in "
        "the cache of the system.",
        "",
        "| program | median | least to most | opening | learning | peak memory |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for c in contenders:
        parts = [seconds_text(c.median(part)) if part in c.runs[-1].parts else "" for part in ("read", "train")]
        lines.append(
            f"| {c.name} | {seconds_text(c.median())} | {spread_text(c.seconds())} | {parts[0]} | {parts[1]} "
            f"| {c.runs[-1].megabytes:.0f} MiB |"
        )
    lines += ["", "CHART cache", "", "```text", *[c.shown() for c in contenders], "```", ""]
    svg = chart.bars("Five epochs: from text and from the cache", "seconds", bar_rows(contenders))
    return Section("Binary cache", lines, [], {"cache": svg})
