#include "switchboard/dispatch/dispatcher.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/schema/near_names.h"

namespace sb {
namespace {

using K = DispatchKey;

// Where calls pass on to the backend unless somebody registers otherwise.
constexpr K kFallthroughByDefault[] = {
    K::BackendSelect, K::ADInplaceOrView, K::AutocastCPU,  K::AutocastMTIA,      K::AutocastMAIA,
    K::AutocastXPU,   K::AutocastMPS,     K::AutocastCUDA, K::FuncTorchVmapMode, K::VmapMode,
};
constexpr K kAutogradFallback[] = {
    K::AutogradOther, K::AutogradCPU,  K::AutogradCUDA, K::AutogradXLA,
    K::AutogradMPS,   K::AutogradXPU,  K::AutogradHPU,  K::AutogradLazy,
    K::AutogradMTIA,  K::AutogradMAIA, K::AutogradMeta, K::AutogradPrivateUse1,
};
constexpr K kRefusedByDefault[] = {K::Meta, K::FuncTorchBatched, K::BatchedNestedTensor};

// Those of the packages above, which new dispatchers get.
struct DefaultFallbacks {
  mutable std::mutex mutex;
  std::vector<RegisteredKernel> list;
};
DefaultFallbacks& default_fallbacks() {
  static DefaultFallbacks* const fallbacks = new DefaultFallbacks;
  return *fallbacks;
}

// About what a program with all the operators of this project has; more is only slower to register.
constexpr size_t kExpectedOperators = 2048;

// Whether two kernels can be of one operator: a plain integer may stand for a symbolic one.
bool agree(const CppSignature& a, const CppSignature& b) {
  auto plain = [](TypeCode code) {
    return base_of(code) == BaseType::SymInt ? (code & ~TypeCode{0xff}) | type_code(BaseType::Int)
                                             : code;
  };
  auto same = [&](TypeCode x, TypeCode y) { return plain(x) == plain(y); };
  return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    same) &&
         std::equal(a.returns.begin(), a.returns.end(), b.returns.begin(), b.returns.end(), same);
}

}  // namespace

std::string_view to_string(LibraryKind kind) {
  switch (kind) {
    case LibraryKind::Def:
      return "DEF";
    case LibraryKind::Impl:
      return "IMPL";
    case LibraryKind::Fragment:
      return "FRAGMENT";
  }
  return "DEF";
}

struct Dispatcher::Tables {
  // Entries are found by their names, which they hold; those of one name are chained (next_).
  struct ByName {
    using is_transparent = void;
    static const OperatorName& name(const std::unique_ptr<OperatorEntry>& e) { return e->name(); }
    static const OperatorName& name(const OperatorName& n) { return n; }
    size_t operator()(const auto& x) const { return absl::Hash<OperatorName>()(name(x)); }
    bool operator()(const auto& x, const auto& y) const { return name(x) == name(y); }
  };
  struct OpenLibrary {
    uint64_t id;
    SourceLocation where;
  };

  absl::flat_hash_set<std::unique_ptr<OperatorEntry>, ByName, ByName> entries;

  // Calls f with every operator that there is.
  template <class F>
  void for_each(F&& f) const {
    for (const std::unique_ptr<OperatorEntry>& first : entries)
      for (OperatorEntry* e = first.get(); e; e = e->next_.get())
        if (!e->dead()) f(*e);
  }

  // By namespace.
  absl::flat_hash_map<std::string, OpenLibrary> def_libraries;
};

OperatorEntry* Dispatcher::find_locked(const OperatorName& name) const {
  const auto it = tables_->entries.find(name);
  OperatorEntry* entry = it == tables_->entries.end() ? nullptr : it->get();
  while (entry && entry->dead()) entry = entry->next_.get();
  return entry;
}

Dispatcher::Dispatcher() : tables_(std::make_unique<Tables>()) {
  tables_->entries.reserve(kExpectedOperators);
  for (K key : kFallthroughByDefault)
    add_default_fallback(key, {make_fallthrough_kernel(), SourceLocation::current()});
  for (K key : kAutogradFallback)
    add_default_fallback(key, {make_autograd_fallback(), SourceLocation::current()});
  for (K key : kRefusedByDefault)
    add_default_fallback(key, {make_refusal(), SourceLocation::current()});
  const DefaultFallbacks& packages = default_fallbacks();
  std::lock_guard<std::mutex> lock(packages.mutex);
  for (const RegisteredKernel& fallback : packages.list)
    add_default_fallback(fallback.key, fallback);
}

void Dispatcher::add_default_fallback(DispatchKey key, RegisteredKernel fallback) {
  auto& fallbacks = fallbacks_[static_cast<size_t>(key)];
  // Below what has been registered.
  fallbacks.insert(fallbacks.begin(), std::make_unique<RegisteredKernel>(std::move(fallback)));
}

internal::DefaultFallback::DefaultFallback(DispatchKey key, KernelFunction kernel,
                                           SourceLocation where) {
  Dispatcher& dispatcher = default_dispatcher();
  const RegisteredKernel fallback{std::move(kernel), where, key};
  std::lock_guard<std::mutex> lock(dispatcher.mutex_);
  dispatcher.add_default_fallback(key, fallback);
  dispatcher.invalidate_all();
  DefaultFallbacks& packages = default_fallbacks();
  std::lock_guard<std::mutex> list_lock(packages.mutex);
  packages.list.push_back(fallback);
}

Dispatcher::~Dispatcher() = default;

std::optional<OperatorHandle> Dispatcher::find_op(const OperatorName& name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  OperatorEntry* const entry = find_locked(name);
  if (!entry || !entry->has_schema()) return std::nullopt;
  return OperatorHandle(entry);
}

std::optional<OperatorHandle> Dispatcher::find_op(std::string_view name) const {
  return find_op(OperatorName::parse(name));
}

OperatorHandle Dispatcher::find_op_or_throw(std::string_view name) const {
  const OperatorName wanted = OperatorName::parse(name);
  if (const std::optional<OperatorHandle> op = find_op(wanted)) return *op;
  std::vector<std::string> overloads, here;
  for (const OperatorHandle& op : all_ops()) {
    if (op.name().name == wanted.name) overloads.push_back(op.name().to_string());
    if (op.name().ns() == wanted.ns()) here.push_back(op.name().to_string());
  }
  const std::vector<std::string> near =
      overloads.empty() ? internal::near_names(wanted.to_string(), here) : overloads;
  std::string hint;
  if (!near.empty())
    hint = "there is " + absl::StrJoin(near, ", ");
  else if (here.empty())
    hint = str_cat("namespace '", wanted.ns(),
                   "' has none: link or open the library that defines them");
  else
    hint = str_cat("namespace '", wanted.ns(), "' has ", here.size(), " others");
  SB_THROW(RuntimeError, wanted.to_string(), ": no operator of that name is registered; ", hint);
}

const OperatorEntry* Dispatcher::find_entry(const OperatorName& name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return find_locked(name);
}

std::vector<OperatorHandle> Dispatcher::all_ops() const {
  std::vector<OperatorHandle> ops;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tables_->for_each([&](OperatorEntry& entry) {
      if (entry.has_schema()) ops.emplace_back(&entry);
    });
  }
  std::ranges::sort(ops, {}, [](const OperatorHandle& op) {
    return std::tie(op.name().name, op.name().overload);
  });
  return ops;
}

std::vector<OperatorHandle> Dispatcher::overloads(std::string_view name) const {
  std::vector<OperatorHandle> ops;
  std::lock_guard<std::mutex> lock(mutex_);
  tables_->for_each([&](OperatorEntry& entry) {
    if (entry.has_schema() && entry.name().name == name) ops.emplace_back(&entry);
  });
  std::ranges::sort(ops, {}, [](const OperatorHandle& op) { return op.entry().defined_order(); });
  return ops;
}

[[gnu::cold]] std::vector<std::string> Dispatcher::dangling_ops(std::string_view ns) const {
  std::vector<std::string> names;
  std::lock_guard<std::mutex> lock(mutex_);
  tables_->for_each([&](const OperatorEntry& entry) {
    if (!entry.has_schema() && entry.name().ns() == ns) names.push_back(entry.name().to_string());
  });
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t Dispatcher::open_library(LibraryKind kind, const std::string& ns,
                                  const SourceLocation& where) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t id = next_id();
  if (kind == LibraryKind::Def) {
    const auto [it, added] = tables_->def_libraries.try_emplace(ns, Tables::OpenLibrary{id, where});
    SB_CHECK(added, "namespace '", ns,
             "' has a DEF library already; add to it with a FRAGMENT one\nopened at: ",
             to_string(it->second.where), "\nand again at: ", to_string(where));
  }
  return id;
}

void Dispatcher::close_library(LibraryKind kind, const std::string& ns, uint64_t library) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (kind != LibraryKind::Def) return;
  const auto it = tables_->def_libraries.find(ns);
  if (it != tables_->def_libraries.end() && it->second.id == library)
    tables_->def_libraries.erase(it);
}

OperatorEntry& Dispatcher::entry_for(const OperatorName& name) {
  const auto it = tables_->entries.find(name);
  std::unique_ptr<OperatorEntry>* place = nullptr;
  if (it == tables_->entries.end()) {
    auto added = std::make_unique<OperatorEntry>(*this, name);
    OperatorEntry& entry = **tables_->entries.insert(std::move(added)).first;
    entry.begin_generation();
    return entry;
  }
  OperatorEntry* bare = nullptr;  // one that never had a schema
  for (OperatorEntry* e = it->get(); e; e = e->next_.get()) {
    if (!e->dead()) return *e;
    if (!e->has_schema()) bare = e;
    place = &e->next_;
  }
  if (!bare) {
    *place = std::make_unique<OperatorEntry>(*this, name);
    bare = place->get();
  }
  bare->begin_generation();
  return *bare;
}

OperatorEntry& Dispatcher::entry_with(OperatorEntry& entry, const FunctionSchema& schema) {
  OperatorEntry* const first = tables_->entries.find(entry.name())->get();
  if (!first->next_) return entry;
  const std::string text = schema.to_string();
  for (OperatorEntry* e = first; e; e = e->next_.get()) {
    if (!e->has_schema() || e->schema_->to_string() != text) continue;
    e->kernels_ = std::exchange(entry.kernels_, {});
    remove(entry);
    e->begin_generation();
    return *e;
  }
  return entry;
}

void Dispatcher::remove(OperatorEntry& entry) {
  entry.end_generation();
  entry.invalidate_table();
  for (NoteKind kind : {NoteKind::Rules, NoteKind::Facts})
    if (OperatorNote* const note = entry.find_note(kind)) note->removed();
}

void Dispatcher::remove_if_vanished(OperatorEntry& entry) {
  if (entry.vanished()) remove(entry);
}

OperatorEntry* Dispatcher::define(FunctionSchema&& schema, SourceLocation where, TagSet tags,
                                  Definition definition) {
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  OperatorEntry* entry = &entry_for(schema.name);
  const OperatorName& name = entry->name();
  if (entry->has_schema()) {
    SB_THROW(RuntimeError, name.to_string(),
             ": defined already; close that library first, or define another overload"
             "\ndefined at: ",
             to_string(entry->defined_at()), "\nand again at: ", to_string(where));
  }
  try {
    entry->check_kernels(schema, where);
  } catch (...) {
    remove_if_vanished(*entry);
    throw;
  }
  entry = &entry_with(*entry, schema);
  entry->set_schema(std::move(schema), where);
  entry->defined_at_.store(where, std::memory_order_relaxed);
  entry->tags_.store(tags, std::memory_order_relaxed);
  entry->definition_.store(definition, std::memory_order_relaxed);
  entry->defined_order_.store(next_id(), std::memory_order_relaxed);
  definitions_.fetch_add(1, std::memory_order_release);
  entry->invalidate_table();
  return entry;
}

void Dispatcher::undefine(OperatorEntry* entry) {
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  definitions_.fetch_add(1, std::memory_order_release);
  // Calls that are under way read the schema's counts, and a handle its text: an operator that
  // keeps kernels moves to another entry.
  const OperatorName name = entry->name();
  RegisteredKernels kernels = std::exchange(entry->kernels_, {});
  remove(*entry);
  if (kernels.empty()) return;
  for (RegisteredKernel& kernel : kernels) kernel.fits_schema = true;
  entry_for(name).kernels_ = std::move(kernels);
}

void Dispatcher::check_against_others(const OperatorEntry& entry, const RegisteredKernel& kernel) {
  for (const RegisteredKernel& other : entry.kernels_) {
    if (!other.function.signature) continue;
    SB_CHECK(agree(*kernel.function.signature, *other.function.signature), entry.name().to_string(),
             " [", to_string(kernel.key), "]: the kernel and the one at ", to_string(other.key),
             " have different types; change one of them\n", to_string(kernel.key), ": ",
             to_string(*kernel.function.signature), " (", to_string(kernel.where), ")\n",
             to_string(other.key), ": ", to_string(*other.function.signature), " (",
             to_string(other.where), ")");
  }
}

Dispatcher::KernelId Dispatcher::add_kernel(const OperatorName& name, RegisteredKernel kernel,
                                            bool allow_override) {
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  OperatorEntry& entry = entry_for(name);
  try {
    if (const auto others = entry.kernels_at(kernel.key); !others.empty() && !allow_override) {
      SB_THROW(RuntimeError, name.to_string(), " [", to_string(kernel.key),
               "]: a kernel is already registered; close that library first, or allow_override() "
               "to put one over it\nregistered at: ",
               to_string(others.back().where), "\nand again at: ", to_string(kernel.where));
    }
    if (entry.has_schema())
      kernel.fits_schema = entry.check_kernel(entry.schema(), entry.defined_at(), kernel);
    else if (kernel.function.signature)
      check_against_others(entry, kernel);
  } catch (...) {
    remove_if_vanished(entry);
    throw;
  }
  kernel.id = next_id();
  const KernelId id{&entry, kernel.key, kernel.id};
  entry.kernels_.add(std::move(kernel));
  entry.invalidate_table();
  kernel_registrations_.fetch_add(1, std::memory_order_release);
  return id;
}

void Dispatcher::remove_kernel(const KernelId& id) {
  // Destroyed without the lock: a functor may own a Library, which closes with it.
  RegisteredKernel removed;
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  OperatorEntry* const entry = find_locked(id.op->name());
  removed = entry->kernels_.remove(id.key, id.id);
  entry->invalidate_table();
  kernel_registrations_.fetch_add(1, std::memory_order_release);
  remove_if_vanished(*entry);
}

uint64_t Dispatcher::add_fallback(DispatchKey key, RegisteredKernel kernel, bool allow_override) {
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  auto& fallbacks = fallbacks_[static_cast<size_t>(key)];
  // A backend from outside brings its own, and takes the default along when it goes.
  if (key == K::AutogradPrivateUse1 && !kernel.serves)
    std::erase_if(fallbacks, [](const auto& other) { return other->id == 0; });
  // One for every operator and one for some stand beside each other.
  for (const auto& other : fallbacks) {
    SB_CHECK(
        allow_override || !other->serves != !kernel.serves, "a fallback for ", to_string(key),
        " is already registered; close that library first, or allow_override() to put one over "
        "it\nregistered at: ",
        to_string(other->where), "\nand again at: ", to_string(kernel.where));
  }
  kernel.id = next_id();
  fallbacks.push_back(std::make_unique<RegisteredKernel>(std::move(kernel)));
  invalidate_all();
  kernel_registrations_.fetch_add(1, std::memory_order_release);
  return fallbacks.back()->id;
}

void Dispatcher::remove_fallback(DispatchKey key, uint64_t id) {
  std::unique_ptr<RegisteredKernel> removed;  // as in remove_kernel
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  auto& fallbacks = fallbacks_[static_cast<size_t>(key)];
  const auto found = std::find_if(fallbacks.begin(), fallbacks.end(),
                                  [id](const auto& fallback) { return fallback->id == id; });
  SB_ASSERT(found != fallbacks.end());
  removed = std::move(*found);
  fallbacks.erase(found);
  invalidate_all();
  kernel_registrations_.fetch_add(1, std::memory_order_release);
}

const RegisteredKernel* Dispatcher::fallback_locked(DispatchKey key,
                                                    const FunctionSchema* schema) const {
  const auto& fallbacks = fallbacks_[static_cast<size_t>(key)];
  const RegisteredKernel* for_all = nullptr;
  for (const auto& fallback : fallbacks) {
    if (!fallback->serves) for_all = fallback.get();
  }
  for (auto it = fallbacks.rbegin(); schema && it != fallbacks.rend(); ++it)
    if ((*it)->serves && (*it)->serves(*schema)) return it->get();
  return for_all;
}

void Dispatcher::invalidate_all() {
  tables_->for_each([](OperatorEntry& entry) { entry.invalidate_table(); });
}

const DispatchTable& Dispatcher::resolve_table(OperatorEntry& entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!entry.table_) entry.build_table();  // another thread may have been first
  entry.publish_table(!observer_owner_);
  return entry.table_->table;
}

void Dispatcher::observe(std::shared_ptr<CallObserver> observer) {
  std::lock_guard<std::mutex> lock(mutex_);
  SB_CHECK(!observer_owner_, "the dispatcher is observed already; end that observation first");
  set_observer(std::move(observer));
}

void Dispatcher::end_observing(const CallObserver* observer) {
  ReclaimAtEnd reclaim;
  std::lock_guard<std::mutex> lock(mutex_);
  if (observer_owner_.get() == observer) set_observer(nullptr);
}

void Dispatcher::set_observer(std::shared_ptr<CallObserver> observer) {
  observer_.store(observer.get(), std::memory_order_release);
  observer_owner_.swap(observer);
  tables_->for_each([&](OperatorEntry& entry) { entry.publish_table(!observer_owner_); });
  if (observer) internal::retire(std::move(observer));
}

Dispatcher& default_dispatcher() {
  static Dispatcher* const dispatcher = new Dispatcher;
  return *dispatcher;
}

}  // namespace sb
