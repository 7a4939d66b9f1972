// Reads a recording (.sbr) as docs/recording-format.md describes it, into columns of numbers.

const kMagic = 'SBRECORD', kVersion = 1, kChunk = 0x4b434253;
const kValue = ['None', 'Tensor', 'Int', 'Bool', 'Double', 'Complex', 'String', 'DType', 'Device', 'Layout', 'MemoryFormat', 'Symbol',
                'Opaque', 'Generator', 'Storage', 'IntList', 'DoubleList', 'BoolList', 'TensorList', 'OptionalTensorList', 'List'];
const kTensor = kValue.indexOf('Tensor'), kFirstList = kValue.indexOf('IntList');

// Where the values of a call are, among those of the recording.
const kValueColumns = ['firstArgument', 'endArguments', 'firstResult', 'firstWritten', 'endWritten'];

const unzigzag = (v) => v % 2 ? -(v + 1) / 2 : v / 2;

class Recording {
  constructor(array, name) {
    this.name = name;
    this.bytes = new Bytes(array);
    this.sites = [];
    this.metas = [];
    this.storages = [{bytes: 0, device: ''}];
    this.fault = '';
    this.metaIds = new Map();
    this.siteIds = new Map();
    // Values, in the order of the file; a list is followed by its elements.
    this.kinds = [];
    this.numbers = [];
    this.texts = [];
    // Tensors as they were at one moment.
    this.tensorStorage = [];
    this.tensorMeta = [];
    this.tensorLow = [];  // of the hash
    this.tensorHigh = [];
    this.lanes = [];
    this.readHeader();
    try {
      this.readChunks();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.fault = `Only the beginning was read: at byte ${grouped(this.bytes.at)}, ${error.message}`;
    }
    this.finish();
  }

  readHeader() {
    const {bytes} = this, {array} = bytes;
    const magic = String.fromCharCode(...array.subarray(0, kMagic.length));
    if (magic !== kMagic || array.length < 16) throw new Error(`${this.name} is no recording: it does not begin with ${kMagic}.`);
    const version = bytes.view.getUint32(8, true);
    if (version < 1 || version > kVersion)
      throw new Error(`${this.name} is a recording of version ${version}; this page reads versions up to ${kVersion}. Make a page with the sb that recorded it.`);
    this.hasHashes = (bytes.view.getUint32(12, true) & 1) !== 0;
    bytes.at = 16;
  }

  readChunks() {
    const {bytes} = this;
    for (;;) {
      if (bytes.left < 24) throw new RangeError('the file ends without its last chunk; the recording was not closed.');
      const at = bytes.at, thread = bytes.view.getUint32(at + 4, true), length = bytes.view.getUint32(at + 8, true);
      if (bytes.view.getUint32(at, true) !== kChunk) throw new RangeError('a chunk was expected.');
      if (length > bytes.left - 24) throw new RangeError('the file ends within a chunk.');
      if (thread === 0) return;
      if (thread > this.lanes.length + 1) throw new RangeError('a thread is missing.');
      const lane = this.lanes[thread - 1] ||= {
        thread, now: 0, lastTensor: 0, lastStorage: 0, texts: [], sites: [], metas: [], contexts: [], latest: [], running: [],
        site: [], parent: [], depth: [], start: [], end: [], flags: [], firstArgument: [], endArguments: [], firstResult: [], firstWritten: [], endWritten: [],
      };
      bytes.at = at + 24;
      this.readRecords(lane, bytes.at + length);
      bytes.at = at + 24 + length;
    }
  }

  readRecords(lane, end) {
    const {bytes} = this;
    while (bytes.at < end) {
      const head = bytes.varint(), payload = Math.floor(head / 4);
      switch (head % 4) {
        case 0: this.enter(lane, payload); break;
        case 1: this.leave(lane, payload % 2); break;
        case 2: this.numbered(lane.contexts, payload, () => this.readContext(lane)); break;
        case 3: this.more(lane, payload); break;
      }
    }
  }

  take(length) {
    const {bytes} = this;
    if (length > bytes.left) throw new RangeError('the data end within a string.');
    const text = new TextDecoder().decode(bytes.array.subarray(bytes.at, bytes.at + length));
    bytes.at += length;
    return text;
  }
  skip(length) {
    if (length > this.bytes.left) throw new RangeError('the data end.');
    this.bytes.at += length;
  }
  // What has a number on a thread; one past the last of them is read here.
  numbered(list, number, read) {
    if (number > list.length) throw new RangeError('a number refers to nothing.');
    if (number === list.length) {
      const added = read();
      list.push(added);
      return added;
    }
    return list[number];
  }
  text(lane) {
    return this.numbered(lane.texts, this.bytes.varint(), () => this.take(this.bytes.varint()));
  }
  storageOf(lane) {
    lane.lastStorage += unzigzag(this.bytes.varint());
    if (!(lane.lastStorage >= 0 && lane.lastStorage < 1e8)) throw new RangeError('a storage is out of range.');
    return lane.lastStorage;
  }

  // Bytes of storages and states of generators, which nothing here shows.
  more(lane, what) {
    const {bytes} = this;
    if (what > 1) throw new RangeError('an unknown record.');
    if (what === 0) bytes.varint();
    else this.text(lane);
    this.skip(1);
    this.skip(bytes.varint());
  }

  readSite(lane) {
    const {bytes} = this, site = {};
    for (const field of ['op', 'schema', 'key', 'keys', 'where', 'reason']) site[field] = this.text(lane);
    site.arguments = bytes.varint();
    site.results = bytes.varint();
    site.written = Array.from({length: Math.min(bytes.varint(), bytes.left)}, () => bytes.varint());
    this.skip(1);
    site.seeded = (bytes.array[bytes.at - 1] & 1) !== 0;
    return this.interned(this.sites, this.siteIds, site);
  }

  readMeta(lane) {
    const {bytes} = this, meta = {dtype: this.text(lane), device: this.text(lane)};
    const rank = bytes.varint();
    if (rank > bytes.left) throw new RangeError('a tensor has too many dimensions.');
    meta.sizes = Array.from({length: rank}, () => unzigzag(bytes.varint()));
    meta.strides = Array.from({length: rank}, () => unzigzag(bytes.varint()));
    meta.offset = unzigzag(bytes.varint());
    meta.symbols = this.text(lane);
    meta.keys = this.text(lane);
    this.skip(1);
    return this.interned(this.metas, this.metaIds, meta);
  }

  readContext(lane) {
    for (let list = 0; list < 2; ++list)
      for (let left = this.bytes.varint(); left > 0; --left) this.text(lane);
    this.skip(1);
    return null;
  }

  interned(all, ids, thing) {
    const text = JSON.stringify(thing);
    let id = ids.get(text);
    if (id === undefined) {
      ids.set(text, id = all.length);
      all.push(thing);
    }
    return id;
  }

  enter(lane, local) {
    const site = local < lane.sites.length ? lane.sites[local] : this.numbered(lane.sites, local, () => this.readSite(lane));
    const {running} = lane, event = lane.site.length;
    lane.firstArgument.push(this.kinds.length);
    for (let i = this.sites[site].arguments; i > 0; --i) this.readValue(lane, 0);
    lane.now += this.bytes.varint();
    lane.site.push(site);
    lane.parent.push(running.length ? running[running.length - 1] : -1);
    lane.depth.push(running.length);
    lane.start.push(lane.now);
    lane.end.push(lane.now);
    lane.flags.push(0);
    const end = this.kinds.length;
    lane.endArguments.push(end);
    lane.firstResult.push(end);
    lane.firstWritten.push(end);
    lane.endWritten.push(end);
    running.push(event);
  }

  // flags: 1 it ended, 2 it threw.
  leave(lane, threw) {
    if (!lane.running.length) throw new RangeError('a call ends that did not begin.');
    const event = lane.running.pop(), site = this.sites[lane.site[event]];
    lane.now += this.bytes.varint();
    lane.firstResult[event] = this.kinds.length;
    for (let i = threw ? 0 : site.results; i > 0; --i) this.readValue(lane, 0);
    lane.firstWritten[event] = this.kinds.length;
    for (let i = threw ? 0 : site.written.length; i > 0; --i) this.readValue(lane, 0);
    lane.endWritten[event] = this.kinds.length;
    lane.end[event] = lane.now;
    lane.flags[event] = 1 + 2 * threw;
  }

  add(kind, number) {
    this.kinds.push(kind);
    this.numbers.push(number);
  }

  readValue(lane, depth) {
    const {bytes} = this, head = bytes.varint(), form = head % 4, payload = Math.floor(head / 4);
    if (form < 2) return this.readTensor(lane, form === 1, payload);
    if (form === 2) return this.add(2, unzigzag(payload));
    if (payload >= kFirstList) {
      if (depth > 16) throw new RangeError('lists in lists without end.');
      const count = bytes.varint();
      if (count > bytes.left) throw new RangeError('a list is longer than the file.');
      this.add(payload, count);
      for (let i = 0; i < count; ++i) this.readValue(lane, depth + 1);
      return;
    }
    switch (kValue[payload]) {
      case 'None': return this.add(payload, 0);
      case 'Tensor': return this.add(payload, -1);  // undefined
      case 'Int':
        this.add(payload, Number(bytes.view.getBigInt64(this.word(), true)));
        return;
      case 'Double':
        this.add(payload, bytes.view.getFloat64(this.word(), true));
        return;
      case 'Bool':
        this.skip(1);
        return this.add(payload, bytes.array[bytes.at - 1] & 1);
      case 'Complex': {
        const real = bytes.view.getFloat64(this.word(), true), imaginary = bytes.view.getFloat64(this.word(), true);
        return this.addText(payload, `${real}${imaginary < 0 ? '' : '+'}${imaginary}j`);
      }
      case 'String': return this.addText(payload, JSON.stringify(this.take(bytes.varint())));
      case 'Symbol': case 'Opaque': return this.addText(payload, this.take(bytes.varint()));
      case 'DType': case 'Device': case 'Layout': case 'MemoryFormat': return this.addText(payload, this.text(lane));
      case 'Generator': {
        const device = this.text(lane);
        this.skip(1);
        this.skip(bytes.varint());
        return this.addText(payload, `generator on ${device}`);
      }
      case 'Storage': return this.addText(payload, `storage ${this.storageOf(lane)}`);
      default: throw new RangeError('an unknown value.');
    }
  }

  word() {
    this.skip(8);
    return this.bytes.at - 8;
  }
  addText(kind, text) {
    this.add(kind, this.texts.push(text) - 1);
  }

  readTensor(lane, anew, payload) {
    const {bytes} = this, id = lane.lastTensor += unzigzag(payload);
    if (!(id > 0 && id < 2 ** 31)) throw new RangeError('a tensor is out of range.');
    const before = id < lane.latest.length ? lane.latest[id] : undefined;  // its snapshot
    if (!anew) {
      if (before === undefined) throw new RangeError('a tensor was not described.');
      return this.add(kTensor, before);
    }
    this.skip(1);
    const what = bytes.array[bytes.at - 1], fresh = before === undefined, snapshot = this.tensorMeta.length;
    let meta = fresh ? 0 : this.tensorMeta[before], storage = fresh ? 0 : this.tensorStorage[before];
    let low = fresh ? 0 : this.tensorLow[before], high = fresh ? 0 : this.tensorHigh[before];
    if (what & 1) {
      const local = bytes.varint();
      meta = local < lane.metas.length ? lane.metas[local] : this.numbered(lane.metas, local, () => this.readMeta(lane));
    }
    if (what & 2) storage = this.storageOf(lane);
    if (what & 16) {
      const size = bytes.varint(), device = this.text(lane), known = this.storages[storage] ||= {bytes: 0, device};
      known.bytes = Math.max(known.bytes, size);
    }
    if (what & 4) bytes.varint();
    if (what & 8) {
      const at = this.word();
      low = bytes.view.getUint32(at, true);
      high = bytes.view.getUint32(at + 4, true);
    }
    this.tensorMeta.push(meta);
    this.tensorStorage.push(storage);
    this.tensorLow.push(low);
    this.tensorHigh.push(high);
    while (lane.latest.length < id && lane.latest.length + 4096 > id) lane.latest.push(undefined);
    lane.latest[id] = snapshot;
    this.add(kTensor, snapshot);
  }

  // Puts the events of all threads in the order of their start: a Run is read by these columns.
  finish() {
    const {lanes} = this;
    for (const lane of lanes)
      for (const event of lane.running) lane.end[event] = lane.now;
    const count = this.count = lanes.reduce((sum, lane) => sum + lane.site.length, 0);
    this.site = new Uint32Array(count);
    this.thread = new Uint16Array(count);
    this.depth = new Uint16Array(count);
    this.parent = new Int32Array(count);
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.flags = new Uint8Array(count);
    for (const column of kValueColumns) this[column] = new Uint32Array(count);
    const next = lanes.map(() => 0), places = lanes.map((lane) => new Int32Array(lane.site.length));
    for (let i = 0; i < count; ++i) {
      let from = -1;
      for (let l = 0; l < lanes.length; ++l)
        if (next[l] < lanes[l].site.length && (from < 0 || lanes[l].start[next[l]] < lanes[from].start[next[from]])) from = l;
      const lane = lanes[from], event = next[from]++;
      places[from][event] = i;
      this.site[i] = lane.site[event];
      this.thread[i] = lane.thread;
      this.depth[i] = lane.depth[event];
      this.parent[i] = lane.parent[event] < 0 ? -1 : places[from][lane.parent[event]];
      this.start[i] = lane.start[event];
      this.end[i] = lane.end[event];
      this.flags[i] = lane.flags[event];
    }
    for (const column of kValueColumns)
      lanes.forEach((lane, from) => { lane[column].forEach((value, event) => { this[column][places[from][event]] = value; }); });
    this.kinds = Uint8Array.from(this.kinds);
    this.numbers = Float64Array.from(this.numbers);
    this.lanes = null;
    this.bytes = null;
    // The recording begins with its first call.
    this.origin = 0;
    const origin = count ? this.start[0] : 0;
    this.length = 0;
    this.self = new Float64Array(count);
    for (const site of this.sites) {
      site.calls = 0;
      site.total = site.own = 0;
    }
    for (let i = 0; i < count; ++i) {
      this.start[i] -= origin;
      this.end[i] -= origin;
      if (this.end[i] > this.length) this.length = this.end[i];
      this.self[i] += this.end[i] - this.start[i];
      if (this.parent[i] >= 0) this.self[this.parent[i]] -= this.end[i] - this.start[i];
    }
    for (let i = 0; i < count; ++i) {
      const site = this.sites[this.site[i]];
      ++site.calls;
      site.total += this.end[i] - this.start[i];
      site.own += this.self[i];
    }
    for (const site of this.sites) this.describe(site);
  }

  // What pictures say of a site: "[autograd kernel, from Autograd]" is a rule and its source.
  describe(site) {
    const [rule, source] = site.reason.replace(/^\[|\]$/g, '').split(', from ');
    site.rule = rule;
    site.source = source || site.key;
    site.kind = rule.replaceAll(' ', '-').replace(/:.*/, '');
    const colons = site.op.indexOf('::');
    site.short = colons < 0 ? site.op : site.op.slice(colons + 2);
    site.label = `${site.short}  ${site.key}`;
  }

  // Moves the run in time, so that it can be drawn beside another.
  shift(time) {
    this.origin += time;
    this.length += time;
    for (let i = 0; i < this.count; ++i) {
      this.start[i] += time;
      this.end[i] += time;
    }
    this.threads = this.memory = undefined;
  }
  // Since its first call.
  sinceStart(time) {
    return time - this.origin;
  }

  duration(event) {
    return this.end[event] - this.start[event];
  }

  callsOf(op) {
    const wanted = this.sites.map((site) => site.op === op), found = [];
    if (wanted.includes(true))
      for (let i = 0; i < this.count; ++i) if (wanted[this.site[i]]) found.push(i);
    return found;
  }

  children(event, most = Infinity) {
    const found = [];
    for (let i = event + 1; i < this.count && this.start[i] <= this.end[event] && found.length < most; ++i)
      if (this.parent[i] === event) found.push(i);
    return found;
  }
  firstChild(event) {
    const [child] = this.children(event, 1);
    return child === undefined ? -1 : child;
  }
  neighbour(event, step) {
    for (let i = event + step; i >= 0 && i < this.count; i += step)
      if (this.parent[i] === this.parent[event] && this.thread[i] === this.thread[event]) return i;
    return -1;
  }

  // The tensors among values [from, to): their snapshots.
  tensorsIn(from, to) {
    const found = [];
    for (let i = from; i < to; ++i)
      if (this.kinds[i] === kTensor && this.numbers[i] >= 0) found.push(this.numbers[i]);
    return found;
  }

  metaText(snapshot) {
    const meta = this.metas[this.tensorMeta[snapshot]];
    let dense = 1;
    let contiguous = true;
    for (let d = meta.sizes.length - 1; d >= 0; --d) {
      if (meta.sizes[d] !== 1 && meta.strides[d] !== dense) contiguous = false;
      dense *= meta.sizes[d];
    }
    const sizes = meta.symbols || `[${meta.sizes.join(', ')}]`;
    return `${meta.dtype}${sizes}${meta.device === 'cpu' ? '' : ` on ${meta.device}`}${contiguous || meta.symbols ? '' : ` strides [${meta.strides.join(', ')}]`}`;
  }
  hashText(snapshot) {
    const low = this.tensorLow[snapshot], high = this.tensorHigh[snapshot];
    return low || high ? high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0') : '';
  }

  // The value at `at` as text, and the place of the next one: [text, next, snapshots in it].
  valueText(at) {
    const kind = this.kinds[at], number = this.numbers[at];
    if (kind >= kFirstList) {
      const parts = [];
      let next = at + 1;
      for (let i = 0; i < number; ++i) {
        const [text, after] = this.valueText(next);
        if (i < 12) parts.push(text);
        else if (i === 12) parts.push('…');
        next = after;
      }
      return [`[${parts.join(', ')}]`, next];
    }
    switch (kValue[kind]) {
      case 'None': return ['None', at + 1];
      case 'Tensor': return [number < 0 ? 'undefined' : this.metaText(number), at + 1];
      case 'Bool': return [number ? 'True' : 'False', at + 1];
      case 'Int': case 'Double': return [String(number), at + 1];
      default: return [this.texts[number], at + 1];
    }
  }

  // The texts of the values [from, to), with the snapshot of those that are tensors.
  valuesIn(from, to) {
    const list = [];
    while (from < to) {
      const snapshot = this.kinds[from] === kTensor ? this.numbers[from] : -1;
      const [text, next] = this.valueText(from);
      list.push({text, snapshot});
      from = next;
    }
    return list;
  }
  // The snapshots of the arguments [from, to), by the index of the argument: [[index, snapshot]].
  tensorsOfArguments(event) {
    const found = [];
    let at = this.firstArgument[event];
    for (let index = 0; at < this.endArguments[event]; ++index) {
      const next = this.valueText(at)[1];
      for (const snapshot of this.tensorsIn(at, next)) found.push([index, snapshot]);
      at = next;
    }
    return found;
  }
  argumentsOf(event) {
    return this.valuesIn(this.firstArgument[event], this.endArguments[event]);
  }
  resultsOf(event) {
    return this.valuesIn(this.firstResult[event], this.firstWritten[event]);
  }
}
