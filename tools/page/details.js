// The panel beside a view: what is selected, in words.

function fact(name, ...value) {
  return [el('dt', null, name), el('dd', null, ...value)];
}

function place(text) {
  if (!text) return el('span', {class: 'quiet'}, 'none');
  return el('button', {class: 'place', title: 'Copy', onclick: () => {
    navigator.clipboard?.writeText(text).then(() => say(`copied ${text}`), () => {});
  }}, text);
}

function heading(name, ...below) {
  const colons = name.indexOf('::');
  return el('header', null,
            el('p', {class: 'namespace'}, colons < 0 ? '' : name.slice(0, colons + 2),
               el('button', {class: 'close', 'aria-label': 'Close', title: 'Close (Esc)', onclick: closeDetails}, '×')),
            el('h2', null, colons < 0 ? name : name.slice(colons + 2)), ...below);
}

function closeDetails() {
  update({op: '', key: '', call: '', storage: ''}, {step: true});
}

// A cell as a line: the colour of its rule, and what it is.
function cellLine(cell, keys, selected, onclick) {
  return el('button', {class: 'line' + (selected ? ' selected' : ''), onclick},
            el('i', {class: `cell ${kindOf(cell)}`}), el('b', null, keys), el('span', {class: 'place-text'}, cell.place || 'no kernel'),
            el('em', null, cell.rule));
}

// An operator's table, and the cell of it that is selected.
function operatorDetails(tables, op, keyName, runs) {
  const row = tables.rowOf.get(op), column = tables.columnOf.get(keyName);
  if (row === undefined) return [heading(op, el('p', {class: 'why'}, 'No such operator is here.'))];
  const parts = [heading(op, el('p', {class: 'signature'}, tables.signatures[row]))];
  if (column !== undefined) {
    const cell = tables.cell(row, column);
    parts.push(el('section', {class: `answer ${kindOf(cell)}`},
                  el('h3', null, el('i', {class: `cell ${kindOf(cell)}`}), `At ${keyName}`), el('p', {class: 'why'}, cell.reason),
                  el('dl', null, ...fact('kernel', place(cell.place)), ...fact('rule', cell.content ? cell.rule : 'missing'),
                     cell.source ? fact('registered at', cell.source) : [])));
  }
  for (const run of runs) {
    const calls = run.callsOf(op);
    if (calls.length)
      parts.push(el('p', null, el('button', {class: 'go', onclick: () => update({view: 'calls', call: calls[0], run: runs.indexOf(run)}, {step: true})},
                                  `${counted(calls.length, 'kernel')} ran in ${run.name} →`)));
  }
  const lines = tables.spans(row).map((span) => {
    const first = tables.keys[span.first].name, more = span.last - span.first;
    return cellLine(span.cell, more ? `${first} +${more}` : first, column >= span.first && column <= span.last,
                    () => update({op, key: first}, {step: true}));
  });
  parts.push(el('section', null, el('h3', null, 'All its keys, lowest first'), el('div', {class: 'lines'}, lines)));
  return parts;
}
