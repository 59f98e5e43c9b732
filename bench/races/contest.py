"""Programs that take turns at the same job, and what is said about them."""

import dataclasses
import json
import statistics
from pathlib import Path

from common import LINSEP, WORK, Run, environment, install

PACKAGES = [
    "vowpalwabbit==9.11.9",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "scikit-learn==1.9.1",
    "liblinear-official==2.50.0",
    "pandas==3.1.1",
]
INSIDE = Path(__file__).resolve().parent / "inside.py"
# Who needs longer than this for one run is stopped, and the table says so.
LIMIT = 180
# Who needs longer than this runs in one counted round only.
PATIENCE = 15


def python():
    """The Python that has the peers."""
    return environment(WORK / "peers", PACKAGES)


def inside(*arguments):
    """The command that does a job inside a peer's Python and tells its seconds as JSON."""
    return [python(), INSIDE, *arguments]


def wabbit(*arguments):
    return [python(), "-m", "vowpalwabbit", *arguments]


def with_liblinear():
    return install("liblinear-tools", "liblinear-train")


@dataclasses.dataclass
class Options:
    """What was asked for on the command line."""

    rounds: int
    quick: bool
    data: Path | None


@dataclasses.dataclass
class Claim:
    """What was asked beside what was reached."""

    what: str
    asked: str
    reached: str
    holds: bool


@dataclasses.dataclass
class Section:
    """What a race adds to the record."""

    title: str
    lines: list
    claims: list
    charts: dict  # name → SVG


class Contender:
    """A program, run as a whole. Where it prints JSON, `told` takes seconds of parts from it, by name."""

    def __init__(self, name, command, told=None, fresh=(), ours=False):
        self.name, self.command, self.told, self.fresh, self.ours = name, command, told, fresh, ours
        self.runs, self.too_long = [], False

    def run(self):
        for path in self.fresh:
            (WORK / path).unlink(missing_ok=True)
        with open(WORK / "stdout", "w+") as out, open(WORK / "stderr", "w+") as errors:
            run = Run(["timeout", LIMIT, *self.command], stdout=out, stderr=errors).wait(range(256))
            out.seek(0)
            errors.seek(0)
            if run.code not in (0, 124):
                raise SystemExit(f"{self.shown()} failed with {run.code}:\n{errors.read()}")
            run.parts = self.told(json.load(out)) if self.told and run.code == 0 else {}
        if run.code == 124:
            self.too_long = True
        else:
            self.runs.append(run)

    def seconds(self, part=None):
        """The seconds of every round: of the whole program, or of one part."""
        return [run.parts[part] if part else run.seconds for run in self.runs]

    def median(self, part=None):
        return statistics.median(self.seconds(part)) if self.runs else float("inf")

    def shown(self):
        return show(self.command)


def show(command):
    """A command without the paths of this machine."""
    known = {str(LINSEP): "linsep", str(python()): "python", str(INSIDE): "bench/races/inside.py"}
    words = [known.get(str(word), str(word)) for word in command]
    return " ".join(word.replace(f"{WORK}/", "") for word in words)


def contest(contenders, rounds):
    """One round that does not count and warms the file cache; then they take turns."""
    for contender in contenders:
        contender.run()
    slow = {c.name for c in contenders if c.too_long or c.median() > PATIENCE}
    for contender in contenders:
        contender.runs.clear()
    for number in range(rounds):
        for contender in contenders:
            if contender.too_long or (number > 0 and contender.name in slow):
                continue
            contender.run()


def seconds_text(value):
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def spread_text(seconds):
    return f"{seconds_text(min(seconds))} to {seconds_text(max(seconds))}"


def ratio_claim(what, asked, theirs, mine):
    """That we are `asked` times as fast: seconds of theirs against ours."""
    reached = theirs / mine
    return Claim(
        what, f"{asked} ×", f"{reached:.1f} × ({seconds_text(theirs)} against {seconds_text(mine)})", reached >= asked
    )


def bar_rows(contenders, part=None):
    """What `chart.bars` draws of a contest."""
    return [
        (c.name, c.median(part), min(c.seconds(part)), max(c.seconds(part)), c.ours) for c in contenders if c.runs
    ]
