"""Kills and signals at random times during every command that writes, and Ctrl-C during those that take long.

A failure: an output that is neither whole (the same bits as undisturbed), nor absent, nor the old one; a resumed or
repeated run that ends in other bits; a file left behind after that; Ctrl-C (or SIGTERM) that is not answered within
ten seconds or by another exit code than 130; a stopped and continued run that ends otherwise. A model that Ctrl-C
saved must open, a proof that it saved must hold, and rows that it left must be whole.
"""

import os
import signal

from kinds.writers import WRITERS, digest, undisturbed
from trial import REPOSITORY

SHORT = 42
# Documented are two seconds; a busy machine may take longer.
PROMPT = 10.0
OLD = b"an older file\n"
# Commands that take long in one place: reading, learning, judging, voting, proving, checking, many classes.
LONG = (
    ("verify", "blobs.cert", "blobs.csv"),
    ("demo", "spam"),
    ("demo", "breast-cancer"),
    ("compare", "spam.csv"),
    ("theory", "spam.csv"),
    ("separate", "spam.csv", "--blame"),
    ("separate", "classes.csv"),
    ("separate", "classes.csv", "-o", "proofs"),
    ("train", "classes.csv", "-o", "new.model"),
    ("train", "classes.csv", "--learner", "multiclass", "--max-seconds", "600", "-o", "new.model"),
    ("train", "spam.csv", "--learner", "voted", "--holdout", "0.5"),
    ("train", "spam.csv", "--learner", "kernel", "--combine", "vote", "-o", "new.model"),
    ("train", "spam.csv", "--learner", "max-margin"),
    ("train", "spam.csv", "--learner", "svm", "--gap", "1e-12"),
    ("train", "spam.csv", "--learner", "lifted", "--epochs", "100000"),
    ("predict", "voted.model", "spam.csv", "-o", "new.txt"),
    ("evaluate", "voted.model", "spam.csv"),
    ("generate", "text", "--rows", "100000000", "-o", "new.svm"),
    ("train", "-", "--epochs", "1"),
    ("predict", "voted.model", "-"),
    ("convert", "-", "new.linsep"),
)
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGSTOP)


def trial(t):
    if t.number % 3 == 2:
        return interrupt(t)
    name = list(WRITERS)[(t.number // 3 * 2 + t.number % 3) % len(WRITERS)]
    writer, whole = WRITERS[name], undisturbed(t, name)
    for input in writer.inputs:
        t.put(t.shared / input)
    output = t.folder / writer.output
    if old := t.random.random() < 0.5:
        output.write_bytes(OLD)
    number = t.random.choice(SIGNALS)
    at = t.random.uniform(0.0, 1.1) * whole.seconds
    signals = [(at, number)]
    if number == signal.SIGSTOP:
        signals.append((at + t.random.uniform(0.0, 0.2), signal.SIGCONT))
    ended = t.run(*writer.arguments, signals=signals)
    t.count(number.name)
    if not answered(t, ended, number):
        return
    interrupted = number in (signal.SIGINT, signal.SIGTERM) and ended.code == 130
    found = output.read_bytes() if output.exists() else None
    if found == OLD and old or found is None and not old or found == whole.output:
        if ended.code == 0 and found != whole.output:
            t.fail("exit code 0, but the output is not there", ended)
    elif interrupted and writer.arguments[0] == "train":
        t.sound(t.run("inspect", writer.output), codes=[0])
    elif interrupted and writer.arguments[0] == "separate":
        # The verdict was there, and what is said of columns was not: the proof of the verdict alone is saved.
        t.sound(t.run("verify", writer.output, *writer.inputs, "-q"), codes=[0])
    elif interrupted and writer.arguments[0] == "generate":
        if not whole.output.startswith(found) or found and not found.endswith(b"\n"):
            t.fail(f"{writer.output} has rows that are not whole after {number.name}", ended)
    else:
        state = "absent" if found is None else f"{len(found)} of {len(whole.output)} bytes"
        t.fail(f"{writer.output} is neither whole, nor absent, nor the old one after {number.name}: {state}", ended)
    repeat(t, name)


def interrupt(t):
    """Ctrl-C, or SIGTERM, during a command that takes long."""
    command = LONG[t.number // 3 % len(LONG)]
    t.made("blobs.csv", "generate", "blobs", "--rows", 60000, "--features", 6, "-o", "{}")
    t.made("blobs.cert", "separate", "-q", "blobs.csv", "-o", "{}")
    t.made("voted.model", "train", REPOSITORY / "data/spam.csv", "-q", "--learner", "voted", "--epochs", 5, "-o", "{}")
    (t.folder / "classes.csv").write_text("x,class\n" + "".join(f"{i},c{i}\n" for i in range(20_000)))
    t.put(REPOSITORY / "data" / "spam.csv")
    for name in ("blobs.csv", "blobs.cert", "voted.model"):
        t.put(t.shared / name)
    number = t.random.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM])
    at = t.random.uniform(0.05, 2.0)
    reading, silent = os.pipe()
    ended = t.run(*command, signals=[(at, number)], patience=20.0, stdin=reading)
    os.close(reading)
    os.close(silent)
    t.count(f"{number.name} to what takes long")
    t.lines[-1] += f"    # {number.name} after {at:.2f} s"
    if ended.notice is not None:
        t.timed(f"{number.name} answered", ended.notice)
        if ended.notice > PROMPT:
            return t.fail(f"{number.name} was answered after {ended.notice:.1f} s", ended)
        # Before the program has begun to listen, the signal itself ends it; and one that comes when the answer is there
        # already may find nobody who listens any more.
        if ended.code == -number and ended.unheard:
            return
        t.sound(ended, codes=[130] if ended.notice > 0.1 else [0, 1, 3, 4, 130])
    else:
        t.sound(ended, codes=[0, 1, 3, 4])
    left = [name for name in t.names() if name.endswith(".part")]
    if left:
        t.fail(f"left behind: {', '.join(left)}", ended)


def answered(t, ended, number):
    """Whether the program answered the signal as it should."""
    if number == signal.SIGKILL:
        return ended.code == -number or t.sound(ended, codes=[0])
    if number == signal.SIGSTOP:
        return t.sound(ended, codes=[0])
    if ended.notice is not None:
        t.timed(f"{number.name} answered", ended.notice)
        if ended.notice > PROMPT:
            t.fail(f"{number.name} was answered after {ended.notice:.1f} s", ended)
    # Before the program has begun to listen, the signal itself ends it.
    if ended.code == -number and ended.unheard:
        return True
    return t.sound(ended, codes=[0, 130])


def repeat(t, name):
    """Takes the run up, or runs the command again: the same bits, and nothing left behind."""
    writer, whole = WRITERS[name], undisturbed(t, name)
    resume = ()
    if writer.checkpoint and (t.folder / writer.checkpoint).exists() and t.random.random() < 0.8:
        resume = ("--resume", writer.checkpoint)
        t.count("resumed")
    again = t.run(*writer.arguments, *resume)
    if not t.sound(again, codes=[0]):
        return
    for file, expected in whole.digests.items():
        # A checkpoint holds how long the run has taken.
        if file != writer.checkpoint and digest(t.folder / file) != expected:
            t.fail(f"{file} has other bits after the run was {'resumed' if resume else 'repeated'}", again)
    left = sorted(set(t.names()) - set(whole.names))
    if left:
        sizes = sum((t.folder / name).stat().st_size for name in left)
        t.fail(f"left behind: {', '.join(left)} ({sizes} bytes)", again)
