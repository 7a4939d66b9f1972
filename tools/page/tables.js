// The computed tables of all operators: which kernel serves which key, and why.

class Tables {
  constructor(json) {
    this.keys = json.keys;        // {name, group, backend, in_use}, as `sb table` orders them
    this.rules = json.rules;      // their names, and how many cells each has
    this.names = json.names;      // of operators
    this.signatures = json.signatures;  // what follows the name
    // {rule, source, content, place, reason}; the first is no cell, and a source of '' its own key.
    this.cells = [];
    for (let i = 0; i < json.cells.length; i += 5) {
      const [rule, source, content, place, reason] = json.cells.slice(i, i + 5).map((text) => json.texts[text]);
      this.cells.push({rule, source, content, place, reason});
    }
    this.lower = this.names.map((name) => name.toLowerCase());
    this.rowOf = new Map(this.names.map((name, row) => [name, row]));
    this.columnOf = new Map(this.keys.map((key, column) => [key.name, column]));
    const width = this.keys.length;
    this.table = new Uint16Array(this.names.length * width);
    const runs = Bytes.fromBase64(json.rows);
    for (let i = 0; i < this.table.length;) {
      const cell = runs.varint(), end = i + runs.varint();
      this.table.fill(cell, i, end);
      i = end;
    }
  }

  cellId(row, column) {
    return this.table[row * this.keys.length + column];
  }

  cell(row, column) {
    return this.cells[this.cellId(row, column)];
  }

  // The rows whose names have all the words, at which `accepts(cell)` holds in one of the columns.
  rowsWith(words, columns, accepts) {
    const rows = [];
    for (let row = 0; row < this.names.length; ++row) {
      if (!words.every((word) => this.lower[row].includes(word))) continue;
      if (!accepts || columns.some((column) => accepts(this.cell(row, column)))) rows.push(row);
    }
    if (!words.length) return rows;
    // Those that begin with the first word stand before those that have it somewhere.
    const begins = (row) => this.lower[row].startsWith(words[0]) || this.lower[row].slice(this.lower[row].indexOf('::') + 2).startsWith(words[0]);
    return rows.filter(begins).concat(rows.filter((row) => !begins(row)));
  }

  // Neighbouring keys at which an operator has the same cell: [{first, last, cell}].
  spans(row) {
    const spans = [];
    for (let column = 0; column < this.keys.length; ++column) {
      const id = this.cellId(row, column), last = spans[spans.length - 1];
      if (last && last.id === id) last.last = column;
      else spans.push({id, first: column, last: column, cell: this.cells[id]});
    }
    return spans.filter((span) => span.id !== 0);
  }
}

// The class that colours a cell: that of its rule, of a fallthrough, or of a slot without kernel.
function kindOf(cell) {
  if (!cell || cell.content === '') return 'missing';
  if (cell.content !== 'kernel') return cell.content;
  return cell.rule.replaceAll(' ', '-');
}

function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}
