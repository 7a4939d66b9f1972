#include "switchboard/io/recording/call_writer.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/io/recording/layer_keys.h"
#include "switchboard/io/recording/tensor_bits.h"

namespace sb::internal {

using io::wire::kRecordBits;
using io::wire::More;
using io::wire::Record;
using io::wire::Writer;

namespace {

constexpr size_t kChunkBytes = 1 << 16;

constexpr uint64_t head(Record record, uint64_t payload) {
  return payload << kRecordBits | static_cast<uint64_t>(record);
}

// Calls f(const Tensor&) or f(const Storage&) for each of a value.
template <class F>
void for_each_memory(const IValue& value, F&& f) {
  if (value.tag() == IValue::Tag::Storage)
    f(value.to_storage());
  else
    value.for_each_tensor(f);
}

// The same of a value in its C++ type.
template <class F>
void for_each_memory_at(TypeCode code, const void* value, F&& f) {
  if (is_tensor_code(code))
    f(*static_cast<const Tensor*>(value));
  else if (is_tensors_code(code) || code == SB_T(Storage))
    for_each_memory(box_argument(code, value), f);
}

// The keys of all tensors that a call is given.
DispatchKeySet keys_of(const ObservedValues& given, size_t num_arguments) {
  DispatchKeySet keys;
  const auto add = [&](const Tensor& tensor) {
    if (tensor.defined()) keys |= tensor.impl()->key_set();
  };
  if (given.frame) {
    const absl::Span<const TypeCode> types = given.frame->description.types->arguments;
    for (size_t i = 0; i < types.size(); ++i)
      if (is_tensor_code(types[i]))
        add(*static_cast<const Tensor*>(given.frame->arguments[i]));
      else if (is_tensors_code(types[i]))
        box_argument(types[i], given.frame->arguments[i]).for_each_tensor(add);
    return keys;
  }
  for (const IValue& value : absl::MakeConstSpan(*given.stack).last(num_arguments))
    value.for_each_tensor(add);
  return keys;
}

}  // namespace

template <class F>
void CallWriter::guarded(F&& f) noexcept {
  if (error_) return;
  try {
    f();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void CallWriter::enter(const OperatorEntry& op, DispatchKeySet keys,
                       const Kernel& kernel) noexcept {
  guarded([&] {
    const ObservedValues given = observed_values;
    CallSite& site = sites_.find(op, keys, kernel);
    write_context();
    if (site.seeded) [[unlikely]]
      write_default_generator();
    const bool below_layers = running_.empty() || !running_.back().remade;
    running_.push_back({&site,
                        std::uncaught_exceptions(),
                        file_.bits() < RecordedBits::Inputs || !below_layers ||
                            !(keys | keys_of(given, site.num_arguments)).has_any(kLayerKeys),
                        {}});
    if (given.stack && !site.written.empty())
      for (const uint32_t i : site.written)
        running_.back().written.push_back(
            (*given.stack)[given.stack->size() - site.num_arguments + i]);
    Writer& out = values_.out();
    out.reserve(Writer::kLongest);
    out.number(head(Record::Enter, site.index));
    if (!site.written_down) [[unlikely]]
      write_site(&site);
    write_enter(site, given);
    out.reserve(Writer::kLongest);
    write_time(file_.now());
    if (has_contents()) write_contents(given, running_.back(), false);
    if (out.size() >= kChunkBytes) flush();
  });
}

void CallWriter::leave() noexcept {
  guarded([&] {
    const uint64_t now = file_.now();
    if (running_.empty()) return;
    const ObservedValues given = observed_values;
    write_leave(running_.back(), given, now);
    running_.pop_back();
    if (values_.out().size() >= kChunkBytes) flush();
  });
}

void CallWriter::finish() noexcept {
  guarded([&] { flush(); });
}

void CallWriter::flush() {
  if (values_.out().size() == 0) return;
  file_.write_chunk(thread_, values_.out().bytes());
  values_.out().clear();
}

void CallWriter::write_time(uint64_t now) {
  // The counters of two processors may differ by a little.
  now = std::max(now, last_time_);
  values_.out().number(now - last_time_);
  last_time_ = now;
}

void CallWriter::write_site(CallSite* site) {
  const DispatchKey key = site->keys.highest_key();
  for (const std::string& text : {site->name.to_string(), site->schema, std::string(to_string(key)),
                                  to_string(site->keys), site->where, site->reason})
    values_.string(text);
  Writer& out = values_.out();
  out.reserve((4 + site->written.size()) * Writer::kLongest);
  out.number(site->num_arguments);
  out.number(site->num_results);
  out.number(site->written.size());
  for (const uint32_t i : site->written) out.number(i);
  out.byte(site->seeded);
  site->written_down = true;
}

void CallWriter::write_enter(const CallSite& site, const ObservedValues& given) {
  if (given.frame) {
    const absl::Span<const TypeCode> types = given.frame->description.types->arguments;
    for (size_t i = 0; i < types.size(); ++i)
      values_.typed_value(types[i], given.frame->arguments[i]);
    return;
  }
  const Stack& stack = *given.stack;
  for (size_t i = stack.size() - site.num_arguments; i < stack.size(); ++i) values_.value(stack[i]);
}

void CallWriter::write_leave(const Running& call, const ObservedValues& given, uint64_t now) {
  const bool threw = std::uncaught_exceptions() > call.exceptions;
  Writer& out = values_.out();
  out.reserve(2 * Writer::kLongest);
  out.number(head(Record::Leave, threw));
  write_time(now);
  if (threw) return;
  const CallSite& site = *call.site;
  if (given.frame) {
    const CppSignature& types = *given.frame->description.types;
    for (size_t i = 0; i < types.returns.size(); ++i)
      values_.typed_result(types.returns[i], given.frame->results[i]);
    for (const uint32_t i : site.written)
      values_.typed_value(types.arguments[i], given.frame->arguments[i]);
  } else {
    const Stack& stack = *given.stack;
    for (size_t i = stack.size() - site.num_results; i < stack.size(); ++i) values_.value(stack[i]);
    for (const IValue& value : call.written) values_.value(value);
  }
  // What a layer gives, no replay computes, but for what the calls below it gave.
  if (has_contents() && call.remade) write_contents(given, call, true);
}

bool CallWriter::has_contents() const {
  return file_.bits() == RecordedBits::All ||
         (file_.bits() == RecordedBits::Inputs &&
          (running_.size() == 1 || !running_[running_.size() - 2].remade));
}

void CallWriter::write_contents(const ObservedValues& given, const Running& call, bool after) {
  absl::InlinedVector<uint64_t, 8> seen;
  const auto write = [&](const auto& value) {
    if (!io::has_bits(value)) return;
    const Storage& storage = io::storage_of(value);
    if (storage->nbytes() == 0) return;
    const uint64_t id = values_.storage_id(storage);
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) return;
    seen.push_back(id);
    const std::string_view bytes = io::storage_bytes(storage);
    const bool changed =
        file_.change_contents(id, io::wire::hash_bytes(bytes.data(), bytes.size()));
    // What a call leaves is written only if all is asked for: a replay computes it.
    if (!changed || (after && file_.bits() != RecordedBits::All)) return;
    Writer& out = values_.out();
    out.reserve(2 * Writer::kLongest + 1);
    out.number(head(Record::More, static_cast<uint64_t>(More::Contents)));
    out.number(id);
    out.byte(after);
    out.text(bytes);
  };
  const CallSite& site = *call.site;
  if (given.frame) {
    const CppSignature& types = *given.frame->description.types;
    for (size_t i = 0; i < types.arguments.size(); ++i)
      if (!after || std::find(site.written.begin(), site.written.end(), i) != site.written.end())
        for_each_memory_at(types.arguments[i], given.frame->arguments[i], write);
    for (size_t i = 0; after && i < types.returns.size(); ++i)
      with_result(types.returns[i], given.frame->results[i],
                  [&](const auto& result) { for_each_memory(box(result), write); });
    return;
  }
  const Stack& stack = *given.stack;
  const size_t count = after ? site.num_results : site.num_arguments;
  for (size_t i = stack.size() - count; i < stack.size(); ++i) for_each_memory(stack[i], write);
  for (const IValue& value : call.written)
    if (after) for_each_memory(value, write);
}

void CallWriter::write_context() {
  Context now{
      dispatch_tls.included.bits(), dispatch_tls.kept.bits(),
      static_cast<uint8_t>((is_grad_enabled() ? 1 : 0) | (is_inference_mode_enabled() ? 2 : 0) |
                           (current_mode() ? 4 : 0))};
  if (context_ == now) [[likely]]
    return;
  context_ = now;
  const auto found = std::find_if(contexts_.begin(), contexts_.end(),
                                  [&](const auto& known) { return known.first == now; });
  Writer& out = values_.out();
  out.reserve(Writer::kLongest);
  out.number(head(Record::Context, static_cast<uint64_t>(found - contexts_.begin())));
  if (found != contexts_.end()) return;
  contexts_.emplace_back(now, 0);
  const DispatchKeySet included = DispatchKeySet::from_bits(now.included) - DispatchKey::Observed;
  for (const DispatchKeySet keys : {included, dispatch_tls.excluded()}) {
    std::vector<DispatchKey> names;
    for (int f = 1; f <= kNumFunctionalities; ++f)
      if (keys.bits() >> (kNumBackends + f - 1) & 1) names.push_back(static_cast<DispatchKey>(f));
    out.reserve(Writer::kLongest);
    out.number(names.size());
    for (const DispatchKey name : names) values_.string(to_string(name));
  }
  out.reserve(1);
  out.byte(now.flags);
}

void CallWriter::write_default_generator() {
  Writer& out = values_.out();
  out.reserve(Writer::kLongest);
  out.number(head(Record::More, static_cast<uint64_t>(More::Generator)));
  values_.generator(default_cpu_generator());
}

}  // namespace sb::internal
