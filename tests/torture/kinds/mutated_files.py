"""Damaged files of every format: bytes flipped, cut, repeated, spliced with another file, numbers replaced. Workbooks and
pictures, which checksums protect, are damaged as they are and inside, with checksums that fit.

A failure: a panic, a signal, a run that does not end, an exit code that is not documented, an error whose message is
empty or does not name the file; a certificate that was changed and is accepted, unless an independent checker
(tests/oracle/certificate_checker.py) accepts it too.
"""

import json
import re
import resource
import shutil
import struct
import sys
from pathlib import Path

from kinds import samples
from trial import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "oracle"))

SHORT = 600
LIMITS = [(resource.RLIMIT_AS, 3 << 30)]
NUMBERS = (b"0", b"-1", b"nan", b"inf", b"1e999", b"-0.0", b"1e-400", b"4294967296", b"18446744073709551616", b"9" * 40)
PIECES = (b"\0", b"\n", b"\r", b'"', b",", b":", b"#", b"\xff\xfe", b"\xef\xbb\xbf", b"[", b"{", b"\t", b"=")

TABLE = "size,colour,kind\n1.5,red,a\n-2,green,b\n3,red,b\n0.25,blue,a\n7,green,a\n"
POINTS = [("a", 0.0, 2.0), ("a", 1.0, 3.0), ("b", 0.5, -1.0), ("b", -2.0, -3.0), ("b", 1.5, 0.25), ("a", 0.75, 2.5)]
OVERLAP = [("a", 0.0, 1.0), ("b", 0.0, -1.0), ("a", 0.0, 0.0), ("b", 2.0, 1.0), ("b", -2.0, 0.5), ("a", 1.0, 2.0)]
SPEC = 'job = "train"\nlearner = "averaged"\nepochs = 3\nseed = 0\nholdout = 0.3\nscale = "standard"\n\n[data]\nsource = "points.csv"\n\n[bias]\nappend = true\nscale = 1.0\n'
DATA = ("table.csv", "points.csv", "points.tsv", "points.svm", "points.npz", "points.linsep", "table.linsep", "points.csv.gz", "points.svm.zst", "points.npy")
# Formats that are read and not written, and folders of one class each, by the data that commands are given.
READ = {
    "points.jsonl": "points.jsonl",
    "signs.vw": "signs.vw",
    "book.xlsx": "book.xlsx",
    "grey-images-idx3-ubyte": "grey-images-idx3-ubyte",
    "grey-labels-idx1-ubyte": "grey-images-idx3-ubyte",
    "pictures": "pictures",
    "mails": "mails",
}


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
        late_formats(t, place)
        t.made("complete.cert", "separate", "points.csv", "-q", "-o", "{}")
        t.made("overlap.cert", "separate", "overlap.csv", "-q", "-o", "{}")
    return place


def late_formats(t, place):
    """Files of formats that are not written, folders of texts and pictures, and a model of each."""
    (place / "points.jsonl").write_bytes(samples.json_lines(POINTS))
    (place / "signs.vw").write_bytes(samples.vowpal_wabbit(POINTS))
    (place / "book.xlsx").write_bytes(samples.workbook(POINTS))
    levels = [(7 * k * k + 31 * (k // 9 % 2)) % 256 for k in range(6 * 9)]
    (place / "grey-images-idx3-ubyte").write_bytes(samples.idx([6, 3, 3], levels))
    (place / "grey-labels-idx1-ubyte").write_bytes(samples.idx([6], [0, 1, 0, 1, 0, 1]))
    # Pictures of other programs stand among the seeds of fuzzing, after a byte for the reader.
    photographs = [path.read_bytes()[1:] for path in sorted((REPOSITORY / "fuzz" / "seeds" / "picture").iterdir())]
    for number, photograph in enumerate(photographs):
        kind = "jpg" if photograph.startswith(b"\xff\xd8") else "png"
        folder = place / "pictures" / ("up" if number % 2 else "down")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.{kind}").write_bytes(photograph)
    (place / "pictures" / "up" / "drawn.png").write_bytes(samples.png(5, 4, lambda x, y: 40 * x + 10 * y))
    for kind, all_words in samples.WORDS.items():
        folder = place / "mails" / kind
        folder.mkdir(parents=True, exist_ok=True)
        for number, words in enumerate(all_words):
            (folder / f"{number}.eml").write_bytes(samples.mail(kind, words))
        (folder / "all.mbox").write_bytes(samples.mailbox(kind, all_words))
        (folder / "page.html").write_text(f"<!DOCTYPE html><html><body>{all_words[0]} &amp; <i>more</i></body></html>")
        (folder / "plain.txt").write_text(all_words[1])
    for data in dict.fromkeys(READ.values()):
        t.made(f"{data}.model", "train", data, "-q", "--epochs", 2, "-o", "{}")


def commands_of_read(name, t):
    """What is done with a damaged file of a format that is not written, or with one in a folder."""
    data = READ[name.split("/")[0]]
    others = [
        ("train", data, "--epochs", "2"),
        ("train", data, "--epochs", "2", "--skip-bad"),
        ("train", data, "--epochs", "1", "--learner", "logistic"),
        ("train", data, "--epochs", "2", "--cache"),
        ("separate", data, "--time", "5"),
        ("predict", f"{data}.model", data, "--csv"),
        ("evaluate", f"{data}.model", data),
        ("convert", data, t.random.choice(["new.csv", "new.svm", "new.npz", "new.linsep"])),
    ]
    if "/" in name:
        return [*others, ("predict", f"{data}.model", name), ("predict", f"{data}.model", name, "--explain")]
    return [*others, ("inspect", data), ("train", data, "--epochs", "1", "--online"), ("train", data, "--epochs", "2", "--memory", "16MB")]


def commands(name, t):
    """What is done with a damaged file of this name."""
    if name.split("/")[0] in READ:
        return commands_of_read(name, t)
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
        data = name.removesuffix(".model")
        if data not in READ:
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


def damaged(random, name, whole, others):
    """The file with some changes; inside a workbook or a picture, such that its checksums fit."""
    if name.endswith(".xlsx") and random.random() < 0.7:
        members = samples.members(whole)
        which = random.choice(sorted(members))
        members[which] = mutated(random, members[which], others)
        return samples.archive(members)
    changed = mutated(random, whole, others)
    return samples.with_checksums(changed) if name.endswith(".png") and random.random() < 0.7 else changed


def trial(t):
    place = seeds(t)
    names = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
    names.remove("overlap.csv")
    shutil.copytree(place, t.folder, dirs_exist_ok=True)
    name = names[t.number % len(names)]
    whole = (place / name).read_bytes()
    others = [(place / other).read_bytes() for other in t.random.sample(names, 3)]
    changed = damaged(t.random, name, whole, others)
    (t.folder / name).write_bytes(changed)
    command = t.random.choice(commands(name, t))
    ended = t.run(*command, limits=LIMITS, patience=60.0)
    t.count(Path(name).name.partition(".")[2] or "idx")
    # A message about the data may name what the damaged file names.
    names = [name, READ.get(name, name)] if "--spec" not in command else []
    others = ("which the model was trained with", "where the model needs")
    if name.endswith(".model") and any(other in ended.stderr for other in others):
        # Another name of a column, or another number of them, is a sound model, of another table.
        names = []
    t.sound(ended, names=names)
    if command[0] == "verify" and command[1] == name and ended.code == 0:
        accepted(t, changed.decode(), OVERLAP if name == "overlap.cert" else POINTS, ended)


def accepted(t, certificate, points, ended):
    """A changed certificate was accepted: an independent checker must accept it too."""
    from certificate_checker import NoProof, judge, parse

    t.count("changed certificates accepted")
    rows = [{0: x, 1: y} for _, x, y in points]
    try:
        judge(parse(certificate), 2, rows, [kind for kind, _, _ in points])
    except NoProof as reason:
        t.fail(f"a certificate was accepted that proves nothing: {reason}", ended)
