#!/usr/bin/env python3
"""From raw files to a model: linsep beside scikit-learn with the same features and the same split. Writes a record.

One command; the folder with the data sets is its only argument: `csv/adult.data` and `adult.test`,
`cats-dogs/{training_set,test_set}/{cats,dogs}`, and the four IDX files of MNIST in `mnist/`.
"""

import argparse
import datetime
import json
import statistics
import subprocess
from pathlib import Path

from common import LINSEP, WORK, Run, build, environment, machine, say, write_record

PACKAGES = ["numpy==2.4.6", "pandas==3.1.1", "pillow==13.0.0", "scikit-learn==1.9.1"]
PEERS = Path(__file__).resolve().parent / "real_inputs" / "peers.py"
ESTIMATORS = ["LogisticRegression", "LinearSVC"]


class Case:
    """A data set: its training files and its test files, and how linsep learns from them."""

    def __init__(self, name, what, train, test, *arguments, runs=3):
        self.name, self.what, self.train, self.test = name, what, train, test
        self.arguments, self.runs = arguments, runs


def adult_test(folder):
    """The test rows with labels as in the training rows: those of the file end in a full stop."""
    lines = (folder / "csv" / "adult.test").read_text().splitlines()
    rows = [line.rstrip(".") for line in lines if line.count(",") > 5]
    path = WORK / "adult.test.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def cases(folder):
    return [
        Case(
            "adult",
            "census, 32,561 + 16,281 rows, numbers and words with missing cells",
            folder / "csv" / "adult.data",
            adult_test(folder),
            "--learner",
            "logistic",
        ),
        Case(
            "cats-dogs",
            "300 + 100 photographs of many sizes (JPEG), 128x128 grey",
            folder / "cats-dogs" / "training_set",
            folder / "cats-dogs" / "test_set",
            "--learner",
            "logistic",
            "--size",
            "128x128",
        ),
        Case(
            "mnist",
            "60,000 + 10,000 digits (IDX), 28x28 grey, ten classes",
            folder / "mnist" / "train-images-idx3-ubyte.gz",
            folder / "mnist" / "t10k-images-idx3-ubyte.gz",
            "--learner",
            "logistic",
            runs=1,
        ),
    ]


def run_linsep(case):
    """The error on the test rows, and the seconds from the raw files to the saved model."""
    model = WORK / f"{case.name}.model"
    command = [LINSEP, "train", case.train, "-o", model, "-q", *case.arguments]
    runs = [Run(command, stdout=subprocess.DEVNULL).wait() for _ in range(case.runs)]
    evaluated = subprocess.run([LINSEP, "evaluate", model, case.test, "--json", "-q"], capture_output=True, check=True)
    error = json.loads(evaluated.stdout)["error"]
    return error, runs, command


def run_peer(python, case, estimator):
    """The same for scikit-learn; its time includes the prediction of the test rows, which is short."""
    command = [python, PEERS, case.name, estimator, case.train, case.test]
    with open(WORK / "peer.json", "w+") as out:
        run = Run(command, stdout=out).wait()
        out.seek(0)
        return json.loads(out.read())["error"], run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with the data sets")
    parser.add_argument("--only", help="these data sets, separated by commas")
    parser.add_argument("--python", help="a Python that has the packages, instead of one that is made")
    arguments = parser.parse_args()
    build()
    python = arguments.python or environment(WORK / "inputs", PACKAGES)
    circumstances = machine()
    wanted = arguments.only.split(",") if arguments.only else None
    lines, commands = [], []
    for case in cases(arguments.folder.resolve()):
        if wanted and case.name not in wanted:
            continue
        say(f"{case.name}: linsep")
        error, runs, command = run_linsep(case)
        seconds = statistics.median(run.seconds for run in runs)
        processor = statistics.median(run.processor for run in runs)
        peers = {}
        for estimator in ESTIMATORS:
            say(f"{case.name}: {estimator}")
            peers[estimator] = run_peer(python, case, estimator)
        best = min(peers, key=lambda name: peers[name][0])
        best_error, best_run = peers[best]
        lines += [
            f"## {case.name}: {case.what}",
            "",
            "| | test error | seconds, raw files to model | of processor | peak memory |",
            "|---|---|---|---|---|",
            f"| linsep | {error:.2%} | {seconds:.2f} | {processor:.2f} | {runs[0].megabytes:.0f} MiB |",
            *(
                f"| scikit-learn, {name} | {found:.2%} | {run.seconds:.2f} | {run.processor:.2f} | {run.megabytes:.0f} MiB |"
                for name, (found, run) in peers.items()
            ),
            "",
            f"Error no worse than the best ({best}): **{'holds' if error <= best_error else 'does not hold'}**"
            f" ({error:.2%} beside {best_error:.2%}). Faster than it by {best_run.seconds / seconds:.1f} × on the clock,"
            f" {best_run.processor / processor:.1f} × in processor time; 10 × on the clock:"
            f" **{'holds' if best_run.seconds >= 10 * seconds else 'does not hold'}**.",
            "",
        ]
        commands.append(" ".join(["linsep", *map(str, command[1:])]).replace(f"{arguments.folder.resolve()}/", "").replace(f"{WORK}/", ""))
    write_record(
        f"{datetime.date.today()}-inputs.md",
        [
            "# Raw files to a model: linsep beside scikit-learn",
            "",
            "Made by `bench/inputs.py`. Both read the same files, make the same features (numbers and one feature for each word; "
            "levels of 128x128 or 28x28 pixels, turned by EXIF and resampled linearly) and use the split that the files have. Each "
            "run is a whole program; that of scikit-learn includes the import of its modules and the prediction of the test rows.",
            "",
            *lines,
            "## Circumstances",
            "",
            *circumstances,
            "* linsep: the median of the runs; scikit-learn: one run",
            "",
            "```text",
            *commands,
            "```",
            "",
        ],
    )


if __name__ == "__main__":
    main()
