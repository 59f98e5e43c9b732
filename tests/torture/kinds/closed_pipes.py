"""Standard output that nobody reads, and pipes whose reader goes away.

Each command is run with standard output closed, with a reader that is gone, with one that leaves after some bytes, and
with /dev/full. A failure: an exit code that differs from that of an undisturbed run (a "no" stays 1); for /dev/full
any code but 3 (or 1, where the answer is "no"); rows whose standard output was closed from the start, without exit code 3; an output that was asked for with `-o`, goes to a pipe whose
reader leaves, and is not reported with exit code 3.
"""

import os
import threading

from kinds.writers import WRITERS, shared_inputs, undisturbed
from trial import REPOSITORY

SHORT = 64
PAIR = ("--classes", "versicolor,virginica")

COMMANDS = (
    ("separate", "iris.csv", *PAIR),
    ("separate", "iris.csv", *PAIR, "--json"),
    ("separate", "iris.csv"),
    ("separate", "iris.csv", "--classes", "setosa,virginica"),
    ("verify", "wrong.cert", "iris.csv"),
    ("verify", "wrong.cert", "iris.csv", "--json"),
    ("verify", "proof.cert", "iris.csv"),
    ("train", "iris.csv", *PAIR, "--require-convergence"),
    ("train", "iris.csv", *PAIR, "--require-convergence", "--json"),
    ("train", "iris.csv", *PAIR, "--learner", "max-margin"),
    ("train", "iris.csv", *PAIR, "--learner", "max-margin", "--json"),
    ("train", "iris.csv", "-o", "new.model"),
    ("predict", "iris.model", "iris.csv"),
    ("predict", "iris.model", "iris.csv", "--csv"),
    ("evaluate", "iris.model", "iris.csv"),
    ("evaluate", "iris.model", "iris.csv", "--json"),
    ("compare", "iris.csv", "--folds", "2", "--epochs", "2", "--learners", "averaged,svm"),
    ("compare", "iris.csv", "--folds", "2", "--epochs", "2", "--learners", "averaged", "--json"),
    ("theory", "iris.csv", *PAIR, "--epochs", "20"),
    ("inspect", "iris.model"),
    ("inspect", "iris.model", "--spec"),
    ("inspect", "iris.model", "--json"),
    ("generate", "text", "--rows", "3000"),
    ("generate", "blobs", "--rows", "10"),
    ("convert", "-q", "iris.csv", "/dev/stdout", "--to", "libsvm"),
    ("train", "-q", "iris.csv", "-o", "/dev/stdout"),
    ("separate", "-q", "iris.csv", "--classes", "setosa,virginica", "-o", "/dev/stdout"),
    ("export", "-q", "iris.model", "/dev/stdout"),
    ("demo",),
    ("completions", "bash"),
    ("--help",),
    ("train", "--help"),
    ("--version",),
)
WAYS = ("closed", "gone", "some bytes", "/dev/full")


def trial(t):
    shared_inputs(t)
    t.put(REPOSITORY / "data" / "iris.csv")
    if t.number % 7 == 6:
        return reader_of_a_fifo(t)
    iris = REPOSITORY / "data" / "iris.csv"
    t.put(t.made("iris.model", "train", iris, "-q", "-o", "{}"))
    t.put(t.made("proof.cert", "separate", iris, "-q", "--classes", "setosa,virginica", "-o", "{}"))
    wrong = t.made("other.cert", "separate", iris, "-q", "--classes", "setosa,versicolor", "-o", "{}").read_text()
    # A proof with its sides exchanged: a certificate, and a wrong one.
    swapped = wrong.replace("setosa", "@").replace("versicolor", "setosa").replace("@", "versicolor")
    (t.folder / "wrong.cert").write_text(swapped)
    command = COMMANDS[t.number % len(COMMANDS)]
    way = t.random.choice(WAYS)
    expected = t.run(*command)
    if not t.sound(expected, codes=[1] if "wrong.cert" in command else [0, 1]):
        return
    t.count(way)
    if way == "/dev/full":
        with open("/dev/full", "wb") as out:
            ended = t.run(*command, stdout=out)
        # Help and version are printed by the parser of the arguments, which knows no errors of writing.
        codes = {1: [1, 3], 0: [0, 3] if command[-1] in ("--help", "--version") else [3]}[expected.code]
        t.sound(ended, codes=codes)
        return
    if way == "closed":
        ended = t.run(*command, closed=True)
    else:
        ended = t.start_and_read(command, 0 if way == "gone" else t.random.choice([1, 10, 200]))
    asked = "/dev/stdout" in command
    # Rows are an output that was asked for too; but a reader that leaves has had enough of them.
    product = asked or command[0] in ("predict", "generate", "completions")
    # With a short answer the reader may leave after everything was written.
    if asked and way == "gone" or product and way == "closed":
        codes = [3]
    else:
        codes = [3, expected.code] if asked else [expected.code]
    if ended.code not in codes:
        t.fail(f"standard output {way}: exit code {ended.code}, without that {expected.code}", ended)


def reader_of_a_fifo(t):
    """`-o FIFO`, and the reader leaves before everything was written."""
    # More than a pipe holds, so that the writer must notice.
    name = t.random.choice(["train", "convert to CSV", "convert to gzip", "convert to cache", "convert to npz", "generate"])
    writer, whole = WRITERS[name], undisturbed(t, name)
    for input in writer.inputs:
        t.put(t.shared / input)
    os.mkfifo(t.folder / writer.output)
    taken = t.random.randrange(min(20000, len(whole.output) // 2))
    everything = t.random.random() < 0.2
    got = []

    def read():
        with open(t.folder / writer.output, "rb", buffering=0) as pipe:
            while everything or sum(map(len, got)) <= taken:
                piece = pipe.read(4096)
                if not piece:
                    break
                got.append(piece)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    ended = t.run(*writer.arguments, patience=20.0)
    # A program that never opened the pipe leaves the reader waiting.
    try:
        os.close(os.open(t.folder / writer.output, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        pass
    reader.join(5)
    t.count("FIFO")
    if everything:
        if t.sound(ended, codes=[0, 3], names=[writer.output]) and ended.code == 0 and b"".join(got) != whole.output:
            t.fail("the pipe got other bytes than a file", ended)
    elif len(whole.output) > taken + 80_000:
        t.sound(ended, codes=[3], names=[writer.output])
    else:
        t.sound(ended, codes=[0, 3], names=[writer.output])
