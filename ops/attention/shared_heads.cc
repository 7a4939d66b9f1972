#include "switchboard/ops/attention/shared_heads.h"

#include "switchboard/core/error.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {
namespace {

template <SizeType Int>
const Int& heads_of(const Tensor& t) {
  return *(sizes_of<Int>(t).end() - 3);
}

template <SizeType Int>
Tensor with_repeated_heads(const Tensor& t, const Tensor& query) {
  const Int &heads = heads_of<Int>(t), &wanted = heads_of<Int>(query);
  if (same_size(heads, wanted)) return t;
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, "scaled_dot_product_attention: enable_gqa: the heads of ", query.describe(),
             " are no multiple of those of ", t.describe());
  };
  fits(heads > 0);
  fits(wanted % heads == 0);
  SizeVector<Int> sizes = size_vector<Int>(t);
  sizes.insert(sizes.end() - 2, wanted / heads);
  return flatten(expand(unsqueeze(t, -3), SizesRef<Int>(sizes)), -4, -3);
}

template <SizeType Int>
Tensor with_summed_heads(const Tensor& t, const Tensor& like) {
  const Int &heads = heads_of<Int>(like), &repeated = heads_of<Int>(t);
  if (same_size(heads, repeated)) return t;
  SizeVector<Int> sizes = size_vector<Int>(t);
  sizes[sizes.size() - 3] = heads;
  sizes.insert(sizes.end() - 2, repeated / heads);
  return sum(reshape(t, SizesRef<Int>(sizes)), {-3});
}

}  // namespace

Tensor repeat_heads(const Tensor& t, const Tensor& query) {
  return by_size(any_symbolic(t, query),
                 [&]<class Int>() { return with_repeated_heads<Int>(t, query); });
}

Tensor sum_repeated_heads(const Tensor& t, const Tensor& like) {
  return by_size(any_symbolic(t, like),
                 [&]<class Int>() { return with_summed_heads<Int>(t, like); });
}

}  // namespace sb::internal
