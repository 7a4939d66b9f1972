#include "switchboard/tests/composition/writes.h"

#include <algorithm>
#include <set>
#include <string>

#include "switchboard/core/tensor.h"

namespace sb::composition {
namespace {

// The bytes that the elements of a tensor lie at, in order.
std::vector<int64_t> bytes_of(const Tensor& t) {
  std::vector<int64_t> places = {t.storage_offset()};
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t place : places)
      for (int64_t i = 0; i < t.sizes()[d]; ++i) next.push_back(place + i * t.strides()[d]);
    places = std::move(next);
  }
  std::vector<int64_t> bytes;
  const int64_t size = static_cast<int64_t>(t.itemsize());
  for (int64_t place : places)
    for (int64_t i = 0; i < size; ++i) bytes.push_back(place * size + i);
  return bytes;
}

}  // namespace

bool depends_on_order(const FunctionSchema& schema, const Stack& arguments) {
  struct Use {
    Tensor tensor;
    bool written;
    size_t argument;
  };
  std::vector<Use> uses;
  for (size_t i = 0; i < arguments.size(); ++i)
    arguments[i].for_each_tensor([&](const Tensor& t) {
      if (t.defined()) uses.push_back({t, schema.arguments[i].is_write(), i});
    });
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].written) continue;
    const std::vector<int64_t> written = bytes_of(uses[i].tensor);
    const std::set<int64_t> places(written.begin(), written.end());
    if (places.size() != written.size()) return true;
    for (size_t k = 0; k < uses.size(); ++k) {
      if (k == i || !uses[k].tensor.is_alias_of(uses[i].tensor)) continue;
      if (schema.arguments[uses[i].argument].type.is_list()) return true;
      const std::vector<int64_t> other = bytes_of(uses[k].tensor);
      // Operators that cannot do this in place refuse it.
      if (other == written && !uses[k].written) continue;
      if (std::any_of(other.begin(), other.end(), [&](int64_t p) { return places.contains(p); }))
        return true;
      if (uses[k].written) return true;
    }
  }
  return false;
}

WrittenStates written_states(const FunctionSchema& schema, const Stack& arguments) {
  WrittenStates states;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!schema.arguments[i].is_write()) continue;
    arguments[i].for_each_tensor([&](const Tensor& t) {
      if (t.defined())
        states.emplace_back(t.version(), std::vector<int64_t>(t.sizes().begin(), t.sizes().end()));
    });
  }
  return states;
}

std::vector<std::vector<int64_t>> shapes_of_shared(const FunctionSchema& schema,
                                                   const Stack& arguments) {
  std::vector<Tensor> all;
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) all.push_back(t);
    });
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!schema.arguments[i].is_out()) continue;
    arguments[i].for_each_tensor([&](const Tensor& t) {
      const auto shares = [&](const Tensor& other) { return t.defined() && other.is_alias_of(t); };
      if (std::count_if(all.begin(), all.end(), shares) > 1)
        shapes.emplace_back(t.sizes().begin(), t.sizes().end());
      else if (t.defined() && t.numel() > 0)
        shapes.push_back({t.numel()});
    });
  }
  return shapes;
}

std::vector<std::pair<Tensor, std::string>> memories_of(const Stack& arguments) {
  std::vector<std::pair<Tensor, std::string>> memories;
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) {
      if (!t.defined() || t.numel() == 0) return;
      const Storage& memory = t.storage();
      memories.emplace_back(
          t, std::string(static_cast<const char*>(memory->data()), memory->nbytes()));
    });
  return memories;
}

}  // namespace sb::composition
