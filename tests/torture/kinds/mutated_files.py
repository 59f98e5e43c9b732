"""Damaged files of every format: bytes flipped, cut, repeated, spliced with another file, numbers replaced.

A failure: a panic, a signal, a run that does not end, an exit code that is not documented, an error whose message is
empty or does not name the file; a certificate that was changed and is accepted, unless an independent checker
(tests/oracle/certificate_checker.py) accepts it too.
"""

import json
import re
import resource
import struct
import sys

from trial import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "oracle"))

SHORT = 400
LIMITS = [(resource.RLIMIT_AS, 3 << 30)]
NUMBERS = (b"0", b"-1", b"nan", b"inf", b"1e999", b"-0.0", b"1e-400", b"4294967296", b"18446744073709551616", b"9" * 40)
PIECES = (b"\0", b"\n", b"\r", b'"', b",", b":", b"#", b"\xff\xfe", b"\xef\xbb\xbf", b"[", b"{", b"\t", b"=")

TABLE = "size,colour,kind\n1.5,red,a\n-2,green,b\n3,red,b\n0.25,blue,a\n7,green,a\n"
POINTS = [("a", 0.0, 2.0), ("a", 1.0, 3.0), ("b", 0.5, -1.0), ("b", -2.0, -3.0), ("b", 1.5, 0.25), ("a", 0.75, 2.5)]
OVERLAP = [("a", 0.0, 1.0), ("b", 0.0, -1.0), ("a", 0.0, 0.0), ("b", 2.0, 1.0), ("b", -2.0, 0.5), ("a", 1.0, 2.0)]
SPEC = 'job = "train"\nlearner = "averaged"\nepochs = 3\nseed = 0\nholdout = 0.3\nscale = "standard"\n\n[data]\nsource = "points.csv"\n\n[bias]\nappend = true\nscale = 1.0\n'
DATA = ("table.csv", "points.csv", "points.tsv", "points.svm", "points.npz", "points.linsep", "table.linsep", "points.csv.gz", "points.svm.zst", "points.npy")


def seeds(t):
    """The whole files, made once."""
    place = t.shared
    if not (place / "table.csv").exists():
        points = "x,y,kind\n" + "".join(f"{x!r},{y!r},{kind}\n" for kind, x, y in POINTS)
        overlap = "x,y,kind\n" + "".join(f"{x!r},{y!r},{kind}\n" for kind, x, y in OVERLAP)
        (place / "points.csv").write_text(points)
        (place / "overlap.csv").write_text(overlap)
        (place / "spec.toml").write_text(SPEC)
        (place / "spec.json").write_text(json.dumps({"job": "train", "epochs": 3, "learner": "svm", "C": 2.0, "data": {"source": "points.csv"}}))
        (place / "labels.txt").write_text("".join(f"{kind}\n" for kind, _, _ in POINTS))
        (place / "weights.txt").write_text("1\n2\n0.5\n1\n1\n3\n")
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (6, 2), }".ljust(117).encode() + b"\n"
        values = b"".join(struct.pack("<2d", x, y) for _, x, y in POINTS)
        (place / "points.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header + values)
        for name in ("points.tsv", "points.svm", "points.npz", "points.linsep", "points.csv.gz", "points.svm.zst"):
            t.made(name, "convert", "points.csv", "{}")
        (place / "table.csv").write_text(TABLE)
        t.made("table.linsep", "convert", "table.csv", "{}")
        t.made("points.model", "train", "points.csv", "-q", "-o", "{}")
        t.made("table.model", "train", "table.csv", "-q", "-o", "{}", "--scale", "standard")
        for learner in ("voted", "kernel", "multiclass", "memoriser"):
            t.made(f"{learner}.model", "train", "points.csv", "-q", "--learner", learner, "-o", "{}")
        t.made("run.checkpoint", "train", "points.csv", "-q", "--epochs", 3, "--checkpoint", "{}")
        t.made("complete.cert", "separate", "points.csv", "-q", "-o", "{}")
        t.made("overlap.cert", "separate", "overlap.csv", "-q", "-o", "{}")
    return place


def commands(name, t):
    """What is done with a damaged file of this name."""
    labels = ("--labels", "labels.txt") if name == "points.npy" else ()
    if name in DATA:
        model = "table.model" if name.startswith("table") else "points.model"
        return [
            ("train", name, "--epochs", "2", *labels),
            ("train", name, "--epochs", "1", "--online", *labels),
            ("train", name, "--epochs", "2", "--memory", "16MB", "--skip-bad"),
            ("train", name, "--epochs", "2", "--cache", *labels),
            ("separate", name, "--time", "5", *labels),
            ("verify", "complete.cert", name, *labels),
            ("predict", model, name, "--csv"),
            ("evaluate", model, name, *labels),
            ("convert", name, t.random.choice(["new.csv", "new.svm", "new.npz", "new.linsep"]), *labels),
            ("inspect", name),
        ]
    if name.endswith(".model"):
        data = "table.csv" if name == "table.model" else "points.csv"
        return [
            ("predict", name, data, "--csv"),
            ("evaluate", name, data),
            ("inspect", name),
            ("inspect", name, "--spec"),
            ("train", data, "--epochs", "2", "--init", name),
        ]
    return {
        "run.checkpoint": [("train", "points.csv", "--resume", name, "--max-seconds", "2")],
        "complete.cert": [("verify", name, "points.csv"), ("verify", name, "points.csv", "--json")],
        "overlap.cert": [("verify", name, "overlap.csv"), ("verify", name, "overlap.csv", "--json")],
        "spec.toml": [("train", "--spec", name, "--max-seconds", "2")],
        "spec.json": [("train", "--spec", name, "--max-seconds", "2")],
        "labels.txt": [("train", "points.npy", "--labels", name, "--epochs", "2")],
        "weights.txt": [("train", "points.csv", "--weights", name, "--epochs", "2")],
    }[name]


def mutated(random, content, others):
    """The bytes with one to four changes."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 3, 4])):
        at = random.randrange(len(changed) + 1)
        match random.randrange(9):
            case 0 | 1:
                if changed:
                    changed[at % len(changed)] ^= 1 << random.randrange(8)
            case 2:
                del changed[at:]
            case 3:
                del changed[at : at + random.randrange(1, 40)]
            case 4:
                length = random.randrange(1, 60)
                changed[at:at] = changed[at : at + length] * random.randrange(1, 5)
            case 5:
                other = random.choice(others)
                changed[at:] = other[random.randrange(len(other)) :]
            case 6 | 7:
                found = list(re.finditer(rb"\d+(\.\d+)?", bytes(changed)))
                if found:
                    number = random.choice(found)
                    changed[number.start() : number.end()] = random.choice(NUMBERS)
            case 8:
                changed[at:at] = random.choice(PIECES) * random.choice([1, 1, 2, 50])
    return bytes(changed)


def trial(t):
    place = seeds(t)
    names = sorted(path.name for path in place.iterdir() if path.name != "overlap.csv")
    for path in place.iterdir():
        t.put(path)
    name = names[t.number % len(names)]
    whole = (place / name).read_bytes()
    others = [(place / other).read_bytes() for other in t.random.sample(names, 3)]
    damaged = mutated(t.random, whole, others)
    (t.folder / name).write_bytes(damaged)
    command = t.random.choice(commands(name, t))
    ended = t.run(*command, limits=LIMITS, patience=60.0)
    t.count(name.split(".", 1)[1])
    # A message about the data may name what the damaged file names.
    names = [name] if command[0] != "train" or "--spec" not in command else []
    if name.endswith(".model") and "which the model was trained with" in ended.stderr:
        # Another name of a column is a sound model, of another table.
        names = []
    t.sound(ended, names=names)
    if command[0] == "verify" and command[1] == name and ended.code == 0:
        accepted(t, damaged.decode(), OVERLAP if name == "overlap.cert" else POINTS, ended)


def accepted(t, certificate, points, ended):
    """A changed certificate was accepted: an independent checker must accept it too."""
    from certificate_checker import NoProof, judge, parse

    t.count("changed certificates accepted")
    rows = [{0: x, 1: y} for _, x, y in points]
    try:
        judge(parse(certificate), 2, rows, [kind for kind, _, _ in points])
    except NoProof as reason:
        t.fail(f"a certificate was accepted that proves nothing: {reason}", ended)
