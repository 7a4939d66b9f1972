// Memory: how much is in use over time, and below it each storage, as long as it is needed, at a
// place where it meets no other.

const kTotal = 120, kMemoryAxis = 24, kBlock = 32;

// When each storage is needed. A recording says which calls a storage goes into and comes out of:
// it is there from the call that made it (or from the start, if the program brought it) to the last
// that uses it.
function lifetimesOf(run) {
  const most = run.storages.length;
  const born = new Float64Array(most).fill(NaN), dies = new Float64Array(most), maker = new Int32Array(most).fill(-1), uses = new Uint32Array(most);
  const isInput = new Uint8Array(most);
  const made = (event) => {
    for (let i = run.firstResult[event]; i < run.endWritten[event]; ++i) {
      if (run.kinds[i] !== kTensor || run.numbers[i] < 0) continue;
      const storage = run.tensorStorage[run.numbers[i]];
      if (isNaN(born[storage])) {
        born[storage] = run.start[event];
        maker[storage] = event;
        dies[storage] = run.end[event];
      } else if (dies[storage] < run.end[event]) {
        dies[storage] = run.end[event];
      }
    }
  };
  const used = (event) => {
    for (let i = run.firstArgument[event]; i < run.endArguments[event]; ++i) {
      if (run.kinds[i] !== kTensor || run.numbers[i] < 0) continue;
      const storage = run.tensorStorage[run.numbers[i]];
      ++uses[storage];
      if (isNaN(born[storage]) && run.parent[event] < 0) {
        born[storage] = dies[storage] = run.origin;
        isInput[storage] = 1;
      } else if (isNaN(born[storage])) {  // the kernel that calls this one made it by itself
        born[storage] = dies[storage] = run.start[event];
        maker[storage] = run.parent[event];
      }
      if (dies[storage] < run.end[event]) dies[storage] = run.end[event];
    }
  };
  // Ends come in order within a thread: what a nested call made is its, not its caller's.
  const stacks = [];
  for (let event = 0; event < run.count; ++event) {
    const stack = stacks[run.thread[event]] ||= [];
    while (stack.length && stack[stack.length - 1] !== run.parent[event]) made(stack.pop());
    used(event);
    stack.push(event);
  }
  for (const stack of stacks) while (stack && stack.length) made(stack.pop());

  const ids = [];
  for (let id = 1; id < most; ++id)
    if (run.storages[id] && run.storages[id].bytes > 0 && !isNaN(born[id])) ids.push(id);
  // Inputs are the program's: they stay.
  for (const id of ids) if (isInput[id]) dies[id] = run.length;
  // Mostly they are in this order already.
  ids.sort((a, b) => isInput[b] - isInput[a] || born[a] - born[b] || a - b);
  return {ids, born, dies, maker, uses, isInput};
}

// Places for blocks that come in the order of their birth: each at the lowest offset that is free.
function placesOf(ids, born, dies, bytesOf) {
  const offsets = new Float64Array(born.length).fill(-1);
  const aligned = (id) => Math.ceil(bytesOf(id) / 64) * 64;
  let live = [];       // by offset
  let next = Infinity;  // when the first of them dies
  for (const id of ids) {
    if (next <= born[id]) {
      live = live.filter((other) => dies[other] > born[id]);
      next = live.reduce((least, other) => Math.min(least, dies[other]), Infinity);
    }
    const bytes = aligned(id);
    let at = 0, index = 0;
    for (; index < live.length; ++index) {
      const offset = offsets[live[index]];
      if (offset - at >= bytes) break;
      at = offset + aligned(live[index]);
    }
    offsets[id] = at;
    live.splice(index, 0, id);
    if (dies[id] < next) next = dies[id];
  }
  return offsets;
}

class MemoryOf {
  constructor(run) {
    this.run = run;
    Object.assign(this, lifetimesOf(run));
    const {ids, born, dies} = this, bytesOf = (id) => run.storages[id].bytes;
    this.offsets = placesOf(ids, born, dies, bytesOf);
    this.size = ids.reduce((most, id) => Math.max(most, this.offsets[id] + bytesOf(id)), 64);
    // The total changes with each birth and each death; at one moment deaths come first.
    const n = ids.length, deaths = Uint32Array.from(ids).sort((a, b) => dies[a] - dies[b]);
    this.times = new Float64Array(2 * n);
    this.totals = new Float64Array(2 * n);
    const order = new Uint32Array(2 * n);
    for (let i = 0, birth = 0, death = 0, total = 0; i < 2 * n; ++i) {
      const dying = birth === n || (death < birth && dies[deaths[death]] <= born[ids[birth]]);
      const id = order[i] = dying ? deaths[death++] : ids[birth++];
      total += dying ? -bytesOf(id) : bytesOf(id);
      this.times[i] = dying ? dies[id] : born[id];
      this.totals[i] = total;
    }
    this.most = new Largest(this.totals);
    const top = n ? this.most.in(0, 2 * n) : -1;
    this.peak = n ? this.totals[top] : 0;
    this.peakTime = n ? this.times[top] : 0;
    this.peakStorage = n ? order[top] : -1;
    // By birth, in blocks: of a block, when the last one dies, and which is the largest.
    this.bornAt = Float64Array.from(ids, (id) => born[id]);
    this.diesAt = Float64Array.from(ids, (id) => dies[id]);
    this.sizeAt = Float64Array.from(ids, bytesOf);
    this.offsetAt = Float64Array.from(ids, (id) => this.offsets[id]);
    const blocks = Math.ceil(n / kBlock);
    this.lastDeath = new Float64Array(blocks);
    this.largest = new Uint32Array(blocks);
    for (let i = 0; i < n; ++i) {
      const block = Math.floor(i / kBlock);
      if (i % kBlock === 0) this.largest[block] = i;
      if (this.diesAt[i] > this.lastDeath[block]) this.lastDeath[block] = this.diesAt[i];
      if (this.sizeAt[i] > this.sizeAt[this.largest[block]]) this.largest[block] = i;
    }
  }

  has(id) {
    return id > 0 && id < this.offsets.length && this.offsets[id] >= 0;
  }

  // Calls visit(at), a place in `ids`, for those that are there between two times, by their birth, until it says true.
  // Of blocks that lie in one pixel of time all but the first give their largest only.
  between(from, to, pixel, visit) {
    const {bornAt, diesAt} = this, n = bornAt.length;
    let column = NaN;
    for (let block = 0; block < this.lastDeath.length; ++block) {
      const first = block * kBlock, end = Math.min(n, first + kBlock);
      if (bornAt[first] > to) return;
      if (this.lastDeath[block] < from) continue;
      const here = Math.floor(bornAt[first] / pixel);
      if (here === column && this.lastDeath[block] - bornAt[first] < pixel) {
        if (visit(this.largest[block])) return;
        continue;
      }
      column = here;
      for (let at = first; at < end; ++at)
        if (bornAt[at] <= to && diesAt[at] >= from && visit(at)) return;
    }
  }

  aliveAt(time) {
    return this.ids.filter((id) => this.born[id] <= time && this.dies[id] > time)
        .sort((a, b) => this.run.storages[b].bytes - this.run.storages[a].bytes);
  }

  // The kind that colours a storage: of the kernel that made it.
  kindOf(id) {
    return this.maker[id] < 0 ? 'input' : this.run.sites[this.run.site[this.maker[id]]].kind;
  }
  nameOf(id) {
    return this.maker[id] < 0 ? 'input' : this.run.sites[this.run.site[this.maker[id]]].short;
  }
}

class Memory {
  constructor(time, runs) {
    Object.assign(this, {time, runs});
    this.lead = el('p', {class: 'lead'});
    this.peak = el('button', {class: 'go', id: 'peak', onclick: () => this.goToPeak()});
    this.chart = new Chart(time, 'Memory over time', {
      paint: (ctx, width, height) => this.paint(ctx, width, height),
      find: (x, y) => this.find(x, y),
      choose: (found) => update({storage: found ? found.id : '', call: '', run: this.runs.indexOf(this.memory.run)}, {step: true}),
      tell: (found, event) => this.tell(found, event),
      open: (found) => this.time.set(this.memory.born[found.id], this.memory.dies[found.id]),
    });
    this.body = el('div', {class: 'timeline'}, this.chart.element);
    this.none = el('div', {class: 'empty'}, el('h2', null, 'No recording is here'),
                   el('p', null, 'Drop a file that ', el('code', null, 'sb record MODEL -o run.sbr'), ' wrote on this page.'));
    byId('memory').append(el('div', {class: 'view-head'}, this.lead, el('div', {class: 'controls'}, this.peak)), this.body, this.none);
    onUpdate((changes) => {
      if (state.view !== 'memory') return;
      if ('run' in changes || 'view' in changes) this.load();
      if ('storage' in changes || 'view' in changes) this.reveal();
      this.chart.schedule();
    });
  }

  load() {
    const run = this.runs[Number(state.run)];
    this.none.hidden = Boolean(run);
    this.body.hidden = this.lead.hidden = this.peak.hidden = !run;
    if (!run || state.view !== 'memory') return;
    const memory = this.memory = run.memory ||= new MemoryOf(run);
    const made = memory.ids.filter((id) => !memory.isInput[id]);
    this.lead.replaceChildren(
        el('b', null, counted(made.length, 'storage')), ` made by calls of ${run.name}, over ${counted(memory.ids.length - made.length, 'input')}. `,
        'Above, the bytes in use; below, each storage from the call that made it to the last that uses it. Its height is its size; its colour, the rule that chose its kernel.');
    this.peak.replaceChildren(memory.peakStorage < 0 ? '' : `Peak: ${bytesText(memory.peak)} at ${timeText(run.sinceStart(memory.peakTime))}, when ${memory.nameOf(memory.peakStorage)} made ${bytesText(run.storages[memory.peakStorage].bytes)} →`);
    this.chart.schedule();
  }

  goToPeak() {
    const {memory} = this;
    update({storage: memory.peakStorage, call: '', run: this.runs.indexOf(memory.run)}, {step: true});
  }

  reveal() {
    const id = Number(state.storage);
    if (state.storage !== '' && this.memory && this.memory.has(id) && !this.memory.isInput[id]) this.time.show(this.memory.born[id], this.memory.dies[id]);
  }

  // The pixels of a byte of the arena, which is drawn from the bottom upwards.
  rise(height) {
    return (height - kMemoryAxis - kTotal - 36) / this.memory.size;
  }

  box(id, height) {
    const {memory, chart} = this, rise = this.rise(height);
    const x = Math.max(-2, chart.x(memory.born[id])), right = Math.min(chart.width + 2, chart.x(memory.dies[id]));
    const h = Math.max(1, memory.run.storages[id].bytes * rise);
    return {x, y: height - 10 - memory.offsets[id] * rise - h, w: Math.max(1, right - x), h};
  }

  // A byte for each pixel, all zero.
  drawn(size) {
    if (!this.pixels || this.pixels.length < size) this.pixels = new Uint8Array(size);
    else this.pixels.fill(0);
    return this.pixels;
  }

  paint(ctx, width, height) {
    const {memory, chart, time} = this;
    if (!memory) return;
    chart.drawAxis(ctx, width, height);
    const mono = palette.mono;
    // The total, a pixel at a time.
    const floor = kMemoryAxis + kTotal, scale = (kTotal - 18) / Math.max(1, memory.peak), n = memory.times.length, pixel = chart.pixel;
    ctx.fillStyle = palette['accent-soft'];
    const heights = new Float64Array(Math.ceil(width) + 1);
    let i = firstOver(memory.times, time.from, 0, n);
    for (let x = 0; x <= width; ++x) {
      const end = firstOver(memory.times, time.from + (x + 1) * pixel, i, n);
      let value = i > 0 ? memory.totals[i - 1] : 0;
      if (end > i) value = Math.max(value, memory.totals[memory.most.in(i, end)]);
      i = end;
      heights[x] = value * scale;
      ctx.fillRect(x, floor - heights[x], 1, heights[x]);
    }
    ctx.beginPath();
    for (let x = 0; x <= width; ++x) ctx.lineTo(x, floor - heights[x]);
    ctx.strokeStyle = palette.accent;
    ctx.lineWidth = 1.5;
    ctx.stroke();
    ctx.fillStyle = palette['line-strong'];
    ctx.fillRect(0, floor, width, 1);
    ctx.font = `600 11.5px ${mono}`;
    ctx.fillStyle = palette['ink-2'];
    ctx.textBaseline = 'middle';
    ctx.fillText(`storages by offset, ${bytesText(memory.size)} in all`, 12, floor + 14);
    ctx.font = `11px ${mono}`;
    const peakX = chart.x(memory.peakTime);
    if (peakX >= 0 && peakX <= width) {
      const text = `peak ${bytesText(memory.peak)}`, w = ctx.measureText(text).width;
      ctx.fillStyle = palette.ink;
      ctx.fillRect(Math.round(peakX), floor - kTotal + 18, 1, kTotal - 18);
      ctx.fillText(text, Math.min(peakX + 5, width - w - 4), floor - kTotal + 10);
    }
    // The storages, and of those that are less than a pixel one a pixel.
    const stride = Math.ceil(width + 4), drawn = this.drawn(stride * Math.ceil(height + 1));
    const letter = ctx.measureText('mmmmmmmmmm').width / 10, selected = Number(state.storage);
    const rise = this.rise(height), ground = height - 10, perTime = 1 / pixel, {from} = time;
    let last = '';
    memory.between(from, time.to, memory.ids.length > 20000 ? pixel : 0, (at) => {
      const x = Math.max(-2, (memory.bornAt[at] - from) * perTime), right = Math.min(width + 2, (memory.diesAt[at] - from) * perTime);
      const w = Math.max(1, right - x), h = Math.max(1, memory.sizeAt[at] * rise), y = ground - memory.offsetAt[at] * rise - h;
      if (w <= 1.5) {
        const place = Math.max(0, x | 0) + stride * Math.max(0, y | 0);
        if (drawn[place]) return false;
        drawn[place] = 1;
      }
      const id = memory.ids[at], kind = memory.kindOf(id);
      if (kind !== last) ctx.fillStyle = palette.of(last = kind)[0];
      ctx.fillRect(x, y, w > 3 ? w - 1 : w, h > 3 ? h - 1 : h);
      if (w > 40 && h > 13) {
        const room = Math.floor((w - 10) / letter), name = memory.nameOf(id), both = `${name}  ${bytesText(memory.run.storages[id].bytes)}`;
        const text = both.length <= room ? both : name.length <= room ? name : room > 3 ? name.slice(0, room - 1) + '…' : '';
        ctx.fillStyle = palette.of(kind)[1];
        ctx.fillText(text, Math.max(x, 0) + 5, y + Math.min(h / 2, 10) - 0.5);
        last = '';
      }
      return false;
    });
    if (state.storage !== '' && memory.has(selected)) {
      const {x, y, w, h} = this.box(selected, height);
      ctx.strokeStyle = palette.accent;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    }
  }

  find(x, y) {
    const {memory, chart} = this, height = chart.height;
    if (!memory) return null;
    let best = null, distance = 6;
    memory.between(chart.timeAt(x - distance), chart.timeAt(x + distance), 0, (at) => {
      const id = memory.ids[at], box = this.box(id, height);
      const dx = Math.max(box.x - x, 0, x - box.x - box.w), dy = Math.max(box.y - y, 0, y - box.y - box.h);
      if (dx + dy < distance) {
        best = {id};
        distance = dx + dy;
      }
      return distance === 0;
    });
    return best;
  }

  tell(found, pointer) {
    this.chart.canvas.style.cursor = found ? 'pointer' : 'grab';
    if (!found) return showTip(0, 0, null);
    const {memory} = this, {run} = memory, maker = memory.maker[found.id];
    showTip(pointer.clientX, pointer.clientY, maker < 0 ? 'an input of the program' : `made by ${run.sites[run.site[maker]].op}`,
            `${bytesText(run.storages[found.id].bytes)} on ${run.storages[found.id].device} at offset ${grouped(memory.offsets[found.id])}`,
            `used ${memory.uses[found.id]} times`);
  }
}
