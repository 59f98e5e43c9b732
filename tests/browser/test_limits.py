"""What small requests can cost: jobs with huge numbers, which a page that leaves ends."""

from __future__ import annotations

import http.client
import json
import signal
import time

import pytest
from conftest import start, stop

HUGE = 10**9
DATA = {"source": "spam"}


def jobs():
    """A job for each whole number that a page can set."""
    for number in (HUGE, 2**53 - 1):
        yield {"job": "compare", "data": DATA, "orders": number}
        yield {"job": "compare", "data": DATA, "folds": number}
        yield {"job": "compare", "data": DATA, "learners": ["perceptron"], "epochs": number}
        yield {"job": "compare", "data": DATA, "learners": ["svm"], "orders": 1000, "folds": 1000}
        for field in ("epochs", "max_updates", "shards", "max_pairs", "seed"):
            yield {"job": "train", "data": DATA, "learner": "perceptron", field: number}
        yield {"job": "train", "data": DATA, "learner": "logistic", "features": "pairs", "max_pairs": number}
        for learner, option in (("kernel", "kernel_cache"), ("pocket", "patience"), ("svm", "C"), ("batch", "step")):
            yield {"job": "train", "data": DATA, "learner": learner, "options": {option: number}}
        # It keeps every mistake, and XOR has some in every pass.
        yield {"job": "train", "data": {"source": "xor"}, "learner": "voted", "epochs": number}
        yield {"job": "separate", "data": DATA, "seed": number, "max_seconds": number}
    # A grid of three options that makes a billion learners, and one option with many values.
    values = [0.001 * (1 + k) for k in range(998)]
    yield {"job": "compare", "data": DATA, "learners": ["sgd"], "grid": {"step": values, "l2": values, "power": values}}
    yield {"job": "compare", "data": DATA, "learners": ["svm"], "grid": {"C": list(range(1, 9_000))}}
    yield {"job": "train", "data": DATA, "classes": {"weight": {"named": [["spam", 1]] * 5_000}}}


def memory(server) -> int:
    """The most bytes that the server has held at once."""
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def leave_after(server, spec, seconds):
    """Asks for a job as a page does, and goes away after a while: the lines until then."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=seconds)
    body = json.dumps(spec).encode()
    headers = {"Authorization": f"Bearer {server.token}", "Content-Length": str(len(body))}
    lines = []
    end = time.monotonic() + seconds
    try:
        connection.request("POST", "/api/v1/run?history=false", body, headers)
        response = connection.getresponse()
        while time.monotonic() < end and (line := response.readline()):
            # What is too long for a job is refused before it is read as one.
            lines.append(json.loads(line) if response.status != 413 else {"error": line.decode()})
    except TimeoutError:
        pass
    connection.close()
    return lines


@pytest.fixture
def own_server():
    server = start()
    yield server
    if server.process.poll() is None:
        stop(server)


def test_no_number_fills_the_memory(own_server):
    answers = 0
    for spec in jobs():
        lines = leave_after(own_server, spec, 1.5)
        assert own_server.process.poll() is None, spec
        assert memory(own_server) < 600 << 20, (spec, memory(own_server) >> 20)
        # A job that is no job would try nothing.
        assert not any("expected" in json.dumps(line) or "unknown" in json.dumps(line) for line in lines), (spec, lines)
        answers += any("result" in line or "error" in line for line in lines)
    assert answers >= 10
    # Jobs whose pages have left are over: the places are free, and a small job is done at once.
    began = time.monotonic()
    lines = leave_after(own_server, {"job": "train", "data": {"source": "square"}, "learner": "perceptron"}, 8)
    assert "result" in lines[-1], lines[-1]
    assert time.monotonic() - began < 8


def test_too_many_orders_are_refused_with_the_number(own_server):
    lines = leave_after(own_server, {"job": "compare", "data": DATA, "orders": HUGE}, 10)
    assert len(lines) == 1 and "1,000" in json.dumps(lines[0]) and "1,000,000,000" in json.dumps(lines[0]), lines


def test_ctrl_c_ends_a_long_job_soon(own_server):
    spec = {"job": "compare", "data": DATA, "learners": ["perceptron"], "orders": 1000}
    lines = leave_after(own_server, spec, 1.0)
    assert lines and all("result" not in line for line in lines)
    own_server.process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert own_server.process.wait(timeout=20) == 130
    # Two seconds are promised; the machine of a test may be busy with others.
    assert time.monotonic() - began < 10
