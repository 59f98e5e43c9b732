"""One trial: a folder of its own, random numbers of its own, programs that are run in it, and what failed.

Everything random comes from `trial.random`, which depends on the seed, the kind and the number of the trial alone. So
`run.py --seed S --only KIND --trial N` does the same again (as far as the machine's own timing allows).
"""

import os
import random
import resource
import select
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Exit codes that docs/cli.md documents, beside 130 for Ctrl-C.
DOCUMENTED = range(5)
# Longer than any command here takes on a busy machine: what is not done by then hangs.
PATIENCE = 120.0


class Ended:
    """How a program ended. `code` is negative for a signal, as in `subprocess`."""

    def __init__(self, line, code, stdout, stderr, seconds, peak, hung, notice, unheard):
        self.line, self.code, self.stdout, self.stderr = line, code, stdout, stderr
        self.seconds, self.peak, self.hung = seconds, peak, hung
        # Seconds from the last signal to the end; None if it ended before all signals were sent.
        self.notice = notice
        # Whether the last signal came before the program listened to it.
        self.unheard = unheard


class Running:
    """A program that was started."""

    def __init__(self, line, process, logs, stdout_is_kept):
        self.line, self.process, self.logs, self.stdout_is_kept = line, process, logs, stdout_is_kept
        self.started = time.monotonic()
        self.pidfd = os.pidfd_open(process.pid)

    def wait(self, seconds):
        """Waits for its end, at most so long; whether it has ended."""
        return bool(select.select([self.pidfd], [], [], max(0.0, seconds))[0])

    def kill(self, number):
        signal.pidfd_send_signal(self.pidfd, number)

    def listens(self, number):
        """Whether the program answers this signal itself. Before it has begun to, the signal ends it."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return False
        caught = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:")), 0)
        return bool(caught >> (number - 1) & 1)

    def finish(self, signals=(), patience=PATIENCE):
        """Sends each signal at its time, counted from the start in seconds, and waits for the end."""
        notice, unheard = None, False
        for at, number in signals:
            if self.wait(self.started + at - time.monotonic()):
                notice = None
                break
            unheard = not self.listens(number)
            self.kill(number)
            notice = time.monotonic()
        hung = not self.wait(patience)
        if hung:
            self.kill(signal.SIGKILL)
        _, status, usage = os.wait4(self.process.pid, 0)
        os.close(self.pidfd)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        out, err = (Path(log.name).read_bytes() for log in self.logs)
        for log in self.logs:
            log.close()
        return Ended(
            self.line,
            self.process.returncode,
            out if self.stdout_is_kept else b"",
            err.decode(errors="replace"),
            now - self.started,
            usage.ru_maxrss * 1024,
            hung,
            None if notice is None else now - notice,
            unheard,
        )


class Trial:
    """What a kind of trial works with."""

    def __init__(self, program, kind, number, seed, place):
        self.program, self.kind, self.number = program, kind, number
        self.random = random.Random(f"{seed} {kind} {number}")
        self.folder = place / f"{kind}-{number}"
        self.logs = place / f"{kind}-{number}-logs"
        # Data that all trials of a kind use, made once.
        self.shared = place / f"{kind}-shared"
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in (self.folder, self.logs, self.shared):
            folder.mkdir(parents=True, exist_ok=True)
        self.failures, self.lines, self.running = [], [], 0
        # What the trial wants to be reported: counts are added up, longest times kept.
        self.counts, self.longest = {}, {}

    # Programs

    def start(self, *arguments, stdin=subprocess.DEVNULL, stdout=None, limits=(), before=(), folder=None, closed=False):
        """Starts linsep in the folder of the trial. `limits` are pairs of a resource and its limit, `before` is a
        command that is put in front, `closed` starts it without a standard output."""
        command = [*before, self.program, *map(str, arguments)]
        line = shlex.join(command)
        names = {resource.RLIMIT_AS: "as", resource.RLIMIT_FSIZE: "fsize"}
        for which, limit in limits:
            line = f"prlimit --{names[which]}={limit} {line}"
        self.lines.append(f"cd {shlex.quote(str(folder or self.folder))} && {line}")
        self.running += 1
        logs = [open(self.logs / f"{self.running}.{end}", "wb") for end in ("out", "err")]

        def prepare():
            for which, limit in limits:
                resource.setrlimit(which, (limit, limit))
            if closed:
                os.close(1)

        process = subprocess.Popen(
            command,
            cwd=folder or self.folder,
            stdin=stdin,
            stdout=logs[0] if stdout is None else stdout,
            stderr=logs[1],
            preexec_fn=prepare if limits or closed else None,
            # Python ignores SIGPIPE and SIGXFSZ. With it ignored, a file that is too long is an error of the call.
            restore_signals=False,
        )
        return Running(line, process, logs, stdout is None)

    def run(self, *arguments, signals=(), patience=PATIENCE, **options):
        return self.start(*arguments, **options).finish(signals, patience)

    def start_and_read(self, arguments, taken):
        """Runs linsep with a pipe as standard output. Its reader takes so many bytes, and leaves; for none, before the
        program starts."""
        reading, writing = os.pipe()
        if taken == 0:
            os.close(reading)
        running = self.start(*arguments, stdout=writing)
        os.close(writing)
        if taken > 0:
            os.read(reading, taken)
            os.close(reading)
        return running.finish()

    def made(self, name, *arguments):
        """A file of the kind's shared folder, made by this command the first time. `{}` stands for its path."""
        path = self.shared / name
        if not path.exists():
            command = [self.program, *(str(path) if a == "{}" else str(a) for a in arguments)]
            done = subprocess.run(command, cwd=self.shared, stdin=subprocess.DEVNULL, capture_output=True)
            if not path.exists():
                raise RuntimeError(f"{shlex.join(command)}: {done.stderr.decode(errors='replace')}")
        return path

    def put(self, source, name=None):
        """A copy of a file in the folder of the trial, with its time of change, which caches remember."""
        target = self.folder / (name or Path(source).name)
        shutil.copy2(source, target)
        return target.name

    def names(self, folder=None):
        """What lies in a folder, in order, folders included."""
        folder = folder or self.folder
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

    # Failures

    def fail(self, problem, ended=None):
        """Reports a failure. The files are kept, and the commands so far are printed."""
        if ended is not None:
            said = ended.stderr.strip().splitlines()
            problem += f"\n      exit code {ended.code} after {ended.seconds:.1f} s, peak {ended.peak >> 20} MiB"
            problem += f"; it said: {' / '.join(said[-3:])[:400] or 'nothing'}"
        self.failures.append((problem, list(self.lines)))

    def count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def timed(self, what, seconds):
        self.longest[what] = max(seconds, self.longest.get(what, 0.0))

    def sound(self, ended, codes=DOCUMENTED, names=()):
        """Whether a run ended as documented: no hanging, no signal, no panic, one of these codes, and for an error a
        message that names one of the files."""
        if ended.hung:
            self.fail("it did not end", ended)
        elif ended.code < 0:
            self.fail(f"it was ended by {signal.Signals(-ended.code).name}", ended)
        elif ended.code == 101 or "panicked" in ended.stderr:
            self.fail("it panicked", ended)
        elif ended.code not in codes:
            self.fail(f"the exit code is {ended.code}, not one of {sorted(codes)}", ended)
        elif ended.code in (2, 3) and not ended.stderr.strip():
            self.fail("an error without a message", ended)
        elif ended.code == 3 and names and not any(name in ended.stderr for name in names):
            self.fail(f"the message names none of {', '.join(names)}", ended)
        else:
            return True
        return False

    def close(self):
        """Removes the files, unless something failed."""
        if not self.failures:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.logs, ignore_errors=True)
