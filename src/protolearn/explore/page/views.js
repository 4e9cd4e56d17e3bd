// The page of a view: positions of all samples, colored by class, any feature, or how well each is placed; lines to the
// true neighbors of a sample; and, if the view is a formula, a form that places a sample that is typed in.

import { h, panel, choice, number, percent } from "./dom.js";
import { css, scaleOf, valuesOf } from "./colors.js";
import { Scatter } from "./scatter.js";
import { placed } from "./mapping.js";
import { tableColumns, samplePanel, selectionPanel, tablePanel, legend } from "./panels.js";

const KEPT = [0, 158, 115];
const TORN = [213, 94, 0];
const NEW = [204, 121, 167];

export function viewPage(doc, store) {
  const { quality, neighbors, positions, mapping } = doc.view;
  const { names, classes } = doc.samples;
  const own = tableColumns(doc);
  const columns = [...own.slice(0, classes ? 1 : 0), ...quality, ...own.slice(classes ? 1 : 0)];
  const options = columns.map((column, j) => ({
    value: String(j), text: column.text ?? column.name, group: column.group ?? (classes && j === 0 ? "" : "Features"),
  }));
  let [column, values, scale] = [null, null, { color: () => [0, 114, 178] }];
  const shown = (i) => (column.categories ? (column.categories[values[i]] ?? "–") : number(values[i]));
  const guest = { place: null };
  const lines = h("input", { type: "checkbox", id: "true-neighbors", checked: true, onchange: () => scatter.redraw() });
  const scatter = new Scatter(store, positions, (i) => scale.color(values ? values[i] : 0), {
    label: doc.title,
    name: (i) => names[i],
    tip: (i) => [
      classes && column !== columns[0] ? (classes.names[classes.codes[i]] ?? "–") : null,
      column ? `${column.name}: ${shown(i)}` : null,
    ].filter(Boolean),
    over: (context) => {
      if (neighbors && lines.checked) drawLines(context, scatter, store.focus, neighborsOf(neighbors, positions, store.focus));
      if (guest.place) drawGuest(context, ...scatter.toScreen(...guest.place));
    },
  });
  const key = h("div");
  const color = (j) => {
    column = columns[j];
    values = valuesOf(column);
    scale = scaleOf(column);
    key.replaceChildren(legend(scale, store, values));
    scatter.draw();
  };
  if (columns.length) color(0);
  const standing = quality.map((one) => one.values.toSorted());
  const about = (i) => [
    ...(neighbors ? [neighborWords(neighborsOf(neighbors, positions, i), names, store)] : []),
    ...quality.map((one, q) => qualityWords(one, standing[q], i)),
  ];
  const seen = panel("View", { class: "panel main" },
    h("div", { class: "choices" },
      columns.length ? choice("Color", options, "0", (j) => color(Number(j))) : null,
      neighbors ? h("span", { class: "choice" }, lines, h("label", { for: "true-neighbors" }, "True neighbors (dashed: far away in the view)")) : null),
    scatter.element, key);
  const side = h("div", { class: "side" }, samplePanel(doc, store, about), selectionPanel(doc, store),
    mapping ? placePanel(doc, store, scatter, guest) : null);
  return [seen, side, tablePanel(doc, store, quality)];
}

// The nearest samples in the data, and which of them are among as many nearest in the view.
function neighborsOf(neighbors, positions, i) {
  if (i < 0) return [];
  const k = neighbors.shape[1];
  const near = new Set(nearestIn(positions, positions[2 * i], positions[2 * i + 1], k, i));
  return Array.from(neighbors.subarray(i * k, (i + 1) * k), (j) => ({ j, kept: near.has(j) }));
}

// The k points nearest to a place, the nearest first; one of them may be left out.
function nearestIn(positions, x, y, k, without = -1) {
  const found = [];
  for (let i = 0; i < positions.length / 2; i++) {
    const square = (positions[2 * i] - x) ** 2 + (positions[2 * i + 1] - y) ** 2;
    if (i === without || (found.length === k && square >= found[k - 1][0])) continue;
    let place = found.length;
    while (place > 0 && found[place - 1][0] > square) place--;
    found.splice(place, 0, [square, i]);
    found.length = Math.min(found.length, k);
  }
  return found.map(([, i]) => i);
}

function drawLines(context, scatter, focus, found) {
  if (focus < 0) return;
  const start = scatter.at(focus);
  context.lineWidth = 1.6;
  for (const { j, kept } of found) {
    context.beginPath();
    context.moveTo(...start);
    context.lineTo(...scatter.at(j));
    context.strokeStyle = css(kept ? KEPT : TORN, 0.9);
    context.setLineDash(kept ? [] : [6, 4]);
    context.stroke();
  }
  context.setLineDash([]);
}

function drawGuest(context, x, y) {
  for (const [color, width, fill] of [["#fff", 5, false], ["#111", 2, true]]) {
    context.beginPath();
    [[0, -9], [9, 0], [0, 9], [-9, 0]].forEach(([dx, dy], k) => (k ? context.lineTo(x + dx, y + dy) : context.moveTo(x + dx, y + dy)));
    context.closePath();
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
    context.fillStyle = css(NEW);
    if (fill) context.fill();
  }
}

function neighborWords(found, names, store) {
  const kept = found.filter((one) => one.kept).length;
  const mark = (color) => {
    const line = h("span", { class: "mark", "aria-hidden": "true" });
    line.style.background = css(color);
    return line;
  };
  return h("div", { class: "neighbors" },
    h("p", {}, `${kept} of its ${found.length} nearest samples in the data are among its ${found.length} nearest in the view.`),
    h("ul", { class: "chips", "aria-label": "Nearest samples in the data" }, found.map(({ j, kept: near }) =>
      h("li", {}, h("button", {
        type: "button", title: near ? "also near in the view" : "far away in the view", onclick: () => store.look(j),
      }, mark(near ? KEPT : TORN), names[j])))));
}

function qualityWords(column, sorted, i) {
  const value = column.values[i];
  let below = 0;
  while (below < sorted.length && sorted[below] < value) below++;
  const rank = value > 0 ? `, more than ${percent(below / sorted.length)} of all samples` : "";
  return h("p", { class: "hint" }, `${column.word}: ${number(value, 3)} %${rank}.`);
}

// A form of the features: the page computes where the mapping places what is typed in.
function placePanel(doc, store, scatter, guest) {
  const { mapping, positions } = doc.view;
  const { columns, names } = doc.samples;
  const fields = columns.map((column, j) => h("input", {
    type: "number", step: "any", id: `feature-${j}`, oninput: () => place(),
  }));
  const answer = h("p", { role: "status", class: "place" });
  const near = h("ul", { class: "chips", "aria-label": "Nearest samples in the view" });
  const place = () => {
    const features = fields.map((field) => field.valueAsNumber);
    const whole = features.every(Number.isFinite);
    const found = whole ? placed(mapping, features) : null;
    guest.place = found ? [found[0], found.length > 1 ? found[1] : 0] : null;
    answer.textContent = found ? `Placed at ${Array.from(found.slice(0, 2), (value) => number(value, 5)).join(", ")}` :
      "Enter a number for every feature.";
    near.replaceChildren(...(found ? nearestIn(positions, ...guest.place, 5).map((i) =>
      h("li", {}, h("button", { type: "button", onclick: () => store.look(i) }, names[i]))) : []));
    scatter.redraw();
    return found;
  };
  const fill = (value) => {
    columns.forEach((column, j) => (fields[j].value = String(value(column, j))));
    place();
  };
  const fromSample = () => fill((column) => column.values[store.focus]);
  const fromMean = () => fill((_, j) => Number(mapping.steps.middle[j].toPrecision(6)));
  const remove = () => {
    guest.place = null;
    for (const field of fields) field.value = "";
    answer.textContent = "";
    near.replaceChildren();
    scatter.redraw();
  };
  const sample = h("button", { type: "button", onclick: fromSample }, "Start from the sample looked at");
  const renew = () => (sample.disabled = store.focus < 0);
  store.on("focus", renew);
  renew();
  return panel("Place a sample", { id: "place" },
    h("p", { class: "hint" }, "Enter values of the features; the diamond in the view shows where the model places the sample."),
    h("div", { class: "buttons" }, sample, h("button", { type: "button", onclick: fromMean }, "Start from the mean"),
      h("button", { type: "button", onclick: remove }, "Remove")),
    answer, near,
    h("div", { class: "fields" }, columns.map((column, j) =>
      h("div", {}, h("label", { for: `feature-${j}` }, column.name), fields[j]))));
}
