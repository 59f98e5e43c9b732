"""How fast the page of `linsep explore` is, measured in Chromium: first paint, scrubbing through 100,000 updates, and a file of 100 MB.

    python3 bench/explore.py PROGRAM

Needs the Python environment of check.sh (playwright) and Debian's chromium. Prints a table for a record.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "browser"))

RUNS = 9
FRAMES = 300
MEGABYTES = 100

SCRUB = """async (frames) => {
  const { player, picture, proof } = linsep;
  const drawing = [];
  const paint = picture.draw.bind(picture);
  picture.draw = () => { const start = performance.now(); paint(); drawing.push(performance.now() - start); };
  const gaps = [], moving = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    const start = performance.now();
    // There and back twice, by a few hundred updates in each frame.
    player.move(Math.round(player.total * (0.5 - 0.5 * Math.cos(4 * Math.PI * i / frames))));
    moving.push(performance.now() - start);
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  delete picture.draw;
  return { gaps, moving, drawing, updates: player.total };
}"""

WATCH = """() => {
  window.gaps = []; window.words = new Set();
  let last = performance.now();
  window.watching = setInterval(() => { const now = performance.now(); gaps.push(now - last); last = now;
    if (!document.getElementById("progress").hidden) words.add(document.getElementById("progress-words").textContent.replace(/[\\d,.]+/g, "…")); }, 10);
}"""


def quantile(numbers, share):
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def first_paint(browser, server):
    """Milliseconds from the first byte of the answer to the first paint."""
    times = []
    for _ in range(RUNS):
        page = browser.new_page()
        page.goto(server.address)
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
        times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart"))
        page.close()
    return times


def scrubbing(browser, server, view):
    settings = {"learner": "perceptron", "scale": "none", "epochs": 1_000_000, "max_updates": 100_000}
    page = browser.new_page()
    page.goto(f"{server.address}#data=xor&view={view}&settings={json.dumps(settings)}")
    page.wait_for_selector("body[data-ready]", timeout=120_000)
    measured = page.evaluate(SCRUB, FRAMES)
    page.close()
    return measured


def big_file(browser, server, folder):
    path = Path(folder) / "big.csv"
    row = "0.{:06d},1.{:06d},-0.{:06d},2.{:06d},{}\n"
    with path.open("w") as out:
        out.write("a,b,c,d,side\n")
        i = 0
        while out.tell() < MEGABYTES * 1_000_000:
            lines = []
            for _ in range(10_000):
                i += 1
                value = (i * 2654435761) % 1_000_000
                lines.append(row.format(value, (i * 40503) % 1_000_000, (i * 69069) % 1_000_000, (i * 1103515245) % 1_000_000, "up" if value > 500_000 else "down"))
            out.write("".join(lines))
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector("body[data-ready]", timeout=120_000)
    page.evaluate(WATCH)
    page.set_input_files("#file", str(path))
    page.wait_for_function("() => linsep.set?.name === 'big.csv' && !linsep.controller", timeout=600_000)
    measured = page.evaluate("({ gaps, words: [...words], total: gaps.reduce((a, b) => a + b, 0), rows: linsep.set.rows, failure: document.getElementById('failure').hidden ? null : document.getElementById('failure-message').textContent })")
    measured["bytes"] = path.stat().st_size
    page.close()
    return measured


def main():
    os.environ["LINSEP"] = str(Path(sys.argv[1]).resolve())
    from conftest import FLAGS, chromium_path, start, stop
    from playwright.sync_api import sync_playwright

    version = subprocess.run([chromium_path(), "--version"], capture_output=True, text=True).stdout.strip()
    server = start()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch_persistent_context(
            f"{folder}/profile", executable_path=chromium_path(), headless=True, args=FLAGS, viewport={"width": 1400, "height": 900}
        )
        load = os.getloadavg()[0]
        print(f"{version}, headless, {os.cpu_count()} cores, load {load:.1f}\n")
        print("| measured | median | 95 % | largest |\n|---|---:|---:|---:|")

        def line(name, numbers):
            print(f"| {name} | {quantile(numbers, 0.5):.1f} ms | {quantile(numbers, 0.95):.1f} ms | {max(numbers):.1f} ms |", flush=True)

        line("first paint after the first byte of the answer", first_paint(browser, server))
        for view in ("learn", "proof"):
            found = scrubbing(browser, server, view)
            name = f"{found['updates']:,} updates, view {view}"
            line(f"{name}: time between frames", found["gaps"])
            line(f"{name}: moving to an update", found["moving"])
            line(f"{name}: drawing the picture", found["drawing"])
        found = big_file(browser, server, folder)
        line(f"a file of {found['bytes'] / 1e6:.0f} MB ({found['rows']:,} rows): gaps of the page's clock (every 10 ms)", found["gaps"])
        print(f"\nOpening and learning took {found['total'] / 1000:.1f} s; the page said: {', '.join(sorted(found['words']))}.")
        if found["failure"]:
            print(f"The page failed: {found['failure']}")
        browser.close()
    stop(server)


if __name__ == "__main__":
    main()
