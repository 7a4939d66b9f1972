// What is wanted of the size of a dimension, before a run.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_SIZE_SPEC_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_SIZE_SPEC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "switchboard/core/symbols/sym_int.h"

namespace sb {

// Says how a dimension of an input becomes a size. As
// `torch.fx.experimental.symbolic_shapes.DimDynamic`.
enum class DimDynamic : uint8_t {
  Static,    // a plain integer
  Duck,      // a symbol, the same for all Duck dimensions of the same hint
  Dynamic,   // a symbol of its own
  Unbacked,  // the same without the size at hand, as one that only data tells: it counts as at
             // least 2 where guard_size_oblivious() asks, and what is checked of it waits for run
             // time
};

// What the run must leave a dimension: see ShapeEnv::check_constraints. One that has a constraint
// is Dynamic where it would be Duck. As `RelaxedUnspecConstraint` and `StrictMinMaxConstraint`.
enum class DimConstraint : uint8_t {
  None,
  Relaxed,  // it stays a symbol, of which there may be guards
  Strict,   // every size in its range
};

// As an entry of `StatelessSymbolicContext`; what is left out is the ShapeEnv's choice.
struct SymbolicDim {
  std::optional<DimDynamic> kind = std::nullopt;
  std::optional<int64_t> min = std::nullopt;  // inclusive
  std::optional<int64_t> max = std::nullopt;
  // Dimensions of one id, Dynamic or Unbacked, are one symbol.
  std::string shape_id = {};
  // The size that choices go by which no result depends on (stand_in(), memory), in the place of
  // the one at hand.
  std::optional<int64_t> hint_override = std::nullopt;
  DimConstraint constraint = DimConstraint::None;
};

// A dimension of which only some sizes are looked at: see specializations.h.
struct SizeSpecialization {
  std::string source;  // "x.size(0)"
  int64_t hint = 0;    // one of them, which is taken to be at hand
  std::function<SymBool(const SymInt&)> holds;
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_SIZE_SPEC_H_
