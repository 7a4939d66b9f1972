#include "switchboard/ops/random/multinomial.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/random/random_fill.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalGenerator = std::optional<Generator>;

template <SizeType Int>
BasicTensorMeta<Int> multinomial_rule(const Tensor& self, const SymInt& num_samples,
                                      bool replacement, const OptionalGenerator&) {
  SB_CHECK(is_floating_point(self.dtype()),
           "multinomial: argument self: expected a floating-point tensor, got ", self.describe());
  SB_CHECK(self.dim() == 1 || self.dim() == 2,
           "multinomial: argument self: expected 1 or 2 dimensions, got ", self.describe());
  const SizeVector<Int> sizes = size_vector<Int>(self);
  const Int samples = size_as<Int>(num_samples), categories = sizes.back();
  SB_CHECK(samples > 0, "multinomial: argument num_samples: expected more than 0, got ",
           size_text(samples));
  SB_CHECK(categories <= int64_t{1} << 24,
           "multinomial: argument self: expected at most 2^24 categories, got ",
           size_text(categories));
  SB_CHECK(replacement || samples <= categories,
           "multinomial: argument num_samples: ", size_text(samples),
           " samples without replacement of ", size_text(categories), " categories");
  BasicTensorMeta<Int> meta{{}, DType::Int64};
  if (self.dim() == 2) meta.sizes.push_back(sizes[0]);
  meta.sizes.push_back(samples);
  return meta;
}

void check_weights(const double* weights, int64_t rows, int64_t categories) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < categories; ++c) {
      const double w = weights[r * categories + c];
      SB_CHECK(w >= 0 && std::isfinite(w),
               "multinomial: argument self: expected weights that are finite and at least 0, got ",
               w);
      sum += w;
    }
    SB_CHECK(std::isfinite(sum), "multinomial: argument self: the weights of row ", r,
             " have no finite sum");
    SB_CHECK(sum > 0, "multinomial: argument self: row ", r, " has no weight");
  }
}

// One row with replacement: the cumulative weights are searched.
void draw_with(const double* weights, int64_t categories, PhiloxState state, uint64_t first,
               int64_t samples, int64_t* out) {
  std::vector<double> sums(static_cast<size_t>(categories));
  std::partial_sum(weights, weights + categories, sums.begin());
  for (int64_t s = 0; s < samples; ++s) {
    PhiloxBlock block;
    philox(state.seed, state.offset + first + static_cast<uint64_t>(s), 0,
           absl::MakeSpan(&block, 1));
    const double target = to_unit(block.low) * sums.back();
    out[s] = std::upper_bound(sums.begin(), sums.end(), target) - sums.begin();
    // Rounding may lead past the end.
    out[s] = std::min(out[s], categories - 1);
  }
}

// One row without: the categories whose exponential clocks, of the weights' rates, ring first.
void draw_without(const double* weights, int64_t categories, PhiloxState state, uint64_t first,
                  int64_t samples, int64_t* out) {
  std::vector<PhiloxBlock> blocks(static_cast<size_t>(categories));
  philox(state.seed, state.offset + first, 0, absl::MakeSpan(blocks));
  std::vector<std::pair<double, int64_t>> clocks;
  for (int64_t c = 0; c < categories; ++c) {
    const double ring = -std::log(to_positive_unit(blocks[static_cast<size_t>(c)].low));
    clocks.emplace_back(
        weights[c] > 0 ? ring / weights[c] : std::numeric_limits<double>::infinity(), c);
  }
  std::partial_sort(clocks.begin(), clocks.begin() + samples, clocks.end());
  for (int64_t s = 0; s < samples; ++s) out[s] = clocks[static_cast<size_t>(s)].second;
}

void multinomial_kernel(const Tensor& self, const SymInt& samples, bool replacement,
                        const OptionalGenerator& generator, const Tensor& out) {
  const int64_t num_samples = samples.expect_int();
  const int64_t categories = self.size(-1);
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1;
  if (rows == 0) return;
  const Tensor weights = cast_copy(self, DType::Float64);
  const double* const w = categories == 0 ? nullptr : weights.data<double>();
  check_weights(w, rows, categories);
  const int64_t draws = replacement ? num_samples : categories;
  const PhiloxState state =
      take_counters("multinomial", generator, static_cast<uint64_t>(rows * draws));
  const Tensor drawn = empty_on(DeviceType::CPU, out.sizes(), DType::Int64);
  int64_t* const to = drawn.data<int64_t>();
  parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      (replacement ? draw_with : draw_without)(w + r * categories, categories, state,
                                               static_cast<uint64_t>(r * draws), num_samples,
                                               to + r * num_samples);
    }
  });
  copy_elements(out, drawn);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, multinomial, Tag::nondeterministic_seeded)
      .structured<by_size_rule<multinomial_rule<int64_t>, multinomial_rule<SymInt>>,
                  multinomial_kernel>()
      .out(multinomial_out);
}

}  // namespace
}  // namespace sb
