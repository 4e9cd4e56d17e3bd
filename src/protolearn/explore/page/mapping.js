// Where a mapping places a sample, from the numbers of _mappings.py: affine steps, then layers or charts.

// x @ weights + bias, with the rows of an array (d or d + 1, c) and biases (c), or the last row for these.
function affineOf(x, weights, bias = null) {
  const width = weights.shape[1];
  const found = new Float64Array(width);
  for (let c = 0; c < width; c++) {
    let sum = bias ? bias[c] : weights[x.length * width + c];
    for (let j = 0; j < x.length; j++) sum += x[j] * weights[j * width + c];
    found[c] = sum;
  }
  return found;
}

export function placed(mapping, features) {
  const { middle, slopes, start } = mapping.steps;
  const x = affineOf(features.map((value, j) => value - middle[j]), slopes, start);
  if (mapping.kind === "charts") return onCharts(mapping, x);
  return mapping.layers.reduce((input, layer, k) => affineOf(k ? input.map((value) => Math.max(value, 0)) : input, layer), x);
}

// Distances to prototypes, as `ShapedMap.distance_terms` says.
function chartDistances({ centers, directions, gains, scale, rest, constants }, x) {
  const [k, q, d] = directions.shape;
  const found = new Float64Array(k);
  for (let i = 0; i < k; i++) {
    let [sum, whole] = [constants[i], 0];
    for (let a = 0; a < q; a++) {
      let along = 0;
      for (let j = 0; j < d; j++) along += directions[(i * q + a) * d + j] * (x[j] - centers[i * d + j]);
      sum += gains[i * q + a] * along * along;
    }
    for (let j = 0; j < d; j++) whole += (scale[j] * (x[j] - centers[i * d + j])) ** 2;
    found[i] = sum + rest[i] * whole;
  }
  return found;
}

// The share of each chart in a sample, as `Gating.shares`.
function chartShares({ gating, offsets, rates, cutoff, groups }, distances) {
  const k = distances.length;
  const shares = new Float64Array(k);
  const order = Array.from(distances.keys()).sort((a, b) => distances[a] - distances[b]);
  if (gating === "crisp") {
    shares[order[0]] = 1;
    return shares;
  }
  const ranks = new Float64Array(k);
  order.forEach((chart, rank) => (ranks[chart] = rank));
  const fits = Array.from(gating === "rank" ? ranks : distances, (value, i) => offsets[i] - rates[i] * value);
  const best = Math.max(...fits);
  fits.forEach((fit, i) => (shares[i] = Math.exp(fit - best)));
  const normalize = () => {
    const sum = shares.reduce((a, b) => a + b, 0);
    for (let i = 0; i < k; i++) shares[i] /= sum;
  };
  normalize();
  if (groups) {
    const together = new Float64Array(Math.max(...groups) + 1);
    shares.forEach((share, i) => (together[groups[i]] += share));
    const group = together.indexOf(Math.max(...together));
    for (let i = 0; i < k; i++) if (groups[i] !== group) shares[i] = 0;
  }
  const least = Math.min(cutoff, Math.max(...shares));
  for (let i = 0; i < k; i++) if (shares[i] < least) shares[i] = 0;
  normalize();
  return shares;
}

function onCharts(mapping, x) {
  const { centers, slopes, starts } = mapping;
  const [k, d, width] = slopes.shape;
  const shares = chartShares(mapping, chartDistances(mapping, x));
  const found = new Float64Array(width);
  for (let i = 0; i < k; i++) {
    if (!shares[i]) continue;
    for (let c = 0; c < width; c++) {
      let sum = starts[i * width + c];
      for (let j = 0; j < d; j++) sum += (x[j] - centers[i * d + j]) * slopes[(i * d + j) * width + c];
      found[c] += shares[i] * sum;
    }
  }
  return found;
}
