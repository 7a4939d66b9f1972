// What lies side by side in time, in a form that is drawn in a time that depends on pixels alone.

// The first index in [from, n) whose value is over `limit`, found in steps that double.
function firstOver(values, limit, from, n) {
  let step = 1, low = from, high = from;
  while (high < n && values[high] <= limit) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  if (high > n) high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The place of the largest value of a range, by blocks.
class Largest {
  constructor(values) {
    this.values = values;
    this.levels = [];
    const n = values.length;
    for (let size = 64, below = null; size < n; size *= 64) {
      const level = new Uint32Array(Math.ceil(n / size));
      for (let block = 0; block < level.length; ++block) {
        let best = below ? below[block * 64] : block * 64;
        const end = below ? Math.min(below.length, (block + 1) * 64) : Math.min(n, (block + 1) * 64);
        for (let i = block * 64; i < end; ++i) {
          const candidate = below ? below[i] : i;
          if (values[candidate] > values[best]) best = candidate;
        }
        level[block] = best;
      }
      this.levels.push(level);
      below = level;
    }
  }

  // In [from, to), which is not empty.
  in(from, to) {
    const {values, levels} = this;
    let best = from, size = 1, level = -1;
    while (from < to) {
      if (level + 1 < levels.length && from % (size * 64) === 0 && from + size * 64 <= to) {
        size *= 64;
        ++level;
        continue;
      }
      while (size > 1 && (from % size !== 0 || from + size > to)) {
        size /= 64;
        --level;
      }
      const candidate = level < 0 ? from : levels[level][from / size];
      if (values[candidate] > values[best]) best = candidate;
      from += size;
    }
    return best;
  }
}

// Events of one thread at one depth: they do not overlap, so that both their ends are in order.
class Track {
  constructor(events, run) {
    const n = events.length;
    this.events = events;
    this.starts = new Float64Array(n);
    this.ends = new Float64Array(n);
    this.before = new Float64Array(n + 1);  // the time in events that came earlier
    const lengths = new Float32Array(n);
    for (let i = 0; i < n; ++i) {
      this.starts[i] = run.start[events[i]];
      this.ends[i] = run.end[events[i]];
      lengths[i] = this.ends[i] - this.starts[i];
      this.before[i + 1] = this.before[i] + lengths[i];
    }
    this.longest = new Largest(lengths);
  }

  // Calls box(first, end, event, from, to, share) from left to right for what is in [from, to):
  // one event that is a pixel or more, or all that begin in a pixel, with the longest of them and
  // the share of the pixel that they fill. Pixels are at multiples of their width, so that a
  // picture that moves does not flicker.
  boxes(from, to, pixel, box) {
    const {starts, ends, before, events} = this, n = events.length;
    let i = firstOver(ends, from, 0, n);
    while (i < n && starts[i] < to) {
      if (ends[i] - starts[i] >= pixel) {
        box(i, i + 1, events[i], starts[i], ends[i], 1);
        ++i;
        continue;
      }
      const left = Math.floor(starts[i] / pixel) * pixel, right = left + pixel;
      let j = firstOver(starts, right, i + 1, n);
      if (ends[j - 1] - starts[j - 1] >= pixel) --j;
      box(i, j, events[this.longest.in(i, j)], left, right, Math.min(1, (before[j] - before[i]) / pixel));
      i = j;
    }
  }

  // What boxes() shows at a time: [first, end, event], or null.
  at(time, pixel) {
    let found = null;
    this.boxes(time - 2 * pixel, time + 2 * pixel, pixel, (first, end, event, from, to) => {
      if (from - pixel / 2 <= time && time < Math.max(to, from + pixel)) found = [first, end, event];
    });
    return found;
  }
}

// The tracks of a run: by thread, and by depth in it.
function tracksOf(run) {
  const threads = [];
  const counts = [];
  for (let i = 0; i < run.count; ++i) {
    const depths = counts[run.thread[i]] ||= [];
    depths[run.depth[i]] = (depths[run.depth[i]] || 0) + 1;
  }
  counts.forEach((depths, thread) => {
    threads[thread] = Array.from(depths, (count) => new Uint32Array(count || 0));
    counts[thread] = new Uint32Array(depths.length);
  });
  for (let i = 0; i < run.count; ++i) threads[run.thread[i]][run.depth[i]][counts[run.thread[i]][run.depth[i]]++] = i;
  return threads.map((depths, thread) => ({thread, tracks: depths.map((events) => new Track(events, run))})).filter(Boolean);
}
