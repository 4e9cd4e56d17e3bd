// A table of the selected samples, of any number: only the rows in sight exist, and of many columns some at a time.

import { h, number, plural, download } from "./dom.js";

const ROW = 30; // height in pixels, as in style.css
const SPARE = 8; // rows kept above and below those in sight
const COLUMNS = 60; // shown at a time
const ORDER = new Intl.Collator("en", { numeric: true });
const FORMULA = /^('*(\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n]))/; // to a spreadsheet, as in core/texts.py
const A_NUMBER = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i;
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

export class SampleTable {
  // columns: names with values or categories; the first column of the table is the name of the sample. Options: the
  // name of the file for downloads, and texts that go into it.
  constructor(store, names, columns, { file = "samples.csv", texts = null } = {}) {
    Object.assign(this, { store, names, columns, file, texts, order: -1, down: false, first: 0 });
    this.body = h("tbody");
    this.head = h("tr", { "aria-rowindex": 1 });
    this.above = h("tr", { class: "gap", "aria-hidden": "true" }, h("td"));
    this.below = h("tr", { class: "gap", "aria-hidden": "true" }, h("td"));
    this.table = h("table", { class: "samples" }, h("thead", {}, this.head), this.body);
    this.scroller = h("div", {
      class: "scroller", tabindex: 0, role: "region",
      "aria-label": "Table of samples. Arrow keys move from row to row, Enter selects.",
      onkeydown: (event) => this.key(event),
    }, this.table);
    this.caption = h("p", { class: "count", role: "status" });
    this.pages = h("span", { class: "pages" });
    this.element = h("div", { class: "table" },
      h("div", { class: "tablehead" }, this.caption, this.pages,
        h("button", { type: "button", class: "save", onclick: () => download(this.file, this.text()) }, "Save as CSV")),
      this.scroller);
    this.scroller.addEventListener("scroll", () => this.show(), { passive: true });
    store.on("select", () => this.renew());
    store.on("focus", () => this.reveal());
    new ResizeObserver(() => this.show()).observe(this.scroller);
    this.turn(0);
  }

  // Go to the columns from some number on.
  turn(first) {
    const { columns } = this;
    this.first = first;
    this.last = Math.min(first + COLUMNS, columns.length);
    const cells = [this.header("sample", -1)];
    for (let j = first; j < this.last; j++) cells.push(this.header(columns[j].name, j));
    this.head.replaceChildren(...cells);
    const step = (sign, name, to) => h("button", {
      type: "button", "aria-label": name, disabled: to < 0 || to >= columns.length, onclick: () => this.turn(to),
    }, sign);
    if (columns.length > COLUMNS) {
      this.pages.replaceChildren(step("‹", "Previous columns", first - COLUMNS),
        `columns ${first + 1} to ${this.last} of ${columns.length.toLocaleString("en")}`,
        step("›", "Next columns", first + COLUMNS));
    }
    this.renew();
  }

  header(name, j) {
    const sorted = j === this.order && (j >= 0 || this.down);
    const text = j < 0 || this.columns[j].categories;
    return h("th", { scope: "col", class: text ? "text" : null, "aria-sort": sorted ? (this.down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", class: "plain", title: name, onclick: () => this.sort(j) }, name));
  }

  sort(j) {
    this.down = this.order === j && !this.down;
    this.order = j;
    [...this.head.children].forEach((cell, k) => {
      cell.ariaSort = k === (j < 0 ? 0 : j - this.first + 1) ? (this.down ? "descending" : "ascending") : "none";
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
    const compare = (a, b) => (typeof a === "string" ? ORDER.compare(a, b) : a - b);
    const missing = (value) => value === null || Number.isNaN(value);
    if (j >= 0 || down) {
      let keys = Array.from(this.rows, (i) => this.value(i, j));
      if (j < 0 && keys.every(isNumber)) keys = keys.map(Number);
      const places = this.rows.map((_, k) => k).sort((a, b) => {
        if (missing(keys[a]) || missing(keys[b])) return missing(keys[a]) - missing(keys[b]);
        return (down ? -1 : 1) * compare(keys[a], keys[b]);
      });
      this.rows = places.map((k) => this.rows[k]);
    }
    this.caption.textContent = this.store.count
      ? `${plural(this.store.count, "sample")} selected of ${this.store.n.toLocaleString("en")}`
      : `All ${plural(this.store.n, "sample")}`;
    this.table.ariaRowCount = String(this.rows.length + 1);
    this.scroller.scrollTop = 0;
    this.show();
  }

  show() {
    const first = Math.max(Math.floor(this.scroller.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(first + Math.ceil(this.scroller.clientHeight / ROW) + 2 * SPARE, this.rows.length);
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${(this.rows.length - last) * ROW}px`;
    const rows = Array.from(this.rows.subarray(first, last), (i, k) => this.row(i, first + k));
    this.body.replaceChildren(this.above, ...rows, this.below);
  }

  row(i, place) {
    const cells = [];
    for (let j = this.first; j < this.last; j++) {
      const value = this.value(i, j);
      cells.push(this.columns[j].categories ? h("td", { class: "text" }, value ?? "–") : h("td", {}, number(value)));
    }
    // keys are for the table as a whole, so that rows need no stops of their own
    const name = h("button", { type: "button", class: "plain", tabindex: -1 }, this.names[i]);
    return h("tr", {
      "data-sample": i, "aria-rowindex": place + 2, "aria-current": i === this.store.focus ? "true" : null,
      onclick: () => {
        this.store.look(i);
        this.scroller.focus({ preventScroll: true });
      },
    }, h("th", { scope: "row" }, name), cells);
  }

  key(event) {
    if (event.target !== this.scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows, store } = this;
    const page = Math.max(Math.floor(this.scroller.clientHeight / ROW) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (event.key in steps && rows.length) {
      const place = rows.indexOf(store.focus);
      const next = place < 0 ? 0 : Math.min(Math.max(place + steps[event.key], 0), rows.length - 1);
      store.look(rows[next]);
    } else if (event.key === "Enter" && store.focus >= 0) store.select([store.focus], "row", event.shiftKey);
    else if (event.key === "Escape") store.select([]);
    else return;
    event.preventDefault();
  }

  reveal() {
    const place = this.rows.indexOf(this.store.focus);
    const [top, height] = [this.scroller.scrollTop, this.scroller.clientHeight];
    if (place >= 0 && (place * ROW < top || (place + 2) * ROW > top + height)) {
      this.scroller.scrollTop = place * ROW - height / 2;
    }
    this.show();
  }

  // The rows of the table, in their order and with all columns, as in RFC 4180. An apostrophe keeps texts from being
  // formulas.
  text() {
    const { columns, texts } = this;
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const text = (value) => quoted(FORMULA.test(value) && !A_NUMBER.test(value) ? `'${value}` : value);
    const cell = (value) => (value === null || Number.isNaN(value) ? "" : text(String(value)));
    const lines = [["sample", ...columns.map((column) => column.name), ...(texts ? ["text"] : [])].map(text).join(",")];
    for (const i of this.rows) {
      const cells = [text(this.names[i])];
      for (let j = 0; j < columns.length; j++) cells.push(cell(this.value(i, j)));
      if (texts) cells.push(text(texts[i]));
      lines.push(cells.join(","));
    }
    return `${lines.join("\r\n")}\r\n`;
  }
}
