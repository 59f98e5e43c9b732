"""Reading alone: text to rows in memory, in one process, beside scikit-learn and pandas."""

import subprocess

from common import LINSEP, say

from . import chart, data
from .contest import Claim, Contender, Section, bar_rows, contest, inside, ratio_claim, seconds_text, spread_text


def linsep(path, name, *more):
    # One update and the run is over; what counts is the time of reading that the record tells.
    command = [LINSEP, "train", path, "--learner", "perceptron", "--max-updates", "1", "--json", "--quiet", *more]

    def told(record):
        return {"read": record["seconds"]["read"], "rows": record["examples"]}

    return Contender(name, command, told, ours=True)


def peer(path, name, job):
    return Contender(name, inside(job, path), lambda record: record)


def table(contenders, size):
    mine = contenders[0].median("read")
    lines = ["| reader | median | least to most | GB/s | ratio |", "|---|---:|---:|---:|---:|"]
    for c in contenders:
        median = c.median("read")
        lines.append(
            f"| {c.name} | {seconds_text(median)} | {spread_text(c.seconds('read'))} | {size / median / 1e9:.2f} "
            f"| {median / mine:.2f} |"
        )
    return lines


def files(quick):
    rows, table_rows = (20_000, 20_000) if quick else (200_000, 1_000_000)

    def decimals(path):
        subprocess.run(inside("make_csv", path, str(table_rows), "20"), check=True, stdout=subprocess.DEVNULL)

    (short,) = data.once(decimals, data.FOLDER / f"decimals-{table_rows}.csv")
    blobs = ["blobs", "--features", 20, "--rows", table_rows, "--margin", 0.001]
    long = data.generate(data.FOLDER / f"digits-{table_rows}.csv", *blobs)
    return [
        ("LIBSVM", data.made(rows).train, "scikit-learn load_svmlight_file", "read_libsvm"),
        ("CSV, five decimals", short, "pandas read_csv", "read_csv"),
        ("CSV, 16 digits", long, "pandas read_csv", "read_csv"),
    ]


def race(options):
    lines, claims, charts = [], [], {}
    for kind, path, their_name, job in files(options.quick):
        say(f"reading alone: {kind}")
        size = path.stat().st_size
        contenders = [
            linsep(path, "linsep"),
            linsep(path, "linsep, one thread", "--threads", "1"),
            peer(path, their_name, job),
            peer(path, "the bytes alone, one core", "read_bytes"),
        ]
        contest(contenders, options.rounds)
        rows = {c.runs[-1].parts["rows"] for c in contenders if "rows" in c.runs[-1].parts}
        assert len(rows) == 1, f"{path}: the readers found {rows} rows"
        ours, theirs = contenders[0].median("read"), contenders[2].median("read")
        if job == "read_libsvm":
            speed = size / ours / 1e9
            claims.append(Claim(f"reading LIBSVM alone, {size / 1e6:.0f} MB", "1 GB/s", f"{speed:.2f} GB/s", speed >= 1))
            claims.append(Claim("reading LIBSVM alone: beside load_svmlight_file", "", f"{theirs / ours:.1f} ×", True))
        else:
            claims.append(ratio_claim(f"reading {kind}, {max(rows):,} × 20: beside pandas", 10, theirs, ours))
        name = f"reading-{path.suffix[1:]}-{path.stem.split('-')[0]}"
        charts[name] = chart.bars(f"Reading alone: {kind}, {size / 1e6:.0f} MB", "seconds", bar_rows(contenders, "read"))
        about = f"{size / 1e6:.0f} MB, {max(rows):,} rows. Seconds inside the process, without its start."
        lines += [f"### {kind}", "", about, ""]
        lines += [*table(contenders, size), "", f"CHART {name}", ""]
    return Section("Reading alone", lines, claims, charts)
