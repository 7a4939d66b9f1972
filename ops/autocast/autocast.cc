#include "switchboard/ops/autocast/autocast.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/autocast/autocast_policy.h"
#include "switchboard/ops/autocast/autocast_state.h"

namespace sb {
namespace {

using K = DispatchKey;

struct AutocastDevice {
  DeviceType type;
  DispatchKey key;
  DType dtype;  // by default
};
constexpr AutocastDevice kDevices[] = {
    {DeviceType::CPU, K::AutocastCPU, DType::BFloat16},
    {DeviceType::CUDA, K::AutocastCUDA, DType::Float16},
    {DeviceType::XPU, K::AutocastXPU, DType::Float16},
    {DeviceType::MTIA, K::AutocastMTIA, DType::Float16},
    {DeviceType::MAIA, K::AutocastMAIA, DType::BFloat16},
    {DeviceType::IPU, K::AutocastIPU, DType::Float16},
    {DeviceType::HPU, K::AutocastHPU, DType::BFloat16},
    {DeviceType::XLA, K::AutocastXLA, DType::BFloat16},
    {DeviceType::MPS, K::AutocastMPS, DType::Float16},
    {DeviceType::PrivateUse1, K::AutocastPrivateUse1, DType::Float16},
};
constexpr size_t kNumDevices = std::size(kDevices);

constexpr std::array<DType, kNumDevices> default_dtypes() {
  std::array<DType, kNumDevices> dtypes{};
  for (size_t i = 0; i < kNumDevices; ++i) dtypes[i] = kDevices[i].dtype;
  return dtypes;
}
constinit thread_local std::array<DType, kNumDevices> thread_dtypes = default_dtypes();

std::optional<size_t> find(DeviceType type) {
  for (size_t i = 0; i < kNumDevices; ++i)
    if (kDevices[i].type == type) return i;
  return std::nullopt;
}

size_t index_of(std::string_view device_type) {
  const std::optional<DeviceType> type = find_device_type(device_type);
  const std::optional<size_t> found = type ? find(*type) : std::nullopt;
  SB_CHECK_VALUE(found.has_value(), "autocast: expected a device type that has it, got '",
                 device_type, "'");
  return *found;
}
size_t index_of(DeviceType type) { return index_of(to_string(type)); }

bool has_cpu_policy(const FunctionSchema& schema) {
  return autocast_policy(schema.name.name) != AutocastPolicy::None;
}
bool has_policy(const FunctionSchema& schema) {
  return has_autocast_policy_somewhere(schema.name.name);
}

// At AutocastCPU: the call anew, with other arguments and autocast off.
void cast_and_call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const auto base = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments.size());
  Stack call(base, stack->end());
  const ExcludeKeysGuard off(DispatchKeySet(K::AutocastCPU));
  cast_arguments(autocast_policy(op.schema().name.name), autocast_dtype(DeviceType::CPU), &call);
  op.call_boxed(&call);
  stack->erase(base, stack->end());
  stack->insert(stack->end(), call.begin(), call.end());
}

// At the key of another device, where operators are cast by policies that are not here.
void refuse(const OperatorHandle& op, DispatchKeySet keys, Stack*) {
  SB_THROW(NotImplementedError, op.name().to_string(), ": autocast at ",
           to_string(keys.highest_key()),
           ": only the CPU has policies for built-in operators; turn it off around this call");
}

}  // namespace

bool is_autocast_available(DeviceType device_type) { return find(device_type).has_value(); }

DispatchKey autocast_key_of(std::string_view device_type) {
  return kDevices[index_of(device_type)].key;
}

bool is_autocast_enabled(DeviceType device_type) {
  const DispatchKey key = kDevices[index_of(device_type)].key;
  return !dispatch_tls.excluded().has(key);
}

DType autocast_dtype(DeviceType device_type) { return thread_dtypes[index_of(device_type)]; }

AutocastGuard::AutocastGuard(std::string_view device_type, std::optional<DType> dtype, bool enabled)
    : key_(autocast_key_of(device_type)),
      dtype_(&thread_dtypes[index_of(device_type)]),
      outer_dtype_(*dtype_) {
  const DType wanted = dtype.value_or(*dtype_);
  SB_CHECK_VALUE(wanted == DType::BFloat16 || wanted == DType::Float16,
                 "autocast: expected bfloat16 or float16, got ", to_string(wanted));
  *dtype_ = wanted;
  if (enabled)
    on_.emplace(DispatchKeySet(key_));
  else
    off_.emplace(DispatchKeySet(key_));
}

AutocastGuard::~AutocastGuard() { *dtype_ = outer_dtype_; }

AutocastState AutocastState::now() {
  return {kDefaultExcluded - dispatch_tls.excluded(), {thread_dtypes.begin(), thread_dtypes.end()}};
}

AutocastStateGuard::AutocastStateGuard(const AutocastState& state)
    : outer_dtypes_(thread_dtypes.begin(), thread_dtypes.end()),
      on_(state.on),
      off_(kDefaultExcluded - state.on) {
  std::copy(state.dtypes.begin(), state.dtypes.end(), thread_dtypes.begin());
}
AutocastStateGuard::~AutocastStateGuard() {
  std::copy(outer_dtypes_.begin(), outer_dtypes_.end(), thread_dtypes.begin());
}

SB_LIBRARY_IMPL(_, AutocastCPU, m) {
  m.fallback_for(K::AutocastCPU, has_cpu_policy, cast_and_call);
}
SB_LIBRARY_IMPL(_, AutocastCUDA, m) { m.fallback_for(K::AutocastCUDA, has_policy, refuse); }
SB_LIBRARY_IMPL(_, AutocastXPU, m) { m.fallback_for(K::AutocastXPU, has_policy, refuse); }
SB_LIBRARY_IMPL(_, AutocastMPS, m) { m.fallback_for(K::AutocastMPS, has_policy, refuse); }
SB_LIBRARY_IMPL(_, AutocastMTIA, m) { m.fallback_for(K::AutocastMTIA, has_policy, refuse); }
SB_LIBRARY_IMPL(_, AutocastMAIA, m) { m.fallback_for(K::AutocastMAIA, has_policy, refuse); }

}  // namespace sb
