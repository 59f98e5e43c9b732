"""Little memory, and inputs that ask for much.

Three sorts of trial: every command under a limit of its address space (`RLIMIT_AS`) that is chosen at random above
what the program needs to start; hostile inputs (lines without end, compressed bombs, huge indices, many classes, huge
headers) under a limit of one gigabyte; `--memory M` for wide data and many classes. A failure: SIGABRT, SIGSEGV, SIGBUS or SIGKILL,
an exit code that is not documented, an error without a message; with `--memory M`, a peak of the resident memory
above M and a quarter, and the program itself.
"""

import gzip
import os
import resource
import struct
import subprocess
import sys
import threading

from kinds.writers import shared_inputs
from trial import REPOSITORY

SHORT = 40
MIB = 1 << 20
HOSTILE_LIMIT = 1 << 30
# What the program itself takes, whatever the data.
PROGRAM = 32 * MIB

COMMANDS = (
    ("train", "words.svm", "--epochs", "3", "-o", "new.model"),
    ("train", "words.svm", "--epochs", "3", "--learner", "svm"),
    ("train", "words.svm", "--epochs", "3", "--cache"),
    ("train", "words.svm", "--epochs", "3", "--memory", "24MB"),
    ("train", "iris.csv", "--learner", "kernel"),
    ("train", "blobs.csv", "--epochs", "3", "--shards", "4", "--scale", "standard"),
    ("predict", "words.model", "words.svm", "-o", "new.txt"),
    ("evaluate", "words.model", "words.svm"),
    ("separate", "blobs.csv", "-o", "new.cert"),
    ("separate", "iris.csv"),
    ("compare", "iris.csv", "--folds", "2", "--epochs", "2"),
    ("theory", "iris.csv", "--positive", "setosa", "--epochs", "5"),
    ("convert", "words.svm", "new.linsep"),
    ("convert", "words.svm", "new.svm.gz"),
    ("convert", "blobs.csv", "new.npz"),
    ("generate", "text", "--rows", "2000", "-o", "new.svm"),
    ("inspect", "words.model"),
    ("demo",),
)


def trial(t):
    shared_inputs(t)
    sorts = (under_a_limit, hostile, under_a_limit, hostile, with_memory)
    sorts[t.number % len(sorts)](t)


# Every command, with less and less memory.

floors = {}


def floor(t):
    """The least address space in which the program starts at all, in bytes."""
    if t.program not in floors:
        low, high = 1, 4096
        while low < high:
            middle = (low + high) // 2
            done = t.run("--version", limits=[(resource.RLIMIT_AS, middle * MIB)])
            low, high = (low, middle) if done.code == 0 else (middle + 1, high)
        floors[t.program] = low * MIB
    return floors[t.program]


def under_a_limit(t):
    for input in ("words.svm", "blobs.csv", "words.model"):
        t.put(t.shared / input)
    t.put(REPOSITORY / "data" / "iris.csv")
    command = COMMANDS[t.random.randrange(len(COMMANDS))]
    limit = floor(t) + int(2 ** t.random.uniform(0, 7) * MIB)
    t.count("limits of address space")
    ended = t.run(*command, limits=[(resource.RLIMIT_AS, limit)])
    t.sound(ended)
    left = [name for name in t.names() if name.endswith(".part")]
    if left:
        t.fail(f"left behind: {', '.join(left)}", ended)


# Hostile inputs.


def zstandard_bomb(byte, length):
    """A Zstandard frame of one byte repeated: blocks of the type RLE, each four bytes for 128 KiB."""
    block = 128 << 10
    blocks = -(-length // block)
    header = b"\x28\xb5\x2f\xfd" + bytes([0x00, 0x58])  # No checksum, a window of 2 MiB.
    body = b"".join(
        struct.pack("<I", (i == blocks - 1) | 1 << 1 | block << 3)[:3] + byte for i in range(blocks)
    )
    return header + body


def npy(header, body=b""):
    text = header.encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def hostile_files(t):
    """Files that are small and ask for much: (name, how to make it, commands)."""
    gigabyte = 1_200_000_000
    read = [("train", "-q", "--epochs", "1"), ("separate", "-q"), ("predict", "words.model")]
    classes = t.random.choice([2_000, 20_000])
    return [
        ("blanks.csv.gz", lambda: gzipped(b" ", gigabyte), read),
        ("letters.csv.gz", lambda: gzipped(b"x", gigabyte), read),
        ("quoted.csv.gz", lambda: gzipped(b"x", gigabyte, b'a,b\n1,"'), read),
        ("commas.csv.gz", lambda: gzipped(b",", gigabyte // 4), read),
        ("digits.svm.gz", lambda: gzipped(b"1", gigabyte, b"1 1:"), read),
        ("pairs.svm.gz", lambda: gzipped(b" 1:1", gigabyte, b"1"), read),
        ("lines.csv.gz", lambda: gzipped(b"\n", gigabyte // 4), read),
        ("blanks.svm.zst", lambda: zstandard_bomb(b" ", gigabyte), read),
        ("letters.csv.zst", lambda: zstandard_bomb(b"x", gigabyte), read),
        ("index.svm", lambda: b"1 134217728:1\n-1 1:1\n1 5:2\n", read),
        ("indices.svm", lambda: b"1 134217728:1\n-1 4294967295:1\n1 5:2\n", read),
        ("wide.svm", lambda: b"".join(b"%d %d:1\n" % (i % 2, i * 400_000 + 1) for i in range(50)), read),
        (
            "classes.csv",
            lambda: b"x,class\n" + b"".join(b"%d,c%d\n" % (i, i) for i in range(classes)),
            [("train", "-q", "--epochs", "1"), ("separate", "-q", "--time", "5"), ("train", "-q", "--epochs", "1", "--learner", "multiclass")],
        ),
        ("words.csv", lambda: b"x,w,class\n" + b"".join(b"%d,%d-%s,%d\n" % (i, i, b"w" * 300, i % 2) for i in range(60_000)), read),
        ("shape.npy", lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 4), }"), read),
        ("shape2.npy", lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1000000000000), }"), read),
        ("empty.npy", lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 0), }"), read),
        ("long.npy", lambda: b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFF0) + b"{", read),
        ("header.model", lambda: struct.pack("<Q", 1 << 40) + b"{}", [("inspect",)]),
        ("header2.model", lambda: struct.pack("<Q", 90 << 20) + b"[" * (90 << 20), [("inspect",)]),
        ("deep.json", lambda: b"[" * 50_000_000, [("verify-it",)]),
        ("spec.toml", lambda: b"a" * 200_000_000, [("train-spec",)]),
    ]


def gzipped(byte, length, before=b""):
    """Compressed once per piece: the pieces of a gzip file may be joined."""
    piece = gzip.compress(byte * ((16 << 20) // len(byte)), 6)
    return gzip.compress(before) + piece * -(-length // (16 << 20))


def hostile(t):
    t.put(t.shared / "words.model")
    limits = [(resource.RLIMIT_AS, HOSTILE_LIMIT)]
    if t.random.random() < 0.25:
        return endless(t, limits)
    name, make, commands = t.random.choice(hostile_files(t))
    (t.folder / name).write_bytes(make())
    command = t.random.choice(commands)
    if command == ("verify-it",):
        t.put(REPOSITORY / "data" / "iris.csv")
        command = ("verify", name, "iris.csv")
    elif command == ("train-spec",):
        command = ("train", "--spec", name)
    else:
        command = (*command, name)
    t.count("hostile files")
    ended = t.run(*command, limits=limits)
    t.sound(ended)
    if t.failures:
        # Commands say how it was made; a large file need not be kept.
        (t.folder / name).unlink() if (t.folder / name).stat().st_size > 10 * MIB else None


def endless(t, limits):
    """A line without end on standard input."""
    beginning, piece, format = t.random.choice(
        [
            (b"", b" ", "csv"),
            (b"", b"x", "csv"),
            (b'a,b\n1,"', b"x", "csv"),
            (b"a,b\n", b"1,", "csv"),
            (b"1 ", b" ", "libsvm"),
            (b"1 1:", b"0", "libsvm"),
            (b"# ", b"x", "libsvm"),
            (b"1", b" 1:1", "libsvm"),
            (b"", b" ", None),
            (b"", b"\n", None),
        ]
    )
    command = t.random.choice([("train", "-", "--epochs", "1"), ("convert", "-", "new.linsep"), ("predict", "words.model", "-")])
    reading, writing = os.pipe()
    running = t.start(*command, *(("--format", format) if format else ()), stdin=reading, limits=limits)
    os.close(reading)
    t.lines[-1] += f"    # standard input: {beginning!r}, then {piece!r} again and again"

    def feed():
        block = piece * (MIB // len(piece))
        try:
            os.write(writing, beginning)
            for _ in range(1500):
                os.write(writing, block)
        except BrokenPipeError:
            pass
        os.close(writing)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    ended = running.finish()
    feeder.join(10)
    t.count("endless lines")
    t.sound(ended)


# --memory


# What the system says of a program's peak includes that of the process which it was started from, and this one has
# made large files. So a small one starts it, and writes down what it was told.
MEASURE = """
import os, sys
report, *command = sys.argv[1:]
_, status, usage = os.wait4(os.posix_spawn(command[0], command, os.environ), 0)
with open(report, "w") as out:
    out.write(str(usage.ru_maxrss * 1024))
code = os.waitstatus_to_exitcode(status)
sys.exit(code) if code >= 0 else os.kill(os.getpid(), -code)
"""


def with_memory(t):
    """`--memory M` on wide data and on many classes: also while saving."""
    wide = t.random.random() < 0.5
    name = "wide.svm" if wide else "many.svm"
    path = t.shared / name
    if not path.exists():
        lines = []
        for i in range(3000):
            columns = sorted({(i * 7919 + j * j * 104729) % 1_000_000 + 1 for j in range(20)}) if wide else [i % 300 + 1]
            label = i % 2 if wide else f"class{i % 300}"
            lines.append(f"{label} " + " ".join(f"{c}:{(i + c) % 9 + 1}" for c in columns) + "\n")
        path.write_text("".join(lines))
    t.put(path)
    megabytes = t.random.choice([48, 64, 96, 128])
    command = t.random.choice(
        [
            ("train", name, "-q", "--epochs", "2", "-o", "new.model", "--memory", f"{megabytes}MB"),
            ("train", name, "-q", "--epochs", "2", "-o", "new.model", "--learner", "perceptron", "--memory", f"{megabytes}MB"),
            ("train", name, "-q", "--epochs", "2", "-o", "new.model", "--checkpoint", "run.checkpoint", "--checkpoint-every", "0.05", "--memory", f"{megabytes}MB"),
            ("separate", name, "-q", "--time", "5", "-o", "new.cert", "--memory", f"{megabytes}MB"),
        ]
    )
    report = t.logs / "peak"
    ended = t.run(*command, before=(sys.executable, "-S", "-c", MEASURE, str(report)))
    t.count("--memory")
    if t.sound(ended):
        peak = int(report.read_text())
        if peak > 1.25 * megabytes * 1e6 + PROGRAM:
            t.fail(f"the peak is {peak / 1e6:.0f} MB under --memory {megabytes}MB", ended)
