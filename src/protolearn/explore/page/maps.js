// The page of a topographic map: its cells, who is in them, and what they stand for.

import { h, svg, panel, choice, number, plural, percent, picture, eachFrame } from "./dom.js";
import { bars } from "./bars.js";
import { classColors, css, extent, inkOn, scaleOf, valuesOf } from "./colors.js";
import { contains } from "./scatter.js";
import { legend, samplePanel, selectionPanel, tablePanel } from "./panels.js";

const UNIT = 100; // length in the drawing between the centers of neighboring cells
const [LEAST, MOST] = [8.5, 22]; // pixels, the smallest letters
const MOST_PLANES = 40;

export function mapPage(doc, store) {
  const cells = new Cells(doc);
  const view = new MapView(doc, store, cells);
  const columns = [
    { name: "cell", values: doc.map.winners }, { name: "distance to its prototype", values: doc.map.distances },
  ];
  return [
    h("div", { class: "stack" }, panel("Map", { id: "map" }, view.element), planesPanel(cells, view)),
    h("div", { class: "stack" }, cellsPanel(store, cells, view), selectionPanel(doc, store),
      samplePanel(doc, store, (i) => [placeOf(i, cells, view)])),
    tablePanel(doc, store, columns),
  ];
}

function placeOf(i, cells, view) {
  const { winners, distances } = cells;
  const farther = distances.reduce((sum, other) => sum + (other > distances[i]), 0) / distances.length;
  const show = () => view.choose([winners[i]], false, false);
  return h("p", {}, "In ", h("button", { type: "button", class: "plain link", onclick: show }, cells.name(winners[i])),
    `, at a distance of ${number(distances[i])} from its prototype; ${percent(farther)} of all samples are farther from theirs.`);
}

// What is known of each cell: its members, the nearest to the prototype first, and how many of each class.
class Cells {
  constructor({ map, samples }) {
    Object.assign(this, map, { samples, k: map.heights.length, n: map.winners.length });
    this.members = Array.from({ length: this.k }, () => []);
    map.winners.forEach((cell, i) => this.members[cell].push(i));
    for (const list of this.members) list.sort((a, b) => map.distances[a] - map.distances[b] || a - b);
    this.hits = Float64Array.from(this.members, (list) => list.length);
    this.errors = Float64Array.from(this.members,
      (list) => list.reduce((sum, i) => sum + map.distances[i], 0) / (list.length || NaN));
    const { classes, images, columns } = samples;
    this.counts = classes && this.members.map((list) => {
      const counts = new Array(classes.names.length).fill(0);
      for (const i of list) if (classes.codes[i] >= 0) counts[classes.codes[i]]++;
      return counts;
    });
    // Prototypes are pictures themselves if their features are the pixels of the images.
    this.pixels = Boolean(images && map.planes?.of === "prototypes" && columns.every((column) => column.values) &&
      images.length / this.n === columns.length);
  }

  name(cell) {
    const { kind, shape } = this.lattice;
    if (kind !== "rectangular" && kind !== "hexagonal") return `cell ${cell}`;
    return `cell ${cell} (row ${Math.floor(cell / shape[1]) + 1}, column ${(cell % shape[1]) + 1})`;
  }

  largest(cell) {
    const counts = this.counts?.[cell] ?? [];
    const most = Math.max(0, ...counts);
    return most ? counts.indexOf(most) : -1;
  }

  // What a cell is, in words.
  describe(cell) {
    const { classes } = this.samples;
    const parts = [`C${this.name(cell).slice(1)}: ${plural(this.hits[cell], "sample")}`];
    if (classes && this.hits[cell]) {
      const order = this.counts[cell].map((count, c) => [count, c]).filter(([count]) => count).sort((a, b) => b[0] - a[0]);
      parts.push(order.slice(0, 3).map(([count, c]) => `${classes.names[c]} ${count}`).join(", ") + (order.length > 3 ? ", …" : ""));
    }
    return parts.join(" · ");
  }

  // A sample as a short text: the name it was given, or what it says itself.
  label = (i) => (this.samples.named ? null : this.samples.texts?.[i].slice(0, 80)) ?? this.samples.names[i];

  // The bytes of a prototype, by the line that leads from values to pixels in the images of some samples.
  portrait(values) {
    const { images, columns } = this.samples;
    const [slope, level] = this.ink ??= inkOf(images, columns);
    const bytes = Uint8ClampedArray.from(values, (value) => slope * value + level);
    bytes.shape = [1, ...images.shape.slice(1)];
    return picture(bytes, 0, 112);
  }
}

// Where cells are drawn. A torus can be shifted, and the center of a hyperbolic disc moved.
class Arrangement {
  constructor(cells) {
    const { lattice, positions, k } = cells;
    Object.assign(this, { lattice, k, edges: cells.edges, start: positions, down: 0, across: 0, focus: [0, 0] });
    this.sheet = lattice.kind === "rectangular" || lattice.kind === "hexagonal";
    this.disc = lattice.kind === "hyperbolic";
    this.movable = this.disc || (this.sheet && lattice.periodic);
    this.unit = this.disc ? 6 * UNIT : UNIT;
    this.renew();
  }

  renew() {
    const { lattice, start, k, unit, sheet, disc } = this;
    this.centers = Array.from({ length: k }, (_, cell) => {
      let [x, y] = [start[2 * cell], start[2 * cell + 1]];
      if (sheet && lattice.periodic) {
        const [rows, columns] = lattice.shape;
        const row = (Math.floor(cell / columns) + this.down) % rows;
        [x, y] = [(cell % columns + this.across) % columns, row];
        if (lattice.kind === "hexagonal") [x, y] = [x + (row % 2) / 2, row * Math.sqrt(0.75)];
      }
      if (disc) [x, y] = moved([x, y], [-this.focus[0], -this.focus[1]]);
      return [x * unit, -y * unit];
    });
    this.radii = this.centers.map(([x, y]) => lattice.radius * unit * (disc ? 1 - (x * x + y * y) / unit ** 2 : 1));
  }

  center(cell) {
    const { lattice, start } = this;
    if (this.disc) this.focus = [start[2 * cell], start[2 * cell + 1]];
    else {
      const [rows, columns] = lattice.shape;
      const even = lattice.kind === "hexagonal" ? 2 : 1; // shifted rows stay shifted
      const shift = Math.round((rows / 2 - Math.floor(cell / columns)) / even) * even;
      this.down = ((shift % rows) + rows) % rows;
      this.across = ((Math.floor(columns / 2) - (cell % columns)) % columns + columns) % columns;
    }
    this.renew();
  }

  // Corners of a cell, or null for a dot.
  corners(cell, scale = 1) {
    if (!this.sheet) return null;
    const n = this.lattice.kind === "hexagonal" ? 6 : 4;
    const [x, y] = this.centers[cell];
    const reach = (scale * this.unit) / 2 / Math.cos(Math.PI / n);
    return Array.from({ length: n }, (_, j) => {
      const turn = (2 * Math.PI * j) / n - (n === 6 ? 0.5 : 0.75) * Math.PI; // clockwise from the top, flat at the sides
      return [x + reach * Math.cos(turn), y + reach * Math.sin(turn)];
    });
  }

  // The outline of a cell as an element.
  shape(cell, attributes, scale = 1) {
    const corners = this.corners(cell, scale);
    if (corners) return svg("polygon", { points: points(corners), ...attributes });
    const [x, y] = this.centers[cell];
    const turn = `rotate(-90 ${x.toFixed(1)} ${y.toFixed(1)})`; // outlines begin at the top
    return svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: (this.radii[cell] * scale).toFixed(1), transform: turn, ...attributes });
  }

  // An edge as points: on a sheet the side that two cells share, else a line, or a geodesic of the disc.
  edge(a, b) {
    const [p, q] = [this.centers[a], this.centers[b]];
    const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
    if (this.sheet) {
      if (Math.hypot(dx, dy) > 1.01 * this.unit) return null; // round the torus
      const half = this.lattice.kind === "hexagonal" ? 0.5 / Math.sqrt(3) : 0.5;
      const [x, y] = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
      return [[x - dy * half, y + dx * half], [x + dy * half, y - dx * half]];
    }
    if (!this.disc) return [p, q];
    const [from, to] = [p, q].map(([x, y]) => [x / this.unit, y / this.unit]);
    const ray = moved(to, [-from[0], -from[1]]); // seen from its start, a geodesic is straight
    return Array.from({ length: 9 }, (_, j) => moved([(ray[0] * j) / 8, (ray[1] * j) / 8], from).map((x) => x * this.unit));
  }

  // The box around all cells: left, top, width, height.
  box() {
    if (this.disc) return [-this.unit * 1.01, -this.unit * 1.01, 2.02 * this.unit, 2.02 * this.unit];
    const all = Array.from({ length: this.k }, (_, cell) => this.corners(cell) ?? [-1, 1].map(
      (side) => this.centers[cell].map((x) => x + side * this.radii[cell]))).flat();
    const [[left, right], [top, bottom]] = [0, 1].map((axis) => extent(all.map((point) => point[axis])));
    const room = 6;
    return [left - room, top - room, right - left + 2 * room, bottom - top + 2 * room];
  }
}

// Where a point of the Poincaré disc goes in the motion that takes its center to the origin given.
function moved([x, y], [a, b]) {
  const [re, im] = [1 + a * x + b * y, a * y - b * x];
  const size = re * re + im * im;
  return [((x + a) * re + (y + b) * im) / size, ((y + b) * re - (x + a) * im) / size];
}

const points = (list) => list.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

// What cells can be colored by: a value for each cell.
function colorings(cells) {
  const { samples, planes, heights, hits, errors } = cells;
  const list = [];
  if (samples.classes) list.push({ key: "class", name: "classes", hint: "The largest class of each cell.", column: {
    categories: samples.classes.names, codes: Int32Array.from(hits, (_, cell) => cells.largest(cell)) } });
  list.push(
    { key: "heights", name: "distance to neighbors (U-matrix)", column: { values: heights }, edges: cells.lengths,
      hint: "Mean distance of a prototype from the prototypes of neighboring cells. Bright cells and lines are borders between clusters." },
    { key: "hits", name: "number of samples", column: { values: hits.map((count) => count || NaN) }, hint: "Gray cells have no samples." },
    { key: "errors", name: "distance of samples to the prototype", column: { values: errors },
      hint: "Mean distance of the samples of a cell from its prototype. Gray cells have no samples." });
  samples.columns.forEach((column, j) => planes && list.push({
    key: String(j), name: column.name, group: "Features",
    column: column.categories ? { categories: column.categories, codes: planes.columns[j] } : { values: planes.columns[j] },
    hint: planes.of === "prototypes" ? "Values of the prototypes, in units of the table." : "Means of the samples of each cell.",
  }));
  return list;
}

class MapView extends EventTarget {
  constructor(doc, store, cells) {
    super();
    Object.assign(this, { doc, store, cells, place: new Arrangement(cells), chosen: [], active: 0, own: false, drawn: {} });
    this.colorings = colorings(cells);
    this.under = svg("g", { class: "edges" });
    this.faces = svg("g", { role: "listbox", "aria-multiselectable": "true", "aria-label": "Cells of the map" });
    this.over = svg("g", { class: "over", "aria-hidden": "true" });
    this.rope = svg("polygon", { class: "rope" });
    this.picture = svg("svg", { class: "lattice", role: "group", "aria-label": doc.title }, this.under, this.faces, this.over, this.rope);
    this.status = h("p", { class: "status", "aria-live": "off" });
    this.key = h("div");
    this.hint = h("p", { class: "hint" });
    const contents = this.contents();
    this.content = contents[0].value;
    this.coloring = this.colorings[0];
    this.chooser = choice("Color", this.colorings.map(({ key, name, group }) => ({ value: key, text: name, group })),
      this.coloring.key, (key) => this.color(key));
    this.element = h("div", {}, this.chooser,
      choice("In cells", contents, this.content, (value) => {
        this.content = value;
        this.paint();
        this.fillCells();
      }),
      this.tools(), this.picture, this.status, this.key, this.hint,
      h("p", { class: "hint keys" }, "Click a cell, or drag around several cells; hold Ctrl or Shift to add cells. Keys: arrows, Enter, Escape."));
    this.build();
    this.listen();
    store.on("select", () => this.follow());
    store.on("focus", () => {
      if (store.focus >= 0) this.say(cells.winners[store.focus]);
      this.mark();
    });
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) < 1) return;
      width = contentRect.width;
      if (this.content === "labels" || this.content === "names") this.fillCells(); // letters fit, or do not
    }).observe(this.picture);
  }

  contents() {
    const { samples, pixels } = this.cells;
    const own = samples.texts || !samples.columns.length; // objects speak for themselves
    const list = [
      samples.images && pixels ? { value: "portraits", text: "images of prototypes" } : null,
      samples.images ? { value: "pictures", text: "images of typical samples" } : null,
      own ? { value: "labels", text: "typical samples" } : null,
      samples.classes ? { value: "pies", text: "classes, as pies" } : null,
      samples.classes ? { value: "names", text: "largest class" } : null,
      { value: "discs", text: "number of samples, as discs" },
      own ? null : { value: "labels", text: "typical samples" },
      { value: "nothing", text: "nothing" },
    ];
    return list.filter(Boolean);
  }

  tools() {
    const { place } = this;
    const lasso = h("button", { type: "button", class: "touch", "aria-pressed": "false", onclick: () => {
      lasso.ariaPressed = String(lasso.ariaPressed !== "true");
      this.picture.classList.toggle("lassoing", lasso.ariaPressed === "true");
    } }, "Lasso");
    const bar = h("div", { class: "moves", role: "group", "aria-label": "Move the map" }, lasso);
    if (!place.movable) return bar;
    const center = () => this.move(() => place.center(this.active));
    bar.append(h("button", { type: "button", onclick: center, title: "Move the last clicked cell to the center" }, "Center"));
    if (place.disc) return bar;
    const [rows, columns] = place.lattice.shape;
    const step = place.lattice.kind === "hexagonal" ? 2 : 1;
    for (const [text, name, across, down] of [
      ["←", "left", columns - 1, 0], ["→", "right", 1, 0], ["↑", "up", 0, step], ["↓", "down", 0, rows - step]]) {
      const shift = () => this.move(() => {
        place.across = (place.across + across) % columns;
        place.down = (place.down + down) % rows;
        place.renew();
      });
      bar.append(h("button", { type: "button", "aria-label": `Shift ${name}`, onclick: shift }, text));
    }
    return bar;
  }

  move(change) {
    change();
    this.build();
    this.dispatchEvent(new Event("color"));
  }

  // The drawing, anew: after each change of places.
  build() {
    const { place, cells } = this;
    this.picture.setAttribute("viewBox", place.box().map((x) => x.toFixed(1)).join(" "));
    this.groups = place.centers.map((_, cell) => {
      const group = svg("g", { role: "option", class: "cell", tabindex: cell === this.active ? 0 : -1, "data-cell": cell, "aria-selected": "false" },
        place.shape(cell, { class: "face" }), svg("g", { class: "content" }));
      return group;
    });
    this.faces.replaceChildren(...this.groups);
    this.lines = place.sheet ? [] : Array.from({ length: cells.lengths.length }, (_, e) =>
      svg("polyline", {
        points: points(place.edge(cells.edges[2 * e], cells.edges[2 * e + 1])),
        "stroke-opacity": cells.strengths ? 0.08 + 0.92 * Math.sqrt(cells.strengths[e]) : null,
      }));
    this.under.replaceChildren(...(place.disc ? [svg("circle", { r: place.unit, class: "disc" })] : []), ...this.lines,
      ...(place.sheet ? [] : place.centers.map((_, cell) => place.shape(cell, {})))); // edges end at faded dots, too
    this.paint();
    this.fillCells();
    this.mark();
  }

  color(key) {
    this.coloring = this.colorings.find((one) => one.key === key);
    this.chooser.querySelector("select").value = key;
    this.paint();
    this.fillCells();
    this.dispatchEvent(new Event("color"));
  }

  paint() {
    const { cells, place, store, coloring: { key, column, edges, hint, name } } = this;
    const scale = scaleOf(column);
    const values = valuesOf(column);
    const pale = key === "class";
    const pictured = this.content === "pictures" || this.content === "portraits"; // of which only a frame is seen
    this.inks = this.groups.map((group, cell) => {
      const color = scale.color(values[cell]);
      const known = !(pale && values[cell] < 0) && !Number.isNaN(values[cell]);
      group.firstChild.style.fill = !known ? "var(--empty)" :
        pale && !pictured ? `color-mix(in srgb, ${css(color)} 30%, var(--field))` : css(color);
      const value = column.categories ? column.categories[values[cell]] ?? "–" : number(values[cell]);
      group.setAttribute("aria-label", cells.describe(cell) + (pale ? "" : ` · ${name} ${value}`));
      return known && !pale ? inkOn(color) : "var(--ink)";
    });
    const lengths = edges && scaleOf({ values: place.sheet ? [...values, ...edges].filter(Number.isFinite) : edges });
    this.lines.forEach((line, e) => {
      line.style.stroke = edges ? css(lengths.color(edges[e])) : "";
      line.classList.toggle("colored", Boolean(edges));
    });
    this.picture.querySelector(".sides")?.remove();
    if (edges && place.sheet) {
      const sides = Array.from(edges, (length, e) => [length, place.edge(cells.edges[2 * e], cells.edges[2 * e + 1])]);
      this.over.before(svg("g", { class: "sides" }, sides.filter(([, line]) => line).map(([length, line]) => {
        const side = svg("polyline", { points: points(line) });
        side.style.stroke = css(lengths.color(length));
        return side;
      })));
    }
    const { classes, columns } = cells.samples;
    this.key.replaceChildren(
      pale ? "" : legend(edges && place.sheet ? lengths : scale, store, columns[Number(key)]?.codes),
      pale || this.content === "pies" ? legend(scaleOf({ categories: classes.names }), store, classes.codes) : "");
    this.hint.textContent = hint;
  }

  // What is drawn in cells.
  fillCells() {
    const { cells, place, content, groups } = this;
    const scale = (this.picture.clientWidth || 700) / this.picture.viewBox.baseVal.width;
    const most = cells.hits.reduce((a, b) => Math.max(a, b), 1);
    const fill = {
      pies: (cell) => this.pie(cell, most),
      discs: (cell) => this.pie(cell, most, true),
      labels: (cell) => this.text(cell, [...new Set(cells.members[cell].slice(0, 12).map(cells.label))].slice(0, 3), scale),
      names: (cell) => this.text(cell, [cells.samples.classes.names[cells.largest(cell)]].filter((name) => name !== undefined), scale),
      pictures: (cell) => (cells.hits[cell] ? this.image(cell, () => picture(cells.samples.images, cells.members[cell][0])) : []),
      portraits: (cell) => this.image(cell, () => cells.portrait(cells.planes.columns.map((column) => column[cell]))),
      nothing: () => [],
    }[content];
    groups.forEach((group, cell) => group.lastChild.replaceChildren(...fill(cell)));
  }

  pie(cell, most, plain = false) {
    const { cells, place, inks } = this;
    if (!cells.hits[cell]) return [];
    const [x, y] = place.centers[cell];
    const r = (plain ? 0.6 : 0.86) * place.radii[cell] * Math.sqrt(cells.hits[cell] / most);
    const disc = (color) => {
      const circle = svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1), class: "pie" });
      circle.style.fill = color;
      return circle;
    };
    if (plain) return [disc(inks[cell])];
    const { names } = cells.samples.classes;
    this.colors ??= classColors(names.length).map((color) => css(color));
    const total = cells.counts[cell].reduce((a, b) => a + b, 0);
    let turn = 0;
    return cells.counts[cell].flatMap((count, c) => {
      if (!count) return [];
      if (count === total) return [disc(this.colors[c])];
      const [from, to] = [turn, (turn += count / total)];
      const at = (share) => `${(x + r * Math.sin(2 * Math.PI * share)).toFixed(1)} ${(y - r * Math.cos(2 * Math.PI * share)).toFixed(1)}`;
      const slice = svg("path", { class: "pie", d: `M${x.toFixed(1)} ${y.toFixed(1)}L${at(from)}A${r.toFixed(1)} ${r.toFixed(1)} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z` });
      slice.style.fill = this.colors[c];
      return [slice];
    });
  }

  // Lines of text as large as they fit; if they do not, fewer lines, and at last the beginning of one.
  text(cell, lines, scale) {
    if (!lines.length) return [];
    const { place } = this;
    const size = 2 * place.radii[cell];
    const height = 0.74 * size;
    const fit = (texts) => Math.min(0.24 * size, MOST / scale, width / (0.56 * Math.max(...texts.map((text) => text.length), 1)), height / (1.15 * texts.length));
    let shown = lines;
    const width = (place.lattice.kind === "rectangular" ? 0.9 : 0.8) * size;
    while (shown.length > 1 && fit(shown) * scale < LEAST) shown = shown.slice(0, -1);
    let letters = fit(shown);
    if (letters * scale < LEAST) {
      letters = LEAST / scale;
      const room = Math.floor(width / (0.56 * letters));
      if (room < 4 || letters > height) return [];
      shown = [`${shown[0].slice(0, room - 1)}…`];
    }
    const [x, y] = place.centers[cell];
    return shown.map((line, j) => {
      const text = svg("text", { x: x.toFixed(1), y: (y + (j - (shown.length - 1) / 2) * 1.15 * letters).toFixed(1), "font-size": letters.toFixed(1) }, line);
      text.style.fill = this.inks[cell];
      return text;
    });
  }

  image(cell, draw) {
    const { place } = this;
    const href = (this.drawn[this.content + cell] ??= draw().toDataURL());
    const [x, y] = place.centers[cell];
    const half = (place.lattice.kind === "rectangular" ? 0.82 : 0.68) * place.radii[cell];
    return [svg("image", { href, x: (x - half).toFixed(1), y: (y - half).toFixed(1), width: (2 * half).toFixed(1), height: (2 * half).toFixed(1) })];
  }

  // Selected samples, the sample that is looked at, and the cell that keys move from.
  mark() {
    const { cells, store, place } = this;
    const parts = [];
    const some = store.count > 0 || this.chosen.length > 0;
    const picked = new Set(this.chosen);
    this.picture.classList.toggle("some", some);
    this.groups.forEach((group, cell) => {
      let share = 0;
      if (store.count) {
        for (const i of cells.members[cell]) share += store.selected[i];
        share /= cells.hits[cell] || 1;
      }
      if (picked.has(cell) && !cells.hits[cell]) share = 1;
      group.classList.toggle("faded", some && !share);
      group.setAttribute("aria-selected", String(share > 0));
      if (!share) return;
      // The outline goes as far round as the share of members that are selected.
      parts.push(place.shape(cell, { class: "halo" }, 0.94),
        place.shape(cell, { class: "ring", pathLength: 1, "stroke-dasharray": share < 1 ? `${share} 1` : null, "data-cell": cell, "data-share": share }, 0.94));
    });
    if (store.focus >= 0) {
      const cell = cells.winners[store.focus];
      parts.push(place.shape(cell, { class: "seen under" }, 0.85), place.shape(cell, { class: "seen", "data-cell": cell }, 0.85));
    }
    if (document.activeElement?.matches(".cell:focus-visible")) parts.push(place.shape(this.active, { class: "cursor" }, 1.02));
    this.over.replaceChildren(...parts);
  }

  say(cell) {
    this.status.textContent = cell < 0 ? "" : this.groups[cell].getAttribute("aria-label");
  }

  // Select the members of cells, in place of those before or with them; a cell that is chosen again is taken away.
  choose(list, added, toggled = list.length === 1) {
    const { store, cells, chosen } = this;
    const rest = toggled && chosen.includes(list[0]) && (added || chosen.length === 1) ? chosen.filter((cell) => cell !== list[0]) : null;
    this.chosen = rest ?? (added ? [...new Set([...chosen, ...list])] : list);
    this.own = true;
    store.select(this.chosen.flatMap((cell) => cells.members[cell]), "cells");
    this.own = false;
  }

  // What was selected elsewhere chooses the cells that hold it.
  follow() {
    const { store, cells } = this;
    if (!this.own) this.chosen = store.count ? [...new Set(Array.from(store.members(), (i) => cells.winners[i]))].sort((a, b) => a - b) : [];
    this.mark();
    this.dispatchEvent(new Event("choose"));
  }

  activate(cell, focus = true) {
    this.groups[this.active].setAttribute("tabindex", -1);
    this.active = cell;
    this.groups[cell].setAttribute("tabindex", 0);
    if (focus) this.groups[cell].focus();
    this.say(cell);
    this.mark();
  }

  listen() {
    const { picture: root } = this;
    const cellOf = (target) => Number(target.closest?.(".cell")?.dataset.cell ?? -1);
    const draw = eachFrame(() => this.rope.setAttribute("points", this.lasso ? points(this.lasso) : ""));
    const at = (event) => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
      return [x, y];
    };
    let [pressed, start] = [null, null];
    root.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      [pressed, start] = [event, at(event)];
    });
    root.addEventListener("pointermove", (event) => {
      if (!pressed) {
        this.say(cellOf(event.target));
        return;
      }
      if (event.pointerType === "touch" && !root.classList.contains("lassoing")) return;
      if (!this.lasso && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) > 5) {
        root.setPointerCapture(event.pointerId);
        this.lasso = [start];
      }
      if (!this.lasso) return;
      this.lasso.push(at(event));
      draw();
    });
    const lift = (event) => {
      if (!pressed) return;
      const added = event.ctrlKey || event.shiftKey || event.metaKey;
      const cell = cellOf(event.target);
      if (this.lasso) {
        const { lasso, place } = this;
        const inside = this.groups.map((_, one) => one).filter((one) => contains(lasso, ...place.centers[one]));
        this.choose(inside, added, false);
      } else if (event.type === "pointerup") {
        if (cell >= 0) this.activate(cell);
        if (cell >= 0 || !added) this.choose(cell >= 0 ? [cell] : [], added);
      }
      pressed = this.lasso = null;
      draw();
    };
    root.addEventListener("pointerup", lift);
    root.addEventListener("pointercancel", lift);
    root.addEventListener("keydown", (event) => this.press(event));
    root.addEventListener("focusin", () => this.mark());
    root.addEventListener("focusout", () => this.mark());
  }

  press(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) {
      const next = this.ahead(...ways[event.key]);
      if (next >= 0) this.activate(next);
    } else if (event.key === "Enter" || event.key === " ") this.choose([this.active], event.ctrlKey || event.shiftKey || event.metaKey);
    else if (event.key === "Escape") this.choose([], false);
    else return;
    event.preventDefault();
  }

  // The nearest cell in a direction, within an angle of 45 degrees.
  ahead(wx, wy) {
    const { centers } = this.place;
    const [x, y] = centers[this.active];
    let [best, least] = [-1, Infinity];
    centers.forEach(([cx, cy], cell) => {
      const along = (cx - x) * wx + (cy - y) * wy;
      const aside = Math.abs((cx - x) * wy) + Math.abs((cy - y) * wx);
      const cost = along + 1.5 * aside; // on hexagons the row above is before the one behind it
      if (along > 1e-6 && aside <= along * 1.001 && cost < least) [best, least] = [cell, cost];
    });
    return best;
  }
}

// Slope and level of the line that fits pixels to the values of features best.
function inkOf(images, columns) {
  const d = columns.length;
  const sums = [0, 0, 0, 0, 0];
  for (let i = 0; i < Math.min(images.shape[0], 50); i++) {
    for (let j = 0; j < d; j++) {
      const [x, y] = [columns[j].values[i], images[i * d + j]];
      [1, x, y, x * x, x * y].forEach((term, k) => (sums[k] += term));
    }
  }
  const [n, x, y, xx, xy] = sums;
  const slope = (xy - (x * y) / n) / (xx - (x * x) / n || 1);
  return [slope, (y - slope * x) / n];
}

// The chosen cells: their prototypes against the mean of all samples, and their most typical members.
function cellsPanel(store, cells, view) {
  const body = h("div", { "aria-live": "polite" });
  const { planes, samples } = cells;
  const spreads = samples.columns.map((column) => column.values && moments(column.values));
  const renew = () => {
    const { chosen } = view;
    if (!chosen.length) {
      body.replaceChildren(h("p", { class: "hint" }, "Click a cell to see its prototype and its members."));
      return;
    }
    const members = chosen.flatMap((cell) => cells.members[cell]);
    const one = chosen.length === 1;
    const parts = [h("p", {}, one ? h("strong", {}, cells.describe(chosen[0])) :
      h("strong", {}, `${chosen.length} cells: ${plural(members.length, "sample")}`),
      members.length ? ` (${percent(members.length / cells.n, 1)} of all).` : ".")];
    if (one && Number.isFinite(cells.heights[chosen[0]])) {
      const rank = cells.heights.reduce((sum, other) => sum + (other < cells.heights[chosen[0]]), 0);
      parts.push(h("p", { class: "hint" }, `The mean distance from its neighbors is ${number(cells.heights[chosen[0]])}; ` +
        `${percent(rank / cells.k)} of the cells are nearer to their neighbors.`));
    }
    if (planes) parts.push(...prototypeOf(chosen, one));
    const typical = members.sort((a, b) => cells.distances[a] - cells.distances[b] || a - b).slice(0, 8);
    if (typical.length) {
      parts.push(h("h3", {}, "Most typical samples, with their distance from the prototype"), h("ul", { class: "typical" }, typical.map((i) => h("li", {},
        h("button", { type: "button", class: "plain", onclick: () => store.look(i) },
          samples.images ? picture(samples.images, i, 40) : null, cells.label(i)),
        h("span", { class: "hint" }, ` ${number(cells.distances[i], 3)}`)))));
    }
    body.replaceChildren(...parts);
  };
  const prototypeOf = (chosen, one) => {
    const weights = chosen.map((cell) => cells.hits[cell]);
    const counted = weights.some(Boolean) ? weights : weights.map(() => 1);
    const mean = (column) => {
      let [sum, total] = [0, 0];
      chosen.forEach((cell, j) => {
        if (!counted[j] || Number.isNaN(column[cell])) return;
        sum += counted[j] * column[cell];
        total += counted[j];
      });
      return sum / (total || NaN);
    };
    const what = planes.of === "prototypes" ? (one ? "Prototype" : "Mean of the prototypes") : "Mean of the members";
    if (cells.pixels) return [h("h3", {}, what), cells.portrait(planes.columns.map(mean))];
    const rows = samples.columns.flatMap((column, j) => {
      if (!column.values || !(spreads[j].spread > 0)) return [];
      const here = mean(planes.columns[j]);
      if (Number.isNaN(here)) return [];
      return [{ name: column.name, value: (here - spreads[j].mean) / spreads[j].spread, text: number(here),
        title: `${column.name}: ${number(here, 9)} here, ${number(spreads[j].mean, 9)} on average`, onclick: () => view.color(String(j)) }];
    }).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    if (!rows.length) return [];
    const facts = one ? samples.columns.flatMap((column, j) => (column.categories && planes.columns[j][chosen[0]] >= 0
      ? [h("dt", {}, column.name), h("dd", {}, column.categories[planes.columns[j][chosen[0]]])] : [])) : [];
    return [h("h3", {}, what),
      h("p", { class: "hint" }, "Bars: difference from the mean of all samples, in standard deviations. Numbers: values in units of the table."),
      bars(rows, { label: what }), h("dl", {}, facts)];
  };
  view.addEventListener("choose", renew);
  renew();
  return panel("Cells", { id: "cells" }, body);
}

function moments(values) {
  const known = values.filter(Number.isFinite);
  const mean = known.reduce((a, b) => a + b, 0) / known.length;
  return { mean, spread: Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length) };
}

// All features at a glance, as small maps; alike ones vary together. A click colors the large map.
function planesPanel(cells, view) {
  const all = view.colorings.filter((one) => one.group);
  if (!all.length || cells.pixels) return null;
  const shown = all.length <= MOST_PLANES ? all : all.map((one) => [spreadOver(cells, one), one])
    .sort((a, b) => b[0] - a[0]).slice(0, MOST_PLANES).map(([, one]) => one);
  const thumbs = shown.map((one) => {
    const canvas = h("canvas", { width: 240, height: 180, "aria-hidden": "true" });
    const scale = scaleOf(one.column);
    const ends = scale.entries ? plural(scale.entries.length, "category", "categories") : `${number(scale.low, 3)} to ${number(scale.high, 3)}`;
    const button = h("button", { type: "button", class: "thumb", "aria-pressed": "false", onclick: () => view.color(one.key) },
      canvas, h("span", { class: "name" }, one.name), h("span", { class: "hint" }, ends));
    return { one, canvas, scale, button };
  });
  let waiting = [];
  const next = () => {
    const thumb = waiting.shift();
    if (!thumb) return;
    drawPlane(thumb.canvas, view.place, thumb.scale, valuesOf(thumb.one.column));
    setTimeout(next);
  };
  let drawn = null;
  const renew = () => {
    for (const { one, button } of thumbs) button.ariaPressed = String(view.coloring === one);
    const places = view.place.centers;
    if (drawn === places) return;
    drawn = places;
    const idle = !waiting.length;
    waiting = [...thumbs];
    if (idle) setTimeout(next);
  };
  view.addEventListener("color", renew);
  renew();
  const about = [cells.planes.of === "prototypes" ? "Component planes: the prototypes, feature by feature." : "Means of cells, feature by feature.",
    "Each map has its own scale, from dark (low) to bright (high). Features with similar maps vary together. Click a map to enlarge it.",
    all.length > MOST_PLANES ? `The ${MOST_PLANES} of ${all.length} features that vary most over the map.` : ""].join(" ");
  return panel("Features", { class: "panel wide", id: "planes" }, h("p", { class: "hint" }, about),
    h("div", { class: "thumbs" }, thumbs.map(({ button }) => button)));
}

// How much of a feature varies over the map: the variance of prototypes as a share of that of samples.
function spreadOver(cells, { key, column }) {
  const samples = cells.samples.columns[Number(key)].values;
  if (!samples) return 0;
  return moments(column.values).spread / (moments(samples).spread || Infinity);
}

function drawPlane(canvas, place, scale, values) {
  const context = canvas.getContext("2d");
  const [left, top, width, height] = place.box();
  const size = Math.min(240 / width, 180 / height);
  canvas.height = Math.max(40, Math.ceil(size * height));
  context.setTransform(size, 0, 0, size, 120 - (left + width / 2) * size, canvas.height / 2 - (top + height / 2) * size);
  place.centers.forEach(([x, y], cell) => {
    context.beginPath();
    const corners = place.corners(cell, 1.02);
    if (corners) corners.forEach((corner, j) => (j ? context.lineTo(...corner) : context.moveTo(...corner)));
    else context.arc(x, y, 1.15 * place.radii[cell], 0, 2 * Math.PI);
    context.fillStyle = css(scale.color(values[cell]));
    context.fill();
  });
}
