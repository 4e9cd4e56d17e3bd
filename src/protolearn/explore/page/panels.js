// Panels that every page has: search, the sample that is looked at, the selection and what distinguishes it, the table.

import { h, panel, number, plural, percent, picture } from "./dom.js";
import { bars } from "./bars.js";
import { SampleTable } from "./table.js";
import { classColors, css, valuesOf } from "./colors.js";

// Columns of the table: the classes first, if there are any.
export function tableColumns(doc) {
  const { classes, columns } = doc.samples;
  return classes ? [{ name: classes.title ?? "class", categories: classes.names, codes: classes.codes }, ...columns] : columns;
}

export function header(doc, store) {
  const list = h("datalist", { id: "names" });
  const { names } = doc.samples;
  list.append(...names.slice(0, 2000).map((value) => h("option", { value })));
  const answer = h("span", { role: "status", class: "answer" });
  const find = () => {
    const wanted = field.value.trim().toLowerCase();
    if (!wanted) return;
    const texts = doc.samples.texts;
    const holds = (i) => names[i].toLowerCase().includes(wanted) || texts?.[i].toLowerCase().includes(wanted);
    const exact = names.findIndex((name) => name.toLowerCase() === wanted);
    const found = exact >= 0 ? [exact] : names.map((_, i) => i).filter(holds);
    answer.textContent = found.length ? plural(found.length, "sample") : "not found";
    if (found.length) store.look(found[0]);
    if (found.length > 1) store.select(found, "search");
  };
  const field = h("input", {
    type: "search", id: "search", list: "names", placeholder: "name of a sample", autocomplete: "off",
    onchange: find, onkeydown: (event) => event.key === "Enter" && find(),
  });
  const clear = h("button", { type: "button", onclick: () => store.select([]) }, "Clear selection");
  const renew = () => {
    clear.hidden = store.count === 0;
  };
  store.on("select", renew);
  renew();
  return h("header", {},
    h("div", {}, h("h1", {}, doc.title), h("p", { class: "lead" }, doc.subtitle)),
    h("form", { role: "search", onsubmit: (event) => event.preventDefault() },
      h("label", { for: "search" }, "Find"), field, list, answer, clear));
}

export function tablePanel(doc, store, more = []) {
  const table = new SampleTable(store, doc.samples.names, tableColumns(doc).toSpliced(doc.samples.classes ? 1 : 0, 0, ...more));
  return panel("Samples", { class: "panel wide" }, table.element);
}

// The sample that is looked at: its image, text, class and values.
export function samplePanel(doc, store, extra = () => []) {
  const body = h("div", { "aria-live": "polite" });
  const renew = () => {
    const i = store.focus;
    if (i < 0) {
      body.replaceChildren(h("p", { class: "hint" }, "Click a point, a row of the table, or search for a name."));
      return;
    }
    const { names, images, texts, columns, classes } = doc.samples;
    const facts = columns.slice(0, 40).map((column) => [
      h("dt", {}, column.name),
      h("dd", {}, column.categories ? (column.categories[column.codes[i]] ?? "–") : number(column.values[i])),
    ]);
    const label = classes && classes.codes[i] >= 0 ? classes.names[classes.codes[i]] : null;
    body.replaceChildren(...[
      h("p", { class: "name" }, h("strong", {}, names[i]), label === null ? null : h("span", {}, ` · ${label}`)),
      images ? picture(images, i, 112) : null,
      texts ? h("p", { class: "words" }, texts[i].slice(0, 2000)) : null,
      ...extra(i),
      facts.length && !images ? h("details", { open: columns.length <= 16 }, h("summary", {}, "Values"), h("dl", {}, facts)) : null,
    ].filter(Boolean));
  };
  store.on("focus", renew);
  renew();
  return panel("Sample", { id: "sample" }, body);
}

// How far the mean of each feature within some samples is from the mean of the others, in standard deviations of all.
export function differences(columns, members, n) {
  const inside = new Uint8Array(n);
  for (const i of members) inside[i] = 1;
  const rows = [];
  for (const column of columns) {
    const parts = column.categories ? column.categories.map((name, code) => [`${column.name} = ${name}`, code]) : [[column.name, null]];
    for (const [name, code] of parts.slice(0, 50)) {
      const values = valuesOf(column);
      const sums = [[0, 0, 0], [0, 0, 0]];
      for (let i = 0; i < n; i++) {
        const value = code === null ? values[i] : Number(values[i] === code);
        if (!Number.isFinite(value)) continue;
        const sum = sums[inside[i]];
        sum[0] += 1;
        sum[1] += value;
      }
      const [out, own] = sums;
      const mean = (out[1] + own[1]) / (out[0] + own[0]);
      let spread = 0;
      for (let i = 0; i < n; i++) {
        const value = code === null ? values[i] : Number(values[i] === code);
        if (Number.isFinite(value)) spread += (value - mean) ** 2;
      }
      spread = Math.sqrt(spread / (out[0] + own[0]));
      if (!own[0] || !out[0] || !(spread > 0)) continue;
      const [here, there] = [own[1] / own[0], out[1] / out[0]];
      rows.push({ name, value: (here - there) / spread, here, there, share: code !== null });
    }
  }
  return rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

export function selectionPanel(doc, store) {
  const body = h("div", { "aria-live": "polite" });
  const renew = () => {
    const { n, count } = store;
    if (!count) {
      body.replaceChildren(h("p", { class: "hint" }, "Select samples, by a lasso for example, to see what they have in common."));
      return;
    }
    const members = store.members();
    const parts = [h("p", {}, `${plural(count, "sample")}, ${percent(count / n, 1)} of all.`)];
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
        h("p", { class: "hint" }, "Means of the selection less those of all others, in standard deviations."),
        bars(rows.map((row) => ({
          ...row,
          title: `${row.name}: ${row.share ? percent(row.here) : number(row.here)} here, ${row.share ? percent(row.there) : number(row.there)} elsewhere`,
        })), { label: "Differences of the selection", most: 10 }));
    }
    body.replaceChildren(...parts);
  };
  store.on("select", renew);
  renew();
  return panel("Selection", { id: "selection" }, body);
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
    return h("div", { class: "legend" }, h("span", {}, number(scale.low, 3)), h("span", { class: "ramp", "aria-hidden": "true" }),
      h("span", {}, number(scale.high, 3)));
  }
  return h("div", { class: "legend" }, scale.entries.slice(0, 40).map(({ name, color, code }) => {
    const mark = h("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = css(color);
    const pick = () => {
      const found = [];
      for (let i = 0; i < codes.length; i++) if (codes[i] === code) found.push(i);
      store.select(found, name);
    };
    return h("button", { type: "button", class: "plain entry", onclick: pick }, mark, name);
  }));
}
