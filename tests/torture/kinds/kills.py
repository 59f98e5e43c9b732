"""Kills and signals at random times during every command that writes.

A failure: an output that is neither whole (the same bits as undisturbed), nor absent, nor the old one; a resumed or
repeated run that ends in other bits; a file left behind after that; Ctrl-C (or SIGTERM) that is not answered within
ten seconds or by another exit code than 130; a stopped and continued run that ends otherwise. A model that Ctrl-C
saved must open, and rows that Ctrl-C left must be whole.
"""

import signal

from kinds.writers import WRITERS, digest, undisturbed

SHORT = 48
# Documented are two seconds; a busy machine may take longer.
PROMPT = 10.0
OLD = b"an older file\n"
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGSTOP)


def trial(t):
    name = list(WRITERS)[t.number % len(WRITERS)]
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
    elif interrupted and writer.arguments[0] == "generate":
        if not whole.output.startswith(found) or found and not found.endswith(b"\n"):
            t.fail(f"{writer.output} has rows that are not whole after {number.name}", ended)
    else:
        state = "absent" if found is None else f"{len(found)} of {len(whole.output)} bytes"
        t.fail(f"{writer.output} is neither whole, nor absent, nor the old one after {number.name}: {state}", ended)
    repeat(t, name)


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
    if ended.code == -number and ended.seconds < 0.1:
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
