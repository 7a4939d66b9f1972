#include "switchboard/tests/dispatch/recording.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/values/bind_arguments.h"

namespace sb {

void RecordingKernel::operator()(const OperatorHandle& op, DispatchKeySet keys,
                                 Stack* stack) const {
  const DispatchKey key = keys.highest_key();
  const std::string name(to_string(key));
  log->push_back(label == name ? label : str_cat(label, " for ", name));
  if (passes)
    op.redispatch_boxed(keys & DispatchKeySet::below(key), stack);
  else
    stack->resize(stack->size() - op.schema().arguments.size());
}

Recorder::Recorder(std::string_view schema)
    : library_(dispatcher_, Library::Kind::Def, "demo"),
      fallbacks_(dispatcher_, Library::Kind::Impl, "_"),
      op_(library_.define(schema)) {}

Recorder& Recorder::ends_at(std::initializer_list<DispatchKey> keys) {
  for (DispatchKey key : keys) library_.impl("f", key, kernel(std::string(to_string(key))));
  return *this;
}

Recorder& Recorder::passes_at(std::initializer_list<DispatchKey> keys) {
  for (DispatchKey key : keys) library_.impl("f", key, kernel(std::string(to_string(key)), true));
  return *this;
}

Recorder& Recorder::falls_through_at(std::initializer_list<DispatchKey> keys) {
  for (DispatchKey key : keys) library_.impl("f", key, fallthrough);
  return *this;
}

Recorder& Recorder::fallback_at(std::initializer_list<DispatchKey> keys) {
  for (DispatchKey key : keys) fallbacks_.fallback(key, kernel("fallback"));
  return *this;
}

Recorder& Recorder::fallback_falls_through_at(std::initializer_list<DispatchKey> keys) {
  for (DispatchKey key : keys) fallbacks_.fallback(key, fallthrough);
  return *this;
}

Log Recorder::call(Stack arguments) {
  log_.clear();
  op_.call(std::move(arguments));
  return log_;
}

Log Recorder::redispatch(DispatchKeySet keys) {
  log_.clear();
  Stack stack = bind_arguments(op_.schema(), one_tensor(keys));
  op_.redispatch_boxed(keys, &stack);
  return log_;
}

std::string Recorder::rule(DispatchKey key) const {
  return std::string(to_string(dispatcher_.resolve(op_.entry(), key).rule));
}

std::vector<DispatchKey> Recorder::keys_by(std::string_view rule) const {
  std::vector<DispatchKey> keys;
  for (const TableRow& row : computed_table(op_))
    if (to_string(row.rule) == rule) keys.push_back(row.key);
  return keys;
}

Stack Recorder::one_tensor(DispatchKeySet keys) const {
  Tensor x = tensor_with(keys);
  if (op_.schema().arguments[0].type.to_string() == "Tensor[]")
    return {IValue(std::vector<Tensor>{std::move(x)})};
  return {IValue(std::move(x))};
}

}  // namespace sb
