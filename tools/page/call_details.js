// The panel for a call, for a storage, and for a run of which nothing is selected.

// The reason for a kernel, in the words of the tables: as they are now, or as any cell has it that
// the same rule filled in the same way.
function reasonOf(tables, site) {
  const row = tables.rowOf.get(site.op), column = tables.columnOf.get(site.key);
  const cell = row !== undefined && column !== undefined ? tables.cell(row, column) : null;
  const same = (c) => c.rule === site.rule && (c.source || site.key) === site.source && c.content === 'kernel';
  return ((cell && same(cell) ? cell : tables.cells.find((c) => c.content && same(c))) || {reason: site.reason}).reason;
}

function callLine(run, runs, event, selected) {
  const site = run.sites[run.site[event]];
  return el('button', {class: 'line' + (selected ? ' selected' : ''),
                       onclick: () => update({view: 'calls', call: event, run: runs.indexOf(run), storage: ''}, {step: true})},
            el('i', {class: `cell ${site.kind}`}), el('b', null, site.short), el('em', null, timeText(run.duration(event))),
            el('span', {class: 'place-text'}, `${site.key} · ${site.where}`));
}

function valueLines(run, runs, values, names) {
  return values.map(({text, snapshot}, i) => {
    const storage = snapshot < 0 ? 0 : run.tensorStorage[snapshot];
    const hash = snapshot < 0 ? '' : run.hashText(snapshot);
    return el('div', {class: 'value'}, el('span', {class: 'quiet'}, names[i] || `${i}`), el('span', null, text),
              storage > 0 && run.storages[storage] && el('button', {class: 'link', title: 'Show this memory',
                  onclick: () => update({view: 'memory', storage, run: runs.indexOf(run), call: ''}, {step: true})}, `storage ${storage}`),
              hash && el('code', {title: 'hash of the elements'}, hash.slice(0, 8)));
  });
}

// The arguments of a schema as it writes them; of ours only, so that a simple reading is enough.
function schemaParts(schema) {
  const inner = schema.slice(schema.indexOf('(') + 1, schema.lastIndexOf(') ->'));
  return inner.split(/,\s*(?![^[(]*[\])])/).map((part) => part.trim()).filter(Boolean);
}
function argumentNames(schema) {
  return schemaParts(schema).filter((part) => part !== '*').map((part) => part.split('=')[0].split(' ').pop());
}
// The index of the first argument that is given by name only; Infinity if there is none.
function keywordOnly(schema) {
  const star = schemaParts(schema).indexOf('*');
  return star < 0 ? Infinity : star;
}

function callDetails(tables, runs, run, event) {
  const site = run.sites[run.site[event]];
  const callers = [];
  for (let at = run.parent[event]; at >= 0; at = run.parent[at]) callers.unshift(at);
  const children = run.children(event, 40);
  const row = tables.rowOf.get(site.op), cell = row !== undefined && tables.columnOf.has(site.key);
  const parts = [
    heading(site.op),
    el('section', {class: 'answer'},
       el('h3', null, el('i', {class: `cell ${site.kind}`}), `At ${site.key}`),
       el('p', {class: 'why'}, reasonOf(tables, site)),
       el('dl', null, ...fact('kernel', place(site.where)), ...fact('rule', site.reason.replace(/^\[|\]$/g, '')),
          ...fact('keys of the call', site.keys), ...fact('time', `${timeText(run.duration(event))}, ${timeText(Math.max(0, run.self[event]))} of it its own`),
          ...fact('from the start', timeText(run.sinceStart(run.start[event]), run.length / 1e4))),
       cell && el('p', null, el('button', {class: 'go', id: 'to-cell', onclick: () => update({view: 'tables', op: site.op, key: site.key, q: '', at: '', kinds: ''}, {step: true})},
                                'Its cell in the tables →'))),
  ];
  if (run.flags[event] & 2) parts.push(el('p', {class: 'warning'}, 'It ended with an exception.'));
  if (run.difference === event && run.differenceText) parts.push(el('p', {class: 'warning'}, `First difference: ${run.differenceText}`));
  parts.push(el('section', null, el('h3', null, 'How it came here'),
                el('div', {class: 'lines nested'}, [...callers, event].map((at) => callLine(run, runs, at, at === event)),
                   children.slice(0, 39).map((at) => callLine(run, runs, at, false)),
                   children.length > 39 ? el('p', {class: 'quiet'}, 'and more') : null)));
  const box = parts[parts.length - 1].lastChild;
  [...box.children].forEach((line, i) => line.style.setProperty('--depth', Math.min(i, callers.length + 1)));
  const names = argumentNames(site.schema);
  parts.push(el('section', null, el('h3', null, 'In'), valueLines(run, runs, run.argumentsOf(event), names)),
             el('section', null, el('h3', null, 'Out'), valueLines(run, runs, run.resultsOf(event), [])));
  return parts;
}

function bar(share) {
  const line = el('span', {class: 'bar-of'}, el('i'));
  line.firstChild.style.width = `${Math.max(0.5, share * 100)}%`;
  return line;
}

// Where the time of a run went: its kernels by the time that is their own.
function runDetails(runs, run) {
  const sites = run.sites.filter((site) => site.calls).sort((a, b) => b.own - a.own), most = sites.length ? sites[0].own : 1;
  return [
    el('header', null, el('p', {class: 'namespace'}, 'recording'), el('h2', null, run.name),
       el('p', {class: 'signature'}, `${counted(run.count, 'kernel')}, ${counted(sites.length, 'different one')}, ${timeText(run.sinceStart(run.length))}`)),
    run.fault && el('p', {class: 'warning'}, run.fault),
    el('section', null, el('h3', null, 'Where the time went'), el('div', {class: 'lines'}, sites.slice(0, 60).map((site) =>
        el('button', {class: 'line', onclick: () => {
          for (let i = 0; i < run.count; ++i)
            if (run.sites[run.site[i]] === site) return update({view: 'calls', call: i, run: runs.indexOf(run)}, {step: true});
        }}, el('i', {class: `cell ${site.kind}`}), el('b', null, site.short), el('em', null, timeText(site.own)), bar(site.own / most),
           el('span', {class: 'place-text'}, `${site.key} · ${counted(site.calls, 'call')}`))))),
  ];
}

function storageDetails(tables, runs, run, id) {
  const memory = run.memory ||= new MemoryOf(run), maker = memory.maker[id], storage = run.storages[id];
  const parts = [
    el('header', null, el('p', {class: 'namespace'}, 'storage', el('button', {class: 'close', 'aria-label': 'Close', title: 'Close (Esc)', onclick: closeDetails}, '×')),
       el('h2', null, `${bytesText(storage.bytes)} on ${storage.device}`)),
    el('section', {class: 'answer'},
       el('p', {class: 'why'}, maker < 0 ? 'No recorded call made it: a weight or an input of the program.'
          : `Made by ${run.sites[run.site[maker]].op}, and used by ${counted(memory.uses[id], 'kernel')} after that.`),
       el('dl', null, ...fact('bytes', grouped(storage.bytes)), ...fact('at offset', grouped(memory.offsets[id])),
          ...fact('needed', `${timeText(run.sinceStart(memory.born[id]), run.length / 1e4)} to ${timeText(run.sinceStart(memory.dies[id]), run.length / 1e4)}`)),
       id === memory.peakStorage && el('p', {class: 'peak-note'}, `With it the memory in use is at its peak, ${bytesText(memory.peak)}.`),
       maker >= 0 && el('p', null, el('button', {class: 'go', id: 'to-maker', onclick: () => update({view: 'calls', call: maker, storage: ''}, {step: true})}, 'The call that made it →'))),
  ];
  if (maker >= 0) parts.push(el('section', null, el('h3', null, 'Made by'), el('div', {class: 'lines'}, callLine(run, runs, maker, false))));
  return parts;
}

// The largest at the peak.
function memoryDetails(runs, run) {
  const memory = run.memory ||= new MemoryOf(run), alive = memory.aliveAt(memory.peakTime), most = alive.length ? run.storages[alive[0]].bytes : 1;
  return [
    el('header', null, el('p', {class: 'namespace'}, 'peak'), el('h2', null, bytesText(memory.peak)),
       el('p', {class: 'signature'}, `at ${timeText(run.sinceStart(memory.peakTime), run.length / 1e4)}, in ${counted(alive.length, 'storage')}`)),
    el('section', null, el('h3', null, 'What was there'), el('div', {class: 'lines'}, alive.slice(0, 60).map((id) =>
        el('button', {class: 'line', onclick: () => update({storage: id}, {step: true})}, el('i', {class: `cell ${memory.kindOf(id)}`}),
           el('b', null, memory.nameOf(id)), el('em', null, bytesText(run.storages[id].bytes)), bar(run.storages[id].bytes / most),
           el('span', {class: 'place-text'}, id === memory.peakStorage ? 'made at the peak' : memory.isInput[id] ? 'weight or input' : `made at ${timeText(run.sinceStart(memory.born[id]))}`))))),
  ];
}
