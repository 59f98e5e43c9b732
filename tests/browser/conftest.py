"""What the tests of the explorer share: the program as a server, and Debian's Chromium with a page that must stay clean."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
expect.set_options(timeout=20_000)


def program_path() -> Path:
    if "LINSEP" in os.environ:
        return Path(os.environ["LINSEP"])
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "linsep"


def chromium_path() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    # A missing browser must fail the tests, never skip them.
    assert found, "chromium is missing: ./check.sh installs it (apt-get install chromium)"
    return found


@dataclass
class Server:
    process: subprocess.Popen
    address: str
    port: int
    token: str

    def ask(self, method: str, path: str, body=None, headers=None, token=True):
        """One request as it is given, with nothing added by a browser: status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{self.port}"}
        if token:
            given["Authorization"] = f"Bearer {self.token}"
        given.update(headers or {})
        if body is not None and "Content-Length" not in given:
            given["Content-Length"] = str(len(body))
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), content

    def lines(self, method: str, path: str, body=None):
        status, _, content = self.ask(method, path, body)
        return status, [json.loads(line) for line in content.splitlines()]


def start(*arguments) -> Server:
    command = [str(program_path()), "explore", "--no-open", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address:
        raise AssertionError(process.communicate()[1])
    port = urlsplit(address).port
    return Server(process, address, port, address.split("token=")[1])


def stop(server: Server) -> int:
    server.process.send_signal(signal.SIGINT)
    code = server.process.wait(timeout=10)
    server.process.stdout.close()
    server.process.stderr.close()
    return code


@pytest.fixture(scope="session")
def server():
    assert program_path().is_file(), f"{program_path()} is missing: run cargo build first"
    server = start()
    yield server
    assert stop(server) == 130


@pytest.fixture(scope="session")
def program():
    """Runs the program as a user does."""

    def run(*arguments, expect=(0,), folder=None):
        done = subprocess.run([str(program_path()), *map(str, arguments)], capture_output=True, text=True, cwd=folder)
        assert done.returncode in expect, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with sync_playwright() as playwright:
        folder = tmp_path_factory.mktemp("chromium")
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=chromium_path(),
            headless=True,
            args=FLAGS,
            viewport={"width": 1400, "height": 900},
            accept_downloads=True,
        )
        yield context
        context.close()


class Watched:
    """A page, with everything that it must not do."""

    def __init__(self, context, server: Server):
        self.server = server
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"error of the page: {error}"))
        self.page.on("request", self.asked)
        self.allowed: list[str] = []

    def heard(self, message):
        # What the server refuses is said on the page; the browser notes it as well.
        if message.type in ("error", "warning") and not any(part in message.text for part in self.allowed):
            self.problems.append(f"{message.type} in the console: {message.text}")

    def asked(self, request):
        where = urlsplit(request.url)
        if where.scheme in ("blob", "data"):
            return
        if where.hostname != "127.0.0.1" or where.port != self.server.port:
            self.problems.append(f"a request left the server: {request.url}")

    def open(self, state: str = "") -> Page:
        self.page.goto(f"{self.server.address}{state}")
        self.page.wait_for_selector("body[data-ready]")
        self.settle()
        return self.page

    def settle(self):
        """Waits until no job runs and the address says what is shown."""
        self.page.wait_for_function("() => !window.linsep.controller && window.linsep.learn.drawing")
        self.page.wait_for_timeout(120)
        self.page.wait_for_function("() => !window.linsep.controller")


@pytest.fixture
def watched(browser, server):
    watched = Watched(browser, server)
    yield watched
    watched.page.close()
    assert watched.problems == []


@pytest.fixture
def page(watched):
    return watched.open()


def read_number(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text))


def run_job(server: Server, spec: dict) -> dict:
    """Runs a job by the interface alone."""
    status, lines = server.lines("POST", "/api/v1/run", json.dumps(spec).encode())
    assert status == 200, lines
    return lines[-1]["result"]


def wait_until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
