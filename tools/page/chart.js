// A picture over time on a canvas: the window of time that the views share, moving and zooming in
// it by pointer, wheel, fingers and keys, and the colours of the page.

class TimeWindow {
  constructor() {
    this.length = 1;
    this.from = 0;
    this.to = 1;
    this.watchers = [];
  }

  // Shows all of a time that long, or what the URL says of it.
  cover(length) {
    this.length = Math.max(length, 1);
    this.set(state.from === '' ? 0 : Number(state.from), state.to === '' ? this.length : Number(state.to));
  }

  set(from, to) {
    if (!(to - from > 0) || !isFinite(to - from)) [from, to] = [0, this.length];
    const span = Math.min(Math.max(to - from, 20), this.length * 1.02), middle = (from + to) / 2;
    const margin = this.length * 0.01;
    this.from = Math.min(Math.max(middle - span / 2, -margin), this.length + margin - span);
    this.to = this.from + span;
    for (const watcher of this.watchers) watcher();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keep(), 250);
  }

  keep() {
    const whole = this.to - this.from >= this.length;
    update({from: whole ? '' : Math.round(this.from), to: whole ? '' : Math.round(this.to)});
  }

  zoom(time, factor) {
    this.set(time - (time - this.from) * factor, time + (this.to - time) * factor);
  }

  move(share) {
    const distance = (this.to - this.from) * share;
    this.set(this.from + distance, this.to + distance);
  }

  // Brings a time span into view, zoomed so that it can be seen.
  show(from, to) {
    const span = this.to - this.from, own = to - from;
    if (from >= this.from && to <= this.to && own > span / 60) return;
    const room = Math.max(own * 3, Math.min(span, own * 40));
    this.set((from + to) / 2 - room / 2, (from + to) / 2 + room / 2);
  }
}

// The colours of the page, as canvases need them: read from elements of the classes that have them.
const palette = {
  kinds: new Map(),
  read() {
    const root = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'surface', 'line', 'line-strong', 'ink', 'ink-2', 'ink-3', 'accent', 'accent-soft', 'row'])
      this[name] = root.getPropertyValue('--' + name).trim();
    this.mono = '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    this.kinds.clear();
  },
  // [fill, ink] of a kind of cells.
  of(kind) {
    if (!this.kinds.has(kind)) {
      const probe = el('i', {class: `cell ${kind}`});
      document.body.append(probe);
      const style = getComputedStyle(probe);
      const plain = style.backgroundColor === 'rgba(0, 0, 0, 0)';
      this.kinds.set(kind, [plain ? this.line : style.backgroundColor, plain ? this['ink-2'] : style.color]);
      probe.remove();
    }
    return this.kinds.get(kind);
  },
};

class Chart {
  // paint(ctx, width, height) draws; find(x, y) gives what is there or null; choose(found, event)
  // and tell(found, event) are called for clicks and for the pointer that passes.
  constructor(time, label, {paint, find, choose, tell, open, scroll, key}) {
    Object.assign(this, {time, paint, find, choose, tell, open, scroll, key});
    this.canvas = el('canvas', {tabindex: 0, role: 'application', 'aria-label': label});
    this.element = el('div', {class: 'chart'}, this.canvas);
    this.pointers = new Map();
    this.moved = 0;
    const {canvas} = this;
    canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    canvas.addEventListener('pointermove', (event) => this.onMove(event));
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => this.onUp(event));
    canvas.addEventListener('pointerleave', () => showTip(0, 0, null));
    canvas.addEventListener('dblclick', (event) => {
      const found = this.find(event.offsetX, event.offsetY);
      if (found && this.open) this.open(found);
    });
    canvas.addEventListener('wheel', (event) => this.onWheel(event), {passive: false});
    canvas.addEventListener('keydown', (event) => this.onKey(event));
    time.watchers.push(() => this.schedule());
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  get width() {
    return this.element.clientWidth;
  }
  get height() {
    return this.element.clientHeight;
  }
  x(time) {
    return (time - this.time.from) / (this.time.to - this.time.from) * this.width;
  }
  timeAt(x) {
    return this.time.from + x / this.width * (this.time.to - this.time.from);
  }
  get pixel() {
    return (this.time.to - this.time.from) / Math.max(1, this.width);
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.draw();
    });
  }

  draw() {
    const {width, height, canvas} = this, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const ctx = this.ctx ||= canvas.getContext('2d', {alpha: false});
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = palette.surface;
    ctx.fillRect(0, 0, width, height);
    this.paint(ctx, width, height);
  }

  // Lines and times at round distances.
  drawAxis(ctx, width, height, label = true) {
    const {from, to} = this.time, raw = (to - from) / Math.max(2, width / 130);
    const power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
    ctx.font = `11px ${palette.mono}`;
    ctx.textBaseline = 'middle';
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      ctx.fillStyle = palette.line;
      ctx.fillRect(x - 0.5, label ? 20 : 0, 1, height);
      if (!label) continue;
      ctx.fillStyle = palette['ink-3'];
      ctx.fillText(timeText(Math.abs(t) < step / 2 ? 0 : t, step), x + 4, 11);
    }
  }

  onDown(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    this.moved = 0;
    this.canvas.focus({preventScroll: true});
  }

  onMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.tell(this.find(event.offsetX, event.offsetY), event);
    const now = {x: event.offsetX, y: event.offsetY};
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    this.pointers.set(event.pointerId, now);
    if (this.moved < 4) return;
    showTip(0, 0, null);
    if (others.length === 1) {  // two fingers zoom
      const was = Math.abs(before.x - others[0].x), is = Math.abs(now.x - others[0].x);
      if (was > 8 && is > 8) this.time.zoom(this.timeAt((now.x + others[0].x) / 2), was / is);
      return;
    }
    this.time.move((before.x - now.x) / this.width);
    if (this.scroll) this.scroll(before.y - now.y);
  }

  onUp(event) {
    const pressed = this.pointers.delete(event.pointerId);
    if (pressed && this.moved < 4 && event.type === 'pointerup') this.choose(this.find(event.offsetX, event.offsetY), event);
  }

  onWheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.time.move((event.shiftKey ? event.deltaX + event.deltaY : event.deltaX) * unit / this.width);
    else
      this.time.zoom(this.timeAt(event.offsetX), Math.exp(Math.max(-120, Math.min(120, event.deltaY * unit)) * 0.004));
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (this.time.from + this.time.to) / 2;
    const actions = {w: () => this.time.zoom(middle, 0.6), '+': () => this.time.zoom(middle, 0.6), '=': () => this.time.zoom(middle, 0.6),
                     s: () => this.time.zoom(middle, 1 / 0.6), '-': () => this.time.zoom(middle, 1 / 0.6),
                     a: () => this.time.move(-0.2), d: () => this.time.move(0.2), 0: () => this.time.set(0, this.time.length)};
    const action = actions[event.key];
    if (!action && !(this.key && this.key(event.key))) return;
    event.preventDefault();
    if (action) action();
  }
}
