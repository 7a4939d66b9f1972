#include "switchboard/ops/random/random_fill.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"

namespace sb {
namespace {

// Elements that are drawn at a time, and that a thread takes at a time.
constexpr int64_t kChunk = 256;
constexpr int64_t kGrain = 16 * kChunk;

template <class Number, class Draw>
void fill(std::string_view op, const Tensor& self, const std::optional<Generator>& generator,
          DType drawn, Draw draw) {
  check_no_internal_overlap(self);
  if (self.is_meta() || self.numel() == 0) return;
  const Tensor target =
      self.is_contiguous() ? self : empty_on(self.device(), self.sizes(), self.dtype());
  const bool complex = is_complex(self.dtype());
  const DType dtype = complex ? to_real(self.dtype()) : self.dtype();
  const int64_t n = self.numel() * (complex ? 2 : 1);
  const int64_t size = static_cast<int64_t>(itemsize(dtype));
  const CastFunction cast = cast_function(drawn, dtype);
  const PhiloxState state = take_counters(op, generator, static_cast<uint64_t>(n));
  char* const data = static_cast<char*>(target.data_ptr());
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    PhiloxBlock blocks[kChunk];
    Number numbers[kChunk];
    for (int64_t i = begin; i < end; i += kChunk) {
      const int64_t count = std::min(kChunk, end - i);
      const auto some = absl::MakeSpan(blocks, static_cast<size_t>(count));
      philox(state.seed, state.offset + static_cast<uint64_t>(i), 0, some);
      draw(some, numbers);
      cast(data + i * size, size, reinterpret_cast<const char*>(numbers), sizeof(Number), count);
    }
  });
  if (!target.is_same(self)) copy_elements(self, target);
}

}  // namespace

double to_normal(const PhiloxBlock& block) {
  // Box and Muller's transform; its other half is not used, so that each element stands alone.
  return std::sqrt(-2 * std::log(to_positive_unit(block.low))) *
         std::cos(2 * std::numbers::pi * to_unit(block.high));
}

PhiloxState take_counters(std::string_view op, const std::optional<Generator>& generator,
                          uint64_t n) {
  const Generator source = generator && *generator ? *generator : default_cpu_generator();
  SB_CHECK(source->device().is_cpu(), op, ": argument generator: expected one on cpu, got one on ",
           to_string(source->device()));
  std::lock_guard<std::mutex> lock(source->mutex);
  return source->take(n);
}

void random_fill(std::string_view op, const Tensor& self, const std::optional<Generator>& generator,
                 DrawReals draw) {
  fill<double>(op, self, generator, DType::Float64, draw);
}
void random_fill_integers(std::string_view op, const Tensor& self,
                          const std::optional<Generator>& generator, DrawIntegers draw) {
  fill<int64_t>(op, self, generator, DType::Int64, draw);
}

void check_filled(std::string_view op, const Tensor& self, bool (*supported)(DType)) {
  SB_CHECK(self.defined(), op, ": argument self: expected a tensor, got an undefined one");
  SB_CHECK(supported(self.dtype()), op, ": argument self: not implemented for ",
           to_string(self.dtype()));
  check_no_internal_overlap(self);
}

}  // namespace sb
