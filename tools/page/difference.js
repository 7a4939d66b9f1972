// The first difference of two runs: the first moment, of those at which calls begin and end, at
// which they are not the same. A call that is wrong ends before its caller does, so that it is the
// innermost that is named.

// What differs in metadata or values; null if nothing does.
function otherValues(a, b, from, to, fromB, toB) {
  const left = a.valuesIn(from, to), right = b.valuesIn(fromB, toB);
  if (left.length !== right.length) return {what: 'other values', detail: `${left.length} and ${right.length} of them`};
  for (let i = 0; i < left.length; ++i) {
    if (left[i].text === right[i].text) continue;
    const tensors = left[i].snapshot >= 0 && right[i].snapshot >= 0;
    return {what: tensors ? 'other metadata' : 'other values', detail: `${left[i].text} and ${right[i].text}`};
  }
  return null;
}

const baseName = (site) => site.short.split('.')[0];

// Memory that nobody wrote to differs, and means nothing: which storages of the first run hold it.
class Fresh {
  constructor(a, b) {
    Object.assign(this, {a, b, storages: new Set(), calls: new Set()});
  }

  // Whether elements differ, and not only where they mean nothing.
  differ(ours, theirs, meaningless) {
    const {a, b, storages} = this;
    let first = null;
    for (let i = 0; i < Math.min(ours.length, theirs.length); ++i) {
      const hash = a.hashText(ours[i]), other = b.hashText(theirs[i]), storage = a.tensorStorage[ours[i]];
      if (!hash || !other || hash === other) {
        storages.delete(storage);
      } else if (meaningless(storage)) {
        storages.add(storage);
      } else {
        first = first || {what: 'other bits', detail: a.metaText(ours[i])};
      }
    }
    return first;
  }

  begin(e, f) {
    const {a, b, storages} = this, site = a.sites[a.site[e]];
    const ours = a.tensorsOfArguments(e), theirs = b.tensorsOfArguments(f), keywords = keywordOnly(site.schema);
    const overwrites = (index) => site.written.includes(index) &&
        (index >= keywords || ['fill_', 'zero_', 'copy_'].includes(baseName(site)) || site.seeded);
    for (const [index, snapshot] of ours)
      if (storages.has(a.tensorStorage[snapshot]) && !overwrites(index)) this.calls.add(e);
    const difference = this.differ(ours.map(([, s]) => s), theirs.map(([, s]) => s), (storage) => storages.has(storage));
    for (const [index, snapshot] of ours) if (overwrites(index)) storages.delete(a.tensorStorage[snapshot]);
    return difference;
  }

  end(e, f) {
    const {a, b} = this, makes = /empty|resize/.test(baseName(a.sites[a.site[e]])) || this.calls.has(e);
    return this.differ(a.tensorsIn(a.firstResult[e], a.endWritten[e]), b.tensorsIn(b.firstResult[f], b.endWritten[f]), () => makes);
  }
}

// The moments of a thread in order: 2 * event as it begins, 2 * event + 1 as it ends.
function momentsOf(run, thread) {
  const moments = [], open = [];
  for (let event = 0; event < run.count; ++event) {
    if (run.thread[event] !== thread) continue;
    while (open.length && open[open.length - 1] !== run.parent[event]) moments.push(2 * open.pop() + 1);
    moments.push(2 * event);
    open.push(event);
  }
  while (open.length) moments.push(2 * open.pop() + 1);
  return moments;
}

// {a, b: events, what, detail}; null if the runs are the same.
function firstDifference(a, b) {
  let first = null;
  const fresh = new Fresh(a, b);
  const threads = new Set([...a.thread, ...b.thread]);
  for (const thread of threads) {
    const ours = momentsOf(a, thread), theirs = momentsOf(b, thread);
    for (let i = 0; i < Math.max(ours.length, theirs.length); ++i) {
      const found = differenceAt(a, b, ours[i], theirs[i], fresh);
      if (!found) continue;
      const time = found.a === undefined ? Infinity : ours[i] & 1 ? a.end[found.a] : a.start[found.a];
      if (!first || time < first.time) first = {...found, time};
      break;
    }
  }
  return first;
}

function differenceAt(a, b, ours, theirs, fresh) {
  const found = (what, detail) => ({a: ours === undefined ? undefined : ours >> 1, b: theirs === undefined ? undefined : theirs >> 1, what, detail});
  if (ours === undefined || theirs === undefined)
    return found(`${ours === undefined ? a.name : b.name} has no more calls here`, '');
  const e = ours >> 1, f = theirs >> 1, site = a.sites[a.site[e]], other = b.sites[b.site[f]];
  if ((ours & 1) !== (theirs & 1)) return found('one calls another kernel, the other one does not', '');
  if (!(ours & 1)) {
    if (site.op !== other.op) return found('another operator', `${site.op} and ${other.op}`);
    if (site.key !== other.key) return found('another key', `${site.key} and ${other.key}`);
    if (site.where !== other.where) return found('another kernel', `${site.where} and ${other.where}`);
    const input = otherValues(a, b, a.firstArgument[e], a.endArguments[e], b.firstArgument[f], b.endArguments[f]) || fresh.begin(e, f);
    return input && found(`its inputs have ${input.what}`, input.detail);
  }
  if ((a.flags[e] & 2) !== (b.flags[f] & 2)) return found('one of the two threw', '');
  const output = otherValues(a, b, a.firstResult[e], a.endWritten[e], b.firstResult[f], b.endWritten[f]) || fresh.end(e, f);
  return output && found(`its results have ${output.what}, from the same inputs`, output.detail);
}
