// Fake rules that are made of what was seen of an operator's calls. As
// `torch._library.fake_profile`.

#ifndef SWITCHBOARD_FAKE_FAKE_PROFILE_H_
#define SWITCHBOARD_FAKE_FAKE_PROFILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// A call of which no profile tells anything.
SB_DEFINE_ERROR_KIND(MissingOpProfileError);

// What a profile keeps of a tensor.
struct TensorProfile {
  int64_t rank = 0;
  DType dtype = DType::Float32;
  Device device = Device("cpu");

  static TensorProfile of(const Tensor& tensor);
  bool operator==(const TensorProfile&) const = default;
};

// What a call was given and gave: for each argument, and each result, the tensors in it: none for a
// number, one for a tensor, several for a list.
struct OpProfile {
  using Tensors = std::vector<TensorProfile>;
  std::vector<Tensors> arguments;
  std::vector<Tensors> results;

  // Of a call with these values, and what it gave.
  static OpProfile of(const std::vector<IValue>& arguments, const std::vector<IValue>& results);
  bool operator==(const OpProfile&) const = default;
};

// Gives each operator a fake rule, over one that is there, as long as the handle lives: it finds
// the first profile whose arguments are those of the call, and gives contiguous results as there,
// of fresh unbacked sizes (FakeContext::new_dynamic_size). It is a guess: the same ranks might give
// others. A call throws MissingOpProfileError where no profile fits. Throws RuntimeError for an
// operator that does not exist or returns anything but tensors and lists of them, ValueError for a
// profile with other numbers of arguments or results. As `unsafe_generate_fake_kernels`.
RegistrationHandle unsafe_generate_fake_kernels(
    const std::map<std::string, std::vector<OpProfile>>& profiles,
    SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_PROFILE_H_
