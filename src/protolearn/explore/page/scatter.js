// Points in a plane that can be zoomed, moved, picked and lassoed. Up to 100,000 points are drawn a frame: each is a
// small disc of pixels written into one image, which needs no graphics card.

import { h, eachFrame, isDark, onTheme, plural } from "./dom.js";

const STEP = 1.25;
const REACH = 14; // pixels from a point at which a click still means it
const SMOOTH = 1.8; // radius in pixels from which discs have soft edges

export class Scatter {
  // points: x and y of all samples, one after the other; color: from a sample to [r, g, b]; options may hold `under`
  // and `over`, which draw below and above the points, `name`, the name of a sample, and `tip`, lines that tell more.
  // Whoever changes colors calls draw().
  constructor(store, points, color, options = {}) {
    Object.assign(this, { store, points, color, ...options });
    this.n = points.length / 2;
    this.words = new Int32Array(this.n); // the color of each point as a pixel
    this.stale = true;
    this.lasso = null;
    this.fingers = new Map();
    this.canvas = h("canvas", {
      tabindex: 0, role: "application", class: "scatter",
      "aria-label": `${options.label ?? "View"}: ${plural(this.n, "point")}. Arrow keys move from point to point, Enter ` +
        "selects, plus and minus zoom, zero shows all, Escape clears the selection.",
    });
    this.status = h("p", { class: "status", role: "status" });
    this.bubble = h("div", { class: "bubble", "aria-hidden": "true", hidden: true });
    this.mode = h("button", {
      type: "button", "aria-pressed": "false", title: "Drag around points to select them (or hold Shift)",
      onclick: () => this.setMode(this.mode.ariaPressed !== "true"),
    }, "Lasso");
    this.tools = h("div", { class: "tools", role: "group", "aria-label": "Tools of the view" }, this.mode,
      h("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.zoom(STEP) }, "+"),
      h("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.zoom(1 / STEP) }, "−"),
      h("button", { type: "button", "aria-label": "Show all", onclick: () => this.fit() }, "All"));
    this.element = h("div", { class: "plane" }, this.canvas, this.bubble, this.tools, this.status);
    this.element.scatter = this; // for tests, and for the curious
    this.redraw = eachFrame(() => this.paint());
    this.draw = () => {
      this.stale = true;
      this.redraw();
    };
    store.on("select focus", this.redraw);
    store.on("focus", () => this.say());
    onTheme(() => this.paint());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
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
    this.image = null;
    if (first) this.fit();
    else this.center(cx, cy);
  }

  center(x, y) {
    this.left = x - this.width / 2 / this.scale;
    this.top = y + this.height / 2 / this.scale;
    this.redraw();
  }

  fit() {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const list of [this.points, this.extra ?? []]) {
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
    this.center((x0 + x1) / 2, (y0 + y1) / 2);
  }

  toScreen = (x, y) => [(x - this.left) * this.scale, (this.top - y) * this.scale];
  toPlane = (px, py) => [this.left + px / this.scale, this.top - py / this.scale];
  at = (i) => this.toScreen(this.points[2 * i], this.points[2 * i + 1]);

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toPlane(px, py);
    this.scale = Math.min(Math.max(this.scale * factor, this.whole / 4), this.whole * 1000);
    this.left = x - px / this.scale;
    this.top = y + py / this.scale;
    this.redraw();
  }

  radius() {
    const base = Math.min(Math.max(110 / Math.sqrt(this.n), 1.1), 4.5);
    return Math.min(base * Math.sqrt(Math.max(this.scale / this.whole, 1)), Math.max(base, 6));
  }

  paint() {
    if (!this.width) return;
    const started = performance.now();
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    const { width, height } = this.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (this.under) {
      context.clearRect(0, 0, width, height);
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this.under(context, this);
      context.setTransform(1, 0, 0, 1, 0, 0);
      this.image = context.getImageData(0, 0, width, height);
    } else this.image ??= context.createImageData(width, height);
    const pixels = new Int32Array(this.image.data.buffer);
    if (!this.under) pixels.fill(0);
    this.stamp(pixels, width, height);
    context.putImageData(this.image, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.over?.(context, this);
    this.ring(context);
    if (this.lasso) this.outline(context);
    this.frame = performance.now() - started;
  }

  renewColors() {
    const { words, n } = this;
    for (let i = 0; i < n; i++) {
      const [red, green, blue] = this.color(i);
      words[i] = (255 << 24) | (blue << 16) | (green << 8) | red;
    }
    this.stale = false;
  }

  // All points; those that are not selected, if some are, come first and are pale.
  stamp(pixels, width, height) {
    if (this.stale) this.renewColors();
    const { store, words } = this;
    const disc = this.disc(this.radius() * this.ratio, width);
    const pale = isDark() ? 0x353535 : 0x9a9a9a; // three quarters of a gray near to the ground
    if (store.count) this.each(0, width, height, disc.reach, (i, x, y) =>
      spot(pixels, width, height, disc, x, y, (((words[i] >>> 2) & 0x3f3f3f) + pale) | 0xff000000));
    this.each(1, width, height, disc.reach, (i, x, y) => spot(pixels, width, height, disc, x, y, words[i]));
  }

  // Call for points in sight where they are, in pixels: of those selected (1), which are all if there is no selection,
  // or of the others (0).
  each(round, width, height, reach, call) {
    const { points, n, left, top, store: { selected, count } } = this;
    const scale = this.scale * this.ratio;
    const [right, bottom] = [width + reach, height + reach];
    for (let i = 0; i < n; i++) {
      if (count > 0 && selected[i] !== round) continue;
      const x = (points[2 * i] - left) * scale;
      const y = (top - points[2 * i + 1]) * scale;
      if (x > -reach && y > -reach && x < right && y < bottom) call(i, Math.round(x), Math.round(y));
    }
  }

  // The pixels of a disc, and how much of each it covers, of 256.
  disc(r, width) {
    if (this.stamped?.r === r && this.stamped.width === width) return this.stamped;
    const soft = r >= SMOOTH;
    const reach = Math.ceil(r + (soft ? 0.5 : 0));
    const found = [];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const inside = r - Math.hypot(dx, dy);
        const share = soft ? Math.round(256 * Math.min(inside + 0.5, 1)) : inside >= 0 ? 256 : 0;
        if (share > 0) found.push([dy * width + dx, dx, dy, share]);
      }
    }
    const [offsets, columns, rows, shares] = [0, 1, 2, 3].map((k) => Int32Array.from(found, (one) => one[k]));
    this.stamped = { r, width, soft, reach, offsets, columns, rows, shares };
    return this.stamped;
  }

  ring(context) {
    const { focus } = this.store;
    if (focus < 0) return;
    const [x, y] = this.at(focus);
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

  nearest(px, py, allowed = null) {
    const { points, n, left, top, scale } = this;
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < n; i++) {
      const dx = (points[2 * i] - left) * scale - px;
      const dy = (top - points[2 * i + 1]) * scale - py;
      const d = dx * dx + dy * dy;
      if (d < least && (!allowed || allowed(dx, dy, i))) {
        best = i;
        least = d;
      }
    }
    return [best, Math.sqrt(least)];
  }

  inside(polygon) {
    const [x0, y0] = [0, 1].map((c) => Math.min(...polygon.map((corner) => corner[c])));
    const [x1, y1] = [0, 1].map((c) => Math.max(...polygon.map((corner) => corner[c])));
    const within = insideOf(polygon);
    const found = [];
    for (let i = 0; i < this.n; i++) {
      const x = (this.points[2 * i] - this.left) * this.scale;
      const y = (this.top - this.points[2 * i + 1]) * this.scale;
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && within(x, y)) found.push(i);
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
      this.bubble.hidden = true;
      if (fingers.size === 1 && (event.shiftKey || this.mode.ariaPressed === "true")) this.lasso = [place(event)];
      if (fingers.size === 2) this.lasso = null;
    });
    const hover = eachFrame(() => this.hover(...this.mouse));
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) {
        this.mouse = event.pointerType === "mouse" ? place(event) : [NaN, NaN];
        hover();
        return;
      }
      const now = place(event);
      this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      fingers.set(event.pointerId, now);
      if (this.lasso) {
        const last = this.lasso.at(-1);
        if (Math.hypot(now[0] - last[0], now[1] - last[1]) >= 2) this.lasso.push(now);
      } else if (fingers.size === 1) {
        this.left -= (now[0] - before[0]) / this.scale;
        this.top += (now[1] - before[1]) / this.scale;
      } else {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
        this.zoom(apart(now) / (apart(before) || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      }
      this.redraw();
    });
    const lift = (event) => {
      const at = fingers.get(event.pointerId);
      fingers.delete(event.pointerId);
      if (!at) return;
      if (this.lasso && this.moved > 5) this.store.select(this.inside(this.lasso), "lasso", event.ctrlKey);
      else if (this.moved <= 5 && event.type === "pointerup") this.pick(...at);
      this.lasso = null;
      this.redraw();
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => {
      this.mouse = [NaN, NaN];
      this.bubble.hidden = true;
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  // A bubble that tells about the point below the mouse.
  hover(px, py) {
    const [i, distance] = this.nearest(px, py);
    this.bubble.hidden = !(i >= 0 && distance < this.radius() + 5);
    if (this.bubble.hidden) return;
    const [x, y] = this.at(i);
    const lines = [this.name?.(i) ?? `sample ${i}`, ...(this.tip?.(i) ?? [])];
    this.bubble.replaceChildren(...lines.map((line, k) => h(k ? "div" : "strong", {}, line)));
    Object.assign(this.bubble.style, x < this.width / 2 ? { left: `${x + 12}px`, right: "auto" } :
      { left: "auto", right: `${this.width - x + 12}px` });
    this.bubble.style.top = `${Math.max(y - 12, 0)}px`;
  }

  pick(px, py) {
    const [i, distance] = this.nearest(px, py);
    if (i >= 0 && distance < this.radius() + REACH) this.store.look(i);
    else this.store.select([]);
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { focus } = this.store;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ways[event.key]) {
      const [wx, wy] = ways[event.key];
      const [x, y] = focus < 0 ? [this.width / 2, this.height / 2] : this.at(focus);
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

  // Tell which sample is looked at, and bring it into sight.
  say() {
    const { focus } = this.store;
    this.status.textContent = focus < 0 ? "" : this.name?.(focus) ?? `sample ${focus}`;
    if (focus < 0 || !this.width) return;
    const [x, y] = this.at(focus);
    if (x < 0 || y < 0 || x > this.width || y > this.height) this.center(this.points[2 * focus], this.points[2 * focus + 1]);
  }
}

// Write one disc into an image.
function spot(pixels, width, height, { offsets, columns, rows, shares, reach, soft }, x, y, word) {
  const start = y * width + x;
  const whole = x >= reach && y >= reach && x < width - reach && y < height - reach;
  if (whole && !soft) {
    for (let o = 0; o < offsets.length; o++) pixels[start + offsets[o]] = word;
    return;
  }
  for (let o = 0; o < offsets.length; o++) {
    if (!whole && !(x + columns[o] >= 0 && x + columns[o] < width && y + rows[o] >= 0 && y + rows[o] < height)) continue;
    const at = start + offsets[o];
    pixels[at] = shares[o] === 256 ? word : mixed(word, pixels[at], shares[o]);
  }
}

// One pixel over another, with a share of 256.
function mixed(word, under, share) {
  const alpha = under >>> 24;
  if (!alpha) return (word & 0xffffff) | (Math.min(share, 255) << 24);
  const rest = 256 - share;
  const outer = ((word & 0xff00ff) * share + (under & 0xff00ff) * rest) >>> 8;
  const inner = ((word & 0xff00) * share + (under & 0xff00) * rest) >>> 8;
  return (outer & 0xff00ff) | (inner & 0xff00) | (Math.max(alpha, Math.min(share, 255)) << 24);
}

// A function that tells whether a point is inside of a polygon, a list of corners [x, y].
export function insideOf(polygon) {
  const n = polygon.length;
  const [xs, ys] = [0, 1].map((c) => Float64Array.from(polygon, (corner) => corner[c]));
  return (x, y) => {
    let odd = false;
    for (let i = 0, j = n - 1; i < n; j = i++) {
      if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) odd = !odd;
    }
    return odd;
  };
}

export const contains = (polygon, x, y) => insideOf(polygon)(x, y);
