// A table of the selected samples, of any number: only the rows in sight exist.

import { h, number, plural } from "./dom.js";

const ROW = 30; // height in pixels, as in style.css
const SPARE = 8; // rows kept above and below those in sight

export class SampleTable {
  // columns: names with values or categories; the first column of the table is the name of the sample.
  constructor(store, names, columns) {
    Object.assign(this, { store, names, columns, order: -1, down: false });
    this.body = h("tbody");
    this.head = h("tr", {}, this.header("sample", -1), columns.map((column, j) => this.header(column.name, j)));
    this.above = h("tr", { "aria-hidden": "true" }, h("td"));
    this.below = h("tr", { "aria-hidden": "true" }, h("td"));
    this.table = h("table", { class: "samples" }, h("thead", {}, this.head), this.body);
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Table of samples" }, this.table);
    this.caption = h("p", { class: "count", role: "status" });
    this.element = h("div", { class: "table" }, this.caption, this.scroller);
    this.scroller.addEventListener("scroll", () => this.show(), { passive: true });
    store.on("select", () => this.renew());
    store.on("focus", () => this.reveal());
    new ResizeObserver(() => this.show()).observe(this.scroller);
    this.renew();
  }

  header(name, j) {
    return h("th", { scope: "col", class: this.columns[j]?.categories ? "text" : null }, h("button", { type: "button", class: "plain", onclick: () => this.sort(j) }, name));
  }

  sort(j) {
    this.down = this.order === j && !this.down;
    this.order = j;
    [...this.head.children].forEach((cell, k) => {
      cell.ariaSort = k === j + 1 ? (this.down ? "descending" : "ascending") : "none";
    });
    this.renew();
  }

  value(i, j) {
    if (j < 0) return this.names[i];
    const column = this.columns[j];
    return column.categories ? (column.categories[column.codes[i]] ?? null) : column.values[i];
  }

  renew() {
    const { order: j, down } = this;
    this.rows = this.store.members();
    const compare = (a, b) => (typeof a === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b);
    const missing = (value) => value === null || Number.isNaN(value);
    if (j >= 0 || down) {
      const keys = Array.from(this.rows, (i) => this.value(i, j));
      const places = this.rows.map((_, k) => k).sort((a, b) => {
        if (missing(keys[a]) || missing(keys[b])) return missing(keys[a]) - missing(keys[b]);
        return (down ? -1 : 1) * compare(keys[a], keys[b]);
      });
      this.rows = places.map((k) => this.rows[k]);
    }
    this.caption.textContent = this.store.count
      ? `${plural(this.store.count, "sample")} selected of ${this.store.n.toLocaleString("en")}`
      : `All ${plural(this.store.n, "sample")}`;
    this.scroller.scrollTop = 0;
    this.show();
  }

  show() {
    const first = Math.max(Math.floor(this.scroller.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(first + Math.ceil(this.scroller.clientHeight / ROW) + 2 * SPARE, this.rows.length);
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${(this.rows.length - last) * ROW}px`;
    const rows = Array.from(this.rows.subarray(first, last), (i) => this.row(i));
    this.body.replaceChildren(this.above, ...rows, this.below);
  }

  row(i) {
    const cells = this.columns.map((column, j) => {
      const value = this.value(i, j);
      return h("td", { class: column.categories ? "text" : null }, column.categories ? (value ?? "–") : number(value));
    });
    const name = h("button", { type: "button", class: "plain", onclick: () => this.store.look(i) }, this.names[i]);
    const row = h("tr", { "data-sample": i }, h("th", { scope: "row" }, name), cells);
    if (i === this.store.focus) row.setAttribute("aria-current", "true");
    row.addEventListener("click", () => this.store.look(i));
    return row;
  }

  reveal() {
    const place = this.rows.indexOf(this.store.focus);
    const [top, height] = [this.scroller.scrollTop, this.scroller.clientHeight];
    if (place >= 0 && (place * ROW < top || (place + 2) * ROW > top + height)) {
      this.scroller.scrollTop = place * ROW - height / 2;
    }
    this.show();
  }
}
