"""The page of `linsep report` in a browser: nothing is wider than the page, whatever the names are."""

from __future__ import annotations

import pytest

LONG = "L" * 300


@pytest.fixture(scope="module")
def report(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rows = "".join(f"{i},{i * 7 % 5},{'short' if i % 3 else LONG}\n" for i in range(60))
    (folder / "names.csv").write_text(f"{LONG},b,label\n{rows}")
    program("report", "names.csv", "--time", "2", "-o", "page.html", "-q", folder=folder)
    return folder / "page.html"


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
def test_long_names_do_not_widen_the_page(browser, report, width):
    page = browser.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # On paper nothing can be scrolled: tables fit.
    page.emulate_media(media="print")
    if width >= 800:
        wide = page.evaluate("[...document.querySelectorAll('.table, pre, dl, p, li')].filter((one) => one.scrollWidth > one.clientWidth + 1).length")
        assert wide == 0
    # Usual words are not torn apart.
    page.emulate_media(media="screen")
    torn = page.evaluate("[...document.querySelectorAll('td')].filter((td) => td.textContent === 'memoriser' && td.getBoundingClientRect().height > 50).length")
    assert torn == 0
    page.close()
    assert problems == []


def test_figures_can_be_read_on_a_phone(browser, report):
    """They keep their size and are scrolled, and the page is no wider for it."""
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(report.as_uri())
    widths = page.evaluate("[...document.querySelectorAll('figure svg')].map((svg) => svg.getBoundingClientRect().width)")
    assert len(widths) > 2 and min(widths) >= 500
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
