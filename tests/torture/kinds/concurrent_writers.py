"""Several processes that write the same file, cache or checkpoint at once, while others read it.

Where `unshare --pid` is allowed, some trials give all of them the same process number, as in containers. A failure: a
writer that does not end with exit code 0 or a clear error, a result that none of the writers makes alone, a reader
that meets a file that is not whole, a file left behind.
"""

import os
import shutil
import subprocess
import time

from kinds.writers import FEW, WRITERS, digest, undisturbed

SHORT = 16


def same_number():
    """The command that gives a process the number 1, if it is allowed."""
    if not shutil.which("unshare"):
        return ()
    command = ("unshare", "--pid", "--fork", "--kill-child")
    return command if subprocess.run([*command, "true"], capture_output=True).returncode == 0 else ()


def trial(t):
    writers = {**WRITERS, **FEW}
    name = list(writers)[t.number % len(writers)]
    writer, whole = writers[name], undisturbed(t, name)
    for input in writer.inputs:
        t.put(t.shared / input)
    before = same_number() if name in FEW or t.random.random() < 0.4 else ()
    t.count("with the same process number" if before else "with process numbers of their own")
    # All wait for the end of their standard input, so that they start together.
    ready, go = os.pipe()
    before = (*before, "sh", "-c", 'read go; exec "$@"', "sh")
    how_many = t.random.randrange(10, 15) if name in FEW else t.random.randrange(2, 6)
    writers = [t.start(*writer.arguments, before=before, stdin=ready) for _ in range(how_many)]
    time.sleep(0.1)
    os.close(ready)
    os.close(go)
    shown = writer.cache or writer.output
    readers = []
    while not writers[0].wait(0.02) and len(readers) < 40:
        if (t.folder / shown).exists() and shown.endswith((".model", ".linsep")):
            readers.append(t.run("inspect", shown, "--json"))
    ended = [running.finish() for running in writers]
    t.count("writers", len(writers))
    t.count("readers", len(readers))
    # A checkpoint or a cache that others write too may be refused, with a message.
    for one in ended:
        if t.sound(one, codes=[0, 3], names=names_of(writer)) and "os error" in one.stderr:
            t.fail("a rival writer is met as an error of the system", one)
    for one in readers:
        t.sound(one, codes=[0])
    if all(one.code != 0 for one in ended):
        t.fail("none of the writers succeeded", ended[0])
        return
    for file, expected in whole.digests.items():
        if file != writer.checkpoint and digest(t.folder / file) != expected:
            t.fail(f"{file} is none that a writer makes alone", ended[0])
    if writer.checkpoint:
        t.sound(t.run(*writer.arguments, "--resume", writer.checkpoint), codes=[0])
        if digest(t.folder / writer.output) != whole.digests[writer.output]:
            t.fail("the resumed run ends in another model", ended[0])
    left = sorted(set(t.names()) - set(whole.names))
    if left:
        t.fail(f"left behind: {', '.join(left)}", ended[0])


def names_of(writer):
    return [name for name in (writer.output, writer.cache, writer.checkpoint) if name]
