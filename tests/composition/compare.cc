#include "switchboard/tests/composition/compare.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb::composition {
namespace {

using internal::Closeness;
using internal::list_text;

// All that a tensor's storage holds, in one dimension.
Tensor whole(const Tensor& t) {
  return alias_with(t, {static_cast<int64_t>(t.storage()->nbytes() / t.itemsize())}, {1}, 0);
}

Closeness closeness(DType dtype, const Compared& c) {
  const Closeness usual = internal::closeness({}, dtype);
  constexpr double kMagnified = 100;
  if (!c.gradients)
    return c.magnified ? Closeness{usual.rtol * kMagnified, usual.atol * kMagnified} : usual;
  // A gradient is a sum of what may be much larger than itself.
  const Closeness on_the_way = internal::closeness({}, c.coarsest);
  return {std::max(usual.rtol * 1000, on_the_way.rtol * 10),
          std::max({usual.atol * 1000, on_the_way.atol * 10, on_the_way.rtol * c.largest})};
}

std::string difference_of(const std::string& name, const Tensor& a, const Tensor& b,
                          const Compared& c) {
  if (a.defined() != b.defined())
    return str_cat(name, a.defined() ? " is undefined" : " is defined");
  if (!a.defined()) return "";
  if (std::string text = internal::differing_shape(a, b); !text.empty())
    return str_cat(name, " has ", text);
  if (a.device() != b.device())
    return str_cat(name, " is on ", to_string(b.device()), ", not ", to_string(a.device()));
  if (c.keeps.strides && a.numel() > 1)
    for (size_t d = 0; d < a.sizes().size(); ++d)
      if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d])
        return str_cat(name, " has strides ", list_text(b.strides()), ", not ",
                       list_text(a.strides()));
  if (c.metadata_only) return "";
  // Numbers are compared in a larger dtype, where what is lazily negated would be another number.
  if (std::string text =
          internal::differing_element(resolve_neg(a), resolve_neg(b), closeness(a.dtype(), c));
      !text.empty())
    return str_cat(name, ", ", text);
  return "";
}

// Which results are which inputs, or other results, or share memory with them.
std::vector<std::string> sharing(const Outcome& run, const Compared& c) {
  std::vector<std::string> facts;
  const auto note = [&](size_t i, const Tensor& other, const char* what, size_t k) {
    const Tensor& result = run.results[i];
    if (result.is_same(other))
      facts.push_back(str_cat("result ", i, " is ", what, " ", k, " itself"));
    else if (result.is_alias_of(other))
      facts.push_back(str_cat("result ", i, " shares memory with ", what, " ", k));
  };
  const auto is_unknown = [&](size_t i) {
    return i < c.sharing_unknown.size() && c.sharing_unknown[i];
  };
  for (size_t i = 0; i < run.results.size(); ++i) {
    if (is_unknown(i)) continue;
    for (size_t k = 0; k < run.inputs.size(); ++k) note(i, run.inputs[k], "input", k);
    for (size_t k = 0; c.keeps.sharing_of_results && k < i; ++k)
      if (!is_unknown(k)) note(i, run.results[k], "result", k);
  }
  return facts;
}

std::string first_missing(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (const std::string& fact : a)
    if (std::find(b.begin(), b.end(), fact) == b.end()) return fact;
  return "";
}

}  // namespace

Outcome run(const TensorFunction& f, const Tensors& inputs) {
  Outcome outcome;
  outcome.inputs = inputs;
  try {
    outcome.results = f(inputs);
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.kind = error.kind();
  } catch (const std::exception& error) {
    outcome.error = str_cat("std::exception: ", error.what());
  }
  return outcome;
}

std::string difference(const Outcome& expected, const Outcome& got, const Compared& c) {
  if (expected.results.size() != got.results.size())
    return str_cat(got.results.size(), " results, not ", expected.results.size());
  for (size_t i = 0; i < expected.results.size(); ++i) {
    const Tensor &a = expected.results[i], &b = got.results[i];
    const bool skips_nan = i >= c.no_nan_from && a.defined() && b.defined() &&
                           a.dtype() == b.dtype() && a.sizes() == b.sizes();
    const Tensor compared = skips_nan ? where(logical_or(isnan(a), isnan(b)), a, b) : b;
    if (std::string text = difference_of(str_cat("result ", i), a, compared, c); !text.empty())
      return text;
  }
  Compared exact = c;
  exact.gradients = false;
  exact.keeps.strides = c.input_strides;
  for (size_t i = 0; i < expected.inputs.size(); ++i) {
    const Tensor &a = expected.inputs[i], &b = got.inputs[i];
    const std::string name = str_cat("input ", i);
    if (std::string text = difference_of(name, a, b, exact); !text.empty()) return text;
    if (a.storage_offset() != b.storage_offset())
      return str_cat(name, " has offset ", b.storage_offset(), ", not ", a.storage_offset());
    if (a.storage()->nbytes() != b.storage()->nbytes())
      return str_cat(name, " has a storage of ", b.storage()->nbytes(), " bytes, not ",
                     a.storage()->nbytes());
    if (c.metadata_only || (!c.input_strides && a.strides() != b.strides())) continue;
    if (std::string text =
            difference_of(str_cat("the storage of ", name), whole(a), whole(b), exact);
        !text.empty())
      return text;
  }
  const std::vector<std::string> a = sharing(expected, c), b = sharing(got, c);
  if (const std::string fact = first_missing(a, b); !fact.empty()) return str_cat("not so: ", fact);
  if (const std::string fact = first_missing(b, a); !fact.empty())
    return str_cat("only here: ", fact);
  return "";
}

}  // namespace sb::composition
