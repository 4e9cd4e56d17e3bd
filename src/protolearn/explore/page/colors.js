// Colors as [r, g, b] from 0 to 255: of classes, and along a scale that is even to the eye.

// Okabe and Ito (2008), Color universal design: told apart with any kind of color vision.
const OKABE_ITO = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233], [240, 228, 66],
  [110, 110, 110],
];
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
  [110, 206, 88], [181, 222, 43], [253, 231, 37],
];
export const MISSING = [150, 150, 150];

export function classColors(n) {
  if (n <= OKABE_ITO.length) return OKABE_ITO.slice(0, n);
  return Array.from({ length: n }, (_, i) => fromHue(i / n, i % 2 ? 0.42 : 0.58));
}

function fromHue(hue, light) {
  const part = (k) => {
    const turn = (k + 12 * hue) % 12;
    return Math.round(255 * (light - 0.75 * Math.min(light, 1 - light) * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))));
  };
  return [part(0), part(8), part(4)];
}

export function ramp(share) {
  if (Number.isNaN(share)) return MISSING;
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return VIRIDIS[low].map((value, c) => Math.round(value + (place - low) * (VIRIDIS[low + 1][c] - value)));
}

export const css = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b} / ${alpha})`;

// Black or white, whichever can be read on a color.
export const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#111" : "#fff");

export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

// How values are shown by color: a function from a value to a color, and entries of a legend.
export function scaleOf(column) {
  if (column.categories) {
    const colors = classColors(column.categories.length);
    return {
      color: (code) => (code < 0 ? MISSING : colors[code]),
      entries: column.categories.map((name, i) => ({ name, color: colors[i], code: i })),
    };
  }
  const [least, most] = extent(column.values.filter(Number.isFinite));
  const [low, high] = column.limits ?? [least, most]; // what is beyond limits has the color of the end
  return { color: (value) => ramp((value - low) / (high - low || 1)), low, high, below: least < low, above: most > high };
}

export const valuesOf = (column) => column.values ?? column.codes;
