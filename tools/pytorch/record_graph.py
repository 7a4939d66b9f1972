"""Records what PyTorch computes at each node of a graph, as `sb record` does here.

    python record_graph.py model.pt2 --inputs inputs.safetensors -o torch.sbr
    sb record model.pt2 --inputs inputs.safetensors --elements all -o ours.sbr
    sb diff ours.sbr torch.sbr --ignore-kernels --tolerance 1e-5

`record(path, graph_module, inputs)` does it for any graph of ATen's operators, such as make_fx gives. The file is a
recording (docs/recording-format.md) of calls without kernels: operators, arguments, results, metadata, hashes and
elements. It needs PyTorch and nothing of Switchboard.
"""

import argparse
import json
import struct
import time

import torch

_MASK = (1 << 64) - 1
_ODD = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xAEF17502108EF2D9, 0xDB4F0B9175AE2165)
# Kinds of values, and what is said of a tensor anew: the tables of the format.
_NONE, _UNDEFINED, _INT, _BOOL, _DOUBLE, _COMPLEX, _STRING, _DTYPE, _DEVICE, _LAYOUT, _MEMORY_FORMAT = range(11)
_INTS, _DOUBLES, _BOOLS, _TENSORS, _OPTIONAL_TENSORS, _LIST = range(15, 21)
_META, _STORAGE, _VERSION, _HASH, _STORAGE_FACTS = 1, 2, 4, 8, 16


def _fold(a, b):
    product = a * b
    return (product ^ (product >> 64)) & _MASK


def hash_bytes(data):
    """The hash of the format: four lanes, a word for each in turn."""
    lanes = [_ODD[0] ^ len(data), *_ODD[1:]]
    words = struct.unpack(f"<{(len(data) + 7) // 8}Q", data + bytes(-len(data) % 8))
    for i, word in enumerate(words):
        lane = i % 4
        lanes[lane] = (_fold(lanes[lane] ^ word, _ODD[lane]) + word) & _MASK
    result = len(data)
    for lane in range(4):
        result = (_fold(result ^ lanes[lane], _ODD[lane] ^ 0x5851F42D4C957F2D) + lanes[lane]) & _MASK
    return result or 1


def _storage_bytes(tensor):
    return bytes(tensor.untyped_storage())


def _element_bytes(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return bytes(tensor.contiguous().clone().untyped_storage())


class Recording:
    """A file of calls, one after the other."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self._file.write(b"SBRECORD" + struct.pack("<II", 1, 3))
        self._out = bytearray()
        self._start = self._last = time.monotonic_ns()
        self._texts, self._sites, self._metas = {}, {}, {}
        self._tensors, self._storages, self._known = {}, {}, {}
        self._contents = {}
        self._last_tensor = self._last_storage = 0

    def call(self, op, args, kwargs):
        """Calls an operator, and writes down the call."""
        schema = op._schema
        values = []
        for i, argument in enumerate(schema.arguments):
            if i < len(args):
                values.append(args[i])
            else:
                values.append(kwargs.get(argument.name, argument.default_value))
        written = [i for i, a in enumerate(schema.arguments) if a.alias_info and a.alias_info.is_write]
        self._number(self._site(op, written) << 2)
        new_site = self._pending_site
        if new_site:
            new_site()
        for argument, value in zip(schema.arguments, values):
            self._value(argument.type, value)
        self._time()
        self._write_contents(values, 0)
        result = op(*args, **kwargs)
        results = [] if not schema.returns else [result] if len(schema.returns) == 1 else list(result)
        self._number(1)
        self._time()
        for given, value in zip(schema.returns, results):
            self._value(given.type, value)
        for i in written:
            self._value(schema.arguments[i].type, values[i])
        self._write_contents(results + [values[i] for i in written], 1)
        self._flush()
        return result

    def close(self):
        self._file.write(b"SBCK" + struct.pack("<IIIQ", 0, 0, 0, hash_bytes(b"")))
        self._file.close()

    def _flush(self):
        payload = bytes(self._out)
        self._file.write(b"SBCK" + struct.pack("<IIIQ", 1, len(payload), 0, hash_bytes(payload)) + payload)
        self._out.clear()

    def _number(self, value):
        while value >= 0x80:
            self._out.append(value & 0x7F | 0x80)
            value >>= 7
        self._out.append(value)

    def _signed(self, value):
        self._number(2 * value if value >= 0 else -2 * value - 1)

    def _bytes(self, data):
        self._number(len(data))
        self._out += data

    def _text(self, text):
        new = text not in self._texts
        self._number(self._texts.setdefault(text, len(self._texts)))
        if new:
            self._bytes(text.encode())

    def _time(self):
        now = time.monotonic_ns()
        self._number(now - self._last)
        self._last = now

    def _site(self, op, written):
        schema = op._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        self._pending_site = None
        if name in self._sites:
            return self._sites[name]

        def describe():
            for text in (name, str(schema), "CPU", "{CPU}", "PyTorch " + torch.__version__, "[PyTorch]"):
                self._text(text)
            for number in (len(schema.arguments), len(schema.returns), len(written), *written):
                self._number(number)
            self._out.append(torch.Tag.nondeterministic_seeded in op.tags)

        self._pending_site = describe
        return self._sites.setdefault(name, len(self._sites))

    def _other(self, kind):
        self._number(kind << 2 | 3)

    def _value(self, type_, value):
        kind = str(type_)
        if kind.startswith("Optional["):
            if value is not None:
                return self._value(type_.getElementType(), value)
        if value is None:
            self._other(_NONE)
        elif isinstance(value, torch.Tensor):
            self._tensor(value)
        elif kind.startswith("List[") or isinstance(value, (list, tuple)):
            self._list(kind, type_, value)
        elif isinstance(value, bool):
            self._other(_BOOL)
            self._out.append(value)
        elif isinstance(value, int) and kind == "float" or isinstance(value, float):
            self._other(_DOUBLE)
            self._out += struct.pack("<d", value)
        elif isinstance(value, int):
            if abs(value) < 1 << 60:
                self._number((2 * value if value >= 0 else -2 * value - 1) << 2 | 2)
            else:
                self._other(_INT)
                self._out += struct.pack("<q", value)
        elif isinstance(value, complex):
            self._other(_COMPLEX)
            self._out += struct.pack("<dd", value.real, value.imag)
        elif isinstance(value, str):
            self._other(_STRING)
            self._bytes(value.encode())
        else:
            names = {torch.dtype: _DTYPE, torch.device: _DEVICE, torch.layout: _LAYOUT,
                     torch.memory_format: _MEMORY_FORMAT}
            if type(value) not in names:
                raise TypeError(f"a value of {type(value)}, which no recording holds")
            self._other(names[type(value)])
            self._text(_name(value))

    def _list(self, kind, type_, values):
        values = list(values)
        element = type_.getElementType()
        kinds = {"List[int]": _INTS, "List[SymInt]": _INTS, "List[float]": _DOUBLES, "List[bool]": _BOOLS,
                 "List[Tensor]": _TENSORS, "List[Optional[Tensor]]": _OPTIONAL_TENSORS}
        self._other(kinds.get(kind, _LIST))
        self._number(len(values))
        for value in values:
            self._value(element, value)

    def _tensor(self, tensor):
        # Kept, so that nothing else gets its place.
        _, number = self._tensors.setdefault(id(tensor), (tensor, len(self._tensors) + 1))
        storage = tensor.untyped_storage()
        new = storage._cdata not in self._storages
        storage_number = self._storages.setdefault(storage._cdata, (storage, len(self._storages) + 1))[1]
        self._number((lambda v: 2 * v if v >= 0 else -2 * v - 1)(number - self._last_tensor) << 2 | 1)
        self._last_tensor = number
        self._out.append(_META | _STORAGE | _VERSION | _HASH | (_STORAGE_FACTS if new else 0))
        self._meta(tensor)
        self._signed(storage_number - self._last_storage)
        self._last_storage = storage_number
        if new:
            self._number(storage.nbytes())
            self._text(str(tensor.device))
        self._number(tensor._version)
        self._out += struct.pack("<Q", hash_bytes(_element_bytes(tensor)))

    def _meta(self, tensor):
        key = (tensor.dtype, str(tensor.device), tuple(tensor.shape), tensor.stride(), tensor.storage_offset(),
               tensor.requires_grad)
        new = key not in self._metas
        self._number(self._metas.setdefault(key, len(self._metas)))
        if not new:
            return
        self._text(_name(tensor.dtype))
        self._text(str(tensor.device))
        self._number(tensor.dim())
        for number in (*tensor.shape, *tensor.stride(), tensor.storage_offset()):
            self._signed(number)
        self._text("")
        self._text("{AutogradCPU, ADInplaceOrView, CPU}")
        self._out.append(tensor.requires_grad)

    def _write_contents(self, values, after):
        for value in values:
            if isinstance(value, (list, tuple)):
                self._write_contents(value, after)
            if not isinstance(value, torch.Tensor):
                continue
            data = _storage_bytes(value)
            number = self._storages[value.untyped_storage()._cdata][1]
            if not data or self._contents.get(number) == data:
                continue
            self._contents[number] = data
            self._number(3)  # n = 0: bytes of a storage
            self._number(number)
            self._out.append(after)
            self._bytes(data)


def _name(value):
    names = {torch.contiguous_format: "contiguous_format", torch.channels_last: "channels_last"}
    return names.get(value, str(value).removeprefix("torch."))


class _Recorder(torch.fx.Interpreter):
    def __init__(self, module, recording):
        super().__init__(module)
        self._recording = recording

    def call_function(self, target, args, kwargs):
        if isinstance(target, torch._ops.OpOverload):
            return self._recording.call(target, args, kwargs)
        if isinstance(target, torch._ops.HigherOrderOperator):
            raise NotImplementedError(f"{target}: a recording has calls of operators only")
        return super().call_function(target, args, kwargs)


def record(path, graph_module, inputs):
    """Runs a graph node by node, and writes the calls of operators. What the graph gives."""
    recording = Recording(path)
    with torch.no_grad():
        result = _Recorder(graph_module, recording).run(*inputs)
    recording.close()
    return result


def _load_safetensors(path):
    dtypes = {"BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32,
              "I64": torch.int64, "F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32,
              "F64": torch.float64}
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            dtype = dtypes[entry["dtype"]]
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="what torch.export.save wrote")
    parser.add_argument("--inputs", required=True, help="safetensors with the inputs by name")
    parser.add_argument("-o", "--out", default="torch.sbr")
    options = parser.parse_args()
    program = torch.export.load(options.program)
    given = _load_safetensors(options.inputs)
    inputs = []
    for spec in program.graph_signature.input_specs:
        name = getattr(spec.arg, "name", None)
        if spec.kind.name == "USER_INPUT":
            inputs.append(given[name])
        elif spec.target in program.state_dict:
            inputs.append(program.state_dict[spec.target].detach())
        else:
            inputs.append(program.constants[spec.target])
    record(options.out, program.graph_module, inputs)


if __name__ == "__main__":
    main()
