#include "switchboard/ops/random/random_factories.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/draw_kernels.h"
#include "switchboard/ops/random/random_fill.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/factory_parameters.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

using OptionalGenerator = std::optional<Generator>;

Tensor rand_any(SymIntArrayRef size, const OptionalGenerator& generator, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return uniform_(empty(size, dtype, layout, device, pin_memory, std::nullopt), 0, 1, generator);
}
Tensor normal_any(double mean, double std, SymIntArrayRef size, const OptionalGenerator& generator,
                  SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return normal_(empty(size, dtype, layout, device, pin_memory, std::nullopt), mean, std,
                 generator);
}
Tensor randint_any(const SymInt& low, const SymInt& high, SymIntArrayRef size,
                   const OptionalGenerator& generator, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return random_from_(empty(size, dtype, layout, device, pin_memory, std::nullopt), low.guard_int(),
                      high.guard_int(), generator);
}

void check_permutation(int64_t n, DType dtype) {
  SB_CHECK(n >= 0, "randperm: argument n: expected at least 0, got ", n);
  SB_CHECK(!is_complex(dtype) && dtype != DType::Bool, "randperm: argument dtype: expected a real ",
           "one that is not bool, got ", to_string(dtype));
  if (n > 0) check_scalar_fits(n, dtype);
  const bool exact = dtype == DType::Float16    ? n <= (1 << 11) + 1
                     : dtype == DType::BFloat16 ? n <= (1 << 8) + 1
                     : dtype == DType::Float32  ? n <= (1 << 24) + 1
                                                : true;
  SB_CHECK(exact, "randperm: argument n: ", to_string(dtype), " does not hold all integers below ",
           n);
}

// Fisher and Yates's shuffle.
void permute_into(const Tensor& out, int64_t n, const OptionalGenerator& generator) {
  if (out.is_meta() || n == 0) return;
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const PhiloxState state = take_counters("randperm", generator, static_cast<uint64_t>(n));
  std::array<PhiloxBlock, internal::kDraws> blocks;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % blocks.size() == 0) {
      internal::draw_kernels.get()->blocks(state.seed, state.offset + i, blocks.data(),
                                           internal::kDraws);
    }
    std::swap(order[i], order[i + blocks[i % blocks.size()].low % (order.size() - i)]);
  }
  cast_function(DType::Int64, out.dtype())(static_cast<char*>(out.data_ptr()), byte_stride(out, 0),
                                           reinterpret_cast<const char*>(order.data()),
                                           sizeof(int64_t), n);
}

Tensor randperm_out_any(const SymInt& size, const OptionalGenerator& generator, const Tensor& out) {
  const int64_t n = size.guard_int();
  SB_CHECK(out.defined(), "randperm: out: expected a tensor, got an undefined one");
  check_permutation(n, out.dtype());
  resize_output(out, {n});
  permute_into(out, n, generator);
  return out;
}

Tensor randperm_any(const SymInt& size, const OptionalGenerator& generator, SB_TENSOR_OPTIONS) {
  const int64_t n = size.guard_int();
  check_permutation(n, dtype.value_or(DType::Int64));
  const Tensor result = empty(SymIntArrayRef(&size, 1), dtype.value_or(DType::Int64), layout,
                              device, pin_memory, std::nullopt);
  const internal::BelowRecordingGuard fresh;
  return randperm_generator_out(size, generator, result);
}

Tensor like(const Tensor& self, SB_TENSOR_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return empty_like(self, dtype, layout, device, pin_memory, memory_format);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  // Defines an operator and the out= form of that name.
#define SB_OPTION_NAMES dtype, layout, device, pin_memory
  define(m, rand, Tag::nondeterministic_seeded)
      .composite_explicit([](SymIntArrayRef size, SB_TENSOR_OPTIONS) {
        return rand_any(size, std::nullopt, SB_OPTION_NAMES);
      })
      .out("out");
  define(m, rand_generator, Tag::nondeterministic_seeded)
      .composite_explicit(rand_any)
      .out("generator_out");
  define(m, randn, Tag::nondeterministic_seeded)
      .composite_explicit([](SymIntArrayRef size, SB_TENSOR_OPTIONS) {
        return normal_any(0, 1, size, std::nullopt, SB_OPTION_NAMES);
      })
      .out("out");
  define(m, randn_generator, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](SymIntArrayRef size, const OptionalGenerator& generator, SB_TENSOR_OPTIONS) {
            return normal_any(0, 1, size, generator, SB_OPTION_NAMES);
          })
      .out("generator_out");
  define(m, normal_float_float, Tag::nondeterministic_seeded)
      .composite_explicit(normal_any)
      .out("float_float_out");
  define(m, randint, Tag::nondeterministic_seeded)
      .composite_explicit([](const SymInt& high, SymIntArrayRef size, SB_TENSOR_OPTIONS) {
        return randint_any(0, high, size, std::nullopt, SB_OPTION_NAMES);
      })
      .out("out");
  define(m, randint_generator, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const SymInt& high, SymIntArrayRef size, const OptionalGenerator& generator,
             SB_TENSOR_OPTIONS) { return randint_any(0, high, size, generator, SB_OPTION_NAMES); })
      .out("generator_out");
  define(m, randint_low, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const SymInt& low, const SymInt& high, SymIntArrayRef size, SB_TENSOR_OPTIONS) {
            return randint_any(low, high, size, std::nullopt, SB_OPTION_NAMES);
          })
      .out("low_out");
  define(m, randint_low_generator, Tag::nondeterministic_seeded)
      .composite_explicit(randint_any)
      .out("low_generator_out");
  define(m, randperm, Tag::nondeterministic_seeded)
      .composite_explicit([](const SymInt& n, SB_TENSOR_OPTIONS) {
        return randperm_any(n, std::nullopt, SB_OPTION_NAMES);
      })
      .out("out");
  define(m, randperm_generator, Tag::nondeterministic_seeded).composite_explicit(randperm_any);
  define(m, randperm_generator_out, Tag::nondeterministic_seeded);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(randperm_generator_out, key, randperm_out_any);
  }

  define(m, rand_like, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const Tensor& self, SB_TENSOR_OPTIONS, std::optional<MemoryFormat> format) {
            const internal::BelowRecordingGuard fresh;
            return uniform_(like(self, SB_OPTION_NAMES, format));
          })
      .out("out");
  define(m, randn_like, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const Tensor& self, SB_TENSOR_OPTIONS, std::optional<MemoryFormat> format) {
            const internal::BelowRecordingGuard fresh;
            return normal_(like(self, SB_OPTION_NAMES, format));
          })
      .out("out");
  define(m, randint_like, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, const SymInt& high, SB_TENSOR_OPTIONS,
                             std::optional<MemoryFormat> format) {
        const internal::BelowRecordingGuard fresh;
        return random_from_(like(self, SB_OPTION_NAMES, format), 0, high.guard_int());
      })
      .out("out");
  define(m, randint_like_low, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, const SymInt& low, const SymInt& high,
                             SB_TENSOR_OPTIONS, std::optional<MemoryFormat> format) {
        const internal::BelowRecordingGuard fresh;
        return random_from_(like(self, SB_OPTION_NAMES, format), low.guard_int(), high.guard_int());
      })
      .out("low_dtype_out");
#undef SB_OPTION_NAMES
}

}  // namespace
}  // namespace sb
