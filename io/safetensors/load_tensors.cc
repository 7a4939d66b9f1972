#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/io/safetensors/bool_bytes.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/io/safetensors/safetensors.h"
#include "switchboard/io/safetensors/saved_layout.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/io/safetensors/strided_bytes.h"
#include "switchboard/ops/copying/copy.h"

namespace sb {
namespace {

using io::quote;

struct PlannedTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset = 0;
  // Its data in the file.
  size_t data_start = 0;
  size_t data_bytes = 0;
  bool strided = false;  // not just row by row from the start of its storage
  DeviceHooks::MetaEntries backend_meta;

  io::StridedElements elements() const { return {sizes, strides, storage_offset, itemsize(dtype)}; }
};

struct PlannedStorage {
  Device device;
  int64_t bytes = 0;
  std::vector<PlannedTensor> tensors;
};

// Decides what a file gives, before anything is allocated.
class Planner {
 public:
  Planner(const std::string& path, const LoadOptions& options) : path_(path), options_(options) {
    if (!options.map_location) return;
    try {
      target_ = usable_device(*options.map_location);
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(path, ": map_location: "));
    }
  }

  std::vector<PlannedStorage> plan(const io::SafetensorsHeader& header) {
    io::SavedLayouts layouts;
    if (const auto found = header.metadata.find(io::kLayoutsKey); found != header.metadata.end())
      layouts =
          io::parse_layouts(found->second, path_ + ": header: __metadata__/" + io::kLayoutsKey);
    for (const io::SafetensorsEntry& entry : header.entries) {
      const auto found = layouts.extract(entry.name);
      add(entry, header.data_start, found ? std::move(found.mapped()) : io::SavedLayout());
    }
    SB_CHECK_VALUE(layouts.empty(), path_, ": header: __metadata__/", io::kLayoutsKey,
                   ": describes ", quote(layouts.begin()->first), ", which is not in the file");
    // Meta tensors take no memory.
    if (!target_ || !target_->is_meta()) check_gaps();
    return std::move(storages_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const std::string& name, const Parts&... parts) const {
    SB_THROW(ValueError, path_, ": ", quote(name), ": ", parts...);
  }

  void add(const io::SafetensorsEntry& entry, size_t data_start, io::SavedLayout layout) {
    PlannedTensor tensor{.name = entry.name,
                         .dtype = entry.dtype,
                         .sizes = entry.shape,
                         .strides = {},
                         .storage_offset = layout.storage_offset,
                         .data_start = data_start + static_cast<size_t>(entry.begin),
                         .data_bytes = static_cast<size_t>(entry.end - entry.begin),
                         .backend_meta = {}};
    if (layout.is_complex128) {
      if (entry.dtype != DType::Float64 || entry.shape.empty() || entry.shape.back() != 2)
        fail(entry.name, "complex128 is saved as float64 with a last dimension of 2; the file has ",
             to_string(entry.dtype));
      tensor.dtype = DType::Complex128;
      tensor.sizes.pop_back();
    }
    tensor.strides = io::contiguous_strides(tensor.sizes);
    if (layout.strides) {
      tensor.strided = *layout.strides != tensor.strides;
      tensor.strides = std::move(*layout.strides);
    }
    tensor.strided |= tensor.storage_offset != 0;

    const bool empty = std::ranges::find(tensor.sizes, 0) != tensor.sizes.end();
    if (empty && (tensor.storage_offset != 0 || layout.storage))
      fail(entry.name, "has no elements, and so no place in a storage");
    int64_t bytes = 0;
    try {
      internal::checked_numel(tensor.sizes, tensor.dtype);  // what the view asks
      bytes = checked_storage_bytes(tensor.sizes, tensor.strides, tensor.storage_offset,
                                    static_cast<int64_t>(itemsize(tensor.dtype)));
    } catch (const Error& error) {
      fail(entry.name, error.what());
    }

    const Device device = find_device(entry.name, layout.device);
    // Another backend's words mean nothing here.
    if (type_name(layout.device) == to_string(device.type))
      tensor.backend_meta = std::move(layout.backend_meta);
    PlannedStorage& storage = storage_of(entry.name, layout.storage, device);
    storage.bytes = std::max(storage.bytes, bytes);
    storage.tensors.push_back(std::move(tensor));
  }

  static std::string_view type_name(std::string_view device) {
    return device.substr(0, device.find(':'));
  }

  // The device, with an index where its type has any. Throws if there is none.
  static Device usable_device(Device device) {
    const Device resolved = resolve_device(device);
    get_allocator(resolved.type);
    return resolved.is_cpu() ? Device(DeviceType::CPU) : resolved;
  }

  Device find_device(const std::string& name, const std::string& saved) {
    if (target_) return *target_;
    const auto [found, first] = devices_.try_emplace(saved);
    if (!first) return found->second;
    // What is thrown may show the name as it is, which a hostile file chose.
    try {
      found->second = usable_device(Device(saved));
    } catch (const Error&) {
      fail(name, "was saved on ", quote(saved),
           ", a device that is not here; map_location says where it goes instead");
    }
    if (found->second.is_meta()) fail(name, "was saved on meta, where it has no elements");
    return found->second;
  }

  PlannedStorage& storage_of(const std::string& name, std::optional<int64_t> number,
                             Device device) {
    if (!number) return storages_.emplace_back(PlannedStorage{device, 0, {}});
    const auto [found, first] = shared_.try_emplace(*number, storages_.size());
    if (first) return storages_.emplace_back(PlannedStorage{device, 0, {}});
    PlannedStorage& storage = storages_[found->second];
    if (storage.device != device)
      fail(name, "shares a storage with ", quote(storage.tensors[0].name),
           ", but was saved on another device");
    return storage;
  }

  void check_gaps() const {
    size_t left = options_.max_gap_bytes;
    for (const PlannedStorage& storage : storages_) {
      size_t data = 0;
      for (const PlannedTensor& tensor : storage.tensors) data += tensor.data_bytes;
      const size_t bytes = static_cast<size_t>(storage.bytes);
      const size_t gap = bytes > data ? bytes - data : 0;
      if (gap > left)
        fail(storage.tensors[0].name, "its storage takes ", bytes,
             " bytes, for which the file has ", data, "; gaps of ", options_.max_gap_bytes,
             " bytes in all are loaded (LoadOptions::max_gap_bytes)");
      left -= gap;
    }
  }

  const std::string& path_;
  const LoadOptions& options_;
  std::optional<Device> target_;
  std::map<std::string, Device> devices_;  // by the name that a tensor was saved with
  std::map<int64_t, size_t> shared_;       // the places in storages_ by the file's numbers
  std::vector<PlannedStorage> storages_;
};

class Loader {
 public:
  explicit Loader(const io::InputFile& file) : file_(file) {}

  void load(PlannedStorage&& storage, TensorMap* tensors) const {
    const std::string& first = storage.tensors[0].name;
    Tensor bytes = with_context(first, [&] {
      const Device at = storage.device.is_meta() ? storage.device : Device(DeviceType::CPU);
      return empty_on(at, {storage.bytes}, DType::UInt8);
    });
    if (!storage.device.is_meta()) fill(storage, bytes);
    if (!storage.device.is_meta() && !storage.device.is_cpu())
      bytes = with_context(first, [&] { return to_device(bytes, storage.device, DType::UInt8); });
    for (PlannedTensor& tensor : storage.tensors) {
      const Tensor view = view_of(bytes, tensor);
      DeviceHooks* const hooks = find_device_hooks(bytes.device().type);
      if (hooks && !tensor.backend_meta.empty()) load_backend_meta(hooks, tensor, view);
      tensors->emplace(std::move(tensor.name), view);
    }
  }

 private:
  // Calls f, whose errors know neither the file nor the tensor.
  template <class F>
  std::invoke_result_t<F> with_context(const std::string& name, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(file_.path(), ": ", quote(name), ": "));
    }
  }

  void load_backend_meta(DeviceHooks* hooks, const PlannedTensor& tensor,
                         const Tensor& view) const {
    try {
      hooks->load_backend_meta(view, tensor.backend_meta);
    } catch (const Error& error) {
      // Its message may show entries as they are, which a hostile file chose.
      SB_THROW(ValueError, file_.path(), ": ", quote(tensor.name), ": ",
               io::escape_message(error.what()));
    }
  }

  static Tensor view_of(const Tensor& bytes, const PlannedTensor& tensor) {
    auto impl = make_intrusive<TensorImpl>(bytes.storage(), fresh_key_set(bytes.device().type),
                                           tensor.dtype, bytes.device());
    impl->set_sizes_and_strides(tensor.sizes, tensor.strides);
    impl->set_storage_offset(tensor.storage_offset);
    return Tensor(std::move(impl));
  }

  void read(const PlannedTensor& tensor, char* rows) const {
    if (tensor.data_bytes == 0) return;
    file_.read_at(tensor.data_start, absl::MakeSpan(rows, tensor.data_bytes));
    if (tensor.dtype != DType::Bool) return;
    SB_CHECK_VALUE(io::are_bools({reinterpret_cast<const uint8_t*>(rows), tensor.data_bytes}),
                   file_.path(), ": ", quote(tensor.name), ": has bool bytes other than 0 and 1");
  }

  void fill(const PlannedStorage& storage, const Tensor& bytes) const {
    if (storage.bytes == 0) return;
    char* const memory = static_cast<char*>(bytes.data_ptr());
    const std::vector<PlannedTensor>& tensors = storage.tensors;
    if (tensors.size() == 1 && !tensors[0].strided) return read(tensors[0], memory);

    std::memset(memory, 0, static_cast<size_t>(storage.bytes));
    std::vector<std::unique_ptr<char[]>> rows;
    for (const PlannedTensor& tensor : tensors) {
      rows.push_back(std::make_unique_for_overwrite<char[]>(tensor.data_bytes));
      read(tensor, rows.back().get());
      io::scatter(tensor.elements(), rows.back().get(), memory);
    }
    // The file has an element once for each tensor and index that name it, and may have been
    // changed in one place only.
    for (size_t i = 0; i < tensors.size(); ++i)
      SB_CHECK_VALUE(io::are_scattered(tensors[i].elements(), rows[i].get(), memory), file_.path(),
                     ": ", quote(tensors[i].name),
                     ": shares elements, with itself or with another tensor, that have different "
                     "values in the file");
  }

  const io::InputFile& file_;
};

}  // namespace

TensorMap load_tensors(const std::string& path, const LoadOptions& options) {
  // Neither a mode nor a gradient sees the copies that loading makes.
  const NoModesGuard no_modes;
  const BelowAutogradGuard below_autograd;
  const io::InputFile file(path);
  const Loader loader(file);
  TensorMap tensors;
  for (PlannedStorage& storage : Planner(path, options).plan(io::read_safetensors_header(file)))
    loader.load(std::move(storage), &tensors);
  return tensors;
}

FileMetadata load_metadata(const std::string& path) {
  FileMetadata metadata = io::read_safetensors_header(io::InputFile(path)).metadata;
  metadata.erase(io::kLayoutsKey);
  return metadata;
}

}  // namespace sb
