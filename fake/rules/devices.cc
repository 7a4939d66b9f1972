// Operators whose tensors may be on several devices, and what device their results have.

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/ops/shape/index_list.h"

namespace sb::internal {
namespace {

// The result is where the first argument is, wherever the others are.
bool follow_first(FakeCall& call) {
  const Device device = call.tensor(0).device();
  call.run_meta_kernel(device);
  return true;
}

// The same; values of more than a number must be there, too. Indices may be anywhere.
bool index_put_rule(FakeCall& call) {
  const Device self = call.tensor("self").device();
  const Tensor& values = call.tensor("values");
  SB_CHECK(values.device() == self || values.dim() == 0, call.name(), ": values: expected ",
           "them on the device of self, ", to_string(self), ", got ", values.describe());
  call.run_meta_kernel(self);
  return true;
}

// A mask selects as many elements as it has true ones, which nonzero knows as much of as anybody.
bool index_rule(FakeCall& call) {
  IValue& argument = call.argument("indices");
  const OptionalTensorList indices = argument.to_optional_tensor_list();
  if (has_mask(indices)) {
    check_index_list("aten::index.Tensor", call.tensor("self"), indices);
    static const OperatorHandle nonzero = default_dispatcher().find_op_or_throw("aten::nonzero");
    argument = expand_masks(indices,
                            [](const Tensor& mask) { return nonzero.call({mask})[0].to_tensor(); });
  }
  return follow_first(call);
}

// Each result is where the tensor is that it tells of, and these may be anywhere.
bool embedding_bag_rule(FakeCall& call) {
  const Device bags = call.tensor("weight").device();
  const Device by_index = call.tensor("indices").device();
  const Device by_bag = call.tensor("offsets").device();
  call.run_meta_kernel(bags);
  const Device devices[] = {bags, by_index, by_bag, by_bag};
  for (size_t i = 0; i < std::size(devices); ++i) {
    const Tensor& result = call.stack()->end()[-4 + static_cast<ptrdiff_t>(i)].to_tensor();
    if (result.device() != devices[i]) become_fake(result, devices[i], call.mode().data());
  }
  return true;
}

void device_text(std::string* text, const Tensor& t) { *text += to_string(t.device()); }

// Each result of a list is on the device that the elements of its place agree on.
bool foreach_rule(FakeCall& call) {
  const std::vector<Argument>& arguments = call.op().schema().arguments;
  std::vector<std::vector<Tensor>> lists;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!call.argument(i).is_TensorList()) continue;
    const TensorList list = call.argument(i).to_tensor_list();
    if (!list.empty()) lists.emplace_back(list.begin(), list.end());
  }
  std::vector<Device> devices;
  for (size_t i = 0; !lists.empty() && i < lists[0].size(); ++i) {
    CommonDevice common;
    std::vector<Tensor> there;
    for (const std::vector<Tensor>& list : lists)
      if (i < list.size() && list[i].defined()) common.add(there.emplace_back(list[i]));
    SB_CHECK(!common.disagrees(), call.name(), ": expected the tensors at place ", i,
             " of all lists on one device, got ", absl::StrJoin(there, ", ", device_text));
    devices.push_back(common.device().value_or(Device(DeviceType::CPU)));
  }
  call.run_meta_kernel(devices.empty() ? Device(DeviceType::CPU) : devices[0]);
  if (!call.op().schema().returns.empty()) {
    size_t i = 0;
    call.stack()->back().for_each_tensor([&](const Tensor& t) {
      if (i < devices.size() && t.device() != devices[i])
        become_fake(t, devices[i], call.mode().data());
      ++i;
    });
  }
  return true;
}

bool refuse_nested(FakeCall& call) {
  SB_THROW(UnsupportedOperatorError, call.name(), ": nested tensors have no fake");
}
bool refuse_device(FakeCall& call) {
  SB_THROW(UnsupportedOperatorError, call.name(),
           ": not implemented for fake tensors: it says something of the memory of a device");
}

[[maybe_unused]] const bool devices_registered = [] {
  register_fake_rule({"aten::copy_", "aten::copy", "aten::copy.out", "aten::slice_scatter",
                      "aten::slice_scatter.out", "aten::resize_as_", "aten::_unsafe_index_put"},
                     follow_first)
      .release();
  register_fake_rule("aten::index.Tensor", index_rule).release();
  register_fake_rule({"aten::index_put", "aten::index_put_"}, index_put_rule).release();
  register_fake_rule({"aten::_embedding_bag", "aten::_embedding_bag_forward_only"},
                     embedding_bag_rule)
      .release();
  register_fake_rule(
      {"aten::_nested_tensor_from_tensor_list", "aten::_nested_tensor_from_tensor_list.out",
       "aten::_nested_view_from_buffer", "aten::_nested_view_from_buffer_copy"},
      refuse_nested)
      .release();
  register_fake_rule({"aten::pin_memory", "aten::_pin_memory", "aten::_pin_memory.out",
                      "aten::_resize_output", "aten::_resize_output.out", "aten::_resize_output_"},
                     refuse_device)
      .release();
  register_fake_rule(
      [](const OperatorHandle& op) { return op.name().name.starts_with("aten::_foreach_"); },
      foreach_rule)
      .release();
  return true;
}();

}  // namespace
}  // namespace sb::internal
