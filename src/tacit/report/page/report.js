"use strict";
(async function () {
  const PAGE = 50; // rows of a table at first, and with each "more"
  const root = document.documentElement;
  const get = (id) => document.getElementById(id);
  const status = get("status");

  // ---- data -------------------------------------------------------------------------------
  async function unpack(name) {
    const bytes = Uint8Array.from(atob(get("data-" + name).textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  const tables = {};
  function keep(table) {
    table.values = table.values.map((v) => (v && v.words ? v.codes.map((c) => (c === null ? null : v.words[c])) : v));
    table.at = Object.fromEntries(table.columns.map((column, place) => [column.name, place]));
    tables[table.id] = table;
    return table;
  }
  async function tableOf(id) {
    return tables[id] || keep(await unpack("table-" + id));
  }
  const cell = (table, row, name) => table.values[table.at[name]][row];

  // ---- words ------------------------------------------------------------------------------
  const minus = (text) => text.replace("-", "\u2212");
  const fixed = (value, places) => {
    const text = value.toFixed(places);
    return minus(Number(text) === 0 ? text.replace("-", "") : text);
  };
  // As in tacit.findings.numbers: a number that rounds to 0.000 gets two significant digits.
  const decimals = (value, negligible = 1e-14) => {
    if (Number(value.toFixed(3)) !== 0 || Math.abs(value) < negligible) return fixed(value, 3);
    const digits = 1 - Math.floor(Math.log10(Math.abs(value)));
    return minus(digits <= 6 ? value.toFixed(digits) : value.toExponential(1).replace("e-", "e\u2212"));
  };
  const KINDS = {
    count: (v) => minus(v.toLocaleString("en")),
    percent: (v) => (v > 0 && v < 0.0005 ? "<\u00a00.1" : fixed(100 * v, 1)) + "\u00a0%",
    points: (v) => (v > 0 && Number((100 * v).toFixed(1)) !== 0 ? "+" : "") + fixed(100 * v, 1),
    score: (v) => decimals(v),
    signed: (v) => (v > 0 && Math.abs(v) >= 1e-9 ? "+" : "") + decimals(v, 1e-9),
    nats: (v) => decimals(v),
    number: (v) => (Number.isInteger(v) ? KINDS.count(v) : decimals(v)),
    p: (v) => (v < 0.001 ? "<\u00a00.001" : fixed(v, 3)),
    truth: (v) => (v ? "yes" : "no"),
    text: String,
    prompt: String,
  };
  const NUMBERS = new Set(["count", "percent", "points", "score", "signed", "nats", "number", "p"]);
  function words(table, row, column) {
    const value = cell(table, row, column.name);
    if (value === null || value === undefined) return null;
    if (column.kind === "prompt") return String(value).split("{question}").join(cell(table, row, column.to) ?? "");
    const text = KINDS[column.kind](value);
    if (!column.to) return text;
    const end = cell(table, row, column.to);
    return end === null ? text : text.replace(/\u00a0%$/, "") + " to " + KINDS[column.kind](end);
  }

  // ---- elements ---------------------------------------------------------------------------
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }
  function save(blob, name) {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    status.textContent = name + " saved";
  }

  // ---- tables -----------------------------------------------------------------------------
  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  function csv(table, rows) {
    const names = table.columns.map((column) => column.name);
    const quoted = (value) => {
      const text = value === null || value === undefined ? "" : value === true ? "True" : value === false ? "False" : String(value);
      // A text that a spreadsheet would compute is marked as text; a semicolon parts cells in some.
      const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) && !NUMBER.test(text);
      return formula || /[",;\t\r\n]/.test(text) ? '"' + (formula ? "'" : "") + text.replace(/"/g, '""') + '"' : text;
    };
    const lines = [names.map(quoted).join(",")];
    for (const row of rows) lines.push(names.map((name) => quoted(cell(table, row, name))).join(","));
    return lines.join("\r\n") + "\r\n";
  }
  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1; // what is missing comes last, both ways
    if (b === null || b === undefined) return -1;
    return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a < b ? -1 : 1;
  }
  const active = (filter) => Boolean(filter && (filter.text || Object.values(filter.keys).some(Boolean)));
  /* One table in the page: its rows as filtered and sorted, drawn a page at a time. */
  function TableView(host, table, only) {
    const shown = table.columns.filter((column) => column.heading !== null);
    const several = shown.filter((c) => c.name !== "model" || new Set(table.values[table.at.model]).size > 1);
    let sorted = null, way = 1, count = PAGE, filter = null;
    const head = make("tr");
    const body = make("tbody");
    const told = make("span", { class: "shown" });
    const more = make("button", { type: "button", onclick: () => { count = count === PAGE ? 250 : count * 4; draw(); } }, "Show more");
    if (table.details) head.append(make("th", { scope: "col" }, make("span", { class: "unseen" }, "Details")));
    for (const column of several) {
      const th = make("th", { scope: "col", "aria-sort": "none", class: NUMBERS.has(column.kind) ? "number" : null });
      th.append(make("button", { type: "button", onclick: () => {
        way = sorted === column ? -way : NUMBERS.has(column.kind) ? -1 : 1;
        sorted = column;
        for (const other of head.children) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        th.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        count = PAGE;
        draw();
      }, "data-tip": meaningOf(column.heading) || null }, column.heading));
      head.append(th);
    }
    const scroll = make("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": table.title },
      make("table", {}, make("caption", { class: "unseen" }, table.title), make("thead", {}, head), body));
    const stem = table.id + (only ? "-" + only.replace(/[^0-9A-Za-z]+/g, "-").slice(0, 60) : "");
    host.replaceChildren(scroll, make("p", { class: "tools" },
      make("button", { type: "button", "data-csv": table.id, "aria-label": "CSV of " + table.title, onclick: () => save(new Blob([csv(table, rows())], { type: "text/csv" }), stem + (active(filter) ? "-filtered" : "") + ".csv") }, "CSV"), more, told));
    function rows() {
      let found = [];
      for (let row = 0; row < table.rows; row++) if (keeps(row)) found.push(row);
      if (sorted) {
        const values = table.values[table.at[sorted.name]];
        const rank = (a, b) => {
          const missing = (values[a] === null) - (values[b] === null);
          return missing || way * compare(values[a], values[b]) || a - b;
        };
        found.sort(rank);
      }
      return found;
    }
    function keeps(row) {
      if (only !== undefined && cell(table, row, table.by) !== only) return false;
      if (!filter) return true;
      for (const [key, value] of Object.entries(filter.keys)) {
        if (value && key in table.at && cell(table, row, key) !== value) return false;
      }
      return !filter.text || shown.some((column) => (words(table, row, column) || "").toLowerCase().includes(filter.text));
    }
    function line(row) {
      const tr = make("tr");
      if (table.details) {
        const of = words(table, row, several[0]);
        tr.append(make("td", {}, make("button", { type: "button", "data-open": cell(table, row, table.details.key), "aria-label": "Open: " + of, onclick: () => open(table, row, of) }, "Open")));
      }
      several.forEach((column, place) => {
        const text = words(table, row, column);
        const number = NUMBERS.has(column.kind);
        const td = make(place === 0 ? "th" : "td", { scope: place === 0 ? "row" : null, class: number ? "number" : text && text.length > 60 ? "long" : null });
        if (text === null) td.append(make("span", { class: "none", "aria-label": "missing" }, "\u2013"));
        else if (column.kind === "truth") td.append(make("span", { class: text }, text));
        else td.append(text);
        tr.append(td);
      });
      return tr;
    }
    function draw() {
      const found = rows();
      body.replaceChildren(...found.slice(0, count).map(line));
      if (!found.length) body.append(make("tr", {}, make("td", { colspan: several.length + (table.details ? 1 : 0) }, "No row fits the filter.")));
      more.hidden = found.length <= count;
      const all = only === undefined ? table.rows : found.length;
      told.textContent = (found.length > count ? count.toLocaleString("en") + " of " : "") + found.length.toLocaleString("en") + (found.length === 1 ? " row" : " rows") + (found.length < all ? " that fit, of " + all.toLocaleString("en") : "");
      return found.length;
    }
    draw();
    return { filter: (wanted) => { filter = wanted; count = PAGE; return draw(); } };
  }

  // ---- what opens behind a row --------------------------------------------------------------
  const dialog = get("details"), trail = [];
  async function open(table, row, title) {
    const key = table.details.key, value = cell(table, row, key);
    await show({ title, key, value, tables: table.details.tables }, true);
  }
  async function show(what, deeper) {
    if (deeper) trail.push(what);
    get("details-title").textContent = what.title;
    get("back").hidden = trail.length < 2;
    const body = dialog.querySelector(".body");
    body.replaceChildren();
    if (!dialog.open) dialog.showModal();
    for (const id of what.tables) {
      const table = await tableOf(id);
      table.by = what.key;
      const host = make("div");
      body.append(make("div", { class: "block" }, make("h3", {}, table.title), make("p", {}, table.about), host));
      TableView(host, table, what.value);
    }
    dialog.querySelector(".body").scrollTop = 0;
    dialog.scrollTop = 0;
  }
  get("close").addEventListener("click", () => dialog.close());
  get("back").addEventListener("click", () => { trail.pop(); show(trail[trail.length - 1], false); });
  dialog.addEventListener("close", () => { trail.length = 0; });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // ---- light and dark -----------------------------------------------------------------------
  const wishes = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme === "dark";
  /* A colour of a chart on dark: its lightness turned round, its hue kept. */
  function turned(hex) {
    if (hex.toLowerCase() === "#ffffff") return "#191d23"; // the page's own paper
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
    const most = Math.max(r, g, b), least = Math.min(r, g, b), light = (most + least) / 2, span = most - least;
    const hue = span === 0 ? 0 : most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
    const dark = 0.12 + 0.82 * (1 - light);
    const c = Math.min(span, 0.85 * (1 - Math.abs(2 * dark - 1))), x = c * (1 - Math.abs((hue % 2) - 1)), m = dark - c / 2;
    const [rr, gg, bb] = [[c, x, 0], [x, c, 0], [0, c, x], [0, x, c], [x, 0, c], [c, 0, x]][Math.floor(hue) % 6];
    return "#" + [rr, gg, bb].map((v) => Math.round(255 * (v + m)).toString(16).padStart(2, "0")).join("");
  }
  const coloured = (text) => (isDark() ? text.replace(/#[0-9a-fA-F]{6}\b/g, turned) : text);
  function showTheme() {
    get("theme").textContent = isDark() ? "Light theme" : "Dark theme";
  }

  function theme(name) {
    root.dataset.theme = name;
    showTheme();
    redraw();
  }
  get("theme").addEventListener("click", () => theme(isDark() ? "light" : "dark"));
  wishes.addEventListener("change", () => theme(wishes.matches ? "dark" : "light"));

  // ---- charts -------------------------------------------------------------------------------
  // The page's policy allows no code made of text (ast), and no style but the page's own.
  const EMBED = { mode: "vega-lite", actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: { theme: "custom", disableDefaultStyle: true } };
  const pictures = [];
  /* A chart out of sight is drawn for a card of the whole width, and again once it is seen. */
  const roomFor = (canvas) => canvas.parentElement.clientWidth || get("main").clientWidth - 80;
  let page = { tables: [], charts: {}, datasets: {}, graphs: {}, terms: {}, headings: {} };
  function redraw() { for (const picture of pictures) picture.stale(); }
  /* The rows of a chart's data. */
  function rowsOf(name) {
    const data = page.datasets[name];
    return [...Array(data.rows).keys()].map((row) => Object.fromEntries(data.columns.map((column, at) => [column, data.values[at][row]])));
  }
  function within(node, change) {
    change(node);
    for (const inner of Object.values(node)) if (inner && typeof inner === "object") within(inner, change);
  }
  const beside = (row) => row.hconcat || [row];
  const columnsOf = (panel) => (panel.layer || []).flatMap((layer) => (layer.mark.limit ? [layer.encoding.x.scale.domain] : []))[0];
  const NARROWEST = 120; // pixels, of a panel
  /* The panels of a chart get as wide as its card lets them, given how wide the chart is now. */
  function fitted(spec, now, room) {
    const wide = (row) => beside(row).reduce((sum, panel) => sum + (panel.width || 0), 0);
    const most = Math.max(...spec.vconcat.map(wide)), factor = (room - now + most) / most;
    for (const panel of spec.vconcat.flatMap(beside)) {
      const least = columnsOf(panel) ? panel.width : Math.min(panel.width, NARROWEST);
      if (panel.width) panel.width = Math.max(least, Math.floor(panel.width * factor));
    }
  }
  /* What is done in turn to a chart that is wider than its card. */
  const SIMPLER = [
    (spec) => within(spec, (node) => {
      if (node.legend) node.legend.columns = 1;
      if (node.title && node.title.text) node.title.text = String(node.title.text).match(/.{1,36}(\s|$)/g);
    }),
    (spec) => { // panels one below the other, each with its labels
      spec.vconcat = spec.vconcat.flatMap(beside);
      within(spec, (node) => { if (node.axis && node.axis.labels === false) node.axis.labels = true; });
    },
    (spec) => { // without the columns of text
      for (const panel of spec.vconcat) panel.layer = panel.layer.filter(({ encoding: { x } }) => !x || x.value !== "width");
    },
    (spec, over) => { // with short labels and the first columns of cells
      within(spec, (node) => { if (node.axis && node.axis.labelLimit) node.axis.labelLimit = 150; });
      for (const panel of spec.vconcat) {
        const columns = columnsOf(panel), each = columns && panel.width / columns.length;
        if (!columns) continue;
        const kept = columns.slice(0, Math.max(1, Math.floor((panel.width - over) / each)));
        panel.width = each * kept.length;
        for (const layer of panel.layer) {
          layer.encoding.x.scale.domain = kept;
          layer.transform = [{ filter: { field: "column", oneOf: kept } }];
        }
      }
    },
  ];
  /* A figure is drawn when it is seen, and again if its room, its theme or its choice changes. */
  function Picture(figure, draw, sheet, options) {
    const canvas = figure.querySelector(".canvas");
    let drawnFor = null, near = false, view = null, running = Promise.resolve();
    async function embed(spec) {
      if (view) view.finalize();
      view = (await window.vegaEmbed(canvas, spec, { ...EMBED, ...options })).view;
      const svg = canvas.querySelector("svg");
      return { svg, width: svg.getBoundingClientRect().width || Number(svg.getAttribute("width")) };
    }
    async function once() {
      const room = roomFor(canvas);
      if (drawnFor !== null && drawnFor <= room && drawnFor > room - 60) return;
      drawnFor = room;
      await draw(embed, room);
      canvas.dataset.drawn = "yes";
    }
    const queue = () => (running = running.then(once).catch((error) => { console.error(error); canvas.textContent = "This figure cannot be drawn."; }));
    const picture = {
      stale: () => { drawnFor = null; if (near) queue(); },
      seen: () => { near = true; return queue(); },
    };
    figure.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", async () => {
      await picture.seen();
      const { spec, stem } = sheet();
      await saved({ ...spec, background: coloured("#ffffff") }, stem, button.dataset.save);
    }));
    pictures.push(picture);
    figure.picture = picture;
    return picture;
  }
  function Chart(figure) {
    const id = figure.dataset.figure;
    const specOf = (more) => {
      const chart = page.charts[id];
      const datasets = Object.fromEntries(Object.entries(chart.data).map(([own, name]) => [own, rowsOf(name)]));
      return JSON.parse(coloured(JSON.stringify({ ...chart.spec, datasets, ...more })));
    };
    const canvas = figure.querySelector(".canvas");
    async function draw(embed, room) {
      const spec = specOf();
      let { svg, width } = await embed(spec);
      const steps = [...SIMPLER];
      for (;;) {
        fitted(spec, width, room);
        ({ svg, width } = await embed(spec));
        if (width <= room + 1 || !steps.length) break;
        steps.shift()(spec, width - room);
        ({ width } = await embed(spec));
      }
      canvas.toggleAttribute("data-shortened", steps.length < 2); // the last two leave something out
      // One picture to who hears it; its numbers stand in the tables.
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", figure.dataset.title);
      for (const child of svg.children) child.setAttribute("aria-hidden", "true");
    }
    Picture(figure, draw, () => ({ spec: specOf(page.charts[id].title && { title: page.charts[id].title }), stem: id }));
  }
  async function saved(spec, stem, kind) {
    const { view } = await window.vegaEmbed(make("div"), spec, EMBED);
    const blob = kind === "svg" ? new Blob([await view.toSVG()], { type: "image/svg+xml" }) : await blobOf(await view.toCanvas(2));
    view.finalize();
    save(blob, stem + "." + kind);
  }
  const blobOf = (canvas) => new Promise((resolve) => canvas.toBlob(resolve, "image/png"));

  // ---- terms ------------------------------------------------------------------------------
  function meaningOf(heading) { const name = heading.trim().toLowerCase(); return page.terms[name] || page.headings[name]; }

  // ---- sharing ----------------------------------------------------------------------------
  const SHARED = [1200, 630]; // pixels, as previews of links are
  function wrapped(context, text, width) {
    const lines = [""];
    for (const word of text.split(/[ \n]+/)) {
      const longer = (lines[lines.length - 1] + " " + word).trim();
      if (context.measureText(longer).width <= width || !lines[lines.length - 1]) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }
  /* A picture of a probe's headlines: models, sentences and their intervals. */
  async function share(id, article) {
    const [width, height] = SHARED;
    const style = getComputedStyle(root), colour = (name) => style.getPropertyValue(name).trim();
    const family = getComputedStyle(document.body).fontFamily;
    const sheet = make("canvas", { width: 2 * width, height: 2 * height });
    const context = sheet.getContext("2d");
    context.scale(2, 2);
    const font = (size, weight) => { context.font = weight + " " + size + "px " + family; };
    const paragraphs = [...article.querySelectorAll(".headline")].map((each) => [each.querySelector("strong").textContent.replace(/\.$/, ""), each.textContent.trim()]);
    const sized = (size) => {
      font(size, 400);
      return paragraphs.map(([, text]) => wrapped(context, text, width - 128));
    };
    let size = 40, lines = sized(size);
    const tall = () => lines.reduce((sum, each) => sum + (each.length * 1.35 + 1.9) * size, 0);
    while (size > 16 && tall() > height - 210) lines = sized((size -= 2));
    context.fillStyle = colour("--paper");
    context.fillRect(0, 0, width, height);
    context.fillStyle = colour("--accent");
    context.fillRect(0, 0, 16, height);
    context.fillStyle = colour("--muted");
    font(22, 400);
    context.fillText(article.querySelector("h2").textContent, 64, 74, width - 128);
    let y = 110;
    paragraphs.forEach(([model], at) => {
      y += 1.3 * size;
      font(size, 700);
      context.fillStyle = colour("--accent");
      context.fillText(model, 64, y, width - 128);
      font(size, 400);
      context.fillStyle = colour("--ink");
      for (const line of lines[at]) context.fillText(line, 64, (y += 1.35 * size));
      y += 0.6 * size;
    });
    font(22, 400);
    context.fillStyle = colour("--muted");
    context.fillText("Measured with " + document.querySelector("meta[name=generator]").content.replace(/ (report|comparison) /, " "), 64, height - 40);
    save(await blobOf(sheet), "tacit-" + id + ".png");
  }
  for (const button of document.querySelectorAll("[data-share]")) button.addEventListener("click", () => share(button.dataset.share, button.closest("section")));

  // ---- the parts graphs ---------------------------------------------------------------------
  const tip = get("tip");
  function place(x, y) {
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18) + "px";
  }
  function tell(element, x, y) {
    tip.textContent = element.dataset.tip;
    tip.hidden = false;
    place(x, y);
  }
  function untell() { tip.hidden = true; document.querySelectorAll(".on-it").forEach((each) => each.classList.remove("on-it")); }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") untell(); });
  const explained = (event) => event.target.closest && event.target.closest("thead button[data-tip]");
  function tellAt(element) {
    const box = element.getBoundingClientRect();
    tell(element, box.left, box.bottom - 14);
  }
  for (const kind of ["pointerover", "focusin", "click"]) document.addEventListener(kind, (event) => { const each = explained(event); if (each) tellAt(each); });
  for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, (event) => { if (explained(event)) untell(); });
  function Graphs(figure) {
    const id = figure.dataset.graphs, list = page.graphs[id];
    const names = Object.keys(list[0]);
    const chosen = { ...list[Number(figure.dataset.first)] };
    let text = "";
    const pickers = figure.querySelector(".pickers");
    const selects = {};
    for (const name of names) {
      const select = make("select", { name });
      select.addEventListener("change", () => { chosen[name] = select.value; settle(); });
      selects[name] = select;
      const label = make("label", {}, name[0].toUpperCase() + name.slice(1), select);
      if (new Set(list.map((each) => each[name])).size < 2) label.hidden = true;
      pickers.append(label);
    }
    /* Each choice leaves those to the right of it that go with it. */
    function settle() {
      names.forEach((name, at) => {
        const fitting = list.filter((each) => names.slice(0, at).every((before) => each[before] === chosen[before]));
        const values = [...new Set(fitting.map((each) => each[name]))];
        if (!values.includes(chosen[name])) chosen[name] = values[0];
        selects[name].replaceChildren(...values.map((value) => make("option", { value }, value)));
        selects[name].value = chosen[name];
      });
      picture.stale();
    }
    async function draw(embed, room) {
      const which = list.findIndex((each) => names.every((name) => each[name] === chosen[name]));
      text = JSON.stringify(await unpack("graph-" + id + "-" + which));
      const wide = JSON.parse(coloured(text)), { title } = wide;
      delete wide.title;
      /* As many stages beside one another as fit, each as wide as there is room. */
      const least = Math.max(...wide.concat.map((panel) => panel.width)), gap = wide.spacing;
      wide.columns = Math.max(1, Math.min(wide.concat.length, Math.floor((room - 16 + gap) / (least + gap))));
      const most = Math.floor((room - 16 + gap) / wide.columns) - gap;
      for (const panel of wide.concat) panel.width = Math.max(panel.width, Math.min(most, 1.6 * panel.width));
      within(wide, (node) => { if (node.legend) node.legend.columns = wide.columns; });
      const { svg } = await embed(wide);
      svg.querySelectorAll("[role]").forEach((each) => each.removeAttribute("role"));
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", title.text);
      const told = [...svg.querySelectorAll("line[aria-label], path[aria-label]")];
      told.forEach((each) => { each.setAttribute("role", "img"); each.dataset.tip = each.getAttribute("aria-label"); });
      const violated = told.filter((each) => /(^|\n)violated:/.test(each.dataset.tip));
      const stops = violated.length ? violated : told;
      stops.forEach((each, at) => each.setAttribute("tabindex", at === 0 ? "0" : "-1"));
      const marked = (event) => event.target.closest("[data-tip]");
      svg.addEventListener("pointermove", (event) => { const each = marked(event); if (each) tell(each, event.clientX, event.clientY); else untell(); });
      svg.addEventListener("pointerleave", untell);
      svg.addEventListener("focusin", (event) => {
        const each = marked(event), box = each.getBoundingClientRect();
        untell();
        each.classList.add("on-it");
        tell(each, box.left + box.width / 2, box.top + box.height / 2);
      });
      svg.addEventListener("focusout", untell);
      svg.addEventListener("keydown", (event) => {
        const at = stops.indexOf(document.activeElement);
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (at < 0 || !step) return;
        event.preventDefault();
        const next = stops[(at + step + stops.length) % stops.length];
        stops[at].setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    }
    const stem = () => [id, ...names.map((name) => chosen[name])].join("-").replace(/[^0-9A-Za-z.]+/g, "-");
    const picture = Picture(figure, draw, () => ({ spec: JSON.parse(coloured(text)), stem: stem() }), { tooltip: false });
    settle();
  }

  // ---- filters ------------------------------------------------------------------------------
  function Filters(form, views) {
    let waiting = null;
    function apply() {
      const keys = Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, select.value]));
      const wanted = { keys, text: form.elements.text.value.trim().toLowerCase() };
      for (const view of views) view.filter(wanted);
      const some = Object.entries(keys).filter(([, value]) => value).map(([key, value]) => key + ": " + value);
      if (wanted.text) some.push("\u201c" + wanted.text + "\u201d");
      form.querySelector("output").textContent = some.length ? "Tables show " + some.join(", ") : "";
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 150); });
    form.addEventListener("reset", () => setTimeout(apply));
  }

  // ---- start --------------------------------------------------------------------------------
  root.dataset.theme = wishes.matches ? "dark" : "light";
  showTheme();
  page = await unpack("page");
  /* Links lead into closed blocks too; the link to what is shown says so. */
  function reveal() {
    const target = location.hash && get(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    for (const link of document.querySelectorAll(".top nav a, .tabs a")) {
      if (get(link.hash.slice(1)).checkVisibility()) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  page.tables.forEach(keep);
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) entry.target.picture.seen();
  }, { rootMargin: "600px" });
  for (const tab of document.querySelectorAll(".tab")) {
    const views = [...tab.querySelectorAll("[data-table]")].map((block) => TableView(block.querySelector(".host"), tables[block.dataset.table]));
    const form = tab.querySelector(".filters");
    if (form) Filters(form, views);
  }
  for (const figure of document.querySelectorAll("figure")) {
    if (figure.dataset.figure) Chart(figure); else Graphs(figure);
    watcher.observe(figure);
  }
  addEventListener("beforeprint", () => {
    for (const closed of document.querySelectorAll("main details")) closed.open = true;
    for (const picture of pictures) picture.seen();
  });
  addEventListener("hashchange", reveal);
  let wide = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== wide) { wide = innerWidth; redraw(); } });
  reveal();
  root.dataset.ready = "yes";
  // What is out of sight is drawn when there is nothing else to do, so that printing finds it.
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  const rest = [...pictures];
  function next() {
    const picture = rest.shift();
    if (picture) picture.seen().then(() => idle(next));
    else root.dataset.drawn = "yes";
  }
  idle(next);
})();
