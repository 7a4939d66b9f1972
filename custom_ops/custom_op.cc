#include "switchboard/custom_ops/custom_op.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/inferred_schema.h"
#include "switchboard/custom_ops/op_facts.h"
#include "switchboard/dispatch/objects/qualified_name.h"
#include "switchboard/dispatch/objects/simple_registry.h"
#include "switchboard/dispatch/static_library.h"

namespace sb {
namespace {

std::unique_ptr<Library> open_library(std::string_view name, SourceLocation where) {
  const OperatorName parsed = parse_qualified_name(name);
  return std::make_unique<Library>(Library::Kind::Fragment, std::string(parsed.ns()), std::nullopt,
                                   where);
}

TagSet with_pt2_tag(TagSet tags) { return tags |= Tag::pt2_compliant_tag; }

// A key that device types stand for.
bool is_backend_key(DispatchKey key) {
  return is_runtime_key(key) && backend_of(key) && functionality_of(key) == DispatchKey::Dense;
}

bool has_tensors(const FunctionSchema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const Argument& a) { return a.type.has_tensor(); });
}

// The kernel at BackendSelect of an operator without tensors: goes to the device that an argument
// names.
class SelectBackend {
 public:
  static SelectBackend of(const FunctionSchema& schema) {
    const std::optional<size_t> device = schema.find_argument("device");
    SB_CHECK_VALUE(
        device && schema.arguments[*device].type.code() == type_code(BaseType::Device),
        schema.name.to_string(),
        ": a kernel for some devices of an operator without tensor arguments: expected an argument "
        "'Device device', which tells whose kernel runs: ",
        schema.to_string());
    return SelectBackend(schema.arguments.size() - *device);
  }

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const Device device = (*stack)[stack->size() - from_end_].to_device();
    const DispatchKey key = dispatch_key_of(device.type);
    SB_CHECK(op.entry().resolved_table().slots[slot_of(key)], op.name().to_string(),
             ": no kernel for the device of its argument 'device', ", to_string(device),
             "; register_kernel() one");
    op.redispatch_boxed(DispatchKeySet(key), stack);
  }

 private:
  explicit SelectBackend(size_t from_end) : from_end_(from_end) {}
  size_t from_end_;
};

void check_options(const FunctionSchema& schema, const CustomOpOptions& options) {
  const std::string op = schema.name.to_string();
  SB_CHECK_VALUE(
      options.arguments.empty(), op,
      ": names of arguments were given beside a schema, which has them: ", schema.to_string());
  SB_CHECK_VALUE(!options.mutates_unknown, op,
                 ": mutates_unknown was given beside a schema, which says what is written to: ",
                 schema.to_string());
  if (options.mutates_args.empty()) return;
  std::vector<std::string> written;
  for (const Argument& argument : schema.arguments)
    if (argument.is_write()) written.push_back(argument.name);
  std::vector<std::string> given = options.mutates_args;
  std::sort(given.begin(), given.end());
  std::vector<std::string> sorted = written;
  std::sort(sorted.begin(), sorted.end());
  SB_CHECK_VALUE(given == sorted, op, ": mutates_args: expected what the schema says, [",
                 absl::StrJoin(written, ", "), "], got [",
                 absl::StrJoin(options.mutates_args, ", "), "]: ", schema.to_string());
}

}  // namespace

struct CustomOp::State {
  // The kernels of one key.
  struct Device {
    bool has_kernel = false;
    bool enabled = true;
    SourceLocation switched;                    // where that was said
    std::unique_ptr<Library> function_over_it;  // while it is not
  };

  State(std::string_view op, SourceLocation where)
      : name(op), library(open_library(op, where)), expected_fake(open_library(op, where)) {}

  // Puts the function over what is there, or takes it away.
  void place(DispatchKey key, Device& device, SourceLocation where) {
    std::unique_ptr<Library> over;
    if (!device.enabled && device.has_kernel) {
      over = open_library(name, where);
      over->impl(name, key, *function, where);
    }
    device.function_over_it = std::move(over);
  }
  void set_enabled(DispatchKey key, bool enabled, SourceLocation where) {
    Device& device = devices[key];
    if (device.enabled == enabled) return;
    device.enabled = enabled;
    device.switched = where;
    place(key, device, where);
    note_disabled();
  }

  // For those who show it.
  void note_disabled() {
    DisabledKernels disabled;
    for (const auto& [key, device] : devices)
      if (!device.enabled) disabled.kernels.emplace_back(key, device.switched);
    disabled_fact = {};
    if (!disabled.kernels.empty())
      disabled_fact = default_simple_registry().add(parse_qualified_name(name).to_string(),
                                                    std::move(disabled));
  }

  void add_kernel(const OpOverload& op, const KernelTypes& types, const KernelFunction& kernel,
                  SourceLocation where);

  const std::string name;
  std::unique_ptr<Library> library;
  std::unique_ptr<Library> expected_fake;  // what stands for a fake rule that is missing
  std::optional<KernelFunction> function;  // that the operator was made with
  std::map<DispatchKey, Device> devices;
  RegistrationHandle disabled_fact, owner_fact;
  bool selects_backend = false;
};

CustomOp::CustomOp(std::string_view name, std::string_view schema, const CustomOpOptions& options,
                   SourceLocation where)
    : state_(std::make_shared<State>(name, where)),
      op_(define(name, schema, with_pt2_tag(options.tags), state_->library.get(), where)),
      promise_(internal::result_promise(op_.schema(), options.tags)) {
  check_options(op_.schema(), options);
  internal::expect_fake_rule(op_.handle().name(), *state_->expected_fake, where);
  state_->owner_fact = default_simple_registry().add(
      op_.name(),
      internal::KernelOwner{
          [op = op_, promise = promise_, weak = std::weak_ptr<State>(state_)](
              const KernelTypes& types, const KernelFunction& kernel, SourceLocation there) {
            if (const std::shared_ptr<State> s = weak.lock())
              s->add_kernel(op, types, internal::make_checked_kernel(kernel, promise), there);
          }},
      where);
}

void CustomOp::add_kernel(const KernelTypes& types, const KernelFunction& kernel,
                          SourceLocation where) {
  state().add_kernel(op_, types, kernel, where);
}

void CustomOp::State::add_kernel(const OpOverload& op, const KernelTypes& types,
                                 const KernelFunction& kernel, SourceLocation where) {
  const std::string qualname = op.name();
  const std::vector<DispatchKey>& keys = types.keys();
  if (std::any_of(keys.begin(), keys.end(), is_backend_key) && !has_tensors(op.schema()) &&
      !selects_backend) {
    const SelectBackend select = SelectBackend::of(op.schema());
    library->impl_at(qualname, keys, kernel, where);
    library->impl(qualname, DispatchKey::BackendSelect, select, where);
    selects_backend = true;
  } else {
    library->impl_at(qualname, keys, kernel, where);
  }
  for (const DispatchKey key : keys) {
    Device& device = devices[key];
    device.has_kernel = true;
    place(key, device, where);
  }
  // It decides for tensors without data, too.
  if (std::find(keys.begin(), keys.end(), DispatchKey::CompositeImplicitAutograd) != keys.end())
    expected_fake = nullptr;
}

void CustomOp::add_function(const CustomOpOptions& options, KernelFunction function,
                            SourceLocation where) {
  add_kernel(options.device_types.value_or(DispatchKey::CompositeExplicitAutograd), function,
             where);
  state().function = std::move(function);
}

RegistrationHandle CustomOp::set_kernel_enabled(const KernelTypes& types, bool enabled,
                                                SourceLocation where) {
  State& s = state();
  SB_CHECK(s.function.has_value(), qualified_name(),
           ": set_kernel_enabled: the operator was made without a function, which would run in the "
           "place of its kernels");
  std::vector<std::pair<DispatchKey, bool>> before;
  for (const DispatchKey key : types.keys()) {
    const State::Device& device = s.devices[key];
    const std::string what = str_cat(qualified_name(), ": set_kernel_enabled: ", to_string(key));
    if (!device.has_kernel)
      warn(what + " has no kernel");
    else if (device.enabled == enabled)
      warn(what + (enabled ? " is enabled already" : " is disabled already"));
    before.emplace_back(key, device.enabled);
    s.set_enabled(key, enabled, where);
  }
  return RegistrationHandle([weak = std::weak_ptr<State>(state_), before, where] {
    const std::shared_ptr<State> there = weak.lock();
    if (!there) return;
    for (const auto& [key, was_enabled] : before) there->set_enabled(key, was_enabled, where);
  });
}

void CustomOp::warn_of_needless_fake_rule() const {
  for (const Tag tag : {Tag::inplace, Tag::out})
    if (op_.has_tag(tag))
      warn(str_cat(qualified_name(), ": register_fake: an operator that is tagged ", to_string(tag),
                   " needs no fake rule; this one runs in place of the one that it has"));
}

CustomOp::State& CustomOp::state() const {
  SB_CHECK(state_, qualified_name(),
           ": the object that the operator was made with was moved from, or left it (keep()), and "
           "registers nothing more");
  return *state_;
}

Library& CustomOp::library() const { return *state().library; }

void CustomOp::check_results(size_t got, size_t expected) const {
  SB_CHECK_TYPE(got == expected, qualified_name(), ": the call was to give ", expected,
                " results, and gives ", got, ": ", schema().to_string());
}

OpOverload CustomOp::keep() && {
  state();  // or throws
  static std::mutex mutex;
  // With what the operator's name still registers kernels.
  static auto* const kept = new std::vector<std::shared_ptr<State>>;
  const std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(state_));
  return op_;
}

namespace internal {

std::string schema_of_kernel(std::string_view op, const KernelFunction& kernel,
                             const CustomOpOptions& options) {
  SB_CHECK_VALUE(kernel.signature, op,
                 ": a boxed kernel does not tell its arguments; give the schema");
  SB_CHECK_VALUE(!options.mutates_unknown || options.mutates_args.empty(), op,
                 ": expected either mutates_args or mutates_unknown, got both");
  const Mutation mutation = options.mutates_unknown ? Mutation::Unknown : Mutation::Listed;
  return infer_schema(op, *kernel.signature, options.arguments, options.mutates_args, mutation,
                      options.tags);
}

}  // namespace internal
}  // namespace sb
