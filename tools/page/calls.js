// The calls of a run, or of two: nested by key over time, a lane for each thread.

const kBar = 20, kLaneHead = 24, kAxis = 24;

class Calls {
  constructor(time, runs, tables) {
    Object.assign(this, {time, runs, tables, lanes: [], top: 0, heightOfAll: 0});
    this.lead = el('p', {class: 'lead'});
    this.legend = el('div', {class: 'legend'});
    this.overview = new Chart(time, 'The whole run; click to go there', {
      paint: (ctx, width, height) => this.paintOverview(ctx, width, height),
      find: (x) => x, tell: () => {}, choose: (x) => this.centre(x),
    });
    this.overview.element.classList.add('overview');
    this.overview.onMove = (event) => { if (event.buttons & 1) this.centre(event.offsetX); };
    this.chart = new Chart(time, 'Calls over time: arrows go from call to call, w and s zoom, a and d move', {
      paint: (ctx, width, height) => this.paint(ctx, width, height),
      find: (x, y) => this.find(x, y),
      choose: (found) => found ? this.choose(found.run, found.event) : update({call: ''}),
      tell: (found, event) => this.tell(found, event),
      open: (found) => { const {run, event} = found; time.set(run.start[event] - run.duration(event) * 0.1, run.end[event] + run.duration(event) * 0.1); },
      scroll: (dy) => this.scroll(dy),
      key: (key) => this.step(key),
    });
    this.body = el('div', {class: 'timeline'}, this.overview.element, this.chart.element);
    this.none = el('div', {class: 'empty'}, el('h2', null, 'No recording is here'),
                   el('p', null, 'Record a program with ', el('code', null, 'sb record MODEL -o run.sbr'), ' and drop run.sbr on this page, or make a page of it with ',
                      el('code', null, 'sb page run.sbr -o page.html'), '.'));
    byId('calls').append(el('div', {class: 'view-head'}, this.lead, this.legend), this.body, this.none);
    onUpdate((changes) => {
      if (state.view !== 'calls') return;
      if ('q' in changes) this.search();
      if (['call', 'run', 'view'].some((name) => name in changes)) this.reveal();
      this.chart.schedule();
      this.overview.schedule();
    });
  }

  // Takes the runs anew.
  load() {
    const {runs} = this;
    this.none.hidden = runs.length > 0;
    this.body.hidden = this.lead.hidden = this.legend.hidden = runs.length === 0;
    this.lanes = [];
    let y = kAxis;
    runs.forEach((run, index) => {
      run.threads ||= tracksOf(run);
      for (const {thread, tracks} of run.threads) {
        this.lanes.push({run, index, thread, tracks, y});
        y += kLaneHead + tracks.length * kBar + 8;
      }
    });
    this.heightOfAll = y;
    if (!runs.length) return;
    const kernels = runs.map((run) => run.count).reduce((a, b) => a + b);
    this.lead.replaceChildren(
        el('b', null, counted(kernels, 'kernel')), runs.length > 1 ? ` in ${runs.length} recordings. ` : ` in ${timeText(runs[0].length)}. `,
        'Time goes to the right; a kernel stands below the one that called it. Its colour is the rule that chose it. Drag to move, scroll to zoom, click for the reason.');
    const kinds = new Map();
    for (const run of runs) for (const site of run.sites) if (site.calls) kinds.set(site.kind, site.rule);
    this.legend.replaceChildren(...[...kinds].map(([kind, rule]) => el('span', null, el('i', {class: `cell ${kind}`}), rule)));
    this.search();
    this.chart.schedule();
    this.overview.schedule();
  }

  // Which sites match what is searched for; null if nothing is.
  search() {
    const words = wordsOf(state.q);
    for (const run of this.runs)
      run.matches = words.length ? run.sites.map((site) => words.every((word) => `${site.op} ${site.key}`.toLowerCase().includes(word))) : null;
    this.chart.schedule();
  }

  // Goes to the next kernel that matches, from the selected one.
  searchNext() {
    this.search();
    const index = Number(state.run), run = this.runs[index];
    if (!run || !run.matches) return;
    const from = state.call === '' ? -1 : Number(state.call);
    for (let i = 1; i <= run.count; ++i) {
      const event = (from + i) % run.count;
      if (run.matches[run.site[event]]) return this.choose(run, event);
    }
  }

  paintOverview(ctx, width, height) {
    const {time} = this, runs = this.runs;
    if (!this.lanes.length) return;
    const band = (height - 8) / runs.length;
    runs.forEach((run, index) => {
      const pixel = time.length / width;
      for (const {tracks} of run.threads) {
        if (!tracks.length) continue;
        tracks[0].boxes(0, time.length, pixel, (first, end, event, from, to, share) => {
          const [fill] = palette.of(run.sites[run.site[event]].kind);
          ctx.globalAlpha = 0.35 + 0.65 * share;
          ctx.fillStyle = fill;
          ctx.fillRect(from / pixel, 4 + index * band, Math.max(1, (to - from) / pixel), band - 2);
        });
      }
    });
    ctx.globalAlpha = 1;
    const left = Math.max(0, time.from / time.length * width), right = Math.min(width, time.to / time.length * width);
    ctx.globalAlpha = 0.6;
    ctx.fillStyle = palette.paper;
    ctx.fillRect(0, 0, left, height);
    ctx.fillRect(right, 0, width - right, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = palette.accent;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(left + 0.75, 0.75, Math.max(3, right - left - 1.5), height - 1.5);
  }

  centre(x) {
    const {time} = this, middle = x / this.overview.width * time.length, half = (time.to - time.from) / 2;
    time.set(middle - half, middle + half);
  }

  paint(ctx, width, height) {
    const {time, chart} = this;
    this.top = Math.max(0, Math.min(this.top, this.heightOfAll - height));
    chart.drawAxis(ctx, width, height);
    const pixel = chart.pixel, scale = 1 / pixel, from = time.from;
    const selected = state.call === '' ? -1 : Number(state.call);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, kAxis - 2, width, height);
    ctx.clip();
    for (const lane of this.lanes) {
      const {run, tracks} = lane, y0 = lane.y - this.top;
      if (y0 > height || y0 + kLaneHead + tracks.length * kBar < 0) continue;
      ctx.fillStyle = palette['ink-2'];
      ctx.font = `600 11.5px ${palette.mono}`;
      ctx.textBaseline = 'middle';
      ctx.fillText(`${this.runs.length > 1 ? run.name + ' · ' : ''}thread ${lane.thread}`, 12, y0 + kLaneHead / 2 + 1);
      ctx.font = `11px ${palette.mono}`;
      const letter = ctx.measureText('mmmmmmmmmm').width / 10;
      tracks.forEach((track, depth) => {
        const y = y0 + kLaneHead + depth * kBar;
        if (y > height || y + kBar < kAxis) return;
        let lastKind = '', lastAlpha = 1, ink = '';
        track.boxes(from, time.to, pixel, (first, end, event, begin, finish, share) => {
          const site = run.sites[run.site[event]], kind = site.kind;
          if (kind !== lastKind) {
            const colours = palette.of(kind);
            ctx.fillStyle = colours[0];
            ink = colours[1];
            lastKind = kind;
          }
          const dimmed = run.matches && !run.matches[run.site[event]];
          const alpha = dimmed ? 0.18 : end - first > 1 ? 0.4 + 0.6 * share : 1;
          if (alpha !== lastAlpha) ctx.globalAlpha = lastAlpha = alpha;
          const x = Math.max(-2, (begin - from) * scale), w = Math.min(width + 2, (finish - from) * scale) - x;
          ctx.fillRect(x, y, w > 3 ? w - 1 : Math.max(w, 1), kBar - 2);
          if (w > 34 && end - first === 1) {
            const room = Math.floor((w - 10) / letter), visible = Math.max(x, 0);
            const text = site.label.length <= room ? site.label : site.short.length <= room ? site.short : room > 3 ? site.short.slice(0, room - 1) + '…' : '';
            if (text) {
              ctx.fillStyle = ink;
              ctx.fillText(text, visible + 5, y + kBar / 2 - 0.5);
              lastKind = '';
            }
          }
        });
        ctx.globalAlpha = 1;
      });
      if (lane.index === Number(state.run) && selected >= 0 && selected < run.count && run.thread[selected] === lane.thread)
        this.outline(ctx, run, selected, y0, palette.accent);
      if (run.difference !== undefined && run.thread[run.difference] === lane.thread) this.flag(ctx, run, y0);
    }
    ctx.restore();
  }

  outline(ctx, run, event, y0, colour) {
    const x = this.chart.x(run.start[event]), w = Math.max(2, this.chart.x(run.end[event]) - x);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    ctx.strokeRect(x - 0.5, y0 + kLaneHead + run.depth[event] * kBar - 1, w + 1, kBar);
  }

  // Marks where two runs part.
  flag(ctx, run, y0) {
    const event = run.difference, x = Math.round(this.chart.x(run.start[event])), y = y0 + kLaneHead + run.depth[event] * kBar;
    const [fill, ink] = palette.of('none');
    ctx.font = `600 11px ${palette.mono}`;
    const text = 'first difference', w = ctx.measureText(text).width + 12, left = Math.min(x, this.chart.width - w);
    ctx.fillStyle = ink;
    ctx.fillRect(x - 1, y0 + 4, 2, y - y0 + kBar - 6);
    ctx.fillStyle = fill;
    ctx.fillRect(left - 1, y0 + 3, w, 17);
    ctx.fillStyle = ink;
    ctx.fillText(text, left + 5, y0 + 12);
    this.outline(ctx, run, event, y0, ink);
  }

  find(x, y) {
    if (y < kAxis) return null;
    for (const lane of this.lanes) {
      const depth = Math.floor((y + this.top - lane.y - kLaneHead) / kBar);
      if (depth < 0 || depth >= lane.tracks.length) continue;
      const found = lane.tracks[depth].at(this.chart.timeAt(x), this.chart.pixel);
      return found && {run: lane.run, event: found[2], count: found[1] - found[0]};
    }
    return null;
  }

  tell(found, pointer) {
    this.chart.canvas.style.cursor = found ? 'pointer' : 'grab';
    if (!found) return showTip(0, 0, null);
    const {run, event, count} = found, site = run.sites[run.site[event]];
    showTip(pointer.clientX, pointer.clientY, site.op, `${site.key}  ${site.where}`, timeText(run.duration(event)),
            count > 1 && `and ${grouped(count - 1)} shorter ones in this pixel`);
  }

  choose(run, event) {
    update({call: event, run: this.runs.indexOf(run), storage: ''}, {step: true});
    const site = run.sites[run.site[event]];
    say(`${site.op} at ${site.key}, ${timeText(run.duration(event))}`);
  }

  scroll(dy) {
    this.top += dy;
    this.chart.schedule();
  }

  // Brings the selected call into view.
  reveal() {
    const run = this.runs[Number(state.run)], event = Number(state.call);
    if (!run || state.call === '' || !(event < run.count)) return;
    this.time.show(run.start[event], run.end[event]);
    const lane = this.lanes.find((l) => l.run === run && l.thread === run.thread[event]);
    if (!lane) return;
    const y = lane.y + kLaneHead + run.depth[event] * kBar;
    if (y - this.top < kAxis || y + kBar - this.top > this.chart.height) this.top = y - this.chart.height / 2;
    this.chart.schedule();
  }

  // Arrow keys: to the caller, the first callee, and the neighbours.
  step(key) {
    const run = this.runs[Number(state.run)];
    if (!run || !key.startsWith('Arrow')) return false;
    if (state.call === '') {
      if (run.count) this.choose(run, 0);
      return true;
    }
    const event = Number(state.call);
    const next = key === 'ArrowUp' ? run.parent[event]
        : key === 'ArrowDown' ? run.firstChild(event)
        : run.neighbour(event, key === 'ArrowRight' ? 1 : -1);
    if (next >= 0) this.choose(run, next);
    return true;
  }
}
