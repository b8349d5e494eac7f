"use strict";
(() => {
  const packed = JSON.parse(document.getElementById("packed").textContent);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  // Theme: the system's, until the button says otherwise.
  const root = document.documentElement, theme = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const tellTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    theme.setAttribute("aria-pressed", String(root.dataset.theme !== undefined));
  };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; tellTheme(); });
  dark.addEventListener("change", tellTheme);
  tellTheme();

  const save = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    // Late: a browser that is busy starts to read only after a while.
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // The table.
  const body = document.querySelector("#results tbody"), rows = [...body.rows];
  const text = (row, column) => row.cells[column].textContent;
  const filters = all("[id^=filter-]"), shown = document.getElementById("shown");
  const filter = () => {
    for (const row of rows) row.hidden = filters.some(f => f.value !== "" && text(row, f.dataset.column) !== f.value);
    const left = rows.filter(row => !row.hidden).length;
    shown.textContent = `${left} of ${rows.length} rows`;
  };
  filters.forEach(f => f.addEventListener("change", filter));
  filter();
  const names = new Intl.Collator("en", { numeric: true });
  const heads = all("#results thead th");
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    // Numbers from the highest, names from A: what one looks for first.
    const numeric = head.classList.contains("n"), was = head.getAttribute("aria-sort");
    const order = was === "none" ? (numeric ? "descending" : "ascending") : was === "ascending" ? "descending" : "ascending";
    heads.forEach(other => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const number = row => parseFloat(text(row, column));
    const compare = (a, b) => {
      if (!numeric) return sign * names.compare(text(a, column), text(b, column));
      const [x, y] = [number(a), number(b)];
      // Rows without the number come last in both directions.
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
    };
    body.append(...rows.toSorted(compare));
  }));
  const quoted = cell => /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  document.getElementById("table-csv").addEventListener("click", () => {
    const lines = [heads, ...[...body.rows].filter(row => !row.hidden).map(row => [...row.cells])];
    save("results.csv", lines.map(cells => cells.map(cell => quoted(cell.textContent.trim())).join(",") + "\n").join(""), "text/csv");
  });

  // Sections: one figure at a time.
  const fill = (select, values) => {
    const before = select.value;
    select.replaceChildren(...values.map(value => new Option(value, value)));
    if (values.includes(before)) select.value = before;
    select.parentElement.hidden = values.length < 2;
  };
  const show = (section, fits) => all("figure", section).forEach(figure => { figure.hidden = !fits(figure); });
  for (const section of all(".figures:not(#matrix)")) {
    const scene = section.querySelector(".scene"), detail = section.querySelector(".detail");
    const figures = all("figure", section);
    const choose = () => {
      fill(detail, figures.filter(f => f.dataset.scene === scene.value).map(f => f.dataset.detail));
      show(section, f => f.dataset.scene === scene.value && f.dataset.detail === detail.value);
    };
    scene.addEventListener("change", choose);
    detail.addEventListener("change", choose);
    choose();
  }

  // Lines: a legend entry shows or hides its line, and lights it up when pointed at.
  for (const key of all("svg .key")) {
    const svg = key.ownerSVGElement, line = svg.querySelector(`.series[data-s="${key.dataset.s}"]`);
    const light = on => { svg.classList.toggle("lit", on); line.classList.toggle("on", on); };
    const toggle = () => key.setAttribute("aria-pressed", String(!line.classList.toggle("off")));
    key.setAttribute("tabindex", "0");
    key.setAttribute("role", "button");
    key.setAttribute("aria-pressed", "true");
    key.setAttribute("aria-label", key.querySelector("text").textContent);
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } });
    for (const [name, on] of [["pointerenter", true], ["focus", true], ["pointerleave", false], ["blur", false]]) key.addEventListener(name, () => light(on));
  }

  // Matrices: the drawing of a scene is there; its cells are painted with the matrix that is chosen.
  const section = document.getElementById("matrix");
  const csvOf = {};
  if (section) {
    const [scene, protocol, learner] = ["scene", "protocol", "learner"].map(name => section.querySelector(`select.${name}`));
    const distinct = values => [...new Set(values)];
    const paint = (figure, matrix) => {
      const svg = figure.querySelector("svg"), cells = all(".c", svg), values = all(".v", svg);
      const title = `${matrix.learner} on ${matrix.scene}, protocol ${matrix.protocol}`;
      const size = Math.round((Math.sqrt(8 * cells.length + 1) - 1) / 2);
      let at = 0, lines = "after_task,on_task,accuracy\n";
      figure.cells = [];
      for (let stage = 0; stage < size; stage++) for (let task = 0; task <= stage; task++, at++) {
        const tenths = matrix.rows[stage]?.[task], known = tenths !== undefined;
        cells[at].setAttribute("fill", known ? packed.colours[Math.round(tenths / 10)] : "none");
        if (values[at]) {
          values[at].textContent = known ? (tenths / 10).toFixed(1) : "";
          values[at].setAttribute("fill", known && tenths < 550 ? "#ffffff" : "#000000");
        }
        if (known) lines += `${stage + 1},${task + 1},${tenths / 10}\n`;
        figure.cells.push(`after task ${stage + 1}, on task ${task + 1}: ${known ? (tenths / 10).toFixed(1) + " %" : "not asked"}`);
      }
      svg.querySelector(".t").textContent = title;
      svg.setAttribute("aria-label", title);
      csvOf[figure.dataset.id] = lines;
    };
    const point = (figure, at) => {
      const cells = all(".c", figure);
      if (!cells[at]) return;
      figure.at = at;
      cells.forEach((cell, index) => cell.classList.toggle("at", index === at));
      figure.querySelector(".read").textContent = figure.cells[at];
    };
    const choose = () => {
      const here = packed.matrices.filter(m => m.scene === scene.value);
      fill(protocol, distinct(here.map(m => m.protocol)));
      const there = here.filter(m => m.protocol === protocol.value);
      fill(learner, there.map(m => m.learner));
      show(section, figure => figure.dataset.scene === scene.value);
      const figure = all("figure", section).find(f => !f.hidden), matrix = there.find(m => m.learner === learner.value);
      if (figure && matrix) { paint(figure, matrix); if (figure.at !== undefined) point(figure, figure.at); }
    };
    [scene, protocol, learner].forEach(select => select.addEventListener("change", choose));
    for (const figure of all("figure", section)) {
      const cells = all(".c", figure), box = figure.querySelector(".wide");
      all(".c, .v", figure).forEach(target => target.addEventListener("pointerenter", () => {
        const cell = target.classList.contains("v") ? target.previousElementSibling : target;
        point(figure, cells.indexOf(cell));
      }));
      // Cells in rows of 1, 2, 3, ...: one row down is `stage + 1` cells on.
      box.addEventListener("keydown", event => {
        const at = figure.at ?? 0, stage = Math.floor((Math.sqrt(8 * at + 1) - 1) / 2), task = at - stage * (stage + 1) / 2;
        const to = {
          ArrowRight: task < stage ? at + 1 : at, ArrowLeft: task > 0 ? at - 1 : at,
          ArrowDown: at + stage + 1, ArrowUp: stage > task ? at - stage : at, Home: 0, End: cells.length - 1,
        }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        point(figure, Math.min(to, cells.length - 1) === to ? to : at);
      });
      box.addEventListener("focus", () => { if (figure.at === undefined) point(figure, 0); });
    }
    choose();
  }

  for (const figure of all("figure")) {
    const name = () => figure.closest("#matrix") ? figure.querySelector(".t").textContent.replace(/[^A-Za-z0-9]+/g, "-").toLowerCase() : figure.dataset.id;
    figure.querySelector(".svg").addEventListener("click", () => {
      const copy = figure.querySelector("svg").cloneNode(true);
      all(".at", copy).forEach(cell => cell.classList.remove("at"));
      all(".off", copy).forEach(line => line.remove());
      copy.classList.remove("lit");
      save(`${name()}.svg`, new XMLSerializer().serializeToString(copy), "image/svg+xml");
    });
    figure.querySelector(".csv").addEventListener("click", () => save(`${name()}.csv`, csvOf[figure.dataset.id] ?? packed.csv[figure.dataset.id], "text/csv"));
  }
})();
