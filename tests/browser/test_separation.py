"""The verdict on the page, with its certificate, its rows and its coefficients; and learners side by side."""

from __future__ import annotations

import json

import pytest
from conftest import run_job
from playwright.sync_api import expect


def test_separable_points_show_their_band(watched, page, server, tmp_path, program):
    page.click("#tab-separate")
    watched.settle()
    expect(page.locator("#verdict")).to_have_text("Separable")
    record = run_job(server, {"job": "separate", "data": {"source": "square"}})["record"]
    text = page.locator("#separate-report").inner_text()
    assert f"{record['margin']['lower']:.4g}" in text
    shown = page.evaluate("({ band: linsep.shown.band, marks: linsep.shown.points.mark.filter((m) => m === 1).length })")
    assert shown["band"]["width"] > 0 and shown["marks"] >= 2
    # No row is inside the band.
    inside = page.evaluate(
        """() => { const { points, band } = linsep.shown; const [a, b, c] = band.line; let inside = 0;
             for (let i = 0; i < points.x.length; i++) if (Math.abs(a * points.x[i] + b * points.y[i] + c) < band.width * (1 - 1e-9)) inside++; return inside; }"""
    )
    assert inside == 0
    rows = page.locator("#coefficients tbody tr").all_inner_texts()
    assert len(rows) == 3 and "∞" in "".join(rows)
    with page.expect_download() as download:
        page.click("#separate-downloads [data-part=certificate]")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    data = tmp_path / "square.csv"
    data.write_bytes(server.ask("GET", "/api/v1/data/square/file")[2])
    assert "accepted" in program("verify", path, data).lower()
    for part in ("spec", "picture"):
        with page.expect_download() as download:
            page.click(f"#separate-downloads [data-part={part}]")
        assert download.value.suggested_filename == {"spec": "square.toml", "picture": "square.svg"}[part]


def test_points_that_overlap_show_the_rows_that_prove_it(watched, server):
    page = watched.open("#data=xor&view=separate&settings=" + json.dumps({"learner": "perceptron", "scale": "none", "epochs": 5}))
    expect(page.locator("#verdict")).to_have_text("Not separable")
    record = run_job(server, {"job": "separate", "data": {"source": "xor"}})["record"]
    lines = [row[0] for row in page.eval_on_selector_all("#witness-rows tbody tr", "rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))")]
    assert lines == [str(row["line"]) for row in record["witness_rows"]]
    marked = page.evaluate("[...linsep.shown.points.row].filter((_, i) => linsep.shown.points.mark[i] === 1)")
    assert sorted(marked) == sorted(row["row"] for row in record["witness_rows"])
    assert "finite" in page.locator("#coefficients").inner_text()
    page.check("#blame")
    page.click("#decide")
    watched.settle()
    expect(page.locator("#blame-rows")).to_be_visible()
    assert page.evaluate("linsep.shown.points.mark.includes(2)")


def test_many_classes_are_a_table(watched):
    page = watched.open("#data=iris-setosa&view=separate&settings=" + json.dumps({"learner": "multiclass"}))
    expect(page.locator("#separate-report")).to_contain_text("Each class against the rest")
    expect(page.locator("#separate-report pre.table").first).to_contain_text("virginica")


def test_learners_side_by_side(watched):
    page = watched.open("#data=blobs&view=compare&compare=perceptron,averaged,svm,kernel&settings=" + json.dumps({"scale": "none"}))
    expect(page.locator("#compare-table tbody tr")).to_have_count(4)
    assert page.locator("#compare-legend li").count() == 4
    lines = page.evaluate("linsep.shown.lines.map((one) => one.line)")
    assert len(lines) == 3 and len({tuple(line) for line in lines}) == 3
    expect(page.locator("#compare-legend")).to_contain_text("its boundary is no line")
    # Dashes tell them apart without colour.
    assert len(set(page.evaluate("linsep.shown.lines.map((one) => one.dash)"))) == 3
    for name in ("kernel", "svm"):
        page.locator(f"#compare-learners input[value={name}]").uncheck()
    page.click("#compare-run")
    watched.settle()
    expect(page.locator("#compare-table tbody tr")).to_have_count(2)


def test_many_orders_give_many_boundaries(watched, page):
    page.click("#tab-compare")
    page.fill("#orders", "12")
    page.click("#orders-run")
    page.wait_for_selector("#orders-report")
    text = page.locator("#orders-report").inner_text()
    assert text.startswith("12 orders of the same rows") and "12 runs without a mistake" in text
    different = int(text.split(" different boundaries")[0].rsplit(" ", 1)[1])
    assert different > 6 and page.evaluate("linsep.shown.lines.length") == 12
    # Each separates all points.
    wrong = page.evaluate(
        """() => { const { points, lines } = linsep.shown; let wrong = 0;
             for (const { line: [a, b, c] } of lines) for (let i = 0; i < points.x.length; i++) if ((a * points.x[i] + b * points.y[i] + c > 0) !== (points.side[i] === 1)) wrong++; return wrong; }"""
    )
    assert wrong == 0


def test_comparing_nothing_is_refused(watched, page):
    page.click("#tab-compare")
    checked = page.locator("#compare-learners input:checked")
    while checked.count():
        checked.first.uncheck()
    page.click("#compare-run")
    expect(page.locator("#failure-message")).to_have_text("Choose at least one learner.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_can_be_changed(watched, page, theme):
    while page.evaluate("document.documentElement.dataset.theme") != theme:
        page.click("#theme")
    page.wait_for_timeout(100)
    colour = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    assert (colour == "rgb(18, 23, 29)") == (theme == "dark")
    page.evaluate("localStorage.removeItem('theme')")
