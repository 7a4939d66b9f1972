#!/usr/bin/env python3
"""Writes corpus/: small files to load, hostile ones among them. Those named ok_ must load."""

import json
import os
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def layouts(tensors, version=1):
    return {"switchboard": json.dumps({"version": version, "tensors": tensors})}


def write(name, header, data=b"", length=None):
    if not isinstance(header, bytes):
        header = json.dumps(header, separators=(",", ":")).encode()
    length = len(header) if length is None else length
    with open(os.path.join(FOLDER, name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", length) + header + data)


F6 = struct.pack("<6f", *range(6))
A = {"a": entry("F32", [2, 3], 0, 24)}


def with_layout(layout, tensors=None):
    return {"__metadata__": layouts({"a": layout}), **(tensors or A)}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    # What loads.
    write("ok_empty", {})
    write("ok_plain", A, F6)
    write("ok_dtypes", {
        "b": entry("BOOL", [2], 0, 2), "u": entry("U8", [1], 2, 3), "i": entry("I8", [1], 3, 4),
        "h": entry("F16", [2], 4, 8), "g": entry("BF16", [0, 4], 8, 8), "s": entry("I16", [1], 8, 10),
        "l": entry("I32", [], 10, 14), "c": entry("C64", [1], 14, 22), "d": entry("F64", [1], 22, 30),
    }, b"\1\0" + bytes(range(28)))
    write("ok_metadata", {"__metadata__": {"format": "pt", "\u00e9": "\n"}, **A}, F6)
    write("ok_strided", with_layout({"strides": [1, 2]}), F6)
    write("ok_gaps", with_layout({"strides": [30, 7], "storage_offset": 3}), F6)
    write("ok_expanded", with_layout({"strides": [0, 0]}), F6[:4] * 6)
    write("ok_complex128", with_layout({"dtype": "complex128", "strides": [3]},
                                       {"a": entry("F64", [1, 2], 0, 16)}), F6[:16])
    write("ok_device", with_layout({"device": "dummy:1", "backend_meta": {"format_number": "29"}}), F6)
    write("ok_shared", {"__metadata__": layouts({
        "a": {"storage": 0}, "b": {"storage": 0, "storage_offset": 1, "strides": [2]},
        "c": {"storage": 0, "storage_offset": 4}}),
        "a": entry("F32", [2, 3], 0, 24), "b": entry("F32", [2], 24, 32),
        "c": entry("U8", [4], 32, 36)},
        F6 + F6[4:8] + F6[12:16] + F6[4:8])
    # Lengths.
    write("length_huge", A, F6, length=2**64 - 1)
    write("length_past_end", A, F6, length=10**6)
    write("length_short", A, F6, length=10)
    write("no_header", b"")
    # JSON.
    write("deep", b'{"a":' + b"[" * 300)
    write("twice", b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                   b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x")
    write("not_utf8", b'{"\xff":1}')
    write("controls", b'{"a\x7f\xff')
    write("trailing", b'{}{}')
    write("surrogate", b'{"\\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}')
    write("metadata_numbers", {"__metadata__": {"a": 1}, **A}, F6)
    # Extents.
    write("overlap", {"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, b"xyz")
    write("hole", {"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 3, 5)}, b"vwxyz")
    write("beyond", {"a": entry("F32", [2, 3], 0, 24)}, F6[:-1])
    write("unused", A, F6 + b"x")
    write("negative_offset", {"a": entry("U8", [1], -1, 0)}, b"")
    write("negative_size", {"a": entry("F32", [-2, -3], 0, 24)}, F6)
    write("size_overflow", {"a": entry("F32", [2**32, 2**32], 0, 0)}, b"")
    write("size_overflow_zero", {"a": entry("F32", [0, 2**62, 8], 0, 0)}, b"")
    write("fraction", {"a": entry("U8", [1.5], 0, 1)}, b"x")
    write("bool_bytes", {"a": entry("BOOL", [2], 0, 2)}, b"\1\2")
    write("unknown_dtype", {"a": entry("F8_E4M3", [2], 0, 2)}, b"\1\2")
    write("many_dims", {"a": entry("U8", [1] * 65, 0, 1)}, b"x")
    # Layouts.
    write("layout_not_json", {"__metadata__": {"switchboard": "{"}, **A}, F6)
    write("layout_version", {"__metadata__": layouts({"a": {}}, version=2), **A}, F6)
    write("layout_of_none", {"__metadata__": layouts({"b": {}}), **A}, F6)
    write("strides_count", with_layout({"strides": [1]}), F6)
    write("strides_negative", with_layout({"strides": [-1, 1]}), F6)
    write("strides_overflow", with_layout({"strides": [2**63 - 1, 2]}), F6)
    write("strides_huge", with_layout({"strides": [2**40, 1]}), F6)
    write("ok_stride_of_one", with_layout({"strides": [2**63 - 1, 1], "storage_offset": 1},
                                          {"a": entry("U8", [1, 2], 0, 2)}), b"ab")
    write("size_overflow_strided", with_layout({"strides": [0, 0]},
                                               {"a": entry("F64", [0, 2**61], 0, 0)}), b"")
    write("offset_negative", with_layout({"storage_offset": -1}), F6)
    write("offset_overflow", with_layout({"storage_offset": 2**62}), F6)
    write("disagrees", with_layout({"strides": [0, 1]}), F6)
    write("complex_of_float", with_layout({"dtype": "complex128"}), F6)
    write("device_unknown", with_layout({"device": "npu\u001b[2J:0"}), F6)
    write("device_number", with_layout({"device": "dummy:9"}), F6)
    write("device_meta", with_layout({"device": "meta"}), F6)
    write("backend_meta_unknown", with_layout({
        "device": "dummy:1", "backend_meta": {"\u001b[2J": "v"}}), F6)
    write("shared_disagrees", {"__metadata__": layouts({"a": {"storage": 0}, "b": {"storage": 0}}),
                               "a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 2, 4)}, b"xyxz")
    write("shared_devices", {"__metadata__": layouts({
        "a": {"storage": 0}, "b": {"storage": 0, "device": "dummy:0"}}),
        "a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 2, 4)}, b"xyxy")
    write("shared_bool", {"__metadata__": layouts({"a": {"storage": 0}, "b": {"storage": 0}}),
                          "a": entry("BOOL", [2], 0, 2), "b": entry("U8", [2], 2, 4)}, b"\0\1\0\2")
    write("empty_with_place", {"__metadata__": layouts({"a": {"storage_offset": 2**60}}),
                               "a": entry("F32", [0], 0, 0)})


if __name__ == "__main__":
    main()
