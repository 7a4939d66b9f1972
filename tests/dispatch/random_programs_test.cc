// The table is a function of what is registered, and a call of the table, its arguments and its
// thread. Random programs of registrations run in every order and are undone in every order; after
// each step the whole table and some calls must agree with literal_rules.h. Only kernels at one key
// are a stack, for which their order counts: there the literal rules keep the order too.

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "absl/strings/str_join.h"
#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/dispatch/literal_rules.h"

namespace sb {
namespace {

using literal::Does;
using literal::Name;
using Log = std::vector<std::string>;
using Order = std::vector<size_t>;

// --- Programs ---

// One registration, by a library of its own. Its kernel is labelled with the step's number.
struct Step {
  enum class Kind { Define, Impl, Fallback } kind;
  Name key;
  Does does = Does::Ends;
};

// A call with one tensor for each list of keys, on a thread that includes and excludes some.
struct RandomCall {
  std::vector<std::vector<Name>> tensors;
  std::vector<Name> included, excluded;
  bool inference = false;
};

struct Program {
  uint64_t seed;
  std::vector<Step> steps;
  std::vector<RandomCall> calls;
};

// Keys that meet one another in the rules: each alias, some backends of every kind, and what lies
// around them. Not Python and the like, whose fallbacks call modes.
const std::vector<Name> kAliases = {"Autograd",
                                    "CompositeImplicitAutograd",
                                    "CompositeImplicitAutogradNestedTensor",
                                    "CompositeExplicitAutograd",
                                    "CompositeExplicitAutogradNonFunctional",
                                    "FuncTorchBatchedDecomposition"};
const std::vector<Name> kKeys = {"CPU",
                                 "CUDA",
                                 "XLA",
                                 "Meta",
                                 "PrivateUse1",
                                 "QuantizedCPU",
                                 "SparseCPU",
                                 "SparseCUDA",
                                 "SparseCsrCPU",
                                 "FPGA",
                                 "MkldnnCPU",
                                 "NestedTensorCPU",
                                 "AutogradCPU",
                                 "AutogradCUDA",
                                 "AutogradOther",
                                 "AutogradPrivateUse1",
                                 "AutogradMeta",
                                 "Tracer",
                                 "BackendSelect",
                                 "AutogradNestedTensor",
                                 "Conjugate",
                                 "MTIA",
                                 "AutogradMTIA",
                                 "AutocastCPU",
                                 "Functionalize",
                                 "ADInplaceOrView",
                                 "FuncTorchGradWrapper",
                                 "VmapMode",
                                 "Undefined",
                                 "FuncTorchBatched"};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  const Name& of(const std::vector<Name>& names) { return names[below(names.size())]; }
  Does behaviour() { return static_cast<Does>(below(4)); }

 private:
  std::mt19937_64 engine_;
};

Program random_program(uint64_t seed, size_t size) {
  Random random(seed);
  Program program{seed, {{Step::Kind::Define, "", Does::Ends}}, {}};
  std::set<Name> fallbacks;  // a key takes one
  for (const auto& [key, kernel] : literal::defaults().fallbacks) fallbacks.insert(key);
  while (program.steps.size() < size) {
    if (random.one_in(6)) {
      const Name& key = random.of(kKeys);
      if (key == "Undefined" || !fallbacks.insert(key).second) continue;
      program.steps.push_back({Step::Kind::Fallback, key, random.behaviour()});
      continue;
    }
    // Often the key of an earlier step, for a stack of kernels.
    const Step& earlier = program.steps[random.below(program.steps.size())];
    const Name& key = earlier.kind == Step::Kind::Impl && random.one_in(3) ? earlier.key
                      : random.one_in(2)                                   ? random.of(kAliases)
                                                                           : random.of(kKeys);
    program.steps.push_back({Step::Kind::Impl, key, random.behaviour()});
  }
  auto some_keys = [&](size_t most) {
    std::vector<Name> keys(random.below(most + 1));
    for (Name& key : keys) {
      // Mostly those that the program registers something at.
      const Step& step = program.steps[random.below(program.steps.size())];
      const bool runtime = step.kind != Step::Kind::Define &&
                           std::find(kAliases.begin(), kAliases.end(), step.key) == kAliases.end();
      key = runtime && !random.one_in(3) ? step.key : random.of(kKeys);
    }
    return keys;
  };
  for (int i = 0; i < 6; ++i) {
    RandomCall call;
    call.tensors.resize(random.below(3));
    for (std::vector<Name>& keys : call.tensors) {
      keys = some_keys(3);
      if (random.one_in(4)) keys.push_back("AutogradOther");  // as tensors of many backends
    }
    if (random.one_in(2)) call.included = some_keys(2);
    if (random.one_in(3)) call.excluded = some_keys(2);
    call.inference = random.one_in(5);
    program.calls.push_back(std::move(call));
  }
  return program;
}

std::string to_string(const Step& step) {
  static const char* const does[] = {"ends", "redispatches", "calls anew", "falls through"};
  if (step.kind == Step::Kind::Define) return "define";
  return str_cat(step.kind == Step::Kind::Impl ? "impl" : "fallback", " at ", step.key, ", ",
                 does[static_cast<int>(step.does)]);
}

std::string to_string(const RandomCall& call) {
  std::string text = "call with";
  for (const std::vector<Name>& keys : call.tensors)
    text += str_cat(" {", absl::StrJoin(keys, ", "), "}");
  return str_cat(text, ", including {", absl::StrJoin(call.included, ", "), "}, excluding {",
                 absl::StrJoin(call.excluded, ", "), "}",
                 call.inference ? ", in inference mode" : "");
}

// --- The same program, for real ---

// The place that a step registers from: what tells kernels apart in a table.
constexpr SourceLocation kPlaces[] = {
    SourceLocation::current(),  // 0
    SourceLocation::current(),  // 1
    SourceLocation::current(),  // 2
    SourceLocation::current(),  // 3
    SourceLocation::current(),  // 4
    SourceLocation::current(),  // 5
};
static_assert(kPlaces[5].line() == kPlaces[0].line() + 5);

int label_at(const SourceLocation& where) {
  if (std::string_view(where.file_name()) != kPlaces[0].file_name()) return literal::kDefaultLabel;
  return static_cast<int>(where.line() - kPlaces[0].line());
}

DispatchKeySet set_of(const std::vector<Name>& keys) {
  DispatchKeySet set;
  for (const Name& key : keys) set |= parse_dispatch_key(key);
  return set;
}

struct RealKernel {
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    const DispatchKey key = keys.highest_key();
    log->push_back(str_cat(label, " for ", sb::to_string(key)));
    if (key == DispatchKey::Undefined || does == Does::Ends) {
      stack->clear();
    } else if (does == Does::Redispatches) {
      op.redispatch_boxed(keys & DispatchKeySet::below(key), stack);
    } else {
      ExcludeKeysGuard exclude(key);
      op.call_boxed(stack);
    }
  }
  Log* log;
  int label;
  Does does;
};

// What the literal rules say of one state of the registry.
struct Expected {
  struct Row {
    std::string rule, source;
    bool has_kernel = false, falls_through = false;
    int label = literal::kDefaultLabel;
    bool operator==(const Row&) const = default;
  };
  std::vector<Row> rows;
  std::vector<Log> calls;
};

class Trial {
 public:
  explicit Trial(const Program& program) : program_(program) {
    for (const RandomCall& call : program.calls) {
      std::vector<Tensor> tensors;
      for (const std::vector<Name>& keys : call.tensors)
        tensors.push_back(tensor_with(set_of(keys)));
      tensors_.push_back(std::move(tensors));
    }
  }

  // Runs the steps in one order, and undoes them in another.
  void run(const Order& order, const Order& undo) {
    registered_ = literal::defaults();
    defined_ = false;
    order_ = &order;
    undo_ = &undo;
    std::vector<std::unique_ptr<Library>> libraries(program_.steps.size());
    for (done_ = 0; done_ < order.size();) {
      const size_t i = order[done_++];
      libraries[i] = perform(i);
      check();
    }
    for (size_t i : undo) {
      ++done_;
      libraries[i]->close();
      if (program_.steps[i].kind == Step::Kind::Define)
        defined_ = false;
      else
        literal::remove(registered_, static_cast<int>(i));
      check();
    }
  }

  const std::set<std::string>& rules_seen() const { return rules_seen_; }
  const std::set<std::string>& ends_seen() const { return ends_seen_; }

 private:
  std::unique_ptr<Library> perform(size_t i) {
    const Step& step = program_.steps[i];
    const int label = static_cast<int>(i);
    if (step.kind == Step::Kind::Define) {
      auto library = std::make_unique<Library>(dispatcher_, Library::Kind::Def, "demo");
      library->define("f(Tensor[] xs) -> ()");
      defined_ = true;
      return library;
    }
    const bool impl = step.kind == Step::Kind::Impl;
    auto library = std::make_unique<Library>(dispatcher_, Library::Kind::Impl, impl ? "demo" : "_");
    library->allow_override();
    const DispatchKey key = parse_dispatch_key(step.key);
    auto add = [&](auto kernel) {
      if (impl)
        library->impl("f", key, kernel, kPlaces[i]);
      else
        library->fallback(key, kernel, kPlaces[i]);
    };
    if (step.does == Does::FallsThrough)
      add(fallthrough);
    else
      add(RealKernel{&log_, label, step.does});
    const literal::Kernel kernel{label, step.does};
    if (impl)
      registered_.kernels[step.key].push_back(kernel);
    else
      registered_.fallbacks[step.key] = kernel;
    return library;
  }

  void check() {
    const OperatorName name = OperatorName::parse("demo::f");
    const std::optional<OperatorHandle> op = dispatcher_.find_op(name);
    if (op.has_value() != defined_) fail(defined_ ? "the operator is gone" : "it was removed");
    const bool exists = dispatcher_.find_entry(name) != nullptr;
    if (exists != (defined_ || !registered_.kernels.empty())) fail("the entry is wrongly there");
    if (!defined_) return;
    const Expected& expected = this->expected();
    check_table(*op, expected);
    for (size_t i = 0; i < program_.calls.size(); ++i) {
      const Log got = call(*op, i);
      if (got == expected.calls[i]) continue;
      fail(str_cat(to_string(program_.calls[i]), "\n  expected ",
                   absl::StrJoin(expected.calls[i], ", "), "\n  got      ",
                   absl::StrJoin(got, ", ")));
    }
  }

  void check_table(const OperatorHandle& op, const Expected& expected) {
    const std::vector<TableRow> rows = computed_table(op);
    const std::vector<Name>& keys = literal::runtime_keys();
    REQUIRE(rows.size() == keys.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const TableRow& row = rows[i];
      const Expected::Row& want = expected.rows[i];
      const int label = row.has_kernel ? label_at(row.where) : literal::kDefaultLabel;
      if (sb::to_string(row.key) == keys[i] && sb::to_string(row.rule) == want.rule &&
          sb::to_string(row.source) == want.source && row.has_kernel == want.has_kernel &&
          row.is_fallthrough == want.falls_through && label == want.label)
        continue;
      fail(str_cat(sb::to_string(row.key), "\n  expected ", want.rule, ", kernel ", want.label,
                   " from ", want.source, "\n  got      ", sb::to_string(row.rule), ", kernel ",
                   label, " from ", sb::to_string(row.source)));
    }
  }

  Log call(const OperatorHandle& op, size_t i) {
    const RandomCall& call = program_.calls[i];
    log_.clear();
    IncludeKeysGuard include(set_of(call.included));
    ExcludeKeysGuard exclude(set_of(call.excluded));
    std::optional<InferenceModeGuard> inference;
    if (call.inference) inference.emplace();
    Stack stack = {IValue(tensors_[i])};
    try {
      op.call_boxed(&stack);
    } catch (const NotImplementedError&) {
      log_.push_back("missing");
    } catch (const RuntimeError& error) {
      const std::string text = error.what();
      log_.push_back(text.find("ambiguous") != text.npos     ? "ambiguous"
                     : text.find("fallthrough") != text.npos ? "fallthrough"
                                                             : text);
    }
    return log_;
  }

  // The literal rules are slow, and states come again and again.
  const Expected& expected() {
    const auto [it, is_new] = states_.try_emplace(registered_);
    Expected& expected = it->second;
    if (!is_new) return expected;
    const literal::Table table = literal::fill(registered_);
    for (const Name& key : literal::runtime_keys()) {
      const literal::Slot& slot = table.at(key);
      rules_seen_.insert(slot.rule);
      Expected::Row row{slot.rule, slot.source};
      if (slot.kernel) {
        row.has_kernel = slot.kernel->does != Does::Refuses;
        row.falls_through = slot.kernel->does == Does::FallsThrough;
        row.label = slot.kernel->label;
      }
      expected.rows.push_back(std::move(row));
    }
    for (const RandomCall& call : program_.calls) {
      literal::KeySet arguments;
      for (const std::vector<Name>& keys : call.tensors)
        arguments = literal::unite(arguments, literal::set_of(keys));
      literal::Thread thread;
      thread.included = literal::unite(thread.included, literal::set_of(call.included));
      thread.excluded.merge(literal::set_of(call.excluded).functionalities);
      if (call.inference) literal::enter_inference_mode(thread);
      expected.calls.push_back(literal::call(table, arguments, thread));
      const std::string& end = expected.calls.back().back();
      ends_seen_.insert(end.find(" for ") == end.npos ? end : "ends");
      if (expected.calls.back().size() > 2) ends_seen_.insert("passes on twice");
    }
    return expected;
  }

  void fail(const std::string& what) const {
    std::string text = str_cat("seed ", program_.seed, ", ", program_.steps.size(), " steps\n");
    for (size_t n = 0; n < done_; ++n) {
      const bool undoing = n >= order_->size();
      const size_t i = undoing ? (*undo_)[n - order_->size()] : (*order_)[n];
      text += str_cat("  ", undoing ? "undo " : "", i, ": ", to_string(program_.steps[i]), "\n");
    }
    FAIL(text << what);
  }

  const Program& program_;
  std::vector<std::vector<Tensor>> tensors_;
  Log log_;
  Dispatcher dispatcher_;
  literal::Registered registered_;
  bool defined_ = false;
  std::map<literal::Registered, Expected> states_;
  std::set<std::string> rules_seen_, ends_seen_;
  // For messages: how far a run has come.
  const Order* order_ = nullptr;
  const Order* undo_ = nullptr;
  size_t done_ = 0;
};

std::vector<Order> all_orders(size_t n) {
  Order order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<Order> orders;
  do orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// Programs of so many steps, one for each seed. Up to four steps, every order meets every order of
// undoing; above, each is there once, in random pairs.
void try_programs(uint64_t first_seed, uint64_t last_seed, size_t steps,
                  std::set<std::string>* rules_seen, std::set<std::string>* ends_seen) {
  const std::vector<Order> orders = all_orders(steps);
  for (uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    const Program program = random_program(seed, steps);
    Trial trial(program);
    if (steps <= 4) {
      for (const Order& order : orders)
        for (const Order& undo : orders) trial.run(order, undo);
    } else {
      std::vector<Order> undo = orders;
      std::shuffle(undo.begin(), undo.end(), std::mt19937_64(seed));
      for (size_t i = 0; i < orders.size(); ++i) trial.run(orders[i], undo[i]);
    }
    rules_seen->insert(trial.rules_seen().begin(), trial.rules_seen().end());
    ends_seen->insert(trial.ends_seen().begin(), trial.ends_seen().end());
  }
}

const std::set<std::string> kAllRules = {
    "kernel",      "default backend kernel", "nested kernel",  "ambiguous autogradother",
    "math kernel", "autograd kernel",        "batched kernel", "backend fallback",
    "missing"};
const std::set<std::string> kAllEnds = {"ends", "missing", "ambiguous", "fallthrough",
                                        "passes on twice"};

TEST_CASE("programs of registrations give what the literal rules say, in every order") {
  std::set<std::string> rules, ends;
  try_programs(1, 100, 3, &rules, &ends);
  try_programs(100, 110, 4, &rules, &ends);
  try_programs(200, 215, 5, &rules, &ends);
  try_programs(300, 302, 6, &rules, &ends);
  // Or the programs would not be worth their time.
  CHECK(rules == kAllRules);
  CHECK(ends == kAllEnds);
}

TEST_CASE("many more programs do, too", "[.slow]") {
  std::set<std::string> rules, ends;
  try_programs(10000, 10400, 3, &rules, &ends);
  try_programs(20000, 20100, 4, &rules, &ends);
  try_programs(30000, 30400, 5, &rules, &ends);
  try_programs(40000, 40100, 6, &rules, &ends);
  CHECK(rules == kAllRules);
  CHECK(ends == kAllEnds);
}

}  // namespace
}  // namespace sb
