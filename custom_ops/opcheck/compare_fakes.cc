#include "switchboard/custom_ops/opcheck/compare_fakes.h"

#include <algorithm>
#include <cstdint>

#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/custom_ops/opcheck/compare.h"

namespace sb::internal {
namespace {

// A list of numbers that may be symbols, by what these stand for; nullopt for what is not known.
std::vector<std::optional<int64_t>> known(SymIntArrayRef list) {
  std::vector<std::optional<int64_t>> numbers;
  for (const SymInt& n : list) numbers.push_back(hint(n));
  return numbers;
}
std::string text_of(const std::vector<std::optional<int64_t>>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += str_cat(i ? ", " : "", list[i] ? str_cat(*list[i]) : "?");
  return text + "]";
}

// Whether what is known of the fake list is the real one; only where `counts` says so.
template <class F>
bool agree(IntArrayRef real, const std::vector<std::optional<int64_t>>& fake, const F& counts) {
  if (real.size() != fake.size()) return false;
  for (size_t i = 0; i < real.size(); ++i)
    if (counts(i) && fake[i] && *fake[i] != real[i]) return false;
  return true;
}

// What of a fake tensor is not as it should be; "" if nothing.
std::string differing_fake(const Tensor& real, const Tensor& fake, Device device) {
  if (real.dtype() != fake.dtype())
    return str_cat("dtype ", to_string(fake.dtype()), ", not ", to_string(real.dtype()));
  const auto sizes = known(fake.sym_sizes()), strides = known(fake.sym_strides());
  if (!agree(real.sizes(), sizes, [](size_t) { return true; }))
    return str_cat("sizes ", text_of(sizes), ", not ", list_text(real.sizes()));
  // Nobody can tell the stride of a dimension of one element.
  const bool any_unknown = std::find(sizes.begin(), sizes.end(), std::nullopt) != sizes.end();
  if (real.numel() > 0 && !any_unknown) {
    if (!agree(real.strides(), strides, [&](size_t d) { return real.sizes()[d] != 1; }))
      return str_cat("strides ", text_of(strides), ", not ", list_text(real.strides()));
    const std::optional<int64_t> offset = hint(fake.sym_storage_offset());
    if (offset && *offset != real.storage_offset())
      return str_cat("storage offset ", *offset, ", not ", real.storage_offset());
  }
  if (fake.device() != device)
    return str_cat("device ", to_string(fake.device()), ", not ", to_string(device));
  if (fake.impl()->is_conj() != real.impl()->is_conj() ||
      fake.impl()->is_neg() != real.impl()->is_neg())
    return "other lazy bits";
  return "";
}

}  // namespace

std::string differing_fakes(const std::vector<NamedTensor>& real,
                            const std::vector<NamedTensor>& fake, std::optional<Device> device) {
  if (real.size() != fake.size())
    return str_cat(fake.size(), " tensors are returned, not ", real.size());
  for (size_t i = 0; i < real.size(); ++i) {
    const std::string text =
        differing_fake(real[i].tensor, fake[i].tensor, device.value_or(real[i].tensor.device()));
    if (!text.empty()) return str_cat(real[i].name, " has ", text);
  }
  return "";
}

}  // namespace sb::internal
