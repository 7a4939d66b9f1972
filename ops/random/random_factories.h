// New tensors of random numbers.

#ifndef SWITCHBOARD_OPS_RANDOM_RANDOM_FACTORIES_H_
#define SWITCHBOARD_OPS_RANDOM_RANDOM_FACTORIES_H_
#include "switchboard/dispatch/typed_op.h"

// What the schemas of factories end with.
#define SB_NEW_TENSOR \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
// The same with dtype int64.
#define SB_NEW_LONG_TENSOR \
  "ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None"

namespace sb {

// Uniform on [0, 1); normal with mean 0 and deviation 1; integers of [0, high) or [low, high).
SB_OP(rand, "aten::rand(SymInt[] size, *, " SB_NEW_TENSOR ") -> Tensor");
SB_OP(rand_generator,
      "aten::rand.generator(SymInt[] size, *, Generator? generator, " SB_NEW_TENSOR ") -> Tensor");
SB_OP(randn, "aten::randn(SymInt[] size, *, " SB_NEW_TENSOR ") -> Tensor");
SB_OP(randn_generator,
      "aten::randn.generator(SymInt[] size, *, Generator? generator, " SB_NEW_TENSOR ") -> Tensor");
SB_OP(randint, "aten::randint(SymInt high, SymInt[] size, *, " SB_NEW_LONG_TENSOR ") -> Tensor");
SB_OP(randint_generator,
      "aten::randint.generator(SymInt high, SymInt[] size, *, Generator? "
      "generator, " SB_NEW_LONG_TENSOR ") -> Tensor");
SB_OP(randint_low,
      "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, " SB_NEW_LONG_TENSOR
      ") -> Tensor");
SB_OP(randint_low_generator,
      "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? "
      "generator, " SB_NEW_LONG_TENSOR ") -> Tensor");
// The numbers 0 to n - 1 in random order. RuntimeError where dtype cannot hold them all.
SB_OP(randperm, "aten::randperm(SymInt n, *, " SB_NEW_LONG_TENSOR ") -> Tensor");
SB_OP(randperm_generator,
      "aten::randperm.generator(SymInt n, *, Generator? generator, " SB_NEW_LONG_TENSOR
      ") -> Tensor");
SB_OP(randperm_generator_out,
      "aten::randperm.generator_out(SymInt n, *, Generator? generator, Tensor(a!) out) -> "
      "Tensor(a!)");
SB_OP(normal_float_float,
      "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? "
      "generator=None, " SB_NEW_TENSOR ") -> Tensor");

// Of self's shape and strides.
SB_OP(rand_like, "aten::rand_like(Tensor self, *, " SB_NEW_TENSOR
                 ", MemoryFormat? memory_format=None) -> "
                 "Tensor");
SB_OP(randn_like, "aten::randn_like(Tensor self, *, " SB_NEW_TENSOR
                  ", MemoryFormat? memory_format=None) -> "
                  "Tensor");
SB_OP(randint_like, "aten::randint_like(Tensor self, SymInt high, *, " SB_NEW_TENSOR
                    ", MemoryFormat? memory_format=None) -> Tensor");
SB_OP(randint_like_low,
      "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, " SB_NEW_TENSOR
      ", MemoryFormat? memory_format=None) -> Tensor");

}  // namespace sb

#undef SB_NEW_TENSOR
#undef SB_NEW_LONG_TENSOR

#endif  // SWITCHBOARD_OPS_RANDOM_RANDOM_FACTORIES_H_
