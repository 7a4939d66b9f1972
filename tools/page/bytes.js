// Reads packed bytes: variable-length numbers, floats and text.

class Bytes {
  constructor(array) {
    this.array = array;
    this.view = new DataView(array.buffer, array.byteOffset, array.byteLength);
    this.at = 0;
  }

  static fromBase64(text) {
    const binary = atob(text.trim());
    const array = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) array[i] = binary.charCodeAt(i);
    return new Bytes(array);
  }

  get left() {
    return this.array.length - this.at;
  }

  // Seven bits a byte, the low ones first; the top bit says that more follow.
  varint() {
    const first = this.array[this.at];
    if (first < 0x80) {
      ++this.at;
      return first;
    }
    let value = 0, scale = 1;
    for (;;) {
      if (this.at >= this.array.length) throw new RangeError('the data end within a number');
      const byte = this.array[this.at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }
}
