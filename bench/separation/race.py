#!/usr/bin/env python3
"""Deciding separation beside HiGHS and LIBLINEAR: time, memory, tiny margins, known answers.

One command: builds linsep, installs the others from PyPI, makes the data, runs, writes a record.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import LINSEP, ROOT, WORK, Run, build, environment, machine, say, write_record  # noqa: E402

PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1"]
HERE = Path(__file__).resolve().parent
FOLDER = WORK / "separation"


def install_peers():
    """The rest of this program needs NumPy, so it goes on in an environment that has it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment(FOLDER / "venv", PACKAGES)
    if Path(sys.prefix).resolve() != (FOLDER / "venv").resolve():
        os.execv(python, [str(python), *sys.argv])


class Decision:
    """One run of `linsep separate`, and of `linsep verify` on what it gave."""

    def __init__(self, data, *arguments, verify=True):
        certificate = FOLDER / "certificate.cert"
        certificate.unlink(missing_ok=True)
        command = [LINSEP, "separate", data, "-o", certificate, "--json", "--quiet", *arguments]
        with open(FOLDER / "record.json", "w+") as out:
            self.run = Run(command, stdout=out).wait(accept=(0, 1, 4))
            out.seek(0)
            self.record = json.load(out)
        self.verdict = self.record["verdict"]
        self.total, self.deciding = self.run.seconds, self.record["seconds"]
        self.accepted = None
        if verify and certificate.exists():
            reading = [
                word
                for name, value in zip(arguments, arguments[1:])
                if name in ("--labels", "--label", "--header", "--missing", "--ignore")
                for word in (name, value)
            ]
            done = Run([LINSEP, "verify", certificate, data, "--quiet", *reading], stdout=subprocess.DEVNULL)
            self.accepted, self.checking = done.wait(accept=(0, 1)).code == 0, done.seconds
            self.bytes = certificate.stat().st_size

    @property
    def gap(self):
        margin = self.record["margin"]
        if self.verdict != "complete" or margin["lower"] is None or not margin["upper"]:
            return None
        return (margin["upper"] - margin["lower"]) / margin["upper"]

    def proof(self):
        return {None: "none", True: "accepted", False: "**rejected**"}[self.accepted]


def peer(solver, rows, labels, limit):
    """What a peer says, and the seconds of its solving alone; None where it took too long."""
    command = ["timeout", str(limit), sys.executable, str(HERE / "peers.py"), solver, str(rows), str(labels)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 124:
        return f"no answer in {limit} s", float("inf")
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    answer = json.loads(done.stdout)
    return answer["verdict"], answer["seconds"]


def make(name, n, d, gamma, overlapping=False):
    """Gaussian rows of length about 1 as f32, none nearer than γ to a boundary; or with noise in the labels."""
    import numpy

    rows, labels = FOLDER / f"{name}.npy", FOLDER / f"{name}-labels.npy"
    if labels.exists():
        return rows, labels
    say(f"making {name}")
    random = numpy.random.default_rng(0)
    w = random.normal(size=d)
    w /= numpy.linalg.norm(w)
    x = numpy.lib.format.open_memmap(rows, "w+", numpy.float32, (n, d))
    y = numpy.empty(n, numpy.int8)
    for start in range(0, n, 100_000):
        part = slice(start, min(n, start + 100_000))
        values = random.normal(size=(part.stop - part.start, d)) / numpy.sqrt(d)
        score = values @ w
        noise = random.normal(size=len(score)) * (0.3 / numpy.sqrt(d) if overlapping else 0.0)
        y[part] = numpy.where(score + noise > 0, 1, -1)
        if not overlapping:
            values += (numpy.maximum(gamma - numpy.abs(score), 0.0) * y[part])[:, None] * w
        x[part] = values
    x.flush()
    numpy.save(labels, y)
    return rows, labels


def against_peers(rounds, limit):
    """n = 10⁵, d = 50: ratios to HiGHS, all in one run."""
    solvers = {
        "HiGHS, dual simplex, Zw ≥ 1": "highs-primal",
        "HiGHS, dual simplex, 0 in the hull": "highs-dual",
        "HiGHS, interior point, 0 in the hull": "highs-ipm",
        "LIBLINEAR, hinge loss, C = 10⁶": "liblinear",
    }
    lines = [
        "| rows | program | verdict | median | least to most | ratio to linsep |",
        "|---|---|---|---:|---:|---:|",
    ]
    claims = []
    for title, name, overlapping, truth in [
        ("separable, margin 10⁻³", "separable", False, "complete"),
        ("overlapping", "overlapping", True, "overlap"),
    ]:
        rows, labels = make(name, 100_000, 50, 1e-3, overlapping)
        ours, theirs = [], {solver: [] for solver in solvers}
        Decision(rows, "--labels", labels, verify=False)
        for number in range(rounds):
            say(f"{title}: round {number + 1} of {rounds}")
            ours.append(Decision(rows, "--labels", labels))
            for solver, key in solvers.items():
                if all(seconds < limit for _, seconds in theirs[solver]):
                    theirs[solver].append(peer(key, rows, labels, limit))
        assert all(decision.verdict == truth for decision in ours), [decision.verdict for decision in ours]
        total = statistics.median(decision.total for decision in ours)
        deciding = statistics.median(decision.deciding for decision in ours)
        for what, seconds in [
            ("linsep, the whole program", [decision.total for decision in ours]),
            ("linsep, deciding with its certificate", [decision.deciding for decision in ours]),
            ("linsep verify, the whole program", [decision.checking for decision in ours]),
        ]:
            lines.append(
                f"| {title} | {what} | {truth}, certificate {ours[0].proof()} | {statistics.median(seconds):.3f} s "
                f"| {min(seconds):.3f} to {max(seconds):.3f} s | |"
            )
        fastest = float("inf")
        for solver, answers in theirs.items():
            seconds = [seconds for _, seconds in answers]
            median = statistics.median(seconds)
            if "HiGHS" in solver:
                fastest = min(fastest, median)
            if median == float("inf"):
                lines.append(f"| {title} | {solver} | {answers[0][0]} | – | – | – |")
                continue
            lines.append(
                f"| {title} | {solver} | {answers[0][0]} | {median:.2f} s | {min(seconds):.2f} to {max(seconds):.2f} s "
                f"| {median / total:.0f} whole, {median / deciding:.0f} deciding |"
            )
        claims.append(
            f"* {title}: at least 50 times as fast as HiGHS **{'holds' if fastest / deciding >= 50 else 'does not hold'}** "
            f"for deciding: {fastest / deciding:.0f} times the fastest of its three ways; {fastest / total:.0f} times with the "
            f"whole program, start and reading included, against HiGHS's solving alone."
        )
        memory, size = max(decision.run.megabytes for decision in ours), rows.stat().st_size / 2**20
        claims.append(f"* {title}: peak memory {memory:.0f} MiB, {memory / size:.2f} times the file of {size:.0f} MiB.")
    return ["## Beside HiGHS and LIBLINEAR: 100,000 rows, 50 features", "", *claims, "", *lines, ""]


def one_pass(rows):
    """Seconds of X @ w over the rows as stored, on all cores: the least of several."""
    import numpy

    x = numpy.load(rows)
    w, seconds = numpy.ones(x.shape[1], x.dtype), []
    for _ in range(7):
        start = time.perf_counter()
        x @ w
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), min(seconds)


def large(rounds):
    """n = 10⁶, d = 100, γ ≈ 10⁻⁵, in units of passes over the data."""
    rows, labels = make("large", 1_000_000, 100, 1e-5)
    pass_before, least = one_pass(rows)
    runs = []
    for number in range(rounds):
        say(f"large: round {number + 1} of {rounds}")
        runs.append(Decision(rows, "--labels", labels, "--gap", "1e-9"))
    pass_after, also = one_pass(rows)
    unit, least = statistics.median([pass_before, pass_after]), min(least, also)
    deciding = statistics.median(run.deciding for run in runs)
    total = statistics.median(run.total for run in runs)
    first = runs[0]
    margin, size = first.record["margin"], rows.stat().st_size / 2**20
    memory = max(run.run.megabytes for run in runs)
    gap = max(run.gap or 1.0 for run in runs)
    holds = deciding / unit <= 150 and gap <= 1e-9 and all(run.accepted for run in runs)
    return [
        "## A million rows, 100 features, margin about 10⁻⁵",
        "",
        f"Verdict, certificate and margin to a gap of 10⁻⁹ in at most 150 passes **{'holds' if holds else 'does not hold'}**: "
        f"{first.verdict}, certificate {first.proof()}, margin {margin['lower']} to {margin['upper']} (gap {gap:.1e}), "
        f"{deciding:.2f} s of deciding = {deciding / unit:.0f} passes (medians of {rounds}); the whole program, reading "
        f"included, {total:.2f} s = {total / unit:.0f} passes. A pass is X @ w in NumPy over the f32 values as stored, on all cores: "
        f"{1e3 * unit:.1f} ms (least: {1e3 * least:.1f} ms). Checking the certificate as a program of its own took "
        f"{first.checking:.2f} s; it has {first.bytes} bytes.",
        "",
        f"Peak memory {memory:.0f} MiB, {memory / size:.2f} times the file of {size:.0f} MiB: at most 1.5 times "
        f"**{'holds' if memory <= 1.5 * size else 'does not hold'}**.",
        "",
    ]


def sweep(limit):
    """γ from 0.1 to 10⁻¹⁸ beside HiGHS."""
    import numpy

    lines = [
        "| γ | rows | linsep | margin contains γ | gap | seconds | HiGHS, Zw ≥ 1 | HiGHS, 0 in the hull |",
        "|---:|---|---|---|---:|---:|---|---|",
    ]
    wrong, ours_wrong = None, 0
    random = numpy.random.default_rng(3)
    n, d = 1000, 10
    v = numpy.round(random.normal(size=(n // 2, d)) * 2**20) / 2**20
    # With v also −v: the origin is in the hull, and the margin is just γ.
    v = numpy.vstack([v, -v])
    turn = numpy.linalg.qr(random.normal(size=(d + 1, d + 1)))[0]
    y = numpy.where(numpy.arange(n) % 3 == 0, -1, 1)
    labels = FOLDER / "sweep-labels.npy"
    numpy.save(labels, y)
    for exponent in [*range(1, 16), 18]:
        gamma = 2.0 ** -round(exponent * 3.321928)
        z = numpy.hstack([numpy.full((n, 1), gamma), v])
        # In turned coordinates values are rounded: below 10⁻¹² that would be another margin.
        for how, rows in [("as made", z)] + ([("turned", z @ turn)] if exponent <= 12 else []):
            path = FOLDER / "sweep.npy"
            numpy.save(path, rows * y[:, None])
            found = Decision(path, "--labels", labels, "--bias", "none")
            margin = found.record["margin"]
            slack = 0.0 if how == "as made" else 1e-14
            inside = (margin["lower"] or 0.0) - slack <= gamma <= margin["upper"] + slack
            ours_wrong += not (found.verdict == "complete" and inside and found.accepted)
            answers = [peer(solver, path, labels, limit)[0] for solver in ("highs-primal-origin", "highs-dual-origin")]
            if wrong is None and any(answer != "complete" for answer in answers):
                wrong = gamma
            shown = [answer if answer == "complete" else f"**{answer}**" for answer in answers]
            gap = "–" if found.gap is None else f"{found.gap:.1e}"
            lines.append(
                f"| {gamma:.1e} | {how} | {found.verdict}, {found.proof()} | {'yes' if inside else '**no**'} | {gap} "
                f"| {found.deciding:.3f} | {shown[0]} | {shown[1]} |"
            )
            say(lines[-1])
    told = "was right throughout" if wrong is None else f"is wrong first at γ = {wrong:.1e}, with its default tolerances"
    return [
        "## Margins from 10⁻¹ to 10⁻¹⁸",
        "",
        f"{n} rows, {d + 1} features, no bias, margin γ by construction, R about 5. linsep was wrong {ours_wrong} times; HiGHS {told}.",
        "",
        *lines,
        "",
    ]


def text(rounds):
    """Sparse text: the verdict in the time of reading."""
    lines = [
        "| file | features | verdict | reading | deciding | deciding / reading | peak memory | in memory as stored |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    files = []
    for noise in ("0", "0.01"):
        path = FOLDER / f"text-{noise}.svm"
        if not path.exists():
            command = [LINSEP, "generate", "text", "--rows", "200000", "--features", "60000", "--noise", noise, "-o", path]
            subprocess.run(command, check=True)
        files.append((f"generated, {float(noise):.0%} of the labels flipped", path, []))
    for name, title in [("20news.svm", "20 newsgroups, 0 against the rest"), ("enron.svm", "Enron")]:
        if (FOLDER / name).exists():
            files.append((title, FOLDER / name, ["--positive", "0"] if name == "20news.svm" else []))
    for title, path, arguments in files:
        runs = [Decision(path, *arguments) for _ in range(rounds)]
        # What is not deciding is reading, starting and writing.
        reading = statistics.median(run.total - run.deciding for run in runs)
        deciding = statistics.median(run.deciding for run in runs)
        content = path.read_bytes()
        stored = (8 * content.count(b":") + 12 * content.count(b"\n")) / 2**20
        memory = max(run.run.megabytes for run in runs)
        record = runs[0].record
        lines.append(
            f"| {title}, {len(content) / 1e6:.0f} MB | {record['features']} | {record['verdict']}, {runs[0].proof()} "
            f"| {reading:.2f} s | {deciding:.2f} s | {deciding / reading:.2f} | {memory:.0f} MiB "
            f"| {stored:.0f} MiB, {memory / stored:.2f} times |"
        )
        say(lines[-1])
    return [
        "## Sparse text",
        "",
        f"Medians of {rounds} runs. Reading is what the whole program takes beside deciding.",
        "",
        *lines,
        "",
    ]


def known_answers(data, limit):
    import known

    lines = [
        "| data | rows × features | expected | found | certificate | margin | deciding | whole program |",
        "|---|---:|---|---|---|---|---:|---:|",
    ]
    right, count = 0, 0
    for name, path, arguments, expected in known.problems(ROOT, data, FOLDER):
        found = Decision(path, *arguments, "--time", limit)
        record = found.record
        same = record["verdict"] == expected
        same |= expected == known.NOT_COMPLETE and record["verdict"] in (known.QUASI, known.OVERLAP)
        right, count = right + (same and found.accepted is True), count + 1
        margin = record["margin"]
        width = f"{margin['lower']:.4g} to {margin['upper']:.4g}" if record["verdict"] == "complete" else "–"
        verdict = record["verdict"] if same else f"**{record['verdict']}**"
        lines.append(
            f"| {name} | {record['rows']} × {record['features']} | {expected} | {verdict} | {found.proof()} | {width} "
            f"| {found.deciding:.3f} s | {found.total:.2f} s |"
        )
        say(lines[-1])
    return ["## Known answers", "", f"{right} of {count} as known, with a certificate that is accepted.", "", *lines, ""]


def main():
    default = ROOT.parent / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=default if default.is_dir() else None, help="folder of real data sets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=600, help="seconds that a peer, or one known answer, may take")
    parser.add_argument("--only", nargs="+", choices=["known", "peers", "sweep", "large", "text"])
    parser.add_argument("--record", default=f"{datetime.date.today()}-separation.md")
    arguments = parser.parse_args()
    install_peers()
    build()
    circumstances = machine()
    # Known answers come first: they unpack files that the section on text reads again.
    sections = {
        "known": lambda: known_answers(arguments.data, arguments.limit),
        "peers": lambda: against_peers(arguments.rounds, arguments.limit),
        "sweep": lambda: sweep(arguments.limit),
        "large": lambda: large(arguments.rounds),
        "text": lambda: text(arguments.rounds),
    }
    lines = []
    for name, section in sections.items():
        if arguments.only is None or name in arguments.only:
            lines += section()
    record = [
        "# Deciding separation",
        "",
        "Made by `bench/separation/race.py`; `bench/separation/README.md` says what is measured and how.",
        "",
        *lines,
        "## Circumstances",
        "",
        *circumstances,
        f"* Peers from PyPI: {', '.join(package.replace('==', ' ') for package in PACKAGES)} (HiGHS is part of SciPy, LIBLINEAR of "
        "scikit-learn)",
        "",
    ]
    write_record(arguments.record, record)


if __name__ == "__main__":
    main()
