"""Growth with the data: time per non-zero and peak memory, from a stream and in memory."""

import json
import statistics
import subprocess

from common import LINSEP, WORK, Run, say

from . import chart, data
from .contest import Claim, Section, show

PER_ROW = 63.5
GENERATE = [LINSEP, "generate", "text", "--quiet", "--rows"]
STREAM = [LINSEP, "train", "-", "--epochs", "1", "--order", "given", "--json", "--quiet", "-o", "stream.safetensors"]
# A value of the generated text has five decimals and is stored as f64, its column as u32; a row has a start and a class.
VALUE_BYTES, ROW_BYTES = 8 + 4, 8 + 4
STREAM_LIMIT, MEMORY_LIMIT = 64.0, 1.2


def rows_of(nonzeros):
    return round(nonzeros / PER_ROW)


def stream(nonzeros):
    """A generated stream through a pipe: nothing touches the disk."""
    source = Run([*GENERATE, str(rows_of(nonzeros))], stdout=subprocess.PIPE)
    with open(WORK / "stream.json", "w") as out:
        learner = Run(STREAM, stdin=source.child.stdout, stdout=out)
    # The learner alone must hold the end of the pipe, so that the generator learns of its death.
    source.child.stdout.close()
    learner.wait()
    source.wait()
    record = json.loads((WORK / "stream.json").read_text())
    return {
        "nonzeros": record["nonzeros"],
        "rows": record["examples"],
        "error": record["progressive_error"],
        "seconds": learner.seconds,
        "processor": learner.processor,
        "source": source.processor,
        "megabytes": learner.megabytes,
    }


def in_memory(nonzeros, rounds):
    path = data.generate(data.FOLDER / f"growth-{nonzeros:.0e}.svm", "text", "--rows", rows_of(nonzeros))
    command = [LINSEP, "train", path, "--epochs", "5", "--json", "--quiet", "-o", "growth.safetensors"]
    runs = []
    for _ in range(rounds + 1):
        with open(WORK / "growth.json", "w+") as out:
            run = Run(command, stdout=out).wait()
            out.seek(0)
            record = json.load(out)
        runs.append(run)
    stored = VALUE_BYTES * record["nonzeros"] + ROW_BYTES * record["examples"]
    return {
        "nonzeros": record["nonzeros"],
        "rows": record["examples"],
        "seconds": statistics.median(run.seconds for run in runs[1:]),
        "megabytes": max(run.megabytes for run in runs[1:]),
        "stored": stored / 2**20,
    }


def race(options):
    streams, memories = [], []
    for nonzeros in (1e6, 1e7) if options.quick else (1e6, 1e7, 1e8, 1e9):
        say(f"growth: a stream of {nonzeros:.0e} non-zeros")
        streams.append(stream(nonzeros))
    for nonzeros in (1e6,) if options.quick else (1e6, 1e7, 1e8):
        say(f"growth: {nonzeros:.0e} non-zeros in memory")
        memories.append(in_memory(nonzeros, min(options.rounds, 3)))
    lines = [
        "### From a stream",
        "",
        "The generator and the learner run at the same time and share the cores; the processor time is the learner's own.",
        "",
        "| non-zeros | rows | seconds | learner: processor | ns per non-zero | generator: processor | peak memory "
        "| progressive error |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for s in streams:
        lines.append(
            f"| {s['nonzeros']:,.0f} | {s['rows']:,} | {s['seconds']:.2f} | {s['processor']:.2f} s "
            f"| {1e9 * s['processor'] / s['nonzeros']:.1f} | {s['source']:.2f} s | {s['megabytes']:.1f} MiB "
            f"| {100 * s['error']:.2f} % |"
        )
    lines += [
        "",
        "### In memory",
        "",
        "Five epochs from text to saved model. Stored data: the values, their columns, the starts and classes of the rows.",
        "",
        "| non-zeros | rows | seconds | ns per non-zero | peak memory | stored data | ratio |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for m in memories:
        lines.append(
            f"| {m['nonzeros']:,} | {m['rows']:,} | {m['seconds']:.2f} | {1e9 * m['seconds'] / m['nonzeros']:.1f} "
            f"| {m['megabytes']:.1f} MiB | {m['stored']:.1f} MiB | {m['megabytes'] / m['stored']:.2f} |"
        )
    lines += ["", "CHART growth", "", "```text", f"{show([*GENERATE, 'ROWS'])} | {show(STREAM)}", "```", ""]
    series = [
        ("stream, seconds", [(s["nonzeros"], s["seconds"]) for s in streams], chart.OURS),
        ("its processor time", [(s["nonzeros"], max(s["processor"], 0.01)) for s in streams], "#7fb3c4"),
        ("in memory, 5 epochs", [(m["nonzeros"], m["seconds"]) for m in memories], "#c2571a"),
    ]
    svg = chart.curves("Time grows with the non-zeros", "non-zeros", "seconds", series)
    return Section("Growth", lines, claims(streams, memories), {"growth": svg})


def claims(streams, memories):
    costs = [s["processor"] / s["nonzeros"] for s in streams if s["processor"] > 0.2]
    peak = max(s["megabytes"] for s in streams)
    found = [
        Claim(
            "peak memory from a stream",
            f"under {STREAM_LIMIT:.0f} MB",
            f"{1.048576 * peak:.1f} MB",
            1.048576 * peak < STREAM_LIMIT,
        ),
    ]
    for m in memories:
        ratio = m["megabytes"] / m["stored"]
        what, asked = f"peak memory, {m['nonzeros']:,} non-zeros in memory", f"at most {MEMORY_LIMIT} × the stored data"
        found.append(Claim(what, asked, f"{ratio:.2f} ×", ratio <= MEMORY_LIMIT))
    if len(costs) > 1:
        # Twice the cost at a thousand times the size would be far from linear; noise alone is well below.
        most = max(costs) / min(costs)
        what = "time from a stream grows with the non-zeros"
        found.append(Claim(what, "linear", f"cost of a non-zero within a factor of {most:.2f}", most < 1.5))
    return found
