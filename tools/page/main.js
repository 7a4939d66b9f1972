// Puts the views together: tabs, theme, search, keys, and recordings that come with the page or are
// dropped on it.

const runs = [];
const tables = new Tables(JSON.parse(byId('data-tables').textContent));
const time = new TimeWindow();
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored(value) {
  try {
    if (value === undefined) return localStorage.getItem('theme');
    localStorage.setItem('theme', value);
  } catch (error) {  // pages from files may keep nothing
  }
  return value;
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme || (dark.matches ? 'dark' : 'light');
  palette.read();
  calls.chart.schedule();
  calls.overview.schedule();
  memory.chart.schedule();
}

function notice(bad, ...content) {
  const box = byId('notice');
  box.hidden = content.length === 0;
  box.classList.toggle('bad', bad);
  box.replaceChildren(...content, el('button', {class: 'close', 'aria-label': 'Close', onclick: () => { box.hidden = true; }}, '×'));
}

readUrl();
const grid = new Grid(tables);
const calls = new Calls(time, runs, tables);
const memory = new Memory(time, runs);

function drawDetails() {
  const panel = byId('details'), run = runs[Number(state.run)];
  let parts = null, summary = false;
  if (state.view === 'tables') {
    if (state.op) parts = operatorDetails(tables, state.op, state.key, runs);
  } else if (run) {
    const call = state.call === '' ? -1 : Number(state.call), storage = state.storage === '' ? -1 : Number(state.storage);
    summary = state.view === 'calls' ? !(call >= 0 && call < run.count) : storage <= 0;
    if (state.view === 'calls') parts = call >= 0 && call < run.count ? callDetails(tables, runs, run, call) : runDetails(runs, run);
    else parts = storage > 0 && run.storages[storage] && (run.memory ||= new MemoryOf(run)).has(storage)
        ? storageDetails(tables, runs, run, storage) : memoryDetails(runs, run);
  }
  panel.hidden = !parts;
  panel.classList.toggle('summary', summary);
  panel.replaceChildren(...(parts || []).flat().filter(Boolean));
  panel.scrollTop = 0;
}

function drawView(changes) {
  if ('view' in changes) {
    for (const view of ['tables', 'calls', 'memory']) {
      byId(view).hidden = view !== state.view;
      byId(`tab-${view}`).setAttribute('aria-selected', view === state.view);
      byId(`tab-${view}`).tabIndex = view === state.view ? 0 : -1;
    }
    byId('search').placeholder = state.view === 'tables' ? 'Search operators' : 'Search calls';
  }
  if ('q' in changes && byId('search').value !== state.q) byId('search').value = state.q;
  if (['view', 'op', 'key', 'call', 'storage', 'run'].some((name) => name in changes)) drawDetails();
  for (const chip of byId('runs').children) chip.setAttribute('aria-pressed', chip.dataset.run === state.run);
}
// Before the views, which measure what is visible.
listeners.unshift(drawView);

function showRuns() {
  byId('runs').replaceChildren(...runs.map((run, index) =>
      el('button', {class: 'run', 'data-run': index, 'aria-pressed': String(index === Number(state.run)), title: run.name,
                    onclick: () => update({run: index, call: '', storage: '', view: state.view === 'tables' ? 'calls' : state.view}, {step: true})},
         el('b', null, runs.length > 1 ? 'AB'[index] : ''), el('span', null, run.name))));
}

function addRun(array, name) {
  let run;
  try {
    run = new Recording(array, name);
  } catch (error) {
    notice(true, error.message);
    return false;
  }
  if (runs.length === 2) runs.pop();  // the third takes the second's place
  runs.push(run);
  return true;
}

function runsChanged() {
  for (const run of runs) {
    run.difference = run.differenceText = undefined;
    run.shift(-run.origin);
  }
  if (runs.length === 2) compare();
  else if (runs.length && runs[0].fault) notice(true, runs[0].fault);
  showRuns();
  time.cover(Math.max(1, ...runs.map((run) => run.length)));
  calls.load();
  memory.load();
}

function compare() {
  const [a, b] = runs, first = firstDifference(a, b);
  if (!first) return notice(false, el('span', null, el('b', null, 'The two runs are the same'), `: every kernel, its inputs and its results, in ${counted(a.count, 'call')}.`));
  a.difference = first.a;
  b.difference = first.b;
  const event = first.a === undefined ? first.b : first.a, run = first.a === undefined ? b : a, site = run.sites[run.site[event]];
  const text = `${first.what}${first.detail ? ` (${first.detail})` : ''}`;
  a.differenceText = b.differenceText = text;
  // One above the other.
  if (first.a !== undefined && first.b !== undefined) {
    const later = a.start[first.a] - b.start[first.b];
    (later > 0 ? b : a).shift(Math.abs(later));
  }
  notice(false, el('span', null, el('b', null, 'First difference: '), `call ${grouped(event)}, ${site.op} at ${site.key}: ${text}.`),
         ...[a, b].map((which, index) => which.difference !== undefined &&
             el('button', {class: 'go', 'data-go': index, onclick: () => update({view: 'calls', run: index, call: which.difference}, {step: true})}, `Show it in ${'AB'[index]} →`)).filter(Boolean));
}

async function openFiles(files) {
  byId('drop').hidden = true;
  let added = false;
  for (const file of files) added = addRun(new Uint8Array(await file.arrayBuffer()), file.name) || added;
  if (!added) return;
  update({view: state.view === 'tables' ? 'calls' : state.view, call: '', storage: '', run: 0, from: '', to: ''}, {step: true});
  runsChanged();
  update({view: state.view, run: state.run});
}

function showKeys() {
  const box = byId('keys');
  const line = (keys, what) => [el('dt', null, keys.split(' ').map((key) => el('kbd', null, key))), el('dd', null, what)];
  box.replaceChildren(
      el('h2', null, 'Keys', el('button', {class: 'close', 'aria-label': 'Close', onclick: () => box.close()}, '×')),
      el('dl', null, ...line('/', 'search; Enter goes to the next call that matches'), ...line('1 2 3', 'tables, calls, memory'),
         ...line('← ↑ → ↓', 'from cell to cell; from a call to its caller, callee and neighbours'), ...line('w s', 'zoom in and out, as the wheel does'),
         ...line('a d', 'move in time, as dragging does'), ...line('0', 'all of the time'), ...line('t', 'light or dark'), ...line('Esc', 'close the panel')));
  box.showModal();
}

for (const view of ['tables', 'calls', 'memory']) byId(`tab-${view}`).addEventListener('click', () => update({view}, {step: true}));
document.querySelector('.tabs').addEventListener('keydown', (event) => {
  const views = ['tables', 'calls', 'memory'], step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  event.stopPropagation();
  const view = views[(views.indexOf(state.view) + step + 3) % 3];
  update({view}, {step: true});
  byId(`tab-${view}`).focus();
});
byId('search').addEventListener('input', (event) => update({q: event.target.value}));
byId('search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && state.view === 'calls') calls.searchNext();
  if (event.key === 'Enter' && state.view === 'tables' && grid.rows.length) {
    update({op: tables.names[grid.rows[0]], key: state.key || tables.keys[grid.columns[0]].name}, {step: true});
    grid.scroller.focus();
  }
  if (event.key === 'Escape') {
    update({q: ''});
    event.target.blur();
  }
});
byId('theme').addEventListener('click', () => applyTheme(stored(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')));
dark.addEventListener('change', () => applyTheme(stored()));
byId('help').addEventListener('click', showKeys);
byId('open-run').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', (event) => openFiles(event.target.files));
addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'INPUT' || byId('keys').open) return;
  const actions = {'/': () => byId('search').focus(), 1: () => update({view: 'tables'}, {step: true}), 2: () => update({view: 'calls'}, {step: true}),
                   3: () => update({view: 'memory'}, {step: true}), t: () => byId('theme').click(), '?': showKeys, Escape: closeDetails};
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
let drags = 0;
addEventListener('dragenter', (event) => { event.preventDefault(); byId('drop').hidden = ++drags === 0; });
addEventListener('dragleave', () => { byId('drop').hidden = --drags <= 0; });
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  drags = 0;
  openFiles(event.dataTransfer.files);
});

applyTheme(stored());
for (const element of document.querySelectorAll('script.recording')) addRun(Bytes.fromBase64(element.textContent).array, element.dataset.name);
runsChanged();
update({...state});
requestAnimationFrame(() => {
  document.documentElement.dataset.ready = '1';
  performance.mark('ready');
});
