# SPDX-License-Identifier: Apache-2.0
"""The HTML page in a real browser: what a reader does with it, by mouse, by keyboard, by screen reader, without script.

usage: page.py BROWSER FOLDER PAGE...   prints a line for each check that fails, and "N passed, N failed" at the end
"""

import json
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from axe_playwright_python.sync_playwright import Axe

browser_path, folder, *pages = sys.argv[1:]
passed = failed = 0


def ok(name, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED:", name, flush=True)


def page_of(browser, path, scheme="light", width=1280, script=True):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script, bypass_csp=False
    )
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    cdp = context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(Path(path).resolve().as_uri())
    page.took = {m["name"]: m["value"] for m in cdp.send("Performance.getMetrics")["metrics"]}["TaskDuration"]
    return page


# Seconds of the browser's main thread: other than the clock's, they are nearly the same beside other tests.
OPENS = 0.3


def quickest(browser, path, took):
    for _ in range(6):
        if took < OPENS:
            break
        page = page_of(browser, path)
        took = min(took, page.took)
        page.context.close()
    return took


def violations(page):
    """axe-core's, its script put in past the page's policy, which would stop it; a minute for 60,000 elements."""
    page.set_default_timeout(300_000)
    found = Axe().run(page).response["violations"]
    for v in found:
        print("  ", v["id"], v["help"], [n["target"] for n in v["nodes"]][:3])
    return len(found)


def check_reading(browser, path, schemes=("light", "dark")):
    name = Path(path).name
    for scheme in schemes:
        page = page_of(browser, path, scheme)
        ok(f"{name}: no complaint on the console: {page.said}", not page.said)
        ok(f"{name}: no request leaves the page: {page.asked[1:]}", len(page.asked) == 1)
        took = quickest(browser, path, page.took)
        ok(f"{name}: opens in {OPENS} s of the main thread: {took:.2f} s", took < OPENS)
        ok(f"{name}: below 1 MB", Path(path).stat().st_size < 1_000_000)
        rows = page.evaluate("""async () => { // all of the page: what is folded is opened, every row stays
            document.querySelectorAll('details').forEach((d) => { d.open = true; });
            await new Promise((done) => setTimeout(done, 200));
            return document.querySelectorAll('tr').length; }""")
        ok(f"{name}: axe-core, {scheme}, {rows} rows", rows > 100 and violations(page) == 0)
        page.context.close()
    page = page_of(browser, path)
    for width in (400, 1280, 2000):
        for scheme in schemes:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            wide = page.evaluate("document.documentElement.scrollWidth")
            ok(f"{name}: no sideways scrolling at {width}: {wide}", wide <= width)
            if path == pages[0] and width != 1280:  # that is above
                ok(f"{name}: axe-core at {width}, {scheme}", violations(page) == 0)
            if path == pages[0] or width == 1280:
                page.screenshot(path=f"{folder}/{Path(path).stem}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 400, "height": 900})
    boxes = page.evaluate("""[...document.querySelectorAll('.sx')].filter((box) => box.clientHeight > 0 &&
        !box.closest('.twin') && box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label'))""")
    ok(f"{name}: at 400 pixels no table scrolls: {boxes}", not boxes)
    cut = page.evaluate("""[...document.querySelectorAll('.sizes td')].filter((td) => td.scrollWidth >
        td.clientWidth + 1).map((td) => td.textContent)""")
    ok(f"{name}: and no size is cut: {cut[:4]}", not cut)
    page.context.close()


def check_without_script(browser, path):
    name = Path(path).name
    page = page_of(browser, path, script=False)
    text = page.inner_text("body")
    for words in (
        "Peak ",
        "allocated",
        "Memory over the step",
        "What is alive at the peak",
        "Layers",
        "What fits",
        "Assumptions",
        "At the peak",
        "Largest alive then",
    ):
        ok(f"{name}: without script: {words}", words in text)
    ok(
        f"{name}: without script no dead control is shown",
        not any(b.is_visible() for b in page.query_selector_all("button, input:not([type=radio])")),
    )
    ok(
        f"{name}: every picture has a title and a description",
        page.locator("svg[role=img]").count() >= 4
        and all(
            page.locator(f"svg[role=img] >> nth={i}").locator("title, desc").count() >= 2
            for i in range(page.locator("svg[role=img]").count())
        ),
    )
    radios = page.locator("input[name=ov]")
    if radios.count() > 1:
        ok(f"{name}: no overlay at first", not page.locator(".ov0").is_visible())
        radios.nth(1).focus()
        page.keyboard.press("Space")
        ok(f"{name}: an overlay by keyboard, without script", page.locator(".ov0").is_visible())
    page.context.close()


def data_of(page):
    return json.loads(page.text_content("#data"))


def mebibytes(text):
    number, unit = re.search(r"([0-9.]+) (B|KiB|MiB|GiB)$", text).groups()
    return float(number) * {"B": 1 / 1048576, "KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]


def check_numbers(browser, path):
    """The pictures show what the tables say."""
    name = Path(path).name
    page = page_of(browser, path)
    peak = mebibytes(page.inner_text("#rd-t"))
    for i, (title, d) in enumerate(
        page.evaluate(
            "[...document.querySelectorAll('.ov')].map((g) => [g.querySelector('title').textContent, "
            "g.querySelector('path').getAttribute('d')])"
        )
    ):
        top = (1000 - min(float(y) for y in re.findall(r"(?:V|M0 )(-?[0-9.]+)", d))) / 1000 * peak
        ok(f"{name}: overlay {title}: its highest point is at {top:.1f} MiB", abs(top - mebibytes(title)) <= peak / 400)
    drawn = page.locator(".both").count()
    ok(f"{name}: both steps of a comparison are drawn", drawn == page.locator("#baseline").count())
    for said, d in page.evaluate(
        "[...document.querySelectorAll('.both .areas path:not(.ovb)')].map((p) => "
        "[p.closest('figure').querySelector('.key').textContent, p.getAttribute('d')])"
    ):
        both = [mebibytes(text) for text in re.findall(r"peak ([0-9.]+ [KMG]?i?B)", said)]
        own = both["Z" not in d]
        top = (1000 - min(float(y) for y in re.findall(r"(?:V|M0 )(-?[0-9.]+)", d))) / 1000 * max(both)
        ok(f"{name}: both steps: {said}: its highest point is at {top:.1f} MiB", abs(top - own) <= max(both) / 400)
    sums = page.evaluate("""['Changes by module', 'Changes by tensor'].map((caption) =>
        [...document.querySelectorAll('table')].filter((t) => t.caption && t.caption.textContent === caption)
            .flatMap((t) => [...t.querySelectorAll('td[data-v]')]).reduce((sum, td) => sum + Number(td.dataset.v), \
0))""")
    ok(f"{name}: changes by module and by tensor come to the same: {sums}", sums[0] == sums[1])
    areas = page.evaluate("""[...document.querySelectorAll('svg.wide rect[class*=c-]')].reduce((sum, r) =>
        sum + parseFloat(r.getAttribute('width')) / 100 * parseFloat(r.getAttribute('height')), 0) / 440""")
    ok(f"{name}: the treemap is nearly full: {areas:.2f}", 0.8 < areas <= 1)
    page.context.close()


# What dichromats see, on linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
SEEN_AS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopes": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopes": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopes": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
CLASSES = "parameters buffers optimizer gradients saved outputs temporaries workspace inputs".split()


def lab(hex_colour, seen):
    srgb = [int(hex_colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    rgb = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in srgb]
    r, g, b = (min(1, max(0, sum(m * x for m, x in zip(row, rgb)))) for row in seen)
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0888,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def check_colours(browser, path):
    """Any two classes are told apart by every kind of eye: a distance of 12 in CIELAB."""
    for scheme in ("light", "dark"):
        page = page_of(browser, path, scheme)
        colours = page.evaluate(
            "(names) => names.map((n) => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim())",
            CLASSES,
        )
        for who, seen in SEEN_AS.items():
            labs = [lab(c, seen) for c in colours]
            least = min(
                (sum((p - q) ** 2 for p, q in zip(labs[i], labs[k])) ** 0.5, CLASSES[i], CLASSES[k])
                for i in range(len(labs))
                for k in range(i)
            )
            ok(f"colours, {scheme}, as {who} see them: {least}", least[0] >= 12)
        page.context.close()


def check_segments(browser, path):
    """The allocator's segments: areas are bytes, what is free is told, a block opens its tensor's card."""
    name = Path(path).name
    page = page_of(browser, path)
    head, *rows = data_of(page)["segments"]
    told = [dict(zip(head, row)) for row in rows]
    all_bytes, free = (sum(t["segments"] * t[what] for t in told) for what in ("bytes", "free"))
    drawn = """(css) => [...document.querySelectorAll('.segs rect:not(.frame,.slack)' + css)].reduce((sum, r) =>
        sum + parseFloat(r.getAttribute('width')) / 100, 0)"""
    share = page.evaluate(drawn, ".free") / page.evaluate(drawn, "")
    ok(f"{name}: {share:.4f} of the segments' picture is free", free > 0 and abs(share - free / all_bytes) < 0.002)
    said = page.inner_text("#segments .ss")
    ok(f"{name}: the sentence has the same: {said}", f"{free / 2**20:.2f} MiB are free" in said)
    page.evaluate("document.querySelector('#segs').closest('details').open = true")
    page.wait_for_timeout(50)
    ok(f"{name}: its table has a row for each: {len(told)}", page.locator("#segs tbody tr").count() == len(told))
    wrong = page.evaluate("""() => { // of every block: the card has its bytes and its class
        let wrong = 0, n = 0;
        for (const box of document.querySelectorAll('.segs rect[data-g]')) {
            box.dispatchEvent(new MouseEvent('click', { bubbles: true }));
            const said = [...document.querySelectorAll('#card dd')].map((dd) => dd.textContent);
            const [, size, kind] = box.querySelector('title').textContent.match(/, ([^,]*), ([^,]*)$/);
            n++;
            wrong += !said[0].includes('(' + size + ')') || said[1] !== kind
                || !document.querySelector('.map .wide rect.sel, .map .narrow rect.sel');
        }
        return [wrong, n]; }""")
    ok(f"{name}: blocks open their cards: {wrong}", wrong[0] == 0 and wrong[1] > 5)
    page.keyboard.press("Escape")
    page.fill("#q", "optimizer state")
    ok(f"{name}: a search dims other blocks", 0 < page.locator(".segs rect.dim").count() < wrong[1] + 99)
    page.set_viewport_size({"width": 400, "height": 900})
    ok(f"{name}: segments fit a phone", page.locator(".segs").bounding_box()["width"] <= 400)
    ok(f"{name}: segments: axe-core", violations(page) == 0)
    ok(f"{name}: segments: no complaint: {page.said}", not page.said)
    page.context.close()


def check_data(browser, path):
    """Rows that only the data have are made when they are asked for, and are what they would be in the page."""
    name = Path(path).name
    page = page_of(browser, path)
    data = data_of(page)
    tensors = [dict(zip(data["tensors"][0], row)) for row in data["tensors"][1:]]
    count = "document.querySelectorAll('table.live tbody tr').length"
    before = page.evaluate(count)
    ok(f"{name}: {before} of {len(tensors)} rows before", before <= 120 and before < len(tensors))
    page.fill("#q", tensors[-1]["tensor"].split(" ")[0])
    ok(f"{name}: a search makes the rows: {page.evaluate(count)}", page.evaluate(count) == len(tensors))
    found = re.match(r"(\d+) of (\d+) rows", page.inner_text("#qn"))
    ok(
        f"{name}: and finds: {found}",
        found and int(found[1]) == page.locator("table.live tbody tr:visible").count() > 0,
    )
    page.fill("#q", "")
    told = page.evaluate("""[...document.querySelectorAll('table.live tbody tr')].map((tr) => [Number(tr.dataset.g),
        Number(tr.cells[1].dataset.b), tr.cells[3].textContent, tr.cells[0].querySelectorAll('button.more').length])""")
    wrong = [t for t in told if t[1:] != [tensors[t[0]]["bytes"], tensors[t[0]]["class"], 1]]
    ok(f"{name}: each row is its tensor: {wrong[:2]}", not wrong)
    first, last = page.evaluate("""() => { // what the page writes and what the script makes have the same form
        const inner = (td) => [...td.children].map((child) => child.tagName).filter((name) =>
            !['WBR', 'svg', 'DETAILS', 'SMALL'].includes(name)).join();
        const css = (td) => td.className.replace(/^b$/, '');
        const form = (tr) => [...tr.cells].map((td) => [td.tagName, css(td), inner(td)].join(' '));
        const rows = [...document.querySelectorAll('table.live tbody tr')].filter(({ cells }) => cells[4].textContent &&
            cells[6].querySelector('code') && !cells[0].querySelector('details') && !cells[5].querySelector('code'));
        return [form(rows[0]), form(rows[rows.length - 1])]; }""")
    ok(f"{name}: rows have one form: {first} {last}", first == last)
    lines = page.locator("#lay tbody tr").count()
    ok(f"{name}: {lines} of {len(data['layers']) - 1} layers before", lines <= 400 and lines < len(data["layers"]) - 1)
    page.click("#layopen")
    depth = page.evaluate("[...document.querySelectorAll('#lay tbody tr')].map((tr) => Number(tr.dataset.d))")
    ok(f"{name}: all layers are opened in their order", depth == [row[0] for row in data["layers"][1:]])
    ok(f"{name}: data: axe-core with all rows", violations(page) == 0)
    ok(f"{name}: data: no complaint: {page.said}", not page.said)
    page.context.close()
    page = page_of(browser, path, script=False)
    text = page.text_content("#data")
    ok(f"{name}: without script the data are told where rows are missing", page.locator(".plain a").count() >= 3)
    ok(
        f"{name}: and have nothing that HTML would read",
        not set("<>&") & set(Path(path).read_text().split('id="data">')[1].split("</pre>")[0]) and json.loads(text),
    )
    page.context.close()


def check_sandbox(browser, path):
    """As servers of continuous integration show what a job left: no scripts, no styles in the page."""
    name = Path(path).name
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route(
        "**/*",
        lambda route: route.fulfill(
            body=Path(path).read_text(),
            content_type="text/html; charset=utf-8",
            headers={"Content-Security-Policy": "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"},
        ),
    )
    page.goto("https://ci.invalid/artifact.html")
    text = page.inner_text("body")
    ok(
        f"{name}: in a sandbox: all words",
        all(words in text for words in ("Peak ", "Layers", "What fits", "Assumptions")),
    )
    ok(
        f"{name}: in a sandbox: the timeline has its colours",
        page.evaluate(
            "new Set([...document.querySelectorAll('#tl .areas > path')].map((p) => getComputedStyle(p).fill)).size"
        )
        >= 4,
    )
    page.screenshot(path=f"{folder}/{Path(path).stem}-sandbox.png")
    page.close()


def as_written(browser, path):
    """The figures of the readout without the script."""
    page = page_of(browser, path, script=False)
    text = ",".join(page.locator("#rd [data-c]").all_text_contents())
    page.context.close()
    return text


def check_keys(browser, path):
    name = Path(path).name
    page = page_of(browser, path)
    page.keyboard.press("Tab")
    ok(f"{name}: the first stop is the skip link", page.evaluate("document.activeElement.className") == "skip")
    before = page.inner_text("#rd-t"), page.inner_text("#rd-l")
    page.focus("#at")
    page.keyboard.press("Home")
    ok(
        f"{name}: the slider changes the readout",
        page.inner_text("#rd-h") == "At instant 1" and page.inner_text("#rd-t") != before[0],
    )
    ok(f"{name}: and what is alive", page.inner_text("#rd-l") != before[1] and page.locator("#rd-l li").count() > 1)
    ok(f"{name}: and says it", "," in (page.get_attribute("#at", "aria-valuetext") or ""))
    built = page.evaluate("""async () => { // long tables are made when they are opened
        const before = document.querySelectorAll('#tlt tr, #spans tr').length;
        for (const id of ['tlt', 'spans']) document.getElementById(id).closest('details').open = true;
        await new Promise((done) => setTimeout(done, 50));
        return [before, document.querySelectorAll('#tlt tr').length, document.querySelectorAll('#spans tr').length]; \
}""")
    ok(f"{name}: tables of the data are built when opened: {built}", built[0] == 0 and built[1] > 20 and built[2] > 20)
    rows = page.evaluate("""() => { // the classes of every instant add up to its total
        const rows = [...document.querySelectorAll('#tlt tbody tr')].map((r) => [...r.cells].slice(2, -1).map((c) => \
Number(c.textContent)));
        return rows.filter((r) => Math.abs(r[0] - r.slice(1).reduce((a, b) => a + b, 0)) > 0.06).length; }""")
    ok(f"{name}: classes add up at every instant: {rows}", rows == 0)
    more = page.evaluate("""() => { // the tensors that are listed never hold more than is allocated
        const rows = [...document.querySelectorAll('#tlt tbody tr')].map((r) => [Number(r.cells[0].textContent), \
Number(r.cells[2].textContent)]);
        const spans = [...document.querySelectorAll('#spans tbody tr')].map((r) => [...r.cells].slice(1, 4).map((c) => \
Number(c.textContent)));
        return rows.filter(([at, all]) => spans.filter((s) => s[1] <= at && at <= s[2]).reduce((sum, s) => sum + s[0], \
0) > all + 0.01 * spans.length).length; }""")
    ok(f"{name}: tensors alive never exceed the total: {more}", more == 0)
    rounded = page.evaluate("""() => { // the readout is exact: what stands in it at the peak stands there again
        const at = document.getElementById('at'), figures = () => document.getElementById('rd').innerText;
        const peak = [...document.querySelectorAll('#tlt tbody tr')].findIndex((r) => r.className === 'peak');
        at.value = 0;
        at.dispatchEvent(new Event('input'));
        document.getElementById('topeak').click();
        const before = figures();
        at.value = peak;
        at.dispatchEvent(new Event('input'));
        return [before, figures()]; }""")
    ok(f"{name}: the readout of the peak is the same when the script made it: {rounded}", rounded[0] == rounded[1])
    ok(
        f"{name}: and the same as written: {before[0]}",
        page.evaluate(
            "(text) => [...document.querySelectorAll('#rd [data-c]')].map((td) => td.textContent).join() === text",
            as_written(browser, path),
        ),
    )
    page.keyboard.press("0")
    ok(f"{name}: 0 goes back to the peak", (page.inner_text("#rd-t"), page.inner_text("#rd-l")) == before)
    box = page.get_attribute(".areas", "viewBox")
    page.keyboard.press("+")
    ok(f"{name}: + zooms", page.get_attribute(".areas", "viewBox") != box and "columns" in page.inner_text("#zsaid"))
    page.focus("#zall")
    page.keyboard.press("Enter")
    ok(f"{name}: All shows the whole step again", page.get_attribute(".areas", "viewBox") == box)
    svg = page.locator("#tl").bounding_box()
    page.mouse.move(svg["x"] + svg["width"] * 0.25, svg["y"] + svg["height"] / 2)
    ok(f"{name}: the pointer changes the readout", page.inner_text("#rd-h").startswith("At instant"))

    header = page.locator("table.live thead button").nth(1)
    header.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    ok(
        f"{name}: sorting by keyboard",
        page.locator("table.live thead th").nth(1).get_attribute("aria-sort") == "ascending",
    )
    mib = [float(x) for x in page.locator("table.live >> nth=0").locator("tbody tr td:nth-child(2)").all_inner_texts()]
    ok(f"{name}: the rows are in order", mib == sorted(mib))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    ok(f"{name}: / goes to the filter", page.evaluate("document.activeElement.id") == "q")
    page.keyboard.type("optimizer")
    shown = page.locator("table.live tbody tr:visible").count()
    ok(
        f"{name}: the filter filters: {shown}",
        re.match(r"\d+ of \d+ rows", page.inner_text("#qn"))
        and 0 < shown < page.locator("table.live tbody tr").count(),
    )

    page.focus("#layclose")
    page.keyboard.press("Enter")
    ok(f"{name}: the tree closes", page.locator("#lay tbody tr:visible").count() == 1)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    ok(f"{name}: and opens", page.locator("#lay tbody tr:visible").count() == page.locator("#lay tbody tr").count())
    page.focus("#laytsv")
    page.keyboard.press("Enter")
    ok(f"{name}: the tree is copied", "copied" in page.inner_text("#laysaid"))
    page.focus("#q")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    ok(f"{name}: as TSV", "Module" in page.input_value("#q") and "Parameters" in page.input_value("#q"))

    page.emulate_media(media="print")
    ok(
        f"{name}: print leaves the controls out",
        not page.locator("#scrub").is_visible() and not page.locator("nav").is_visible(),
    )
    ok(f"{name}: print has the tables", page.locator("table.live >> nth=0").is_visible())
    ok(f"{name}: still no complaint: {page.said}", not page.said)
    page.context.close()


def check_pointer(browser, path):
    """A click pins, a drag zooms, and a link to what is seen shows it again."""
    name = Path(path).name
    page = page_of(browser, path)
    svg = page.locator("#tl").bounding_box()
    whole = page.get_attribute(".areas", "viewBox")

    def to(share):
        page.mouse.move(svg["x"] + svg["width"] * share, svg["y"] + svg["height"] / 2)

    def click(share):
        to(share)
        page.mouse.down()
        page.mouse.up()

    click(0.25)
    hidden = page.locator("#tl .out:not(.life, .drag)").count()
    ok(f"{name}: all marks of the timeline are shown, but for {hidden}", hidden == 0)
    pinned = page.inner_text("#rd-h"), page.inner_text("#rd-t"), page.inner_text("#rd-l")
    to(0.6)
    ok(f"{name}: a click pins an instant", (page.inner_text("#rd-h"), page.inner_text("#rd-t")) == pinned[:2])
    ok(f"{name}: and it is said", "pinned at instant" in page.inner_text("#zpin") and "at=" in page.url)
    to(0.05)
    page.mouse.down()
    to(0.15)
    page.mouse.up()
    left, top, wide, tall = map(float, page.get_attribute(".areas", "viewBox").split())
    ok(f"{name}: a drag zooms: {left} {wide}", 0 < left < wide < 0.2 * float(whole.split()[2]))
    rows = [row[3] for row in data_of(page)["timeline"][1:]]
    share = max(rows[int(left) : int(left + wide)]) / max(rows)
    ok(f"{name}: and rescales to {share:.3f} of the peak", abs(tall / 1000 - share) < 1e-4 and top + tall == 1000)
    ok(f"{name}: the pin stays", page.inner_text("#rd-h") == pinned[0])
    page.fill("#q", "optimizer")
    again = page.context.new_page()
    again.goto(page.url)
    seen = [again.inner_text("#rd-h"), again.inner_text("#rd-t"), again.inner_text("#rd-l")]
    ok(f"{name}: a link shows the same instant", tuple(seen) == pinned)
    ok(
        f"{name}: and the same part and search",
        again.get_attribute(".areas", "viewBox") == page.get_attribute(".areas", "viewBox")
        and again.input_value("#q") == "optimizer"
        and again.inner_text("#qn") == page.inner_text("#qn") != "",
    )
    again.close()
    rule = page.evaluate("[...document.querySelectorAll('.find li')].pop().id")
    page.goto("about:blank")
    page.goto(Path(path).resolve().as_uri() + "#" + rule)
    box = page.locator("#" + rule).bounding_box()
    ok(f"{name}: a link to {rule} opens it: {box}", page.url.endswith("#" + rule) and box and 0 <= box["y"] < 900)
    page.goto("about:blank")
    page.goto(Path(path).resolve().as_uri() + "#at=999999&from=-4&wide=x")
    ok(f"{name}: a link that says nothing sensible shows the whole", page.get_attribute(".areas", "viewBox") == whole)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    copy = page.locator(".copy button").first
    code = page.locator("pre").first.text_content().strip()
    copy.click()
    page.focus("#q")
    page.keyboard.press("Control+v")
    ok(f"{name}: a program is copied", code and page.input_value("#q").split() == code.split())
    ok(f"{name}: pointer: no complaint: {page.said}", not page.said)
    page.context.close()


def check_overview(browser, path):
    """The small picture of the whole step: what is shown is dragged, resized, chosen anew, and moved by keys."""
    name = Path(path).name
    page = page_of(browser, path)
    mini = page.locator(".mini").bounding_box()
    count = float(page.get_attribute(".areas", "viewBox").split()[2])

    def shown():
        left, _, wide, _ = map(float, page.get_attribute(".areas", "viewBox").split())
        return left, wide

    def drag(begin, *ways):
        page.mouse.move(mini["x"] + mini["width"] * begin, mini["y"] + mini["height"] / 2)
        page.mouse.down()
        for at in ways:
            page.mouse.move(mini["x"] + mini["width"] * at, mini["y"] + mini["height"] / 2)
        page.mouse.up()
        return shown()

    def close(got, left, wide):
        return abs(got[0] - left * count) <= 1.5 and abs(got[1] - wide * count) <= 1.5

    ok(f"{name}: the overview has the timeline's classes", page.locator(".mini path").count() >= 4)
    got = drag(0.4, 0.5, 0.7)
    ok(f"{name}: a drag over the overview zooms: {got}", close(got, 0.4, 0.3))
    got = drag(0.5, 0.4, 0.3)
    ok(f"{name}: its middle is moved: {got}", close(got, 0.2, 0.3))
    got = drag(0.2, 0.15, 0.1)
    ok(f"{name}: its left end: {got}", close(got, 0.1, 0.4))
    got = drag(0.5, 0.55, 0.6)
    ok(f"{name}: its right end: {got}", close(got, 0.1, 0.5))
    got = drag(0.75)
    ok(f"{name}: a click brings it there: {got}", close(got, 0.5, 0.5))
    got = drag(0.75, 0.2)
    ok(f"{name}: and not beyond the start: {got}", close(got, 0, 0.5))
    page.keyboard.press("ArrowRight")
    ok(f"{name}: an arrow moves it by a tenth: {shown()}", close(shown(), 0.05, 0.5))
    page.keyboard.press("End")
    ok(f"{name}: End: {shown()}", close(shown(), 0.5, 0.5))
    page.keyboard.press("+")
    ok(f"{name}: + zooms: {shown()}", abs(shown()[1] - count / 4) <= 1.5)
    said = page.get_attribute(".mini", "aria-valuetext")
    ok(f"{name}: and it is said: {said}", said == page.inner_text("#zsaid") and said.startswith("columns "))
    again = page.context.new_page()
    again.goto(page.url)
    ok(
        f"{name}: a link shows the part",
        again.get_attribute(".mini .part", "x") == page.get_attribute(".mini .part", "x"),
    )
    again.close()
    page.keyboard.press("Escape")
    ok(f"{name}: Escape shows the whole step", shown() == (0, count) and "wide=" not in page.url)
    page.keyboard.press("-")
    page.keyboard.press("+")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    ok(f"{name}: arrows move it where nothing has the focus: {shown()}", 0 <= shown()[0] < count / 2)
    ok(f"{name}: axe-core with a part", violations(page) == 0)
    ok(f"{name}: overview: no complaint: {page.said}", not page.said)
    page.context.close()


def check_print(browser, path):
    """On A4 (186 mm between its margins) nothing sticks out, no column is a letter wide and no bar is missing."""
    name = Path(path).name
    page = page_of(browser, path, width=703)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    out = page.evaluate("""() => [...document.querySelectorAll('table, pre, svg')].filter((e) => e.offsetParent !== null
        || e.clientHeight > 0).map((e) => [e.tagName, e.caption ? e.caption.textContent : '', \
Math.round(e.getBoundingClientRect().right)]).filter((e) => e[2] > 706)""")
    ok(f"{name}: A4 has room for {out}", not out)
    high = page.evaluate("Math.max(...[...document.querySelectorAll('#rd li')].map((li) => li.offsetHeight))")
    ok(f"{name}: A4: a line of the readout is {high} pixels high", high < 80)
    gone = page.evaluate("""[...document.querySelectorAll('.fall rect')].filter((r) =>
        getComputedStyle(r).display === 'none').length""")
    ok(f"{name}: A4: bars that are not printed: {gone}", gone == 0)
    page.context.close()


def fields(page):
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll('#card dt')].map((dt) =>
        [dt.textContent, dt.nextElementSibling.textContent]))""")


def check_card(browser, path):
    """A row or a box of the treemap opens a card, by mouse and by keyboard; the timeline shows that life."""
    name = Path(path).name
    page = page_of(browser, path)
    rows = page.locator("table.live >> nth=0").locator("tbody tr")
    data = data_of(page)
    tensors = [dict(zip(data["tensors"][0], row)) for row in data["tensors"][1:]]
    i = next(i for i, t in enumerate(tensors) if t["count"] == 1 and t["class"] == "outputs")
    row = rows.nth(i)
    button = row.locator("button.more")
    button.focus()
    page.keyboard.press("Enter")
    said = fields(page)
    bytes_ = int(row.locator("td").nth(0).get_attribute("data-b"))
    ok(f"{name}: a card has exact bytes: {said}", said["Bytes"].startswith(f"{bytes_:,} ("))
    ok(
        f"{name}: and shape, class, life and reason: {said}",
        said["Class"] == "outputs"
        and "[" in said["Type and shape"]
        and "instant" in said["Alive"]
        and said["Why"]
        and said["Made in"],
    )
    born, dies = tensors[i]["from"], tensors[i]["to"]
    ok(f"{name}: its birth is pinned at {born}", f"pinned at instant {born}" in page.inner_text("#zpin"))
    mark, shown = page.locator("#tl .life").bounding_box(), page.locator("#tl").bounding_box()
    lines = [row[0] for row in data["timeline"][1:]]
    share = sum(born <= at <= dies for at in lines) / len(lines)
    ok(f"{name}: its life is marked: {mark}", abs(mark["width"] / shown["width"] - share) < 0.01)
    ok(f"{name}: the card is in the address", "card=" in page.url)
    again = page.context.new_page()
    again.goto(page.url)
    ok(f"{name}: a link shows the same card", fields(again) == said)
    again.close()
    ok(f"{name}: axe-core with a card", violations(page) == 0)
    page.keyboard.press("Escape")
    ok(
        f"{name}: Escape closes it, and the focus is back",
        not page.locator("#card").is_visible()
        and not page.locator("#tl .life").is_visible()
        and "card=" not in page.url
        and page.evaluate("document.activeElement.className") == "more",
    )
    wrong = page.evaluate("""() => { // of every box: the card has its bytes, its row's class and shape
        let wrong = 0, n = 0;
        for (const box of document.querySelectorAll('.map svg.wide rect[data-g]')) {
            box.dispatchEvent(new MouseEvent('click', { bubbles: true }));
            const row = document.querySelector(`tr[data-g="${box.dataset.g}"]`);
            const said = [...document.querySelectorAll('#card dd')].map((dd) => dd.textContent);
            n++;
            const bytes = box.dataset.bytes || row.cells[1].dataset.b;
            wrong += !said[0].startsWith(Number(bytes).toLocaleString('en') + ' (')
                || said[1] !== row.cells[3].textContent || !box.classList.contains('c-' + said[1])
                || !row.cells[4].textContent.startsWith(said[2]);
        }
        return [wrong, n]; }""")
    ok(f"{name}: boxes open their cards: {wrong}", wrong[0] == 0 and wrong[1] > 5)
    page.set_viewport_size({"width": 400, "height": 900})
    wide = page.evaluate("document.documentElement.scrollWidth")
    ok(f"{name}: a card fits a phone: {wide}", wide <= 400 and page.locator("#card").bounding_box()["x"] >= 0)
    page.screenshot(path=f"{folder}/{Path(path).stem}-card-400.png")
    ok(f"{name}: cards: no complaint: {page.said}", not page.said)
    page.context.close()


def check_map(browser, path):
    """A module of the treemap fills it, and goes back; what a search finds stays bright."""
    name = Path(path).name
    page = page_of(browser, path)
    drawn = """[...document.querySelectorAll('.map svg.wide rect[class*=c-]')].map((r) => [r.getClientRects().length,
        r.matches('.dim'), ...['x', 'y', 'width', 'height'].map((n) => parseFloat(r.getAttribute(n)).toFixed(2))])
        .join()"""
    seen = "[...document.querySelectorAll('.map svg.wide rect[class*=c-]')].filter((r) => r.getClientRects().length)"
    area = f"{seen}.reduce((sum, r) => sum + r.getBoundingClientRect().width * r.getBoundingClientRect().height, 0)"
    before, whole = page.evaluate(drawn), page.evaluate(area)
    modules = page.locator("#mapof option").count()
    ok(f"{name}: modules to choose: {modules}", modules > 3)
    for i in range(1, modules):
        page.select_option("#mapof", index=i)
        share = page.evaluate(area) / whole
        ok(f"{name}: module {i} fills the map: {share:.2f}", 0.9 < share < 1.2)
    page.select_option("#mapof", index=2)
    again = page.context.new_page()
    again.goto(page.url)
    ok(f"{name}: a link shows the module", again.evaluate(drawn) == page.evaluate(drawn) != before)
    again.close()
    ok(f"{name}: axe-core with a module", violations(page) == 0)
    page.focus("#mapof")
    page.keyboard.press("Escape")
    ok(f"{name}: and the whole is back", page.evaluate(drawn) == before and "map=" not in page.url)
    page.locator(".map svg.wide .mod").nth(1).click()
    ok(f"{name}: a heading opens its module", "map=" in page.url and page.evaluate(drawn) != before)
    page.keyboard.press("Escape")
    page.fill("#q", "optimizer state")
    bright = page.evaluate(f"{seen}.filter((r) => !r.classList.contains('dim')).map((r) => r.getAttribute('class'))")
    ok(f"{name}: what is found stays bright: {bright[:3]}", bright and all("c-optimizer" in css for css in bright))
    page.fill("#q", "")
    ok(f"{name}: and then all is", page.evaluate(drawn) == before)
    page.locator("#tl").scroll_into_view_if_needed()
    svg = page.locator("#tl").bounding_box()
    page.mouse.move(svg["x"] + svg["width"] / 2, svg["y"] + svg["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_timeout(100)
    ok(f"{name}: the wheel zooms with Ctrl", "wide=" in page.url)
    ok(f"{name}: map: no complaint: {page.said}", not page.said)
    page.context.close()


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
    for path in pages:
        check_reading(browser, path, ("light", "dark") if path == pages[0] else ("dark",))
        check_without_script(browser, path)
        check_numbers(browser, path)
        check_print(browser, path)
    check_colours(browser, pages[0])
    check_data(browser, pages[-1])
    check_segments(browser, pages[0])
    check_sandbox(browser, pages[0])
    check_keys(browser, pages[0])
    check_pointer(browser, pages[0])
    check_overview(browser, pages[0])
    check_card(browser, pages[0])
    check_map(browser, pages[0])
    browser.close()
print(f"{passed} passed, {failed} failed")
