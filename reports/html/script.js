// What the page does beyond being read: the timeline's readout, sorting, the filter, the tree of layers.
// All numbers come from the page's own tables; the script adds no text of the model's but as textContent.
"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  function size(mib) {
    const steps = [[1024 * 1024, "TiB"], [1024, "GiB"], [1, "MiB"], [1 / 1024, "KiB"]];
    for (const [unit, name] of steps)
      if (mib >= unit) return (mib / unit).toFixed(2) + " " + name;
    return Math.round(mib * 1048576) + " B";
  }

  // Timeline: the table below the picture says what is allocated in each column.
  function timeline() {
    const svg = byId("tl"), table = byId("tlt"), range = byId("at");
    if (!svg || !table) return;
    const names = all("thead th", table).map((th) => th.textContent);
    const rows = all("tbody tr", table), cursor = svg.querySelector(".cur");
    const peak = rows.findIndex((row) => row.className === "peak");
    function show(at) {
      const cells = Array.from(rows[at].cells).map((td) => td.textContent);
      const total = parseFloat(cells[3]), x = ((at + 0.5) / rows.length) * 100 + "%";
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.classList.add("on");
      byId("rd-h").textContent = at === peak ? "At the peak" : "At instant " + cells[0];
      byId("rd-t").textContent = size(total);
      byId("rd-w").textContent = cells[1] + ", " + cells[2];
      for (const td of all("[data-c]", byId("rd"))) {
        const mib = parseFloat(cells[names.indexOf(td.dataset.c)]) || 0;
        td.textContent = size(mib);
        td.nextElementSibling.textContent = (total ? (mib / total) * 100 : 0).toFixed(1) + " %";
      }
      range.value = at;
      range.setAttribute("aria-valuetext", cells[1] + ", " + cells[2] + ", " + size(total));
    }
    function move(event) {
      const box = svg.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * rows.length);
      show(Math.max(0, Math.min(rows.length - 1, at)));
    }
    function toPeak() {
      show(peak < 0 ? 0 : peak);
      cursor.classList.remove("on");
    }
    byId("scrub").hidden = false;
    range.value = Math.max(0, peak);
    range.addEventListener("input", () => show(Number(range.value)));
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") toPeak(); });
    byId("topeak").addEventListener("click", toPeak);
    document.addEventListener("keydown", (event) => {
      if (event.target.tagName === "INPUT" && event.target.type === "search") return;
      if (event.key === "0") toPeak();
    });
    range.setAttribute("aria-valuetext", "the peak");
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
        const key = (row) => number ? Number(row.cells[column].dataset.b || row.cells[column].dataset.v) : row.cells[column].textContent;
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
      let shown = 0, inTail = false;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        shown += !row.hidden;
        inTail = inTail || (!row.hidden && row.closest("#tail") !== null);
      });
      byId("qn").textContent = words.length ? shown + " of " + rows.length + " rows" : "";
      if (words.length && inTail) byId("tail").open = true;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && event.target !== input) {
        event.preventDefault();
        input.focus();
      }
    });
  }

  // Layers: rows with rows below them fold; deep trees begin folded.
  function tree() {
    const table = byId("lay");
    if (!table) return;
    const rows = Array.from(table.tBodies[0].rows), depth = rows.map((row) => Number(row.dataset.d)), open = [];
    function update() {
      let hidden = Infinity;
      rows.forEach((row, i) => {
        if (depth[i] <= hidden) hidden = Infinity;
        row.hidden = depth[i] > hidden;
        if (!row.hidden && open[i] === false) hidden = depth[i];
      });
    }
    let level = 1;
    for (let d = 1; d < 12; d++)
      if (depth.filter((x) => x <= d).length <= 40) level = d;
    rows.forEach((row, i) => {
      if (!(depth[i + 1] > depth[i])) return;
      const button = document.createElement("button");
      open[i] = depth[i] < level;
      button.type = "button";
      button.setAttribute("aria-expanded", open[i]);
      button.setAttribute("aria-label", "Show what is in " + row.cells[0].textContent);
      row.cells[0].prepend(button);
      button.addEventListener("click", () => {
        open[i] = !open[i];
        button.setAttribute("aria-expanded", open[i]);
        update();
      });
    });
    update();
  }

  for (const td of all("td[data-b]"))
    td.title = Number(td.dataset.b).toLocaleString("en") + " bytes";
  timeline();
  all("table.live").forEach(sortable);
  filter();
  tree();
  addEventListener("beforeprint", () => all("details").forEach((d) => { if (!d.closest("td,th")) d.open = true; }));
})();
