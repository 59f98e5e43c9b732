#!/usr/bin/env python3
"""Trains every learner on five data sets and one of separable blobs with two programs, and compares what they learned, bit for bit.

    python3 bench/same_models.py OLD NEW
    python3 bench/same_models.py OLD NEW --order given --data ../shared/data

The arrays of the model files must have the same names, shapes and bytes. What the files say beside the arrays (settings,
classes, evidence) must be equal too; keys that only the file of NEW has are listed, and allowed. A learner that refuses
the data must refuse it in both programs. Exit code 1 if anything differs.
"""

import argparse
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Name, file of the repository or under --data, arguments. A data set that is nowhere is generated.
DATA = [
    ("iris", "data/iris.csv", []),
    ("breast cancer", "data/breast_cancer.csv", ["--scale", "standard"]),
    ("spam", "spambase/kernlab_spam.csv", []),
    ("a1a", "libsvm/a1a", []),
    ("bank", "csv/bank.csv", []),
    ("blobs", None, []),
]
GENERATED = {
    "spam": ["generate", "text", "--rows", "500", "--features", "500"],
    "a1a": ["generate", "text", "--rows", "1000", "--features", "2000"],
    "bank": ["generate", "random-labels", "--rows", "1000", "--features", "20", "--format", "csv"],
    "blobs": ["generate", "blobs", "--rows", "500", "--features", "5"],
}
# Learners that need longer than the others, with the arguments that keep them short, and what else a learner needs on
# a data set: only some irises are separable, and long rows lose their distances in a kernel.
ARGUMENTS = {
    "max-margin": ["--epochs", "200"],
    "svm": ["--epochs", "20"],
    "kernel": ["--epochs", "2"],
    "voted": ["--epochs", "2"],
    ("max-margin", "iris"): ["--positive", "setosa"],
    ("kernel", "bank"): ["--scale", "standard"],
}
# Times differ from run to run, and the program's name from version to version.
VOLATILE = {"seconds", "read_seconds", "train_seconds", "program", "threads"}


def learners(program):
    """The names that `train --help` lists under --learner."""
    text = subprocess.run([program, "train", "--help"], check=True, capture_output=True, text=True).stdout
    part = text.split("--learner <", 1)[1].split("\n      --", 1)[0]
    names = re.findall(r"^\s+- ([a-z-]+):", part, re.MULTILINE)
    if not names:
        raise SystemExit(f"{program} train --help lists no learners")
    return names


def model(path):
    """The arrays of a safetensors file by name, and its JSON text."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = json.loads(header.pop("__metadata__")["linsep"])
    arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        arrays[name] = (entry["dtype"], tuple(entry["shape"]), content[8 + length + start : 8 + length + end])
    return arrays, metadata


def differences(old, new, place=""):
    """Yields what differs in two JSON values, and which keys only the new one has."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            where = f"{place}.{key}" if place else key
            if key in VOLATILE:
                continue
            if key not in old:
                yield ("added", where)
            elif key not in new:
                yield ("differs", f"{where} is gone")
            else:
                yield from differences(old[key], new[key], where)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{place}[{i}]")
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield ("differs", f"{place}: {json.dumps(old)[:60]} and {json.dumps(new)[:60]}")


def compared(old, new):
    """What differs in two model files, and the keys that only the second has."""
    (old_arrays, old_text), (new_arrays, new_text) = model(old), model(new)
    found = []
    for name in sorted(old_arrays.keys() | new_arrays.keys()):
        if name not in old_arrays or name not in new_arrays:
            found.append(f"array {name} is only in one of the files")
        elif old_arrays[name] != new_arrays[name]:
            found.append(f"array {name} differs")
    rest = sorted(set(differences(old_text, new_text)))
    found += [what for kind, what in rest if kind == "differs"]
    return found, {what for kind, what in rest if kind == "added"}


def source(name, file, folder, program, data):
    """The file of a data set: of the repository, of --data, or generated."""
    for place in (ROOT, data):
        if file and (place / file).is_file():
            return place / file
    made = folder / name
    subprocess.run([program, *GENERATED[name], "-o", made, "-q"], check=True)
    return made


def train(program, path, out, arguments, timeout):
    """Trains, and gives the exit code, with the last line of standard error if there is no model."""
    command = [program, "train", "-q", path, "-o", out, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    lines = done.stderr.strip().splitlines()
    return done.returncode, (lines[-1] if lines else "") if not out.exists() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the program to compare with")
    parser.add_argument("new", type=Path, help="the program to judge")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="where the data sets are")
    parser.add_argument("--order", help="the order of the rows [default: the learner's own]")
    parser.add_argument("--epochs", default="5", help="passes over the data [default: 5]")
    parser.add_argument("--learner", action="append", help="only this learner (repeat for more)")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for one run [default: 1200]")
    arguments = parser.parse_args()
    old, new = arguments.old.resolve(), arguments.new.resolve()
    names = arguments.learner or learners(new)
    failures, added = [], set()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        print(f"{'learner':<20}" + "".join(f"{name:>15}" for name, *_ in DATA))
        files = {
            name: (source(name, file, folder, old, arguments.data), extra)
            for name, file, extra in DATA
        }
        for learner in names:
            print(f"{learner:<20}", end="", flush=True)
            for name, (path, extra) in files.items():
                options = ["--learner", learner, *extra]
                options += ARGUMENTS.get(learner, []) + ARGUMENTS.get((learner, name), [])
                if "--epochs" not in options:
                    options += ["--epochs", arguments.epochs]
                if arguments.order:
                    options += ["--order", arguments.order]
                outs = [folder / "old.safetensors", folder / "new.safetensors"]
                for out in outs:
                    out.unlink(missing_ok=True)
                codes = [
                    train(program, path, out, options, arguments.timeout) for program, out in zip((old, new), outs)
                ]
                if codes[0][0] != codes[1][0] or outs[0].exists() != outs[1].exists():
                    found = [f"exit codes {codes[0][0]} and {codes[1][0]}: {codes[0][1]} | {codes[1][1]}"]
                elif not outs[0].exists():
                    found = []
                else:
                    found, more = compared(*outs)
                    added |= more
                result = "DIFFERS" if found else "same" if outs[0].exists() else f"both exit {codes[0][0]}"
                print(f"{result:>15}", end="", flush=True)
                failures += [f"{learner} on {name}: {what}" for what in found]
            print()
    if added:
        print(f"\nOnly the files of {arguments.new} have: {', '.join(sorted(added))}")
    if failures:
        print("\n" + "\n".join(failures))
        return 1
    print("\nAll models are the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
