#include "switchboard/dispatch/library.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/values/check_tags.h"

namespace sb {
namespace {

// Namespaces that no library may define operators in: string literals with commas between them.
#ifndef SB_RESERVED_NAMESPACES
#define SB_RESERVED_NAMESPACES "prim"
#endif
constexpr std::string_view kReservedNamespaces[] = {SB_RESERVED_NAMESPACES};

AliasAnalysis parse_alias_analysis(const Library& library, std::string_view text) {
  if (text == "CONSERVATIVE") return AliasAnalysis::Conservative;
  SB_CHECK(text.empty() || text == "FROM_SCHEMA", library.to_string(), ": unknown alias analysis '",
           text, "'; expected 'FROM_SCHEMA' (or '', the same) or 'CONSERVATIVE'");
  return AliasAnalysis::FromSchema;
}

// "\nat: ops/add.cc:31": the line of an error for the place of what was refused.
std::string at_text(const SourceLocation& where) { return str_cat("\nat: ", to_string(where)); }

void check_open(bool open, const SourceLocation& opened_at) {
  SB_CHECK(open,
           "a library that is closed, or was moved from, takes nothing more; open another one",
           "\nit was opened at: ", to_string(opened_at));
}

constexpr std::string_view kNotObserved =
    ": no kernel goes to Observed, which only tells who watches calls; take another key";

}  // namespace

LibraryKind parse_library_kind(std::string_view text) {
  for (LibraryKind kind : {LibraryKind::Def, LibraryKind::Impl, LibraryKind::Fragment})
    if (text == to_string(kind)) return kind;
  SB_THROW(ValueError, "unknown kind of library '", text, "'; expected DEF, IMPL or FRAGMENT");
}

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, SourceLocation where)
    : Library(default_dispatcher(), kind, std::move(ns), key, where) {}

Library::Library(Dispatcher& dispatcher, Kind kind, std::string ns, std::optional<DispatchKey> key,
                 SourceLocation where)
    : dispatcher_(&dispatcher), kind_(kind), ns_(std::move(ns)), key_(key), where_(where) {
  SB_CHECK_VALUE(is_identifier(ns_), to_string(), ": expected an identifier as namespace, got '",
                 ns_, "'");
  SB_CHECK(ns_ != "_" || kind_ == Kind::Impl, to_string(),
           ": namespace '_' takes fallbacks only; open it as IMPL");
  SB_CHECK(!key_ || kind_ == Kind::Impl, to_string(),
           ": only an IMPL library has a dispatch key; name the key in impl()");
  SB_CHECK(!key_ || *key_ != DispatchKey::Observed, to_string(), kNotObserved);
  if (kind_ != Kind::Impl) {
    for (std::string_view reserved : kReservedNamespaces)
      SB_CHECK(ns_ != reserved, to_string(), ": the namespace is reserved; take another one");
  }
  id_ = dispatcher_->open_library(kind_, ns_, where_);
}

Library::Library(Library&& other) noexcept
    : dispatcher_(other.dispatcher_),
      kind_(other.kind_),
      ns_(std::move(other.ns_)),
      key_(other.key_),
      where_(other.where_),
      id_(std::exchange(other.id_, 0)),
      override_(other.override_),
      origin_(other.origin_),
      registrations_(std::move(other.registrations_)) {}

Library::~Library() { close(); }

OperatorName Library::qualified(OperatorName name) const {
  const std::string_view ns = name.ns();
  SB_CHECK(ns.empty() || ns == ns_, to_string(), ": '", name.to_string(),
           "' is of another namespace; open a library of that one");
  if (ns.empty()) name.name = absl::StrCat(ns_, "::", name.name);
  return name;
}

std::string Library::name_of(const OperatorHandle& op) {
  op.schema();  // throws for a removed operator
  return op.name().to_string();
}

OperatorHandle Library::define(std::string_view schema, TagSet tags, SourceLocation where) {
  return define(parse_schema(schema), tags, AliasAnalysis::FromSchema, where);
}

OperatorHandle Library::define(std::string_view schema, std::string_view alias_analysis,
                               TagSet tags, SourceLocation where) {
  return define(parse_schema(schema), tags, parse_alias_analysis(*this, alias_analysis), where);
}

OperatorHandle Library::define(FunctionSchema schema, TagSet tags, AliasAnalysis alias_analysis,
                               SourceLocation where) {
  check_open(id_ != 0, where_);
  SB_CHECK(kind_ != Kind::Impl, to_string(),
           ": an IMPL library defines no operators; open a DEF or FRAGMENT one", at_text(where));
  schema.name = qualified(std::move(schema.name));
  internal::check_tags(schema, tags, origin_ == DefinitionOrigin::Static);
  OperatorEntry* const entry =
      dispatcher_->define(std::move(schema), where, tags, {alias_analysis, origin_});
  registrations_.emplace_back(entry);
  return OperatorHandle(entry);
}

OperatorHandle Library::define_with_kernel(std::string_view schema, KernelFunction kernel,
                                           SourceLocation where) {
  std::string text(schema);
  if (schema.find('(') == std::string_view::npos) {
    SB_CHECK(kernel.signature, to_string(), ": '", schema,
             "' has no arguments, and a boxed kernel does not tell them; write its schema",
             at_text(where));
    int i = 0;
    const auto type = [](std::string* out, TypeCode code) { *out += sb::to_string(code); };
    const auto argument = [&](std::string* out, TypeCode code) {
      *out += str_cat(sb::to_string(code), " _", i++);
    };
    text += str_cat("(", absl::StrJoin(kernel.signature->arguments, ", ", argument), ") -> (",
                    absl::StrJoin(kernel.signature->returns, ", ", type), ")");
  }
  const OperatorHandle op = define(text, TagSet(), where);
  add_kernel(op.name().to_string(), default_key(), std::move(kernel), where);
  return op;
}

void Library::add_kernel(std::string_view op, DispatchKey key, KernelFunction kernel,
                         SourceLocation where) {
  check_open(id_ != 0, where_);
  SB_CHECK(ns_ != "_", to_string(),
           ": namespace '_' takes fallbacks only; call fallback(), or open ",
           "the operator's namespace", at_text(where));
  SB_CHECK(is_runtime_key(key) || is_alias_key(key), to_string(), ": no kernel can be at ",
           sb::to_string(key), "; name a runtime key, as CPU, or an alias key, as Autograd",
           at_text(where));
  SB_CHECK(key != DispatchKey::Observed, to_string(), kNotObserved, at_text(where));
  SB_CHECK(!key_ || kind_ != Kind::Impl || *key_ == key, to_string(), ": impl at another key, ",
           sb::to_string(key), "; open a library without a key", at_text(where));
  RegisteredKernel registered{std::move(kernel), where, key};
  registered.library = id_;
  const OperatorName name = qualified(OperatorName::parse(op));
  if (key == DispatchKey::Meta && override_ != Override::All) {
    dispatcher_->inspect([&] {
      const OperatorEntry* const entry = dispatcher_->find_locked(name);
      if (!entry) return;
      const auto composite = entry->kernels_at(DispatchKey::CompositeImplicitAutograd);
      SB_CHECK(composite.empty(), name.to_string(),
               " [Meta]: the kernel would hide the CompositeImplicitAutograd one; register Meta ",
               "kernels for what that calls, or allow_override()\nCompositeImplicitAutograd: ",
               sb::to_string(composite.back().where), "\nMeta: ", sb::to_string(where));
    });
  }
  registrations_.emplace_back(
      dispatcher_->add_kernel(name, std::move(registered), override_ != Override::None));
}

void Library::add_kernels(std::string_view op, const std::vector<DispatchKey>& keys,
                          const KernelFunction& kernel, SourceLocation where) {
  const size_t before = registrations_.size();
  try {
    for (DispatchKey key : keys) add_kernel(op, key, kernel, where);
  } catch (...) {
    undo(*dispatcher_, registrations_, before);
    throw;
  }
}

void Library::own(RegistrationHandle handle) {
  check_open(id_ != 0, where_);
  registrations_.emplace_back(std::move(handle));
}

void Library::add_fallback(DispatchKey key, KernelFunction kernel, SourceLocation where,
                           ServesSchema serves) {
  check_open(id_ != 0, where_);
  SB_CHECK(ns_ == "_" && kind_ == Kind::Impl, to_string(),
           ": it takes no fallbacks; open an IMPL library of namespace '_'", at_text(where));
  SB_CHECK(is_runtime_key(key) && key != DispatchKey::Undefined && key != DispatchKey::Observed,
           to_string(), ": no fallback can be at ", sb::to_string(key),
           "; name a runtime key, as CPU", at_text(where));
  SB_CHECK_TYPE(!kernel.signature, to_string(),
                ": a fallback serves every operator; expected a boxed kernel, got one of type ",
                sb::to_string(*kernel.signature), at_text(where));
  RegisteredKernel registered{std::move(kernel), where, key};
  registered.library = id_;
  registered.serves = serves;
  registrations_.emplace_back(Fallback{
      key, dispatcher_->add_fallback(key, std::move(registered), override_ == Override::All)});
}

void Library::undo(Dispatcher& dispatcher, std::vector<Registration>& registrations,
                   size_t count) noexcept {
  while (registrations.size() > count) {
    // Out of the list first: what is undone may run code of the user's.
    Registration last = std::move(registrations.back());
    registrations.pop_back();
    if (auto* entry = std::get_if<OperatorEntry*>(&last))
      dispatcher.undefine(*entry);
    else if (auto* kernel = std::get_if<Dispatcher::KernelId>(&last))
      dispatcher.remove_kernel(*kernel);
    else if (auto* fallback = std::get_if<Fallback>(&last))
      dispatcher.remove_fallback(fallback->key, fallback->id);
    else
      std::get<RegistrationHandle>(last).destroy();
  }
}

void Library::close() {
  const uint64_t id = std::exchange(id_, 0);
  if (id == 0) return;
  // All that is needed, as what is undone may destroy this very library.
  Dispatcher& dispatcher = *dispatcher_;
  const LibraryKind kind = kind_;
  const std::string ns = ns_;
  std::vector<Registration> registrations = std::move(registrations_);
  undo(dispatcher, registrations, 0);
  dispatcher.close_library(kind, ns, id);
}

[[gnu::cold]] std::string Library::to_string() const {
  return str_cat("Library(", sb::to_string(kind_), ", ns=", ns_,
                 key_ ? str_cat(", dispatch_key=", sb::to_string(*key_)) : "", ", ",
                 sb::to_string(where_), ")");
}

}  // namespace sb
