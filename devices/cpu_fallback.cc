#include "switchboard/devices/cpu_fallback.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/devices/fallback_policy.h"
#include "switchboard/devices/fallback_stats.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

// Draws from a device's generator for kernels that want one of the CPU.
class HostGenerator final : public GeneratorImpl {
 public:
  explicit HostGenerator(Generator device)
      : GeneratorImpl(DeviceType::CPU), device_(std::move(device)) {}
  void set_seed(uint64_t seed) override {
    std::lock_guard<std::mutex> lock(device_->mutex);
    device_->set_seed(seed);
  }
  uint64_t seed() const override {
    std::lock_guard<std::mutex> lock(device_->mutex);
    return device_->seed();
  }
  PhiloxState take(uint64_t blocks) override {
    std::lock_guard<std::mutex> lock(device_->mutex);
    return device_->take(blocks);
  }
  std::vector<uint8_t> state() const override {
    std::lock_guard<std::mutex> lock(device_->mutex);
    return device_->state();
  }
  void set_state(absl::Span<const uint8_t> state) override {
    std::lock_guard<std::mutex> lock(device_->mutex);
    device_->set_state(state);
  }

 private:
  Generator device_;
};

// The lazy bits are keys that say how elements are read, wherever they are.
DispatchKeySet keys_on(DeviceType type, const Tensor& like) {
  DispatchKeySet keys = tensor_key_set(type, like.impl()->is_inference());
  for (DispatchKey bit : {DispatchKey::Conjugate, DispatchKey::Negative})
    if (like.key_set().has(bit)) keys |= bit;
  return keys;
}

Tensor tensor_like(const Tensor& like, Storage storage, Device device) {
  auto impl = make_intrusive<TensorImpl>(std::move(storage), keys_on(device.type, like),
                                         like.dtype(), device);
  impl->set_sizes_and_strides(like.sizes(), like.strides());
  impl->set_storage_offset(like.storage_offset());
  impl->set_wrapped_number(like.impl()->is_wrapped_number());
  return Tensor(std::move(impl));
}

// Counts a call when it ends, however it does.
class CountedCall {
 public:
  CountedCall(std::string op, DeviceType type) : op_(std::move(op)), type_(type) {
    stats.calls = 1;
  }
  ~CountedCall() {
    stats.time = std::chrono::steady_clock::now() - start_;
    try {
      internal::add_fallback_stats(type_, op_, stats);
    } catch (const std::bad_alloc&) {
      // Better a call that is not counted than no process.
    }
  }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

  FallbackStats stats;

 private:
  const std::string op_;
  const DeviceType type_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One call.
class Fallback {
 public:
  Fallback(const OperatorHandle& op, DeviceType type, HostTransfer& transfer)
      : op_(op), schema_(op.schema()), type_(type), transfer_(transfer) {}

  void run(Stack* stack) {
    const size_t first = stack->size() - schema_.arguments.size();
    find_device(absl::MakeConstSpan(*stack).subspan(first));
    const std::string name = schema_.name.to_string();
    SB_CHECK_NOT_IMPLEMENTED(
        is_cpu_fallback_allowed_for(name), name, " on ", place(),
        ": there is no kernel for these arguments, and the CPU fallback is ",
        is_cpu_fallback_allowed() ? "forbidden for this operator" : "forbidden");
    check_randomness(name);
    CountedCall counted(name, type_);
    stats_ = &counted.stats;
    Stack values;
    values.reserve(schema_.arguments.size());
    for (size_t i = 0; i < schema_.arguments.size(); ++i) {
      argument_ = i;
      values.push_back(to_host((*stack)[first + i]));
    }
    call(&values);
    // What may fail comes before what changes the arguments.
    for (const Moved& moved : written_) prepare(moved);
    for (IValue& value : values) value = to_device(value);
    // An error of queued work must not come between the writes.
    if (device_ && !written_.empty()) synchronize(*device_);
    for (const Moved& moved : written_) write_back(moved);
    stack->resize(first);
    std::move(values.begin(), values.end(), std::back_inserter(*stack));
  }

 private:
  struct Moved {
    Tensor device;
    Tensor host;
  };

  // Where the call belongs, for messages.
  std::string place() const {
    return device_ ? to_string(*device_) : std::string(to_string(type_));
  }

  // A kernel of the CPU that is given no generator draws from the CPU's default one.
  void check_randomness(const std::string& name) const {
    if (!op_.entry().has_tag(Tag::nondeterministic_seeded)) return;
    const bool takes_generator = std::ranges::any_of(schema_.arguments, is_generator);
    SB_CHECK_NOT_IMPLEMENTED(takes_generator, name, " on ", place(),
                             ": takes no generator, and would draw from that of the CPU");
  }
  static bool is_generator(const Argument& argument) {
    return argument.type.base == BaseType::Generator;
  }
  // For an argument that is None: the default generator of where the results go. A random operator
  // does not do without.
  IValue default_generator_or_none() const {
    const Argument& argument = schema_.arguments[argument_];
    if (!is_generator(argument)) return IValue();
    const Device device = asked_.value_or(device_.value_or(type_));
    try {
      return Generator(make_intrusive<HostGenerator>(default_generator(device)));
    } catch (const NotImplementedError& error) {
      if (!op_.entry().has_tag(Tag::nondeterministic_seeded)) return IValue();
      rethrow_with_context(error, str_cat(schema_.name.to_string(), ": argument ", argument_, " '",
                                          argument.name, "': expected a generator, got None; "));
    }
  }

  void call(Stack* values) {
    try {
      bool has_tensor = false;
      for (const IValue& value : *values)
        value.for_each_tensor([&](const Tensor&) { has_tensor = true; });
      // Without a tensor nothing would lead the call to the CPU.
      if (has_tensor)
        op_.call_boxed(values);
      else
        op_.redispatch_boxed(DispatchKeySet(DispatchKey::CPU), values);
    } catch (const NotImplementedError& error) {
      rethrow_with_context(error, str_cat(schema_.name.to_string(), " on ", place(),
                                          ", which leaves it to the CPU: "));
    }
  }

  // Sets device_ to where the arguments are, and asked_.
  void find_device(absl::Span<const IValue> arguments) {
    for (const IValue& value : arguments) {
      value.for_each_tensor([&](const Tensor& t) {
        if (t.defined() && t.device().type == type_ && !device_) device_ = t.device();
      });
      if (value.is_Storage() && value.to_storage()->device().type == type_ && !device_)
        device_ = value.to_storage()->device();
      if (value.is_Device() && value.to_device().type == type_) asked_ = value.to_device();
    }
    target_ = device_;
  }

  [[noreturn]] void throw_wrong_device(const std::string& got) const {
    const Argument& argument = schema_.arguments[argument_];
    SB_THROW(RuntimeError, schema_.name.to_string(), ": argument ", argument_, " '", argument.name,
             "': expected all tensors on ", place(), ", got ", got);
  }

  IValue to_host(const IValue& value) {
    switch (value.tag()) {
      case IValue::Tag::Tensor:
        return to_host(value.to_tensor());
      case IValue::Tag::TensorList: {
        std::vector<Tensor> list;
        for (const Tensor& t : value.to_tensor_list()) list.push_back(to_host(t));
        return list;
      }
      case IValue::Tag::OptionalTensorList: {
        std::vector<std::optional<Tensor>> list;
        for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
          list.push_back(t ? std::optional<Tensor>(to_host(*t)) : std::nullopt);
        return list;
      }
      case IValue::Tag::List: {
        std::vector<IValue> list;
        for (const IValue& v : value.to_list()) list.push_back(to_host(v));
        return list;
      }
      case IValue::Tag::Storage: {
        const Storage storage = value.to_storage();
        if (storage->device().type != type_) return value;
        if (storage->device() != *device_)
          throw_wrong_device(str_cat("a storage on ", to_string(storage->device())));
        return to_host(storage);
      }
      case IValue::Tag::Device:
        // A device for the results. Another one than ours is the operator's business.
        target_ = std::nullopt;
        if (value.to_device().type != type_) return value;
        SB_CHECK(value.to_device().index < device_count(type_), schema_.name.to_string(),
                 ": argument ", argument_, " '", schema_.arguments[argument_].name,
                 "': no such device: ", to_string(value.to_device()));
        target_ = resolve_device(value.to_device());
        return Device(DeviceType::CPU);
      case IValue::Tag::Generator: {
        Generator generator = value.to_generator();
        if (generator->device().type != type_) return value;
        return Generator(make_intrusive<HostGenerator>(std::move(generator)));
      }
      case IValue::Tag::None:
        return default_generator_or_none();
      default:
        return value;
    }
  }

  Tensor to_host(const Tensor& t) {
    if (!t.defined()) return t;
    const auto known = moved_.find(t.impl());
    Tensor host = known != moved_.end() ? known->second : make_host(t);
    if (known == moved_.end()) {
      moved_.emplace(t.impl(), host);
      original_.emplace(host.impl(), t);
    }
    if (schema_.arguments[argument_].is_write() && !host.is_same(t)) written_.push_back({t, host});
    return host;
  }
  Tensor make_host(const Tensor& t) {
    const Argument& argument = schema_.arguments[argument_];
    if (t.device().type != type_) {
      const bool may_be_read_on_cpu =
          t.dim() == 0 ||
          (argument.type.is_list() && argument.type.modifiers[0].kind == TypeModifier::Optional);
      if (!t.is_cpu() || argument.is_write() || (device_ && !may_be_read_on_cpu))
        throw_wrong_device(t.describe());
      device_storages_.emplace(t.storage().get(), nullptr);
      return t;
    }
    if (t.device() != *device_) throw_wrong_device(t.describe());
    SB_CHECK(t.storage(), schema_.name.to_string(), ": argument ", argument_, " '", argument.name,
             "': ", t.describe(), " has no storage");
    return tensor_like(t, to_host(t.storage()), DeviceType::CPU);
  }
  Storage to_host(const Storage& storage) {
    Storage& host = host_storages_[storage.get()];
    if (host) return host;
    const size_t nbytes = storage->nbytes();
    Allocator* const allocator = get_allocator(DeviceType::CPU);
    Storage copy = make_storage(nbytes, allocator, DeviceType::CPU);
    if (nbytes != 0) {
      const ByteRange all{0, nbytes};
      transfer_.download(storage, copy->data(), {&all, 1});
      stats_->bytes_to_cpu += static_cast<int64_t>(nbytes);
    }
    copy->set_resizable(storage->resizable() ? allocator : nullptr);
    device_storages_.emplace(copy.get(), storage);
    return host = std::move(copy);
  }

  IValue to_device(const IValue& value) {
    switch (value.tag()) {
      case IValue::Tag::Tensor:
        return to_device(value.to_tensor());
      case IValue::Tag::TensorList: {
        std::vector<Tensor> list;
        for (const Tensor& t : value.to_tensor_list()) list.push_back(to_device(t));
        return list;
      }
      case IValue::Tag::OptionalTensorList: {
        std::vector<std::optional<Tensor>> list;
        for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
          list.push_back(t ? std::optional<Tensor>(to_device(*t)) : std::nullopt);
        return list;
      }
      case IValue::Tag::List: {
        std::vector<IValue> list;
        for (const IValue& v : value.to_list()) list.push_back(to_device(v));
        return list;
      }
      case IValue::Tag::Storage:
        return is_foreign(value.to_storage()) ? value : IValue(to_device(value.to_storage()));
      default:
        return value;
    }
  }

  // Whether a storage is not ours to move: not the CPU's, or that of an argument from there.
  bool is_foreign(const Storage& storage) const {
    if (!storage || !storage->device().is_cpu()) return true;
    const auto known = device_storages_.find(storage.get());
    return known == device_storages_.end() ? !target_ : !known->second;
  }

  Tensor to_device(const Tensor& host) {
    if (!host.defined()) return host;
    if (const auto argument = original_.find(host.impl()); argument != original_.end())
      return argument->second;
    if (is_foreign(host.storage())) return host;
    const Storage storage = to_device(host.storage());
    Tensor result = tensor_like(host, storage, storage->device());
    // A view counts writes with its base.
    for (const auto& [impl, argument] : original_) {
      if (impl->storage() == host.storage()) {
        result.impl()->share_version_counter(*argument.impl());
        break;
      }
    }
    return result;
  }
  Storage to_device(const Storage& host) {
    Storage& storage = device_storages_[host.get()];
    if (storage) return storage;
    DeviceGuard guard(*target_);
    Storage copy = make_storage(host->nbytes(), get_allocator(type_), type_);
    if (host->nbytes() != 0) {
      const ByteRange all{0, host->nbytes()};
      transfer_.upload(copy, host->data(), {&all, 1});
      stats_->bytes_from_cpu += static_cast<int64_t>(host->nbytes());
    }
    if (!host->resizable()) copy->set_resizable(nullptr);
    return storage = std::move(copy);
  }

  // Makes room on the device for what an argument has become.
  void prepare(const Moved& moved) {
    if (is_foreign(moved.host.storage())) return;
    const Storage storage = to_device(moved.host.storage());
    const size_t nbytes = moved.host.storage()->nbytes();
    if (storage->nbytes() != nbytes) storage->resize(nbytes);
  }

  void write_back(const Moved& moved) {
    const Tensor& host = moved.host;
    TensorImpl* const impl = moved.device.impl();
    if (is_foreign(host.storage())) return;
    const Storage storage = to_device(host.storage());
    if (storage != impl->storage()) impl->set_storage(storage);
    if (host.dtype() != impl->dtype()) impl->set_dtype(host.dtype());
    if (host.sizes() != impl->sizes() || host.strides() != impl->strides())
      impl->set_sizes_and_strides(host.sizes(), host.strides());
    impl->set_storage_offset(host.storage_offset());
    if (host.version() != 0) impl->bump_version();
    for_each_range(host, [&](absl::Span<const ByteRange> ranges) {
      transfer_.upload(storage, host.storage()->data(), ranges);
      for (const ByteRange& range : ranges)
        stats_->bytes_from_cpu += static_cast<int64_t>(range.size);
    });
  }

  const OperatorHandle op_;
  const FunctionSchema& schema_;
  const DeviceType type_;
  HostTransfer& transfer_;
  FallbackStats* stats_ = nullptr;  // of the call under way

  std::optional<Device> device_;  // of the arguments
  std::optional<Device> asked_;   // by a Device argument, as it came
  std::optional<Device> target_;  // of fresh results; none: they stay on the CPU
  size_t argument_ = 0;           // the one at hand, for messages

  std::vector<Moved> written_;
  absl::flat_hash_map<TensorImpl*, Tensor> moved_;              // the caller's tensor -> the CPU's
  absl::flat_hash_map<TensorImpl*, Tensor> original_;           // the CPU's tensor -> the caller's
  absl::flat_hash_map<StorageImpl*, Storage> host_storages_;    // the device's -> the CPU's
  absl::flat_hash_map<StorageImpl*, Storage> device_storages_;  // back; null: an argument's own
};

// The value with tensors of the CPU for those of the device: nobody reads their memory.
IValue stand_in(const IValue& value, DeviceType type) {
  const auto on_cpu = [type](const Tensor& t) {
    return t.defined() && t.device().type == type ? tensor_like(t, t.storage(), DeviceType::CPU)
                                                  : t;
  };
  if (value.is_Tensor()) return on_cpu(value.to_tensor());
  if (value.is_TensorList()) {
    std::vector<Tensor> list;
    for (const Tensor& t : value.to_tensor_list()) list.push_back(on_cpu(t));
    return list;
  }
  if (value.is_OptionalTensorList()) {
    std::vector<std::optional<Tensor>> list;
    for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
      list.push_back(t ? std::optional<Tensor>(on_cpu(*t)) : std::nullopt);
    return list;
  }
  return value;
}

}  // namespace

void explain_cpu_fallback(CallPath& path, const PathCall& call, DeviceType type) {
  const std::string name = call.op.name().to_string();
  if (!is_cpu_fallback_allowed_for(name)) return path.fails("the CPU fallback is forbidden");
  const size_t n = call.op.schema().arguments.size();
  Stack values;
  bool has_tensor = false;
  for (const IValue& value : absl::MakeConstSpan(call.arguments).last(n)) {
    value.for_each_tensor([&](const Tensor&) { has_tensor = true; });
    values.push_back(stand_in(value, type));
  }
  if (has_tensor)
    path.call(call.op, values);
  else
    path.enter(call.op, DispatchKey::CPU, values);
}

void cpu_fallback(const OperatorHandle& op, Stack* stack, DeviceType type, HostTransfer& transfer) {
  Fallback(op, type, transfer).run(stack);
}

}  // namespace sb
