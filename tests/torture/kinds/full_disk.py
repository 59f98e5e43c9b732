"""Every command that writes, on a disk that is full or soon will be.

The disk is a small tmpfs where one may be mounted, and a limit for the length of files (`RLIMIT_FSIZE`) otherwise;
where it may be mounted, both are tried. A failure: an exit code other than 3, a message that does not name the file, an old file that was
touched, a torn or temporary file left; a checkpoint that cannot be written and takes the model with it, which could
still be saved; an interrupted run that does not say that its model was not saved.
"""

import contextlib
import resource
import signal
import subprocess
import time

from kinds.writers import TRAIN, WRITERS, shared_inputs, undisturbed
from trial import REPOSITORY

SHORT = 30
PAGE = 4096
OLD = b"an older file\n"

# Small outputs: command, the file, what it reads.
SMALL = {
    "trace": (("train", "-q", "blobs.csv", "--epochs", "2", "--trace", "disk/new.trace"), "new.trace"),
    "teaching set": (("train", "-q", "blobs.csv", "--epochs", "2", "--teaching-set", "disk/new.svm"), "new.svm"),
    "export": (("demo", "iris", "--export", "disk/new.csv"), "new.csv"),
    "table of certificates": (("separate", "-q", "iris.csv", "-o", "disk/new"), "new"),
}
CASES = [*WRITERS, *SMALL, "checkpoint alone", "interrupted", "standard output"]


@contextlib.contextmanager
def disk(t, pages, files):
    """A disk with so many free pages, and these files on it; None if none can be mounted."""
    place = t.folder / "disk"
    place.mkdir(exist_ok=True)
    total = pages + 1 + sum(-(-len(content) // PAGE) for content in files.values())
    command = ["mount", "-t", "tmpfs", "-o", f"size={total * PAGE}", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    for name, content in files.items():
        (place / name).write_bytes(content)
    try:
        if mounted:
            # tmpfs takes a size of zero for no limit, so that one page is given and used up.
            (place / "filler").write_bytes(b"x" * PAGE)
        yield mounted
    finally:
        if mounted:
            found = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
            subprocess.run(["umount", "-l", str(place)], capture_output=True)
            if t.failures:
                for name, content in found.items():
                    (place / name).write_bytes(content)


def trial(t):
    case = CASES[t.number % len(CASES)]
    shared_inputs(t)
    for input in ("words.svm", "blobs.csv", "words.model"):
        t.put(t.shared / input)
    t.put(REPOSITORY / "data" / "iris.csv")
    {"checkpoint alone": checkpoint_alone, "interrupted": interrupted, "standard output": standard_output}.get(
        case, output_fails
    )(t)


def output_fails(t):
    case = CASES[t.number % len(CASES)]
    cache = ""
    if case in SMALL:
        arguments, output = SMALL[case]
        pages = 0
    else:
        writer, whole = WRITERS[case], undisturbed(t, case)
        output, cache = writer.output, writer.cache
        arguments = [f"disk/{output}" if a == output else a for a in writer.arguments]
        pages = t.random.randrange(max(1, whole.sizes[output] // PAGE))
    files = {output: OLD} if t.random.random() < 0.5 and output != "new" else {}
    if cache and t.random.random() < 0.5:
        # The cache lies beside the data: that is where there is no room, and the model goes elsewhere.
        files, pages, output = {"words.svm": (t.folder / "words.svm").read_bytes()}, t.random.randrange(200), cache
        arguments = [f"disk/{a}" if a == "words.svm" else a for a in writer.arguments]
    files_before = t.names()
    with disk(t, pages, files) as mounted:
        limits = ()
        if not mounted or pages > 0 and t.random.random() < 0.3:
            if pages == 0:
                return t.count("left out, no disk")
            limits = ((resource.RLIMIT_FSIZE, pages * PAGE),)
        t.count("limit of length" if limits else "tmpfs")
        before = t.names(t.folder / "disk")
        ended = t.run(*arguments, limits=limits)
        if t.sound(ended, codes=[3], names=[output, cache] if cache else [output]):
            check(t, ended, files, before)
        left = set(t.names()) - set(files_before) - {"disk", f"disk/{cache}", "run.checkpoint"}
        left -= {name for name in left if name.startswith("disk/")}
        if cache:
            left -= {cache, "new.model"}
        if left:
            t.fail(f"left behind elsewhere: {', '.join(sorted(left))}", ended)


def check(t, ended, files, before):
    """Nothing was added to the disk, and the old files are what they were."""
    left = sorted(set(t.names(t.folder / "disk")) - set(before) - {"new"})
    if left:
        t.fail(f"left on the full disk: {', '.join(left)}", ended)
    for name, content in files.items():
        path = t.folder / "disk" / name
        if not path.exists() or path.read_bytes() != content:
            t.fail(f"the old file {name} was touched", ended)


def checkpoint_alone(t):
    """The checkpoint cannot be written, the model can: it is saved, and the run says what failed."""
    whole = undisturbed(t, "train")
    with disk(t, 2, {}) as mounted:
        limits = () if mounted else ((resource.RLIMIT_FSIZE, PAGE),)
        if limits:
            return t.count("left out, no disk")
        t.count("tmpfs")
        before = t.names(t.folder / "disk")
        ended = t.run(*TRAIN, "--checkpoint", "disk/run.checkpoint", "--checkpoint-every", "0.02")
        if not t.sound(ended, codes=[3], names=["run.checkpoint"]):
            return
        check(t, ended, {}, before)
        saved = t.folder / "new.model"
        if not saved.exists():
            t.fail("a failed checkpoint took the model with it", ended)
        elif saved.read_bytes() != whole.output:
            t.fail("the model has other bits", ended)


def interrupted(t):
    """Ctrl-C while the disk is full: whatever the exit code, the message says that the model was not saved."""
    shared_inputs(t)
    with disk(t, 2, {"new.model": OLD}) as mounted:
        limits = () if mounted else ((resource.RLIMIT_FSIZE, 2 * PAGE),)
        t.count("tmpfs" if mounted else "limit of length")
        before = t.names(t.folder / "disk")
        keep = () if limits else ("--checkpoint", "run.checkpoint")
        running = t.start("train", "words.svm", "-q", "--epochs", 1_000_000, "-o", "disk/new.model", *keep, limits=limits)
        # Once there is a checkpoint, there is a model that could be saved.
        while not limits and not (t.folder / "run.checkpoint").exists() and not running.wait(0.01):
            pass
        at = time.monotonic() - running.started + t.random.uniform(0.0 if keep else 1.0, 1.2)
        ended = running.finish([(at, signal.SIGINT)])
        t.sound(ended, codes=[3, 130])
        if "new.model" not in ended.stderr:
            t.fail("the model was not saved, and the message does not say so", ended)
        check(t, ended, {"new.model": OLD}, before)


def standard_output(t):
    """Standard output goes to a full disk."""
    commands = (
        ("generate", "text", "--rows", "500"),
        ("predict", "words.model", "words.svm"),
        ("train", "words.svm", "--epochs", "2"),
        ("inspect", "words.model"),
        ("separate", "blobs.csv", "--json"),
    )
    with disk(t, 0, {}) as mounted:
        if not mounted:
            return t.count("left out, no disk")
        t.count("tmpfs")
        with open(t.folder / "disk" / "report.txt", "wb") as out:
            t.sound(t.run(*t.random.choice(commands), stdout=out), codes=[3])
