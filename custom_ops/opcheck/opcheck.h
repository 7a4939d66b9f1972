// Checks that an operator does what its schema, its shape rule and its derivative say.
//
//   opcheck("mylib::scale", {x, 2.5});            // throws at the first thing that is wrong
//   for (const OpCheckResult& r : opcheck_results("mylib::scale", {x, 2.5}))
//     std::cout << r.to_string() << "\n";                  // "test_schema: passed"
//   opcheck_variations("mylib::scale", {x, 2.5});          // tries arguments like these

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_OPCHECK_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_OPCHECK_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "switchboard/autograd/gradcheck.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/op_overload_packet.h"
#include "switchboard/dispatch/objects/registration.h"

namespace sb {

// Thrown by opcheck for an operator that is wrong. As `torch.testing._internal.optests`'
// `OpCheckError`.
SB_DEFINE_ERROR_KIND(OpCheckError);

// The checks, in the order in which they are made, by the names that results have. Those that
// PyTorch has, have its names:
//
//   test_schema         Arguments are written to, and share memory with results, as declared. A
//                       result is no argument itself unless that is written to.
//   test_deterministic  The same arguments give the same results, bit for bit. Not for operators
//                       tagged nondeterministic_seeded or nondeterministic_bitwise.
//   test_strides        Strides, offsets and gaps do not matter: results are those of contiguous
//                       copies.
//   test_autograd_registration
//                       Where an argument requires a gradient, a kernel at an autograd key, or
//                       composition of other operators, takes care of it, and records something: a
//                       result, or what is written to, has a new history, unless the operator is
//                       not_differentiable(). Kernels of backends record nothing.
//   test_faketensor     On fake tensors, on their own device and on one that need not exist here,
//                       with sizes that are numbers and with symbols: sizes, strides, dtype, device
//                       and sharing of memory are those of the real run.
//   test_aot_dispatch_static
//                       Functionalised, it computes and writes the same. So does a graph of that,
//                       on other data too, and, where an argument requires a gradient, a graph of
//                       it and its backward. Only where it is asked for, as the next has it, too.
//   test_aot_dispatch_dynamic
//                       The same; and traced with symbols for its sizes, forward and backward, it
//                       gives sizes, strides and dtypes of the real run.
//   test_gradients      gradcheck of it in float64.
const std::vector<std::string>& opcheck_names();

struct OpCheckOptions {
  // The names of the checks to run; where none is named, all but test_aot_dispatch_static; for
  // {"ALL"}, every one. ValueError for a name that is none.
  std::vector<std::string> checks = {};
  // The tolerances for results of two ways to run; by default what is usual for their dtype, as
  // `torch.testing.assert_close`.
  std::optional<double> rtol = std::nullopt;
  std::optional<double> atol = std::nullopt;
  // A device on which fake tensors are tried besides the arguments' own.
  std::optional<Device> other_device = Device(DeviceType::CUDA, 0);
  GradcheckOptions gradcheck = {};
  // Second derivatives too (gradgradcheck).
  bool second_derivatives = false;
};

struct OpCheckResult {
  enum class Outcome : uint8_t { Passed, Skipped, Failed };
  std::string check;
  Outcome outcome = Outcome::Passed;
  std::string message;  // why it was skipped, or what is wrong

  // "test_schema: passed", "test_gradients: skipped: no argument requires a gradient".
  std::string to_string() const;
};

// The operator to check: by anything that names one, or by a packet, of which it is the overload
// that a call with the arguments comes to. PyTorch takes packets of one overload only.
class OpToCheck {
 public:
  template <class T>
  requires std::convertible_to<const T&, OpIdentifier> OpToCheck(const T& op)  // NOLINT
      : op_(OpIdentifier(op)) {}
  OpToCheck(OpOverloadPacket packet) : op_(std::move(packet)) {}  // NOLINT

  // Throws RuntimeError if there is no such operator, TypeError where no overload takes these.
  OpOverload resolve(const Arguments& arguments, const KeywordArguments& keyword) const;

 private:
  std::variant<OpIdentifier, OpOverloadPacket> op_;
};

// Makes the checks with a call of the operator. As `torch.library.opcheck`. The operator runs on
// copies of the arguments, which keep their strides, sharing of memory and whether they require a
// gradient; the arguments themselves stay as they are. Throws OpCheckError, "opcheck: " and the
// message, at the first check that fails. What binding the arguments and the call itself throw
// passes through; ValueError for arguments without data (fake, meta). For one thread at a time.
void opcheck(const OpToCheck& op, const Arguments& arguments, const KeywordArguments& keyword = {},
             const OpCheckOptions& options = {});
// The results of all checks, as data. Throws the rest of the above.
std::vector<OpCheckResult> opcheck_results(const OpToCheck& op, const Arguments& arguments,
                                           const KeywordArguments& keyword = {},
                                           const OpCheckOptions& options = {});

struct VariationOptions {
  uint64_t seed = 1;
  size_t count = 200;  // of variations
  OpCheckOptions opcheck = {};
};

// A variation of the arguments with which a check fails, the smallest that was found.
struct FailedVariation {
  OpCheckResult result;
  Arguments arguments;
  KeywordArguments keyword;  // the keyword-only ones
  std::string call;          // as one line of text
  std::string test;          // a test case as C++ code, that fails until the operator is right
};

// Makes the checks with variations of the arguments: other sizes, zero among them, other strides,
// offsets and dtypes, expanded tensors, tensors that share memory, numbers and optional arguments
// left to their defaults. Calls that the operator refuses are no fault; but what it throws must be
// an sb::Error and leave the arguments alone, and what it refuses without elements in sight (no
// tensor has any) the fake run must refuse as well: "refusal" is the name of that check. Gives the
// first failure, made as small as possible; nullopt if there is none. A seed gives the same
// variations each time. Throws as opcheck_results, which is not asked first.
std::optional<FailedVariation> find_failing_variation(const OpToCheck& op,
                                                      const Arguments& arguments,
                                                      const KeywordArguments& keyword = {},
                                                      const VariationOptions& options = {});
// Throws OpCheckError with the message and the test.
void opcheck_variations(const OpToCheck& op, const Arguments& arguments,
                        const KeywordArguments& keyword = {}, const VariationOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_OPCHECK_H_
