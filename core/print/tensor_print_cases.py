"""Prints the table of tensor_print_test.cc: tensors, and what PyTorch 1.13 prints for them.

Usage: python3 core/print/tensor_print_cases.py, with PyTorch installed; paste the output into the test.
"""

import math

import torch

CASES = []


def case(tensor, fill=None):
    """Adds a case. `fill` is C++ for the storage's values, where a list would be long."""
    CASES.append((tensor, fill))


def number(v):
    if math.isnan(v):
        return "NAN"
    if math.isinf(v):
        return "INFINITY" if v > 0 else "-INFINITY"
    return repr(float(v)).replace(".0", ".") if v == int(v) and abs(v) < 1e15 else repr(float(v))


def values_of(tensor):
    storage = tensor.as_strided((tensor.storage().size(),), (1,), 0)
    if not tensor.dtype.is_complex:
        return "{%s}" % ", ".join(number(v) for v in storage.tolist())
    return "complex({%s}, {%s})" % (
        ", ".join(number(v) for v in storage.real.tolist()),
        ", ".join(number(v) for v in storage.imag.tolist()),
    )


DTYPES = {
    torch.uint8: "UInt8", torch.int8: "Int8", torch.int16: "Int16", torch.int32: "Int32",
    torch.int64: "Int64", torch.float16: "Float16", torch.float32: "Float32",
    torch.float64: "Float64", torch.complex64: "Complex64", torch.complex128: "Complex128",
    torch.bool: "Bool", torch.bfloat16: "BFloat16",
}  # fmt: skip

nan, inf = math.nan, math.inf
t = torch.tensor
# Zero dimensions.
case(t(3.0))
case(t(-2.5))
case(t(7))
case(t(True))
case(t(1e10))
case(t(nan))
case(t(-inf))
case(t(0.0))
case(t(-0.0))
case(t(1 + 2j))
case(t(3, dtype=torch.int32))
case(t(0.1, dtype=torch.float64))
case(t(0.1, dtype=torch.float16))
# Choosing a format.
case(t([1.0, 2.0, 3.0]))
case(t([1.0, -2.0, 30.0]))
case(t([1.5, 2.25, -3.125]))
case(t([0.0, 0.0]))
case(t([1.0, 1000.0]))
case(t([1.0, 1001.0]))
case(t([1.0, 1e8]))
case(t([1e9, 2e9]))
case(t([1e-5, 2e-5]))
case(t([0.5, 1e-4]))
case(t([0.001, 1.5]))
case(t([0.001, 0.5]))
case(t([123456.789, 234567.5]))
case(t([1.0, nan, inf, -inf]))
case(t([1.5, nan, inf, -inf]))
case(t([1e10, nan, inf, -inf, 0.0]))
case(t([nan, inf]))
case(t([0.99999, 1.00001]))
case(t([1e-30, 1e30]))
case(t([1e-300, 1e300], dtype=torch.float64))
case(t([0.1, 0.2], dtype=torch.float64))
# Integers and bools.
case(t([1, -20, 300]))
case(t([1, 255], dtype=torch.uint8))
case(t([-128, 127], dtype=torch.int8))
case(t([1, -2], dtype=torch.int16))
case(t([True, False, True]))
case(t([[True], [False]]))
# 16-bit floating point.
case(t([0.1, 65504.0], dtype=torch.float16))
case(t([1.0, 2.0], dtype=torch.float16))
case(t([0.1, 3.140625], dtype=torch.bfloat16))
case(t([1e38, 1.0], dtype=torch.bfloat16))
# Complex.
case(t([1 + 2j, 3 - 4j]))
case(t([1.5 + 0j, -2.25 - 1e-3j]))
case(t([complex(nan, inf), complex(0.0, -0.0)]))
case(t([[1j, 2], [300 + 1j, -1]], dtype=torch.complex128))
case(torch.arange(12).reshape(3, 4) * (1 + 1j) / 3)
# No elements.
case(torch.empty(0))
case(torch.empty(0, dtype=torch.int64))
case(torch.empty(0, 3))
case(torch.empty(2, 0, 3, dtype=torch.int32))
case(torch.empty(2, 0, dtype=torch.bool))
# Nested dimensions and long lines.
case(torch.arange(6.0).reshape(2, 3))
case(torch.arange(24).reshape(2, 3, 4))
case(torch.arange(16.0).reshape(2, 2, 2, 2) / 8)
case(torch.arange(4.0).reshape(1, 1, 1, 4, 1))
case(torch.arange(40.0), "iota(40)")
case(torch.arange(100), "iota(100)")
case(torch.arange(60, dtype=torch.int32).reshape(2, 30), "iota(60)")
case(torch.arange(64, dtype=torch.float64).reshape(2, 2, 16) / 7, "iota(64, 1. / 7)")
case(torch.arange(17, dtype=torch.int16), "iota(17)")
case(torch.arange(16, dtype=torch.int16) + 1000, "iota(16, 1, 1000)")
case(torch.complex(torch.arange(20.0) / 4, torch.zeros(20)), "complex(iota(20, 0.25), iota(20, 0))")
# Views.
case(torch.arange(6.0).reshape(2, 3).t())
case(torch.arange(12.0)[::3])
case(torch.arange(12).reshape(3, 4)[1:, 2])
case(torch.arange(12).reshape(3, 4)[1:, 1:3])
case(t([1.0, 2.0]).expand(3, 2))
case(torch.arange(3.0)[1:1])
# Summaries.
case(torch.arange(1000.0), "iota(1000)")
case(torch.arange(1001.0), "iota(1001)")
case(torch.arange(2000), "iota(2000)")
case(torch.arange(1024.0).reshape(32, 32), "iota(1024)")
case(torch.arange(1024.0).reshape(32, 32).t() / 3, "iota(1024, 1. / 3)")
case(torch.arange(1200).reshape(4, 300), "iota(1200)")
case(torch.arange(1200, dtype=torch.int32).reshape(300, 4), "iota(1200)")
case(torch.arange(2048.0).reshape(8, 16, 16), "iota(2048)")
case(torch.arange(2048, dtype=torch.float64).reshape(2, 2, 8, 64) / 1024, "iota(2048, 1. / 1024)")
case(torch.zeros(1).expand(1_000_000_000, 7))
case(torch.complex(torch.zeros(1100), torch.arange(1100.0)), "complex(iota(1100, 0), iota(1100))")

for tensor, fill in CASES:
    print(
        '    {DType::%s, {%s}, {%s}, %d, %s,\n     R"(%s)"},'
        % (
            DTYPES[tensor.dtype],
            ", ".join(map(str, tensor.shape)),
            ", ".join(map(str, tensor.stride())),
            tensor.storage_offset(),
            fill or values_of(tensor),
            tensor,
        )
    )
