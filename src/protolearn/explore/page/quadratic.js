// The smallest change of a sample that brings it over a border: quadratic programs, solved exactly, and a sequence of
// them where borders are curved.

const BEYOND = [1e-9, 1e-6, 1e-3]; // how far beyond the border, as a share of the distances; the first that is confirmed
const FAINT = 1e-4; // weight of what other prototypes see, so that what the nearest one does not see is not free of cost
const UNSEEN = 1e-8; // weight of what no prototype sees
const FAR = 3; // times as long as the best, that a way is not followed any more

const dotted = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};

// Returns the changed columns, or null. A prototype r of another class must be nearer than each prototype j that is in
// its way, by the margin m: (1 + m) d_r <= (1 - m) d_j.
export function nearestChange(model, z, { low, high, present, target, margin, reaches }) {
  const free = [...z.keys()].filter((j) => low[j] < high[j] && !Number.isNaN(z[j]));
  const D = model.distances(z);
  const own = [...D.keys()].filter((p) => model.codes[p] === present).reduce((a, b) => (D[b] < D[a] ? b : a));
  const grams = new Map();
  const gram = (p) => {
    const slot = model.slots[p];
    if (!grams.has(slot)) grams.set(slot, model.gram(slot, free));
    return grams.get(slot);
  };
  const cost = new Cost(lengthsAround(model, own, gram), free.length);
  const rest = new Float64Array(free.length);
  const box = { low: free.map((j) => low[j] - z[j]), high: free.map((j) => high[j] - z[j]) };
  const curved = margin > 0 || model.matrices.shape[0] > 1;
  const moved = (delta) => {
    const changed = z.slice();
    free.forEach((j, i) => {
      if (delta[i] !== 0) changed[j] = Math.min(Math.max(z[j] + delta[i], low[j]), high[j]);
    });
    return changed;
  };
  for (const beyond of BEYOND) {
    let [best, least] = [null, Infinity];
    for (const r of [...D.keys()].sort((a, b) => D[a] - D[b])) {
      const code = model.codes[r];
      if (D[r] === Infinity || (target < 0 ? code === present : code !== target)) continue;
      const others = [...D.keys()].filter(
        (p) => D[p] < Infinity && (target < 0 && margin === 0 ? model.codes[p] === present : model.codes[p] !== code),
      );
      const lacks = (at) => {
        // of each inequality
        const near = model.distanceTo(at, r);
        return others.map((p) => (1 + margin) * near - (1 - margin) * model.distanceTo(at, p) + beyond * (D[r] + D[p]));
      };
      const border = (delta) => {
        // the same, with the direction in which it grows, and how it bends
        const at = moved(delta);
        const toward = model.pull(at, r);
        const values = lacks(at);
        return others.map((p, i) => {
          const away = model.pull(at, p);
          return {
            value: values[i],
            slope: Float64Array.from(free, (j) => 2 * ((1 + margin) * toward[j] - (1 - margin) * away[j])),
            bend: [gram(r), 1 + margin, gram(p), margin - 1],
          };
        });
      };
      const inside = (delta) => lacks(moved(delta)).every((value) => value <= 0);
      const found = curved
        ? alongCurves(cost, border, inside, box, least, startsOf(model, z, free, box, r))
        : cost.solve(halfSpaces(border(rest), rest), box, least);
      if (found && found.length < least) [best, least] = [found.delta, found.length];
    }
    if (!best) return null;
    if (reaches(moved(best))) return moved(best);
  }
  return null;
}

// Borders as half-spaces n'delta >= b that touch them at delta.
function halfSpaces(borders, delta) {
  return borders.map(({ value, slope }) => ({
    n: slope.map((part) => -part),
    b: value - dotted(slope, delta),
  }));
}

// Where to begin: where it is, at the prototype, and at samples of its class that are near.
function startsOf(model, z, free, box, r) {
  const { N, Z, n, codes, winners } = model;
  const clipped = (at) =>
    Float64Array.from(free, (j, i) => Math.min(Math.max((at[j] || 0) - z[j], box.low[i]), box.high[i]));
  const gap = (s) =>
    model.project(
      Float64Array.from(z, (value, j) => Z[s * N + j] - value || 0),
      model.slots[r],
    );
  const near = [];
  for (let s = 0; s < n; s += Math.ceil(n / 5000)) {
    if (codes[winners[s]] !== codes[r]) continue;
    const u = gap(s);
    near.push([dotted(u, u), s]);
  }
  near.sort((a, b) => a[0] - b[0]);
  return [
    new Float64Array(free.length),
    clipped(model.prototype(r)),
    ...near.slice(0, 2).map(([, s]) => clipped(Z.slice(s * N, (s + 1) * N))),
  ];
}

// Curved borders: touched by half-spaces again and again, from a point within to one that is nearer. Lengths are bent
// as the borders are that hold the point back, which makes the steps those of Newton's method.
function alongCurves(cost, border, inside, box, cutoff, starts) {
  let best = null;
  for (const start of starts) {
    let [at, forces] = [start, null];
    let length = inside(at) ? cost.of(at) : Infinity;
    for (let round = 0; round < 40; round++) {
      const borders = border(at);
      const spaces = halfSpaces(borders, at);
      const next =
        (forces && cost.bent(borders, forces).solve(spaces, box, Infinity, at, cost)) ||
        cost.solve(spaces, box, Infinity);
      if (!next) break;
      forces = next.forces;
      let step = next.delta;
      if (!inside(step)) {
        if (length === Infinity) {
          at = step;
          continue;
        }
        const between = (t) => at.map((value, i) => value + t * (step[i] - value));
        let [within, beyond] = [0, 1];
        for (let halving = 0; halving < 25; halving++) {
          const middle = (within + beyond) / 2;
          if (inside(between(middle))) within = middle;
          else beyond = middle;
        }
        step = between(within);
      }
      const now = cost.of(step);
      if (!(now < length)) break;
      const gain = length - now;
      [at, length] = [step, now];
      if (gain < 1e-7 * now || (round > 3 && now > FAR * (best?.length ?? cutoff))) break;
    }
    if (length < (best?.length ?? cutoff)) best = { delta: at, length };
  }
  return best;
}

// The matrix S of lengths delta'S delta: that of the winner, and a little of all others.
function lengthsAround(model, own, gram) {
  const seen = [...model.slots.keys()].filter((p) => model.slots[p] >= 0);
  const S = gram(own).slice();
  for (const p of seen)
    gram(p).forEach((value, at) => {
      S[at] += (FAINT / seen.length) * value;
    });
  const f = Math.sqrt(S.length);
  const faint = (UNSEEN * model.trace(model.slots[own])) / model.N;
  for (let a = 0; a < f; a++) S[a * f + a] += faint;
  return S;
}

class Cost {
  constructor(S, f) {
    Object.assign(this, { S, f, K: inverse(S, f) });
  }

  of(delta) {
    return dotted(delta, times(this.S, delta));
  }

  // Lengths, and borders by the forces with which they hold a point back; K is null if there is no smallest.
  bent(borders, forces) {
    const S = this.S.slice();
    borders.forEach(({ bend: [one, a, other, b] }, i) => {
      if (forces[i] > 0) for (let at = 0; at < S.length; at++) S[at] += 2 * forces[i] * (a * one[at] + b * other[at]);
    });
    return new Cost(S, this.f);
  }

  // The smallest delta'S delta with n'delta >= b for all half-spaces, within a box; null if there is none below the
  // cutoff. Goldfarb and Idnani (1983): from the smallest of all, the inequality that fails most is added in turn, and
  // what no longer holds anything back is dropped.
  // From a point `at`, it is delta'S delta of a cost there that is made smaller, by one step.
  solve(spaces, box, cutoff, at = null, there = null) {
    const { K, f } = this;
    if (!K) return null;
    const x = new Float64Array(f);
    if (at)
      times(K, times(there.S, at)).forEach((value, i) => {
        x[i] = at[i] - value;
      });
    const dense = spaces.map(({ n, b }) => {
      const kn = times(K, n);
      return { kn, b, size: Math.sqrt(Math.max(dotted(n, kn), 0)), with: (v) => dotted(n, v) };
    });
    const side = (i, sign, b) => ({
      get kn() {
        return Float64Array.from({ length: f }, (_, a) => sign * K[a * f + i]);
      },
      b,
      size: Math.sqrt(K[i * f + i]),
      with: (v) => sign * v[i],
    });
    const all = [...dense, ...box.low.map((b, i) => side(i, 1, b)), ...box.high.map((b, i) => side(i, -1, -b))];
    const reach = Math.max(...dense.map(({ b, size }) => (size > 0 ? b / size : b > 0 ? Infinity : 0)), 0);
    if (reach === Infinity || reach * reach >= cutoff) return null;
    const active = []; // { space, kn, u }
    for (let round = 0; round < 20 * (all.length + 10); round++) {
      let [worst, lacking] = [null, 1e-10 * (reach || 1)];
      for (const space of all) {
        const lack = (space.b - space.with(x)) / (space.size || 1);
        if (lack > lacking && !active.some((one) => one.space === space)) [worst, lacking] = [space, lack];
      }
      if (!worst) {
        const length = this.of(x);
        const forces = dense.map((space) => active.find((one) => one.space === space)?.u ?? 0);
        return length < cutoff ? { delta: x, length, forces } : null;
      }
      const entering = { space: worst, kn: worst.kn, u: 0 };
      for (;;) {
        const m = active.length;
        const G = new Float64Array(m * m);
        active.forEach((one, a) =>
          active.forEach((other, b) => {
            G[a * m + b] = one.space.with(other.kn);
          }),
        );
        const mixed = Float64Array.from(active, (one) => one.space.with(entering.kn));
        const root = rootOf(G, m);
        if (!root) return null;
        const r = throughRoot(root, mixed, m);
        const way = entering.kn.slice();
        active.forEach((one, a) => {
          for (let i = 0; i < f; i++) way[i] -= r[a] * one.kn[i];
        });
        const along = worst.with(way);
        let [most, blocking] = [Infinity, -1];
        for (let a = 0; a < m; a++)
          if (r[a] > 1e-12 && active[a].u / r[a] < most) [most, blocking] = [active[a].u / r[a], a];
        const whole = along > 1e-11 * worst.size ** 2 ? (worst.b - worst.with(x)) / along : Infinity;
        const t = Math.min(most, whole);
        if (t === Infinity) return null;
        active.forEach((one, a) => {
          one.u -= t * r[a];
        });
        entering.u += t;
        if (whole < Infinity) for (let i = 0; i < f; i++) x[i] += t * way[i];
        if (t === whole) {
          active.push(entering);
          break;
        }
        active.splice(blocking, 1);
      }
    }
    return null;
  }
}

function times(matrix, vector) {
  const f = vector.length;
  return Float64Array.from({ length: f }, (_, a) => {
    let sum = 0;
    for (let b = 0; b < f; b++) sum += matrix[a * f + b] * vector[b];
    return sum;
  });
}

// Lower triangle R with R R' = G, or null if G is not positive.
function rootOf(G, m) {
  const R = new Float64Array(m * m);
  for (let a = 0; a < m; a++) {
    for (let b = 0; b <= a; b++) {
      let sum = G[a * m + b];
      for (let c = 0; c < b; c++) sum -= R[a * m + c] * R[b * m + c];
      if (a === b && !(sum > 0)) return null;
      R[a * m + b] = a === b ? Math.sqrt(sum) : sum / R[b * m + b];
    }
  }
  return R;
}

function throughRoot(R, v, m) {
  const x = Float64Array.from(v);
  for (let a = 0; a < m; a++) {
    for (let b = 0; b < a; b++) x[a] -= R[a * m + b] * x[b];
    x[a] /= R[a * m + a];
  }
  for (let a = m - 1; a >= 0; a--) {
    for (let b = a + 1; b < m; b++) x[a] -= R[b * m + a] * x[b];
    x[a] /= R[a * m + a];
  }
  return x;
}

// Of features in all kinds of units, brought to one size first.
function inverse(S, f) {
  const sizes = Float64Array.from({ length: f }, (_, a) => Math.sqrt(Math.abs(S[a * f + a])) || 1);
  const R = rootOf(
    S.map((value, at) => value / sizes[Math.floor(at / f)] / sizes[at % f]),
    f,
  );
  if (!R) return null;
  const K = new Float64Array(f * f);
  for (let a = 0; a < f; a++) {
    const unit = new Float64Array(f);
    unit[a] = 1;
    throughRoot(R, unit, f).forEach((value, b) => {
      K[b * f + a] = value / sizes[a] / sizes[b];
    });
  }
  return K;
}
