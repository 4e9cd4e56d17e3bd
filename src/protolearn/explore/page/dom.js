// Elements and numbers as text. Whatever comes from data becomes text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export function panel(title, attributes, ...children) {
  return h("section", { class: "panel", "aria-label": title, ...attributes }, h("h2", {}, title), ...children);
}

let lastId = 0;

export function choice(label, options, chosen, onchange) {
  const id = `choice-${++lastId}`;
  const groups = new Map();
  const select = h("select", { id, onchange: () => onchange(select.value) });
  for (const { value, text, group } of options) {
    const option = h("option", { value, selected: value === chosen }, text);
    if (!group) select.append(option);
    else {
      if (!groups.has(group)) {
        groups.set(group, h("optgroup", { label: group }));
        select.append(groups.get(group));
      }
      groups.get(group).append(option);
    }
  }
  return h("span", { class: "choice" }, h("label", { for: id }, label), select);
}

export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-3 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−").replace("e+", "e");
}

export const percent = (share, digits = 0) => Number.isNaN(share) ? "–" : `${(100 * share).toFixed(digits)} %`;

const GROUPED = new Intl.NumberFormat("en");

export function plural(count, one, many = `${one}s`) {
  return `${GROUPED.format(count)} ${count === 1 ? one : many}`;
}

// A canvas with the pixels of one image, enlarged without smoothing if it is small.
export function picture(images, i, size = 56) {
  const [, height, width, channels] = images.shape;
  const canvas = h("canvas", { width, height, class: "picture", role: "img", "aria-label": "image of the sample" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const start = i * height * width * channels;
  for (let p = 0; p < height * width; p++) {
    for (let c = 0; c < 3; c++) image.data[4 * p + c] = images[start + p * channels + (channels === 1 ? 0 : c)];
    image.data[4 * p + 3] = channels === 4 ? images[start + p * channels + 3] : 255;
  }
  context.putImageData(image, 0, 0);
  const scale = size / Math.max(width, height);
  canvas.style.width = `${Math.round(width * scale)}px`;
  canvas.style.height = `${Math.round(height * scale)}px`;
  return canvas;
}

// Light or dark: as the system has it, until the reader chooses; always light on paper.
const themes = new EventTarget();
const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const onTheme = (listener) => themes.addEventListener("theme", listener);

export function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  themes.dispatchEvent(new Event("theme"));
}

export function followSystem() {
  let before = system.matches;
  setTheme(before);
  system.addEventListener("change", () => setTheme(system.matches));
  addEventListener("beforeprint", () => {
    before = isDark();
    if (before) setTheme(false);
  });
  addEventListener("afterprint", () => before && setTheme(true));
}

// Offer text as a file, without a server.
export function download(name, text, type = "text/csv;charset=utf-8") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Calls that come faster than frames are drawn are made once a frame.
export function eachFrame(draw) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      draw();
    });
  };
}
