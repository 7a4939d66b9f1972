#include "switchboard/tests/dispatch/literal_rules.h"

#include <algorithm>

namespace literal {
namespace {

using Names = std::set<Name>;

// --- Keys ---

// Lowest priority first.
const std::vector<Name> kBackends = {
    "CPU", "CUDA", "HIP",  "XLA",  "MPS",         "IPU",         "XPU",         "HPU",
    "VE",  "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"};
// Lowest first. Observed is Switchboard's own, and takes no kernel.
const std::vector<Name> kFunctionalities = {"Dense",
                                            "FPGA",
                                            "Vulkan",
                                            "Metal",
                                            "Quantized",
                                            "CustomRNGKeyId",
                                            "MkldnnCPU",
                                            "Sparse",
                                            "SparseCsr",
                                            "NestedTensor",
                                            "BackendSelect",
                                            "Fake",
                                            "Python",
                                            "FuncTorchDynamicLayerBackMode",
                                            "Functionalize",
                                            "Conjugate",
                                            "Negative",
                                            "ZeroTensor",
                                            "ADInplaceOrView",
                                            "AutogradOther",
                                            "Autograd",
                                            "AutogradNestedTensor",
                                            "Tracer",
                                            "AutocastCPU",
                                            "AutocastMTIA",
                                            "AutocastMAIA",
                                            "AutocastXPU",
                                            "AutocastIPU",
                                            "AutocastHPU",
                                            "AutocastXLA",
                                            "AutocastMPS",
                                            "AutocastCUDA",
                                            "AutocastPrivateUse1",
                                            "FuncTorchBatched",
                                            "BatchedNestedTensor",
                                            "FuncTorchVmapMode",
                                            "Batched",
                                            "VmapMode",
                                            "FuncTorchGradWrapper",
                                            "DeferredInit",
                                            "PythonTLSSnapshot",
                                            "FuncTorchDynamicLayerFrontMode",
                                            "TESTING_ONLY_GenericWrapper",
                                            "TESTING_ONLY_GenericMode",
                                            "PreDispatch",
                                            "PythonDispatcher",
                                            "Observed"};
const Names kPerBackend = {"Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd"};

// A runtime key is a functionality alone, or a per-backend functionality and a backend: Dense and
// CPU are called CPU, Autograd and CPU are called AutogradCPU.
Name runtime_key(const Name& functionality, const Name& backend) {
  if (!kPerBackend.contains(functionality)) return functionality;
  return functionality == "Dense" ? backend : functionality + backend;
}

struct Parts {
  Name functionality, backend;  // no backend: the functionality stands alone
};
const Parts& parts_of(const Name& key) {
  static const std::map<Name, Parts> all = [] {
    std::map<Name, Parts> parts;
    for (const Name& f : kFunctionalities) {
      if (!kPerBackend.contains(f))
        parts[f] = {f, ""};
      else
        for (const Name& b : kBackends) parts[runtime_key(f, b)] = {f, b};
    }
    return parts;
  }();
  return all.at(key);
}

Names on_every_backend(const Name& functionality) {
  Names keys;
  for (const Name& backend : kBackends) keys.insert(runtime_key(functionality, backend));
  return keys;
}

template <class... Sets>
Names join(const Sets&... sets) {
  Names all;
  (all.insert(sets.begin(), sets.end()), ...);
  return all;
}

const Name& highest(const std::vector<Name>& ascending, const Names& of, const Name& otherwise) {
  for (auto it = ascending.rbegin(); it != ascending.rend(); ++it)
    if (of.contains(*it)) return *it;
  return otherwise;
}

// "The slot of a set: its highest functionality; if that is per-backend, with the set's highest
// backend. No functionality at all: the Undefined slot, whatever backends are left."
Name slot_of(const KeySet& set) {
  static const Name none, cpu = "CPU";
  const Name& functionality = highest(kFunctionalities, set.functionalities, none);
  if (functionality.empty()) return "Undefined";
  return runtime_key(functionality, highest(kBackends, set.backends, cpu));
}

// --- Alias keys ---

const Names kAlone = {"FPGA", "Vulkan", "Metal", "CustomRNGKeyId", "MkldnnCPU"};

Names backend_keys() {
  return join(on_every_backend("Dense"), on_every_backend("Quantized"), on_every_backend("Sparse"),
              on_every_backend("SparseCsr"), kAlone);
}
Names autograd_keys() {
  return join(on_every_backend("Autograd"), Names{"AutogradOther", "AutogradNestedTensor"});
}

const Names& keys_of_alias(const Name& alias) {
  static const std::map<Name, Names> all = [] {
    std::map<Name, Names> aliases;
    aliases["CompositeExplicitAutograd"] = join(backend_keys(), Names{"Undefined"});
    Names functional = aliases["CompositeExplicitAutograd"];
    for (const Name& key : on_every_backend("Sparse")) functional.erase(key);
    for (const char* backend : {"XLA", "Lazy"})
      for (const Name& f : kPerBackend) functional.erase(runtime_key(f, backend));
    aliases["CompositeExplicitAutogradNonFunctional"] = functional;
    aliases["CompositeImplicitAutograd"] =
        join(backend_keys(), on_every_backend("NestedTensor"), autograd_keys(), Names{"Undefined"});
    aliases["CompositeImplicitAutogradNestedTensor"] =
        join(on_every_backend("NestedTensor"), Names{"AutogradNestedTensor"});
    aliases["Autograd"] = autograd_keys();
    aliases["FuncTorchBatchedDecomposition"] = {"FuncTorchBatched"};
    return aliases;
  }();
  return all.at(alias);
}

// "The backend keys behind an autograd key: AutogradX has X alone; ..."
Names backend_keys_behind(const Name& key) {
  if (key == "AutogradOther")
    return join(on_every_backend("Quantized"), on_every_backend("Sparse"),
                on_every_backend("SparseCsr"), kAlone);
  if (key == "AutogradNestedTensor") return on_every_backend("NestedTensor");
  // "HIP, VE and MTIA have none."
  if (Names{"AutogradHIP", "AutogradVE", "AutogradMTIA"}.contains(key)) return {};
  for (const Name& backend : kBackends)
    if (key == "Autograd" + backend) return {backend};
  return {};
}

// --- Filling a slot ---

Slot fill_slot(const Registered& registered, const Name& key) {
  auto has = [&](const Name& k) { return registered.kernels.contains(k); };
  auto use = [&](const std::string& rule, const Name& source) {
    return Slot{rule, source, registered.kernels.at(source).back()};
  };
  auto covers = [&](const Name& alias) { return has(alias) && keys_of_alias(alias).contains(key); };

  // 1. the newest kernel registered at the key itself
  if (has(key)) return use("kernel", key);
  // 2. CompositeExplicitAutogradNonFunctional's, if it covers the key
  if (covers("CompositeExplicitAutogradNonFunctional"))
    return use("default backend kernel", "CompositeExplicitAutogradNonFunctional");
  // 3. CompositeExplicitAutograd's, if it covers the key
  if (covers("CompositeExplicitAutograd"))
    return use("default backend kernel", "CompositeExplicitAutograd");
  // 4. CompositeImplicitAutogradNestedTensor's, if it covers the key
  if (covers("CompositeImplicitAutogradNestedTensor"))
    return use("nested kernel", "CompositeImplicitAutogradNestedTensor");
  // 5. CompositeImplicitAutograd's, if it covers the key: at AutogradOther, with a kernel at any of
  // AutogradOther's backend keys, the slot is ambiguous instead; otherwise it is used unless the
  // key is an autograd key with a kernel at its own backend key, or the operator has a
  // CompositeExplicitAutograd kernel
  if (covers("CompositeImplicitAutograd")) {
    const Names behind = backend_keys_behind(key);
    const bool kernel_behind = std::any_of(behind.begin(), behind.end(), has);
    if (key == "AutogradOther" && kernel_behind) return {"ambiguous autogradother", key, {}};
    if (!kernel_behind && !has("CompositeExplicitAutograd"))
      return use("math kernel", "CompositeImplicitAutograd");
  }
  // 6. Autograd's, if it covers the key; from 2.x, FuncTorchBatchedDecomposition's after it
  if (covers("Autograd")) return use("autograd kernel", "Autograd");
  if (covers("FuncTorchBatchedDecomposition"))
    return use("batched kernel", "FuncTorchBatchedDecomposition");
  // 7. the backend fallback of the key
  if (const auto it = registered.fallbacks.find(key); it != registered.fallbacks.end())
    return {"backend fallback", key, it->second};
  // 8. missing
  return {"missing", key, {}};
}

bool falls_through(const Slot& slot) {
  return slot.kernel && slot.kernel->does == Does::FallsThrough;
}

// --- Calling ---

void run_call(const Table& table, const KeySet& arguments, const Thread& thread,
              std::vector<std::string>& log);

// "redispatch = run the highest slot of exactly the given set."
void run_slot(const Table& table, const KeySet& set, const KeySet& arguments, const Thread& thread,
              std::vector<std::string>& log) {
  const Name key = slot_of(set);
  const Slot& slot = table.at(key);
  if (!slot.kernel || slot.kernel->does == Does::Refuses) {
    log.push_back(slot.rule == "ambiguous autogradother" ? "ambiguous" : "missing");
    return;
  }
  if (falls_through(slot)) {
    log.push_back("fallthrough");
    return;
  }
  // "Below K" keeps the functionalities strictly lower than K's and every backend.
  auto below = [&](const Name& functionality) {
    KeySet kept{{}, set.backends};
    for (const Name& f : kFunctionalities) {
      if (f == functionality) break;
      if (set.functionalities.contains(f)) kept.functionalities.insert(f);
    }
    return kept;
  };
  // The default at the autograd keys "redispatches with its key set less AutogradOther and
  // everything above it", and is in no log.
  if (slot.kernel->does == Does::GoesBelowAutograd)
    return run_slot(table, below("AutogradOther"), arguments, thread, log);
  log.push_back(std::to_string(slot.kernel->label) + " for " + key);
  if (key == "Undefined" || slot.kernel->does == Does::Ends) return;
  const Name functionality = parts_of(key).functionality;
  if (slot.kernel->does == Does::CallsAnew) {
    Thread inner = thread;
    inner.excluded.insert(functionality);
    run_call(table, arguments, inner, log);
    return;
  }
  run_slot(table, below(functionality), arguments, thread, log);
}

void run_call(const Table& table, const KeySet& arguments, const Thread& thread,
              std::vector<std::string>& log) {
  KeySet set = unite(arguments, thread.included);
  for (const Name& f : thread.excluded) set.functionalities.erase(f);
  // "The mask of fallthroughs is that of the highest backend after TLS was added", or of CPU if
  // there is none.
  static const Name cpu = "CPU";
  const Name& backend = highest(kBackends, set.backends, cpu);
  std::erase_if(set.functionalities,
                [&](const Name& f) { return falls_through(table.at(runtime_key(f, backend))); });
  run_slot(table, set, arguments, thread, log);
}

}  // namespace

Registered defaults() {
  Registered registered;
  for (const char* key :
       {"BackendSelect", "ADInplaceOrView", "AutocastCPU", "AutocastMTIA", "AutocastMAIA",
        "AutocastXPU", "AutocastMPS", "AutocastCUDA", "FuncTorchVmapMode", "VmapMode"})
    registered.fallbacks[key] = {kDefaultLabel, Does::FallsThrough};
  for (const char* key : {"AutogradOther", "AutogradCPU", "AutogradCUDA", "AutogradXLA",
                          "AutogradMPS", "AutogradXPU", "AutogradHPU", "AutogradLazy",
                          "AutogradMTIA", "AutogradMAIA", "AutogradMeta", "AutogradPrivateUse1"})
    registered.fallbacks[key] = {kDefaultLabel, Does::GoesBelowAutograd};
  for (const char* key : {"Meta", "FuncTorchBatched", "BatchedNestedTensor"})
    registered.fallbacks[key] = {kDefaultLabel, Does::Refuses};
  // Those that call modes, transforms and rules.
  for (const char* key :
       {"Python", "PreDispatch", "PythonDispatcher", "FuncTorchDynamicLayerFrontMode"})
    registered.fallbacks[key] = {kDefaultLabel, Does::Ends};
  return registered;
}

void remove(Registered& registered, int label) {
  for (auto& [key, stack] : registered.kernels)
    std::erase_if(stack, [&](const Kernel& kernel) { return kernel.label == label; });
  std::erase_if(registered.kernels, [](const auto& stack) { return stack.second.empty(); });
  std::erase_if(registered.fallbacks,
                [&](const auto& fallback) { return fallback.second.label == label; });
}

const std::vector<Name>& runtime_keys() {
  static const std::vector<Name> keys = [] {
    std::vector<Name> all = {"Undefined"};
    for (const Name& f : kFunctionalities) {
      if (!kPerBackend.contains(f))
        all.push_back(f);
      else
        for (const Name& b : kBackends) all.push_back(runtime_key(f, b));
    }
    return all;
  }();
  return keys;
}

Table fill(const Registered& registered) {
  Table table;
  for (const Name& key : runtime_keys()) table[key] = fill_slot(registered, key);
  return table;
}

KeySet set_of(const std::vector<Name>& keys) {
  KeySet set;
  for (const Name& key : keys) {
    if (key == "Undefined") continue;
    const Parts& parts = parts_of(key);
    set.functionalities.insert(parts.functionality);
    if (!parts.backend.empty()) set.backends.insert(parts.backend);
  }
  return set;
}

KeySet unite(KeySet a, const KeySet& b) {
  return {join(a.functionalities, b.functionalities), join(a.backends, b.backends)};
}

void enter_inference_mode(Thread& thread) {
  thread.included.functionalities.erase("ADInplaceOrView");
  for (const char* f : {"AutogradOther", "Autograd", "AutogradNestedTensor"})
    thread.excluded.insert(f);
}

std::vector<std::string> call(const Table& table, const KeySet& arguments, const Thread& thread) {
  std::vector<std::string> log;
  run_call(table, arguments, thread, log);
  return log;
}

}  // namespace literal
