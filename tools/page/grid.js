// The tables: operators by keys, a row an operator. Only rows in view have elements.

const kRow = 22, kColumn = 20, kHead = 124;

class Grid {
  constructor(tables) {
    this.tables = tables;
    this.columns = [];
    this.rows = [];
    this.shown = new Map();  // row in `rows`: element
    this.spare = [];
    this.cursor = {row: 0, column: 0};  // in what is shown
    this.build();
    onUpdate((changes) => this.refresh(changes));
  }

  build() {
    const {tables} = this;
    const used = tables.keys.filter((key) => key.in_use).length;
    this.lead = el('p', {class: 'lead'});
    this.kinds = el('div', {class: 'chips', role: 'group', 'aria-label': 'Kinds of cells'});
    for (const [kind, name, count, about] of this.kindsThere()) {
      this.kinds.append(el('button', {class: 'chip', 'data-kind': kind, title: about, 'aria-pressed': 'false',
                                      onclick: () => this.toggleKind(kind)},
                           el('i', {class: `cell ${kind}`}), name, el('small', null, grouped(count))));
    }
    this.range = el('div', {class: 'choice', role: 'group', 'aria-label': 'Keys'},
                    ...[['used', `Keys in use ${used}`], ['all', `All ${tables.keys.length}`]].map(([value, text]) =>
                        el('button', {'data-value': value, onclick: () => update({keys: value})}, text)));
    this.head = el('div', {class: 'grid-head', role: 'row'});
    this.body = el('div', {class: 'grid-body', role: 'rowgroup'});
    this.scroller = el('div', {class: 'grid', role: 'grid', tabindex: 0, 'aria-label': 'Operators by keys',
                               onscroll: () => this.draw(), onkeydown: (event) => this.onKey(event)},
                       this.head, this.body);
    this.none = el('p', {class: 'empty', hidden: true});
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.body.addEventListener('pointermove', (event) => this.onHover(event));
    this.body.addEventListener('pointerleave', () => { this.hover(null); showTip(0, 0, null); });
    byId('tables').append(el('div', {class: 'view-head'}, el('div', {class: 'controls'}, this.lead, this.range), this.kinds),
                          this.scroller, this.none);
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  // The kinds of cells, as `sb table` names them, with how many there are in the keys in use.
  kindsThere() {
    const {tables} = this;
    const counts = new Uint32Array(tables.cells.length);
    for (let i = 0; i < tables.table.length; ++i)
      if (tables.keys[i % tables.keys.length].in_use) ++counts[tables.table[i]];
    const kinds = new Map();
    tables.cells.forEach((cell, id) => {
      const kind = kindOf(cell);
      if (kind === 'missing' || counts[id] === 0) return;
      const name = cell.content === 'kernel' ? cell.rule : cell.content === 'none' ? 'no kernel' : cell.content;
      const entry = kinds.get(kind) || [kind, name, 0, cell.content === 'kernel' ? cell.reason : ''];
      entry[2] += counts[id];
      kinds.set(kind, entry);
    });
    const order = tables.rules.concat(['fallthrough', 'no kernel']);
    return [...kinds.values()].sort((a, b) => order.indexOf(a[1]) - order.indexOf(b[1]));
  }

  toggleKind(kind) {
    const on = new Set(state.kinds.split(',').filter(Boolean));
    if (!on.delete(kind)) on.add(kind);
    update({kinds: [...on].join(',')});
  }

  refresh(changes) {
    if (state.view !== 'tables') return;
    if (this.stale || ['q', 'keys', 'at', 'kinds', 'view'].some((name) => name in changes)) this.filter();
    if (this.built && !('op' in changes || 'key' in changes)) return;
    this.built = true;
    this.select(state.op, state.key);
  }

  filter() {
    const {tables} = this;
    const wanted = new Set(state.kinds.split(',').filter(Boolean));
    const at = tables.columnOf.get(state.at);
    this.columns = tables.keys.map((_, column) => column)
        .filter((column) => state.keys === 'all' || tables.keys[column].in_use || column === at || tables.keys[column].name === state.key);
    const accepts = wanted.size ? (cell) => wanted.has(kindOf(cell))
        : at !== undefined ? (cell) => cell.content === 'kernel' : null;
    this.rows = tables.rowsWith(wordsOf(state.q), at !== undefined ? [at] : this.columns, accepts);
    for (const chip of this.kinds.children) chip.setAttribute('aria-pressed', wanted.has(chip.dataset.kind));
    for (const button of this.range.children) button.setAttribute('aria-pressed', button.dataset.value === state.keys);
    this.scroller.classList.toggle('some-kinds', wanted.size > 0);
    this.wanted = wanted;
    const all = this.rows.length === tables.names.length;
    this.lead.replaceChildren(
        el('b', null, all ? counted(this.rows.length, 'operator') : `${grouped(this.rows.length)} of ${counted(tables.names.length, 'operator')}`),
        ` by ${counted(this.columns.length, 'dispatch key')}. A cell is the kernel that a call runs at that key; its colour is the rule that put it there.`);
    if (state.at)
      this.lead.append(' ', el('button', {class: 'link', onclick: () => update({at: ''})}, `Only with ${wanted.size ? 'these' : 'a kernel'} at ${state.at} ×`));
    this.none.hidden = this.rows.length > 0;
    this.none.textContent = `No operator matches ${state.q ? `“${state.q}”` : 'these filters'}.`;
    this.drawHead();
    this.shown.clear();
    this.spare = [];
    this.body.replaceChildren();
    this.body.style.height = `${this.rows.length * kRow}px`;
    this.scroller.setAttribute('aria-rowcount', this.rows.length + 1);
    this.scroller.setAttribute('aria-colcount', this.columns.length + 1);
    this.scroller.style.setProperty('--columns', this.columns.length);
    this.draw();
  }

  drawHead() {
    const {keys} = this.tables;
    const cells = [el('div', {class: 'corner', role: 'columnheader'}, el('span', null, 'operator'), el('em', null, '← a call tries the highest key first'))];
    for (let i = 0; i < this.columns.length; ++i) {
      const key = keys[this.columns[i]];
      const first = i > 0 && keys[this.columns[i - 1]].group !== key.group;
      cells.push(el('button', {class: 'key' + (first ? ' first' : ''), role: 'columnheader', title: `${key.name}: only operators with a kernel here`,
                               tabindex: -1, 'aria-pressed': String(key.name === state.at),
                               onclick: () => update({at: key.name === state.at ? '' : key.name})},
                    el('span', null, key.name)));
    }
    this.head.replaceChildren(...cells);
  }

  draw() {
    if (byId('tables').hidden) return;
    const height = this.scroller.clientHeight || innerHeight;
    const first = Math.max(0, Math.floor((this.scroller.scrollTop - 10) / kRow) - 3);
    const last = Math.min(this.rows.length, first + Math.ceil((height - kHead) / kRow) + 8);
    for (const [row, element] of this.shown) {
      if (row >= first && row < last) continue;
      this.shown.delete(row);
      this.spare.push(element);
    }
    for (let row = first; row < last; ++row) {
      if (this.shown.has(row)) continue;
      const element = this.spare.pop() || this.makeRow();
      this.fill(element, row);
      this.shown.set(row, element);
    }
    for (const element of this.spare) element.remove();
    this.spare = [];
    this.mark();
  }

  makeRow() {
    const row = el('div', {class: 'row', role: 'row'}, el('div', {class: 'name', role: 'rowheader'}));
    for (let i = 0; i < this.columns.length; ++i) row.append(el('i', {role: 'gridcell'}));
    return row;
  }

  fill(element, row) {
    const {tables} = this, op = this.rows[row], name = tables.names[op];
    element.dataset.row = row;
    element.setAttribute('aria-rowindex', row + 2);
    element.style.transform = `translateY(${row * kRow}px)`;
    const colons = name.indexOf('::') + 2, dot = name.indexOf('.', colons);
    element.firstChild.replaceChildren(
        el('span', {class: 'quiet'}, name.slice(0, colons > 1 ? colons : 0)), name.slice(colons > 1 ? colons : 0, dot < 0 ? undefined : dot),
        el('span', {class: 'quiet'}, dot < 0 ? '' : name.slice(dot)));
    element.firstChild.title = name;
    for (let i = 0; i < this.columns.length; ++i) {
      const cell = tables.cell(op, this.columns[i]), kind = kindOf(cell), square = element.children[i + 1];
      const first = i > 0 && tables.keys[this.columns[i]].group !== tables.keys[this.columns[i - 1]].group;
      square.className = `cell ${kind}${first ? ' first' : ''}${this.wanted.size && !this.wanted.has(kind) ? ' dim' : ''}`;
      square.setAttribute('aria-label', `${tables.keys[this.columns[i]].name}: ${cell.content ? cell.rule : 'nothing'}`);
    }
    element.dataset.op = name;
    if (!element.parentNode) this.body.append(element);
  }

  placeOf(event) {
    const row = event.target.closest('.row');
    if (!row) return null;
    const index = [...row.children].indexOf(event.target.closest('.row > *')) - 1;
    return {row: Number(row.dataset.row), column: index};
  }

  onClick(event) {
    const place = this.placeOf(event);
    if (!place) return;
    const {tables} = this, name = tables.names[this.rows[place.row]];
    this.scroller.focus({preventScroll: true});
    this.cursor = {row: place.row, column: Math.max(0, place.column)};
    update({op: name, key: place.column < 0 ? '' : tables.keys[this.columns[place.column]].name}, {step: true});
  }

  onHover(event) {
    const place = this.placeOf(event);
    this.hover(place);
    if (!place || place.column < 0) return showTip(0, 0, null);
    const {tables} = this, op = this.rows[place.row], key = tables.keys[this.columns[place.column]], cell = tables.cell(op, this.columns[place.column]);
    showTip(event.clientX, event.clientY, `${tables.names[op]} at ${key.name}`, cell.place || (cell.content ? cell.rule : ''), cell.reason);
  }

  hover(place) {
    if (this.hovered !== undefined) this.head.children[this.hovered + 1]?.classList.remove('hover');
    this.hovered = place && place.column >= 0 ? place.column : undefined;
    if (this.hovered !== undefined) this.head.children[this.hovered + 1]?.classList.add('hover');
  }

  // Marks what is selected, and brings it into view.
  select(op, key) {
    const row = this.rows.indexOf(this.tables.rowOf.get(op));
    if (row >= 0) {
      const column = this.columns.indexOf(this.tables.columnOf.get(key));
      this.cursor = {row, column: Math.max(0, column)};
      const top = row * kRow, view = this.scroller;
      if (top < view.scrollTop || top + kRow > view.scrollTop + view.clientHeight - kHead)
        view.scrollTop = Math.max(0, top - (view.clientHeight - kHead) / 3);
      if (column >= 0) {
        const left = column * kColumn, room = view.clientWidth - this.head.firstChild.offsetWidth;
        if (left < view.scrollLeft || left + kColumn > view.scrollLeft + room) view.scrollLeft = Math.max(0, left - room / 2);
      }
    }
    this.draw();
  }

  mark() {
    const column = this.columns.indexOf(this.tables.columnOf.get(state.key));
    for (const [row, element] of this.shown) {
      const own = this.tables.names[this.rows[row]] === state.op;
      element.classList.toggle('selected', own);
      for (const marked of element.querySelectorAll('.at')) marked.classList.remove('at');
      if (own && column >= 0) element.children[column + 1].classList.add('at');
      element.setAttribute('aria-selected', own);
    }
    [...this.head.children].forEach((head, i) => head.classList.toggle('at', i === column + 1 && column >= 0));
  }

  onKey(event) {
    const page = Math.max(1, Math.floor((this.scroller.clientHeight - kHead) / kRow) - 1);
    const steps = {ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0],
                   Home: [-this.rows.length, 0], End: [this.rows.length, 0]};
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || !this.rows.length) return;
    event.preventDefault();
    const selected = this.tables.rowOf.has(state.op) && this.rows.includes(this.tables.rowOf.get(state.op));
    const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
    const row = selected ? clamp(this.cursor.row + step[0], this.rows.length) : this.cursor.row;
    const column = selected ? clamp(this.cursor.column + step[1], this.columns.length) : this.cursor.column;
    const name = this.tables.names[this.rows[row]], key = this.tables.keys[this.columns[column]].name;
    update({op: name, key});
    const cell = this.tables.cell(this.rows[row], this.columns[column]);
    say(`${name} at ${key}: ${cell.reason}`);
  }
}
