#include "switchboard/ops/random/random_fill.h"

#include <algorithm>
#include <mutex>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/random/draw_kernels.h"

namespace sb {
namespace {

// Elements that are drawn at a time, and that a thread takes at a time.
constexpr int64_t kChunk = internal::kDraws;
constexpr int64_t kGrain = 16 * kChunk;

// Each counter gives `each` numbers.
template <class Number>
void fill(std::string_view op, const Tensor& self, const std::optional<Generator>& generator,
          int64_t each, DrawCounted<Number> draw) {
  static_assert(kChunk % 4 == 0);
  check_no_internal_overlap(self);
  if (self.is_meta() || self.numel() == 0) return;
  const Tensor target =
      self.is_contiguous() ? self : empty_on(self.device(), self.sizes(), self.dtype());
  const bool complex = is_complex(self.dtype());
  const DType dtype = complex ? to_real(self.dtype()) : self.dtype();
  const int64_t n = self.numel() * (complex ? 2 : 1);
  const int64_t size = static_cast<int64_t>(itemsize(dtype));
  const bool direct = dtype == dtype_of<Number>;
  const CastFunction cast = cast_function(dtype_of<Number>, dtype);
  const PhiloxState state = take_counters(op, generator, static_cast<uint64_t>(n));
  char* const data = static_cast<char*>(target.data_ptr());
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) Number numbers[kChunk];
    for (int64_t i = begin; i < end; i += kChunk) {
      const int64_t count = std::min(kChunk, end - i);
      Number* const to = direct ? reinterpret_cast<Number*>(data) + i : numbers;
      draw(state.seed, state.offset + static_cast<uint64_t>(i / each), to, count);
      if (!direct)
        cast(data + i * size, size, reinterpret_cast<const char*>(numbers), sizeof(Number), count);
    }
  });
  if (!target.is_same(self)) copy_elements(self, target);
}

}  // namespace

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
  fill<double>(op, self, generator, 1, [&](uint64_t seed, uint64_t first, double* out, int64_t n) {
    PhiloxBlock blocks[internal::kDraws];
    internal::draw_kernels.get()->blocks(seed, first, blocks, n);
    draw(absl::MakeConstSpan(blocks, static_cast<size_t>(n)), out);
  });
}
template <class Number>
void random_fill_counted(std::string_view op, const Tensor& self,
                         const std::optional<Generator>& generator, DrawCounted<Number> draw) {
  fill<Number>(op, self, generator, 1, draw);
}
template void random_fill_counted(std::string_view, const Tensor&, const std::optional<Generator>&,
                                  DrawCounted<bool>);
template void random_fill_counted(std::string_view, const Tensor&, const std::optional<Generator>&,
                                  DrawCounted<int64_t>);
template void random_fill_counted(std::string_view, const Tensor&, const std::optional<Generator>&,
                                  DrawCounted<float>);
template void random_fill_counted(std::string_view, const Tensor&, const std::optional<Generator>&,
                                  DrawCounted<double>);
void random_fill_by_fours(std::string_view op, const Tensor& self,
                          const std::optional<Generator>& generator, DrawCounted<float> draw) {
  fill<float>(op, self, generator, 4, draw);
}

void check_filled(std::string_view op, const Tensor& self, bool (*supported)(DType)) {
  SB_CHECK(self.defined(), op, ": argument self: expected a tensor, got an undefined one");
  SB_CHECK_NOT_IMPLEMENTED(supported(self.dtype()), op, ": argument self: not implemented for ",
                           to_string(self.dtype()));
  check_no_internal_overlap(self);
}

}  // namespace sb
