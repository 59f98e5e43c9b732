"""Folders that cannot be written to, memory limits of a control group, and clocks that jump.

A failure: in a folder that is read-only another exit code than 3, a message that does not name the file, something left; in a control
group a signal (its limit is known before memory is asked for), a panic, a code that is not documented; with a clock that jumps other
bits, a run that does not end, a limit of time that is not kept. What the machine does not allow is counted as left out.
"""

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from kinds.writers import WRITERS, digest, shared_inputs, undisturbed

SHORT = 24
CASES = ("read-only folder", "clock that jumps", "limited by time", "control group")

# Every program asks libc for the time; this answers with jumps of years, and with pauses of the machine where it may.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static __thread unsigned long asked;
int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(which, now);
    if (which == CLOCK_REALTIME) {
        const long years[] = {0, 400000000L, -400000000L, -now->tv_sec, 3000000000L};
        now->tv_sec += years[asked++ % 5];
    }
    return answer;
}
"""


def trial(t):
    case = CASES[t.number % len(CASES)]
    shared_inputs(t)
    for name in ("words.svm", "blobs.csv", "words.model"):
        t.put(t.shared / name)
    {
        "read-only folder": read_only,
        "clock that jumps": jumping_clock,
        "limited by time": limited_by_time,
        "control group": control_group,
    }[case](t)


def chosen(t):
    return t.random.choice(sorted(WRITERS))


@contextlib.contextmanager
def unwritable(t):
    """The folder of the trial, read-only: mounted so where that is allowed, because nothing else stops a superuser."""
    mounted = subprocess.run(["mount", "--bind", "-r", str(t.folder), str(t.folder)], capture_output=True).returncode == 0
    if not mounted:
        t.folder.chmod(0o500)
    try:
        yield mounted or os.geteuid() != 0
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(t.folder)], capture_output=True)
        else:
            t.folder.chmod(0o700)


def read_only(t):
    name = chosen(t)
    writer = WRITERS[name]
    before = t.names()
    with unwritable(t) as is_so:
        if not is_so:
            t.count("read-only folders left out: they do not stop a superuser, and none can be mounted")
            return
        ended = t.run(*writer.arguments)
        t.count("read-only folders")
        if t.sound(ended, [3], [writer.output, writer.checkpoint or writer.output, writer.cache or writer.output]):
            if t.names() != before:
                t.fail(f"left in a folder that is read-only: {t.names()}", ended)


def clock(t):
    """The library that makes clocks jump, or nothing where there is no compiler."""
    library = t.shared / "clock.so"
    if not library.exists():
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            return None
        source = t.shared / f"clock-{os.getpid()}.c"
        source.write_text(CLOCK)
        made = source.with_suffix(".so")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"], check=True)
        made.replace(library)
    return ["env", f"LD_PRELOAD={library}"]


def jumping_clock(t):
    before = clock(t)
    if not before:
        t.count("jumping clocks left out: there is no C compiler")
        return
    name = chosen(t)
    writer, expected = WRITERS[name], undisturbed(t, name)
    ended = t.run(*writer.arguments, before=before)
    t.count("runs with a clock that jumps")
    # A cache remembers when its source was changed: what the clock says has no part in it.
    if t.sound(ended, [0, 1]) and digest(t.folder / writer.output) != expected.digests[writer.output]:
        t.fail(f"{name}: the clock has changed the output", ended)


def limited_by_time(t):
    before = clock(t)
    if not before:
        t.count("jumping clocks left out: there is no C compiler")
        return
    seconds = t.random.choice([0.2, 0.5, 1.0])
    # Rows of both classes everywhere: no learner comes to an end of itself.
    noisy = t.made("noisy.csv", "generate", "random-labels", "--rows", 4000, "--features", 40, "-o", "{}")
    command = t.random.choice(
        [
            ("train", noisy, "-q", "--learner", "perceptron", "--epochs", "100000000", "--max-seconds", seconds),
            ("train", noisy, "-q", "--learner", "averaged", "--epochs", "100000000", "--max-seconds", seconds, "--checkpoint", "run.checkpoint", "--checkpoint-every", "0.05"),
            ("tune", noisy, "-q", "--time", seconds),
            ("separate", noisy, "-q", "--time", seconds),
        ]
    )
    started = time.monotonic()
    ended = t.run(*command, before=before)
    took = time.monotonic() - started
    t.count("runs limited by time with a clock that jumps")
    t.timed(f"{command[0]} limited to {seconds} s", took)
    if t.sound(ended) and took > seconds + 20:
        t.fail(f"limited to {seconds} s, it took {took:.1f} s", ended)


@contextlib.contextmanager
def group(t, limit):
    """A control group with a limit of memory; None where none may be made."""
    for root, name in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")):
        place = root / f"linsep-{os.getpid()}-{t.number}"
        with contextlib.suppress(OSError):
            place.mkdir()
            try:
                (place / name).write_text(str(limit))
                yield place
            finally:
                with contextlib.suppress(OSError):
                    place.rmdir()
            return
    yield None


def control_group(t):
    size = t.random.choice([60_000, 150_000])
    big = t.made(f"big-{size}.csv", "generate", "blobs", "--rows", size, "--features", 60, "-o", "{}")
    limit = t.random.choice([24, 48, 96, 192]) << 20
    command = t.random.choice(
        [
            ("train", big, "-q", "--epochs", "2", "-o", "new.model"),
            ("train", big, "-q", "--epochs", "2", "--memory", "20MB", "-o", "new.model"),
            ("train", big, "-q", "--online", "-o", "new.model"),
            ("separate", big, "-q", "--time", "5"),
            ("convert", "-q", big, "new.linsep"),
        ]
    )
    with group(t, limit) as place:
        if place is None:
            t.count("control groups left out: none may be made")
            return
        enter = f'echo $$ > {place}/cgroup.procs && exec "$@"'
        ended = t.run(*command, before=["sh", "-c", enter, "sh"])
        t.count("runs in a control group")
        t.count(f"of these, ended with {ended.code}")
        t.sound(ended)
