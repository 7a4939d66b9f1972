"""Reads the PNG files that Chromium writes: eight bits a channel, not interlaced."""

import struct
import zlib
from collections import Counter


class Image:
    def __init__(self, width, height, channels, rows):
        self.width, self.height, self.channels, self.rows = width, height, channels, rows

    def shares(self):
        """How much of the picture has each colour, "#rrggbb"; every second pixel is looked at."""
        counts = Counter()
        for row in self.rows[::2]:
            counts.update(zip(row[0::2 * self.channels], row[1::2 * self.channels], row[2::2 * self.channels]))
        total = sum(counts.values())
        return {"#%02x%02x%02x" % colour: count / total for colour, count in counts.items()}

    def brightness(self):
        return sum(sum(row[::7]) / len(row[::7]) for row in self.rows) / len(self.rows) / 255


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colours in (2, 6) and not interlaced, path
            channels = 3 if colours == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    raw, stride, rows = zlib.decompress(packed), width * channels, []
    before = bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind == 1:
            for i in range(channels, stride):
                row[i] = (row[i] + row[i - channels]) & 255
        elif kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, before))
        elif kind == 3:
            for i in range(stride):
                row[i] = (row[i] + ((row[i - channels] if i >= channels else 0) + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                a, b, c = (row[i - channels], before[i], before[i - channels]) if i >= channels else (0, before[i], 0)
                p = a + b - c
                nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                row[i] = (row[i] + nearest) & 255
        rows.append(bytes(row))
        before = row
    return Image(width, height, channels, rows)
