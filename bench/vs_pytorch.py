"""PyTorch's side of //bench:vs_pytorch, which starts it and asks by lines on its standard input.

    case OPERATOR ARGUMENT...   prepares a call; answers "ok", or "no WHY"
    time N                      calls it N times; answers the seconds that took
    threads N                   answers "ok"

The arguments are those of bench/vs_pytorch_cases.txt, which says how they are written.
"""

import sys
import time
from itertools import repeat

import torch

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
          "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
          "i64": torch.int64, "bool": torch.bool, "c64": torch.complex64}


def read_tensor(word):
    name, shape, *options = word.split(":")
    sizes = [int(n) for n in shape.split("x") if n]
    if "t" in options:
        sizes[-2:] = sizes[:-3:-1]
    below = next((int(o[1:]) for o in options if o.startswith("<")), None)
    dtype = DTYPES[name]
    if below is not None:
        tensor = torch.randint(below, sizes).to(dtype)
    elif dtype == torch.bool:
        tensor = torch.rand(sizes) < 0.5
    elif dtype.is_floating_point:
        tensor = torch.rand(sizes).to(dtype)
    elif dtype.is_complex:
        tensor = torch.rand(sizes, dtype=dtype)
    else:
        tensor = torch.randint(100, sizes).to(dtype)
    if "spd" in options:
        tensor = tensor @ tensor.mT + sizes[-1] * torch.eye(sizes[-1], dtype=dtype)
    if "t" in options:
        tensor = tensor.mT
    if "nhwc" in options:
        tensor = tensor.contiguous(memory_format=torch.channels_last)
    if "even" in options:
        tensor = tensor[..., ::2]
    return tensor.requires_grad_() if "grad" in options else tensor


def read(word):
    if word.startswith("["):
        return [read(w) for w in word[1:-1].split(",") if w]
    if word in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[word]
    if word in DTYPES:
        return DTYPES[word]
    if word.startswith("'"):
        return word[1:-1]
    if ":" in word:
        return read_tensor(word)
    return float(word) if "." in word or "e" in word else int(word)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (list, tuple)) else []


class Case:
    def __init__(self, words):
        namespace, rest = words[0].split("::")
        name, _, overload = rest.partition(".")
        self.op = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
        self.positional, self.keyword = [], {}
        for word in words[1:]:
            key, equals, value = word.partition("=")
            if equals:
                self.keyword[key] = read(value)
            else:
                self.positional.append(read(word))
        given = tensors_in(self.positional + list(self.keyword.values()))
        self.inputs = [t for t in given if t.requires_grad]
        if self.inputs:
            result = tensors_in([self.op(*self.positional, **self.keyword)])[0]
            self.ones = torch.ones_like(result)

    def time(self, times):
        op, positional, keyword = self.op, self.positional, self.keyword
        threads = torch.get_num_threads()
        clock = time.process_time if threads == 1 else time.perf_counter
        with torch.set_grad_enabled(bool(self.inputs)), torch.inference_mode(not self.inputs):
            begin = clock()
            if self.inputs:
                for _ in repeat(None, times):
                    result = op(*positional, **keyword)
                    first = result[0] if isinstance(result, (tuple, list)) else result
                    torch.autograd.grad(first, self.inputs, self.ones)
            else:
                for _ in repeat(None, times):
                    op(*positional, **keyword)
            return clock() - begin


def answer(words, case):
    if words[0] == "threads":
        torch.set_num_threads(int(words[1]))
        return "ok", case
    if words[0] == "case":
        try:
            case = Case(words[1:])
            case.time(1)
            return "ok", case
        except Exception as error:  # whatever PyTorch says, the other side prints
            return "no " + " ".join(str(error).split())[:200], None
    return repr(case.time(int(words[1]))), case


def main():
    torch.manual_seed(0)
    case = None
    print(f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}", flush=True)
    for line in sys.stdin:
        text, case = answer(line.split(), case)
        print(text, flush=True)


if __name__ == "__main__":
    main()
