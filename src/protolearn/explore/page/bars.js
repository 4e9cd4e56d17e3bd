// Horizontal bars with a name and a number each, to both sides of zero if there are negative ones.

import { h, number } from "./dom.js";

// rows: { name, value, text, color, onclick, title }; at most `most` are shown, and a button shows the rest.
export function bars(rows, { most = 12, label = "", span = null } = {}) {
  const largest = span ?? Math.max(...rows.map((row) => Math.abs(row.value)).filter(Number.isFinite), 1e-300);
  const both = rows.some((row) => row.value < 0);
  const list = h("ul", { class: both ? "bars both" : "bars", "aria-label": label });
  const line = (row) => {
    const size = Math.min(Math.abs(row.value) / largest, 1) * (both ? 50 : 100);
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${size}%`;
    bar.style.marginInlineStart = both ? `${row.value < 0 ? 50 - size : 50}%` : "0";
    if (row.color) bar.style.background = row.color;
    const name = row.onclick ? h("button", { type: "button", class: "plain", onclick: row.onclick }, row.name) : row.name;
    return h("li", { title: row.title ?? null }, h("span", { class: "name" }, name), h("span", { class: "track" }, bar),
      h("span", { class: "value" }, row.text ?? number(row.value, 3)));
  };
  list.append(...rows.slice(0, most).map(line));
  if (rows.length <= most) return list;
  const more = h("button", {
    type: "button", class: "more",
    onclick: () => {
      list.append(...rows.slice(most).map(line));
      more.remove();
    },
  }, `Show all ${rows.length}`);
  return h("div", {}, list, more);
}
