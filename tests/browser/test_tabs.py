"""Several pages at once, and pages that go away."""

from __future__ import annotations

import json
import os
import time

import pytest
from conftest import Watched, run_job, start, stop, wait_until
from playwright.sync_api import expect


def processor_time(server) -> float:
    """Seconds of processor time that the server has used."""
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def own_server():
    server = start()
    yield server
    assert stop(server) == 130


def rows():
    """Rows that no boundary separates, so that a run goes on as long as it may."""
    return b"x,y,c\n" + b"".join(b"%d,%d,%s\n" % (i * 79 % 101, i * 47 % 103, b"ab"[i * i % 3 % 2 : i * i % 3 % 2 + 1]) for i in range(600))


def works(server, seconds=10.0):
    """Whether the server computes."""
    before = processor_time(server)
    return wait_until(lambda: processor_time(server) - before > 0.2, seconds)


def is_idle(server):
    """Whether the server computes nothing any more."""
    before = processor_time(server)
    time.sleep(0.6)
    return processor_time(server) - before < 0.05


def begin_long_work(watched):
    page = watched.open()
    page.set_input_files("#file", {"name": "long.csv", "mimeType": "text/csv", "buffer": rows()})
    page.wait_for_function("() => linsep.set?.rows === 600 && !linsep.controller", timeout=60_000)
    page.evaluate("linsep.changeSettings({ learner: 'perceptron', epochs: 100000000 })")
    expect(page.locator("#progress-words")).to_contain_text("pass")
    expect(page.locator("#progress")).to_be_visible()
    assert works(watched.server)
    return page


def test_closing_the_page_ends_its_work(browser, own_server):
    watched = Watched(browser, own_server)
    begin_long_work(watched).close()
    assert wait_until(lambda: is_idle(own_server), 15), "the work goes on after the page was closed"
    assert watched.problems == []


def test_stop_ends_the_work_and_the_page_goes_on(browser, own_server):
    watched = Watched(browser, own_server)
    page = begin_long_work(watched)
    page.click("#stop")
    expect(page.locator("#progress")).to_be_hidden()
    assert wait_until(lambda: is_idle(own_server), 15)
    page.select_option("#data-select", "xor")
    page.wait_for_function("() => linsep.set.id === 'xor' && !linsep.controller")
    page.close()
    assert watched.problems == []


def test_several_tabs_do_not_disturb_each_other(browser, server):
    settings = {"learner": "perceptron", "scale": "none", "order": "given"}
    tabs = [Watched(browser, server) for _ in range(3)]
    names = ["square", "blobs", "xor"]
    for tab, name in zip(tabs, names):
        tab.page.goto(f"{server.address}#data={name}&settings={json.dumps({**settings, 'epochs': 50})}")
    for tab, name in zip(tabs, names):
        tab.page.wait_for_selector("body[data-ready]")
        tab.settle()
        assert tab.page.evaluate("linsep.set.id") == name
        record = run_job(server, {"job": "train", "data": {"source": name}, **settings, "epochs": 50})["record"]
        assert tab.page.evaluate("linsep.player.total") == record["updates"]
    for tab in tabs:
        tab.page.close()
        assert tab.problems == []


def test_a_page_without_the_token_says_what_to_do(browser, server):
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    expect(page.locator("#failure-message")).to_contain_text("open the address that linsep explore printed")
    page.close()


def test_a_server_that_is_gone_is_said(browser):
    server = start()
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector("body[data-ready]")
    assert stop(server) == 130
    page.select_option("#data-select", "xor")
    expect(page.locator("#failure-message")).to_contain_text("does not respond")
    page.close()
