"""The page for everybody: axe-core finds nothing, keys reach everything, a phone is wide enough."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

VIEWS = ["learn", "proof", "separate", "compare"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(watched, theme):
    watched.page.emulate_media(color_scheme=theme)
    page = watched.open("#data=xor&settings=" + json.dumps({"learner": "perceptron", "scale": "none", "epochs": 5}))
    for view in VIEWS:
        page.click(f"#tab-{view}")
        watched.settle()
        if view == "compare":
            page.click("#compare-run")
            watched.settle()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.click("#edit")
    page.click("#lessons")
    page.evaluate("linsep.failed(new Error('a message'))")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_keys_reach_every_control(watched, page):
    reached = set()
    page.evaluate("document.body.focus()")
    for _ in range(120):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.tagName")
        if name in reached and len(reached) > 20 and name == "skip":
            break
        reached.add(name)
    wanted = {"skip", "data-select", "open-file", "lessons", "theme", "edit", "picture", "to-start", "step-back", "play", "scrub", "speed", "tab-learn", "learner", "setting-scale"}
    assert wanted <= reached, wanted - reached
    page.locator("#tab-learn").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-proof")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator("#panel-compare")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#panel-learn")).to_be_visible()


def test_what_is_seen_is_said(page):
    page.click("#to-start")
    page.click("#step-on")
    page.wait_for_timeout(400)
    label = page.locator("#picture").get_attribute("aria-label")
    assert "50 of 50 rows" in label and "boundary" in label and "pass 1: row" in label
    assert page.locator("#scrub").get_attribute("aria-valuetext").startswith("update 1 of ")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_a_phone(watched, width):
    page = watched.page
    page.set_viewport_size({"width": width, "height": 800})
    watched.open("#data=iris-virginica")
    for view in VIEWS:
        page.click(f"#tab-{view}")
        watched.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    box = page.locator("#picture").bounding_box()
    assert box["width"] > width * 0.85 and box["height"] >= 280
    for control in ("#play", "#step-on", "#edit"):
        size = page.locator(control).bounding_box()
        assert size["width"] >= 24 and size["height"] >= 24
    page.set_viewport_size({"width": 1400, "height": 900})
