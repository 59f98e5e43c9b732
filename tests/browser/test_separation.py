"""The verdict on the page, with its certificate, its rows and its coefficients; and learners side by side."""

from __future__ import annotations

import json
import re

import pytest
from conftest import run_job
from playwright.sync_api import expect


def test_separable_points_show_their_band(watched, page, server, tmp_path, program):
    page.click("#tab-separate")
    watched.settle()
    expect(page.locator("#verdict")).to_have_text("Separable")
    record = run_job(server, {"job": "separate", "data": {"source": "square"}})["record"]
    low, high = page.evaluate("/between (\\S+) and (\\S+)\\.$/.exec([...document.querySelectorAll('#separate-report p')].map((p) => p.textContent).find((text) => text.includes('best margin'))).slice(1)")
    assert float(low) <= record["margin"]["lower"] <= record["margin"]["upper"] <= float(high)
    shown = page.evaluate("({ band: linsep.shown.band, marks: linsep.shown.points.mark.filter((m) => m === 1).length })")
    assert shown["band"]["width"] > 0 and shown["marks"] >= 2
    # No row is inside the band.
    inside = page.evaluate(
        """() => { const { points, band } = linsep.shown; const [a, b, c] = band.line; let inside = 0;
             for (let i = 0; i < points.x.length; i++) if (Math.abs(a * points.x[i] + b * points.y[i] + c) < band.width * (1 - 1e-9)) inside++; return inside; }"""
    )
    assert inside == 0
    # Distances are rounded down, as the command prints them.
    for shown, row in zip(page.locator("#witness-rows tbody tr td:last-child").all_inner_texts(), record["closest_rows"], strict=False):
        assert float(shown) <= row["distance"]
    rows = page.locator("#coefficients tbody tr").all_inner_texts()
    assert len(rows) == 3 and "∞" in "".join(rows)
    with page.expect_download() as download:
        page.click("#separate-downloads [data-part=certificate]")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    data = tmp_path / "square.csv"
    data.write_bytes(server.ask("GET", "/api/v1/data/square/file")[2])
    assert "accepted" in program("verify", path, data).lower()
    with page.expect_download() as download:
        page.click("#separate-downloads [data-part=picture]")
    assert download.value.suggested_filename == "square.svg"
    # No command runs a saved decision; the page shows the one that makes it.
    assert page.eval_on_selector_all("#separate-downloads button", "all => all.map((one) => one.dataset.part)") == ["certificate", "picture"]
    expect(page.locator("#separate-command")).to_contain_text("linsep separate")


BOUNDS = [0.552549, 0.552551, 0.123456, 1.5, 7, 999.99, 4436.5, 123456, 12345678.9, 1.23456e-7, 9.9999e20, 1 / 3, 2e-5]


def test_bounds_are_rounded_as_the_program_rounds_them(watched, page, server):
    """A lower bound is never rounded up, nor an upper one down, and the digits are those of the report."""
    for number, (low, high) in zip(BOUNDS, page.evaluate("async (all) => { const { atLeast, atMost } = await import('/dom.js'); return all.map((one) => [atLeast(one), atMost(one)]); }", BOUNDS)):
        low, high = (float(text.replace(",", "").replace("−", "-")) for text in (low, high))
        assert low <= number <= high and high - low <= 2e-3 * number, number
    page.click("#tab-separate")
    watched.settle()
    for data in ("square", "blobs", "iris-setosa"):
        page.select_option("#data-select", data)
        watched.settle()
        page.click("#decide")
        watched.settle()
        told = page.evaluate("document.querySelector('#separate-report details').textContent")
        words = page.evaluate("[...document.querySelectorAll('#separate-report p')].map((p) => p.textContent).find((text) => text.includes('best margin'))")
        low, high = re.search(r"between (\S+) and (\S+)\.$", words).groups()
        assert low in told and high in told, (data, words, told)
    page.click("#tab-compare")
    page.click("#compare-run")
    watched.settle()
    rows = page.eval_on_selector_all("#compare-table tbody tr", "rows => rows.map((row) => ['name', 'lower', 'upper'].map((kind) => row.querySelector(`.${kind}`).textContent))")
    assert len(rows) == 4
    for name, lower, upper in rows:
        result = run_job(server, {"job": "train", "data": {"source": "iris-setosa"}, "learner": name, "scale": "none", "classes": {"only": ["setosa", "versicolor"]}})
        margin = result["record"]["margin"]
        assert lower == "none proved" or float(lower.removeprefix("≥ ")) <= margin["lower"], name
        assert margin["upper"] <= float(upper.removeprefix("≤ ").replace(",", "")), name


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
    rows = page.eval_on_selector_all("#verdicts tbody tr", "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))")
    record = page.evaluate("linsep.separate.result.record.table")
    assert [row[0] for row in rows] == ["setosa", "versicolor", "virginica"]
    for row, one in zip(rows, record, strict=True):
        assert row[3] == (str(len(one["witness_rows"])) if one["verdict"] == "overlap" else "–")
    assert [row[1] for row in rows] == ["separable", "not separable", "not separable"]
    # Nothing of it is cut, on a phone either.
    page.set_viewport_size({"width": 360, "height": 780})
    assert page.eval_on_selector("#verdicts", "table => table.scrollWidth <= table.parentElement.clientWidth && table.getBoundingClientRect().right <= innerWidth")


def test_learners_side_by_side(watched):
    page = watched.open("#data=blobs&view=compare&compare=perceptron,averaged,svm,kernel&settings=" + json.dumps({"scale": "none"}))
    expect(page.locator("#compare-table tbody tr")).to_have_count(4)
    assert page.locator("#compare-legend li").count() == 4
    lines = page.evaluate("linsep.shown.lines.map((one) => one.line)")
    assert len(lines) == 3 and len({tuple(line) for line in lines}) == 3
    expect(page.locator("#compare-legend")).to_contain_text("its boundary is not a line")
    # Dashes and numbers tell them apart without colour.
    assert len(set(page.evaluate("linsep.shown.lines.map((one) => one.dash)"))) == 3
    dashes = page.evaluate("import('/picture.js').then(({ DASHES }) => DASHES.map(String))")
    assert len(set(dashes)) == len(dashes) >= page.evaluate("linsep.about.learners.length")
    tags = page.evaluate("linsep.shown.lines.map((one) => String(one.tag))")
    assert page.locator("#compare-legend .tag").all_inner_texts() == tags and len(set(tags)) == 3
    drawn = page.evaluate("linsep.picture.svg('learners').text()")
    assert all(f">{tag}</text>" in drawn for tag in tags)
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


def test_orders_of_rows_that_overlap_are_no_answers(watched):
    page = watched.open("#data=xor")
    page.click("#tab-compare")
    page.fill("#orders", "3")
    page.click("#orders-run")
    page.wait_for_selector("#orders-report")
    text = page.locator("#orders-report").inner_text()
    assert "0 runs without a mistake" in text and "None of them separates" in text and "is an answer" not in text


def test_rows_of_the_witness_that_are_to_blame_have_both_marks(watched):
    page = watched.open("#data=iris-virginica")
    page.click("#tab-separate")
    watched.settle()
    page.check("#blame")
    page.click("#decide")
    watched.settle()
    expect(page.locator("#blame-rows")).to_be_visible()
    record = page.evaluate("linsep.separate.result.record")
    witness, blamed = ({row["line"] for row in rows} for rows in (record["witness_rows"], record["blame"]["rows"]))
    points = page.evaluate("({ mark: [...linsep.shown.points.mark], witness: [...linsep.shown.points.witness] })")
    assert sum(points["witness"]) == len(witness) and points["mark"].count(2) == len(blamed)
    both = [mark == 2 and held for mark, held in zip(points["mark"], points["witness"], strict=True)]
    assert sum(map(bool, both)) == len(witness & blamed) > 0


@pytest.mark.parametrize("given", ["0", "1", "201", "2.5", "-3", ""])
def test_a_number_of_orders_that_cannot_be_is_refused(watched, page, given):
    page.click("#tab-compare")
    page.fill("#orders", given)
    page.click("#orders-run")
    expect(page.locator("#failure-message")).to_contain_text("a whole number from 2 to 200")
    if given:
        expect(page.locator("#failure-message")).to_contain_text(f"“Orders” is {given},")
    assert page.locator("#orders-report").count() == 0 and page.evaluate("linsep.state.orders") == 0


def test_a_comparison_keeps_the_order_of_the_rows(watched, server):
    """The boundaries and the table are those of the order that the form says."""
    page = watched.open("#data=blobs&view=compare&compare=perceptron,svm&settings=" + json.dumps({"learner": "perceptron", "scale": "none", "order": "given"}))
    expect(page.locator("#compare-table tbody tr")).to_have_count(2)
    expect(page.locator("#compare-report pre.command")).to_contain_text("--order given")
    record = run_job(server, {"job": "train", "data": {"source": "blobs"}, "learner": "perceptron", "scale": "none", "order": "given"})["record"]
    shuffled = run_job(server, {"job": "train", "data": {"source": "blobs"}, "learner": "perceptron", "scale": "none"})["record"]
    assert record["updates"] != shuffled["updates"]
    row = page.locator("#compare-table tbody tr", has=page.locator(".name", has_text="perceptron"))
    expect(row.locator("td:last-child")).to_have_text(str(record["updates"]))
    assert page.evaluate("linsep.compare.lines.find((one) => one.name === 'perceptron').updates") == record["updates"]


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_many_letters_stay_in_the_panel(watched, page, width):
    page.set_viewport_size({"width": width, "height": 900})
    long = "n" * 300
    rows = "".join(f"{i % 9},{i * 5 % 7},{'xy'[i % 2]}{long}\n" for i in range(40))
    page.set_input_files("#file", {"name": "long.csv", "mimeType": "text/csv", "buffer": f"{'a' * 300},{'b' * 300},class\n{rows}".encode()})
    page.wait_for_function("() => linsep.set.name === 'long.csv' && !linsep.controller")
    page.click("#tab-compare")
    page.check("#compare-learners input[value=passive-aggressive]")
    page.click("#compare-run")
    watched.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.evaluate("(() => { const box = document.querySelector('#compare-report .scroll'); return [box.scrollWidth, box.clientWidth, box.scrollHeight, box.clientHeight]; })()")
    assert box[0] <= box[1] and box[2] <= box[3], box
    shown = page.locator("#compare-report [title]").first
    assert len(shown.inner_text()) <= 40 and shown.get_attribute("title").endswith(long)
    page.click("#tab-separate")
    watched.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#coefficients [title]").first.get_attribute("title") == "a" * 300
    page.set_viewport_size({"width": 1400, "height": 900})


def test_coefficients_are_worded_as_on_the_command_line(watched, page, program, tmp_path):
    text = "a,same,double,class\n" + "".join(f"{i % 7},5,{2 * (i % 7)},{'xy'[i * i % 5 > 1]}\n" for i in range(40))
    path = tmp_path / "constant.csv"
    path.write_text(text)
    page.set_input_files("#file", str(path))
    page.wait_for_function("() => linsep.set.name === 'constant.csv' && !linsep.controller")
    page.click("#tab-separate")
    watched.settle()
    told = [line.strip() for line in program("-q", "separate", path, expect=(0, 1)).splitlines()]
    rows = page.eval_on_selector_all("#coefficients tbody tr", "rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))")
    assert ["same", "aliased: the same in every row"] in rows and len(rows) == 4
    for name, words in rows:
        assert any(line.startswith(name) and line.endswith(words) for line in told), (name, words, told)

def test_rings_stay_while_points_are_edited(watched, page):
    page.select_option("#data-select", "xor")
    page.click("#tab-separate")
    watched.settle()
    marks = "linsep.shown.points.mark?.filter((one) => one > 0).length ?? 0"
    rings = page.evaluate(marks)
    assert rings > 0
    page.click("#edit")
    watched.settle()
    expect(page.locator("#edit")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(marks) >= rings


def test_missing_cells_are_decided_as_they_are_learned(watched, page, tmp_path, program):
    """A file with missing cells opens and learns, so it is decided about too, by the command that the page shows."""
    data = tmp_path / "gaps.csv"
    data.write_text("a,b,y\n" + "".join(f"{'' if i % 9 == 4 else i % 7},{i % 5},{'p' if i % 3 else 'q'}\n" for i in range(60)))
    page.set_input_files("#file", str(data))
    watched.settle()
    page.click("#tab-separate")
    watched.settle()
    expect(page.locator("#verdict")).to_have_text("Quasi-completely separable")
    expect(page.locator("#missing-cells")).to_contain_text("as in training")
    expect(page.locator("#separate-command")).to_contain_text("--missing auto")
