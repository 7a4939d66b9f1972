#!/usr/bin/env python3
"""Exports the program of this folder with PyTorch 2.14: operators that write to their arguments, functionalised.

    python3 make.py    writes writes.pt2, inputs.safetensors and outputs.safetensors beside it

Its operators are those of writers.cc. Calls write to a row, to a transposed part, to several tensors, and to two
views of which one is of another call's result.
"""

import os

import torch
from safetensors.torch import save_file

LIBRARY = torch.library.Library("writers", "DEF")
LIBRARY.define("add_times(Tensor(a!) x, Tensor y, int n) -> ()")
LIBRARY.define("add_all(Tensor(a!)[] xs, Tensor(b!)? z, Tensor y) -> Tensor")


@torch.library.impl(LIBRARY, "add_times", "CompositeExplicitAutograd")
def add_times(x, y, n):
    x.add_(y, alpha=n)


@torch.library.impl(LIBRARY, "add_all", "CompositeExplicitAutograd")
def add_all(xs, z, y):
    for x in xs:
        x.add_(y)
    if z is not None:
        z.mul_(2)
    return y + 1


@torch.library.register_fake("writers::add_all")
def add_all_fake(xs, z, y):
    return torch.empty_like(y)


class Writes(torch.nn.Module):
    def forward(self, x, y):
        a = x * 2
        torch.ops.writers.add_times(a[0], y, 3)
        torch.ops.writers.add_times(a.t()[1:3], y[:2].unsqueeze(1), 1)
        b = x + 1
        first = torch.ops.writers.add_all([a, b], None, x)
        second = torch.ops.writers.add_all([a[0:2], b], first[1], y)
        return a + b, first, second


torch.manual_seed(0)
inputs = {"x": torch.randn(4, 4), "y": torch.randn(4)}
program = torch.export.export(Writes(), tuple(inputs.values())).run_decompositions({})
for node in program.graph.nodes:
    for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
        node.meta.pop(key, None)
os.chdir(os.path.dirname(os.path.abspath(__file__)))
torch.export.save(program, "writes.pt2")
save_file(inputs, "inputs.safetensors")
names = program.graph_signature.user_outputs
outputs = Writes()(*(t.clone() for t in inputs.values()))
save_file({name: t.contiguous() for name, t in zip(names, outputs, strict=True)}, "outputs.safetensors")
