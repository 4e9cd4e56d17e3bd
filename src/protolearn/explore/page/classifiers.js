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
    {
      name: "prediction",
      categories: classes?.names ?? model.classes,
      codes: Int32Array.from({ length: store.n }, (_, i) => model.codes[model.winners[i]]),
    },
    { name: "confidence", values: model.confidence },
  ];
  const pixels = model.computes ? pixelsOf(doc, model) : null;
  const start = () => {
    const nearest = model.confidence.reduce((best, value, i, all) => (value < all[best] ? i : best), 0);
    if (store.focus < 0) store.look(nearest);
  };
  requestAnimationFrame(start); // the sample nearest to a border tells most
  return [
    h(
      "div",
      { class: "column" },
      planePanel(doc, store, desk, answers),
      thresholdPanel(store, desk, classes),
      model.relevances ? relevancePanel(desk, pixels) : null,
    ),
    h(
      "div",
      { class: "column" },
      decisionPanel(doc, store, desk, pixels),
      classes ? mistakesPanel(store, desk, classes) : null,
      selectionPanel(doc, store),
      model.computes ? prototypePanel(store, desk, pixels) : null,
    ),
    tablePanel(doc, store, answers),
  ];
}

// If the features are the pixels of the images: how to make images of values of features.
function pixelsOf({ samples }, { features, columns }) {
  const { images } = samples;
  if (!images) return null;
  const [n, height, width, channels] = images.shape;
  const size = height * width * channels;
  if (
    size !== columns.length ||
    features.length !== size ||
    features.some((feature) => !("low" in feature) || feature.own)
  )
    return null;
  const [low, high] = extent(features.flatMap((feature) => [feature.low, feature.high]));
  const [dark, light] = extent(images);
  const shade = (value) => dark + ((value - low) / (high - low || 1)) * (light - dark);
  for (let s = 0; s < n; s += Math.ceil(n / 20)) {
    for (let j = 0; j < size; j++) if (Math.abs(shade(columns[j].values[s]) - images[s * size + j]) > 2) return null;
  }
  features.forEach((feature, j) => {
    const p = Math.floor(j / channels);
    if (feature.name === `x${j}`)
      columns[j].name = feature.name = `row ${Math.floor(p / width) + 1}, col ${(p % width) + 1}`;
  });
  const draw = (bytes, depth, side) => picture(Object.assign(bytes, { shape: [1, height, width, depth] }), 0, side);
  return {
    ofValues: (values, side) => draw(Uint8ClampedArray.from(values, shade), channels, side),
    ofWeights(weights, side) {
      // blue for what is positive, orange for what is negative, of all channels together
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
    const places = [...model.codes.keys()].map((p) =>
      model.place(model.prototypes.slice(p * model.N, (p + 1) * model.N)),
    );
    const [[x0, x1], [y0, y1]] = [0, 1].map((axis) => extent(model.positions.filter((_, i) => i % 2 === axis)));
    const near = ([x, y]) =>
      x > 1.5 * x0 - 0.5 * x1 && x < 1.5 * x1 - 0.5 * x0 && y > 1.5 * y0 - 0.5 * y1 && y < 1.5 * y1 - 0.5 * y0;
    scatter.extra = places.filter(near).flat();
    const regions = document.createElement("canvas");
    scatter.under = (context) => paintRegions(context, regions, scatter, desk);
    scatter.over = (context) => {
      if (store.focus >= 0 && desk.changes.size)
        drawMove(context, scatter, model.place(desk.before.z), model.place(desk.now.z));
      places.forEach((place, p) =>
        drawDiamond(
          context,
          scatter.toScreen(...place),
          css(colors[model.codes[p]]),
          model.k <= 40 ? model.classes[model.codes[p]] : "",
        ),
      );
    };
  }
  store.on("decision", scatter.draw);
  color(first);
  const stretched = model.stretch > 1 ? ` The second one is drawn ${number(model.stretch, 2)} times as large.` : "";
  const share = model.shares?.reduce((sum, value) => sum + value, 0);
  return panel(
    "Plane",
    { class: "panel plane-panel" },
    choice("Color", options, String(first), (j) => color(Number(j))),
    scatter.element,
    key,
    h(
      "p",
      { class: "hint" },
      model.computes
        ? `The two directions in which prototypes (diamonds) differ most; they hold ${percent(share)} of how these differ.${stretched} Background: the class at each place, ` +
            (model.complete
              ? "which depends on nothing else."
              : "in a slice through the sample that is looked at; for other samples borders may lie elsewhere.") +
            " It is blank where there is no answer."
        : "Samples by their distances to the prototypes, in the two directions in which these vary most.",
    ),
  );
}

function paintRegions(context, canvas, scatter, desk) {
  const { model, colors, threshold } = desk;
  const z = desk.now?.z ?? Float64Array.from(model.center);
  const forms = model.slice(z);
  const [px, py] = model.place(z);
  const step = Math.min(Math.max(Math.ceil(Math.sqrt((scatter.width * scatter.height * forms.length) / 1.5e6)), 2), 8);
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
        const d = form.c + 2 * (form.bx * x + form.by * y) + form.xx * x * x + 2 * form.xy * x * y + form.yy * y * y;
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
  for (const [dx, dy] of [
    [0, -8],
    [8, 0],
    [0, 8],
    [-8, 0],
  ])
    context.lineTo(x + dx, y + dy);
  context.closePath();
  for (const [strokeStyle, lineWidth] of [
    ["#fff", 4],
    ["#111", 1.5],
  ]) {
    Object.assign(context, { strokeStyle, lineWidth });
    context.stroke();
  }
  context.fillStyle = color;
  context.fill();
  if (!name) return;
  const text = name.length > 14 ? `${name.slice(0, 13)}…` : name;
  const [fillStyle, strokeStyle] = isDark()
    ? ["#fff", "rgb(0 0 0 / 0.8)"]
    : ["#111", "rgb(255 255 255 / 0.85)"];
  Object.assign(context, {
    font: "600 13px system-ui, sans-serif",
    textBaseline: "middle",
    lineWidth: 3,
    lineJoin: "round",
    fillStyle,
    strokeStyle,
  });
  context.strokeText(text, x + 12, y);
  context.fillText(text, x + 12, y);
}

function drawMove(context, scatter, from, to) {
  const [[x0, y0], [x1, y1]] = [scatter.toScreen(...from), scatter.toScreen(...to)];
  for (const [color, width] of [
    ["#fff", 5],
    ["#111", 2],
  ]) {
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
    const label =
      samples.classes && samples.classes.codes[i] >= 0 ? samples.classes.names[samples.classes.codes[i]] : null;
    title.replaceChildren(h("strong", {}, samples.names[i]), label === null ? "" : `, in truth ${label}`);
    words.replaceChildren(...(samples.texts ? [h("p", { class: "words" }, samples.texts[i].slice(0, 2000))] : []));
  };
  const renew = () => {
    const { now, before } = desk;
    if (!now) return;
    const code = model.codes[now.winner];
    const was = before.predicted === now.predicted ? "" : `, no longer ${desk.className(before.predicted)}`;
    verdict.replaceChildren(
      desk.mark(now.predicted),
      h("strong", {}, desk.className(now.predicted)),
      was,
      h("span", { class: "hint" }, ` confidence ${now.confidence.toFixed(3)}`),
      now.predicted < 0 ? h("span", { class: "hint" }, ` (nearest is ${model.classes[code]})`) : "",
    );
    const order = [...now.probabilities.keys()].sort((a, b) => now.probabilities[b] - now.probabilities[a]);
    chances.replaceChildren(
      bars(
        order.slice(0, 6).map((c) => ({
          name: model.classes[c],
          value: now.probabilities[c],
          text: percent(now.probabilities[c], 1),
          color: css(colors[c]),
        })),
        { label: "Probabilities of classes", span: 1 },
      ),
    );
    const nearest = [...now.D.keys()]
      .filter((p) => Number.isFinite(now.D[p]))
      .sort((a, b) => now.D[a] - now.D[b])
      .slice(0, 6);
    ways.replaceChildren(
      bars(
        nearest.map((p) => ({
          name: desk.prototypeName(p),
          value: now.D[p],
          color: css(colors[model.codes[p]]),
        })),
        { label: "Squared distances to prototypes" },
      ),
    );
    if (samples.images) {
      const changed = pixels && desk.changes.size;
      image.replaceChildren(
        ...[
          figure("as it is", picture(samples.images, store.focus, 112)),
          changed
            ? figure(
                "changed",
                pixels.ofValues(
                  model.features.map((feature) => model.valueIn(now.z, feature)),
                  112,
                ),
              )
            : null,
          pixels && now.contributions
            ? figure(`blue: for ${model.classes[code]}, orange: against`, pixels.ofWeights(now.contributions, 112))
            : null,
        ].filter(Boolean),
      );
    }
  };
  store.on("focus", about);
  store.on("decision", renew);
  return panel(
    "Decision",
    { id: "sample" },
    title,
    image,
    words,
    verdict,
    h(
      "div",
      { class: "pair" },
      h("div", {}, h("h3", {}, "Probability"), chances),
      h("div", {}, h("h3", {}, "Squared distance to prototypes"), ways),
    ),
    sliders
      ? sliders.element
      : h(
          "p",
          { class: "hint" },
          `${model.model} compares samples in a way that this page does not compute. It shows what the model has said of each.`,
        ),
  );
}

const figure = (caption, content) => h("figure", {}, content, h("figcaption", {}, caption));

// Features with what each adds to the decision, and inputs to change them by.
class Sliders {
  constructor(store, desk) {
    Object.assign(this, { store, desk, all: false, rows: [] });
    const { model } = desk;
    this.heading = h("h3");
    this.list = h("ul", { class: "features", "aria-label": "Features" });
    this.more = h("button", {
      type: "button",
      class: "more",
      onclick: () => {
        this.all = true;
        this.build();
      },
    });
    this.message = h("p", { class: "hint", role: "status", id: "found" });
    this.target = -1;
    const targets = [
      { value: "-1", text: "any other class" },
      ...model.classes.map((text, c) => ({ value: String(c), text })),
    ];
    this.few = h("input", { type: "checkbox", id: "few" });
    this.undo = h("button", { type: "button", id: "reset", onclick: () => this.reset() }, "Reset");
    this.element = h(
      "div",
      {},
      this.heading,
      h(
        "p",
        { class: "hint" },
        "Bars to the right speak for the class, to the left against it. Change values and see what happens.",
      ),
      this.list,
      this.more,
      h(
        "div",
        { class: "act" },
        h("button", { type: "button", id: "counterfactual", onclick: () => this.seek() }, "Nearest counterfactual"),
        choice("to", targets, "-1", (c) => {
          this.target = Number(c);
        }),
        h("label", { class: "hold" }, this.few, "of few features"),
        this.undo,
      ),
      this.message,
      model.note ? h("p", { class: "hint" }, model.note) : null,
    );
    store.on("focus", () => {
      this.message.textContent = "";
      this.build();
    });
    store.on(
      "decision",
      eachFrame(() => this.renew()),
    );
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
    const present = desk.now.predicted;
    const found =
      target === present && present >= 0
        ? null
        : model[this.few.checked ? "fewChanges" : "counterfactual"](store.focus, desk.changes, {
            target,
            held: desk.held,
            threshold: desk.threshold,
          });
    if (!found) {
      this.message.textContent =
        target === present
          ? `It is ${desk.className(target)} already.`
          : "There is no such change within the range of the samples, as far as this search can tell. Hold fewer features.";
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
    const rest = moves.length - told.length;
    const reached =
      model.classes[model.codes[desk.now.winner]] +
      (desk.now.predicted < 0 ? ", but too far from all that was learned," : "");
    this.message.textContent = `${reached} with ${told.join(", ")}${rest > 0 ? ` and ${plural(rest, "smaller change")}` : ""}.`;
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
      type: "checkbox",
      "aria-label": `hold ${name}`,
      checked: desk.held.has(i),
      title: "Held features stay as they are in the nearest change",
      onchange: () => (hold.checked ? desk.held.add(i) : desk.held.delete(i)),
    });
    const given = model.given(feature, store.focus);
    let fields;
    let show;
    if (feature.categories) {
      const select = h(
        "select",
        { "aria-label": name, onchange: () => desk.change(i, Number(select.value)) },
        given < 0 ? h("option", { value: -1 }, "as it is") : null,
        feature.categories.map((text, c) => h("option", { value: c }, text)),
      );
      fields = [select];
      show = (value) => {
        select.value = String(value);
      };
    } else {
      const [low, high, step] = rangeOf(feature);
      const slide = h("input", {
        type: "range",
        "aria-label": name,
        min: low,
        max: high,
        step,
        oninput: () => desk.change(i, Number(slide.value)),
      });
      const type = h("input", {
        type: "number",
        "aria-label": `${name}, number`,
        step: "any",
        onchange: () => desk.change(i, type.value === "" ? given : Number(type.value)),
      });
      fields = [slide, type];
      show = (value) => {
        if (document.activeElement !== slide || Number(slide.value) !== value)
          slide.value = Number.isNaN(value) ? (low + high) / 2 : value;
        slide.setAttribute("aria-valuetext", number(value));
        type.value = Number.isNaN(value) ? "" : String(Number(value.toPrecision(5)));
      };
    }
    const element = h(
      "li",
      { "data-feature": i },
      h("span", { class: "name" }, name, was),
      track,
      h("span", { class: "fields" }, fields),
      h("label", { class: "hold" }, hold, "hold"),
    );
    return {
      i,
      element,
      bar,
      track,
      was,
      show,
      given,
      text: (value) => (feature.categories ? (feature.categories[value] ?? "–") : number(value)),
    };
  }

  renew() {
    const { desk } = this;
    const { model, now, changes } = desk;
    if (!now) return;
    this.undo.disabled = changes.size === 0;
    const [winner, rival] = [now.winner, now.rival].map((p) => model.classes[model.codes[p]]);
    this.heading.textContent = now.rival < 0 ? `Nothing but ${winner} was learned` : `Why ${winner} and not ${rival}`;
    const parts = now.contributions ?? model.features.map(() => 0);
    const largest = Math.max(...parts.map(Math.abs), 1e-300);
    const total = parts.reduce((sum, value) => sum + Math.abs(value), 0) || 1;
    for (const { i, element, bar, track, was, show, given, text } of this.rows) {
      const size = (50 * Math.abs(parts[i])) / largest;
      bar.style.width = `${size}%`;
      bar.style.marginInlineStart = `${parts[i] < 0 ? 50 - size : 50}%`;
      bar.style.background = css(parts[i] < 0 ? AGAINST : FOR);
      const words = `${parts[i] < 0 ? "against" : "for"} ${winner}, ${percent(Math.abs(parts[i]) / total)} of all that counts`;
      track.setAttribute("aria-label", words);
      track.title = words;
      const changed = changes.has(i);
      element.classList.toggle("changed", changed);
      was.textContent = changed ? ` was ${text(given)}` : "";
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
  const summary = h("p");
  const table = h("table", { class: model.classes.length > 12 ? "confusion dense" : "confusion" });
  const renew = () => {
    const rows = classes.names.length;
    const width = model.classes.length;
    const cells = Array.from({ length: rows }, () => Array.from({ length: width + 1 }, () => []));
    let [right, answered] = [0, 0];
    for (let i = 0; i < store.n; i++) {
      const truth = classes.codes[i];
      if (truth < 0) continue;
      const code = desk.answer(i);
      cells[truth][code < 0 ? width : code].push(i);
      answered += code >= 0;
      right += code === truth;
    }
    const silent = cells.some((row) => row[width].length);
    const shown = silent ? [...model.classes, "no answer"] : model.classes;
    summary.replaceChildren(
      h("strong", {}, percent(right / answered, 1)),
      ` right of ${plural(answered, "sample")} with an answer.`,
    );
    table.replaceChildren(
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { class: "corner" }, "truth ↓ answer →"),
          shown.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))),
        ),
      ),
      h(
        "tbody",
        {},
        cells.map((row, truth) => {
          const total = row.reduce((sum, cell) => sum + cell.length, 0);
          if (!total) return null;
          return h(
            "tr",
            {},
            h("th", { scope: "row", title: classes.names[truth] }, classes.names[truth]),
            row.slice(0, shown.length).map((cell, code) => {
              const share = cell.length / total;
              const tone = code === truth ? FOR : AGAINST;
              const label = `${plural(cell.length, "sample")} of ${classes.names[truth]}, predicted ${shown[code]}`;
              const button = h(
                "button",
                {
                  type: "button",
                  class: "plain",
                  disabled: !cell.length,
                  "aria-label": label,
                  title: label,
                  onclick: () => store.select(cell, label),
                },
                cell.length || "·",
              );
              const box = h("td", {}, button);
              if (cell.length) {
                box.style.background = css(tone, 0.15 + 0.85 * share);
                if (share > 0.45) box.style.color = inkOn(tone);
              }
              return box;
            }),
          );
        }),
      ),
    );
  };
  store.on("threshold", renew);
  renew();
  return panel(
    "Right and wrong",
    { class: "panel mistakes" },
    summary,
    h("div", { class: "scroller" }, table),
    h(
      "p",
      { class: "hint" },
      "Click a number to select its samples. These are the samples on this page; if the model has learned from them, it will be less often right on new ones.",
    ),
  );
}

function thresholdPanel(store, desk, classes) {
  const { model } = desk;
  const { n } = store;
  const order = [...model.confidence.keys()]
    .filter((i) => !model.novel?.[i])
    .sort((a, b) => model.confidence[b] - model.confidence[a]);
  const truth = (i) => classes?.codes[i] === model.codes[model.winners[i]];
  const steps = Array.from({ length: 101 }, (_, t) => t / 100);
  let [k, right] = [0, 0];
  const curve = steps
    .toReversed()
    .map((t) => {
      while (k < order.length && model.confidence[order[k]] >= t) right += truth(order[k++]);
      return { t, coverage: k / n, accuracy: k ? right / k : NaN };
    })
    .reverse();
  const [w, tall, left, foot] = [innerWidth < 500 ? 320 : 480, 130, 38, 20];
  const x = (t) => left + t * (w - left - 8);
  const y = (share) => 8 + (1 - share) * (tall - 8 - foot);
  const path = (part) =>
    curve
      .filter((point) => Number.isFinite(point[part]))
      .map((point, i) => `${i ? "L" : "M"}${x(point.t).toFixed(1)} ${y(point[part]).toFixed(1)}`)
      .join("");
  const pointer = svg("line", { class: "pointer", y1: 8, y2: tall - foot });
  const picked = svg(
    "svg",
    {
      viewBox: `0 0 ${w} ${tall}`,
      class: "chart",
      role: "img",
      "aria-label": "Accuracy and coverage for each threshold",
    },
    [0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: left, x2: w - 8, y1: y(share), y2: y(share) }),
      svg("text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
    ]),
    [0, 0.5, 1].map((t) => svg("text", { x: x(t), y: tall - 6, "text-anchor": t === 1 ? "end" : "middle" }, String(t))),
    svg("path", { class: "coverage", d: path("coverage") }),
    classes ? svg("path", { class: "accuracy", d: path("accuracy") }) : null,
    pointer,
  );
  const words = h("p", { role: "status" });
  const slide = h("input", {
    type: "range",
    id: "threshold",
    min: 0,
    max: 1,
    step: 0.01,
    value: desk.threshold,
    oninput: () => desk.setThreshold(Number(slide.value)),
  });
  const silent = () => [...Array(n).keys()].filter((i) => desk.answer(i) < 0);
  const pick = h(
    "button",
    { type: "button", onclick: () => store.select(silent(), "no answer") },
    "Select those without an answer",
  );
  const renew = () => {
    const { threshold } = desk;
    let [answered, good] = [0, 0];
    for (let i = 0; i < n; i++) {
      if (desk.answer(i) < 0) continue;
      answered++;
      good += truth(i);
    }
    pointer.setAttribute("x1", x(threshold));
    pointer.setAttribute("x2", x(threshold));
    pick.disabled = answered === n;
    words.replaceChildren(
      "Confidence of at least ",
      h("strong", {}, number(threshold, 2)),
      ` answers ${percent(answered / n, 1)} of the samples`,
      classes ? `, ${percent(good / answered, 1)} of these right.` : ".",
    );
  };
  store.on("threshold", renew);
  renew();
  return panel(
    "When to answer",
    { class: "panel threshold" },
    h("label", { for: "threshold", class: "hint" }, "Least confidence"),
    slide,
    words,
    picked,
    h(
      "div",
      { class: "legend" },
      h("span", { class: "key coverage" }, "answered"),
      classes ? h("span", { class: "key accuracy" }, "right, of those answered") : null,
      pick,
    ),
  );
}

// --- what was learned

function relevancePanel(desk, pixels) {
  const { model } = desk;
  const { relevances, pairs, features, N } = model;
  const sets = relevances.shape[0];
  const names = model.columnNames();
  const body = h("div");
  const show = (which) => {
    const chosen = which < 0 ? [...Array(sets).keys()] : [which];
    const shares = new Float64Array(N);
    for (const s of chosen) {
      const row = relevances.subarray(s * N, (s + 1) * N);
      const total = row.reduce((sum, value) => sum + value, 0) || 1;
      row.forEach((value, j) => {
        shares[j] += value / total / chosen.length;
      });
    }
    const rows = features.map((feature) => ({
      name: feature.name,
      value: feature.columns.reduce((sum, j) => sum + shares[j], 0),
    }));
    const image = pixels
      ? pixels.ofWeights(
          rows.map((row) => row.value),
          112,
        )
      : null;
    rows.sort((a, b) => b.value - a.value);
    const mean = pairs
      ? Float64Array.from(
          { length: N * N },
          (_, at) => chosen.reduce((sum, s) => sum + pairs[s * N * N + at], 0) / chosen.length,
        )
      : null;
    body.replaceChildren(
      ...[
        image ? h("div", { class: "pictures" }, image) : null,
        bars(
          rows.map((row) => ({ ...row, text: percent(row.value, 1) })),
          { label: "Relevances", most: 12 },
        ),
        mean ? pairMap(mean, names) : null,
      ].filter(Boolean),
    );
  };
  const owner = (s) => (model.owners === "class" ? model.classes[s] : desk.prototypeName(s));
  const options = [
    { value: "-1", text: "mean of all" },
    ...[...Array(sets).keys()].map((s) => ({ value: String(s), text: sets > 1 ? owner(s) : "" })),
  ];
  show(-1);
  return panel(
    "Relevance of features",
    {},
    h("p", { class: "hint" }, "Share of each feature in the learned distance, for features in standard deviations."),
    sets > 1 ? choice("Metric of", options, "-1", (s) => show(Number(s))) : null,
    body,
  );
}

// Entries of a relevance matrix beside the diagonal: which differences count together.
function pairMap(matrix, names) {
  const n = names.length;
  let found = [];
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) found.push([i, j, matrix[i * n + j]]);
  found.sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
  if (!found.length || !found[0][2]) return null;
  const largest = Math.abs(found[0][2]);
  const cells = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (i !== j)
        cells.push(
          svg(
            "rect",
            { x: j, y: i, width: 1.02, height: 1.02, fill: css(blend(matrix[i * n + j] / largest)) },
            svg("title", {}, `${names[i]} and ${names[j]}: ${number(matrix[i * n + j], 3)}`),
          ),
        );
    }
  }
  found = found.slice(0, 3).map(([i, j, value]) => `${names[j]} and ${names[i]} (${number(value, 2)})`);
  return h(
    "details",
    {},
    h("summary", {}, "Pairs of features"),
    h(
      "p",
      { class: "hint" },
      `Blue: differences in the same direction add to the distance; orange: they cancel. Strongest: ${found.join("; ")}.`,
    ),
    svg(
      "svg",
      {
        viewBox: `0 0 ${n} ${n}`,
        class: "pairs",
        role: "img",
        "aria-label": `Relevance matrix. Strongest: ${found.join("; ")}`,
      },
      cells,
    ),
  );
}

function prototypePanel(store, desk, pixels) {
  const { model } = desk;
  const { features, N, n, k } = model;
  const stats = features.map((feature) => {
    if (feature.categories) return null;
    let [count, sum, squares] = [0, 0, 0];
    for (let s = 0; s < n; s++) {
      const value = model.given(feature, s);
      if (Number.isNaN(value)) continue;
      count++;
      const change = value - sum;
      sum += change / count;
      squares += change * (value - sum);
    }
    return { mean: sum, spread: Math.sqrt(squares / count) || 1 };
  });
  const wins = new Int32Array(k);
  for (const p of model.winners) wins[p]++;
  const body = h("div");
  const at = (p) => model.prototypes.slice(p * N, (p + 1) * N);
  const show = (p) => {
    const w = at(p);
    const values = features.map((feature) => model.valueIn(w, feature));
    const rows = features
      .map(
        (feature, i) =>
          stats[i] && {
            name: feature.name,
            value: (values[i] - stats[i].mean) / stats[i].spread,
            text: number(values[i], 3),
            title: `${feature.name}: ${number(values[i])}, mean of all samples ${number(stats[i].mean)}`,
          },
      )
      .filter(Boolean);
    rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const kinds = features
      .filter((feature) => feature.categories)
      .map((feature) => `${feature.name}: ${feature.categories[model.valueIn(w, feature)]}`);
    const members = () => [...Array(n).keys()].filter((i) => model.winners[i] === p);
    body.replaceChildren(
      h(
        "p",
        {},
        "Nearest to ",
        h(
          "button",
          { type: "button", onclick: () => store.select(members(), desk.prototypeName(p)) },
          plural(wins[p], "sample"),
        ),
      ),
      ...(pixels
        ? []
        : [
            h(
              "p",
              { class: "hint" },
              "Its values, and how far they are from the mean of all samples, in standard deviations.",
            ),
            bars(rows, { label: "Values of the prototype", most: 12 }),
            kinds.length ? h("p", {}, kinds.join(", ")) : "",
          ]),
    );
    chosen.querySelector("select").value = String(p);
  };
  const chosen = choice(
    "Prototype",
    [...Array(k).keys()].map((p) => ({ value: String(p), text: desk.prototypeName(p) })),
    "0",
    (p) => show(Number(p)),
  );
  const gallery = pixels
    ? h(
        "div",
        { class: "pictures" },
        [...Array(Math.min(k, 100)).keys()].map((p) =>
          h(
            "button",
            { type: "button", class: "plain", onclick: () => show(p) },
            figure(
              desk.prototypeName(p),
              pixels.ofValues(
                features.map((feature) => model.valueIn(at(p), feature)),
                64,
              ),
            ),
          ),
        ),
      )
    : null;
  show(0);
  store.on("focus", () => store.focus >= 0 && show(model.winners[store.focus]));
  return panel("Prototypes", {}, gallery, chosen, body);
}
