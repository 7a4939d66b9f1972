#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/io/safetensors/replacement_file.h"
#include "switchboard/io/safetensors/safetensors.h"
#include "switchboard/io/safetensors/saved_layout.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/io/safetensors/strided_bytes.h"
#include "switchboard/ops/copying/copy.h"

namespace sb {
namespace {

using io::quote;
using Named = TensorMap::value_type;

void check_savable(const std::string& path, const std::string& name, const Tensor& tensor) {
  const auto check = [&](bool holds, std::string_view fault) {
    SB_CHECK_VALUE(holds, path, ": ", quote(name), ": ", fault);
  };
  check(tensor.defined(), "is undefined");
  // Before anything asks for a size, which would settle the symbols.
  check(!tensor.is_symbolic(), "has symbolic sizes, and no elements to save");
  check(!tensor.impl()->mode_data(), "is a fake tensor, or another mode's: it has no elements");
  check(!tensor.is_meta(), "is on meta, and has no elements to save");
  check(!is_quantized(tensor.dtype()), "is quantized, which the format has no dtype for");
  check(!tensor.impl()->is_conj() && !tensor.impl()->is_neg(),
        "is lazily conjugated or negated; resolve_conj and resolve_neg give what can be saved");
  check(tensor.nbytes() == 0 || (tensor.storage() && tensor.storage()->data()), "has no data");
}

// The tensors of one storage, as the file will hold it: from the first byte that one of them uses.
struct SharedStorage {
  int64_t number = 0;
  size_t tensors = 0;
  int64_t begin = 0;         // of the storage's bytes
  int64_t max_itemsize = 1;  // powers of two, hence the alignment of all
};
using SharedStorages = std::map<const StorageImpl*, SharedStorage>;

int64_t first_byte(const Tensor& tensor) {
  return tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize());
}

SharedStorages find_storages(const TensorMap& tensors) {
  SharedStorages storages;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() == 0) continue;  // has no place in its storage
    const auto [found, first] = storages.try_emplace(tensor.storage().get());
    SharedStorage& storage = found->second;
    if (first) storage.number = static_cast<int64_t>(storages.size()) - 1;
    storage.begin = first ? first_byte(tensor) : std::min(storage.begin, first_byte(tensor));
    storage.max_itemsize = std::max(storage.max_itemsize, static_cast<int64_t>(tensor.itemsize()));
    ++storage.tensors;
  }
  return storages;
}

io::SavedLayout layout_of(const Tensor& tensor, const SharedStorages& storages) {
  io::SavedLayout layout;
  if (tensor.device() != Device(DeviceType::CPU)) layout.device = to_string(tensor.device());
  layout.is_complex128 = tensor.dtype() == DType::Complex128;
  // Compared in full: a tensor of one element is contiguous whatever its strides are.
  if (tensor.strides() != IntArrayRef(io::contiguous_strides(tensor.sizes())))
    layout.strides.emplace(tensor.strides().begin(), tensor.strides().end());
  const auto found = tensor.numel() == 0 ? storages.end() : storages.find(tensor.storage().get());
  if (found != storages.end() && found->second.tensors > 1) {
    const SharedStorage& storage = found->second;
    layout.storage = storage.number;
    const int64_t begin = storage.begin / storage.max_itemsize * storage.max_itemsize;
    layout.storage_offset = (first_byte(tensor) - begin) / static_cast<int64_t>(tensor.itemsize());
  }
  DeviceHooks* const hooks = find_device_hooks(tensor.device().type);
  if (hooks && tensor.impl()->backend_meta())
    hooks->save_backend_meta(tensor, &layout.backend_meta);
  return layout;
}

std::string layouts_text(const std::string& path, const TensorMap& tensors) {
  const SharedStorages storages = find_storages(tensors);
  io::SavedLayouts layouts;
  for (const auto& [name, tensor] : tensors) {
    io::SavedLayout layout = layout_of(tensor, storages);
    if (layout != io::SavedLayout()) layouts.emplace(name, std::move(layout));
  }
  if (layouts.empty()) return {};
  std::string text;
  try {
    text = io::layouts_to_json(layouts);
  } catch (const nlohmann::json::exception&) {
    SB_THROW(ValueError, path, ": a tensor's name, or backend metadata, are not UTF-8");
  }
  io::parse_layouts(text, str_cat(path, ": ", io::kLayoutsKey));  // what cannot be read, no more
  return text;
}

io::SafetensorsEntry entry_of(const Named& named, int64_t begin) {
  const auto& [name, tensor] = named;
  io::SafetensorsEntry entry{name,
                             tensor.dtype(),
                             {tensor.sizes().begin(), tensor.sizes().end()},
                             begin,
                             begin + static_cast<int64_t>(tensor.nbytes())};
  if (tensor.dtype() == DType::Complex128) {
    entry.dtype = DType::Float64;
    entry.shape.push_back(2);
  }
  return entry;
}

}  // namespace

void save_tensors(const std::string& path, const TensorMap& tensors, const FileMetadata& metadata) {
  // Neither a mode nor a gradient sees the copies that saving makes.
  const NoModesGuard no_modes;
  const BelowAutogradGuard below_autograd;

  // The widest elements first, as the reference implementation does: then all data is aligned.
  std::vector<const Named*> order;
  for (const Named& named : tensors) {
    check_savable(path, named.first, named.second);
    order.push_back(&named);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const Named* named) { return named->second.itemsize(); });

  io::SafetensorsHeader header;
  header.metadata = metadata;
  SB_CHECK_VALUE(!metadata.contains(io::kLayoutsKey), path, ": metadata under the key ",
                 quote(io::kLayoutsKey), " are not the caller's");
  if (std::string text = layouts_text(path, tensors); !text.empty())
    header.metadata.emplace(io::kLayoutsKey, std::move(text));
  int64_t end = 0;
  for (const Named* named : order) {
    SB_CHECK_VALUE(
        static_cast<int64_t>(named->second.nbytes()) <= std::numeric_limits<int64_t>::max() - end,
        path, ": ", quote(named->first), ": all tensors together have more than 2^63 bytes");
    header.entries.push_back(entry_of(*named, end));
    end = header.entries.back().end;
  }
  const std::string start = io::safetensors_header_bytes(path, header);

  io::ReplacementFile file(path);
  file.write(start.data(), start.size());
  for (const Named* named : order) {
    const Tensor& tensor = named->second;
    if (tensor.nbytes() == 0) continue;
    const Tensor here =
        tensor.is_cpu() ? tensor : to_device(tensor, DeviceType::CPU, tensor.dtype());
    const Tensor rows = contiguous(here);
    file.write(rows.data_ptr(), rows.nbytes());
  }
  file.commit();
}

}  // namespace sb
