#include "switchboard/tools/plan/bytes_moved.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "switchboard/tools/plan/saturating.h"

namespace sb::plan {
namespace {

// Elements that lie at places of their own, as far as zero strides tell.
uint64_t distinct_elements(const Tensor& tensor) {
  uint64_t count = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.stride(i) != 0 || tensor.size(i) == 0) count = saturating_mul(count, tensor.size(i));
  return count;
}

uint64_t distinct_bytes(const Tensor& tensor) {
  return saturating_mul(distinct_elements(tensor), tensor.itemsize());
}

// Adds up tensors, each view of a storage once.
class Sum {
 public:
  void add(const Tensor& tensor) { add(tensor, UINT64_MAX); }
  // The same for a tensor of which no more than `limit` bytes are moved.
  void add(const Tensor& tensor, uint64_t limit) {
    if (!tensor.defined()) return;
    const View view(tensor.storage().get(), tensor.storage_offset(), distinct_bytes(tensor));
    if (tensor.storage() && std::find(seen_.begin(), seen_.end(), view) != seen_.end()) return;
    seen_.push_back(view);
    bytes_ = saturating_add(bytes_, std::min(std::get<2>(view), limit));
  }
  uint64_t bytes() const { return bytes_; }

 private:
  using View = std::tuple<const StorageImpl*, int64_t, uint64_t>;

  std::vector<View> seen_;
  uint64_t bytes_ = 0;
};

bool shares_with_argument(const OpCall& call, const Tensor& result) {
  bool shares = false;
  for (const IValue& argument : call.arguments)
    argument.for_each_tensor([&](const Tensor& t) { shares |= t.is_alias_of(result); });
  return shares;
}

// Elements of the largest tensor argument that is not the first.
uint64_t elements_of_others(const OpCall& call) {
  uint64_t most = 0;
  for (const IValue& argument : call.arguments.subspan(1))
    argument.for_each_tensor(
        [&](const Tensor& t) { most = std::max(most, static_cast<uint64_t>(t.numel())); });
  return most;
}

uint64_t result_bytes(const OpCall& call) {
  uint64_t bytes = 0;
  for (const IValue& result : call.results)
    result.for_each_tensor([&](const Tensor& t) { bytes = saturating_add(bytes, t.nbytes()); });
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
      uint64_t limit = UINT64_MAX;
      if (i == 0 && in_place && traffic == Traffic::Scatters)
        limit = saturating_mul(elements_of_others(call), t.itemsize());
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
