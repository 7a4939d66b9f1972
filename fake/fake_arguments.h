// The kinds of arguments that a call has: one look at each decides which way it goes.

#ifndef SWITCHBOARD_FAKE_FAKE_ARGUMENTS_H_
#define SWITCHBOARD_FAKE_FAKE_ARGUMENTS_H_

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/fake/common_device.h"
#include "switchboard/fake/fake_tensor_data.h"

namespace sb::internal {

struct FakeArguments {
  bool tensors = false;   // there is one at least
  bool foreign = false;   // one is real, or of another mode
  bool extras = false;    // one has a constant, a memo or the like
  bool symbolic = false;  // one has symbolic sizes, or is a symbol
  CommonDevice device;    // of those of the mode
  const ModeData* plain;

  // Returns whether there is more to it than fake tensors and numbers.
  bool is_special() const { return foreign || extras || symbolic; }

  explicit FakeArguments(const ModeData* p) : plain(p) {}
  // `plain` is what all tensors of the mode have that have no extras.
  static FakeArguments of(const DispatchMode& mode, const ModeData* plain,
                          absl::Span<const IValue> arguments) {
    FakeArguments seen(plain);
    for (const IValue& value : arguments) {
      if (value.is_Tensor()) {
        seen.add(mode, value.unchecked_tensor());
      } else if (value.tag() < IValue::Tag::SymInt) {
        continue;  // a number, a dtype and the like
      } else if (value.is_symbolic() || value.is_SymIntList()) {
        seen.symbolic = true;
      } else {
        value.for_each_tensor([&](const Tensor& t) { seen.add(mode, t); });
      }
    }
    return seen;
  }

  // A tensor among the arguments.
  void add(const DispatchMode& mode, const Tensor& t) {
    const TensorImpl* const impl = t.impl();
    const ModeData* const data = impl->mode_data().get();
    if (data != plain || !data) [[unlikely]] {
      if (!data || &data->mode() != &mode) {
        if (t.defined()) tensors = foreign = true;
        return;
      }
      extras = extras || static_cast<const FakeTensorData*>(data)->extras();
    }
    tensors = true;
    if (impl->symbolic_shape()) symbolic = true;
    device.add(t);
  }
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_ARGUMENTS_H_
