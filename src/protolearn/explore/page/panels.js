// Panels that every page has: search, the sample that is looked at, the selection and what distinguishes it, the table.

import { h, panel, number, plural, percent, picture, isDark, onTheme, setTheme } from "./dom.js";
import { bars } from "./bars.js";
import { SampleTable } from "./table.js";
import { classColors, css, valuesOf } from "./colors.js";

// Columns of the table: the classes first, if there are any.
export function tableColumns(doc, extra = []) {
  const { classes, columns } = doc.samples;
  const first = classes ? [{ name: classes.title ?? "class", categories: classes.names, codes: classes.codes }] : [];
  return [...first, ...extra, ...columns];
}

const SUGGESTED = 12; // names below the search field

export function header(doc, store) {
  const clear = h("button", { type: "button", onclick: () => store.select([]) }, "Clear selection");
  const renew = () => {
    clear.hidden = store.count === 0;
  };
  store.on("select", renew);
  renew();
  const theme = h("button", { type: "button", class: "theme", onclick: () => setTheme(!isDark()) });
  const named = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.ariaLabel = isDark() ? "Light colors" : "Dark colors";
  };
  onTheme(named);
  named();
  return h("header", {},
    h("div", {}, h("h1", {}, doc.title), h("p", { class: "lead" }, doc.subtitle)),
    h("div", { class: "actions" }, searchForm(doc, store), clear, theme));
}

// Samples by name or text. What is found is selected; Enter, or the arrows beside the field, go from one to the next.
function searchForm(doc, store) {
  const { names, texts } = doc.samples;
  let folded = null; // names and texts in lower case, once somebody searches
  let [found, place, sought] = [[], 0, ""];
  const ready = () => (folded ??= names.map((name, i) => [name.toLowerCase(), texts?.[i].toLowerCase() ?? ""]));
  const list = h("datalist", { id: "names" });
  const suggest = () => {
    const start = field.value.trim().toLowerCase();
    const options = [];
    if (start) {
      for (let i = 0; i < names.length && options.length < SUGGESTED; i++) {
        if (ready()[i][0].includes(start)) options.push(h("option", { value: names[i] }));
      }
    }
    list.replaceChildren(...options);
  };
  const answer = h("span", { role: "status", class: "answer" });
  const show = (step) => {
    place = (place + step + found.length) % found.length;
    store.look(found[place]);
    answer.textContent = found.length > 1 ? `${place + 1} of ${found.length.toLocaleString("en")}` : "found";
  };
  const find = () => {
    const wanted = field.value.trim().toLowerCase();
    if (wanted === sought) return;
    sought = wanted;
    answer.textContent = "";
    found = [];
    if (wanted) {
      ready().forEach((words, i) => words.some((word) => word.includes(wanted)) && found.push(i));
      const exact = ready().findIndex(([name]) => name === wanted);
      if (exact >= 0) found = [exact];
      place = 0;
      if (found.length > 1) store.select(found, "search");
      if (found.length) show(0);
      else answer.textContent = "not found";
    }
    arrows.forEach((arrow) => (arrow.hidden = found.length < 2));
  };
  const field = h("input", {
    type: "search", id: "search", list: "names", placeholder: "name of a sample", autocomplete: "off",
    onchange: find, oninput: suggest,
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      const again = field.value.trim().toLowerCase() === sought && found.length > 1;
      if (again) show(event.shiftKey ? -1 : 1);
      else find();
    },
  });
  const arrows = [["Previous", -1, "‹"], ["Next", 1, "›"]].map(([name, step, sign]) =>
    h("button", { type: "button", "aria-label": `${name} sample found`, hidden: true, onclick: () => show(step) }, sign));
  return h("form", { role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", { for: "search" }, "Find"), field, list, answer, arrows);
}

export function tablePanel(doc, store, extra = []) {
  const table = new SampleTable(store, doc.samples.names, tableColumns(doc, extra), {
    file: `${doc.title}.csv`, texts: doc.samples.texts,
  });
  return panel("Samples", { class: "panel wide" }, table.element);
}

const FACTS = 40; // values of a sample that are listed

// The sample that is looked at: its image, text, class and values.
export function samplePanel(doc, store, extra = () => []) {
  const name = h("p", { class: "name", role: "status" });
  const body = h("div");
  const renew = () => {
    const i = store.focus;
    if (i < 0) {
      name.replaceChildren(h("span", { class: "hint" }, "Click a point, a row of the table, or search for a name."));
      body.replaceChildren();
      return;
    }
    const { names, images, texts, columns, classes } = doc.samples;
    const facts = columns.slice(0, FACTS).map((column) => [
      h("dt", {}, column.name),
      h("dd", {}, column.categories ? (column.categories[column.codes[i]] ?? "–") : number(column.values[i])),
    ]);
    const rest = columns.length - FACTS;
    const label = classes && classes.codes[i] >= 0 ? ` · ${classes.names[classes.codes[i]]}` : "";
    name.replaceChildren(h("strong", {}, names[i]), label);
    body.replaceChildren(...[
      images ? picture(images, i, 112) : null,
      texts && texts[i] !== names[i] ? h("p", { class: "words" }, texts[i].slice(0, 2000)) : null,
      ...extra(i),
      facts.length && !images ? h("details", { open: columns.length <= 16 }, h("summary", {}, "Values"), h("dl", {}, facts),
        rest > 0 ? h("p", { class: "hint" }, `and ${rest} more in the table`) : null) : null,
    ].filter(Boolean));
  };
  store.on("focus", renew);
  renew();
  return panel("Sample", { id: "sample" }, name, body);
}

// How far the mean of each feature within some samples is from the mean of the others, in standard deviations of all.
export function differences(columns, members, n) {
  const inside = new Uint8Array(n);
  for (const i of members) inside[i] = 1;
  const rows = [];
  for (const column of columns) {
    const values = valuesOf(column);
    const parts = column.categories ? column.categories.map((name, code) => [`${column.name} = ${name}`, code]) : [[column.name, null]];
    for (const [name, code] of parts.slice(0, 50)) {
      const counts = new Float64Array(2);
      const sums = new Float64Array(2);
      for (let i = 0; i < n; i++) {
        const value = code === null ? values[i] : Number(values[i] === code);
        if (value - value !== 0) continue; // neither missing nor infinite
        counts[inside[i]] += 1;
        sums[inside[i]] += value;
      }
      const count = counts[0] + counts[1];
      const mean = (sums[0] + sums[1]) / count;
      let spread = 0;
      for (let i = 0; i < n; i++) {
        const gap = (code === null ? values[i] : Number(values[i] === code)) - mean;
        if (gap - gap === 0) spread += gap * gap;
      }
      spread = Math.sqrt(spread / count);
      if (!counts[0] || !counts[1] || !(spread > 0)) continue;
      const [there, here] = [sums[0] / counts[0], sums[1] / counts[1]];
      rows.push({ name, value: (here - there) / spread, here, there, share: code !== null });
    }
  }
  return rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

export function selectionPanel(doc, store) {
  const total = h("p", { role: "status" });
  const others = h("button", { type: "button", onclick: () => store.invert() }, "Select the others");
  const body = h("div");
  const renew = () => {
    const { n, count } = store;
    others.hidden = !count || count === n;
    if (!count) {
      total.replaceChildren(h("span", { class: "hint" }, "Select samples, for example with the lasso, to see what they have in common."));
      body.replaceChildren();
      return;
    }
    const members = store.members();
    total.textContent = `${plural(count, "sample")}, ${percent(count / n, 1)} of all.`;
    const parts = [];
    if (doc.samples.classes) parts.push(classShares(doc.samples.classes, members));
    if (doc.samples.images) {
      parts.push(h("div", { class: "pictures" }, [...members.slice(0, 60)].map((i) => {
        const image = picture(doc.samples.images, i, 40);
        return h("button", { type: "button", class: "plain", title: doc.samples.names[i], onclick: () => store.look(i) }, image);
      })));
    } else if (doc.samples.texts) {
      parts.push(h("ul", { class: "texts" }, [...members.slice(0, 30)].map((i) => h("li", {},
        h("button", { type: "button", class: "plain", onclick: () => store.look(i) }, doc.samples.texts[i].slice(0, 160))))));
    }
    const rows = count < n ? differences(doc.samples.columns, members, n) : [];
    if (rows.length) {
      parts.push(h("h3", {}, "What distinguishes them"),
        h("p", { class: "hint" }, "Mean of the selection minus the mean of all other samples, in standard deviations."),
        bars(rows.map((row) => ({
          ...row,
          title: `${row.name}: ${row.share ? percent(row.here) : number(row.here)} here, ${row.share ? percent(row.there) : number(row.there)} elsewhere`,
        })), { label: "Differences of the selection from the other samples", most: 10 }));
    }
    body.replaceChildren(...parts);
  };
  store.on("select", renew);
  renew();
  return panel("Selection", { id: "selection" }, total, others, body);
}

export function classShares(classes, members) {
  const counts = new Array(classes.names.length).fill(0);
  for (const i of members) if (classes.codes[i] >= 0) counts[classes.codes[i]]++;
  const colors = classColors(classes.names.length);
  const rows = classes.names.map((name, c) => ({ name, value: counts[c], color: css(colors[c]) }))
    .filter((row) => row.value > 0).sort((a, b) => b.value - a.value);
  return bars(rows, { label: "Classes", most: 6 });
}

// A legend of a scale of colors; entries of classes select their samples.
export function legend(scale, store, codes) {
  if (!scale.entries) {
    return h("div", { class: "legend" }, h("span", {}, `${scale.below ? "≤ " : ""}${number(scale.low, 3)}`),
      h("span", { class: "ramp", role: "img", "aria-label": "from dark to bright" }),
      h("span", {}, `${scale.above ? "≥ " : ""}${number(scale.high, 3)}`));
  }
  const entries = scale.entries.slice(0, 40).map(({ name, color, code }) => {
    const mark = h("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = css(color);
    const pick = () => {
      const found = [];
      for (let i = 0; i < codes.length; i++) if (codes[i] === code) found.push(i);
      store.select(found, name);
    };
    return h("button", { type: "button", class: "plain entry", title: "Select these samples", onclick: pick }, mark, name);
  });
  const rest = scale.entries.length - entries.length;
  return h("div", { class: "legend" }, entries, rest > 0 ? h("span", { class: "hint" }, `and ${rest} more`) : null);
}
