#!/usr/bin/env python3
"""Exports the program of this folder with PyTorch 2.14: operators that take functions, or another operator.

    python3 make.py    writes functions.pt2, inputs.safetensors and outputs.safetensors beside it
"""

import os

import torch
from safetensors.torch import save_file
from torch._higher_order_ops.map import map as map_slices
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.scan import scan


def step(state, row):
    following = state * 0.5 + row
    return following, following.sin()


class Functions(torch.nn.Module):
    def forward(self, rows, w, counts):
        mapped = map_slices(lambda row, w: (row * w).sum(), rows, w)
        last, each = scan(step, w, rows, reverse=True)
        wide = out_dtype(torch.ops.aten.mul.Tensor, torch.int32, counts, counts)
        torch.ops.higher_order.print("counts {counts}", counts=counts)
        return mapped, last, each, wide


torch.manual_seed(0)
inputs = {"rows": torch.randn(3, 2), "w": torch.randn(2), "counts": torch.tensor([100, -7], dtype=torch.int8)}
program = torch.export.export(Functions(), tuple(inputs.values()))
for module in program.graph_module.modules():
    for node in module.graph.nodes if hasattr(module, "graph") else ():
        for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
            node.meta.pop(key, None)
os.chdir(os.path.dirname(os.path.abspath(__file__)))
torch.export.save(program, "functions.pt2")
save_file(inputs, "inputs.safetensors")
names = program.graph_signature.user_outputs
outputs = Functions()(*inputs.values())
save_file({name: t.contiguous() for name, t in zip(names, outputs, strict=True)}, "outputs.safetensors")
print(program.graph)
