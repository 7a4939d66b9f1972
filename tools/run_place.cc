#include "switchboard/tools/run_place.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb::tools {
namespace {

constexpr std::string_view kFake = "fake";

Tensor empty_strided_by_name(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype,
                             Device device) {
  return default_dispatcher()
      .find_op_or_throw("aten::empty_strided")
      .call({std::vector<SymInt>(sizes.begin(), sizes.end()),
             std::vector<SymInt>(strides.begin(), strides.end())},
            {{"dtype", dtype}, {"device", device}})
      .at(0)
      .to_tensor();
}

void copy_by_name(const Tensor& to, const Tensor& from) {
  default_dispatcher().find_op_or_throw("aten::copy_").call({to, from});
}

std::vector<int64_t> contiguous_strides(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

// Whether no two elements lie at one place, as far as zero strides tell.
bool is_writable(const io::TensorMeta& meta) {
  for (size_t i = 0; i < meta.sizes.size(); ++i)
    if (meta.sizes[i] > 1 && meta.strides[i] == 0) return false;
  return true;
}

}  // namespace

RunPlace RunPlace::parse(const std::string& text) {
  if (text == kFake) return {text, DeviceType::CPU, true};
  const std::string prefix = std::string(kFake) + ":";
  const bool fake = text.starts_with(prefix);
  const RunPlace place{text, Device(std::string_view(text).substr(fake ? prefix.size() : 0)), fake};
  SB_CHECK_VALUE(!place.device.is_meta(), "--device: meta tensors have no device; use fake");
  SB_CHECK_NOT_IMPLEMENTED(fake || find_allocator(place.device.type), "--device: this program has ",
                           "no device '", text, "'; fake:", text, " tells what it would need");
  const int devices = fake ? 0 : device_count(place.device.type);
  SB_CHECK_VALUE(fake || place.device.index < devices, "--device: no device '", text,
                 "'; there are ", devices, " of that type");
  return place;
}

std::vector<RunPlace> RunPlace::parse_list(const std::string& text) {
  if (text != "all") return {parse(text)};
  return {parse("cpu"), parse("dummy"), parse("fake"), parse("fake:cuda:0")};
}

Tensor to_cpu(const Tensor& tensor) {
  const Tensor copy = empty_strided_by_name(tensor.sizes(), contiguous_strides(tensor.sizes()),
                                            tensor.dtype(), DeviceType::CPU);
  copy_by_name(copy, tensor);
  return copy;
}

Mover::Mover(const RunPlace& place, IntrusivePtr<ShapeEnv> env)
    : device_(place.device), copies_(place.device) {
  if (!place.fake) return;
  mode_.emplace(FakeTensorOptions{.shape_env = std::move(env)});
  guard_.emplace(*mode_);
}

Tensor Mover::move(const Tensor& tensor) {
  if (is_fake()) return mode_->from_tensor(tensor, {.device = device_, .static_shapes = true});
  return copies_.copy(tensor);
}

Tensor Mover::move_as(const Tensor& tensor, const io::TensorMeta& meta) {
  const Tensor copy = empty_strided(
      meta.sizes, is_writable(meta) ? meta.strides : contiguous_strides(meta.sizes), meta.dtype);
  if (!is_fake()) copy_by_name(copy, tensor);
  return copy;
}

Tensor Mover::make(const io::ValueMeta& meta, const io::SymbolValues& values) {
  SB_ASSERT(is_fake());
  const auto evaluated = [&](const std::vector<io::Expression>& expressions) {
    std::vector<SymInt> numbers;
    for (const io::Expression& expression : expressions)
      numbers.push_back(expression.evaluate_int(values));
    return numbers;
  };
  return empty_strided_by_name(evaluated(meta.sizes), evaluated(meta.strides), meta.dtype, device_);
}

AllocationStats& Mover::memory() {
  return is_fake() ? mode_->memory() : get_allocator(device_.type)->stats();
}

Tensor Mover::empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype) const {
  return empty_strided_by_name(sizes, strides, dtype, device_);
}

}  // namespace sb::tools
