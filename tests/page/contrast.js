// Gives the texts of the document whose contrast is below what WCAG 2.1 AA asks for: 4.5, or 3 where
// they are large.
const parse = (text) => {
  const n = text.match(/[\d.]+(e-?\d+)?/g).map(Number);
  if (text.startsWith('color(')) return [n[0] * 255, n[1] * 255, n[2] * 255, n[3] === undefined ? 1 : n[3]];
  return [n[0], n[1], n[2], n[3] === undefined ? 1 : n[3]];
};
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const background = (element) => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
};
const luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const seen = new Set(), low = [];
const check = (element, pseudo, text) => {
  const style = getComputedStyle(element, pseudo), below = background(element), colour = over(parse(style.color), below);
  const [a, b] = [luminance(colour), luminance(below)].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const key = `${element.className} ${style.color} ${below}`;
  if (contrast >= (large ? 3 : 4.5) || seen.has(key)) return;
  seen.add(key);
  low.push(`${text.trim().slice(0, 40)} (${element.tagName}.${element.className}): ${contrast.toFixed(2)}`);
};
for (const element of document.body.querySelectorAll('*')) {
  if (!element.checkVisibility() || ['SCRIPT', 'NOSCRIPT'].includes(element.tagName) || element.closest('.unseen, .dim')) continue;
  const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim()).map((node) => node.data).join(' ');
  if (own) check(element, null, own);
  const before = getComputedStyle(element, '::before').content;
  if (before && before !== 'none' && before !== 'normal' && before !== '""') check(element, '::before', before);
  if (element.placeholder) check(element, '::placeholder', element.placeholder);
}
return low;
