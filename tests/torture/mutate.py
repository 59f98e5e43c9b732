#!/usr/bin/env python3
"""Damages small files of every kind that linsep reads, and runs the program on each.

    python3 tests/torture/mutate.py PROGRAM --executions 20000             of each kind of fuzz/seeds
    python3 tests/torture/mutate.py PROGRAM --only jsonl --first 731 --executions 1 --seed 1    one of them again

A finding is a panic (exit code 101), a signal, an exit code that is not documented, a run of more than 20 s, or more than 1 GB of
memory: every file has less than 1 MB. Prints a table and exits with 1 if there was a finding; the file, the command and the messages
of each are kept. Everything random comes from the seed, the kind and the number of the execution.
"""

import argparse
import concurrent.futures
import gzip
import os
import random
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kinds import mutated_files, samples  # noqa: E402
from trial import DOCUMENTED, REPOSITORY, Trial  # noqa: E402

SEEDS = REPOSITORY / "fuzz" / "seeds"
LARGEST_FILE = 1_000_000
MAX_SECONDS = 20.0
MAX_MEMORY = 1_000_000_000
# A program that asks for everything must not take it from others: beyond a finding it need not go.
ADDRESS_SPACE = 6 << 30
TRAIN = ("train", "{}", "--epochs", "1", "--max-seconds", "5")
TABLE = (
    TRAIN,
    (*TRAIN, "--skip-bad"),
    (*TRAIN, "--missing", "auto"),
    (*TRAIN, "--online"),
    ("separate", "{}", "--time", "2"),
    ("convert", "{}", "out.csv"),
    ("convert", "{}", "out.svm", "--skip-bad"),
    ("predict", "table.model", "{}", "--csv"),
)
ROWS = tuple(command for command in TABLE if "auto" not in command)


class Kind:
    """A kind of files: the first bytes of its seeds that choose options of the fuzz target, the ending of a file, and what is done
    with it. A command with `{}` has the file in its place; `endings` are for seeds that say by their names what they are."""

    def __init__(self, ending, commands, prefix=1, endings=(), take=lambda name: True):
        self.ending, self.commands, self.prefix, self.endings, self.take = ending, commands, prefix, endings, take

    def seeds(self, kind):
        """The whole files, each with the ending that a file made of it has."""
        for path in sorted((SEEDS / kind).iterdir()):
            if self.take(path.name):
                ending = next((ending for part, ending in self.endings if part in path.name), self.ending)
                yield path.name, ending, path.read_bytes()[self.prefix :]


def certificate_rows(name):
    return ("verify", "{}", f"{name.split('-')[0]}.csv")


KINDS = {
    "arff": Kind(".arff", TABLE),
    "array": Kind(".npz", (*ROWS, (*TRAIN, "--labels", "two.txt")), endings=[("dense-000", ".npy")]),
    "cache": Kind(".linsep", ROWS),
    "certificate": Kind(".cert", certificate_rows, prefix=0),
    "checkpoint": Kind(".run", (("train", "numbers.csv", "--resume", "{}", "--max-seconds", "2"),), prefix=0),
    "columnar": Kind(".parquet", TABLE, endings=[("arrow", ".arrow")]),
    "columns": Kind(
        "",
        (("train", "four.npy", "--labels", "{}", "--epochs", "1"), ("train", "numbers.csv", "--weights", "{}", "--epochs", "1")),
        prefix=0,
        endings=[(".npy", ".npy")],
    ),
    "compressed": Kind(".csv.gz", TABLE, endings=[("zstandard", ".csv.zst")], take=lambda name: "text" not in name),
    "csv": Kind(".csv", TABLE, endings=[("tabs", ".tsv")]),
    "document": Kind(
        ".txt",
        (
            ("predict", "mails.model", "{}", "--csv"),
            ("predict", "mails.model", "{}", "--explain"),
            ("train", "texts", "--epochs", "1"),
            ("train", "texts", "--epochs", "1", "--skip-bad"),
        ),
        endings=[("mail", ".eml"), ("page", ".html"), ("mbox", ".mbox")],
    ),
    "encoding": Kind(".csv", (*TABLE, (*TRAIN, "--encoding", "utf-16le")), prefix=2),
    "idx": Kind("-images-idx3-ubyte", ((*TRAIN, "--labels", "two.txt"), ("convert", "{}", "out.csv", "--labels", "two.txt"))),
    "jsonl": Kind(".jsonl", TABLE),
    "libsvm": Kind(".svm", ROWS),
    "model": Kind(
        ".model",
        (
            ("predict", "{}", "numbers.csv", "--csv"),
            ("evaluate", "{}", "numbers.csv"),
            ("inspect", "{}"),
            ("inspect", "{}", "--spec"),
            ("train", "numbers.csv", "--epochs", "1", "--init", "{}"),
        ),
        prefix=0,
    ),
    "picture": Kind(
        ".png",
        (
            ("predict", "pictures.model", "{}"),
            ("train", "drawn", "--epochs", "1", "--size", "8x8"),
            ("train", "drawn", "--epochs", "1", "--skip-bad"),
        ),
        endings=[(jpeg, ".jpg") for jpeg in ("cmyk", "colour", "grey", "progressive", "turned")],
    ),
    "recipe": Kind(
        ".csv", (("predict", "table.model", "{}", "--csv"), ("evaluate", "table.model", "{}")), take=lambda name: "array" not in name
    ),
    "spec": Kind(".toml", (("train", "--spec", "{}", "--max-seconds", "2"),), prefix=0, endings=[(".json", ".json")]),
    "texts": Kind(".csv", (*TABLE, (*TRAIN, "--text", "text"), ("predict", "texts.model", "{}"))),
    "vw": Kind(".vw", ROWS),
    "xlsx": Kind(".xlsx", (*TABLE, (*TRAIN, "--sheet", "1")), take=lambda name: "sheet" not in name),
}

CERTIFIED = {
    "separable.csv": "x,y,side\n0,2,up\n1,3,up\n0.5,-1,down\n-2,-3,down\n",
    "touching.csv": "x,y,side\n0,0,up\n0,0,down\n1,2,up\n-1,3,up\n2,-1,down\n",
    "overlapping.csv": "x,y,side\n0,1,up\n0,-1,down\n0,0,up\n2,1,down\n-2,0.5,down\n1,2,up\n",
    "numbers.csv": "width,height,kind\n1,2,left\n2,1,right\n0.5,3,left\n4,1,right\n",
    "texts.csv": 'text,kind\n"Free prize, free loan",spam\nsee you at noon,ham\na loan,spam\nlunch at noon,ham\n',
    "two.txt": "a\nb\n",
}


def companions(program, place):
    """The files that commands name beside the damaged one, made once."""
    shared = mutated_files.seeds(Trial(program, "mutate", 0, 0, place))
    for name, text in CERTIFIED.items():
        (shared / name).write_text(text)
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1), }".ljust(117).encode() + b"\n"
    (shared / "four.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header + bytes(32))
    done = subprocess.run([program, "train", "texts.csv", "-q", "--text", "text", "-o", "texts.model"], cwd=shared, capture_output=True)
    if not (shared / "texts.model").exists():
        raise RuntimeError(done.stderr.decode(errors="replace"))
    # Folders of two classes, one of which gets the damaged file.
    (shared / "texts" / "a").mkdir(parents=True, exist_ok=True)
    (shared / "texts" / "b").mkdir(exist_ok=True)
    (shared / "texts" / "b" / "whole.txt").write_text("a text that is whole")
    (shared / "drawn" / "a").mkdir(parents=True, exist_ok=True)
    (shared / "drawn" / "b").mkdir(exist_ok=True)
    (shared / "drawn" / "b" / "whole.png").write_bytes(samples.png(5, 4, lambda x, y: 40 * x + 10 * y))
    return shared


def changed(chance, content, ending, others):
    """A damaged file. What is packed or has checksums or lengths is damaged inside, too."""
    inside = chance.random() < 0.6
    if inside and ending in (".xlsx", ".npz"):
        members = samples.members(content)
        which = chance.choice(sorted(members))
        members[which] = damaged(chance, members[which], others)
        return samples.archive(members)
    if inside and ending == ".csv.gz":
        return gzip.compress(damaged(chance, gzip.decompress(content), others), mtime=0)
    if inside and ending == ".png":
        return samples.with_checksums(damaged(chance, content, others))
    if inside and ending in (".model", ".run"):
        length = int.from_bytes(content[:8], "little")
        header = damaged(chance, content[8 : 8 + length], others)
        return len(header).to_bytes(8, "little") + header + content[8 + length :]
    return damaged(chance, content, others)


def damaged(chance, content, others):
    """The bytes with one to four changes, of which one may be a number of some bytes that is very large or very small."""
    made = bytearray(mutated_files.mutated(chance, content, others))
    if made and chance.random() < 0.25:
        width = chance.choice([1, 2, 4, 8])
        value = chance.choice([b"\xff" * width, b"\x7f" + b"\xff" * (width - 1), b"\xff" * (width - 1) + b"\x7f", bytes(width)])
        at = chance.randrange(len(made))
        made[at : at + width] = value
    if chance.random() < 0.02:
        # Far larger than the seeds: what grows faster than its file shows itself.
        made *= chance.choice([10, 100, 1000])
    return bytes(made[:LARGEST_FILE])


class Worker:
    """A folder with the companions, in which one program after the other runs."""

    def __init__(self, program, shared, place):
        self.program, self.shared = program, shared
        self.folder = Path(tempfile.mkdtemp(dir=place, prefix="worker-"))
        shutil.copytree(shared, self.folder, dirs_exist_ok=True)
        self.kept = set(os.listdir(self.folder))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        self.environment = {**os.environ, "RAYON_NUM_THREADS": "1", "TMPDIR": str(self.folder)}
        self.messages = self.folder.with_suffix(".err")

    def put(self, name, content, command):
        """Writes the damaged file where the command finds it; the paths that were written."""
        folder = {"texts": "texts/a", "drawn": "drawn/a"}.get(command[1], ".")
        path = self.folder / folder / name
        path.write_bytes(content)
        return path

    def run(self, command):
        """The exit code, the seconds, the peak of the memory in bytes, and whether the program was stopped because it took too long."""
        started = time.monotonic()
        with open(self.messages, "wb") as messages:
            process = subprocess.Popen(
                [self.program, *command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
            )
        watched = os.pidfd_open(process.pid)
        ended = bool(select.select([watched], [], [], MAX_SECONDS)[0])
        if not ended:
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        os.close(watched)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, time.monotonic() - started, usage.ru_maxrss * 1024, not ended

    def clean(self, path):
        path.unlink(missing_ok=True)
        for name in set(os.listdir(self.folder)) - self.kept:
            made = self.folder / name
            shutil.rmtree(made) if made.is_dir() else made.unlink()


def problem_of(code, seconds, peak, hung):
    if hung:
        return f"it did not end within {MAX_SECONDS:.0f} s"
    if code == 101:
        return "it panicked"
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    if code not in DOCUMENTED:
        return f"the exit code is {code}, which is not documented"
    if peak > MAX_MEMORY:
        return f"it had {peak / 1e9:.2f} GB of memory"
    return None


WORKER = None


def start_worker(program, shared, place):
    global WORKER
    WORKER = Worker(program, shared, place)


def execute(kind, numbers, seed, keep):
    """Makes these executions of a kind: exit codes, findings, and the longest and the largest run."""
    described = KINDS[kind]
    seeds = list(described.seeds(kind))
    codes, findings, longest, largest = Counter(), [], 0.0, 0
    for number in numbers:
        chance = random.Random(f"{seed}/{kind}/{number}")
        name, ending, content = chance.choice(seeds)
        others = [other for _, _, other in seeds if other] or [b"1"]
        content = changed(chance, content, ending, others)
        commands = described.commands
        command = commands(name) if callable(commands) else chance.choice(commands)
        file = f"input{ending}"
        command = [file if part == "{}" else part for part in command]
        path = WORKER.put(file, content, command)
        code, seconds, peak, hung = WORKER.run(command)
        codes["hung" if hung else code] += 1
        longest, largest = max(longest, seconds), max(largest, peak)
        problem = problem_of(code, seconds, peak, hung)
        if problem:
            kept = keep / f"{kind}-{number}"
            kept.mkdir(parents=True, exist_ok=True)
            (kept / file).write_bytes(content)
            shutil.copyfile(WORKER.messages, kept / "messages")
            (kept / "command").write_text(shlex.join(["linsep", *command]) + f"\n# {problem}\n")
            findings.append((number, problem, shlex.join(["linsep", *command]), str(kept)))
        WORKER.clean(path)
    return kind, len(numbers), codes, findings, longest, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM", help="the linsep program to try")
    parser.add_argument("--executions", type=int, default=200, help="of each kind [default: 200]")
    parser.add_argument("--first", type=int, default=0, help="the number of the first execution [default: 0]")
    parser.add_argument("--seed", type=int, default=1, help="of everything random [default: 1]")
    parser.add_argument("--only", choices=KINDS, action="append", metavar="KIND", help="only this kind (may be repeated)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="programs at a time")
    parser.add_argument("--keep", type=Path, help="folder for the inputs of findings [default: a new one]")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    if not os.access(program, os.X_OK):
        parser.error(f"{arguments.program} is not a program")
    missing = {folder.name for folder in SEEDS.iterdir()} ^ set(KINDS) ^ {"readers"}  # which has files of two kinds that are here
    if missing:
        parser.error(f"kinds of files that are only here or only in {SEEDS}: {', '.join(sorted(missing))}")
    kinds = arguments.only or list(KINDS)
    keep = (arguments.keep or Path(tempfile.mkdtemp(prefix="linsep-mutate-"))).resolve()
    keep.mkdir(parents=True, exist_ok=True)
    memory = Path("/dev/shm")
    place = Path(tempfile.mkdtemp(prefix="linsep-mutate-", dir=memory if os.access(memory, os.W_OK) else None))
    print(f"{program}, seed {arguments.seed}, findings in {keep}", flush=True)
    codes, findings = {kind: Counter() for kind in kinds}, {kind: [] for kind in kinds}
    done, longest, largest = Counter(), Counter(), Counter()
    started = time.monotonic()
    try:
        shared = companions(program, place)
        last = arguments.first + arguments.executions
        parts = [(kind, range(at, min(at + 100, last))) for at in range(arguments.first, last, 100) for kind in kinds]
        with concurrent.futures.ProcessPoolExecutor(arguments.jobs, initializer=start_worker, initargs=(program, shared, place)) as pool:
            running = [pool.submit(execute, kind, numbers, arguments.seed, keep) for kind, numbers in parts]
            for future in concurrent.futures.as_completed(running):
                kind, count, ended, found, slowest, most = future.result()
                done[kind] += count
                codes[kind] += ended
                findings[kind] += found
                longest[kind], largest[kind] = max(longest[kind], slowest), max(largest[kind], most)
                for number, problem, command, folder in found:
                    print(f"\nFOUND  {kind}, execution {number}: {problem}\n    {command}\n    in {folder}", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"\n{'kind':<12}{'executions':>11}{'findings':>10}{'longest s':>11}{'peak MB':>9}  exit codes")
    for kind in kinds:
        told = ", ".join(f"{code}: {count}" for code, count in sorted(codes[kind].items(), key=str))
        print(f"{kind:<12}{done[kind]:>11}{len(findings[kind]):>10}{longest[kind]:>11.2f}{largest[kind] / 1e6:>9.0f}  {told}")
    total = sum(len(found) for found in findings.values())
    print(f"\n{total} findings in {sum(done.values())} executions, seed {arguments.seed}, {time.monotonic() - started:.0f} s.")
    if not total and not arguments.keep:
        shutil.rmtree(keep, ignore_errors=True)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
