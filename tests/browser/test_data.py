"""Data on the page: built-in sets, files of one's own in every format, bad files, many rows, hostile names, edited points."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess

import numpy as np
import pytest
from conftest import Watched, program_path, read_number, start, stop
from playwright.sync_api import expect


def send(page, name, content):
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_every_built_in_set_opens(watched, page):
    values = page.evaluate("[...document.querySelectorAll('#data-select option')].map((one) => one.value)")
    assert values == ["square", "blobs", "xor", "iris-setosa", "iris-virginica", "spam"]
    for value, rows in [("blobs", 60), ("xor", 48), ("iris-setosa", 150), ("iris-virginica", 150)]:
        page.select_option("#data-select", value)
        watched.settle()
        expect(page.locator("#data-about")).to_contain_text(f"{rows} rows")
        expect(page.locator("#failure")).to_be_hidden()
    # The pair of the set is chosen, and can be changed.
    assert page.input_value("#classes") == "o1,2"
    page.select_option("#classes", label="setosa against the rest")
    watched.settle()
    assert page.locator("#legend li").all_inner_texts()[1] == "setosa"
    page.select_option("#classes", label="all classes together")
    watched.settle()
    assert page.evaluate("linsep.learn.drawing.about.outcomes.length") == 3


CSV = "length,width,kind\n" + "".join(f"{i % 9},{(i * 5) % 7},{'ab'[i % 2]}\n" for i in range(40))
LIBSVM = "".join(f"{1 if i % 2 else -1} 1:{i % 9} 3:{(i * 5) % 7}\n" for i in range(40))


def npz():
    buffer = io.BytesIO()
    rows = np.array([[i % 9, i * 5 % 7] for i in range(40)], dtype=float)
    np.savez(buffer, X=rows, y=np.array([i % 2 for i in range(40)]))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name, content",
    [
        ("rows.csv", CSV.encode()),
        ("rows.tsv", CSV.replace(",", "\t").encode()),
        ("rows.csv.gz", gzip.compress(CSV.encode())),
        ("rows.libsvm", LIBSVM.encode()),
        ("rows.npz", npz()),
        ("rows.arff", ("@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {a,b}\n@data\n" + CSV.split("\n", 1)[1]).encode()),
        ("latin.csv", "größe,b,kind\n1,2,ä\n3,1,ö\n5,2,ä\n2,7,ö\n".encode("latin-1")),
    ],
)
def test_a_file_of_ones_own_in_every_format(watched, page, name, content):
    send(page, name, content)
    watched.settle()
    expect(page.locator("#failure")).to_be_hidden()
    expect(page.locator("#data-title")).to_have_text(name)
    rows = page.evaluate("linsep.set.rows")
    expect(page.locator("#data-about")).to_contain_text(f"{rows} rows")
    assert page.evaluate("linsep.learn.drawing.about.rows") == rows


def test_a_file_is_dropped_on_the_page(watched, page):
    page.evaluate(
        """(text) => { const data = new DataTransfer(); data.items.add(new File([text], "dropped.csv"));
             for (const kind of ["dragenter", "dragover"]) document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
             window.veil = !document.getElementById("drop").hidden;
             document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        CSV,
    )
    assert page.evaluate("window.veil")
    expect(page.locator("#drop")).to_be_hidden()
    watched.settle()
    expect(page.locator("#data-title")).to_have_text("dropped.csv")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("bad.csv", b"a,b,c\n1,2,x\n1,oops,y\n3,4,x\n5,6,y\n7,8,x\n9,1,y\n2,3,x\n", None),
        ("short.csv", b"a,b,c\n1,2,x\n1,y\n", "short.csv:3"),
        ("empty.csv", b"", "empty.csv"),
        ("one.csv", b"a,b\n1,x\n2,x\n", "x"),
        ("zip.xz", b"\xfd7zXZ\x00\x00\x00", "xz"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "picture.png"),
    ],
)
def test_a_bad_file_gets_the_message_of_the_reader(watched, page, server, program, tmp_path, name, content, message):
    before = page.locator("#data-title").inner_text()
    send(page, name, content)
    page.wait_for_function("() => !linsep.controller")
    page.wait_for_timeout(150)
    path = tmp_path / name
    path.write_bytes(content)
    told = subprocess.run([str(program_path()), "-q", "train", str(path)], capture_output=True, text=True)
    if told.returncode == 0:
        expect(page.locator("#failure")).to_be_hidden()
        return
    shown = page.locator("#failure-message").inner_text()
    first = told.stderr.splitlines()[0].removeprefix("error: ").replace(f"{tmp_path}/", "")
    # Word by word, but for the way to spell settings.
    assert shown.split("“")[0].strip() == first.split("--")[0].strip()[: len(shown.split("“")[0].strip())], (shown, first)
    assert message is None or message in shown
    if page.locator("#data-title").inner_text() == before:
        # The page goes on with what it had.
        page.click("#to-start")
        assert page.evaluate("linsep.player.at") == 0


def test_a_file_that_is_too_large_is_refused_by_the_page(watched, page):
    page.evaluate("linsep.about.limits.upload = 1000")
    send(page, "large.csv", b"x" * 1001)
    expect(page.locator("#failure-message")).to_contain_text("large.csv is larger than")
    expect(page.locator("#failure-help")).to_contain_text("linsep explore FILE")


def test_how_a_file_is_read_can_be_said(watched, page):
    text = "kind,x,y\n" + "".join(f"{'ab'[i % 2]},{i % 9},{(i * 5) % 7 + 0.5}\n" for i in range(40))
    send(page, "first.csv", text.encode())
    page.wait_for_function("() => !linsep.controller")
    page.evaluate("document.getElementById('read-box').open = true")
    page.fill("#read-label", "kind")
    page.click("#read-again")
    watched.settle()
    page.wait_for_function("() => linsep.set.name === 'first.csv' && linsep.set.classes.length === 2")
    assert page.evaluate("linsep.set.classes.map((one) => one.name)") == ["a", "b"]
    assert page.evaluate("linsep.set.columns") == ["x", "y"]


def test_every_option_of_reading_has_a_control(watched, page):
    """The controls are those of the registry; what they say reaches the reader, and what was said is shown."""
    send(page, "odd.csv", b"kind;x;y;id\n" + b"".join(b"%s;%d;%s;r%d\n" % (b"ab"[i % 2 : i % 2 + 1], i % 9, b"-999" if i % 5 == 0 else b"%d" % (i * 5 % 7), i) for i in range(40)))
    page.wait_for_function("() => !linsep.controller")
    page.evaluate("document.getElementById('read-box').open = true")
    for field in page.evaluate("linsep.about.reading"):
        control = page.locator(f"#read-{field['name']}")
        assert control.count() == 1 and page.get_by_label(field["label"], exact=True).count() == 1, field
    for name, value in [("label", "kind"), ("delimiter", ";"), ("na", "-999, none"), ("ignore", "id"), ("column", "x=number")]:
        page.fill(f"#read-{name}", value)
    page.select_option("#read-missing", "drop-row")
    page.select_option("#read-header", "yes")
    page.click("#read-again")
    page.wait_for_function("() => !linsep.controller && linsep.set.dropped_rows === 8")
    watched.settle()
    expect(page.locator("#failure")).to_be_hidden()
    assert page.evaluate("linsep.set.columns") == ["x", "y"]
    assert page.evaluate("linsep.set.read") == {"csv": {"label": "kind", "ignore": ["id"], "columns": {"x": "number"}, "header": True, "delimiter": ";", "missing": "drop-row", "na": ["-999", "none"]}}
    assert [page.input_value(f"#read-{name}") for name in ("label", "delimiter", "na", "column", "missing", "header")] == ["kind", ";", "-999, none", "x=number", "drop-row", "yes"]
    # Another file begins with nothing said.
    send(page, "rows.csv", CSV.encode())
    page.wait_for_function("() => !linsep.controller && linsep.set.name === 'rows.csv'")
    assert page.input_value("#read-label") == "" and page.input_value("#read-missing") == ""


def test_a_refusal_names_what_the_page_has(watched, page):
    """Messages name the labels of controls, and not the options of a command line."""
    send(page, "gaps.csv", b"a,b,c\n1,,x\n2,3,y\n4,5,x\n6,7,y\n")
    page.wait_for_function("() => !linsep.controller && linsep.set.name === 'gaps.csv'")
    page.evaluate("document.getElementById('read-box').open = true")
    page.select_option("#read-missing", "refuse")
    page.click("#read-again")
    expect(page.locator("#failure-help")).to_contain_text("“missing cells")
    help = page.locator("#failure-help").inner_text()
    assert "--" not in help and "⟦" not in help
    page.click("#dismiss")
    send(page, "wrong.csv", b"a,b,c\n1,2,x\n2,3,y\n")
    page.wait_for_function("() => !linsep.controller && linsep.set.name === 'wrong.csv'")
    page.evaluate("document.getElementById('read-box').open = true")
    page.fill("#read-delimiter", "ab")
    watched.allowed.append("400 (Bad Request)")
    page.click("#read-again")
    expect(page.locator("#failure-message")).to_contain_text("expected one character")
    expect(page.locator("#failure-message")).to_contain_text("“delimiter”")
    assert "column" not in page.locator("#failure-message").inner_text()
    # What was said stays, so that it can be mended.
    assert page.input_value("#read-delimiter") == "ab" and page.locator("#read-delimiter").is_visible()


def test_which_of_two_classes_is_positive_can_be_said(watched, page):
    send(page, "rows.csv", CSV.encode())
    page.wait_for_function("() => !linsep.controller && linsep.set.name === 'rows.csv'")
    watched.settle()
    assert page.locator("#legend li").all_inner_texts() == ["a", "b"]
    page.select_option("#classes", label="a counts as +1")
    watched.settle()
    assert page.locator("#legend li").all_inner_texts() == ["b", "a"]
    expect(page.locator("#learn-command")).to_contain_text("--positive a")


def test_rows_count_as_often_as_a_column_says(browser, program, tmp_path):
    """`--weights COLUMN` is that of `train`: the same numbers, and the same command on the page."""
    path = tmp_path / "counts.csv"
    path.write_text("x,y,times,kind\n" + "".join(f"{i % 9},{(i * 5) % 7},{i % 3},{'ab'[i % 2]}\n" for i in range(40)))
    server = start(path, "--weights", "times")
    try:
        watched = Watched(browser, server)
        page = watched.open()
        told = json.loads(program("-q", "train", path, "--weights", "times", "--json"))
        record = page.evaluate("linsep.learn.result.record")
        assert record["examples"] == told["examples"] == sum(i % 3 for i in range(40))
        assert record["updates"] == told["updates"] and record["training_error"] == told["training_error"]
        assert page.evaluate("linsep.set.columns") == ["x", "y"]
        expect(page.locator("#learn-command")).to_contain_text("--weights times")
        page.click("#tab-separate")
        watched.settle()
        expect(page.locator("#separate-command")).to_contain_text("--weights times")
        # The certificate is about the rows of the file, each once, as that of the command is.
        with page.expect_download() as download:
            page.click("#separate-downloads [data-part=certificate]")
        saved = tmp_path / "page.cert"
        download.value.save_as(saved)
        program("-q", "separate", path, "--weights", "times", "-o", tmp_path / "own.cert", expect=(0, 1))
        assert saved.read_text() == (tmp_path / "own.cert").read_text()
        assert "accepted" in program("verify", saved, path, "--weights", "times").lower()
        # Rows are named by their lines: there are more of them than the file has.
        page.click("#tab-learn")
        page.click("#to-start")
        page.click("#step-on")
        line = int(re.search(r"the row in line (\d+),", page.locator("#step-words").inner_text())[1])
        assert page.evaluate("linsep.learn.drawing['update.line'][0]") == line <= 41
        lines = page.evaluate("[...linsep.learn.drawing['update.line']]")
        assert all((line - 2) % 3 > 0 for line in lines), "rows that occur not at all make no update"
        page.click("#tab-proof")
        expect(page.locator("#proof-lines")).to_contain_text(f"The row in line {line} was on the wrong side")
        page.close()
        assert watched.problems == []
    finally:
        assert stop(server) == 130
    weights = tmp_path / "weights.txt"
    weights.write_text("".join(f"{i % 3 + 0.5}\n" for i in range(40)))
    server = start(path, "--weights", weights)
    try:
        told = json.loads(program("-q", "train", path, "--weights", weights, "--json"))
        about = json.loads(server.ask("GET", "/api/v1/about")[2])
        _, lines = server.lines("POST", "/api/v1/run", json.dumps({"job": "train", "data": {"source": about["first"]["data"]}}).encode())
        result = lines[-1]["result"]
        assert result["record"]["updates"] == told["updates"] and result["record"]["margin"] == told["margin"]
        assert f"--weights {weights}" in result["command"]
    finally:
        assert stop(server) == 130
    done = subprocess.run([str(program_path()), "explore", "--no-open", "--weights", "times"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and "--weights" in done.stderr and "needs a data file" in done.stderr


HOSTILE = ["<img src=x onerror=window.hacked=1>", "<script>window.hacked=1</script>", "\"><b>bold</b>", "{{7*7}}", "'); alert(1); ('", "javascript:alert(1)"]


def test_hostile_names_stay_texts(watched, page, tmp_path):
    columns = [name.replace(",", ";").replace('"', '""') for name in HOSTILE]
    head = ",".join(f'"{name}"' for name in columns[:2]) + ',"class"\n'
    rows = "".join(f'{i % 9},{(i * 5) % 7},"{columns[2 + i % 2]}"\n' for i in range(40))
    send(page, "<img src=x onerror=window.hacked=1>.csv", (head + rows).encode())
    watched.settle()
    assert page.locator("#data-title").inner_text().startswith("<img src=x")
    page.click("#tab-separate")
    watched.settle()
    page.click("#tab-proof")
    page.click("#tab-learn")
    page.click("#edit")
    page.wait_for_timeout(300)
    assert "<img src=x" in page.locator("#picture").get_attribute("aria-label")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main b, main script").count() == 0
    with page.expect_download() as download:
        page.click("#learn-downloads [data-part=picture]")
    path = tmp_path / "hostile.svg"
    download.value.save_as(path)
    text = path.read_text()
    assert "<script" not in text and "<img" not in text and "&lt;img src=x" in text


def test_a_hundred_thousand_rows(watched, page):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100_000, 3)).round(4)
    y = np.where(x @ [1, -2, 0.5] > 0, "up", "down")
    # With a gap between the classes, so that the run is short.
    x += np.where(y == "up", 1, -1)[:, None] * np.array([0.3, -0.6, 0.15])
    x = x.round(4)
    text = "a,b,c,side\n" + "\n".join(f"{r[0]},{r[1]},{r[2]},{side}" for r, side in zip(x, y))
    send(page, "many.csv", text.encode())
    page.wait_for_function("() => linsep.set.rows === 100000 && !linsep.controller", timeout=60_000)
    note = page.locator("#plane-note").inner_text()
    assert "of 100,000 rows are drawn; all are used in the computation" in note
    drawn = read_number(note.split(" of ")[0])
    assert 4000 <= drawn <= 4500
    facts = dict(zip(page.locator("#learn-report dt").all_inner_texts(), page.locator("#learn-report dd").all_inner_texts()))
    assert "100,000 rows" in facts["Learned"]
    expect(page.locator("#edit")).to_be_disabled()
    page.click("#to-start")
    page.click("#step-on")
    assert page.evaluate("linsep.shown.example") is not None


def test_the_file_of_the_command_line_opens(browser, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(CSV)
    server = start(path, "--label", "kind")
    try:
        watched = Watched(browser, server)
        page = watched.open()
        expect(page.locator("#data-title")).to_have_text(path.name)
        assert page.evaluate("linsep.set.rows") == 40
        page.close()
        assert watched.problems == []
    finally:
        assert stop(server) == 130


def test_a_bad_file_of_the_command_line_is_refused(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,x\n2\n")
    done = subprocess.run([str(program_path()), "explore", "--no-open", str(path)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 3 and "bad.csv:3" in done.stderr


# Editing


def middle(page):
    box = page.locator("#picture").bounding_box()
    return box["x"], box["y"]


def place(page, i):
    """Where a point is on the screen."""
    px, py = page.evaluate(f"linsep.picture.pixelOf(linsep.shown.points.x[{i}], linsep.shown.points.y[{i}])")
    x, y = middle(page)
    return x + px, y + py


def test_points_are_added_moved_relabelled_and_removed_by_mouse(watched, page):
    page.click("#edit")
    expect(page.locator("#edit-bar")).to_be_visible()
    page.wait_for_function("() => linsep.edit.list?.length === 50")
    # Added: where nothing is.
    x, y = middle(page)
    spot = page.evaluate("(() => { const b = linsep.picture.canvas.getBoundingClientRect(); for (let i = 80; i < b.width - 80; i += 13) for (let j = 60; j < b.height - 80; j += 13) if (linsep.picture.nearest(i, j, 26) < 0) return [i, j]; })()")
    page.locator("#brushes input").nth(1).check()
    page.mouse.click(x + spot[0], y + spot[1])
    watched.settle()
    page.wait_for_function("() => linsep.set.rows === 51 && !linsep.controller")
    added = page.evaluate("linsep.edit.list[50]")
    assert added["side"] == 1
    # Moved.
    sx, sy = place(page, 50)
    page.mouse.move(sx, sy)
    page.mouse.down()
    page.mouse.move(sx + 30, sy - 24, steps=4)
    page.mouse.up()
    page.wait_for_function("() => linsep.edit.list[50].x !== %s" % json.dumps(added["x"]))
    watched.settle()
    moved = page.evaluate("linsep.edit.list[50]")
    assert moved["x"] > added["x"] and moved["y"] > added["y"]
    # Relabelled.
    page.mouse.dblclick(*place(page, 50))
    page.wait_for_function("() => linsep.edit.list[50].side === 0")
    watched.settle()
    # Removed.
    page.locator("#picture").focus()
    page.keyboard.press("Delete")
    page.wait_for_function("() => linsep.edit.list.length === 50 && linsep.set.rows === 50 && !linsep.controller")
    expect(page.locator("#data-title")).to_have_text("points.csv")
    # The address has the points.
    page.wait_for_timeout(150)
    address = page.url
    assert "points=" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    watched.settle()
    assert page.evaluate("linsep.set.rows") == 50 and page.evaluate("linsep.set.name") == "points.csv"


def test_points_are_edited_by_keys_alone(watched, page):
    page.locator("#edit").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => linsep.edit.list?.length === 50")
    page.locator("#picture").focus()
    page.keyboard.press("a")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("() => linsep.edit.list.length === 51")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator("#status")).to_contain_text("point 1 of 51")
    before = page.evaluate("({...linsep.edit.list[0]})")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("l")
    after = page.evaluate("({...linsep.edit.list[0]})")
    assert after["x"] < before["x"] and after["side"] != before["side"]
    page.keyboard.press("Delete")
    page.wait_for_function("() => linsep.edit.list.length === 50 && linsep.set.rows === 50 && !linsep.controller")


def test_the_last_point_can_be_removed(watched, page):
    send(page, "two.csv", b"x,y,class\n0,0,a\n1,1,b\n")
    page.wait_for_function("() => linsep.set.name === 'two.csv' && !linsep.controller")
    watched.settle()
    page.click("#edit")
    page.wait_for_function("() => linsep.edit.list?.length === 2")
    page.locator("#picture").focus()
    page.keyboard.press("n")
    page.keyboard.press("Delete")
    page.wait_for_function("() => linsep.edit.list.length === 1 && !linsep.controller")
    page.keyboard.press("Delete")
    page.wait_for_function("() => linsep.edit.list.length === 0 && !linsep.controller")
    for key in ("n", "p", "l", "Delete", "ArrowLeft", "Escape"):
        page.keyboard.press(key)
    page.keyboard.press("n")
    expect(page.locator("#status")).to_contain_text("there is no point")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_function("() => linsep.edit.list.length === 1")
    watched.settle()


def test_counts_are_spelled_for_one_and_many(watched, page):
    assert page.evaluate("import('/dom.js').then(({ counted }) => [counted(1, 'row', 'rows'), counted(0, 'row', 'rows'), counted(1234, 'row', 'rows')])") == ["1 row", "0 rows", "1,234 rows"]
    send(page, "one.csv", b"x,y,class\n0,0,a\n1,1,b\n2,,b\n")
    page.wait_for_function("() => linsep.set.name === 'one.csv' && !linsep.controller")
    watched.settle()
    assert "1 rows" not in page.locator("main").inner_text()


LABELS = "[...new DOMParser().parseFromString(await linsep.picture.svg('t').text(), 'image/svg+xml').querySelectorAll('text')]"


@pytest.mark.parametrize("scale", ["none", "standard"])
@pytest.mark.parametrize("row", [(3, 1.7e9, 1e6), (2e-8, -1e-7, 1e-12), (1e6, -5e6, -1e6), (2, 0, 1)])
def test_numbers_at_the_axes_are_whole_and_differ(watched, page, row, scale):
    across, offset, up = row
    lines = [f"{offset + across * i},{-7 * up + up * (i * 5 % 11)},{'ab'[i > 20]}" for i in range(40)]
    send(page, "axes.csv", ("t,u,class\n" + "\n".join(lines) + "\n").encode())
    page.wait_for_function("() => linsep.set.name === 'axes.csv' && !linsep.controller")
    page.select_option("select[name=scale], #form select:has(option[value=standard])", scale)
    watched.settle()
    labels = page.evaluate(
        "async () => { const { textWidth } = await import('/pen.js'); return "
        + LABELS
        + ".map((one) => ({ text: one.textContent, x: Number(one.getAttribute('x')), anchor: one.getAttribute('text-anchor'), size: Number(one.getAttribute('font-size')), width: textWidth(one.textContent, Number(one.getAttribute('font-size'))) })); }"
    )
    wide = page.evaluate("linsep.picture.drawn.width")
    for axis in ("middle", "end"):
        numbers = [one for one in labels if one["anchor"] == axis and one["size"] == 11 and "θ" not in one["text"]]
        texts = [one["text"] for one in numbers]
        assert len(texts) > 1 and len(set(texts)) == len(texts), texts
        left = {"middle": 0.5, "end": 1}[axis]
        assert all(one["x"] - left * one["width"] >= 0 and one["x"] + (1 - left) * one["width"] <= wide for one in numbers), numbers
    across = sorted((one for one in labels if one["anchor"] == "middle" and one["size"] == 11 and "θ" not in one["text"]), key=lambda one: one["x"])
    assert all(a["x"] + a["width"] / 2 < b["x"] - b["width"] / 2 for a, b in zip(across, across[1:])), across


def test_names_cannot_turn_the_text_around_them(watched, page):
    """Overrides of the direction of text, which make a name look like another, are shown as what they are: no letters."""
    turned = "\u202egnp.exe\u202c"
    rows = "".join(f"{2 * i},{i * 3 % 7},{turned if i % 2 else 'plain'}\n" for i in range(20))
    send(page, f"{turned}.csv", f"{turned}a,b\u2066,class\n{rows}".encode())
    page.wait_for_function("() => linsep.set.name.includes('gnp') && !linsep.controller")
    watched.settle()
    seen = "[document.documentElement.outerHTML, document.title].join()"
    for tab in ("learn", "proof", "separate", "compare"):
        page.click(f"#tab-{tab}")
        watched.settle()
        if tab == "compare":
            page.click("#compare-run")
            watched.settle()
        assert not page.evaluate(f"/[\\u202a-\\u202e\\u2066-\\u2069]/.test({seen}.replace(/ value=\"[^\"]*\"/g, ''))"), tab
    drawn = page.evaluate("linsep.picture.svg('t').text()")
    assert "gnp" in drawn and not set(drawn) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    expect(page.locator("#legend")).to_contain_text("\ufffdgnp.exe\ufffd")


def test_what_is_edited_is_what_is_learned(watched, page):
    """A point on the wrong side makes the square inseparable, and the engine says so."""
    page.click("#edit")
    page.wait_for_function("() => linsep.edit.list?.length === 50")
    page.evaluate("linsep.edit.brush = 0; linsep.edit.add([-0.9, 0.9])")
    page.wait_for_function("() => linsep.set.rows === 51 && !linsep.controller")
    assert page.evaluate("linsep.learn.result.record.converged") is False
    page.click("#tab-separate")
    watched.settle()
    expect(page.locator("#verdict")).to_have_text("Not separable")


def test_the_picture_stays_where_it_is_while_points_are_edited(watched, page):
    before = page.locator("#picture").bounding_box()
    page.click("#edit")
    page.wait_for_function("() => linsep.edit.list?.length === 50")
    assert page.locator("#picture").bounding_box() == before
    page.evaluate("linsep.edit.add([0.5, -0.4])")
    page.wait_for_function("() => linsep.set.rows === 51 && !linsep.controller")
    watched.settle()
    assert page.locator("#picture").bounding_box() == before
    # Nor does a long job move it.
    page.evaluate("document.getElementById('progress').hidden = false")
    assert page.locator("#picture").bounding_box() == before


def test_the_file_that_was_sent_comes_back_and_a_short_one_is_refused(server):
    status, lines = server.lines("POST", "/api/v1/data?name=rows.csv", CSV.encode())
    assert status == 200
    assert server.ask("GET", f"/api/v1/data/{lines[-1]['data']['id']}/file")[2] == CSV.encode()


def test_an_axis_that_would_be_squeezed_is_stretched_and_says_so(watched):
    page = watched.open("#data=spam")
    axes = page.evaluate("linsep.picture.svg('spam').text()")
    assert re.search(r"stretched \d+(\.\d)?×", axes)
    # The rows fill most of the picture both ways.
    share = page.evaluate("""() => {
      const { picture, learn: { drawing } } = linsep;
      const at = Array.from(drawing.x, (x, i) => picture.pixelOf(x, drawing.y[i]));
      const { width, height } = picture.canvas.getBoundingClientRect();
      const reach = (axis) => Math.max(...at.map((one) => one[axis])) - Math.min(...at.map((one) => one[axis]));
      return [reach(0) / width, reach(1) / height];
    }""")
    assert min(share) > 0.6, share
    # Where both axes have room, a unit is as long on either.
    page = watched.open("#data=square")
    assert "stretched" not in page.evaluate("linsep.picture.svg('square').text()")
    unit = page.evaluate("linsep.picture.unit()")
    assert abs(unit[0] - unit[1]) < 1e-9 * unit[0]


def test_fields_say_what_a_specification_says(page):
    """Random specifications through the fields of the forms: what each shows means the same again."""
    wrong = page.evaluate(
        """async () => {
          const { meant, textOf, valueAt, withValue } = await import("./form.js");
          const { settings, reading } = linsep.about;
          let state = 5;
          const random = (below) => { state = (state * 48271) % 2147483647; return state % below; };
          const some = {
            whole: () => 1 + random(1e6), size: () => 1 + random(1e6), number: () => random(1e6) / 7, flag: () => true,
            text: () => "a b", list: () => ["a", "b"], pairs: () => ({ a: "words" }), class_weight: () => "balanced",
          };
          const wrong = [];
          for (let k = 0; k < 500; k++) {
            const fields = random(2) ? settings : reading;
            let spec = {};
            for (const field of fields) {
              if (random(3)) continue;
              const value = field.kind === "choice" ? field.values[random(field.values.length)].value : some[field.kind]();
              spec = withValue(spec, field.at, value);
            }
            let again = {};
            for (const field of fields) {
              const value = valueAt(spec, field.at);
              if (value === undefined) continue;
              const shown = textOf(field, value);
              again = withValue(again, field.at, field.kind === "choice" ? meant(field, shown) : value);
              if (field.kind === "choice" && typeof shown !== "string") wrong.push([field.name, shown]);
            }
            if (JSON.stringify(again) !== JSON.stringify(spec)) wrong.push([spec, again]);
            // What is taken back leaves nothing.
            for (const field of fields) again = withValue(again, field.at, undefined);
            if (JSON.stringify(again) !== "{}") wrong.push(again);
          }
          return wrong;
        }"""
    )
    assert wrong == []
