// What the page does beyond being read: the timeline's readout, pin and zoom, sorting, the filter, the tree of layers,
// copies. What was pinned, zoomed and searched stands behind the address, so that a link shows it again.
// All numbers come from the JSON at the page's end; the script adds no text of the model's but as textContent.
"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  // Tables are lists, the first row the columns' names: what a name's place is, and the rows.
  const data = JSON.parse(byId("data").textContent);
  function table(name) {
    const [head, ...rows] = data[name], at = {};
    head.forEach((column, i) => { at[column] = i; });
    return { head, rows, at };
  }
  const make = (name, css, text, parent) => {
    const made = document.createElement(name);
    if (css) made.className = css;
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  const draw = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const attribute in attributes) made.setAttribute(attribute, attributes[attribute]);
    parent.append(made);
    return made;
  };

  function size(bytes) {
    const steps = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
    for (const [unit, name] of steps)
      if (bytes >= unit) return (bytes / unit).toFixed(2) + " " + name;
    return Math.round(bytes) + " B";
  }
  function mebibytes(row, bytes, digits) {
    const cell = row.insertCell();
    cell.textContent = (bytes / 2 ** 20).toFixed(digits);
    cell.dataset.b = bytes;
    return cell;
  }
  // A text whose names in backquotes are code.
  const marked = (text, parent) => text.split("`").forEach((part, i) => {
    if (part) parent.append(i % 2 ? make("code", "", part) : part);
  });

  // "#at=12&from=0&wide=40&q=mlp": what a link to the page shows; other fragments are places of the page.
  const shows = () => /^#\w+=/.test(location.hash), state = new URLSearchParams(shows() ? location.hash.slice(1) : "");
  function keep(name, value) {
    if (value === null || value === "") state.delete(name);
    else state.set(name, value);
    const text = state.toString();
    if (!text && !shows()) return;
    try {
      history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
    } catch {
      // a page in a sandbox has no address of its own
    }
  }

  // Copies text, also where a page from a file has no clipboard; where neither works the text is left to be copied.
  function copyText(text, label, place, said, focus, done) {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-label", label);
    place.append(area);
    area.select();
    const copied = document.execCommand("copy");
    if (copied) area.remove();
    said.textContent = copied ? done : "press Ctrl+C to copy";
    if (copied) focus.focus();
  }

  function copies() {
    all("pre:not(.rows)").forEach((pre, i) => {
      const bar = document.createElement("p"), button = document.createElement("button");
      const said = document.createElement("span");
      bar.className = "copy";
      button.type = "button";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy this program, " + (i + 1));
      said.setAttribute("role", "status");
      bar.append(button, said);
      pre.before(bar);
      button.addEventListener("click", () =>
        copyText(pre.textContent.trimEnd() + "\n", "The program", bar, said, button, "copied"));
    });
  }

  // Keys that belong to a field that is being typed into are not the page's.
  function onKey(key, action, nowhere) { // nowhere: only where nothing has the focus
    document.addEventListener("keydown", (event) => {
      const typing = nowhere ? event.target !== document.body
        : event.target.tagName === "INPUT" && event.target.type === "search";
      if (event.key !== key || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
  }

  // The table of a region is made when its details are opened: bytes in MiB, exact under the pointer.
  function opened(id, name, columns, isBytes, peak) {
    const region = byId(id), { rows, at } = table(name), sorts = peak === undefined;
    if (!region) return;
    region.closest("details").addEventListener("toggle", () => {
      const made = make("table", "", undefined), caption = make("caption", "vh", region.getAttribute("aria-label"));
      const head = made.createTHead().insertRow(), body = made.createTBody();
      made.prepend(caption);
      for (const column of columns) {
        const number = typeof rows[0][at[column]] === "number", th = make("th", number ? "r" : "", undefined, head);
        th.scope = "col";
        th.textContent = column === "bytes" ? "MiB" : column[0].toUpperCase() + column.slice(1);
        if (sorts) th.dataset.sort = number ? "n" : "s";
      }
      rows.forEach((row, k) => {
        const line = body.insertRow();
        if (k === peak) line.className = "peak";
        columns.forEach((column, i) => {
          const value = row[at[column]];
          if (isBytes(column)) mebibytes(line, value, value ? data.digits + 1 : 0);
          else make("td", head.cells[i].className, value, line);
        });
      });
      region.replaceChildren(made);
      if (sorts) sortable(made);
    }, { once: true });
  }

  // The whole step below the timeline, and in it the part that the timeline shows: its middle is dragged, and its ends;
  // a drag elsewhere chooses another part. The function that is returned draws the part.
  function overview(svg, areas, count, timeline) {
    const high = 34, least = Math.min(20, count), box = make("div", "mini");
    box.tabIndex = 0;
    for (const [name, value] of [["role", "slider"], ["aria-label", "The part of the step that is shown"],
      ["aria-valuemin", 1], ["aria-valuemax", count],
      ["aria-keyshortcuts", "ArrowLeft ArrowRight Home End + - Escape"]])
      box.setAttribute(name, value);
    box.title = "The whole step. Drag to choose what is shown above; arrows move it, + and − zoom, Escape shows all.";
    const picture = draw("svg", { width: "100%", height: high, "aria-hidden": true }, box);
    const bands = draw("svg", { width: "100%", height: high, viewBox: "0 0 " + count + " 1000",
      preserveAspectRatio: "none" }, picture);
    for (const path of all(":scope > path", areas)) bands.append(path.cloneNode());
    const shades = [0, 1].map(() => draw("rect", { class: "shade", y: 0, height: high }, picture));
    const part = draw("rect", { class: "part", y: 0.75, height: high - 1.5 }, picture);
    const grip = { class: "grip", y: high / 2 - 8, width: 5, height: 16, rx: 2 };
    const grips = [0, 1].map(() => draw("rect", grip, picture));
    svg.after(box);
    let now = { first: 0, wide: count }, drag = null;

    function show(first, wide) {
      const from = (first / count) * 100, to = ((first + wide) / count) * 100;
      const lie = (rect, begin, end) => {
        rect.setAttribute("x", begin + "%");
        rect.setAttribute("width", end - begin + "%");
      };
      now = { first, wide };
      lie(shades[0], 0, from);
      lie(shades[1], to, 100);
      lie(part, from, to);
      [from, to].forEach((at, i) => {
        grips[i].setAttribute("x", at + "%");
        grips[i].setAttribute("transform", "translate(" + (i ? -5 : 0) + ")");
      });
      box.classList.toggle("all", wide === count);
      box.setAttribute("aria-valuenow", first + 1);
      box.setAttribute("aria-valuetext", wide === count ? "the whole step"
        : "columns " + (first + 1) + " to " + (first + wide) + " of " + count);
    }
    function columnOf(event) {
      const at = box.getBoundingClientRect();
      return Math.max(0, Math.min(count, ((event.clientX - at.left) / at.width) * count));
    }
    // What a press at a column takes hold of: an end of the part, its middle, or nothing, which is an end of a new one.
    function hold(at, near) {
      const { first, wide } = now, end = first + wide;
      if (wide < count && Math.abs(at - first) < near) return { still: end };
      if (wide < count && Math.abs(at - end) < near) return { still: first };
      return wide < count && at > first && at < end ? { by: at - first } : { still: at, fresh: true };
    }
    function pull(at) {
      if ("by" in drag) timeline.view(Math.round(at - drag.by), now.wide);
      else if (!drag.fresh || Math.abs(at - drag.still) > 2) {
        const from = Math.round(Math.min(at, drag.still));
        const broad = Math.max(least, Math.round(Math.abs(at - drag.still)));
        timeline.view(at < drag.still ? Math.max(0, Math.round(drag.still) - broad) : from, broad);
        drag.moved = true;
      }
    }
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = hold(columnOf(event), (9 / box.clientWidth) * count);
      box.setPointerCapture(event.pointerId);
      box.focus({ preventScroll: true });
      event.preventDefault();
    });
    box.addEventListener("pointermove", (event) => { if (drag) pull(columnOf(event)); });
    box.addEventListener("pointerup", (event) => { // a click moves the part there
      if (drag && drag.fresh && !drag.moved) timeline.view(Math.round(columnOf(event) - now.wide / 2), now.wide);
      drag = null;
    });
    box.addEventListener("pointercancel", () => { drag = null; });
    box.addEventListener("keydown", (event) => {
      const { first, wide } = now, step = Math.max(1, Math.round(wide / 10));
      const to = { ArrowLeft: first - step, ArrowDown: first - step, ArrowRight: first + step, ArrowUp: first + step,
        PageUp: first - wide, PageDown: first + wide, Home: 0, End: count }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && wide < count) timeline.view(0, count);
      else if (to !== undefined) timeline.view(to, wide);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return show;
  }

  // Timeline: the data say what is allocated in each column, and by what.
  function timeline() {
    const svg = byId("tl"), range = byId("at"), { head: names, rows } = table("timeline");
    if (!svg) return null;
    const count = rows.length, peak = data.peak;
    const cursor = svg.querySelector(".cur"), areas = svg.querySelector(".areas"), list = byId("rd-l");
    const spans = table("spans").rows.map(([kind, bytes, from, to, name]) => ({ name, kind, bytes, from, to }));
    const written = Array.from(list.childNodes, (node) => node.cloneNode(true));
    const most = list.children.length - 1;
    const frame = ["y", "height"].map((name) => Number(areas.getAttribute(name)));
    const levels = all(":scope > line.g, :scope > text.halo, :scope > text[class*=on-]", svg).map((mark) => {
      const names = mark.tagName === "line" ? ["y1", "y2"] : ["y"], shift = mark.classList.contains("tk") ? 5 : 0;
      return { mark, names, shift, share: 1 - (Number(mark.getAttribute(names[0])) + shift - frame[0]) / frame[1] };
    });
    let first = 0, wide = count, now = peak, pinned = false, from = null;
    const mini = overview(svg, areas, count, { view: (begin, broad) => view(begin, broad) });

    function short(name) { // as the page has it
      name = name.length > 24 ? name.replace(/ \(.*/, "") : name;
      while (name.length > 24 && /^[^. ]*\..*\./.test(name)) name = name.replace(/^[^.]*\./, "");
      return name;
    }
    function entry(kind, name, bytes) {
      const li = make("li");
      if (kind) make("span", "sw s-" + kind, undefined, li);
      make("span", "nm", short(name), li);
      make("b", "", size(bytes), li);
      return li;
    }

    function show(at) {
      const row = rows[at], total = row[3], instant = row[0];
      now = at;
      byId("rd-h").textContent = at === peak ? "At the peak" : "At instant " + row[0];
      byId("rd-t").textContent = size(total);
      byId("rd-w").textContent = row[1] + ", " + row[2];
      for (const td of all("[data-c]", byId("rd"))) {
        const bytes = row[names.indexOf(td.dataset.c)] || 0;
        td.textContent = size(bytes);
        td.nextElementSibling.textContent = (total ? (bytes / total) * 100 : 0).toFixed(1) + " %";
      }
      if (at === peak) {
        list.replaceChildren(...written.map((node) => node.cloneNode(true)));
      } else {
        const alive = spans.filter((s) => s.from <= instant && instant <= s.to).slice(0, most);
        const rest = alive.reduce((sum, s) => sum - s.bytes, total);
        list.replaceChildren(...alive.map((s) => entry(s.kind, s.name, s.bytes)),
          entry("", "all others", Math.max(0, rest)));
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
      cursor.classList.toggle("on", pinned || now !== peak || wide < count);
      cursor.classList.toggle("pin", pinned);
    }
    function zoom(factor) {
      const least = Math.min(20, count), broad = Math.min(count, Math.max(least, Math.round(wide * factor)));
      view(Math.round(now + 0.5 - broad / 2), broad);
    }
    function view(begin, broad) {
      wide = Math.min(count, Math.max(1, broad));
      first = Math.min(count - wide, Math.max(0, begin));
      keep("from", wide < count ? first : null);
      keep("wide", wide < count ? wide : null);
      // As high as what is shown: bytes from zero on.
      const tall = Math.max(...rows.slice(first, first + wide).map((row) => row[3])) / rows[peak][3];
      const part = wide === count || !(tall > 0) ? 1 : Math.min(1, tall);
      areas.setAttribute("viewBox", first + " " + 1000 * (1 - part) + " " + wide + " " + 1000 * part);
      for (const { mark, names, shift, share } of levels) {
        for (const name of names) mark.setAttribute(name, frame[0] + frame[1] * (1 - share / part) - shift);
        mark.classList.toggle("high", share / part > 1.001);
      }
      const room = wide < count ? svg.clientWidth : 0; // asked for, it lays the page out
      for (const mark of all("[data-x]", svg)) {
        const from = Number(mark.dataset.x), broad = Number(mark.dataset.w || 0);
        const end = Math.min(from + broad, first + wide);
        const name = mark.dataset.end, begin = broad || name ? Math.max(from, first) : from; // a phase's
        const out = broad ? end <= begin : begin < first || begin >= first + wide ||
          (Boolean(name) && wide < count &&
            (Math.min(Number(name), first + wide) - begin) / wide * room < 8 * mark.textContent.length);
        mark.classList.toggle("out", out);
        for (const name of ["x", "x1", "x2", "cx"])
          if (mark.hasAttribute(name)) mark.setAttribute(name, x(begin) + "%");
        if (/\bpk[12]\b/.test(mark.getAttribute("class"))) { // beside the peak, on the side with more room
          mark.setAttribute("text-anchor", x(begin) > 50 ? "end" : "start");
          mark.setAttribute("dx", x(begin) > 50 ? -9 : 9);
        }
        if (broad) mark.setAttribute("width", Math.max(0, (end - begin) / wide) * 100 + "%");
      }
      byId("zall").disabled = wide === count;
      byId("zsaid").textContent = wide === count ? ""
        : "columns " + (first + 1) + " to " + (first + wide) + " of " + count;
      mini(first, wide);
      place();
    }
    function columnOf(event) {
      const box = svg.getBoundingClientRect();
      const at = first + Math.floor(((event.clientX - box.left) / box.width) * wide);
      return Math.max(0, Math.min(count - 1, at));
    }
    function pin(at) {
      pinned = at !== null;
      if (pinned) show(at);
      byId("zpin").textContent = pinned ? "pinned at instant " + rows[now][0] : "";
      keep("at", pinned ? now : null);
      place();
    }
    // A tensor's life: its birth is pinned. null: none.
    const life = draw("rect", { class: "life out", x: 0, y: frame[0], height: frame[1] }, svg);
    function live(born, dies) {
      const find = (test) => rows.findIndex((row) => test(row[0]));
      const from = born === null ? -1 : find((at) => at >= born), end = find((at) => at > dies);
      life.dataset.x = from < 0 ? -1 : from;
      life.dataset.w = from < 0 ? 0 : Math.max(1, (end < 0 ? count : end) - from);
      pin(from < 0 ? null : from);
      if (from < 0) show(peak);
      view(first, wide);
    }
    // A drag zooms to what it went over; a click pins an instant, and another one there lets it go.
    const drag = draw("rect", { class: "drag out", y: frame[0], height: frame[1] }, svg);
    function move(event) {
      const at = columnOf(event);
      if (from !== null && at !== from) {
        drag.classList.remove("out");
        drag.setAttribute("x", x(Math.min(at, from)) + "%");
        drag.setAttribute("width", ((Math.abs(at - from) + 1) / wide) * 100 + "%");
      }
      if (!pinned) show(at);
    }
    function press(event) {
      if (event.pointerType === "touch" || event.button !== 0) return;
      from = columnOf(event);
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    }
    function release(event) {
      const at = columnOf(event), begin = from;
      drag.classList.add("out");
      from = null;
      if (begin !== null && Math.abs(at - begin) >= 3) view(Math.min(at, begin), Math.abs(at - begin) + 1);
      else if (begin !== null || event.pointerType === "touch") pin(pinned && at === now ? null : at);
    }
    function toPeak() {
      pin(null);
      show(peak);
      if (wide < count) zoom(1);
    }
    byId("scrub").hidden = false;
    range.value = peak;
    range.setAttribute("aria-valuetext", "the peak");
    range.addEventListener("input", () => {
      pin(Number(range.value));
      if (now < first || now >= first + wide) zoom(1);
    });
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", press);
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", () => { from = null; drag.classList.add("out"); });
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && wide === count && !pinned) show(peak);
    });
    svg.addEventListener("wheel", (event) => { // and two fingers on a touch pad
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = columnOf(event), by = event.deltaY < 0 ? 0.8 : 1.25;
      const broad = Math.min(count, Math.max(20, Math.round(wide * by)));
      view(Math.round(at - (at - first) * broad / wide), broad);
    }, { passive: false });
    byId("topeak").addEventListener("click", toPeak);
    byId("zin").addEventListener("click", () => zoom(0.5));
    byId("zout").addEventListener("click", () => zoom(2));
    byId("zall").addEventListener("click", () => zoom(count));
    onKey("0", toPeak);
    onKey("+", () => zoom(0.5));
    onKey("-", () => zoom(2));
    onKey("Escape", () => pinned ? pin(null) : view(0, count));
    for (const [key, way] of [["ArrowLeft", -1], ["ArrowRight", 1]])
      onKey(key, () => { if (wide < count) view(first + way * Math.max(1, Math.round(wide / 10)), wide); }, true);
    const column = (name, other) => {
      const n = Number(state.get(name) ?? other);
      return Number.isInteger(n) && n >= 0 && n < count + 1 ? n : other;
    };
    const at = column("at", -1), begin = column("from", 0);
    if (at >= 0 && at < count) pin(at);
    view(begin, column("wide", count));
    return live;
  }

  // The tensors alive at the peak. The largest have rows in the page; the others' are made when they are asked for.
  function tensors() {
    const { head, rows } = table("tensors"), tail = byId("tail"), tables = all("table.live");
    const list = rows.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i]])));
    const trs = tables.flatMap((made) => Array.from(made.tBodies[0].rows)), written = trs.length;
    list.forEach((tensor, g) => { tensor.g = g; });

    function name(cell, tensor) {
      if (tensor.count === 1) return make("code", "", tensor.tensor, cell);
      const details = make("details", "", undefined, cell), summary = make("summary", "", undefined, details);
      make("code", "", tensor.tensor, summary);
      summary.append(" ×\u00a0" + tensor.count);
      const names = make("ul", "", undefined, details);
      for (const member of tensor.members) make("li", "", member, names);
    }
    function row(tensor, body) {
      const tr = body.insertRow(), th = make("th", "", undefined, tr);
      tr.dataset.g = tensor.g;
      th.scope = "row";
      name(th, tensor);
      mebibytes(tr, tensor.bytes, data.digits);
      tr.insertCell();
      const kind = tr.insertCell(), type = tr.insertCell(), why = tr.insertCell(), line = tr.insertCell();
      make("span", "sw s-" + tensor.class, undefined, kind);
      kind.append(tensor.class);
      type.className = "sh";
      type.textContent = tensor.type;
      if (tensor.slack) make("small", "", size(tensor.slack) + " of it slack", type);
      marked(tensor.why, why);
      if (tensor.since) make("small", "", "since " + tensor.since, why);
      if (tensor.line) make("code", "", tensor.line, line);
      if (tensor.more_lines) make("small", "", "and other lines", line);
      return tr;
    }
    const made = [];
    function ready(tr) {
      for (const action of made) action(tr, list[tr.dataset.g]);
    }
    function fill() { // once
      if (!tail || tail.dataset.filled) return;
      tail.dataset.filled = "yes";
      const body = tail.querySelector("tbody");
      for (const tensor of list.slice(written)) trs.push(row(tensor, body));
      trs.filter((tr) => tail.contains(tr)).forEach(ready);
    }
    if (tail) tail.addEventListener("toggle", fill, { once: true });
    // What is done with every row: at once with those that are seen, with others when they are.
    function each(action) {
      made.push(action);
      for (const tr of trs) if (!tail || tail.dataset.filled || !tail.contains(tr)) action(tr, list[tr.dataset.g]);
    }
    return { list, trs, tail, fill, each };
  }

  // The card of a row, or of a box of the treemap: all that the page knows of a tensor, its life on the timeline.
  function cards(live, { list, each }) {
    if (!list.length || !live) return;
    const [card, title, fields, bar, to, close] = ["div", "h3", "dl", "p", "button", "button"]
      .map((name) => make(name));
    const total = data.instants, exact = (bytes) => Number(bytes).toLocaleString("en");
    let opener = null;
    card.id = "card";
    card.hidden = true;
    card.setAttribute("role", "dialog");
    card.setAttribute("aria-labelledby", "card-t");
    title.id = "card-t";
    title.tabIndex = -1;
    to.textContent = "To the timeline";
    close.textContent = "Close";
    to.type = close.type = "button";
    bar.append(to, close);
    card.append(title, fields, bar);
    byId("main").append(card);

    function field(name, text) {
      if (!text) return;
      make("dt", "", name, fields);
      make("dd", "", text, fields);
    }
    function life(from, to, several) {
      const span = from === 1 && to === total ? "the whole step"
        : (from === 1 ? "from the start of the step" : "from instant " + exact(from)) + " to " +
          (to === total ? "its end" : "instant " + exact(to) + " of " + exact(total));
      return several ? span + ", the first to the last of them" : span;
    }
    // A box has figures of its own where its row has several tensors.
    const figures = (tensor, box) => box && box.dataset.bytes
      ? { bytes: Number(box.dataset.bytes), from: Number(box.dataset.from), to: Number(box.dataset.to) } : tensor;
    function show(tensor, box) {
      const n = box ? 1 : tensor.count, { bytes, from, to } = figures(tensor, box);
      title.textContent = box ? box.querySelector("title").textContent.replace(/, [^,]*, [^,]*$/, "")
        : tensor.tensor + (n > 1 ? " ×\u00a0" + n : "");
      fields.replaceChildren();
      field("Bytes", exact(bytes) + " (" + size(bytes) + ")" + (n > 1 ? ", " + n + " tensors together" : ""));
      field("Class", tensor.class);
      field("Type and shape", tensor.type);
      if (n === tensor.count && tensor.slack) field("Of it slack", size(tensor.slack));
      field("Module", tensor.module);
      field("Line", tensor.line + (tensor.more_lines ? " and other lines" : ""));
      field("Made in", tensor.since);
      field("Alive", life(from, to, n > 1));
      field("Why", tensor.why.replace(/`/g, ""));
    }
    function mark(at) { // the boxes of the row whose card is open
      all(".map rect[data-g]").forEach((box) => box.classList.toggle("sel", box.dataset.g === at));
    }
    function open(tensor, box) {
      const { from, to } = figures(tensor, box);
      opener = box || document.activeElement;
      show(tensor, box);
      card.hidden = false;
      mark(String(tensor.g));
      keep("card", tensor.g);
      live(from, to);
      title.focus({ preventScroll: true });
    }
    function shut() {
      if (card.hidden) return;
      card.hidden = true;
      mark(null);
      keep("card", null);
      live(null);
      if (opener && opener.focus) opener.focus({ preventScroll: true });
    }
    each((tr, tensor) => {
      const button = make("button", "more");
      button.type = "button";
      button.setAttribute("aria-label", "Card of " + tensor.tensor);
      button.addEventListener("click", () => open(tensor));
      tr.cells[0].prepend(button); // it floats
    });
    for (const map of all(".map"))
      map.addEventListener("click", (event) => {
        const box = event.target.closest("rect[data-g]");
        if (box) open(list[box.dataset.g], box);
      });
    to.addEventListener("click", () => byId("timeline").scrollIntoView());
    close.addEventListener("click", shut);
    onKey("Escape", shut);
    if (list[state.get("card")]) open(list[state.get("card")]);
  }

  // The treemap: a module's box fills the picture, where it is chosen or its heading is clicked.
  function treemap() {
    const choice = byId("mapof"), names = all("#clusters tbody tr");
    const maps = all(".map .wide, .map .narrow").map((svg) => ({ svg, high: parseFloat(svg.getAttribute("height")),
      groups: all("g[data-m]", svg), boxes: all("rect", svg).map((box) => ({ box,
        at: ["x", "y", "width", "height"].map((name) => parseFloat(box.getAttribute(name))) })) }));
    if (!choice || !names.length) return;
    byId("maptools").hidden = false;
    for (const row of names) { // before the table is sorted
      const bytes = row.cells[1].dataset.b;
      choice.append(new Option(row.cells[0].textContent + ", " + size(Number(bytes))));
    }
    function name(svg, box, wide, x, y) { // the longest label that has room
      const [, whole, bytes] = box.querySelector("title").textContent.match(/^(.*), ([^,]*), [^,]*$/);
      const text = [whole, whole.replace(/ \(.*/, ""), bytes].find((text) => text.length * 7.4 + 10 < wide);
      if (!text) return;
      draw("text", { class: "zoomed " + box.getAttribute("class").replace(/^c-(\w+).*/, "on-$1"), x: x + "%", y: y + 15,
        dx: 5 }, svg).textContent = text;
    }
    function show(module) {
      keep("map", module || null);
      choice.selectedIndex = module;
      for (const { svg, high, groups, boxes } of maps) {
        const own = groups.find((group) => group.dataset.m === String(module - 1));
        const frame = own && boxes.find(({ box }) => box === own.lastElementChild).at, whole = [0, 0, 100, high];
        const head = own && own.querySelector(".mod") ? 17 : 0;
        all(".zoomed", svg).forEach((label) => label.remove());
        groups.forEach((group) => group.classList.toggle("out", Boolean(own) && group !== own));
        svg.classList.toggle("one", Boolean(own));
        for (const { box, at: [x, y, wide, tall] } of boxes) {
          const inside = own && own.contains(box), top = inside ? head : 0;
          const [left, upper, broad, deep] = inside ? frame : whole, down = high / (deep - top);
          const now = { x: (x - left) / broad * 100, y: (y - upper - top) * down, width: wide / broad * 100,
            height: tall * down };
          for (const side in now)
            box.setAttribute(side, now[side] + (side === "x" || side === "width" ? "%" : ""));
          if (inside && now.height > 18 && box.querySelector("title"))
            name(svg, box, now.width / 100 * svg.clientWidth, now.x, now.y);
        }
      }
    }
    choice.addEventListener("change", () => show(choice.selectedIndex));
    for (const { svg, groups } of maps)
      svg.addEventListener("click", (event) => {
        const group = event.target.closest(".mod") && event.target.closest("g[data-m]");
        if (group) show(Number(group.dataset.m) + 1);
      });
    onKey("Escape", () => { if (choice.selectedIndex) show(0); });
    const asked = Number(state.get("map"));
    if (asked > 0 && asked <= names.length) show(asked);
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
        const order = (a, b) => number ? a - b : a.localeCompare(b, "en", { numeric: true });
        sorted.sort((a, b) => order(a[0], b[0]) * (up ? 1 : -1));
        body.append(...sorted.map((pair) => pair[1]));
      });
    });
  }

  function filter({ list, trs, tail, fill, each }) {
    const input = byId("q"), boxes = all(".map rect[class*=c-]");
    if (!input) return;
    byId("tools").hidden = false;
    const texts = [], open = trs.filter((tr) => !tail || !tail.contains(tr)).length;
    let found = null;
    const text = (t) => texts[t.g] = texts[t.g] || [t.tensor, t.class, t.type, t.why, t.since, t.line, t.module,
      ...t.members, trs[t.g] ? trs[t.g].textContent : ""].join(" ").toLowerCase();
    each((tr, tensor) => { tr.hidden = found !== null && !found.has(tensor); });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const matches = (tensor) => words.every((word) => text(tensor).includes(word));
      found = words.length ? new Set(list.filter(matches)) : null;
      const shown = Array.from(found || []), bytes = shown.reduce((sum, tensor) => sum + tensor.bytes, 0);
      if (shown.some((tensor) => tensor.g >= open)) {
        fill();
        tail.open = true;
      }
      for (const tr of trs) tr.hidden = found !== null && !found.has(list[tr.dataset.g]);
      boxes.forEach((box) => box.classList.toggle("dim", found !== null && !found.has(list[box.dataset.g])));
      byId("qn").textContent = found ? shown.length + " of " + list.length + " rows, " + size(bytes) : "";
      keep("q", input.value);
    });
    if (state.get("q")) {
      input.value = state.get("q");
      input.dispatchEvent(new Event("input"));
    }
    onKey("/", () => input.focus());
  }

  // Layers: rows with rows below them fold; deep trees begin folded, and rows that the page lacks are made when shown.
  function tree() {
    const lay = byId("lay"), { rows: lines, at } = table("layers");
    if (!lay) return;
    const written = Array.from(lay.tBodies[0].rows), depth = lines.map((line) => line[at.depth]);
    const deepest = Math.max(...written.map((row) => Number(row.dataset.d)));
    const most = Math.max(1, ...lines.map((line) => line[at.saved]));
    const rows = depth.map((d) => d <= deepest ? written.shift() : null), open = [], buttons = [];
    const last = (path) => path.slice(path.lastIndexOf(".") + 1);

    function row(i) {
      const [d, module, to, alike, type, saved, parameters, weights, outputs, flops] = lines[i];
      const tr = make("tr"), th = make("th", "d" + Math.min(d, 12), undefined, tr);
      tr.dataset.d = d;
      th.scope = "row";
      make("code", "", d > 1 ? last(module) : module, th);
      if (alike > 1) make("b", "", " – " + to + " × " + alike, th);
      if (type && type !== last(module)) make("span", "ty", " " + type, th);
      mebibytes(tr, saved, data.digits);
      const bar = make("td", "b", undefined, tr);
      if (saved > most / 200) {
        const svg = draw("svg", { class: "bar", width: "100%", height: 12, "aria-hidden": true }, bar);
        draw("rect", { class: "c-saved", width: saved / most * 100 + "%", height: 12 }, svg);
      }
      make("td", "r", parameters.toLocaleString("en"), tr);
      mebibytes(tr, weights, data.digits);
      mebibytes(tr, outputs, data.digits);
      make("td", "r", (flops / 1e9).toFixed(2), tr);
      return tr;
    }
    function update() {
      let hidden = Infinity, before = null;
      depth.forEach((d, i) => {
        if (d <= hidden) hidden = Infinity;
        if (d <= hidden && !rows[i]) {
          rows[i] = row(i);
          before.after(rows[i]);
          folding(i);
        }
        if (!rows[i]) return;
        before = rows[i];
        before.hidden = d > hidden;
        if (buttons[i]) buttons[i].setAttribute("aria-expanded", open[i]);
        if (d <= hidden && open[i] === false) hidden = d;
      });
    }
    let level = 1;
    for (let d = 1; d < 12; d++)
      if (depth.filter((x) => x <= d).length <= 40) level = d;
    depth.forEach((d, i) => { if (depth[i + 1] > d) open[i] = d < level; });
    function folding(i) {
      if (open[i] === undefined) return;
      const button = buttons[i] = make("button");
      button.type = "button";
      button.setAttribute("aria-label", "Show what is in " + rows[i].cells[0].textContent);
      rows[i].cells[0].prepend(button);
      button.addEventListener("click", () => {
        open[i] = !open[i];
        update();
      });
    }
    function every(value) {
      open.forEach((_, i) => { open[i] = value; });
      update();
    }
    function tsv() { // figures exact, a line each
      const head = ["Module", "Saved, bytes", "Parameters", "Weights, bytes", "Outputs, bytes", "Forward FLOP"];
      const alike = (line) => line[at.alike] > 1 ? " – " + line[at.to] + " × " + line[at.alike] : "";
      const figures = ["saved", "parameters", "weights", "outputs", "flops"].map((column) => at[column]);
      const of = (line) => [line[at.module] + alike(line), ...figures.map((i) => line[i])];
      return [head, ...lines.map(of)].map((cells) => cells.join("\t")).join("\n") + "\n";
    }
    function copy() {
      copyText(tsv(), "The layers as TSV", byId("laytools"), byId("laysaid"), byId("laytsv"),
        lines.length + " lines copied");
    }
    rows.forEach((tr, i) => { if (tr) folding(i); });
    byId("laytools").hidden = false;
    byId("layopen").addEventListener("click", () => every(true));
    byId("layclose").addEventListener("click", () => every(false));
    byId("laytsv").addEventListener("click", copy);
    update();
  }

  addEventListener("pointerover", (event) => { // a large page has many such cells: one is told when it is looked at
    const td = event.target.closest("td[data-b]");
    if (td) td.title = Number(td.dataset.b).toLocaleString("en") + " bytes";
  });
  const alive = tensors(), steps = table("timeline").head;
  copies();
  cards(timeline(), alive);
  treemap();
  opened("tlt", "timeline", ["instant", "phase", ...steps.slice(3), "operator"], (name) => steps.indexOf(name) > 2,
    data.peak);
  opened("spans", "spans", table("spans").head, (name) => name === "bytes");
  const { head: held, rows: segments, at: segment } = table("segments");
  const streams = segments.some((row) => row[segment.stream] > 0);
  opened("segs", "segments", held.filter((name) => streams || name !== "stream"),
    (name) => ["bytes", "allocated", "free", "largest free piece"].includes(name));
  all(".plain").forEach((words) => words.remove());
  all("table.sort").forEach(sortable);
  filter(alive);
  tree();
  addEventListener("beforeprint", () => all("details").forEach((d) => {
    const folded = "td,th,#words,#tail,#scale,#setup,#picture,#numbers";
    if (!d.closest(folded) && !d.querySelector("#spans,#segs")) d.open = true;
  }));
})();
