// A program with an expectation for each way of running it.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITION_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITION_H_

#include <string>
#include <vector>

#include "switchboard/tests/conformance/compare.h"
#include "switchboard/tests/conformance/program.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::conformance {

// One case: one program, run in one way. What it refers to must outlive it.
class Composition {
 public:
  Composition(const Json& json, std::string way, Place& place, const Dispatcher& dispatcher);

  const Json& json() const { return json_; }
  const std::string& way() const { return way_; }
  Place& place() const { return place_; }
  const Dispatcher& dispatcher() const { return dispatcher_; }
  Tolerance tolerance() const { return tolerance_; }

  // What is expected, of this way or of another; of another one yet where that is the same.
  const Json& expected() const { return expected(way_); }
  const Json& expected(const std::string& way) const;
  // Whether PyTorch itself does not do it, so that it may be refused.
  bool may_refuse() const { return may_refuse(way_); }
  bool may_refuse(const std::string& way) const;

  std::vector<Tensor> fresh_inputs() const { return build_tensors(json_.at("inputs"), place_); }
  // The program, as it is written. Valid as long as this.
  TensorFunction program();

  // What is being done, for what is said of an error: a step, unless `part` says something else.
  std::string doing() const { return part_.empty() ? runner_.step() : part_; }
  void begin(std::string part) { part_ = std::move(part); }

 private:
  const Json& json_;
  const std::string way_;
  Place& place_;
  const Dispatcher& dispatcher_;
  const Tolerance tolerance_;
  ProgramRunner runner_;
  std::string part_;
};

// What counts of the results of a program.
enum class Compared : uint8_t {
  Everything,  // dtype, shape, stride, offset of views, aliasing, elements; the inputs' storages
  Elements,    // dtype, shape, elements; the inputs' elements
  Metadata,    // dtype, shape, stride; of what has no data
};

// Checks a run of a program. Made before it, with its inputs.
class ProgramCheck {
 public:
  ProgramCheck(const Composition& composition, std::vector<Tensor> inputs, Compared compared);
  // `expected` has `returns` and `inputs`.
  Difference outcome(const Json& expected, const std::vector<Tensor>& outputs) const;

 private:
  Difference output(size_t i, const TensorSpec& spec, const std::vector<Tensor>& outputs) const;
  Difference relations(size_t i, const TensorSpec& spec, const std::vector<Tensor>& outputs) const;
  Difference inputs(const Json& changed) const;

  Place& place_;
  const Tolerance tolerance_;
  const std::vector<Tensor> inputs_;
  const Compared compared_;
  // Whether only the data tell the strides of dimensions without a second element, which are one
  // thing where a loop goes round and another where it does not.
  const bool some_strides_free_;
  std::vector<TensorState> before_;
};

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_COMPOSITION_H_
