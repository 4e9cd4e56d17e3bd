// Points in a plane that can be zoomed, moved, picked and lassoed. Up to 100,000 points are drawn a frame: each is a
// small disc of pixels written into one image, which needs no graphics card.

import { h, eachFrame, plural } from "./dom.js";

const STEP = 1.25;
const REACH = 14; // pixels from a point at which a click still means it

export class Scatter {
  // points: x and y of all samples, one after the other; color: from a sample to [r, g, b]; options may hold `under`
  // and `over`, which draw below and above the points, and `name`, the name of a sample.
  constructor(store, points, color, options = {}) {
    Object.assign(this, { store, points, color, ...options });
    this.n = points.length / 2;
    this.lasso = null;
    this.fingers = new Map();
    this.canvas = h("canvas", {
      tabindex: 0, role: "application", class: "scatter",
      "aria-label": `${options.label ?? "View"}: ${plural(this.n, "point")}. Arrow keys go from point to point, Enter ` +
        "selects, plus and minus zoom, Escape clears the selection.",
    });
    this.status = h("p", { class: "status", role: "status" });
    this.mode = h("button", {
      type: "button", "aria-pressed": "false", title: "Drag around points to select them (or hold Shift)",
      onclick: () => this.setMode(this.mode.ariaPressed !== "true"),
    }, "Lasso");
    this.tools = h("div", { class: "tools" }, this.mode,
      h("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.zoom(STEP) }, "+"),
      h("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.zoom(1 / STEP) }, "−"),
      h("button", { type: "button", onclick: () => this.fit() }, "All"));
    this.element = h("div", { class: "plane" }, this.canvas, this.tools, this.status);
    this.draw = eachFrame(() => this.paint());
    store.on("select focus", this.draw);
    store.on("focus", () => this.say());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.draw);
  }

  setMode(lasso) {
    this.mode.ariaPressed = String(lasso);
    this.canvas.classList.toggle("lassoing", lasso);
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    const first = !this.width;
    const [cx, cy] = first ? [0, 0] : this.toPlane(this.width / 2, this.height / 2);
    Object.assign(this, { width, height, ratio: Math.min(devicePixelRatio || 1, 2) });
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    if (first) this.fit();
    else {
      this.left = cx - width / 2 / this.scale;
      this.top = cy + height / 2 / this.scale;
      this.draw();
    }
  }

  fit() {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    const extra = this.extra ?? [];
    for (const list of [this.points, extra]) {
      for (let i = 0; i < list.length; i += 2) {
        x0 = Math.min(x0, list[i]);
        x1 = Math.max(x1, list[i]);
        y0 = Math.min(y0, list[i + 1]);
        y1 = Math.max(y1, list[i + 1]);
      }
    }
    const room = 24;
    const scales = [(this.width - 2 * room) / (x1 - x0), (this.height - 2 * room) / (y1 - y0)].filter(
      (scale) => Number.isFinite(scale) && scale > 0);
    this.scale = scales.length ? Math.min(...scales) : 1;
    this.whole = this.scale;
    this.left = (x0 + x1) / 2 - this.width / 2 / this.scale;
    this.top = (y0 + y1) / 2 + this.height / 2 / this.scale;
    this.draw();
  }

  toScreen = (x, y) => [(x - this.left) * this.scale, (this.top - y) * this.scale];
  toPlane = (px, py) => [this.left + px / this.scale, this.top - py / this.scale];

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toPlane(px, py);
    this.scale = Math.min(Math.max(this.scale * factor, this.whole / 4), this.whole * 1000);
    this.left = x - px / this.scale;
    this.top = y + py / this.scale;
    this.draw();
  }

  radius() {
    const base = Math.min(Math.max(60 / Math.sqrt(this.n), 1.1), 4.5);
    return Math.min(base * Math.sqrt(Math.max(this.scale / this.whole, 1)), Math.max(base, 6));
  }

  paint() {
    if (!this.width) return;
    const started = performance.now();
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    const { width, height } = this.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.under?.(context, this);
    context.setTransform(1, 0, 0, 1, 0, 0);
    this.stamp(context, width, height);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.over?.(context, this);
    this.ring(context);
    if (this.lasso) this.outline(context);
    this.frame = performance.now() - started;
  }

  stamp(context, width, height) {
    const image = context.getImageData(0, 0, width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const r = this.radius() * this.ratio;
    const reach = Math.ceil(r);
    const offsets = [];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) if (dx * dx + dy * dy <= r * r) offsets.push([dx, dy]);
    }
    const { points, n, store } = this;
    const scale = this.scale * this.ratio;
    const some = store.count > 0;
    const faded = matchMedia("(prefers-color-scheme: dark)").matches ? 70 : 205;
    for (let round = some ? 0 : 1; round < 2; round++) { // selected points are drawn last, on top of the others
      for (let i = 0; i < n; i++) {
        if (some && store.selected[i] !== round) continue;
        const x = Math.round((points[2 * i] - this.left) * scale);
        const y = Math.round((this.top - points[2 * i + 1]) * scale);
        if (!(x >= -reach && y >= -reach && x < width + reach && y < height + reach)) continue;
        let [red, green, blue] = this.color(i);
        if (some && !round) {
          red = (red + 3 * faded) >> 2;
          green = (green + 3 * faded) >> 2;
          blue = (blue + 3 * faded) >> 2;
        }
        const word = (255 << 24) | (blue << 16) | (green << 8) | red;
        for (const [dx, dy] of offsets) {
          const px = x + dx;
          const py = y + dy;
          if (px >= 0 && py >= 0 && px < width && py < height) pixels[py * width + px] = word;
        }
      }
    }
    context.putImageData(image, 0, 0);
  }

  ring(context) {
    const { focus } = this.store;
    if (focus < 0) return;
    const [x, y] = this.toScreen(this.points[2 * focus], this.points[2 * focus + 1]);
    for (const [color, width] of [["#fff", 5], ["#111", 2.5]]) {
      context.beginPath();
      context.arc(x, y, this.radius() + 5, 0, 2 * Math.PI);
      context.strokeStyle = color;
      context.lineWidth = width;
      context.stroke();
    }
  }

  outline(context) {
    context.beginPath();
    this.lasso.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.fillStyle = "rgb(0 114 178 / 0.15)";
    context.fill();
    context.setLineDash([5, 4]);
    context.strokeStyle = "rgb(0 114 178)";
    context.lineWidth = 1.5;
    context.stroke();
    context.setLineDash([]);
  }

  nearest(px, py, allowed = () => true) {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.n; i++) {
      const [x, y] = this.toScreen(this.points[2 * i], this.points[2 * i + 1]);
      const d = (x - px) ** 2 + (y - py) ** 2;
      if (d < least && allowed(x - px, y - py, i)) [best, least] = [i, d];
    }
    return [best, Math.sqrt(least)];
  }

  inside(polygon) {
    const found = [];
    for (let i = 0; i < this.n; i++) {
      const [x, y] = this.toScreen(this.points[2 * i], this.points[2 * i + 1]);
      if (contains(polygon, x, y)) found.push(i);
    }
    return found;
  }

  listen() {
    const { canvas, fingers } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls until the canvas is in use
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), ...place(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      fingers.set(event.pointerId, place(event));
      this.moved = 0;
      if (fingers.size === 1 && (event.shiftKey || this.mode.ariaPressed === "true")) this.lasso = [place(event)];
      if (fingers.size === 2) this.lasso = null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (this.lasso) this.lasso.push(now);
      else if (fingers.size === 1) {
        this.left -= (now[0] - before[0]) / this.scale;
        this.top += (now[1] - before[1]) / this.scale;
      } else {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
        this.zoom(apart(now) / (apart(before) || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      }
      fingers.set(event.pointerId, now);
      this.draw();
    });
    const lift = (event) => {
      const at = fingers.get(event.pointerId);
      fingers.delete(event.pointerId);
      if (!at) return;
      if (this.lasso && this.moved > 5) this.store.select(this.inside(this.lasso), "lasso", event.ctrlKey);
      else if (this.moved <= 5 && event.type === "pointerup") this.pick(...at);
      this.lasso = null;
      this.draw();
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  pick(px, py) {
    const [i, distance] = this.nearest(px, py);
    if (i >= 0 && distance < this.radius() + REACH) this.store.look(i);
    else this.store.select([]);
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { focus } = this.store;
    if (ways[event.key]) {
      const [wx, wy] = ways[event.key];
      const [x, y] = focus < 0 ? [this.width / 2, this.height / 2] :
        this.toScreen(this.points[2 * focus], this.points[2 * focus + 1]);
      const ahead = (dx, dy, i) => {
        const along = dx * wx + dy * wy;
        return focus < 0 || (i !== focus && along > 0.5 && along >= Math.abs(dx * wy) + Math.abs(dy * wx));
      };
      const [next] = this.nearest(x, y, ahead);
      if (next >= 0) this.store.look(next);
    } else if (event.key === "Enter" && focus >= 0) this.store.select([focus], "point", event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.store.select([]);
    else return;
    event.preventDefault();
  }

  say() {
    const { focus } = this.store;
    this.status.textContent = focus < 0 ? "" : this.name?.(focus) ?? `sample ${focus}`;
  }
}

export function contains(polygon, x, y) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i];
    const [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}
