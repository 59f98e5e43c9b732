"""One epoch in memory beside what the memory allows: bandwidth and gathers, measured in the same process."""

import json
import statistics
import subprocess

from common import PROFILE, ROOT, TARGET, say

from . import chart
from .contest import Claim, Section

LEARNERS = ["perceptron, given", "perceptron, shuffle", "averaged, given", "averaged, shuffle"]
# What a user gets who chooses nothing.
DEFAULT = "averaged, shuffle"


def measure(options):
    command = ["cargo", "build", "--profile", PROFILE, "--locked", "-p", "linsep", "--example", "roofline"]
    subprocess.run([*command, "--target-dir", TARGET], cwd=ROOT, check=True)
    rows = 20_000 if options.quick else 200_000
    say("one epoch in memory")
    program = TARGET / PROFILE / "examples" / "roofline"
    done = subprocess.run([program, str(rows), str(options.rounds)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["cases"]


def name_of(case):
    features = f"{case['features']:,} features"
    return f"sparse, {features}" if case["kind"] == "sparse" else f"dense f32, {features}"


class Case:
    """What was measured on one data set, in the units of the page."""

    def __init__(self, record):
        self.record, self.name, self.sparse = record, name_of(record), record["kind"] == "sparse"

    def nanoseconds(self, job):
        """For each non-zero, in every round."""
        return [1e9 * seconds / self.record["nonzeros"] for seconds in self.record["seconds"][job]]

    def speeds(self, job):
        """GB/s in every round."""
        size = self.record["bytes" if job in LEARNERS else "memory_bytes"]
        return [size / seconds / 1e9 for seconds in self.record["seconds"][job]]

    def speed(self, job):
        return statistics.median(self.speeds(job))

    def cost(self, job):
        return statistics.median(self.nanoseconds(job))

    def share(self, job):
        """Of the bandwidth of one thread."""
        return self.speed(job) / self.speed("one thread reads")

    def table(self):
        for job in LEARNERS:
            costs = self.nanoseconds(job)
            gathers = ["", ""]
            if self.sparse:
                gathers = [f"{self.cost('gathers'):.2f}", f"{self.cost(job) / self.cost('gathers'):.2f}"]
            yield (
                f"| {self.name} | {job} | {self.cost(job):.2f} | {min(costs):.2f} to {max(costs):.2f} | {gathers[0]} "
                f"| {gathers[1]} | {self.record['bytes'] / 1e6:.0f} | {self.speed(job):.1f} "
                f"| {self.speed('one thread reads'):.1f} | {self.speed('all threads read'):.1f} "
                f"| {100 * self.share(job):.0f} % |"
            )

    def claim(self):
        what = f"one epoch in memory, {DEFAULT}: {self.name}"
        if not self.sparse:
            share = self.share(DEFAULT)
            return Claim(what, "70 % of one thread's read bandwidth", f"{100 * share:.0f} %", share >= 0.7)
        most, cost = 1.3 if self.record["features"] < 100_000 else 3.0, self.cost(DEFAULT)
        reached = f"{cost:.2f} ns (gathers alone {self.cost('gathers'):.2f})"
        return Claim(what, f"at most {most:g} ns per non-zero", reached, cost <= most)

    def chart(self):
        if self.sparse:
            jobs, values, unit = ["gathers", *LEARNERS], self.nanoseconds, "ns per non-zero"
        else:
            jobs, values, unit = ["one thread reads", "all threads read", *LEARNERS], self.speeds, "GB/s"
        found = [(job, values(job)) for job in jobs]
        rows = [(job, statistics.median(all_), min(all_), max(all_), job in LEARNERS) for job, all_ in found]
        return chart.bars(f"One epoch in memory: {self.name}", unit, rows)


def race(options):
    cases = [Case(record) for record in measure(options)]
    lines = [
        f"{cases[0].record['rows']:,} rows; {cases[0].record['threads']} threads. Everything takes turns in one process. "
        "Bandwidth is that of a sum over 512 MiB. Bytes of an epoch are those that a pass must read once: values, columns "
        "and row starts. Gathers are the same columns and values with their weights fetched, multiplied and summed, and "
        "nothing else: no rows, no updates, no decisions. An online learner takes one row after the other, so the "
        "bandwidth of one thread is its measure.",
        "",
        "| rows | learner, order | ns per non-zero | least to most | gathers alone | ratio | MB per epoch | GB/s "
        "| one thread reads, GB/s | all threads read | of one thread |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    charts = {}
    for case in cases:
        lines += case.table()
        charts[f"roofline-{case.record['kind']}-{case.record['features']}"] = case.chart()
    lines += [""] + [line for name in charts for line in (f"CHART {name}", "")]
    return Section("One epoch in memory: the roofline", lines, [case.claim() for case in cases], charts)
