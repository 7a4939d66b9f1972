#include "switchboard/io/recording/recorded_values.h"

#include <algorithm>
#include <cstring>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using Kind = RecordedValue::Kind;
using Values = absl::Span<const RecordedValue>;

// Past this, a file that names a huge storage is refused and not obeyed.
constexpr uint64_t kMaxStorage = uint64_t{1} << 40;

// How many writes without a call a file may tell of.
constexpr uint32_t kMaxWrites = 1 << 20;

// Calls f(value with its elements) for each of several values.
template <class F>
void for_each_value(Values values, F&& f) {
  while (!values.empty()) {
    const size_t n = extent(values);
    f(values.first(n));
    values.remove_prefix(n);
  }
}

Device device_of(const RecordedMeta& meta) {
  const size_t colon = meta.device.find(':');
  SB_CHECK(find_device_type(meta.device.substr(0, colon)), "a tensor on ", quote(meta.device),
           ", a device that is not here");
  return Device(meta.device);
}

}  // namespace

DispatchKeySet parse_key_set(std::string_view text) {
  DispatchKeySet keys;
  SB_CHECK_VALUE(text.size() >= 2 && text.front() == '{' && text.back() == '}',
                 "expected a set of keys, got ", quote(text));
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t end = std::min(text.find(", "), text.size());
    keys |= parse_dispatch_key(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return keys;
}

RecordedValues::RecordedValues(const RecordedRun& run, const std::vector<uint32_t>& made)
    : run_(run), made_(run.events.size()) {
  for (const uint32_t event : made) {
    made_[event] = true;
    for (const RecordedValue& value : run.arguments(run.events[event])) {
      if (value.kind == Kind::Tensor) {
        last_use_[run.tensor(value).id] = event;
        last_storage_use_[run.tensor(value).storage] = event;
      } else if (value.kind == Kind::Storage) {
        last_storage_use_[static_cast<uint64_t>(value.number)] = event;
      }
    }
  }
  for (const auto& [id, event] : last_use_) by_last_use_.emplace_back(event, id);
  for (const auto& [id, event] : last_storage_use_) storages_by_last_use_.emplace_back(event, id);
  std::sort(by_last_use_.begin(), by_last_use_.end());
  std::sort(storages_by_last_use_.begin(), storages_by_last_use_.end());
}

void RecordedValues::forget_after(uint32_t event) {
  const auto forget = [event](auto& by_last_use, size_t& next, auto& known) {
    for (; next < by_last_use.size() && by_last_use[next].first <= event; ++next)
      known.erase(by_last_use[next].second);
  };
  forget(by_last_use_, forgotten_, tensors_);
  forget(storages_by_last_use_, forgotten_storages_, storages_);
}

void RecordedValues::apply_contents(uint32_t event) {
  for (; next_contents_ < run_.contents.size() && run_.contents[next_contents_].event <= event;
       ++next_contents_) {
    const RecordedContents& contents = run_.contents[next_contents_];
    if (contents.after || contents.bytes.empty()) continue;
    Storage& storage = storages_[contents.storage];
    // What a kernel that ran had before it, the replay has computed.
    if (storage && !made_[contents.event]) continue;
    if (!storage || !storage->device().is_cpu() || storage->nbytes() < contents.bytes.size())
      storage =
          make_storage(contents.bytes.size(), get_allocator(DeviceType::CPU), DeviceType::CPU);
    std::memcpy(storage->data(), contents.bytes.data(), contents.bytes.size());
  }
}

Stack RecordedValues::arguments(uint32_t event) {
  Stack stack;
  for_each_value(run_.arguments(run_.events[event]), [&](Values v) {
    try {
      stack.push_back(value(v));
    } catch (const Error& error) {
      rethrow_with_context(error, "argument " +
                                      argument_text(run_.site(run_.events[event]).schema,
                                                    static_cast<uint32_t>(stack.size())) +
                                      ": ");
    }
  });
  return stack;
}

IValue RecordedValues::value(Values values) {
  const RecordedValue& v = values[0];
  const auto text = [&]() -> const std::string& { return run_.strings[v.index()]; };
  switch (v.kind) {
    case Kind::None:
      return {};
    case Kind::Tensor:
      return tensor(run_.tensor(v));
    case Kind::Int:
      return v.number;
    case Kind::Bool:
      return v.number != 0;
    case Kind::Double:
      return v.real();
    case Kind::Complex: {
      const auto& [real, imaginary] = run_.complexes[v.index()];
      return std::complex<double>(real, imaginary);
    }
    case Kind::String:
      return text();
    case Kind::DType: {
      const std::optional<DType> dtype = find_dtype(text());
      SB_CHECK(dtype, "no dtype ", quote(text()));
      return *dtype;
    }
    case Kind::Device:
      return Device(text());
    case Kind::Layout: {
      const std::optional<Layout> layout = find_layout(text());
      SB_CHECK(layout, "no layout ", quote(text()));
      return *layout;
    }
    case Kind::MemoryFormat: {
      const std::optional<MemoryFormat> format = find_memory_format(text());
      SB_CHECK(format, "no memory format ", quote(text()));
      return *format;
    }
    case Kind::Symbol:
      SB_THROW(RuntimeError, "a symbol, ", quote(text()), ", which the file does not hold");
    case Kind::Opaque:
      SB_THROW(RuntimeError, "an object, ", quote(text()), ", which the file does not hold");
    case Kind::Generator: {
      const RecordedGenerator& recorded = run_.generators[v.index()];
      SB_CHECK(recorded.device == "cpu", "a generator on ", recorded.device);
      const Generator generator =
          recorded.is_default ? default_cpu_generator() : make_cpu_generator(0);
      const std::lock_guard lock(generator->mutex);
      generator->set_state(recorded.state);
      return generator;
    }
    case Kind::Storage: {
      const uint64_t id = static_cast<uint64_t>(v.number);
      const auto found = storages_.find(id);
      if (found != storages_.end()) return found->second;
      // One without bytes has no contents.
      const RecordedStorage& storage = run_.storages.at(id);
      const DeviceType type = storage.device == "meta" ? DeviceType::Meta : DeviceType::CPU;
      SB_CHECK(run_.has_contents && (storage.nbytes == 0 || type == DeviceType::Meta),
               "a storage, which the file does not hold");
      return storages_[id] = make_storage(storage.nbytes, get_allocator(type), type);
    }
    default:
      break;
  }
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<bool> bools;
  std::vector<Tensor> tensors;
  std::vector<std::optional<Tensor>> optional_tensors;
  std::vector<IValue> any;
  for_each_value(values.subspan(1, extent(values) - 1), [&](Values element) {
    IValue e = value(element);
    switch (v.kind) {
      case Kind::IntList:
        return ints.push_back(e.to_int());
      case Kind::DoubleList:
        return doubles.push_back(e.to_double());
      case Kind::BoolList:
        return bools.push_back(e.to_bool());
      case Kind::TensorList:
        return tensors.push_back(e.to_tensor());
      case Kind::OptionalTensorList:
        optional_tensors.push_back(e.is_None() ? std::nullopt : std::optional(e.to_tensor()));
        return;
      default:
        return any.push_back(std::move(e));
    }
  });
  switch (v.kind) {
    case Kind::IntList:
      return ints;
    case Kind::DoubleList:
      return doubles;
    case Kind::BoolList:
      return bools;
    case Kind::TensorList:
      return tensors;
    case Kind::OptionalTensorList:
      return optional_tensors;
    default:
      return any;
  }
}

Tensor RecordedValues::tensor(const RecordedTensor& recorded) {
  if (!recorded.defined()) return {};
  if (!tensors_.contains(recorded.id)) {
    const Tensor made = make(recorded);
    tensors_[recorded.id] = {made, share_version(recorded, made)};
  }
  // What comes without a call: autograd's own marks, and writes.
  const auto& [tensor, version_ahead] = tensors_.at(recorded.id);
  const bool wanted = run_.meta(recorded).requires_grad;
  if (requires_grad(tensor) != wanted && is_leaf(tensor)) set_requires_grad(tensor, wanted);
  const uint32_t behind = recorded.version + version_ahead - tensor.version();
  for (uint32_t i = 0; i < behind && behind < kMaxWrites && !tensor.impl()->is_inference(); ++i)
    tensor.impl()->bump_version();
  return tensor;
}

uint32_t RecordedValues::share_version(const RecordedTensor& recorded, const Tensor& tensor) {
  for (const auto& [id, known] : tensors_)
    if (known.tensor.storage() == tensor.storage() && share_version(id, recorded.id)) {
      tensor.impl()->share_version_counter(*known.tensor.impl());
      return known.version_ahead;
    }
  return tensor.version() - recorded.version;
}

// Two tensors that count together never show a version that is lower than one before it.
bool RecordedValues::share_version(uint64_t a, uint64_t b) {
  if (versions_.empty())
    for (size_t i = 0; i < run_.tensors.size(); ++i)
      versions_[run_.tensors[i].id].emplace_back(i, run_.tensors[i].version);
  std::vector<std::pair<size_t, uint32_t>> both = versions_[a];
  both.insert(both.end(), versions_[b].begin(), versions_[b].end());
  std::sort(both.begin(), both.end());
  return std::is_sorted(both.begin(), both.end(),
                        [](const auto& x, const auto& y) { return x.second < y.second; });
}

Storage RecordedValues::storage(const RecordedTensor& recorded, Device device) {
  Storage& storage = storages_[recorded.storage];
  if (storage) {
    SB_CHECK(device.is_meta() || storage->device().is_cpu(), "a tensor on ", to_string(device),
             " whose storage is that of one on ", to_string(storage->device()));
    return storage;
  }
  const uint64_t nbytes = run_.storages.at(recorded.storage).nbytes;
  SB_CHECK(nbytes <= kMaxStorage, "a storage of ", nbytes, " bytes");
  SB_CHECK(device.is_meta() || nbytes == 0 || run_.has_contents,
           "a tensor whose elements the file does not hold; record them (Elements::Inputs)");
  storage = make_storage(nbytes, get_allocator(device.type), device.type);
  return storage;
}

Tensor RecordedValues::make(const RecordedTensor& recorded) {
  const RecordedMeta& meta = run_.meta(recorded);
  SB_CHECK(meta.symbols.empty(), "a tensor of sizes ", meta.symbols,
           ", which are no numbers in the file");
  DispatchKeySet keys = parse_key_set(meta.keys);
  Device device = device_of(meta);
  if (meta.fake) {
    const DispatchKeySet lazy_bits = DispatchKeySet(DispatchKey::Conjugate) | DispatchKey::Negative;
    keys = internal::kDeviceKeys.tensor[0][static_cast<size_t>(DeviceType::Meta)] |
           DispatchKeySet::from_bits(keys.bits() & lazy_bits.bits());
    device = DeviceType::Meta;
  } else {
    SB_CHECK(
        device.is_cpu() || device.is_meta(), "a tensor on ", meta.device,
        ": calls are made again on the CPU, on meta and on fake tensors; sb diff compares runs "
        "on other devices");
    // Another device's kernels would look for elements where there are none.
    SB_CHECK(device_type_of(runtime_key(DispatchKey::Dense, keys.highest_backend())) == device.type,
             "a tensor on ", meta.device, " with the keys ", meta.keys);
  }
  SB_CHECK(recorded.storage != 0, "a tensor without a storage, which only its mode can make");
  // A damaged file must not lead a kernel out of its memory.
  const int64_t bytes = checked_storage_bytes(meta.sizes, meta.strides, meta.offset,
                                              static_cast<int64_t>(itemsize(meta.dtype)));
  Tensor tensor(make_intrusive<TensorImpl>(storage(recorded, device), keys, meta.dtype, device));
  tensor.impl()->set_sizes_and_strides(meta.sizes, meta.strides);
  tensor.impl()->set_storage_offset(meta.offset);
  SB_CHECK(!device.is_cpu() || static_cast<uint64_t>(bytes) <= tensor.storage()->nbytes(),
           "a tensor that reaches out of its storage");
  if (meta.wrapped_number) tensor.impl()->set_wrapped_number(true);
  if (meta.fake) {
    const Storage made = tensor.storage();
    tensor = fake_mode().from_meta(tensor, device_of(meta));
    // One storage for all fake tensors of it, also after the first one is gone.
    if (fake_storages_.insert(recorded.storage).second)
      storages_[recorded.storage] = tensor.storage();
    else
      tensor.impl()->set_storage(made);
  }
  if (meta.requires_grad) set_requires_grad(tensor);
  return tensor;
}

FakeTensorMode& RecordedValues::fake_mode() {
  // Without a cache each call runs its kernel, which the recording may have.
  if (!fake_) fake_.emplace(FakeTensorOptions{.cache_use = FakeCacheUse::Off});
  return *fake_;
}

void RecordedValues::note(Values recorded, absl::Span<const IValue> values) {
  for_each_value(recorded, [&](Values v) {
    if (values.empty()) return;
    note_value(v, values.front());
    values.remove_prefix(1);
  });
}

bool RecordedValues::wants(Values recorded) const {
  return std::any_of(recorded.begin(), recorded.end(), [&](const RecordedValue& v) {
    if (v.kind != Kind::Tensor) return false;
    const RecordedTensor& tensor = run_.tensor(v);
    return (last_use_.contains(tensor.id) && !tensors_.contains(tensor.id)) ||
           (last_storage_use_.contains(tensor.storage) && !storages_.contains(tensor.storage));
  });
}

void RecordedValues::note_value(Values values, const IValue& value) {
  std::vector<Tensor> tensors;
  value.for_each_tensor([&](const Tensor& t) { tensors.push_back(t); });
  size_t i = 0;
  for (const RecordedValue& v : values)
    if (v.kind == Kind::Tensor && i < tensors.size()) note_tensor(run_.tensor(v), tensors[i++]);
}

void RecordedValues::note_tensor(const RecordedTensor& recorded, const Tensor& tensor) {
  if (!recorded.defined() || !tensor.defined()) return;
  if (last_use_.contains(recorded.id))
    tensors_[recorded.id] = {tensor, tensor.version() - recorded.version};
  if (!tensor.storage() || !last_storage_use_.contains(recorded.storage)) return;
  if (is_fake(tensor)) fake_storages_.insert(recorded.storage);
  storages_[recorded.storage] = tensor.storage();
}

}  // namespace sb::io
