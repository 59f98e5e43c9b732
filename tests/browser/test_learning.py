"""Learning on the page: play, pause, step, scrub; the form; the proof beside it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as tree

import pytest
from conftest import read_number, run_job
from playwright.sync_api import expect

TEXTBOOK = {"learner": "perceptron", "scale": "none", "order": "given"}


def at(page) -> int:
    return page.evaluate("linsep.player.at")


def total(page) -> int:
    return page.evaluate("linsep.player.total")


def scene(page) -> dict:
    """What is drawn, as numbers."""
    return page.evaluate(
        """() => { const s = linsep.shown; return { lines: s.lines.map((one) => one.line), past: s.past.length, example: s.example ?? null,
             band: s.band ?? null, half: s.half ?? null, mistakes: [...(s.mistakes ?? [])], vectors: s.vectors ?? null, points: s.points.x.length } }"""
    )


def test_the_page_opens_with_a_run_at_its_end(page, server):
    record = run_job(server, {"job": "train", "data": {"source": "square"}, **TEXTBOOK})["record"]
    assert total(page) == record["updates"] == at(page)
    expect(page.locator("#step-number")).to_have_text(f"{record['updates']} / {record['updates']}")
    expect(page.locator("#data-title")).to_have_text("The square")
    assert page.locator("#legend li").all_inner_texts() == ["-1", "1"]
    shown = scene(page)
    assert shown["points"] == 50 and shown["band"]["width"] > 0
    assert sum(shown["mistakes"]) == record["updates"]


def test_stepping_moves_by_one_update(page):
    page.click("#to-start")
    assert at(page) == 0
    before = scene(page)
    assert before["example"] is None and before["half"] is None and sum(before["mistakes"]) == 0
    expect(page.locator("#step-words")).to_contain_text("no boundary yet")
    boundaries = []
    for k in range(1, 6):
        page.click("#step-on")
        shown = scene(page)
        assert at(page) == k and sum(shown["mistakes"]) == k and shown["example"]
        assert shown["past"] == k - 1
        boundaries.append(tuple(shown["half"]))
        # θ before and what the update adds make θ after.
        vectors = shown["vectors"]
        assert [b + a for b, a in zip(vectors["before"], vectors["added"])] == pytest.approx(vectors["after"])
    assert len(set(boundaries)) == 5
    page.click("#step-back")
    assert at(page) == 4 and tuple(scene(page)["half"]) == boundaries[3]
    page.click("#to-end")
    assert at(page) == total(page)


def test_the_example_of_each_update_was_a_mistake(page):
    """On the page as in the theorem: before its update, each example was not on its right side."""
    wrong = page.evaluate(
        """() => { const d = linsep.learn.drawing; let wrong = 0;
             for (let k = 1; k <= d["update.row"].length; k++) {
               const line = linsep.learn.line(k - 1) ?? [0, 0, 0];
               const score = line[0] * d["update.x"][k - 1] + line[1] * d["update.y"][k - 1] + line[2];
               if (score * d["update.sign"][k - 1] <= 1e-12) wrong++;
             } return [wrong, d["update.row"].length]; }"""
    )
    assert wrong[0] == wrong[1] > 0


def test_playing_and_pausing(page):
    page.click("#to-start")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.click("#play")
    page.wait_for_function("() => linsep.player.at >= 3")
    page.get_by_role("button", name="Pause").click()
    stopped = at(page)
    assert 3 <= stopped < total(page)
    page.wait_for_timeout(500)
    assert at(page) == stopped
    page.select_option("#speed", "4")
    page.click("#play")
    page.wait_for_function("() => linsep.player.at === linsep.player.total")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_scrubbing_goes_back_and_forth(page):
    slider = page.locator("#scrub")
    box = slider.bounding_box()
    seen = []
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.8, 0.5, 0.2, 0.6, 0.3):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=3)
        seen.append((share, at(page), sum(scene(page)["mistakes"])))
    page.mouse.up()
    for share, k, mistakes in seen:
        assert k == mistakes and abs(k / total(page) - share) < 0.08, seen
    slider.focus()
    page.keyboard.press("Home")
    assert at(page) == 0
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert at(page) == 2
    page.keyboard.press("End")
    assert at(page) == total(page)


def test_keys_of_the_page(page):
    page.locator("#picture").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert at(page) == 11
    page.keyboard.press("ArrowLeft")
    assert at(page) == 10
    page.keyboard.press("Space")
    page.wait_for_function("() => linsep.player.at > 11")
    page.keyboard.press("Space")
    assert not page.evaluate("linsep.player.playing")


def test_the_form_is_that_of_the_registry(watched, page):
    learners = page.evaluate("linsep.about.learners.map((one) => one.name)")
    assert page.locator("#learner option").all_inner_texts()[1:] == learners and len(learners) >= 15
    for learner in page.evaluate("linsep.about.learners"):
        page.select_option("#learner", learner["name"])
        for option in learner["options"]:
            expect(page.locator(f"#option-{option['name']}")).to_be_visible()
        expect(page.locator("#learner-help")).to_have_text(learner["summary"])
    watched.settle()


@pytest.mark.parametrize("learner", ["averaged", "voted", "margin", "batch", "pocket", "lifted", "kernel", "multiclass", "sgd", "svm", "logistic", "max-margin", "memoriser", "passive-aggressive"])
def test_every_learner_learns_and_is_drawn(watched, learner):
    page = watched.open("#data=blobs&settings=" + json.dumps({"learner": learner, "scale": "none"}))
    expect(page.locator("#failure")).to_be_hidden()
    expect(page.locator("#learn-report")).to_contain_text("Learner" if learner != "none" else "")
    about = page.evaluate("linsep.learn.drawing.about")
    # A line, or the regions of the classes where the boundary is none.
    assert about.get("final") or about.get("region"), about
    if learner in ("averaged", "voted", "margin", "pocket", "kernel", "sgd", "passive-aggressive"):
        assert page.evaluate("linsep.player.kind") == "updates" and total(page) > 0
        page.click("#to-start")
        page.click("#step-on")
        assert scene(page)["example"]


def test_options_reach_the_engine_and_its_refusal_reaches_the_page(watched, page):
    page.select_option("#learner", "svm")
    page.fill("#option-C", "0.01")
    page.locator("#option-C").press("Enter")
    watched.settle()
    expect(page.locator("#learn-report")).to_contain_text("0.01")
    page.fill("#option-C", "-3")
    page.locator("#option-C").press("Enter")
    expect(page.locator("#failure-message")).to_contain_text("C")
    page.fill("#option-C", "much")
    page.locator("#option-C").press("Enter")
    expect(page.locator("#failure-message")).to_contain_text("much")
    page.click("#dismiss")
    expect(page.locator("#failure")).to_be_hidden()


def test_the_proof_follows_the_run(page):
    page.click("#tab-proof")
    expect(page.locator("#curves canvas")).to_have_count(4)
    for card in page.locator("#curves .card").all():
        assert len(card.locator(".words").inner_text()) > 40
    trace = page.evaluate("""() => { const d = linsep.learn.drawing; return Object.fromEntries(["norm_squared", "norm_squared_bound", "alignment", "alignment_bound", "cosine", "cosine_bound"].map((n) => [n, [...d["trace." + n]]])) }""")
    for k in range(total(page)):
        assert trace["norm_squared"][k] <= trace["norm_squared_bound"][k]
        assert trace["alignment"][k] >= trace["alignment_bound"][k]
        assert trace["cosine"][k] >= trace["cosine_bound"][k]
    lines = page.locator("#proof-lines li")
    expect(lines).to_have_count(6)
    last = lines.last.inner_text()
    assert f"k = {total(page)} ≤" in last
    page.locator("#scrub").focus()
    page.keyboard.press("Home")
    expect(lines).to_have_count(2)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(lines.nth(1)).to_contain_text("Update 3 was a mistake")
    row = page.evaluate("linsep.learn.drawing['update.row'][2] + 1")
    expect(lines.nth(1)).to_contain_text(f"Row {row} was")
    # Each side of an inequality is rounded away from the other.
    norm, bound = re.search(r"‖² ≈ (\S+) ≤ kR² ≤ .* = (\S+)$", lines.nth(3).inner_text()).groups()
    for shown, exact in ((norm, trace["norm_squared"][2]), (bound, trace["norm_squared_bound"][2])):
        assert exact <= float(shown.replace(",", "")) <= 1.001 * exact, (shown, exact)


def test_a_result_beside_the_last_update_is_explained(watched):
    page = watched.open("#data=square&settings=" + json.dumps({**TEXTBOOK, "learner": "averaged"}))
    expect(page.locator("#plane-note")).to_contain_text("The dashed line is the result")
    dashed = "linsep.shown.lines.filter((one) => one.dash).length"
    assert page.evaluate(dashed) == 1
    # Before the end, the result is not given away.
    page.click("#to-start")
    assert page.evaluate("linsep.player.at") == 0
    assert page.evaluate("linsep.shown.lines.length") == 0 and page.evaluate("linsep.shown.band ?? null") is None
    page.click("#step-on")
    assert page.evaluate(dashed) == 0 and page.evaluate("linsep.shown.lines.length") == 1
    page = watched.open("#data=square&settings=" + json.dumps(TEXTBOOK))
    expect(page.locator("#plane-note")).not_to_contain_text("dashed")


def test_without_a_separator_the_proof_says_what_is_left(watched):
    page = watched.open("#data=xor&view=proof&settings=" + json.dumps({**TEXTBOOK, "epochs": 5}))
    expect(page.locator("#curves canvas")).to_have_count(2)
    expect(page.locator("#proof-lines")).to_contain_text("There is no θ* to compare with")
    intro = page.locator("#proof-intro").inner_text()
    assert "found no boundary θ*" in intro and "γ its" not in intro


def test_a_learner_that_the_theorem_does_not_cover_says_so(watched):
    page = watched.open("#data=xor&view=proof&settings=" + json.dumps({"learner": "svm"}))
    expect(page.locator("#no-proof")).to_contain_text("svm")


def test_the_curves_have_ink(page):
    page.click("#tab-proof")
    page.wait_for_timeout(200)
    inked = page.evaluate(
        """() => [...document.querySelectorAll("canvas")].filter((c) => c.offsetParent).map((canvas) => {
             const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
             let inked = 0; for (let i = 3; i < data.length; i += 4) inked += data[i] > 0; return inked; })"""
    )
    assert len(inked) == 5 and min(inked) > 100, inked


def test_the_address_opens_the_same_view_again(watched, browser, server):
    page = watched.open()
    page.select_option("#data-select", "blobs")
    watched.settle()
    page.select_option("#setting-order", "shuffle")
    watched.settle()
    page.fill("#setting-seed", "7")
    page.locator("#setting-seed").press("Enter")
    watched.settle()
    page.click("#tab-proof")
    page.click("#to-start")
    for _ in range(3):
        page.click("#step-on")
    page.wait_for_timeout(200)
    address, shown = page.url, scene(page)
    assert server.token in address
    other = type(watched)(browser, server)
    other.page.goto(address)
    other.page.wait_for_selector("body[data-ready]")
    other.settle()
    assert other.page.evaluate("linsep.state.view") == "proof"
    assert scene(other.page) == shown and at(other.page) == 3
    assert other.page.input_value("#setting-seed") == "7"
    other.page.close()
    assert other.problems == []


def test_what_is_saved_is_what_is_shown(page, tmp_path):
    def saved(part):
        with page.expect_download() as download:
            page.click(f"#learn-downloads [data-part={part}]")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    assert saved("model").suffix == ".model" and saved("model").stat().st_size > 200
    trace = saved("trace").read_text().splitlines()
    assert len(trace) == total(page) and json.loads(trace[0])["update"] == 1
    assert 'job = "train"' in saved("spec").read_text()
    assert saved("data").read_text().startswith("x,y,class\n")
    picture = tree.parse(saved("picture")).getroot()
    shapes = [element.tag.rsplit("}")[-1] for element in picture.iter()]
    assert shapes.count("circle") + shapes.count("path") > 50 and "text" in shapes and "title" in shapes


def test_spam_is_drawn_in_the_plane_of_its_weights(watched):
    page = watched.open("#data=spam&settings=" + json.dumps({"epochs": 3}))
    note = page.locator("#plane-note").inner_text()
    assert "plane of the weights θ" in note and "57 features" in note and "of 4,601 rows are drawn; all are used in the computation" in note
    assert page.evaluate("linsep.learn.drawing.about.final[1]") == pytest.approx(0, abs=1e-9)
    assert read_number(page.locator("#step-number").inner_text().split("/")[1]) == total(page) > 500


def test_a_trace_of_many_updates_can_be_scrubbed(watched):
    page = watched.open("#data=xor&view=proof&settings=" + json.dumps({"learner": "perceptron", "scale": "none", "max_updates": 100_000, "epochs": 100_000}))
    assert total(page) == 100_000
    times = page.evaluate(
        """async () => { const times = []; let last = performance.now();
             for (let i = 0; i < 40; i++) { linsep.player.move(Math.floor(linsep.player.total * Math.abs(Math.sin(i)))); await new Promise(requestAnimationFrame);
               times.push(performance.now() - last); last = performance.now(); } return times; }"""
    )
    assert len(times) == 40
    # What is drawn is that of the update, however far it was moved.
    k = at(page)
    counts = page.evaluate("[...linsep.shown.mistakes]")
    rows = page.evaluate("[...linsep.learn.drawing['update.row']]")[:k]
    drawn = page.evaluate("[...linsep.shown.points.row]")
    assert counts == [rows.count(row) for row in drawn]


def test_a_memoriser_has_no_boundary(watched):
    page = watched.open("#data=square&settings=" + json.dumps({"learner": "memoriser"}))
    expect(page.locator("#plane-note")).to_contain_text("A memoriser has no boundary")


def test_what_needs_two_classes_says_where_they_are_chosen(watched):
    page = watched.open("#data=iris-setosa&settings=" + json.dumps({"learner": "perceptron"}))
    page.click("#tab-proof")
    expect(page.locator("#no-proof")).to_contain_text("under “Classes” on the tab Learning")
    page.click("#tab-separate")
    watched.settle()
    expect(page.locator("#separate-report")).to_contain_text("under “Classes” on the tab Learning")


def test_back_and_forward_go_through_what_was_looked_at(watched, page):
    """Another data set, learner or part of the page is an entry of the history; a step or a seed is not."""
    entries = page.evaluate("history.length")
    page.select_option("#data-select", "blobs")
    watched.settle()
    page.select_option("#learner", "svm")
    watched.settle()
    page.click("#tab-compare")
    watched.settle()
    page.click("#tab-learn")
    watched.settle()
    assert page.evaluate("history.length") == entries + 4
    page.fill("#setting-seed", "7")
    page.locator("#setting-seed").press("Enter")
    watched.settle()
    page.click("#to-start")
    page.click("#step-on")
    watched.settle()
    assert page.evaluate("history.length") == entries + 4

    def shown():
        watched.settle()
        return page.evaluate("[linsep.set.id, linsep.state.settings.learner, linsep.state.view]")

    def go(how, wanted):
        page.evaluate(f"history.{how}()")
        page.wait_for_function("(wanted) => JSON.stringify([linsep.set.id, linsep.state.settings.learner, linsep.state.view]) === wanted && !linsep.controller", arg=json.dumps(wanted, separators=(",", ":")))
        assert shown() == wanted

    go("back", ["blobs", "svm", "compare"])
    expect(page.locator("#panel-compare")).to_be_visible()
    go("back", ["blobs", "svm", "learn"])
    go("back", ["blobs", "perceptron", "learn"])
    assert page.input_value("#learner") == "perceptron"
    go("back", ["square", "perceptron", "learn"])
    assert page.input_value("#data-select") == "square"
    go("forward", ["blobs", "perceptron", "learn"])
    assert page.evaluate("history.length") == entries + 4


def test_a_run_of_very_many_updates_says_why_its_proof_is_cut(watched, page):
    """Two rows close to each other: the run finds a boundary, long after the last update that the page follows."""
    page.set_input_files("#file", {"name": "near.csv", "mimeType": "text/csv", "buffer": b"x,y\n1,a\n1.00001,b\n"})
    page.wait_for_function("() => linsep.set.name === 'near.csv' && !linsep.controller")
    page.evaluate("linsep.changeSettings({ learner: 'perceptron', scale: 'none', order: 'given', epochs: 10000000 })")
    page.wait_for_function("() => linsep.learn.result?.record.converged && linsep.state.settings.epochs && !linsep.controller")
    watched.settle()
    updates = page.evaluate("linsep.learn.result.record.updates")
    assert updates > 200_000 == page.evaluate("linsep.player.total")
    page.click("#tab-proof")
    intro = page.locator("#proof-intro").inner_text()
    assert f"did find a θ* with every row on its right side, after {updates:,} updates" in intro and "records only the first 200,000" in intro
    assert "--trace" in intro and "found no boundary" not in intro
    expect(page.locator("#proof-lines")).to_contain_text("only its first 200,000 updates are recorded")
    assert "has not found" not in page.locator("#proof-lines").inner_text()


def test_classes_can_be_weighed(watched, page, server):
    from conftest import run_job

    page.evaluate("document.querySelector('#form > details').open = true")
    names = page.evaluate("linsep.learn.drawing.about.outcomes")
    weight = [[names[0], 3], [names[1], 1]]
    page.fill("#setting-class_weight", f"{names[0]}=3, {names[1]}=1")
    page.keyboard.press("Tab")
    page.wait_for_function("() => linsep.state.settings.classes?.weight && !linsep.controller")
    page.wait_for_timeout(200)
    watched.settle()
    expect(page.locator("#learn-command")).to_contain_text("--class-weight")
    record = run_job(server, {"job": "train", "data": {"source": "square"}, "learner": "perceptron", "scale": "none", "order": "given", "classes": {"weight": {"named": weight}}})["record"]
    assert page.evaluate("linsep.learn.result.record.updates") == record["updates"]
    assert page.input_value("#setting-class_weight") == f"{names[0]}=3, {names[1]}=1"
    page.fill("#setting-class_weight", "balanced")
    page.keyboard.press("Tab")
    page.wait_for_timeout(200)
    watched.settle()
    assert page.evaluate("linsep.state.settings.classes") == {"weight": "balanced"}
    watched.allowed.append("400 (Bad Request)")
    page.fill("#setting-class_weight", "much")
    page.keyboard.press("Tab")
    expect(page.locator("#failure-message")).to_have_text("“class weight” is “much”, but must be balanced, or CLASS=WEIGHT separated by commas.")
    page.fill("#setting-class_weight", f"{names[0]}=much")
    page.keyboard.press("Tab")
    expect(page.locator("#failure-message")).to_have_text(f"“class weight” is “much” for “{names[0]}”, but must be a number.")
    # The next field can be clicked and typed in at once.
    page.fill("#setting-class_weight", "")
    page.click("#setting-epochs")
    page.keyboard.type("many")
    page.keyboard.press("Tab")
    expect(page.locator("#failure-message")).to_have_text("“epochs” is “many”: expected a whole number of 0 or more.")


def test_a_wrong_value_is_marked_in_its_field(watched, page):
    watched.allowed.append("400 (Bad Request)")
    field = page.locator("#setting-seed")
    for value, said in [("many", "“seed” is “many”"), ("9007199254740993", "“seed” is 9007199254740993: a page has whole numbers up to")]:
        field.fill(value)
        field.press("Tab")
        expect(page.locator("#failure-message")).to_contain_text(said)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert page.locator("[aria-invalid]").count() == 1
    field.fill("3")
    field.press("Tab")
    watched.settle()
    expect(page.locator("#failure")).to_be_hidden()
    assert page.locator("[aria-invalid]").count() == 0
