#!/usr/bin/env python3
"""Calibration: the probabilities of linsep beside those of scikit-learn's CalibratedClassifierCV, on ten real sets."""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import LINSEP, WORK, build, environment, machine, say, write_record

PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1"]
INSIDE = Path(__file__).resolve().parent / "real_tables" / "calibration_peers.py"
# Name: training file, test file or none, the most rows, and how many splits. Without a test file half of the rows are
# test rows, in several splits where they are few.
SETS = {
    "a9a": ("libsvm/a9a", "libsvm/a9a.t", None, 1),
    "w8a": ("libsvm/w8a", None, None, 1),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", "libsvm/ijcnn1.tst.bz2", None, 1),
    "mushrooms": ("libsvm/mushrooms", None, None, 2),
    "phishing": ("libsvm/phishing", None, None, 2),
    "enron": ("libsvm/enron_binary_bow.svm.gz", None, None, 1),
    "sms": ("sms-spam/SMSSpamCollection", None, None, 2),
    "spambase": ("spambase/spambase.data", None, None, 3),
    "ionosphere": ("classics/mlbench_Ionosphere.csv", None, None, 10),
    "breast cancer": ("classics/sklearn_breast_cancer.csv", None, None, 10),
}
OURS = {
    "averaged": ["--learner", "averaged", "--probabilities"],
    "svm": ["--learner", "svm", "--probabilities"],
    "logistic": ["--learner", "logistic"],
}
MEASURES = {"expected_calibration_error": "Expected calibration error", "log_loss": "Log loss", "brier": "Brier score"}


def linsep(program, folder, options):
    model = folder / "model"
    subprocess.run([program, "train", folder / "train.svm", "-q", "-o", model, *options], check=True, stdout=subprocess.DEVNULL)
    ran = subprocess.run(
        [program, "evaluate", model, folder / "test.svm", "-q", "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(ran.stdout)["probabilities"]


def judged(name, arguments, python, program):
    """The measures of every contestant, one for each split."""
    train, test, most, splits = SETS[name]
    found = {}
    for seed in range(splits):
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            folder = Path(folder)
            task = {
                "train": str(arguments.data / train),
                "test": test and str(arguments.data / test),
                "most": most,
                "seed": seed,
                "folder": str(folder),
            }
            ran = subprocess.run([python, INSIDE, json.dumps(task)], check=True, capture_output=True, text=True)
            results = json.loads(ran.stdout)
            for ours, options in OURS.items():
                results[f"linsep {ours}"] = linsep(program, folder, [*options, *arguments.options])
            for who, measures in results.items():
                found.setdefault(who, []).append(measures)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of real data")
    parser.add_argument("--linsep", type=Path, help="the program [default: built from this folder]")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help="these sets alone")
    parser.add_argument("--options", nargs="*", default=[], help="more options for linsep train")
    parser.add_argument("--record", metavar="FILE", help="write a record of this name")
    arguments = parser.parse_args()
    if not arguments.linsep:
        build()
    program = arguments.linsep or LINSEP
    WORK.mkdir(parents=True, exist_ok=True)
    python = environment(WORK / "calibration", PACKAGES)
    table = {}
    for name in arguments.only:
        table[name] = judged(name, arguments, python, program)
        mean = {
            who: statistics.mean(split["expected_calibration_error"] for split in splits)
            for who, splits in table[name].items()
        }
        say(f"{name}: " + ", ".join(f"{who} {error:.4f}" for who, error in mean.items()))
    contestants = list(next(iter(table.values())))
    lines = [
        "# Calibration of probabilities",
        "",
        "Test rows of ten real sets of two classes. linsep calibrates `averaged` and `svm` with `--probabilities`; its "
        "`logistic` is natural. The peers are calibrated by `CalibratedClassifierCV` with its defaults (a sigmoid, five "
        "folds); `LogisticRegression` is natural. Features: linsep chooses its own scale; the peers have each feature "
        "divided by its largest magnitude (`MaxAbsScaler`), and of tables, standardised (`StandardScaler`).",
        "",
    ]
    for measure, title in MEASURES.items():
        lines += [f"## {title}", "", f"| set | {' | '.join(contestants)} |", "|---|" + "---:|" * len(contestants)]
        sums = dict.fromkeys(contestants, 0.0)
        for name, found in table.items():
            means = {who: statistics.mean(split[measure] for split in found[who]) for who in contestants}
            sums = {who: sums[who] + means[who] for who in contestants}
            lines.append(f"| {name} | " + " | ".join(f"{means[who]:.4f}" for who in contestants) + " |")
        lines += ["| **mean** | " + " | ".join(f"**{sums[who] / len(table):.4f}**" for who in contestants) + " |", ""]
    lines += ["## Machine", "", *machine(), f"* {', '.join(PACKAGES)}", "* `python3 bench/calibration.py FOLDER`", ""]
    print("\n".join(lines))
    if arguments.record:
        write_record(arguments.record, lines)


if __name__ == "__main__":
    main()
