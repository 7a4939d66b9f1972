"""Makes all_reduce.pt2 and broadcast.pt2: two ranks' programs that part at their first collective."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
ops = torch.ops._c10d_functional


class Net(torch.nn.Module):
    def __init__(self, collective):
        super().__init__()
        self.collective = collective

    def forward(self, x):
        y = ops.wait_tensor(self.collective(x * 2))
        return ops.wait_tensor(ops.all_gather_into_tensor(y.relu(), 2, "0"))


for name, collective in {
    "all_reduce": lambda x: ops.all_reduce(x, "sum", "0"),
    "broadcast": lambda x: ops.broadcast(x, 0, "0"),
}.items():
    program = torch.export.export(Net(collective), (torch.ones(3, 4),))
    for node in program.graph.nodes:
        for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "from_node"):
            node.meta.pop(key, None)
    torch.export.save(program, name + ".pt2")
