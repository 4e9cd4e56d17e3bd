// What all panels share: which samples are selected, and the one that is looked at. A panel that changes either tells
// the store, and the store tells all panels.

export class Store extends EventTarget {
  constructor(n) {
    super();
    this.n = n;
    this.selected = new Uint8Array(n);
    this.count = 0;
    this.source = "";
    this.focus = -1;
  }

  // Select some samples, in place of those before, or with them; none is everything at rest.
  select(samples, source = "", added = false) {
    if (!added) this.selected.fill(0);
    for (const i of samples) this.selected[i] = 1;
    this.count = this.selected.reduce((sum, one) => sum + one, 0);
    this.source = this.count ? source : "";
    this.dispatchEvent(new Event("select"));
  }

  invert() {
    const others = [];
    for (let i = 0; i < this.n; i++) if (!this.selected[i]) others.push(i);
    this.select(others, this.source && `all but ${this.source}`);
  }

  look(sample) {
    if (sample === this.focus) return;
    this.focus = sample;
    this.dispatchEvent(new Event("focus"));
  }

  on(names, listener) {
    for (const name of names.split(" ")) this.addEventListener(name, listener);
  }

  // Indices of the selected samples; of all, if none is selected.
  members() {
    const all = this.count === 0;
    const found = new Int32Array(all ? this.n : this.count);
    for (let i = 0, k = 0; i < this.n; i++) if (all || this.selected[i]) found[k++] = i;
    return found;
  }
}
