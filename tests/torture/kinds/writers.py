"""The commands that write files, as the kinds of trial use them, and what they write when nothing disturbs them."""

import hashlib
import shutil
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Writer:
    """A command, its inputs (names of the shared folder), and the file that it is asked for."""

    arguments: tuple
    inputs: tuple
    output: str
    # A run that is taken up from this file ends in the same output.
    checkpoint: str = ""
    # Made on the way beside the data: it may be left behind, but must be whole.
    cache: str = ""


TRAIN = ("train", "words.svm", "-q", "--epochs", "30", "-o", "new.model")
KEEP = ("--checkpoint", "run.checkpoint", "--checkpoint-every", "0.02")

WRITERS = {
    "train": Writer(TRAIN, ("words.svm",), "new.model"),
    "train, checkpoint": Writer((*TRAIN, *KEEP), ("words.svm",), "new.model", "run.checkpoint"),
    "train, cache": Writer((*TRAIN, "--cache"), ("words.svm",), "new.model", cache="words.svm.linsep"),
    "train, out of core": Writer(
        (*TRAIN, *KEEP, "--memory", "24MB"), ("words.svm",), "new.model", "run.checkpoint", "words.svm.linsep"
    ),
    "convert to cache": Writer(("convert", "-q", "words.svm", "new.linsep"), ("words.svm",), "new.linsep"),
    "convert to npz": Writer(("convert", "-q", "words.svm", "new.npz"), ("words.svm",), "new.npz"),
    "convert to CSV": Writer(("convert", "-q", "blobs.csv", "new.csv"), ("blobs.csv",), "new.csv"),
    "convert to gzip": Writer(("convert", "-q", "words.svm", "new.svm.gz"), ("words.svm",), "new.svm.gz"),
    "convert to Zstandard": Writer(("convert", "-q", "words.svm", "new.svm.zst"), ("words.svm",), "new.svm.zst"),
    "separate": Writer(("separate", "-q", "blobs.csv", "-o", "new.cert"), ("blobs.csv",), "new.cert"),
    "predict": Writer(
        ("predict", "-q", "--csv", "words.model", "words.svm", "-o", "new.txt"), ("words.model", "words.svm"), "new.txt"
    ),
    "generate": Writer(
        ("generate", "text", "-q", "--rows", "4000", "--features", "5000", "-o", "new.svm"), (), "new.svm"
    ),
}

# So little to do that writers which start together meet in their first steps.
FEW = {
    "convert few rows to cache": Writer(("convert", "-q", "few.svm", "new.linsep"), ("few.svm",), "new.linsep"),
    "train on few rows, cache": Writer(
        ("train", "few.svm", "-q", "--cache", "-o", "new.model"), ("few.svm",), "new.model", cache="few.svm.linsep"
    ),
}


def shared_inputs(trial):
    """Makes the inputs of all writers in the shared folder."""
    trial.made("words.svm", "generate", "text", "--rows", 2000, "--features", 16000, "-o", "{}")
    trial.made("few.svm", "generate", "text", "--rows", 30, "--features", 50, "--per-row", 10, "-o", "{}")
    trial.made("blobs.csv", "generate", "blobs", "--rows", 5000, "--features", 6, "-o", "{}")
    trial.made("words.model", "train", "words.svm", "-q", "--epochs", 3, "-o", "{}")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


# Per worker: what each writer gives when nothing disturbs it.
undisturbed_runs = {}


@dataclass(frozen=True)
class Undisturbed:
    seconds: float
    names: tuple
    digests: dict
    sizes: dict
    output: bytes


def undisturbed(trial, name):
    """The files that the writer leaves when nothing disturbs it, and how long it takes."""
    key = (trial.program, trial.kind, name)
    if key not in undisturbed_runs:
        shared_inputs(trial)
        writer, folder = {**WRITERS, **FEW}[name], trial.folder / "undisturbed"
        folder.mkdir()
        for input in writer.inputs:
            shutil.copy2(trial.shared / input, folder)
        started = time.monotonic()
        ended = trial.run(*writer.arguments, folder=folder)
        seconds = time.monotonic() - started
        if ended.code != 0:
            raise RuntimeError(f"{ended.line}: {ended.stderr}")
        names = tuple(trial.names(folder))
        undisturbed_runs[key] = Undisturbed(
            seconds,
            names,
            {name: digest(folder / name) for name in names},
            {name: (folder / name).stat().st_size for name in names},
            (folder / writer.output).read_bytes(),
        )
        shutil.rmtree(folder)
    return undisturbed_runs[key]
