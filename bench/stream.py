#!/usr/bin/env python3
"""Learns from streams of growing size: peak memory must not grow with them. Nothing touches the disk."""

import argparse
import datetime
import json
import subprocess

from common import LINSEP, WORK, Run, build, machine, say, write_record

GENERATE = "linsep generate text --size {size} --quiet"
TRAIN = "linsep train - --epochs 1 --order given --json --quiet -o stream.safetensors"


def command(text, **values):
    return [str(LINSEP) if word == "linsep" else word for word in text.format(**values).split()]


def measure(size):
    source = Run(command(GENERATE, size=size), stdout=subprocess.PIPE)
    with open(WORK / "stream.json", "w") as report:
        learner = Run(command(TRAIN), stdin=source.child.stdout, stdout=report)
    # The learner alone must hold the end of the pipe, so that the generator learns of its death.
    source.child.stdout.close()
    learner.wait()
    source.wait()
    record = json.loads((WORK / "stream.json").read_text())
    return {
        "size": size,
        "rows": record["examples"],
        "features": record["features"],
        "error": record["progressive_error"],
        "seconds": learner.seconds,
        "megabytes": learner.megabytes,
        "learner": learner.processor,
        "source": source.processor,
    }


def bytes_of(size):
    return float(size.removesuffix("GB").removesuffix("MB")) * (1e9 if size.endswith("GB") else 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["100MB", "1GB", "10GB"])
    parser.add_argument("--record", default=f"{datetime.date.today()}-stream.md")
    arguments = parser.parse_args()
    build()
    results = []
    for size in arguments.sizes:
        results.append(measure(size))
        say(f"{results[-1]}")
    peaks = [result["megabytes"] for result in results]
    lines = [
        "| stream | rows | features | peak memory of the learner | seconds | throughput | processor time of the learner "
        "| of the generator | progressive error |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        lines.append(
            f"| {result['size']} | {result['rows']} | {result['features']} | {result['megabytes']:.1f} MiB "
            f"| {result['seconds']:.1f} | {bytes_of(result['size']) / 1e6 / result['seconds']:.0f} MB/s "
            f"| {result['learner']:.1f} s | {result['source']:.1f} s | {100 * result['error']:.2f} % |"
        )
    record = [
        "# Learning from a stream: memory and throughput",
        "",
        "Made by `bench/stream.py`. The generator and the learner run at the same time and share the cores, so the "
        "throughput is that of both together.",
        "",
        f"Peak memory of the learner lies between {min(peaks):.1f} and {max(peaks):.1f} MiB over "
        f"{len(results)} sizes from {arguments.sizes[0]} to {arguments.sizes[-1]}.",
        "",
        *lines,
        "",
        "## Circumstances",
        "",
        *machine(),
        "",
        "```text",
        f"{GENERATE.format(size='SIZE')} | {TRAIN}",
        "```",
        "",
    ]
    write_record(arguments.record, record)


if __name__ == "__main__":
    main()
