#include "switchboard/dispatch/objects/registration.h"

#include <algorithm>
#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/simple_registry.h"
#include "switchboard/dispatch/static_library.h"

namespace sb {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "(...) -> ...".
bool is_nameless(std::string_view schema) {
  schema = trimmed(schema);
  const size_t arrow = schema.rfind(") -> ");
  return schema.substr(0, 1) == "(" && arrow != std::string_view::npos && arrow + 5 < schema.size();
}

// Calls f(library) with `lib`, or with one that stays open if f succeeds.
template <class F>
void with_library(const OperatorName& op, Library* lib, SourceLocation where, F&& f) {
  if (lib) return f(*lib);
  auto made =
      std::make_unique<Library>(LibraryKind::Fragment, std::string(op.ns()), std::nullopt, where);
  f(*made);
  internal::keep_open(std::move(made));
}

}  // namespace

OpOverload lookup_op(const OpIdentifier& op) {
  return OpOverload(default_dispatcher().find_op_or_throw(op.name().to_string()));
}

DispatchKey device_type_to_key(std::string_view device_type) {
  if (device_type == "default") return DispatchKey::CompositeExplicitAutograd;
  const std::optional<DeviceType> type = find_device_type(device_type);
  SB_CHECK_VALUE(device_type.find(':') == std::string_view::npos, "device type '", device_type,
                 "': expected one without an index");
  SB_CHECK_VALUE(type.has_value(), "'", device_type,
                 "' is neither a device type, as 'cpu' or 'default', nor a dispatch key, as 'CPU'");
  return dispatch_key_of(*type);
}

DispatchKey KernelTypes::One::key_of(std::string_view name) {
  const std::optional<DispatchKey> key = find_dispatch_key(name);
  return key ? *key : device_type_to_key(name);
}

KernelTypes::KernelTypes(std::initializer_list<One> types) {
  for (const One& type : types) add(type.key);
}

KernelTypes::KernelTypes(const std::vector<std::string>& types) {
  for (const std::string& type : types) add(One(type).key);
}

void KernelTypes::add(DispatchKey key) {
  if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
}

OpOverload define(std::string_view qualname, std::string_view schema, TagSet tags, Library* lib,
                  SourceLocation where) {
  const OperatorName name = parse_qualified_name(qualname);
  SB_CHECK_VALUE(is_nameless(schema), name.to_string(),
                 ": expected a schema without a name, as '(Tensor x) -> Tensor', got '", schema,
                 "'");
  std::optional<OpOverload> op;
  with_library(name, lib, where, [&](Library& library) {
    op = OpOverload(library.define(str_cat(name.to_string(), trimmed(schema)), tags, where));
  });
  return *op;
}

namespace internal {

void impl_at(const OperatorName& op, const KernelTypes& types, const KernelFunction& kernel,
             Library* lib, SourceLocation where) {
  with_library(op, lib, where, [&](Library& library) {
    library.impl_at(op.to_string(), types.keys(), kernel, where);
  });
}

void register_kernel_at(const OperatorName& op, const KernelTypes& types,
                        const KernelFunction& kernel, Library* lib, SourceLocation where) {
  const bool may_have_owner = !lib || &lib->dispatcher() == &default_dispatcher();
  const auto owner =
      may_have_owner ? default_simple_registry().find<KernelOwner>(op.to_string()) : nullptr;
  if (!owner) return impl_at(op, types, kernel, lib, where);
  SB_CHECK(!lib, "register_kernel: ", op.to_string(),
           " was made by custom_op(), whose object keeps its kernels; give no Library, or use "
           "impl(), which checks no results");
  owner->add_kernel(types, kernel, where);
}

}  // namespace internal
}  // namespace sb
