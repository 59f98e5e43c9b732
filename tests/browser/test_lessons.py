"""Lessons: those that come with the program, and one of a teacher's own."""

from __future__ import annotations

import subprocess

import pytest
from conftest import Watched, program_path, start, stop
from playwright.sync_api import expect


def test_every_included_lesson_can_be_gone_through(watched, page):
    titles = []
    for lesson in range(3):
        page.click("#lessons")
        if page.locator("#lesson-leave").count():
            page.click("#lesson-leave")
        titles.append(page.locator(".lesson strong").nth(lesson).inner_text())
        page.locator(".lesson").nth(lesson).click()
        steps = page.evaluate(f"linsep.about.lessons[{lesson}].step.length")
        for place in range(steps):
            watched.settle()
            step = page.evaluate(f"linsep.about.lessons[{lesson}].step[{place}]")
            expect(page.locator("#lesson-title")).to_have_text(step["title"])
            expect(page.locator("#failure")).to_be_hidden()
            assert page.evaluate("linsep.state.view") == step.get("view", "learn")
            if "update" in step:
                assert page.evaluate("linsep.player.at") == step["update"]
            if step.get("view") == "separate":
                expect(page.locator("#verdict")).to_be_visible()
            if place + 1 < steps:
                page.click("#lesson-next")
        page.click("#lesson-back")
        watched.settle()
        expect(page.locator("#lesson")).to_contain_text(f"step {steps - 1} of {steps}")
    assert titles == ["A line that learns", "Why it must stop", "When it cannot"]


def test_the_lessons_say_what_happens(watched, page):
    """The sentences of the lessons hold on the data of the lessons."""
    facts = page.evaluate(
        """async () => { const found = {}; for (const lesson of linsep.about.lessons) { await linsep.lessons.go(linsep.about.lessons.indexOf(lesson), lesson.step.length - 1);
             found[lesson.title] = linsep.learn.result.record; } return found; }"""
    )
    assert facts["A line that learns"]["converged"]
    narrow = facts["Why it must stop"]
    assert narrow["converged"] and narrow["updates"] > 100
    assert facts["When it cannot"]["learner"] == "kernel" and facts["When it cannot"]["converged"]


def test_the_address_holds_the_step(watched):
    page = watched.open("#lesson=2&step=1&data=xor&view=proof")
    expect(page.locator("#lesson-title")).to_have_text("What is still proved")


def test_a_lesson_ends_where_other_data_is_opened(watched, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("x,y,class\n0,0,a\n1,2,b\n")
    for opened in ("file", "list"):
        page = watched.open("#lesson=0&step=0&data=square")
        expect(page.locator("#lesson-card")).to_be_visible()
        if opened == "file":
            page.set_input_files("#file", path)
        else:
            page.select_option("#data-select", "xor")
        expect(page.locator("#lesson-card")).to_be_hidden()
        watched.settle()
        assert "lesson" not in page.evaluate("location.hash")
        page.goto("about:blank")


OWN = """
title = "My class"
about = "For Tuesday."
[[step]]
title = "Look <b>here</b>"
text = "First paragraph.\\n\\nSecond & last."
points = "x,y,c\\n0,0,a\\n1,1,b\\n2,2,b\\n"
update = 1
[step.settings]
learner = "perceptron"
"""


def test_a_lesson_of_ones_own(browser, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    server = start("--lesson", path)
    try:
        watched = Watched(browser, server)
        page = watched.open()
        expect(page.locator("#lesson-title")).to_have_text("Look <b>here</b>")
        assert page.locator("#lesson p").all_inner_texts()[1:] == ["First paragraph.", "Second & last."]
        assert page.evaluate("linsep.set.rows") == 3 and page.evaluate("linsep.player.at") == 1
        page.close()
        assert watched.problems == []
    finally:
        assert stop(server) == 130


@pytest.mark.parametrize(
    "text, message",
    [
        ("title = 1", "own.toml: this is not a lesson"),
        (OWN.replace("points", "data") , "there is no data"),
        (OWN.replace('learner = "perceptron"', "epochs = -1"), "settings: “epochs” is -1"),
        (OWN.replace('"perceptron"', '"perzeptron"'), "settings: "),
        (OWN + 'options = { C = 1 }\n', "C"),
        (OWN + 'classes = { only = ["a", "z"] }\n', "which no row has"),
        (OWN + "colour = 'red'\n", "colour"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_lesson_is_refused(tmp_path, text, message):
    path = tmp_path / "own.toml"
    if text is not None:
        path.write_text(text)
    done = subprocess.run([str(program_path()), "explore", "--no-open", "--lesson", str(path)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 3 and message in done.stderr, done.stderr
