// What the page does beyond being read: the timeline's readout and zoom, sorting, the filter, the tree of layers.
// All numbers come from the page's own tables; the script adds no text of the model's but as textContent.
"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const cells = (row) => Array.from(row.cells, (cell) => cell.textContent);

  function size(mib) {
    const steps = [[1024 * 1024, "TiB"], [1024, "GiB"], [1, "MiB"], [1 / 1024, "KiB"]];
    for (const [unit, name] of steps)
      if (mib >= unit) return (mib / unit).toFixed(2) + " " + name;
    return Math.round(mib * 1048576) + " B";
  }

  // Keys that belong to a field that is being typed into are not the page's.
  function onKey(key, action) {
    document.addEventListener("keydown", (event) => {
      const typing = event.target.tagName === "INPUT" && event.target.type === "search";
      if (event.key !== key || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
  }

  // Timeline: the tables below the picture say what is allocated in each column, and by what.
  function timeline() {
    const svg = byId("tl"), table = byId("tlt"), range = byId("at");
    if (!svg || !table) return;
    const names = all("thead th", table).map((th) => th.textContent);
    const body = Array.from(table.tBodies[0].rows), rows = body.map(cells), count = rows.length;
    const peak = Math.max(0, body.findIndex((row) => row.className === "peak"));
    const cursor = svg.querySelector(".cur"), areas = svg.querySelector(".areas"), list = byId("rd-l");
    const spans = byId("spans") ? Array.from(byId("spans").tBodies[0].rows, (row) => {
      const [name, kind, mib, from, to] = cells(row);
      return { name, kind, mib: parseFloat(mib), from: Number(from), to: Number(to) };
    }) : [];
    const written = Array.from(list.childNodes, (node) => node.cloneNode(true));
    const most = list.children.length - 1;
    let first = 0, wide = count, now = peak;

    function entry(kind, name, mib) {
      const li = document.createElement("li"), label = document.createElement("span"), bytes = document.createElement("b");
      if (kind) {
        const swatch = document.createElement("span");
        swatch.className = "sw s-" + kind;
        li.append(swatch);
      }
      label.className = "nm";
      label.textContent = name;
      bytes.textContent = size(mib);
      li.append(label, bytes);
      return li;
    }

    function show(at) {
      const row = rows[at], total = parseFloat(row[3]), instant = Number(row[0]);
      now = at;
      byId("rd-h").textContent = at === peak ? "At the peak" : "At instant " + row[0];
      byId("rd-t").textContent = size(total);
      byId("rd-w").textContent = row[1] + ", " + row[2];
      for (const td of all("[data-c]", byId("rd"))) {
        const mib = parseFloat(row[names.indexOf(td.dataset.c)]) || 0;
        td.textContent = size(mib);
        td.nextElementSibling.textContent = (total ? (mib / total) * 100 : 0).toFixed(1) + " %";
      }
      if (at === peak) {
        list.replaceChildren(...written.map((node) => node.cloneNode(true)));
      } else {
        const alive = spans.filter((s) => s.from <= instant && instant <= s.to).slice(0, most);
        const rest = alive.reduce((sum, s) => sum - s.mib, total);
        list.replaceChildren(...alive.map((s) => entry(s.kind, s.name, s.mib)), entry("", "all others", Math.max(0, rest)));
      }
      range.value = at;
      range.setAttribute("aria-valuetext", row[1] + ", " + row[2] + ", " + size(total));
      place();
    }

    // Where a column stands in the part that is shown.
    function x(column) {
      return ((column - first) / wide) * 100;
    }
    function place() {
      const at = x(now + 0.5) + "%";
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
      cursor.classList.toggle("on", now !== peak || wide < count);
    }
    function zoom(factor) {
      wide = Math.min(count, Math.max(Math.min(20, count), Math.round(wide * factor)));
      first = Math.min(count - wide, Math.max(0, Math.round(now + 0.5 - wide / 2)));
      areas.setAttribute("viewBox", first + " 0 " + wide + " 1000");
      for (const mark of all("[data-x]", svg)) {
        const from = Number(mark.dataset.x), broad = Number(mark.dataset.w || 0), end = Math.min(from + broad, first + wide);
        const begin = broad || mark.tagName === "text" && mark.classList.contains("phn") ? Math.max(from, first) : from;
        const out = broad ? end <= begin : begin < first || begin >= first + wide;
        mark.classList.toggle("out", out);
        for (const name of ["x", "x1", "x2", "cx"])
          if (mark.hasAttribute(name)) mark.setAttribute(name, x(begin) + "%");
        if (broad) mark.setAttribute("width", Math.max(0, (end - begin) / wide) * 100 + "%");
      }
      byId("zall").disabled = wide === count;
      byId("zsaid").textContent = wide === count ? "" : "columns " + (first + 1) + " to " + (first + wide) + " of " + count;
      place();
    }
    function move(event) {
      const box = svg.getBoundingClientRect();
      const at = first + Math.floor(((event.clientX - box.left) / box.width) * wide);
      show(Math.max(0, Math.min(count - 1, at)));
    }
    function toPeak() {
      show(peak);
      if (wide < count) zoom(1);
    }
    byId("scrub").hidden = false;
    range.value = peak;
    range.setAttribute("aria-valuetext", "the peak");
    range.addEventListener("input", () => {
      show(Number(range.value));
      if (now < first || now >= first + wide) zoom(1);
    });
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("dblclick", () => zoom(0.5));
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && wide === count) show(peak); });
    byId("topeak").addEventListener("click", toPeak);
    byId("zin").addEventListener("click", () => zoom(0.5));
    byId("zout").addEventListener("click", () => zoom(2));
    byId("zall").addEventListener("click", () => zoom(count));
    onKey("0", toPeak);
    onKey("+", () => zoom(0.5));
    onKey("-", () => zoom(2));
    zoom(1);
  }

  // Sorting: a header becomes a button; the first press sorts numbers downwards and texts upwards.
  function sortable(table) {
    all("thead th[data-sort]", table).forEach((th) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      th.replaceChildren(button);
      button.addEventListener("click", () => {
        const number = th.dataset.sort === "n", body = table.tBodies[0], column = th.cellIndex;
        const was = th.getAttribute("aria-sort");
        const up = was ? was === "descending" : !number;
        all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (cell) => Number(cell.dataset.b || cell.dataset.v || cell.textContent);
        const key = (row) => number ? value(row.cells[column]) : row.cells[column].textContent;
        const sorted = Array.from(body.rows).map((row) => [key(row), row]);
        sorted.sort((a, b) => (number ? a[0] - b[0] : a[0].localeCompare(b[0], "en", { numeric: true })) * (up ? 1 : -1));
        body.append(...sorted.map((pair) => pair[1]));
      });
    });
  }

  function filter() {
    const input = byId("q"), tables = all("table.live");
    if (!input) return;
    byId("tools").hidden = false;
    const rows = tables.flatMap((table) => Array.from(table.tBodies[0].rows));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0, mib = 0, inTail = false;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        if (row.hidden) return;
        shown++;
        mib += Number(row.cells[1].dataset.b) / 1048576;
        inTail = inTail || row.closest("#tail") !== null;
      });
      byId("qn").textContent = words.length ? shown + " of " + rows.length + " rows, " + size(mib) : "";
      if (words.length && inTail) byId("tail").open = true;
    });
    onKey("/", () => input.focus());
  }

  // Layers: rows with rows below them fold; deep trees begin folded.
  function tree() {
    const table = byId("lay");
    if (!table) return;
    const rows = Array.from(table.tBodies[0].rows), depth = rows.map((row) => Number(row.dataset.d));
    const open = [], buttons = [];
    function update() {
      let hidden = Infinity;
      rows.forEach((row, i) => {
        if (depth[i] <= hidden) hidden = Infinity;
        row.hidden = depth[i] > hidden;
        if (!row.hidden && open[i] === false) hidden = depth[i];
      });
      buttons.forEach((button, i) => button.setAttribute("aria-expanded", open[i]));
    }
    let level = 1;
    for (let d = 1; d < 12; d++)
      if (depth.filter((x) => x <= d).length <= 40) level = d;
    rows.forEach((row, i) => {
      if (!(depth[i + 1] > depth[i])) return;
      const button = buttons[i] = document.createElement("button");
      open[i] = depth[i] < level;
      button.type = "button";
      button.setAttribute("aria-label", "Show what is in " + row.cells[0].textContent);
      row.cells[0].prepend(button);
      button.addEventListener("click", () => {
        open[i] = !open[i];
        update();
      });
    });
    function every(value) {
      buttons.forEach((button, i) => { open[i] = value; });
      update();
    }
    // Figures as written, bytes exact, one line a row of the page; a module's path is that of the rows above it.
    function tsv() {
      const path = [], lines = [all("thead th", table).map((th) => th.textContent.replace("MiB", "bytes")).join("\t")];
      rows.forEach((row, i) => {
        path.length = depth[i];
        const own = Array.from(row.cells[0].childNodes).filter((n) => n.tagName === "CODE" || n.tagName === "B");
        path[depth[i]] = own.map((n) => n.textContent).join("");
        const name = depth[i] ? path.slice(1).join(".") : path[0];
        const figures = Array.from(row.cells).slice(1).filter((td) => !td.classList.contains("b"));
        lines.push([name, ...figures.map((td) => td.dataset.b || td.textContent.replace(/,/g, ""))].join("\t"));
      });
      return lines.join("\n") + "\n";
    }
    function copy() {
      const text = tsv(), said = byId("laysaid"), area = document.createElement("textarea");
      area.value = text;
      area.setAttribute("aria-label", "The layers as TSV");
      byId("laytools").append(area);
      area.select();
      const done = document.execCommand("copy"); // also where a page from file:// has no clipboard
      if (done) area.remove();
      said.textContent = done ? rows.length + " lines copied" : "press Ctrl+C to copy";
      if (done) byId("laytsv").focus();
    }
    byId("laytools").hidden = false;
    byId("layopen").addEventListener("click", () => every(true));
    byId("layclose").addEventListener("click", () => every(false));
    byId("laytsv").addEventListener("click", copy);
    update();
  }

  for (const td of all("td[data-b]"))
    td.title = Number(td.dataset.b).toLocaleString("en") + " bytes";
  timeline();
  all("table.sort").forEach(sortable);
  filter();
  tree();
  addEventListener("beforeprint", () => all("details").forEach((d) => { if (!d.closest("td,th")) d.open = true; }));
})();
