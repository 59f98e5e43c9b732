"""Files that change while they are read: cut, extended, replaced, overwritten.

The change is made once the program has opened the file. A failure: a signal (a mapped file that was cut ends in SIGBUS
unless that is prevented), an exit code that is not documented, exit code 0 with fewer rows than the file had, or with
a model of neither the old nor the new rows.
"""

import json
import os
import time

from kinds.writers import digest

SHORT = 32
CHANGES = ("cut", "cut", "cut", "extended", "replaced", "overwritten")


def inputs(t):
    t.made("blobs.csv", "generate", "blobs", "--rows", 60000, "--features", 4, "-o", "{}")
    t.made("other.csv", "generate", "blobs", "--rows", 60000, "--features", 4, "--seed", 5, "-o", "{}")
    t.made("words.svm", "generate", "text", "--rows", 6000, "--features", 4000, "-o", "{}")
    t.made("other.svm", "generate", "text", "--rows", 6000, "--features", 4000, "--seed", 5, "-o", "{}")
    t.made("words.svm.gz", "convert", "-q", "words.svm", "{}")
    t.made("other.svm.gz", "convert", "-q", "other.svm", "{}")
    t.made("words.linsep", "convert", "-q", "words.svm", "{}")
    t.made("other.linsep", "convert", "-q", "other.svm", "{}")
    t.made("blobs.linsep", "convert", "-q", "blobs.csv", "{}")
    t.made("other-blobs.linsep", "convert", "-q", "other.csv", "{}")
    t.made("blobs.cert", "separate", "-q", "blobs.csv", "-o", "{}")
    t.made("words.model", "train", "-q", "words.svm", "--epochs", 1, "-o", "{}")


SAVE = ("--epochs", "3", "-o", "new.model", "--json", "-q")
# The command, the file that changes, one to replace it, rows.
CASES = (
    (("train", "blobs.csv", *SAVE), "blobs.csv", "other.csv", 60000),
    (("train", "words.svm", *SAVE), "words.svm", "other.svm", 6000),
    (("train", "words.svm", "--memory", "24MB", *SAVE), "words.svm", "other.svm", 6000),
    (("train", "words.svm", "--online", "-o", "new.model", "--json", "-q"), "words.svm", "other.svm", 6000),
    (("train", "words.svm.gz", *SAVE), "words.svm.gz", "other.svm.gz", 6000),
    (("train", "words.linsep", *SAVE), "words.linsep", "other.linsep", 6000),
    (("train", "blobs.linsep", "--epochs", "100", "-o", "new.model", "--json", "-q"), "blobs.linsep", "other-blobs.linsep", 60000),
    (("train", "blobs.linsep", "--memory", "24MB", *SAVE), "blobs.linsep", "other-blobs.linsep", 60000),
    (("convert", "-q", "blobs.csv", "new.linsep"), "blobs.csv", "other.csv", 60000),
    (("convert", "-q", "words.svm", "new.csv.gz"), "words.svm", "other.svm", 6000),
    (("convert", "-q", "words.linsep", "new.svm"), "words.linsep", "other.linsep", 6000),
    (("separate", "-q", "blobs.linsep", "-o", "new.cert"), "blobs.linsep", "other-blobs.linsep", 60000),
    (("verify", "blobs.cert", "blobs.csv", "--json"), "blobs.csv", "other.csv", 60000),
    (("verify", "blobs.cert", "blobs.linsep", "--json"), "blobs.linsep", "other-blobs.linsep", 60000),
    (("predict", "words.model", "words.svm", "-o", "new.txt"), "words.svm", "other.svm", 6000),
    (("evaluate", "words.model", "words.linsep", "--json"), "words.linsep", "other.linsep", 6000),
)

undisturbed_runs = {}


def undisturbed(t, index):
    """How long it takes once the file is open, and the model of either file."""
    key = (t.program, index)
    if key not in undisturbed_runs:
        command, name, other, _ = CASES[index]
        digests, seconds = [], 0.0
        for source in (name, other):
            prepare(t, index, source)
            running = t.start(*command)
            opened = wait_until_open(t, running, name)
            running.finish()
            seconds = max(seconds, time.monotonic() - opened)
            digests.append(digest(t.folder / "new.model"))
            for path in t.folder.iterdir():
                path.unlink()
        undisturbed_runs[key] = seconds, digests
    return undisturbed_runs[key]


def prepare(t, index, source):
    """Puts the files of a case into the folder, with `source` in the place of its data."""
    command, name, _, _ = CASES[index]
    for argument in command:
        if (t.shared / argument).is_file():
            t.put(t.shared / (source if argument == name else argument), argument)


def wait_until_open(t, running, name):
    """Waits until the program has opened or mapped the file; the time then."""
    path = str(t.folder / name)
    while not running.wait(0.0005):
        try:
            process = f"/proc/{running.process.pid}"
            if any(os.readlink(f"{process}/fd/{fd}") == path for fd in os.listdir(f"{process}/fd")):
                break
            with open(f"{process}/maps") as maps:
                if path in maps.read():
                    break
        except OSError:
            pass
    return time.monotonic()


def trial(t):
    inputs(t)
    index = t.number % len(CASES)
    command, name, other, rows = CASES[index]
    seconds, digests = undisturbed(t, index)
    prepare(t, index, name)
    running = t.start(*command)
    wait_until_open(t, running, name)
    time.sleep(t.random.uniform(0.0, seconds))
    change = t.random.choice(CHANGES)
    still_running = not running.wait(0)
    make_change(t, change, name, other)
    t.lines.append(f"    # {name} was {change} while it ran")
    ended = running.finish()
    t.count(change if still_running else "ended before the change")
    if not t.sound(ended) or ended.code != 0 or not still_running:
        return
    counted = rows_of(t, command, ended)
    if change == "cut" and counted is not None and counted < rows:
        t.fail(f"{name} was cut while it was read: {counted} of {rows} rows, and exit code 0", ended)
    model = digest(t.folder / "new.model")
    if change == "replaced" and model is not None and model not in digests:
        t.fail("the model is of neither the old rows nor the new ones", ended)


def make_change(t, change, name, other):
    path = t.folder / name
    length = path.stat().st_size
    if change == "cut":
        os.truncate(path, t.random.choice([0, length // 2, t.random.randrange(length), length - 4096]))
    elif change == "extended":
        with open(path, "ab") as out:
            out.write((t.shared / name).read_bytes()[-5000:].partition(b"\n")[2])
    elif change == "replaced":
        t.put(t.shared / other, "replacement")
        os.replace(t.folder / "replacement", path)
    else:
        with open(path, "r+b") as out:
            out.seek(t.random.randrange(length // 2))
            out.write((t.shared / other).read_bytes()[: length // 4])


def rows_of(t, command, ended):
    """How many rows the program says or shows that it has read; None if it does not."""
    if "--json" in command:
        record = json.loads(ended.stdout)
        return record.get("examples", record.get("rows"))
    for written in ("new.txt", "new.svm"):
        if (t.folder / written).exists():
            return (t.folder / written).read_bytes().count(b"\n")
    if (t.folder / "new.linsep").exists():
        said = t.run("inspect", "new.linsep", "--json")
        return json.loads(said.stdout).get("rows")
    return None
