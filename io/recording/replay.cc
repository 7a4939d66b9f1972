#include "switchboard/io/recording/replay.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/layer_keys.h"
#include "switchboard/io/recording/nested_values.h"
#include "switchboard/io/recording/recorded_values.h"

namespace sb::io {
namespace {

using Kind = RecordedValue::Kind;

// The part of a run that a replay makes: the calls of the program, all on one thread, and where a
// mode took one, those that the mode made.
struct Plan {
  RecordedRun run;
  std::vector<uint32_t> origin;  // of each event, in the recording
  std::vector<uint32_t> roots;   // the calls to make, in the recording
};

DispatchKeySet layers_in(const std::string& keys) {
  try {
    return DispatchKeySet::from_bits(parse_key_set(keys).bits() & internal::kLayerKeys.bits() &
                                     DispatchKeySet::kFunctionalityBits);
  } catch (const Error&) {  // a key that is not here: the call is refused
    return {};
  }
}

class Planner {
 public:
  explicit Planner(const RecordedRun& run) : run_(run), calls_(run) {
    for (const RecordedSite& site : run.sites) layers_.push_back(layers_in(site.keys));
    for (const RecordedMeta& meta : run.metas) tensor_layers_.push_back(layers_in(meta.keys));
    plan_.run = run;
    plan_.run.events.clear();
    plan_.run.contents.clear();
    plan_.run.num_threads = 1;
    for (uint32_t i = 0; i < run.events.size(); ++i)
      if (run.events[i].depth == 0) add_root(i);
  }
  Plan plan() { return std::move(plan_); }

 private:
  // Whether a layer that a replay does not have took the call, or one that its kernel made.
  bool meets_layer(uint32_t i) const {
    DispatchKeySet layers = layers_[run_.events[i].site];
    for (const RecordedValue& v : run_.arguments(run_.events[i]))
      if (v.kind == Kind::Tensor && run_.tensor(v).defined())
        layers |= tensor_layers_[run_.tensor(v).meta];
    // Where there are fake tensors, modes may be theirs, which a replay has.
    return !(layers - internal::kModeKeys).empty() || (!layers.empty() && meets_mode(i));
  }
  // Whether a mode that a replay does not have took the call, or one that its kernel made.
  bool meets_mode(uint32_t i) const {
    const RecordedEvent& event = run_.events[i];
    const std::vector<uint32_t>& children = calls_.children(i);
    const auto is_at_mode = [&](uint32_t e) {
      return run_.site(run_.events[e]).key.starts_with("Python");
    };
    // A fake tensor's own mode is here, too; it makes no call of the same operator at the key.
    if (is_at_mode(i) && (!touches_fake(run_, event) ||
                          std::any_of(children.begin(), children.end(), [&](uint32_t child) {
                            return is_at_mode(child) && run_.events[child].site == event.site;
                          })))
      return true;
    return std::any_of(children.begin(), children.end(),
                       [&](uint32_t child) { return meets_mode(child); });
  }
  void add_root(uint32_t i) {
    if (!run_.events[i].ended) return;  // the file says nothing of its end
    if (!meets_layer(i)) {
      plan_.roots.push_back(i);
      add(i, RecordedEvent::kNone, 0);
      return;
    }
    for (const uint32_t child : calls_.children(i)) add_root(child);
  }
  void add(uint32_t i, uint32_t parent, uint32_t depth) {
    const uint32_t place = static_cast<uint32_t>(plan_.run.events.size());
    RecordedEvent event = run_.events[i];
    event.parent = parent;
    event.depth = depth;
    event.thread = 1;
    plan_.run.events.push_back(event);
    plan_.origin.push_back(i);
    for (const uint32_t child : calls_.children(i)) add(child, place, depth + 1);
  }

  const RecordedRun& run_;
  CallTree calls_;
  std::vector<DispatchKeySet> layers_;         // by site
  std::vector<DispatchKeySet> tensor_layers_;  // by meta
  Plan plan_;
};

DispatchKeySet functionalities(const std::vector<std::string>& names) {
  uint64_t bits = 0;
  for (const std::string& name : names) {
    const int f = static_cast<int>(functionality_of(parse_dispatch_key(name)));
    if (f > 0) bits |= uint64_t{1} << (kNumBackends + f - 1);
  }
  return DispatchKeySet::from_bits(bits);
}

// Sets the thread to what it was set to in the recording, for a scope, with an observer.
class ContextScope {
 public:
  ContextScope(const RecordedContext& context, CallObserver* observer, FakeTensorMode* fake)
      : tls_(dispatch_tls), fresh_(internal::fresh_tensor_keys), grad_(context.grad) {
    dispatch_tls.included = functionalities(context.included) | DispatchKey::Observed;
    dispatch_tls.kept = DispatchKeySet::full() - functionalities(context.excluded);
    dispatch_tls.observer = observer;
    internal::fresh_tensor_keys = internal::kDeviceKeys.tensor[context.inference];
    if (fake) mode_.emplace(*fake);
  }
  ~ContextScope() {
    mode_.reset();
    internal::fresh_tensor_keys = fresh_;
    dispatch_tls = tls_;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  DispatchTls tls_;
  const DispatchKeySet* fresh_;
  GradModeGuard grad_;
  std::optional<FakeTensorModeGuard> mode_;
};

// The state of the default generator as the first random call of a call began.
uint32_t find_generator(const RecordedRun& run, const CallTree& calls, uint32_t event) {
  if (run.events[event].generator != RecordedEvent::kNone) return run.events[event].generator;
  for (const uint32_t child : calls.children(event)) {
    const uint32_t found = find_generator(run, calls, child);
    if (found != RecordedEvent::kNone) return found;
  }
  return RecordedEvent::kNone;
}

class Replayer {
 public:
  Replayer(const RecordedRun& run, const std::vector<uint32_t>& roots, Replay* replay)
      : run_(run), calls_(run), roots_(roots), values_(run, roots), replay_(*replay) {}

  // Makes the calls until one fails that did not fail.
  void make(CallObserver* observer) {
    for (const uint32_t root : roots_) {
      if (!make(root, observer)) {
        replay_.stopped_at = root;
        return;
      }
      ++replay_.calls;
    }
  }

 private:
  bool make(uint32_t root, CallObserver* observer) {
    const RecordedEvent& event = run_.events[root];
    const RecordedSite& site = run_.site(event);
    try {
      const std::optional<OperatorHandle> op = default_dispatcher().find_op(site.op);
      SB_CHECK(op, "no such operator here");
      SB_CHECK(op->schema().to_string() == site.schema, "the schema here is ",
               op->schema().to_string(), ", and was ", site.schema);
      values_.apply_contents(root);
      const Stack arguments = values_.arguments(root);
      const uint32_t generator = find_generator(run_, calls_, root);
      if (generator != RecordedEvent::kNone) {
        const Generator default_generator = default_cpu_generator();
        const std::lock_guard lock(default_generator->mutex);
        default_generator->set_state(run_.generators[generator].state);
      }
      NestedValues nested(run_, calls_, root, &values_, observer);
      Stack stack = arguments;
      if (!call(*op, event, &nested, &stack)) return false;
      values_.note(run_.results(event), stack);
      values_.forget_after(root);
      return true;
    } catch (const std::exception& error) {
      replay_.stopped = str_cat(site.op, ": ", error.what());
      return false;
    }
  }

  bool call(const OperatorHandle& op, const RecordedEvent& event, CallObserver* observer,
            Stack* stack) {
    const bool fake = run_.contexts[event.context].mode && touches_fake(run_, event);
    const ContextScope scope(run_.contexts[event.context], observer,
                             fake ? &values_.fake_mode() : nullptr);
    try {
      // What a layer passed on goes to the keys that it chose.
      if (event.depth > 0)
        op.redispatch_boxed(parse_key_set(run_.site(event).keys), stack);
      else
        op.call_boxed(stack);
      return true;
    } catch (const std::exception& error) {
      stack->clear();
      if (event.threw) return true;
      replay_.stopped = str_cat(run_.site(event).op, " threw: ", error.what());
      return false;
    }
  }

  const RecordedRun& run_;
  CallTree calls_;
  const std::vector<uint32_t>& roots_;
  RecordedValues values_;
  Replay& replay_;
};

}  // namespace

Replay replay(const RecordedRun& run, const std::string& path, const RunDiffOptions& options,
              RecordingOptions::Elements elements) {
  Replay result;
  Plan plan = Planner(run).plan();
  {
    const DispatchTls before = dispatch_tls;
    Recording recording(path, {.elements = elements});
    const DispatchTls recorded = std::exchange(dispatch_tls, before);
    try {
      Replayer(run, plan.roots, &result).make(recorded.observer);
    } catch (...) {
      dispatch_tls = recorded;
      throw;
    }
    dispatch_tls = recorded;
    recording.close();
  }
  result.run = read_recording(path);
  // The calls that were not made again are not missing.
  if (result.stopped_at != RecordedEvent::kNone &&
      result.stopped.find(" threw: ") == std::string::npos)
    while (!plan.run.events.empty() && plan.origin[plan.run.events.size() - 1] >= result.stopped_at)
      plan.run.events.pop_back();
  result.difference = diff_runs(plan.run, result.run, options);
  if (result.difference && result.difference->first != RecordedEvent::kNone)
    result.difference->first = plan.origin[result.difference->first];
  result.origin = std::move(plan.origin);
  return result;
}

}  // namespace sb::io
