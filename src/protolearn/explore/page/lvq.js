// What a nearest-prototype classifier computes, from its own numbers: distances |A (z - w)|^2 of the columns z of a
// sample to prototypes w, and all that follows from them. No part of it knows the page.
//
// Z: columns of all samples, one after another; W: prototypes; A: matrices (s, M, N), or diagonals (s, N).

import { nearestChange } from "./quadratic.js";

export class Classifier {
  constructor(part, columns, n) {
    Object.assign(this, part, { n, k: part.codes.length });
    this.computes = Boolean(part.prototypes);
    if (!this.computes) return;
    this.N = part.prototypes.shape[1];
    this.columns = columns;
    this.Z = new Float64Array(n * this.N);
    this.features.forEach((feature) => {
      feature.name ??= columns[feature.place].name + (feature.own ? " (prepared)" : "");
    });
    for (let s = 0; s < n; s++) this.Z.set(this.fill(s), s * this.N);
  }

  // Columns of a sample as the steps before the classifier have made them.
  fill(s) {
    const z = new Float64Array(this.N);
    for (const feature of this.features) if (!feature.own) this.put(z, feature, this.given(feature, s));
    this.prepared.forEach((column, j) => {
      if (column) z[j] = column[s];
    });
    return z;
  }

  // The value of a feature as it is in the table: a number (NaN if missing), or the code of a category (-1 if unknown).
  given(feature, s) {
    if (feature.categories) return feature.codes[s];
    return feature.own ? this.Z[s * this.N + feature.columns[0]] : this.columns[feature.place].values[s];
  }

  put(z, feature, value) {
    const { columns, rows, origin, factor } = feature;
    if (!feature.categories) z[columns[0]] = (value - origin) * factor;
    else if (value >= 0)
      columns.forEach((j, i) => {
        z[j] = rows[value * columns.length + i];
      });
  }

  // The value of a feature for which its columns are those of z; of a category the nearest.
  valueIn(z, feature) {
    const { columns, rows, categories, origin, factor } = feature;
    if (!categories) return z[columns[0]] / factor + origin;
    const apart = categories.map((_, c) =>
      columns.reduce((sum, j, i) => sum + (z[j] - rows[c * columns.length + i]) ** 2, 0),
    );
    return apart.indexOf(Math.min(...apart));
  }

  valuesIn(z) {
    return this.features.map((feature) => this.valueIn(z, feature));
  }

  prototype(p) {
    return this.prototypes.slice(p * this.N, (p + 1) * this.N);
  }

  // Columns of a sample after changes, a Map from the number of a feature to its new value.
  input(s, changes = new Map()) {
    const z = this.Z.slice(s * this.N, (s + 1) * this.N);
    for (const [i, value] of changes) this.put(z, this.features[i], value);
    return z;
  }

  // A (z - w) of one prototype; a missing value differs from none.
  gap(z, p) {
    const { N, prototypes: W, matrices: A, slots } = this;
    const gap = new Float64Array(N);
    for (let j = 0; j < N; j++) gap[j] = Number.isNaN(z[j]) ? 0 : z[j] - W[p * N + j];
    return this.project(gap, slots[p], A);
  }

  project(vector, slot, A = this.matrices) {
    const { N } = this;
    if (A.shape.length === 2) return vector.map((value, j) => value * A[slot * N + j]);
    const M = A.shape[1];
    const made = new Float64Array(M);
    for (let m = 0; m < M; m++) {
      let sum = 0;
      const row = (slot * M + m) * N;
      for (let j = 0; j < N; j++) sum += A[row + j] * vector[j];
      made[m] = sum;
    }
    return made;
  }

  distanceTo(z, p) {
    return this.slots[p] < 0 ? Infinity : this.gap(z, p).reduce((sum, value) => sum + value * value, 0);
  }

  distances(z) {
    return Float64Array.from({ length: this.k }, (_, p) => this.distanceTo(z, p));
  }

  // Squared distances of a sample, as stored or as computed.
  measure(s, z = null) {
    return this.computes ? this.distances(z ?? this.input(s)) : this.stored("distances", s);
  }

  stored(name, s) {
    const width = this[name].shape[1];
    return this[name].slice(s * width, (s + 1) * width);
  }

  // The nearest prototype, and the nearest of another class.
  ranked(D) {
    let winner = 0;
    for (let p = 1; p < this.k; p++) if (D[p] < D[winner]) winner = p;
    let rival = -1;
    for (let p = 0; p < this.k; p++) {
      if (this.codes[p] !== this.codes[winner] && (rival < 0 || D[p] < D[rival])) rival = p;
    }
    return [winner, rival];
  }

  confidenceOf(D) {
    const [winner, rival] = this.ranked(D);
    if (rival < 0 || D[rival] === Infinity) return 1;
    return D[rival] > D[winner] ? (D[rival] - D[winner]) / (D[rival] + D[winner]) : 0;
  }

  // Above one, the sample is outside of all acceptance radii.
  noveltyOf(D) {
    if (!this.radii) return 0;
    let least = Infinity;
    for (let p = 0; p < this.k; p++) {
      const ratio = this.radii[p] > 0 ? D[p] / this.radii[p] : D[p] > 0 ? Infinity : 0;
      least = Math.min(least, ratio);
    }
    return least;
  }

  // The number of a class, or -1 if the classifier does not answer.
  predict(D, threshold = this.threshold, confidence = this.confidenceOf(D)) {
    if ((threshold > 0 && confidence < threshold) || this.noveltyOf(D) > 1) return -1;
    return this.codes[this.ranked(D)[0]];
  }

  // Distances to classes, not squared.
  toClasses(D) {
    const near = new Float64Array(this.classes.length).fill(Infinity);
    D.forEach((d, p) => {
      near[this.codes[p]] = Math.min(near[this.codes[p]], Math.sqrt(Math.max(d, 0)));
    });
    return near;
  }

  // Logarithms of probabilities, not normalized.
  logits(D) {
    const { rule } = this;
    if (rule.temperature) return this.toClasses(D).map((d) => -d / rule.temperature);
    const scaled = D.map((d) => -d / (2 * rule.width ** 2));
    return Float64Array.from(this.classes, (_, c) => logSum(scaled.filter((_, p) => this.codes[p] === c)));
  }

  probabilitiesOf(D, s) {
    if (!this.computes) return this.stored("probabilities", s);
    const { shares } = this.rule;
    if (shares) return shares.slice(this.ranked(D)[0] * shares.shape[1], (this.ranked(D)[0] + 1) * shares.shape[1]);
    const logits = this.logits(D);
    const all = logSum(logits);
    return logits.map((value) => Math.exp(value - all));
  }

  decision(D) {
    if (this.rule.width) {
      const logits = this.logits(D);
      const all = logSum(logits);
      return logits.length === 2 ? [logits[1] - logits[0]] : Array.from(logits, (value) => value - all);
    }
    const near = this.toClasses(D);
    return near.length === 2 ? [near[0] - near[1]] : Array.from(near, (d) => -d);
  }

  // A'A for some columns.
  gram(slot, some) {
    const { matrices: A, N } = this;
    const f = some.length;
    const made = new Float64Array(f * f);
    if (A.shape.length === 2)
      some.forEach((j, i) => {
        made[i * f + i] = A[slot * N + j] ** 2;
      });
    else {
      for (let m = 0; m < A.shape[1]; m++) {
        const row = (slot * A.shape[1] + m) * N;
        for (let a = 0; a < f; a++) for (let b = 0; b < f; b++) made[a * f + b] += A[row + some[a]] * A[row + some[b]];
      }
    }
    return made;
  }

  trace(slot) {
    const size = this.matrices.length / this.matrices.shape[0];
    return this.matrices.subarray(slot * size, (slot + 1) * size).reduce((sum, value) => sum + value * value, 0);
  }

  // A'A (z - w): half the slope of the distance from a prototype.
  pull(z, p) {
    const { N, matrices: A, slots } = this;
    const projected = this.gap(z, p);
    if (A.shape.length === 2) return projected.map((value, j) => value * A[slots[p] * N + j]);
    const pull = new Float64Array(N);
    projected.forEach((value, m) => {
      const row = (slots[p] * A.shape[1] + m) * N;
      for (let j = 0; j < N; j++) pull[j] += A[row + j] * value;
    });
    return pull;
  }

  // What each column adds to the distance from a prototype.
  parts(z, p) {
    return this.pull(z, p).map((value, j) =>
      Number.isNaN(z[j]) ? 0 : value * (z[j] - this.prototypes[p * this.N + j]),
    );
  }

  // What each feature adds to the distance of the rival less that of the winner: positive, it speaks for the class.
  contributions(z, winner, rival) {
    const [own, other] = [this.parts(z, winner), this.parts(z, rival)];
    return this.features.map(({ columns }) => columns.reduce((sum, j) => sum + other[j] - own[j], 0));
  }

  // All about one sample, as it is or after changes.
  look(s, changes, threshold = this.threshold) {
    const z = this.computes ? this.input(s, changes) : null;
    const D = this.measure(s, z);
    const [winner, rival] = this.ranked(D);
    const confidence = this.computes ? this.confidenceOf(D) : this.confidence[s];
    return {
      z,
      D,
      winner,
      rival,
      confidence,
      predicted: this.predict(D, threshold, confidence),
      probabilities: this.probabilitiesOf(D, s),
      decision: this.computes ? this.decision(D) : null,
      contributions: this.computes && rival >= 0 ? this.contributions(z, winner, rival) : null,
    };
  }

  // Squared length that the change of one feature would have alone, by the metric of the nearest prototype.
  weight(z, changed, feature) {
    const delta = new Float64Array(this.N);
    for (const j of feature.columns) delta[j] = changed[j] - z[j] || 0;
    return this.project(delta, this.slots[this.ranked(this.distances(z))[0]]).reduce(
      (sum, value) => sum + value * value,
      0,
    );
  }

  columnNames() {
    const names = [];
    for (const { name, columns, categories, rows } of this.features) {
      columns.forEach((j, i) => {
        const only = categories?.filter((_, c) => rows[c * columns.length + i] !== 0);
        names[j] = only?.length === 1 ? `${name} = ${only[0]}` : name;
      });
    }
    return names;
  }

  place(z) {
    const at = [0, 0];
    for (let j = 0; j < this.N; j++) {
      const value = Number.isNaN(z[j]) ? this.center[j] : z[j];
      at[0] += this.plane[j] * value;
      at[1] += this.plane[this.N + j] * value;
    }
    return at;
  }

  // Distances in the plane through z: for each prototype d(q) = c + 2 b'q + q'Cq of the way q from the place of z.
  slice(z) {
    const { N, back } = this;
    const ways = [0, 1].map((axis) =>
      Float64Array.from({ length: N }, (_, j) => (Number.isNaN(z[j]) ? 0 : back[2 * j + axis])),
    );
    const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
    const bySlot = new Map();
    const forms = [];
    for (let p = 0; p < this.k; p++) {
      const slot = this.slots[p];
      if (slot < 0) continue;
      if (!bySlot.has(slot))
        bySlot.set(
          slot,
          ways.map((way) => this.project(way, slot)),
        );
      const [x, y] = bySlot.get(slot);
      const u = this.gap(z, p);
      forms.push({
        code: this.codes[p],
        radius: this.radii?.[p],
        c: dot(u, u),
        bx: dot(u, x),
        by: dot(u, y),
        xx: dot(x, x),
        xy: dot(x, y),
        yy: dot(y, y),
      });
    }
    return forms;
  }

  // The smallest change of columns, in the metric, after which a sample has another class (or class `target`).
  // Features of `held`, categories and missing values stay. Returns the new values of features, or null.
  counterfactual(s, changes = new Map(), { target = -1, held = new Set(), threshold = this.threshold } = {}) {
    const z = this.input(s, changes);
    const [low, high] = [z.slice(), z.slice()];
    this.features.forEach((feature, i) => {
      const value = changes.has(i) ? changes.get(i) : this.given(feature, s);
      if (feature.categories || held.has(i) || Number.isNaN(value)) return;
      const j = feature.columns[0];
      const ends = [feature.low, feature.high].map((end) => (end - feature.origin) * feature.factor);
      low[j] = Math.min(...ends, z[j]);
      high[j] = Math.max(...ends, z[j]);
    });
    const present = this.codes[this.ranked(this.distances(z))[0]];
    const renewed = (changed) => {
      const found = new Map(changes);
      this.features.forEach((feature, i) => {
        const j = feature.columns[0];
        if (feature.categories || low[j] === high[j] || changed[j] === z[j]) return;
        found.set(
          i,
          Math.min(
            Math.max(this.valueIn(changed, feature), Math.min(feature.low, this.valueIn(z, feature))),
            Math.max(feature.high, this.valueIn(z, feature)),
          ),
        );
      });
      return found;
    };
    const reaches = (changed) => {
      const D = this.distances(this.input(s, renewed(changed)));
      const code = this.codes[this.ranked(D)[0]];
      return (target < 0 ? code !== present : code === target) && this.confidenceOf(D) >= threshold;
    };
    const found = nearestChange(this, z, { low, high, present, target, margin: threshold, reaches });
    return found && renewed(found);
  }

  // The same with few features: the best alone, or those that can do most towards the new class, and none in vain.
  fewChanges(s, changes, options) {
    const all = this.counterfactual(s, changes, options);
    if (!all) return null;
    const z = this.input(s, changes);
    const [winner] = this.ranked(this.distances(z));
    const [goal] = this.ranked(this.distances(this.input(s, all)));
    const [own, other] = [this.pull(z, winner), this.pull(z, goal)];
    const reach = ({ columns: [j], low, high, origin, factor }) =>
      Math.max(...[low, high].map((end) => (own[j] - other[j]) * ((end - origin) * factor - z[j])));
    const open = [...all.keys()].filter((i) => !this.features[i].categories && !options.held.has(i));
    open.sort((a, b) => reach(this.features[b]) - reach(this.features[a]));
    const only = (some) => {
      const held = new Set([...this.features.keys()].filter((i) => !some.includes(i)));
      return this.counterfactual(s, changes, { ...options, held });
    };
    const length = (found) => {
      const there = this.input(s, found);
      return this.project(
        z.map((value, j) => there[j] - value || 0),
        this.slots[winner],
      ).reduce((sum, value) => sum + value * value, 0);
    };
    const alone = open
      .slice(0, 20)
      .map((i) => only([i]))
      .filter(Boolean);
    if (alone.length) return alone.reduce((a, b) => (length(b) < length(a) ? b : a));
    let [few, enough] = [1, open.length];
    while (few + 1 < enough) {
      const middle = (few + enough) >> 1;
      if (only(open.slice(0, middle))) enough = middle;
      else few = middle;
    }
    let kept = open.slice(0, enough);
    let best = only(kept) ?? all;
    for (const i of kept.slice(0, -1).reverse()) {
      const fewer = kept.filter((one) => one !== i);
      const found = only(fewer);
      if (found) [kept, best] = [fewer, found];
    }
    return best;
  }
}

function logSum(values) {
  const largest = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return largest;
  return largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}
