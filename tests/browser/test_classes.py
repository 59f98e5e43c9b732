"""Several classes on the page: each has a score, updates move two of them, and the proof is that of the stacked vectors."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from conftest import run_job
from playwright.sync_api import expect

MULTICLASS = {"learner": "multiclass", "scale": "none", "order": "given"}


def three_corners() -> bytes:
    """Three classes that are easily told apart."""
    corners = {"low": (0, 0), "right": (8, 1), "up": (1, 9)}
    rows = [f"{x + i % 3 * 0.5},{y + i // 3 * 0.5},{name}" for i in range(9) for name, (x, y) in corners.items()]
    return ("x,y,class\n" + "\n".join(rows) + "\n").encode()


@pytest.fixture
def corners(watched, page):
    page.set_input_files("#file", {"name": "corners.csv", "mimeType": "text/csv", "buffer": three_corners()})
    page.wait_for_function("() => linsep.set.name === 'corners.csv' && !linsep.controller")
    page.evaluate("(settings) => linsep.changeSettings(settings)", MULTICLASS)
    page.wait_for_function("() => linsep.learn.result?.record.learner === 'multiclass' && linsep.state.settings.order === 'given'")
    watched.settle()
    return page


MISTAKES = """() => { const { learn } = linsep; const d = learn.drawing; const found = [];
  for (let k = 1; k <= d["update.row"].length; k++) {
    const before = learn.scores(k - 1) ?? d.about.outcomes.map(() => [0, 0, 0]);
    const at = before.map(([a, b, c]) => a * d["update.x"][k - 1] + b * d["update.y"][k - 1] + c);
    const after = learn.scores(k);
    found.push({ own: d["update.class"][k - 1], rival: d["update.rival"][k - 1], at, agreement: d["update.agreement"][k - 1],
      moved: after.flatMap((line, i) => line.some((value, j) => value !== before[i][j]) ? [i] : []),
      side: d.side[[...d.row].indexOf(d["update.row"][k - 1])] });
  } return found; }"""


def test_the_learner_of_several_classes_goes_update_by_update(corners, server):
    page = corners
    record = page.evaluate("linsep.learn.result.record")
    assert page.evaluate("linsep.player.kind") == "updates"
    assert page.evaluate("linsep.player.total") == record["updates"] > 3
    for update in page.evaluate(MISTAKES):
        # The row was not ahead of its strongest rival, and those two alone moved.
        others = [score for i, score in enumerate(update["at"]) if i != update["own"]]
        assert update["at"][update["rival"]] == pytest.approx(max(others), abs=1e-9)
        lead = update["at"][update["own"]] - max(others)
        assert lead <= 1e-9 and lead == pytest.approx(update["agreement"], abs=1e-9)
        assert sorted(update["moved"]) == sorted({update["own"], update["rival"]})
        assert update["side"] == update["own"]


def test_it_is_played_stepped_and_scrubbed(corners):
    page = corners
    page.click("#to-start")
    expect(page.locator("#step-words")).to_contain_text("no boundary yet")
    assert page.evaluate("linsep.shown.classes") is None
    seen = []
    for k in range(1, 4):
        page.click("#step-on")
        assert page.evaluate("linsep.player.at") == k
        seen.append(json.dumps(page.evaluate("linsep.shown.classes")))
        assert page.evaluate("linsep.shown.past.length") == k - 1 and page.evaluate("linsep.shown.example !== undefined")
    assert len(set(seen)) == 3
    assert re.search(r"pass 1: row \d+, agreement \S+: added to (low|right|up), subtracted from (low|right|up)$", page.locator("#step-words").inner_text())
    page.locator("#scrub").focus()
    page.keyboard.press("ArrowLeft")
    assert json.dumps(page.evaluate("linsep.shown.classes")) == seen[1]
    page.click("#play")
    page.wait_for_function("() => linsep.player.at === linsep.player.total")
    page.wait_for_timeout(300)
    assert "largest of 3 scores" in page.locator("#picture").get_attribute("aria-label")


def test_the_regions_are_those_of_the_model(corners):
    """At the end, the dashed result is the model: the class of the largest score at every place of the grid that the engine fills."""
    found = corners.evaluate(
        """() => { const d = linsep.learn.drawing, r = d.about.region; let wrong = 0, places = 0;
             for (let j = 0; j < r.rows; j++) for (let i = 0; i < r.columns; i++) {
               const x = r.x[0] + (r.x[1] - r.x[0]) * (i + 0.5) / r.columns, y = r.y[0] + (r.y[1] - r.y[0]) * (j + 0.5) / r.rows;
               const scores = d.about.final_classes.map(([a, b, c]) => a * x + b * y + c);
               wrong += scores.indexOf(Math.max(...scores)) !== d.region[j * r.columns + i]; places++; }
             return [wrong, places]; }"""
    )
    assert found[0] == 0 and found[1] > 10_000
    expect(corners.locator("#plane-note")).to_contain_text("The dashed lines are the result")


def test_the_parts_of_the_picture_fill_it_without_overlap(page):
    """The parts of the classes are cut out exactly: every place is in the part of its largest score, of equal ones of the lowest."""
    wrong = page.evaluate(
        """async () => { const { cells } = await import("/picture.js");
             const box = { x0: -1, x1: 2, y0: -3, y1: 1 };
             const inside = (corners, x, y) => corners.every(([ax, ay], i) => { const [bx, by] = corners[(i + 1) % corners.length]; return (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -1e-9; });
             let wrong = 0, seed = 1; const random = () => { seed = (seed * 16807) % 2147483647; return Math.round(8 * seed / 2147483647 - 4) / 2; };
             for (let trial = 0; trial < 60; trial++) {
               const scores = Array.from({ length: 2 + trial % 5 }, () => [random(), random(), random()]);
               const area = (corners) => corners.reduce((sum, [ax, ay], i) => { const [bx, by] = corners[(i + 1) % corners.length]; return sum + ax * by - bx * ay; }, 0);
               // A class that only touches the others has a part without area.
               const found = cells(box, scores).filter((cell) => area(cell.corners) > 1e-9);
               for (let n = 0; n < 40; n++) {
                 const [x, y] = [-1 + 3 * ((n * 0.618034) % 1), -3 + 4 * ((n * 0.754878) % 1)];
                 const values = scores.map(([a, b, c]) => a * x + b * y + c); const most = Math.max(...values);
                 if (values.some((value, i) => values.indexOf(value) === i && value !== most && most - value < 1e-6)) continue;
                 const side = values.indexOf(most);
                 if (!found.some((cell) => cell.side === side && inside(cell.corners, x, y))) wrong++;
                 if (found.some((cell) => cell.side !== side && values[cell.side] < most && inside(cell.corners, x, y))) wrong++;
               }
             } return wrong; }"""
    )
    assert wrong == 0


def test_the_proof_of_several_classes(corners):
    page = corners
    page.click("#tab-proof")
    expect(page.locator("#curves canvas")).to_have_count(4)
    intro = page.locator("#proof-intro").inner_text()
    assert "With several classes" in intro and "√2 times that of the longest row" in intro
    trace = page.evaluate("""() => { const d = linsep.learn.drawing; return Object.fromEntries(["norm_squared", "norm_squared_bound", "alignment", "alignment_bound", "cosine", "cosine_bound", "margin_upper"].map((n) => [n, [...d["trace." + n]]])) }""")
    total = page.evaluate("linsep.player.total")
    assert all(len(values) == total for values in trace.values())
    # R² is twice the squared length of the longest row, with its appended coordinate.
    longest = max(float(x) ** 2 + float(y) ** 2 + 1 for x, y, _ in (line.split(",") for line in three_corners().decode().splitlines()[1:]))
    assert trace["norm_squared_bound"][0] == pytest.approx(2 * longest)
    for k in range(total):
        assert trace["norm_squared"][k] <= trace["norm_squared_bound"][k]
        assert trace["alignment"][k] >= trace["alignment_bound"][k] > 0
        assert trace["cosine"][k] >= trace["cosine_bound"][k]
    margin = page.evaluate("linsep.learn.result.record.margin")
    assert 0 < margin["lower"] <= min(trace["margin_upper"]) * (1 + 1e-12)
    lines = page.locator("#proof-lines li")
    expect(lines).to_have_count(6)
    names = "(low|right|up)"
    assert re.search(f"is of the class {names}, whose score was not above that of {names}", lines.nth(1).inner_text())
    assert "ahead of every rival" in lines.nth(2).inner_text()


def test_classes_that_overlap_have_no_separator_to_compare_with(watched):
    page = watched.open("#data=iris-virginica&view=proof&settings=" + json.dumps({**MULTICLASS, "epochs": 5}))
    expect(page.locator("#curves canvas")).to_have_count(2)
    expect(page.locator("#proof-intro")).to_contain_text("found no θ* that gives the class of every row the largest score")
    expect(page.locator("#proof-lines")).to_contain_text("There is no θ* to compare with")


def test_the_run_is_that_of_the_command_line(server, watched):
    page = watched.open("#data=iris-virginica&settings=" + json.dumps({**MULTICLASS, "epochs": 7}))
    record = run_job(server, {"job": "train", "data": {"source": "iris-virginica"}, **MULTICLASS, "epochs": 7})["record"]
    assert page.evaluate("linsep.player.total") == record["updates"]
    upper = page.evaluate("linsep.learn.drawing['trace.margin_upper'].at(-1)")
    # The report may know a better bound, which it keeps from pass to pass; never a worse one.
    assert record["margin"]["upper"] <= upper * (1 + 1e-12)


def test_one_against_the_rest_goes_pass_by_pass(watched):
    page = watched.open("#data=iris-virginica&settings=" + json.dumps({"learner": "perceptron", "epochs": 12}))
    assert page.evaluate("linsep.player.kind") == "passes" and page.evaluate("linsep.player.total") > 3
    page.click("#to-start")
    page.click("#step-on")
    first = page.evaluate("linsep.shown.classes")
    page.click("#to-end")
    assert len(first) == 3 and page.evaluate("linsep.shown.classes") != first
    assert page.evaluate("linsep.shown.classes") == page.evaluate("linsep.learn.drawing.about.final_classes")
    page.click("#tab-proof")
    expect(page.locator("#no-proof")).to_contain_text("Choose the learner multiclass")


def test_many_features_of_several_classes_are_drawn_by_the_two_that_differ_most(watched, page):
    from conftest import ROOT

    page.set_input_files("#file", str(ROOT / "data" / "iris.csv"))
    page.wait_for_function("() => linsep.set.name === 'iris.csv' && !linsep.controller")
    watched.settle()
    assert page.evaluate("linsep.player.kind") == "updates" and page.evaluate("linsep.learn.drawing.about.pair") == ["setosa", "virginica"]
    expect(page.locator("#plane-note")).to_contain_text("the difference between the weights of setosa and virginica")
    # Along the first axis the two are apart.
    means = page.evaluate("[0, 2].map((side) => { const { x, side: sides } = linsep.shown.points; const own = [...x].filter((_, i) => sides[i] === side); return own.reduce((a, b) => a + b, 0) / own.length; })")
    assert means[1] > means[0] + 1


def test_rows_divided_by_their_length_have_regions_and_no_line(watched):
    """A boundary of rows divided by their length is no line among the columns as they are."""
    page = watched.open("#data=square&settings=" + json.dumps({"learner": "perceptron", "scale": "unit-rows"}))
    about = page.evaluate("linsep.learn.drawing.about")
    assert "region" in about and "final" not in about


def test_learners_of_several_classes_are_compared_in_one_picture(watched, corners):
    page = corners
    page.click("#tab-compare")
    for box in page.locator("#compare-learners input").all():
        box.set_checked(box.get_attribute("value") in ("perceptron", "multiclass", "kernel", "memoriser"))
    page.click("#compare-run")
    watched.settle()
    shown = page.evaluate("linsep.shown.borders")
    assert len(shown) == 2 and all(len(one["classes"]) == 3 for one in shown) and shown[0]["dash"] != shown[1]["dash"]
    assert shown[0]["classes"] != shown[1]["classes"] and shown[0]["tag"] != shown[1]["tag"]
    legend = page.locator("#compare-legend li").all_inner_texts()
    assert [" ".join(text.split()) for text in legend if "boundary" in text] == ["kernel not drawn: its boundary is not a line", "memoriser no boundary: it memorises rows"]
    kinds = dict(page.eval_on_selector_all("#compare-table tbody tr", "rows => rows.map((row) => ['name', 'kind'].map((kind) => row.querySelector(`.${kind}`).textContent))"))
    assert kinds["multiclass"] == "all classes" and kinds["perceptron"] == "each class" and kinds["kernel"] == "each class, kernel"
    expect(page.locator("#compare-report")).to_contain_text("compare only those of one kind")
    page.fill("#orders", "3")
    page.click("#orders-run")
    watched.settle()
    assert page.evaluate("linsep.shown.borders.length") == 3
    expect(page.locator("#orders-report")).to_contain_text("sets of boundaries")


def test_orders_that_cannot_be_drawn_say_why(watched, page):
    from conftest import ROOT

    page.set_input_files("#file", str(ROOT / "data" / "iris.csv"))
    page.wait_for_function("() => linsep.set.name === 'iris.csv' && !linsep.controller")
    page.click("#tab-compare")
    page.fill("#orders", "2")
    page.click("#orders-run")
    watched.settle()
    expect(page.locator("#orders-report")).to_contain_text("The boundaries are not drawn: with more than two features")


NUMBER = r"[−\d][\d,.]*(?:e−?\d+)?"


def number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("data, settings", [("square", {"learner": "perceptron", "scale": "none", "order": "given"}), ("blobs", {"learner": "perceptron"}), ("iris-setosa", {"learner": "perceptron", "scale": "none", "classes": {"only": ["setosa", "versicolor"]}})])
def test_what_the_proof_prints_multiplies_out(watched, data, settings):
    """Every product that is printed is that of the printed factors, and every inequality holds between the printed numbers."""
    page = watched.open(f"#data={data}&view=proof&settings=" + json.dumps(settings))
    total = page.evaluate("linsep.player.total")
    for k in {1, 2, 3, 5, total // 2, total - 1, total} - {0}:
        page.evaluate(f"linsep.player.move({k})")
        formulas = page.locator("#proof-lines .formula").all_inner_texts()
        assert len(formulas) == 5
        products = 0
        for formula in formulas:
            for one, other, result in re.findall(f"({NUMBER}) · ({NUMBER}) = ({NUMBER})", formula):
                assert number(one) * number(other) == number(result), formula
                products += 1
            # The first number, and the last: on the side that the relation between them says.
            found = [number(text) for text in re.findall(f"(?:^|[=≈≤≥] )({NUMBER})(?= |$)", formula)]
            if "≥" in formula:
                assert found[0] >= found[-1], formula
            elif "≤" in formula:
                assert found[0] <= found[-1], formula
        assert products == 3
