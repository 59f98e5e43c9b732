#!/usr/bin/env python3
"""From raw files to a model: texts, mails, pictures and tables as they come, linsep beside scikit-learn.

Every case has files to learn from and files to judge on, the same for both. Both begin with the raw files: linsep as a whole
program, scikit-learn as a whole Python program that decodes the files with what Python has, and by its own clock after all
imports. The errors are means over several splits, unless the files come divided.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
from pathlib import Path

from common import LINSEP, TARGET, WORK, Run, build, environment, machine, say, write_record

PACKAGES = ["numpy==2.4.6", "pandas==3.1.1", "pillow==13.0.0", "scipy==1.17.1", "scikit-learn==1.9.1"]
INSIDE = Path(__file__).resolve().parent / "real_tables" / "inputs_peer.py"
TEST_SHARE = 0.25


class Case:
    """Raw data of one kind: how it is divided, and how linsep is asked to learn from it."""

    # Whether the files come divided.
    divided = False

    def __init__(self, name, kind, options=()):
        self.name, self.kind, self.options = name, kind, options

    def split(self, data, folder, seed):
        """Makes `train` and `test` in the folder."""
        raise NotImplementedError


class Lines(Case):
    """Lines of a table: label, tab, text."""

    def __init__(self, name, path, options):
        super().__init__(name, "lines", options)
        self.path = path

    def split(self, data, folder, seed):
        lines = (data / self.path).read_bytes().splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        count = int(len(lines) * TEST_SHARE)
        (folder / "test.tsv").write_bytes(b"".join(lines[:count]))
        (folder / "train.tsv").write_bytes(b"".join(lines[count:]))
        return folder / "train.tsv", folder / "test.tsv"


class Mails(Case):
    """Raw mails in folders; the folders of a class lie below one folder."""

    def __init__(self, name, archive, classes, options=()):
        super().__init__(name, "mails", options)
        self.archive, self.classes = archive, classes

    def split(self, data, folder, seed):
        raw = WORK / "mails"
        if not raw.is_dir():
            raw.mkdir(parents=True)
            subprocess.run(["tar", "-xJf", data / self.archive, "-C", raw], check=True)
        for label, names in self.classes.items():
            files = sorted(path for name in names for path in (raw / name).iterdir() if path.is_file())
            random.Random(seed).shuffle(files)
            count = int(len(files) * TEST_SHARE)
            for part, own in [("test", files[:count]), ("train", files[count:])]:
                (folder / part / label).mkdir(parents=True, exist_ok=True)
                for path in own:
                    shutil.copy(path, folder / part / label / f"{path.parent.name}-{path.name}")
        return folder / "train", folder / "test"


class Divided(Case):
    """Files to learn from and files to judge on, as they are distributed."""

    divided = True

    def __init__(self, name, kind, train, test, options=()):
        super().__init__(name, kind, options)
        self.train, self.test = train, test

    def split(self, data, folder, seed):
        return data / self.train, data / self.test


class Adult(Divided):
    """The census. Labels of the test rows end in a full stop, which both are spared."""

    def split(self, data, folder, seed):
        rows = [line.rstrip(".") for line in (data / self.test).read_text().splitlines() if line.count(",") > 5]
        (folder / "adult.test").write_text("\n".join(rows) + "\n")
        return data / self.train, folder / "adult.test"


CASES = [
    Lines("SMS spam", "sms-spam/SMSSpamCollection", ("--text", "2", "--label", "1")),
    Mails(
        "raw mails",
        "text/spamassassin.tar.xz",
        {"ham": ["easy-ham-1", "easy-ham-2", "hard-ham-1"], "spam": ["spam-1", "spam-2"]},
    ),
    Divided(
        "cats and dogs, 128x128 grey",
        "pictures",
        "cats-dogs/training_set",
        "cats-dogs/test_set",
        ("--size", "128x128", "--learner", "logistic"),
    ),
    Divided(
        "MNIST",
        "idx",
        "mnist/train-images-idx3-ubyte.gz",
        "mnist/t10k-images-idx3-ubyte.gz",
        ("--learner", "logistic"),
    ),
    Adult("adult", "table", "csv/adult.data", "csv/adult.test", ("--learner", "logistic")),
]


def of_linsep(case, train, test, tune):
    """What it took, and the labels of the rows to be judged, in their order."""
    # A search chooses the learner itself.
    options = [word for word in case.options if word not in ("--learner", "logistic")] if tune else case.options
    command = ["tune" if tune else "train", train, *options, "-o", "inputs.model", "-q"]
    run = Run([LINSEP, *command], stdout=subprocess.DEVNULL).wait()
    judge = [LINSEP, "evaluate", WORK / "inputs.model", test, "--json", "-q"]
    record = json.loads(subprocess.run(judge, check=True, capture_output=True, cwd=WORK).stdout)
    label = [LINSEP, "predict", WORK / "inputs.model", test, "-q"]
    said = subprocess.run(label, check=True, capture_output=True, cwd=WORK, text=True).stdout.splitlines()
    # The files of a folder are named before their labels.
    said = [line.rsplit(": ", 1)[-1] for line in said] if test.is_dir() else said
    own = {"error": record["error"], "said": said}
    return {**own, "seconds": run.seconds, "processor": run.processor, "megabytes": run.megabytes}


def compared(own, other):
    """The difference of two errors on the same rows, and its standard error: (own, other) are lists of splits, each a list of
    whether each row was wrong. Rows that both or neither got wrong tell nothing."""
    differences = [one - two for ours, theirs in zip(own, other) for one, two in zip(ours, theirs, strict=True)]
    return statistics.mean(differences), statistics.stdev(differences) / len(differences) ** 0.5


def of_peer(python, case, train, test):
    run = Run([python, INSIDE, case.kind, train, test, WORK / "inputs.json"]).wait()
    found = json.loads((WORK / "inputs.json").read_text())
    return found["truth"], found["found"], {"seconds": run.seconds, "processor": run.processor, "megabytes": run.megabytes}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="the folder with the real data sets")
    arguments.add_argument("--splits", type=int, default=5)
    arguments.add_argument("--tune", action="store_true", help="also measure linsep tune")
    arguments.add_argument("--only", nargs="+", metavar="CASE", help="these cases alone")
    arguments.add_argument("--record", help="where to write the record")
    given = arguments.parse_args()
    given.data = given.data.resolve()
    build()
    python = environment(TARGET / "bench-inputs", PACKAGES)
    lines = ["| case | program | error | seconds | processor | MB |", "|---|---|---|---|---|---|"]
    verdicts = []
    for case in (case for case in CASES if given.only is None or case.name in given.only):
        runs = {}
        for seed in range(1 if case.divided else given.splits):
            folder = WORK / "inputs"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            train, test = case.split(given.data, folder, seed)
            runs.setdefault("linsep train", []).append(of_linsep(case, train, test, False))
            if given.tune:
                runs.setdefault("linsep tune", []).append(of_linsep(case, train, test, True))
            truth, found, whole = of_peer(python, case, train, test)
            for own in (own[-1] for name, own in runs.items() if name.startswith("linsep")):
                own["wrong"] = [int(one != other) for one, other in zip(own.pop("said"), truth, strict=True)]
                # Both judge the same rows in the same order, and linsep's own count agrees.
                assert abs(statistics.mean(own["wrong"]) - own["error"]) < 1e-9, case.name
            for name, one in found.items():
                # One program learns them all; each is charged with what it would take alone: imports, reading, learning.
                own = {"error": one["error"], "wrong": one["wrong"], "seconds": one["imports"] + one["seconds"], "clock": one["seconds"]}
                runs.setdefault(name, []).append({**own, "processor": whole["processor"], "megabytes": whole["megabytes"]})
            say(f"{case.name}, split {seed}: {[(name, round(own[-1]['error'], 5)) for name, own in runs.items()]}")
        mean = lambda name, what: statistics.mean(run[what] for run in runs[name])
        least = lambda name, what: min(run[what] for run in runs[name])
        for name in runs:
            clock = f" ({least(name, 'clock'):.2f} after imports)" if "clock" in runs[name][0] else ""
            lines.append(
                f"| {case.name} | {name} | {mean(name, 'error'):.2%} | {least(name, 'seconds'):.2f}{clock} "
                f"| {least(name, 'processor'):.2f} | {max(run['megabytes'] for run in runs[name]):.0f} |"
            )
        peers = [name for name in runs if not name.startswith("linsep")]
        best = min(peers, key=lambda name: mean(name, "error"))
        fastest = min(peers, key=lambda name: least(name, "clock"))
        wrong = lambda name: [run["wrong"] for run in runs[name]]
        difference, deviation = compared(wrong("linsep train"), wrong(best))
        verdicts.append(
            f"- {case.name}: linsep train {mean('linsep train', 'error'):.2%}, best of scikit-learn {mean(best, 'error'):.2%} "
            f"({best}), difference {100 * difference:+.2f} ± {100 * deviation:.2f} points; {least(best, 'seconds') / least('linsep train', 'seconds'):.1f} times as fast as it from start to end, "
            f"{least(fastest, 'clock') / least('linsep train', 'seconds'):.1f} times as fast as the fastest of them ({fastest}) "
            "after its imports"
        )
    record = [
        "# From raw files to a model",
        "",
        "Made by `bench/inputs.py`; `bench/README.md` says what is measured and how. Errors are means over "
        f"{given.splits} splits with {TEST_SHARE:.0%} of the rows held out, where the files do not come divided; seconds are the least of them. "
        "After ± is the standard error of a difference, from the rows that one of two gets wrong and the other does not; it "
        "does not count that the splits share rows.",
        "",
        *lines,
        "",
        *verdicts,
        "",
    ]
    print("\n".join(record))
    if given.record:
        write_record(given.record, [*record, *machine(), f"* {', '.join(PACKAGES)}", ""])


if __name__ == "__main__":
    main()
