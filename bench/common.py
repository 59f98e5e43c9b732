"""What the benchmarks share: building, running whole programs, and describing the machine."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
# The profile of published programs and wheels.
PROFILE = "dist"
LINSEP = TARGET / PROFILE / "linsep"
WORK = TARGET / "bench"
RECORDS = ROOT / "bench" / "records"


def say(text):
    print(text, file=sys.stderr, flush=True)


def build():
    WORK.mkdir(parents=True, exist_ok=True)
    if not install("time", "time"):
        raise SystemExit("GNU time is needed: install the package time")
    command = ["cargo", "build", "--profile", PROFILE, "--locked"]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)})


def install(package, program):
    """Whether a program of Debian is there, after installing it if need be and possible."""
    if not shutil.which(program) and shutil.which("apt-get"):
        say(f"installing {package}")
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", package], check=False)
    return shutil.which(program) is not None


def environment(folder, packages):
    """A Python that has these packages and nothing else, made anew when the list changes."""
    python, done = folder / "bin" / "python", folder.with_suffix(".done")
    if not done.exists() or done.read_text() != " ".join(packages):
        say(f"installing {', '.join(packages)}")
        venv.create(folder, with_pip=True, clear=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        done.write_text(" ".join(packages))
    return python


class Run:
    """One run of a whole program: seconds on the clock, seconds of processor, peak memory."""

    def __init__(self, command, **options):
        # GNU time, because the peak memory of a child of Python starts at what Python itself needs.
        self.command, self.usage = list(map(str, command)), tempfile.NamedTemporaryFile("r")
        self.before = time.perf_counter()
        watched = ["/usr/bin/time", "-q", "-f", "%M %U %S", "-o", self.usage.name, *self.command]
        self.child = subprocess.Popen(watched, cwd=WORK, **options)

    def wait(self, accept=(0,)):
        self.code = self.child.wait()
        self.seconds = time.perf_counter() - self.before
        if self.code not in accept:
            raise SystemExit(f"{self.command} failed with {self.code}")
        kilobytes, user, system = self.usage.read().split()
        self.processor, self.megabytes = float(user) + float(system), int(kilobytes) / 1024
        return self


def machine():
    model, memory = platform.processor() or "unknown", "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal"):
            memory = f"{int(line.split()[1]) / 2**20:.0f} GiB"
    return [
        f"* Processor: {model}, {os.cpu_count()} cores, {memory} of memory, "
        f"{platform.system()} {platform.release()}",
        f"* linsep at commit {COMMIT}; load of the machine before the first run: {LOAD:.2f}",
    ]


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    # A record that was just written changes nothing about the program.
    changed = git("status", "--porcelain", "--", ".", ":!bench/records")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changed else "")


# Taken when the benchmark starts: what others do on the machine, not what the benchmark does; and what is built.
LOAD, COMMIT = os.getloadavg()[0], commit()


def write_record(name, lines):
    """Writes a record to its folder."""
    path = RECORDS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))
    say(f"wrote {path}")
