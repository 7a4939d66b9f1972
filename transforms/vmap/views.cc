// Views of batched tensors.
//
// Where the elements of a view lie depends on sizes and strides alone: those of one example tell
// it, and all other examples lie behind it at the batch's stride. The operator itself is preferred
// where its arguments can be put so that it gives just this, since its gradient and its node in a
// trace say more than those of as_strided.

#include "switchboard/ops/views/views.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/transforms/vmap/batched_tensor.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"
#include "switchboard/transforms/vmap/shifted.h"

namespace sb::batching {
namespace {

constexpr DispatchKeySet kLazyBits{DispatchKey::Conjugate, DispatchKey::Negative};

std::vector<Tensor> tensors_in(const std::vector<IValue>& values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values)
    value.for_each_tensor([&](const Tensor& t) { tensors.push_back(t); });
  return tensors;
}

bool same_strides(const Tensor& a, const Tensor& b, int64_t from) {
  for (int64_t d = 0; d < b.dim(); ++d)
    if (b.size(d) > 1 && a.stride(d + from) != b.stride(d)) return false;
  return true;
}

// A view of one tensor.
class View {
 public:
  View(const BatchedCall& call, size_t viewed, const Tensor& value)
      : call_(call),
        viewed_(viewed),
        value_(value),
        one_(meta_like(call.argument(viewed).to_tensor())),
        bytes_(one_.storage()->nbytes()) {}

  // What one example gives, by its shape alone; false if there is no shape rule.
  bool run_example() {
    std::vector<IValue> arguments = call_.arguments();
    arguments[viewed_] = one_;
    std::optional<std::vector<IValue>> results = run_on_meta(call_.op(), arguments);
    if (results) example_ = *std::move(results);
    return results.has_value();
  }

  // The results on values; nullopt where none can be made.
  std::optional<std::vector<IValue>> values() const {
    for (std::vector<IValue>& arguments : candidates()) {
      std::vector<IValue> on_meta = arguments;
      on_meta[viewed_] = meta_like(value_);
      const auto results = try_on_meta(call_.op(), on_meta);
      if (!results || !is_view_of_all(*results)) continue;
      arguments[viewed_] = value_;
      return call_.call_below(std::move(arguments));
    }
    const std::vector<Tensor> examples = tensors_in(example_);
    if (!std::ranges::all_of(examples, [&](const Tensor& t) { return is_strided_view(t); }))
      return std::nullopt;
    std::vector<IValue> values;
    for (const IValue& result : example_)
      values.push_back(map_tensors(result, [&](const Tensor& t) { return strided_view(t); }));
    return values;
  }

  // The value after an in-place view, which has changed the example.
  Tensor value_after() const {
    SB_CHECK_NOT_IMPLEMENTED(one_.storage()->nbytes() == bytes_, call_.who(),
                             ": it gives its argument other memory; a batch lies in one");
    SB_CHECK_NOT_IMPLEMENTED(is_strided_view(one_), call_.who(),
                             ": it makes its argument another kind of tensor in place");
    return strided_view(one_);
  }

 private:
  // The ways in which its arguments may speak of all examples.
  std::vector<std::vector<IValue>> candidates() const {
    const std::vector<Argument>& schema = call_.op().schema().arguments;
    std::vector<IValue> shifted = call_.arguments();
    for (size_t i = 0; i < shifted.size(); ++i) {
      if (names_dims(schema[i]))
        shifted[i] = behind_batch(shifted[i]);
      else if (schema[i].name == "size" && (shifted[i].is_IntList() || shifted[i].is_SymIntList()))
        shifted[i] = with_first(call_.level().size(), shifted[i]);
    }
    std::vector<std::vector<IValue>> all{shifted};
    for (size_t i = 0; i < shifted.size(); ++i) {
      // permute names every dimension.
      if (!names_dims(schema[i]) || !shifted[i].is_IntList()) continue;
      if (static_cast<int64_t>(shifted[i].to_int_list().size()) != one_.dim()) continue;
      all.push_back(shifted);
      all.back()[i] = with_first(0, shifted[i]);
    }
    return all;
  }

  // Whether meta results are just the example's with the batch in front.
  bool is_view_of_all(const std::vector<IValue>& results) const {
    if (!has_batch_in_front(results, example_, call_.level().size())) return false;
    return std::ranges::equal(
        tensors_in(results), tensors_in(example_), [&](const Tensor& all, const Tensor& one) {
          if (all.numel() == 0) return true;
          const int64_t batch = value_.stride(0) * static_cast<int64_t>(value_.itemsize());
          return same_strides(all, one, 1) && all.storage_offset() == one.storage_offset() &&
                 (all.key_set() & kLazyBits) == (one.key_set() & kLazyBits) &&
                 (call_.level().size() == 1 ||
                  all.stride(0) * static_cast<int64_t>(all.itemsize()) == batch);
        });
  }

  // Whether a view of the example differs from it in sizes, strides and offset alone.
  bool is_strided_view(const Tensor& view) const {
    return view.dtype() == value_.dtype() &&
           (view.key_set() & kLazyBits) == (value_.key_set() & kLazyBits);
  }
  Tensor strided_view(const Tensor& view) const {
    std::vector<SymInt> strides{value_.sym_stride(0)};
    strides.insert(strides.end(), view.sym_strides().begin(), view.sym_strides().end());
    return as_strided(value_, batch_sizes(value_.sym_size(0), view), strides,
                      view.sym_storage_offset());
  }

  const BatchedCall& call_;
  const size_t viewed_;
  const Tensor value_;
  const Tensor one_;
  const size_t bytes_;  // of its storage, before
  std::vector<IValue> example_;
};

}  // namespace

std::optional<std::vector<IValue>> view_rule(const BatchedCall& call) {
  const bool in_place = call.op().entry().has_tag(Tag::inplace_view);
  const FunctionSchema& schema = call.op().schema();
  if (!in_place && !schema.is_view()) return std::nullopt;
  std::optional<size_t> viewed;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].alias && !viewed) viewed = i;
    call.argument(i).for_each_tensor([&](const Tensor& t) {
      SB_CHECK(viewed == i || !call.is_batched(t), call.who(), ": argument ", i, " '",
               schema.arguments[i].name,
               "' is batched, and says which view is given; a batch has one view for all examples");
    });
  }
  SB_CHECK_NOT_IMPLEMENTED(viewed && call.argument(*viewed).is_Tensor(), call.who(),
                           ": no batching rule for a view of several tensors");
  const Tensor& tensor = call.argument(*viewed).to_tensor();
  View view(call, *viewed, *call.value_of(tensor));
  SB_CHECK_NOT_IMPLEMENTED(view.run_example(), call.who(),
                           ": no batching rule for a view without a shape rule");
  if (in_place) {
    batched_impl(tensor)->set_value(view.value_after());
    return std::vector<IValue>{tensor};
  }
  const std::optional<std::vector<IValue>> values = view.values();
  SB_CHECK_NOT_IMPLEMENTED(values, call.who(), ": no batching rule for this view");
  return call.batched_results(*values);
}

}  // namespace sb::batching
