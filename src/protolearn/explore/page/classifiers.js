// The page of a classifier: its plane, its decision on one sample and what would change it, its mistakes, and what it
// has learned.

import { choice, eachFrame, h, isDark, number, panel, percent, picture, plural, svg } from "./dom.js";
import { bars } from "./bars.js";
import { Classifier } from "./lvq.js";
import { Scatter } from "./scatter.js";
import { classColors, css, extent, inkOn, scaleOf, valuesOf } from "./colors.js";
import { tableColumns, selectionPanel, tablePanel, legend } from "./panels.js";

const FOR = [0, 114, 178];
const AGAINST = [213, 94, 0];
const FIRST = 10; // features that are shown at once

// The sample that is looked at with the changes that the reader has made to it, and the threshold of confidence.
class Desk {
  constructor(doc, store) {
    this.samples = doc.samples;
    this.store = store;
    this.model = new Classifier(doc.classifier, doc.samples.columns, store.n);
    this.colors = classColors(Math.max(this.model.classes.length, doc.samples.classes?.names.length ?? 0));
    this.changes = new Map();
    this.held = new Set();
    this.threshold = this.model.threshold;
    store.on("focus", () => this.reset());
  }

  reset() {
    this.changes = new Map();
    this.renew();
  }

  change(i, value) {
    const given = this.model.given(this.model.features[i], this.store.focus);
    if (Object.is(value, given)) this.changes.delete(i);
    else this.changes.set(i, value);
    this.renew();
  }

  renew() {
    const { model, changes, threshold } = this;
    const { focus } = this.store;
    this.before = focus < 0 ? null : model.look(focus, new Map(), threshold);
    this.now = changes.size ? model.look(focus, changes, threshold) : this.before;
    this.store.dispatchEvent(new Event("decision"));
  }

  setThreshold(value) {
    this.threshold = value;
    this.store.dispatchEvent(new Event("threshold"));
    this.renew();
  }

  // The answer to each sample as it is: the number of a class, or -1.
  answer(i) {
    const { model } = this;
    const refused = (this.threshold > 0 && model.confidence[i] < this.threshold) || model.novel?.[i];
    return refused ? -1 : model.codes[model.winners[i]];
  }

  className(code) {
    return code < 0 ? "no answer" : this.model.classes[code];
  }

  mark(code) {
    const mark = h("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = code < 0 ? "transparent" : css(this.colors[code]);
    return mark;
  }

  prototypeName(p) {
    const { codes, classes } = this.model;
    const mates = [...codes.keys()].filter((q) => codes[q] === codes[p]);
    return mates.length > 1 ? `${classes[codes[p]]} · ${mates.indexOf(p) + 1}` : classes[codes[p]];
  }
}

export function classifierPage(doc, store) {
  const desk = new Desk(doc, store);
  const { model } = desk;
  doc.desk = desk; // for tests, and for the curious
  const { classes } = doc.samples;
  const answers = [
    { name: "prediction", categories: classes?.names ?? model.classes, codes: model.winners.map((p) => model.codes[p]) },
    { name: "confidence", values: model.confidence },
  ];
  const pixels = model.computes ? pixelsOf(doc, model) : null;
  const start = () => {
    const nearest = model.confidence.reduce((best, value, i, all) => (value < all[best] ? i : best), 0);
    if (store.focus < 0) store.look(nearest);
  };
  requestAnimationFrame(start); // the sample nearest to a border tells most
  return [
    h("div", { class: "column" },
      planePanel(doc, store, desk, answers),
      thresholdPanel(store, desk, classes),
      model.relevances ? relevancePanel(desk, pixels) : null),
    h("div", { class: "column" },
      decisionPanel(doc, store, desk, pixels),
      classes ? mistakesPanel(store, desk, classes) : null,
      selectionPanel(doc, store),
      prototypePanel(store, desk, pixels)),
    tablePanel(doc, store, answers),
  ];
}

// If the features are the pixels of the images: how to make images of values of features.
function pixelsOf({ samples }, { features, columns }) {
  const { images } = samples;
  if (!images) return null;
  const [n, height, width, channels] = images.shape;
  const size = height * width * channels;
  const plain = features.every((feature) => !feature.categories && !feature.own);
  if (size !== columns.length || size !== features.length || !plain) return null;
  const [low, high] = extent(features.flatMap((feature) => [feature.low, feature.high]));
  const [dark, light] = extent(images);
  const shade = (value) => dark + ((value - low) / (high - low || 1)) * (light - dark);
  for (let s = 0; s < n; s += Math.ceil(n / 20)) {
    for (let j = 0; j < size; j++) if (Math.abs(shade(columns[j].values[s]) - images[s * size + j]) > 2) return null;
  }
  features.forEach((feature, j) => {
    const p = Math.floor(j / channels);
    if (feature.name !== `x${j}`) return;
    feature.name = columns[j].name = `row ${Math.floor(p / width) + 1}, col ${(p % width) + 1}`;
  });
  const draw = (bytes, depth, side) => picture(Object.assign(bytes, { shape: [1, height, width, depth] }), 0, side);
  return {
    ofValues: (values, side) => draw(Uint8ClampedArray.from(values, shade), channels, side),
    ofWeights(weights, side) { // blue for what is positive, orange for what is negative, of all channels together
      const sums = Array.from({ length: height * width }, (_, p) => {
        let sum = 0;
        for (let c = 0; c < channels; c++) sum += weights[p * channels + c];
        return sum;
      });
      const largest = Math.max(...sums.map(Math.abs)) || 1;
      return draw(Uint8ClampedArray.from(sums.flatMap((value) => blend(value / largest))), 3, side);
    },
  };
}

const blend = (share) =>
  (share < 0 ? AGAINST : FOR).map((tone) => Math.round(255 + Math.min(Math.abs(share), 1) * (tone - 255)));

// --- the plane

function planePanel(doc, store, desk, answers) {
  const { model, colors, samples } = desk;
  const columns = [...tableColumns(doc), ...answers];
  const first = samples.classes ? 0 : columns.length - 2;
  const options = columns.map((column, j) => ({ value: String(j), text: column.name }));
  let [values, scale] = [null, null];
  const scatter = new Scatter(store, model.positions, (i) => scale.color(values[i]), {
    label: "Plane",
    name: (i) => `${samples.names[i]}: ${desk.className(desk.answer(i))}, confidence ${model.confidence[i].toFixed(3)}`,
  });
  desk.scatter = scatter;
  const key = h("div");
  const color = (j) => {
    values = valuesOf(columns[j]);
    scale = scaleOf(columns[j]);
    key.replaceChildren(legend(scale, store, values));
    scatter.draw();
  };
  if (model.computes) {
    const places = [...model.codes.keys()].map((p) => model.place(model.prototype(p)));
    const ends = [0, 1].map((axis) => extent(model.positions.filter((_, i) => i % 2 === axis)));
    const near = (place) => place.every((at, axis) => {
      const [low, high] = ends[axis];
      return at > 1.5 * low - 0.5 * high && at < 1.5 * high - 0.5 * low;
    });
    scatter.extra = places.filter(near).flat(); // prototypes may be far away from all samples
    const regions = document.createElement("canvas");
    scatter.under = (context) => paintRegions(context, regions, scatter, desk);
    scatter.over = (context) => {
      if (desk.changes.size) drawMove(context, scatter, model.place(desk.before.z), model.place(desk.now.z));
      places.forEach((place, p) => {
        const code = model.codes[p];
        drawDiamond(context, scatter.toScreen(...place), css(colors[code]), model.k <= 40 ? model.classes[code] : "");
      });
    };
  }
  store.on("decision", scatter.draw);
  color(first);
  return panel("Plane", { class: "panel plane-panel" },
    choice("Color", options, String(first), (j) => color(Number(j))), scatter.element, key,
    h("p", { class: "hint" }, model.computes ? aboutPlane(model) :
      "Principal components of the distances between samples and prototypes."));
}

function aboutPlane({ shares, stretch, complete }) {
  const share = percent(shares.reduce((sum, value) => sum + value, 0));
  return [
    `The two directions in which the prototypes (diamonds) differ most, with ${share} of their variance.`,
    stretch > 1 ? `The second direction is enlarged ${number(stretch, 2)} times.` : null,
    complete ? "Background: the predicted class at each position, which depends on the position alone." :
      "Background: the predicted class in a slice through the current sample; for other samples it may differ.",
    "It is blank where samples are rejected.",
  ].filter(Boolean).join(" ");
}

function paintRegions(context, canvas, scatter, desk) {
  const { model, colors, threshold } = desk;
  const z = desk.now?.z ?? Float64Array.from(model.center);
  const forms = model.slice(z);
  const [px, py] = model.place(z);
  const work = scatter.width * scatter.height * forms.length;
  const step = Math.min(Math.max(Math.ceil(Math.sqrt(work / 1.5e6)), 2), 8); // pixels that are computed as one
  const [width, height] = [Math.ceil(scatter.width / step), Math.ceil(scatter.height / step)];
  Object.assign(canvas, { width, height });
  const surface = canvas.getContext("2d");
  const image = surface.createImageData(width, height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [planeX, planeY] = scatter.toPlane((column + 0.5) * step, (row + 0.5) * step);
      const [x, y] = [planeX - px, planeY - py];
      let [least, second, code, covered] = [Infinity, Infinity, -1, !model.radii];
      for (const form of forms) {
        const d = form.c + x * (2 * form.bx + form.xx * x) + y * (2 * (form.by + form.xy * x) + form.yy * y);
        covered ||= d <= form.radius;
        if (d < least) {
          if (form.code !== code) second = least;
          [least, code] = [d, form.code];
        } else if (d < second && form.code !== code) second = d;
      }
      if (!covered || (threshold > 0 && (second - least) / (second + least) < threshold)) continue;
      const at = 4 * (row * width + column);
      image.data.set(colors[code], at);
      image.data[at + 3] = 58;
    }
  }
  surface.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(canvas, 0, 0, width * step, height * step);
}

function drawDiamond(context, [x, y], color, name) {
  context.beginPath();
  for (const [dx, dy] of [[0, -8], [8, 0], [0, 8], [-8, 0]]) context.lineTo(x + dx, y + dy);
  context.closePath();
  for (const [strokeStyle, lineWidth] of [["#fff", 4], ["#111", 1.5]]) {
    Object.assign(context, { strokeStyle, lineWidth });
    context.stroke();
  }
  context.fillStyle = color;
  context.fill();
  if (!name) return;
  const text = name.length > 14 ? `${name.slice(0, 13)}…` : name;
  const dark = isDark();
  Object.assign(context, {
    font: "600 13px system-ui, sans-serif", textBaseline: "middle", lineWidth: 3, lineJoin: "round",
    fillStyle: dark ? "#fff" : "#111", strokeStyle: dark ? "rgb(0 0 0 / 0.8)" : "rgb(255 255 255 / 0.85)",
  });
  context.strokeText(text, x + 12, y);
  context.fillText(text, x + 12, y);
}

function drawMove(context, scatter, from, to) {
  const [[x0, y0], [x1, y1]] = [scatter.toScreen(...from), scatter.toScreen(...to)];
  for (const [color, width] of [["#fff", 5], ["#111", 2]]) {
    Object.assign(context, { strokeStyle: color, lineWidth: width });
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    context.beginPath();
    context.arc(x1, y1, 6, 0, 2 * Math.PI);
    context.stroke();
  }
  context.fillStyle = "#fff";
  context.fill();
}

// --- the decision on one sample

function decisionPanel(doc, store, desk, pixels) {
  const { model, samples, colors } = desk;
  const title = h("p", { class: "name" });
  const image = h("div", { class: "pictures" });
  const verdict = h("p", { class: "verdict", role: "status", id: "verdict" });
  const chances = h("div");
  const ways = h("div");
  const words = h("div");
  const sliders = model.computes ? new Sliders(store, desk) : null;
  const about = () => {
    const i = store.focus;
    if (i < 0) return;
    const label = samples.classes?.names[samples.classes.codes[i]];
    title.replaceChildren(h("strong", {}, samples.names[i]), label === undefined ? "" : `, true class ${label}`);
    words.replaceChildren(...(samples.texts ? [h("p", { class: "words" }, samples.texts[i].slice(0, 2000))] : []));
  };
  const renew = () => {
    const { now, before } = desk;
    if (!now) return;
    const code = model.codes[now.winner];
    const was = before.predicted === now.predicted ? "" : `, no longer ${desk.className(before.predicted)}`;
    verdict.replaceChildren(desk.mark(now.predicted), h("strong", {}, desk.className(now.predicted)), was,
      h("span", { class: "hint" }, ` confidence ${now.confidence.toFixed(3)}`),
      now.predicted < 0 ? h("span", { class: "hint" }, ` (nearest class: ${model.classes[code]})`) : "");
    const order = [...now.probabilities.keys()].sort((a, b) => now.probabilities[b] - now.probabilities[a]);
    chances.replaceChildren(bars(order.slice(0, 6).map((c) => ({
      name: model.classes[c], value: now.probabilities[c], text: percent(now.probabilities[c], 1), color: css(colors[c]),
    })), { label: "Probabilities of classes", span: 1 }));
    const nearest = [...now.D.keys()].filter((p) => Number.isFinite(now.D[p])).sort((a, b) => now.D[a] - now.D[b]);
    ways.replaceChildren(bars(nearest.slice(0, 6).map((p) => ({
      name: desk.prototypeName(p), value: now.D[p], color: css(colors[model.codes[p]]),
    })), { label: "Squared distances to prototypes" }));
    if (samples.images) {
      const changed = pixels && desk.changes.size;
      image.replaceChildren(...[
        figure("original", picture(samples.images, store.focus, 112)),
        changed ? figure("changed", pixels.ofValues(model.valuesIn(now.z), 112)) : null,
        pixels && now.contributions
          ? figure(`blue: for ${model.classes[code]}, orange: against`, pixels.ofWeights(now.contributions, 112)) : null,
      ].filter(Boolean));
    }
  };
  store.on("focus", about);
  store.on("decision", renew);
  return panel("Decision", { id: "sample" }, title, image, words, verdict,
    h("div", { class: "pair" },
      h("div", {}, h("h3", {}, "Probability"), chances),
      h("div", {}, h("h3", {}, "Squared distance to prototypes"), ways)),
    sliders ? sliders.element : h("p", { class: "hint" },
      `This page cannot compute the distances of ${model.model}. It shows the stored results for each sample.`));
}

const figure = (caption, content) => h("figure", {}, content, h("figcaption", {}, caption));

// Features with what each adds to the decision, and inputs to change them by.
class Sliders {
  constructor(store, desk) {
    Object.assign(this, { store, desk, all: false, rows: [] });
    const { model } = desk;
    this.heading = h("h3");
    this.list = h("ul", { class: "features", "aria-label": "Features" });
    this.more = h("button", { type: "button", class: "more", onclick: () => { this.all = true; this.build(); } });
    this.message = h("p", { class: "hint", role: "status", id: "found" });
    this.target = -1;
    const targets = ["any other class", ...model.classes].map((text, c) => ({ value: String(c - 1), text }));
    this.few = h("input", { type: "checkbox", id: "few" });
    this.undo = h("button", { type: "button", id: "reset", onclick: () => this.reset() }, "Reset");
    this.element = h("div", {},
      this.heading,
      h("p", { class: "hint" },
        "Bars to the right support the class, bars to the left speak against it. Change values to see their effect."),
      this.list, this.more,
      h("div", { class: "act" },
        h("button", { type: "button", id: "counterfactual", onclick: () => this.seek() }, "Nearest counterfactual"),
        choice("to", targets, "-1", (c) => { this.target = Number(c); }),
        h("label", { class: "hold" }, this.few, "with few features"), this.undo),
      this.message,
      model.note ? h("p", { class: "hint" }, model.note) : null);
    store.on("focus", () => { this.message.textContent = ""; this.build(); });
    store.on("decision", eachFrame(() => this.renew()));
  }

  reset() {
    this.message.textContent = "";
    this.desk.reset();
    this.build();
  }

  // The smallest change to another class, as new positions of the sliders.
  seek() {
    const { desk, store, target } = this;
    const { model } = desk;
    const start = desk.now.z;
    if (target >= 0 && target === desk.now.predicted) {
      this.message.textContent = `The sample is already in class ${desk.className(target)}.`;
      return;
    }
    const asked = { target, held: desk.held, threshold: desk.threshold };
    const found = model[this.few.checked ? "fewChanges" : "counterfactual"](store.focus, desk.changes, asked);
    if (!found) {
      this.message.textContent =
        "The search found no such change within the range of the samples. Hold fewer features fixed.";
      return;
    }
    const before = new Map(desk.changes);
    desk.changes = found;
    desk.renew();
    this.build();
    const value = (i, changes) => (changes.has(i) ? changes.get(i) : model.given(model.features[i], store.focus));
    const moves = [...found.keys()].filter((i) => value(i, before) !== value(i, found));
    const weight = (i) => model.weight(start, desk.now.z, model.features[i]);
    moves.sort((a, b) => weight(b) - weight(a));
    const told = moves.slice(0, 3).map((i) => {
      const ends = [value(i, before), value(i, found)];
      const digits = [4, 6, 8, 12].find((enough) => number(ends[0], enough) !== number(ends[1], enough));
      return `${model.features[i].name} ${ends.map((end) => number(end, digits ?? 12)).join(" → ")}`;
    });
    const rest = moves.length > 3 ? ` and ${plural(moves.length - 3, "smaller change")}` : "";
    const reached = model.classes[model.codes[desk.now.winner]];
    const doubt = desk.now.predicted < 0 ? ", but rejected as too far from the training samples," : "";
    this.message.textContent = `${reached}${doubt} with ${told.join(", ")}${rest}.`;
  }

  // Rows in the order of what they add, the most first, behind what was changed; they stay while values change.
  build() {
    const { desk, store } = this;
    const { model, before, changes } = desk;
    if (store.focus < 0) return;
    const order = [...model.features.keys()];
    const size = (i) => Math.abs(before.contributions?.[i] ?? 0);
    const few = changes.size < FIRST;
    order.sort((a, b) => (few && changes.has(b) - changes.has(a)) || size(b) - size(a));
    this.rows = order.slice(0, this.all ? order.length : FIRST).map((i) => this.row(i));
    this.list.replaceChildren(...this.rows.map((row) => row.element));
    this.more.hidden = this.all || order.length <= FIRST;
    this.more.textContent = `Show all ${order.length} features`;
    this.renew();
  }

  row(i) {
    const { desk, store } = this;
    const { model } = desk;
    const feature = model.features[i];
    const { name } = feature;
    const bar = h("span", { class: "bar" });
    const track = h("span", { class: "track", role: "img" }, bar);
    const was = h("span", { class: "was" });
    const hold = h("input", {
      type: "checkbox", "aria-label": `hold ${name}`, checked: desk.held.has(i),
      title: "Features on hold are not changed in the counterfactual",
      onchange: () => (hold.checked ? desk.held.add(i) : desk.held.delete(i)),
    });
    const given = model.given(feature, store.focus);
    let fields;
    let show;
    if (feature.categories) {
      const select = h("select", { "aria-label": name, onchange: () => desk.change(i, Number(select.value)) },
        given < 0 ? h("option", { value: -1 }, "original") : null,
        feature.categories.map((text, c) => h("option", { value: c }, text)));
      fields = [select];
      show = (value) => { select.value = String(value); };
    } else {
      const [low, high, step] = rangeOf(feature);
      const slide = h("input", {
        type: "range", "aria-label": name, min: low, max: high, step,
        oninput: () => desk.change(i, Number(slide.value)),
      });
      const type = h("input", {
        type: "number", "aria-label": `${name}, number`, step: "any",
        onchange: () => desk.change(i, type.value === "" ? given : Number(type.value)),
      });
      fields = [slide, type];
      show = (value) => {
        slide.value = Number.isNaN(value) ? (low + high) / 2 : value;
        slide.setAttribute("aria-valuetext", number(value));
        type.value = Number.isNaN(value) ? "" : String(Number(value.toPrecision(5)));
      };
    }
    const element = h("li", { "data-feature": i }, h("span", { class: "name" }, name, was), track,
      h("span", { class: "fields" }, fields), h("label", { class: "hold" }, hold, "hold"));
    const text = feature.categories ? feature.categories[given] ?? "–" : number(given);
    return { i, element, bar, track, was, show, given, text };
  }

  renew() {
    const { desk } = this;
    const { model, now, changes } = desk;
    if (!now) return;
    this.undo.disabled = changes.size === 0;
    const [winner, rival] = [now.winner, now.rival].map((p) => model.classes[model.codes[p]]);
    this.heading.textContent = now.rival < 0 ? `${winner} is the only class` : `Why ${winner} and not ${rival}?`;
    const parts = now.contributions ?? model.features.map(() => 0);
    const largest = Math.max(...parts.map(Math.abs), 1e-300);
    const total = parts.reduce((sum, value) => sum + Math.abs(value), 0) || 1;
    for (const { i, element, bar, track, was, show, given, text } of this.rows) {
      const size = (50 * Math.abs(parts[i])) / largest;
      bar.style.width = `${size}%`;
      bar.style.marginInlineStart = `${parts[i] < 0 ? 50 - size : 50}%`;
      bar.style.background = css(parts[i] < 0 ? AGAINST : FOR);
      const share = percent(Math.abs(parts[i]) / total);
      const words = `${parts[i] < 0 ? "against" : "for"} ${winner}, ${share} of the total contribution`;
      track.setAttribute("aria-label", words);
      track.title = words;
      const changed = changes.has(i);
      element.classList.toggle("changed", changed);
      was.textContent = changed ? ` was ${text}` : "";
      show(changed ? changes.get(i) : given);
    }
  }
}

// Ends and step of a slider: the range of the samples and a tenth more to each side, unless only 0 and 1 make sense.
function rangeOf({ low, high, whole }) {
  const span = high - low || 1;
  const room = whole && span <= 1 ? 0 : span / 10;
  const [from, to] = [low >= 0 ? Math.max(low - room, 0) : low - room, high + room];
  if (whole) return [Math.floor(from), Math.ceil(to), 1];
  const step = 10 ** Math.floor(Math.log10(span / 200));
  return [Math.floor(from / step) * step, Math.ceil(to / step) * step, step];
}

// --- right, wrong, and no answer

function mistakesPanel(store, desk, classes) {
  const { model } = desk;
  const width = model.classes.length;
  const summary = h("p");
  const table = h("table", { class: width > 12 ? "confusion dense" : "confusion" });
  let boxes = new Map();
  const place = (i) => [classes.codes[i], desk.answer(i)];
  const box = (truth, code, cell, total) => {
    const name = code < 0 ? "no answer" : model.classes[code];
    const label = `${plural(cell.length, "sample")} of ${classes.names[truth]}, answer: ${name}`;
    const found = h("td", {}, h("button", {
      type: "button", class: "plain", disabled: !cell.length, "aria-label": label, title: label,
      onclick: () => store.select(cell, label),
    }, cell.length || "·"));
    if (cell.length) {
      const tone = code === truth ? FOR : AGAINST;
      const share = cell.length / total;
      found.style.background = css(tone, 0.15 + 0.85 * share);
      if (share > 0.45) found.style.color = inkOn(tone);
    }
    boxes.set(`${truth} ${code}`, found);
    return found;
  };
  const renew = () => {
    const cells = classes.names.map(() => Array.from({ length: width + 1 }, () => [])); // the last: no answer
    for (let i = 0; i < store.n; i++) {
      const [truth, code] = place(i);
      if (truth >= 0) cells[truth].at(code).push(i);
    }
    const codes = [...model.classes.keys(), ...(cells.some((row) => row[width].length) ? [-1] : [])];
    boxes = new Map();
    table.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { class: "corner" }, "truth ↓ answer →"),
        codes.map((code) => h("th", { scope: "col", title: desk.className(code) }, desk.className(code))))),
      h("tbody", {}, cells.map((row, truth) => {
        const total = row.reduce((sum, cell) => sum + cell.length, 0);
        if (!total) return null;
        return h("tr", {}, h("th", { scope: "row", title: classes.names[truth] }, classes.names[truth]),
          codes.map((code) => box(truth, code, row.at(code), total)));
      })));
    count();
    point();
  };
  const count = () => {
    let [right, answered] = [0, 0];
    for (const i of store.members()) {
      const [truth, code] = place(i);
      answered += truth >= 0 && code >= 0;
      right += truth === code && code >= 0;
    }
    summary.replaceChildren(h("strong", {}, percent(right / answered, 1)),
      ` correct of ${plural(answered, "sample")} with an answer${store.count ? ", in the selection" : ""}.`);
  };
  const point = () => { // at the cell of the sample that is looked at
    const here = store.focus < 0 ? null : boxes.get(place(store.focus).join(" "));
    for (const found of boxes.values()) found.classList.toggle("here", found === here);
  };
  store.on("threshold", renew);
  store.on("select", count);
  store.on("focus", point);
  renew();
  return panel("Confusion matrix", { class: "panel mistakes" }, summary, h("div", { class: "scroller" }, table),
    h("p", { class: "hint" }, "Click a number to select its samples. The numbers refer to the samples on this page; if the " +
      "model was trained on them, its accuracy on new samples will be lower."));
}

function thresholdPanel(store, desk, classes) {
  const { model } = desk;
  const { confidence } = model;
  const { n } = store;
  const right = (i) => classes?.codes[i] === model.codes[model.winners[i]];
  const order = [...confidence.keys()].filter((i) => !model.novel?.[i]).sort((a, b) => confidence[b] - confidence[a]);
  const curve = []; // from the largest threshold to the smallest
  for (let step = 100, k = 0, good = 0; step >= 0; step--) {
    while (k < order.length && confidence[order[k]] >= step / 100) good += right(order[k++]);
    curve.push({ t: step / 100, coverage: k / n, accuracy: good / k });
  }
  const [wide, tall, left, foot] = [innerWidth < 500 ? 320 : 480, 130, 38, 20];
  const x = (t) => left + t * (wide - left - 8);
  const y = (share) => 8 + (1 - share) * (tall - 8 - foot);
  const path = (part) => {
    const points = curve.filter((point) => Number.isFinite(point[part]));
    return svg("path", { class: part, d: `M${points.map((point) => `${x(point.t)} ${y(point[part])}`).join("L")}` });
  };
  const pointer = svg("line", { class: "pointer", y1: 8, y2: tall - foot });
  const here = svg("circle", { r: 4, class: "here" });
  const label = classes ? "Accuracy and coverage for each threshold" : "Coverage for each threshold";
  const chart = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, class: "chart", role: "img", "aria-label": label },
    [0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: left, x2: wide - 8, y1: y(share), y2: y(share) }),
      svg("text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
      svg("text", { x: x(share), y: tall - 6, "text-anchor": "middle" }, String(share)),
    ]),
    path("coverage"), classes ? path("accuracy") : null, pointer, here);
  const words = h("p", { role: "status" });
  const slide = h("input", {
    type: "range", id: "threshold", min: 0, max: 1, step: 0.01, value: desk.threshold,
    oninput: () => desk.setThreshold(Number(slide.value)),
  });
  const all = Array.from({ length: n }, (_, i) => i);
  const pick = h("button", {
    type: "button", onclick: () => store.select(all.filter((i) => desk.answer(i) < 0), "no answer"),
  }, "Select those without an answer");
  const renew = () => {
    const answered = all.filter((i) => desk.answer(i) >= 0);
    const good = answered.filter(right).length;
    pointer.setAttribute("x1", x(desk.threshold));
    pointer.setAttribute("x2", x(desk.threshold));
    pick.disabled = answered.length === n;
    words.replaceChildren("Confidence of at least ", h("strong", {}, number(desk.threshold, 2)),
      `: ${percent(answered.length / n, 1)} of the samples are answered`,
      classes ? `, ${percent(good / answered.length, 1)} of these correctly.` : ".");
  };
  store.on("threshold", renew);
  store.on("decision", () => {
    if (!desk.now) return;
    here.setAttribute("cx", x(desk.now.confidence));
    here.setAttribute("cy", tall - foot);
  });
  renew();
  return panel("When to answer", { class: "panel threshold" },
    h("label", { for: "threshold", class: "hint" }, "Minimum confidence"), slide, words, chart,
    h("div", { class: "legend" }, h("span", { class: "key coverage" }, "answered"),
      classes ? h("span", { class: "key accuracy" }, "correct among answered") : null,
      h("span", { class: "key here" }, "this sample"), pick));
}

// --- what was learned

function relevancePanel(desk, pixels) {
  const { model } = desk;
  const { relevances, pairs, features, N } = model;
  const sets = [...Array(relevances.shape[0]).keys()];
  const body = h("div");
  const show = (chosen) => {
    const shares = new Float64Array(N);
    const matrix = pairs ? new Float64Array(N * N) : null;
    for (const s of chosen) {
      const row = relevances.subarray(s * N, (s + 1) * N);
      const total = row.reduce((sum, value) => sum + value, 0) || 1;
      row.forEach((value, j) => { shares[j] += value / total / chosen.length; });
      matrix?.forEach((_, at) => { matrix[at] += pairs[s * N * N + at] / chosen.length; });
    }
    const values = features.map(({ columns }) => columns.reduce((sum, j) => sum + shares[j], 0));
    const rows = features.map(({ name }, i) => ({ name, value: values[i], text: percent(values[i], 1) }));
    body.replaceChildren(...[
      pixels ? h("div", { class: "pictures" }, pixels.ofWeights(values, 112)) : null,
      bars(rows.sort((a, b) => b.value - a.value), { label: "Relevances" }),
      matrix ? pairMap(matrix, model.columnNames()) : null,
    ].filter(Boolean));
  };
  const owner = (s) => (model.owners === "class" ? model.classes[s] : desk.prototypeName(s));
  const options = () => ["mean over all", ...sets.map(owner)].map((text, s) => ({ value: String(s - 1), text }));
  show(sets);
  return panel("Relevance of features", {},
    h("p", { class: "hint" }, "Share of each feature in the learned distance, for features in units of their standard deviation."),
    sets.length > 1 ? choice("Metric of", options(), "-1", (s) => show(Number(s) < 0 ? sets : [Number(s)])) : null, body);
}

// Entries of a relevance matrix beside the diagonal: which differences count together.
function pairMap(matrix, names) {
  const n = names.length;
  const entries = [...matrix.keys()].map((at) => [Math.floor(at / n), at % n, matrix[at]]).filter(([i, j]) => i !== j);
  const order = entries.filter(([i, j]) => i < j).sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
  if (!order[0]?.[2]) return null;
  const text = ([i, j, value]) => `${names[i]} and ${names[j]} (${number(value, 2)})`;
  const strongest = `Strongest: ${order.slice(0, 3).map(text).join("; ")}.`;
  const cells = entries.map((entry) => {
    const [i, j, value] = entry;
    const fill = css(blend(value / Math.abs(order[0][2])));
    return svg("rect", { x: j, y: i, width: 1.02, height: 1.02, fill }, svg("title", {}, text(entry)));
  });
  return h("details", {}, h("summary", {}, "Pairs of features"),
    h("p", { class: "hint" },
      `Blue: differences in the same direction add to the distance; orange: they cancel. ${strongest}`),
    svg("svg", { viewBox: `0 0 ${n} ${n}`, class: "pairs", role: "img", "aria-label": strongest }, cells));
}

function prototypePanel(store, desk, pixels) {
  const { model } = desk;
  const { n, k } = model;
  const spreads = model.features?.map((feature) => {
    const values = Array.from({ length: n }, (_, s) => model.given(feature, s)).filter(Number.isFinite);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, spread: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1 };
  });
  const numbers = [...Array(k).keys()];
  const body = h("div");
  const show = (p) => {
    const members = [...Array(n).keys()].filter((i) => model.winners[i] === p);
    const pick = () => store.select(members, desk.prototypeName(p));
    const count = h("button", { type: "button", onclick: pick }, plural(members.length, "sample"));
    body.replaceChildren(h("p", {}, "Nearest to ", count, members.length ? "; the most typical are" : ""),
      typical(store, desk, p, members), ...(model.computes && !pixels ? valuesOfPrototype(model, p, spreads) : []));
    chosen.querySelector("select").value = String(p);
  };
  const options = numbers.map((p) => ({ value: String(p), text: desk.prototypeName(p) }));
  const chosen = choice("Prototype", options, "0", (p) => show(Number(p)));
  const gallery = pixels ? h("div", { class: "pictures" }, numbers.slice(0, 100).map((p) => {
    const image = pixels.ofValues(model.valuesIn(model.prototype(p)), 64);
    return h("button", { type: "button", class: "plain", onclick: () => show(p) }, figure(desk.prototypeName(p), image));
  })) : null;
  show(0);
  store.on("focus", () => show(model.winners[store.focus]));
  return panel("Prototypes", {}, gallery, chosen, body);
}

// The samples that are most like a prototype, of the first thousand that are nearest to it.
function typical(store, { model, samples }, p, members) {
  const distance = (s) => (model.computes ? model.distanceTo(model.input(s), p) : model.measure(s)[p]);
  const ranked = members.slice(0, 1000).map((s) => [distance(s), s]).sort((a, b) => a[0] - b[0]);
  return h("p", { class: samples.images ? "pictures" : "typical" }, ranked.slice(0, 6).map(([, s]) => {
    const shown = samples.images ? picture(samples.images, s, 40) : samples.texts?.[s].slice(0, 80) ?? samples.names[s];
    return h("button", { type: "button", class: "plain", title: samples.names[s], onclick: () => store.look(s) }, shown);
  }));
}

// Its numbers against the mean of all samples, and its categories.
function valuesOfPrototype(model, p, spreads) {
  const values = model.valuesIn(model.prototype(p));
  const rows = [];
  const kinds = [];
  model.features.forEach(({ name, categories }, i) => {
    const { mean, spread } = spreads[i];
    if (categories) kinds.push(`${name}: ${categories[values[i]]}`);
    else {
      rows.push({
        name, value: (values[i] - mean) / spread, text: number(values[i], 3),
        title: `${name}: ${number(values[i])}, mean of all samples ${number(mean)}`,
      });
    }
  });
  rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return [
    h("p", { class: "hint" }, "Values of the prototype. Bars: difference from the mean of all samples, in standard deviations."),
    bars(rows, { label: "Values of the prototype" }), h("p", {}, kinds.join(", ")),
  ];
}
