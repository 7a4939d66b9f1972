// Elements. Data becomes text nodes and attributes, never markup.

function el(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

const byId = (id) => document.getElementById(id);

// What a screen reader is told of a change that a picture shows.
function say(text) {
  byId('live').textContent = text;
}

const grouped = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
const counted = (n, one, many) => `${grouped(n)} ${n === 1 ? one : many || one + 's'}`;

// Bytes as a person says them: "43.8 kB".
function bytesText(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (n >= 1000 && unit < 4) {
    n /= 1000;
    ++unit;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

// Nanoseconds: "3.31 µs". `step` is the distance that must still be told apart.
function timeText(ns, step = Math.abs(ns) / 200) {
  const size = Math.max(Math.abs(ns), step);
  const [scale, unit] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9))) : 0;
  return `${(ns / scale).toFixed(digits)} ${unit}`;
}

// The tip beside the pointer: a title, and lines below it. null hides it.
function showTip(x, y, title, ...lines) {
  const tip = byId('tip');
  tip.hidden = title === null;
  if (title === null) return;
  tip.replaceChildren(el('strong', null, title), ...lines.filter(Boolean).map((line) => el('span', null, line)));
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
  tip.style.top = `${Math.max(4, y + 18 + height > innerHeight ? y - height - 10 : y + 18)}px`;
}
