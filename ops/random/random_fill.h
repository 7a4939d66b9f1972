// Filling tensors with random numbers: what every operator that draws shares.

#ifndef SWITCHBOARD_OPS_RANDOM_RANDOM_FILL_H_
#define SWITCHBOARD_OPS_RANDOM_RANDOM_FILL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/philox.h"
#include "switchboard/core/tensor.h"

namespace sb {

// [0, 1), of 53 bits.
inline double to_unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
// (0, 1], whose logarithm is finite.
inline double to_positive_unit(uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

// Takes `n` counters of the generator, or of the CPU's default one. RuntimeError for a generator of
// another device, naming the operator.
PhiloxState take_counters(std::string_view op, const std::optional<Generator>& generator,
                          uint64_t n);

// Numbers from blocks: out[i] from blocks[i].
using DrawReals = absl::FunctionRef<void(absl::Span<const PhiloxBlock> blocks, double* out)>;
// At most internal::kDraws numbers, of counters first, first + 1, ...
template <class Number>
using DrawCounted = absl::FunctionRef<void(uint64_t seed, uint64_t first, Number* out, int64_t n)>;

// Gives each element of `self` the number that its counter gives, converted to self's dtype; of a
// complex one, the two parts. Elements count in the order of their indices, so that numbers do not
// depend on strides, nor on the number of threads. Nothing on meta. Throws RuntimeError, changing
// nothing, for elements that share memory. Number: bool, int64_t, float or double.
void random_fill(std::string_view op, const Tensor& self, const std::optional<Generator>& generator,
                 DrawReals draw);
template <class Number>
void random_fill_counted(std::string_view op, const Tensor& self,
                         const std::optional<Generator>& generator, DrawCounted<Number> draw);
// The same for draws that give four numbers of each counter. The call takes a counter for each
// element all the same, so that what is drawn after it does not depend on the dtype.
void random_fill_by_fours(std::string_view op, const Tensor& self,
                          const std::optional<Generator>& generator, DrawCounted<float> draw);

// The checks of an operator that writes to self, which must be defined, of one address an element,
// and of a dtype for which `supported` holds.
void check_filled(std::string_view op, const Tensor& self, bool (*supported)(DType));
inline bool is_real_floating(DType t) { return is_floating_point(t); }
inline bool is_any_floating(DType t) { return is_floating_point(t) || is_complex(t); }
inline bool is_any_real(DType t) { return !is_complex(t); }

// A source of 64-bit numbers for the standard library's distributions: the substream of one
// element.
class ElementBits {
 public:
  using result_type = uint64_t;
  ElementBits(PhiloxState state, uint64_t element)
      : seed_(state.seed), counter_(state.offset + element) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~uint64_t{0}; }
  result_type operator()() {
    if (high_) {
      high_ = false;
      return block_.high;
    }
    philox(seed_, counter_, ++draw_, absl::MakeSpan(&block_, 1));
    high_ = true;
    return block_.low;
  }

 private:
  uint64_t seed_;
  uint64_t counter_;
  uint64_t draw_ = 0;
  bool high_ = false;
  PhiloxBlock block_{};
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_RANDOM_FILL_H_
