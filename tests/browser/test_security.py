"""Who may ask the server, and what nobody can make it do: by raw requests, as an attacker sends them."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest
from conftest import program_path, run_job, start, stop


def test_it_listens_on_loopback_only(server):
    own = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    for address in [one for one in own if "." in one]:
        with pytest.raises(OSError):
            socket.create_connection((address, server.port), timeout=2).close()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "169.254.169.254", None])
def test_another_host_is_refused(server, host):
    for path in ("/", "/main.js", "/api/v1/about"):
        status, _, body = server.ask("GET", path, headers={"Host": host})
        assert status in (400, 403), (path, host, status)
        assert b"learners" not in body


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_another_origin_is_refused(server, origin):
    spec = json.dumps({"job": "train", "data": {"source": "square"}}).encode()
    for method, path, body in [("POST", "/api/v1/run", spec), ("POST", "/api/v1/data?name=a.csv", b"x,y\n1,a\n"), ("GET", "/api/v1/about", None)]:
        status, headers, _ = server.ask(method, path, body, {"Origin": origin})
        assert status == 403
        assert not any(name.lower().startswith("access-control") for name in headers)


def test_a_request_across_sites_is_refused(server):
    for site in ("cross-site", "same-site"):
        assert server.ask("GET", "/api/v1/about", headers={"Sec-Fetch-Site": site})[0] == 403
        assert server.ask("GET", "/main.js", headers={"Sec-Fetch-Site": site})[0] == 403


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Bearer 0" * 24, "Basic abc", "Bearer ../../"])
def test_without_the_token_nothing_is_told(server, authorization):
    for method, path in [("GET", "/api/v1/about"), ("GET", "/api/v1/data/square"), ("POST", "/api/v1/run"), ("POST", "/api/v1/data?name=x")]:
        status, _, body = server.ask(method, path, b"{}" if method == "POST" else None, {"Authorization": authorization}, token=False)
        assert status == 401, (path, body)
        assert b"token" in body


def test_the_token_in_the_query_opens_no_interface(server):
    assert server.ask("GET", f"/api/v1/about?token={server.token}", token=False)[0] == 401


def test_every_answer_has_the_strict_policy(server):
    for path in ("/", "/main.js", "/nowhere", "/api/v1/about"):
        _, headers, _ = server.ask("GET", path)
        headers = {name.lower(): value for name, value in headers.items()}
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "style-src 'self'" in policy
        assert "unsafe" not in policy and "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


def test_the_page_has_no_inline_script_or_style(server):
    text = server.ask("GET", "/")[2].decode()
    assert "<style" not in text and " style=" not in text and " onclick=" not in text
    assert all('src="/' in part for part in text.split("<script")[1:])


@pytest.mark.parametrize(
    "path",
    ["/../Cargo.toml", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd", "/main.js/../../etc/passwd",
     "/api/v1/data/..%2f..%2fetc%2fpasswd", "/api/v1/data/%2Fetc%2Fpasswd/file", "/api/v1/results/..%2f../model", "/api/v1/data/square/../../about2"],
)
def test_no_path_leads_to_a_file(server, path):
    status, _, body = server.ask("GET", path)
    assert status in (400, 404), (path, status)
    assert b"root:" not in body and b"[workspace]" not in body


@pytest.mark.parametrize(
    "spec",
    [
        {"job": "train", "data": {"source": "/etc/passwd"}},
        {"job": "train", "data": {"source": "square"}, "output": "/tmp/linsep-must-not-exist"},
        {"job": "train", "data": {"source": "square"}, "trace": "/tmp/linsep-must-not-exist"},
        {"job": "train", "data": {"source": "square"}, "checkpoint": "/tmp/linsep-must-not-exist"},
        {"job": "train", "data": {"source": "square"}, "init": "/etc/passwd"},
        {"job": "train", "data": {"source": "square"}, "comparator": "/etc/passwd"},
        {"job": "train", "data": {"source": "square"}, "classes": {"row_weights": "/etc/passwd"}},
        {"job": "train", "data": {"source": "square", "cache": True}},
        {"job": "separate", "data": {"source": "square"}, "output": "/tmp/linsep-must-not-exist"},
        {"job": "evaluate", "data": {"source": "square"}, "model": "/etc/passwd"},
        {"job": "predict", "data": {"source": "square"}, "model": "/etc/passwd"},
    ],
)
def test_no_job_of_a_page_names_a_file(server, spec):
    status, _, body = server.ask("POST", "/api/v1/run", json.dumps(spec).encode())
    assert status in (400, 404), body
    assert b"root:" not in body
    assert not Path("/tmp/linsep-must-not-exist").exists()


def test_reading_options_of_a_page_name_no_file(server):
    options = "%7B%22array%22%3A%7B%22labels_file%22%3A%22%2Fetc%2Fpasswd%22%7D%7D"
    status, _, body = server.ask("POST", f"/api/v1/data?name=a.csv&options={options}", b"x,y\n1,2\n")
    assert status == 400 and b"cannot name a file" in body


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(server):
    status, _, body = server.ask("POST", "/api/v1/data?name=a.csv", None, {"Content-Length": str(5 << 30)})
    assert status == 413 and b"larger than 1024 MB" in body


def test_a_request_that_is_too_large_is_refused(server):
    status, _, _ = server.ask("POST", "/api/v1/run", b" " * (2 << 20))
    assert status == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"job":"train"}', b'{"job":"train","data":{"source":7}}'])
def test_nonsense_gets_an_answer(server, body):
    status, _, answer = server.ask("POST", "/api/v1/run", body)
    assert status == 400 and json.loads(answer)["error"]["message"]


def test_names_of_files_are_no_paths(server):
    status, lines = server.lines("POST", "/api/v1/data?name=..%2F..%2Fetc%2Fpasswd%0A%00", b"x,y\n1,a\n2,b\n")
    assert status == 200 and lines[-1]["data"]["name"] == "passwd"


def test_a_slow_client_disturbs_nobody(server):
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for one in slow:
        one.sendall(b"POST /api/v1/run HTTP/1.1\r\nHost: 127.0.0.1")
    for _ in range(5):
        assert server.ask("GET", "/api/v1/about")[0] == 200
    assert run_job(server, {"job": "train", "data": {"source": "square"}, "learner": "perceptron"})["record"]["converged"]
    for one in slow:
        one.close()


def test_a_port_in_use_is_said(server):
    done = subprocess.run([str(program_path()), "explore", "--no-open", "--port", str(server.port)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 3 and "is in use" in done.stderr and "--port" in done.stderr


def test_ctrl_c_ends_the_server_at_once_with_work_under_way(tmp_path):
    server = start()
    rows = b"".join(b"%d,%d,%s\n" % (i * 79 % 101, i * 47 % 103, b"ab"[i * i % 3 % 2 : i * i % 3 % 2 + 1]) for i in range(600))
    _, lines = server.lines("POST", "/api/v1/data?name=big.csv", b"x,y,c\n" + rows)
    spec = json.dumps({"job": "train", "data": {"source": lines[-1]["data"]["id"]}, "learner": "perceptron", "epochs": 100000000}).encode()
    open_ = socket.create_connection(("127.0.0.1", server.port))
    head = f"POST /api/v1/run HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\nContent-Length: {len(spec)}\r\n\r\n"
    open_.sendall(head.encode() + spec)
    assert open_.recv(100)
    assert stop(server) == 130
    open_.close()
