#include "switchboard/tools/plan/bytes_moved.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace sb::plan {
namespace {

// Elements that lie at places of their own, as far as zero strides tell.
Count distinct_elements(const Tensor& tensor) {
  Count count = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    const bool expanded = tensor.sym_stride(i).maybe_int() == 0;
    count *= expanded ? min(tensor.sym_size(i), 1) : Count(tensor.sym_size(i));
  }
  return count;
}

Count distinct_bytes(const Tensor& tensor) { return distinct_elements(tensor) * tensor.itemsize(); }

// Adds up tensors, each view of a storage once.
class Sum {
 public:
  // Of one with a limit no more bytes than that are moved.
  void add(const Tensor& tensor, const std::optional<Count>& limit = std::nullopt) {
    if (!tensor.defined()) return;
    const View view{tensor.storage().get(), tensor.sym_storage_offset(), distinct_bytes(tensor)};
    if (view.storage && std::find(seen_.begin(), seen_.end(), view) != seen_.end()) return;
    seen_.push_back(view);
    bytes_ += limit ? min(view.bytes, *limit) : view.bytes;
  }
  const Count& bytes() const { return bytes_; }

 private:
  // Of views whose places are expressions, two are one where that holds for all sizes.
  struct View {
    const StorageImpl* storage;
    Count offset;
    Count bytes;
    bool operator==(const View&) const = default;
  };

  std::vector<View> seen_;
  Count bytes_;
};

bool shares_with_argument(const OpCall& call, const Tensor& result) {
  bool shares = false;
  for (const IValue& argument : call.arguments)
    argument.for_each_tensor([&](const Tensor& t) { shares |= t.is_alias_of(result); });
  return shares;
}

// Elements of the largest tensor argument that is not the first.
Count elements_of_others(const OpCall& call) {
  Count most;
  for (const IValue& argument : call.arguments.subspan(1))
    argument.for_each_tensor([&](const Tensor& t) { most = max(most, t.sym_numel()); });
  return most;
}

Count result_bytes(const OpCall& call) {
  Count bytes;
  for (const IValue& result : call.results)
    result.for_each_tensor([&](const Tensor& t) { bytes += Count(t.sym_numel()) * t.itemsize(); });
  return bytes;
}

}  // namespace

bool is_view_call(const OpCall& call) {
  if (call.schema.is_mutable()) return false;
  bool any = false, all = true;
  for (const IValue& result : call.results) {
    result.for_each_tensor([&](const Tensor& t) {
      any = true;
      all = all && shares_with_argument(call, t);
    });
  }
  return any && all;
}

BytesMoved bytes_moved(const OpCall& call, Traffic traffic) {
  if (traffic == Traffic::None || is_view_call(call)) return {};
  Sum read, written;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.schema.arguments[i];
    const bool in_place = argument.is_write() && !argument.is_out();
    call.arguments[i].for_each_tensor([&](const Tensor& t) {
      std::optional<Count> limit;
      if (i == 0 && in_place && traffic == Traffic::Scatters)
        limit = elements_of_others(call) * t.itemsize();
      if (argument.is_write()) written.add(t, limit);
      if (i == 0 && traffic == Traffic::Gathers) limit = result_bytes(call);
      const bool overwritten = i == 0 && in_place && traffic == Traffic::Overwrites;
      if (!argument.is_out() && !overwritten) read.add(t, limit);
    });
  }
  // Results that are arguments were written above, if at all.
  for (const IValue& result : call.results) {
    result.for_each_tensor([&](const Tensor& t) {
      if (!shares_with_argument(call, t)) written.add(t);
    });
  }
  return {read.bytes(), written.bytes()};
}

}  // namespace sb::plan
