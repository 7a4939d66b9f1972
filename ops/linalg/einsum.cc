#include "switchboard/ops/linalg/einsum.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Letters are 0 to 51 in alphabetical order, capitals first.
constexpr int kLetters = 52;
constexpr int kEllipsis = kLetters;
using Labels = std::vector<int>;

int label_of(char c) { return c <= 'Z' ? c - 'A' : c - 'a' + 26; }
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

Labels parse(std::string_view text, std::string_view what) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      SB_CHECK(text.substr(i, 3) == "...", "einsum: found '.' that is not part of an ellipsis in ",
               what);
      SB_CHECK(!ellipsis, "einsum: found a second ellipsis in ", what);
      ellipsis = true;
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      SB_CHECK(is_letter(text[i]), "einsum: subscripts must be letters, found '",
               std::string_view(&text[i], 1), "' in ", what);
      labels.push_back(label_of(text[i]));
    }
  }
  return labels;
}

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

Equation parse_equation(std::string_view text) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    equation.operands.push_back(parse(left.substr(0, comma), "an operand"));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  std::array<int, kLetters + 1> counts{};
  for (const Labels& labels : equation.operands) {
    for (int label : labels) ++counts[static_cast<size_t>(label)];
  }
  if (arrow == std::string_view::npos) {
    if (counts[kEllipsis] > 0) equation.result.push_back(kEllipsis);
    for (int label = 0; label < kLetters; ++label) {
      if (counts[static_cast<size_t>(label)] == 1) equation.result.push_back(label);
    }
    return equation;
  }
  equation.result = parse(text.substr(arrow + 2), "the result");
  for (size_t i = 0; i < equation.result.size(); ++i) {
    const int label = equation.result[i];
    SB_CHECK(label == kEllipsis || counts[static_cast<size_t>(label)] > 0,
             "einsum: the result has a subscript that no operand has");
    SB_CHECK(std::find(equation.result.begin(), equation.result.begin() + static_cast<int64_t>(i),
                       label) == equation.result.begin() + static_cast<int64_t>(i),
             "einsum: the result has a subscript twice");
  }
  return equation;
}

// How the dimensions of all operands are arranged before they are multiplied: those of the result,
// then those that are summed over.
struct Arrangement {
  int64_t ellipsis_rank = 0;
  int64_t result_rank = 0;
  int64_t rank = 0;
  std::array<int64_t, kLetters + 1> place;  // of each label; -1 for one that does not occur
};

// How many dimensions the ellipsis of an operand stands for.
int64_t ellipsis_rank(const Labels& labels, const Tensor& t) {
  const auto named = static_cast<int64_t>(labels.size());
  if (std::find(labels.begin(), labels.end(), kEllipsis) == labels.end()) {
    SB_CHECK(named == t.dim(), "einsum: ", named, " subscripts do not fit the dimensions of ",
             t.describe());
    return 0;
  }
  SB_CHECK(named - 1 <= t.dim(), "einsum: ", named - 1, " subscripts do not fit the dimensions of ",
           t.describe());
  return t.dim() - (named - 1);
}

Arrangement arrange(const Equation& equation, TensorList tensors) {
  Arrangement a;
  a.place.fill(-1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    a.ellipsis_rank = std::max(a.ellipsis_rank, ellipsis_rank(equation.operands[i], tensors[i]));
  }
  const auto put = [&](int label) {
    a.place[static_cast<size_t>(label)] = a.rank;
    a.rank += label == kEllipsis ? a.ellipsis_rank : 1;
  };
  for (int label : equation.result) put(label);
  a.result_rank = a.rank;
  for (const Labels& labels : equation.operands) {
    for (int label : labels) {
      if (a.place[static_cast<size_t>(label)] < 0) put(label);
    }
  }
  return a;
}

// The operand as a view with all dimensions of the arrangement, of size 1 where it has none.
Tensor arranged(const Arrangement& a, const Labels& labels, const Tensor& operand) {
  Tensor t = operand;
  std::vector<int64_t> at(static_cast<size_t>(a.rank), -1);
  int64_t d = 0;
  for (int label : labels) {
    const int64_t place = a.place[static_cast<size_t>(label)];
    if (label == kEllipsis) {
      // Fewer dimensions than others' ellipses have are the last of them.
      const int64_t own = ellipsis_rank(labels, operand);
      for (int64_t i = 0; i < own; ++i) {
        at[static_cast<size_t>(place + a.ellipsis_rank - own + i)] = d++;
      }
    } else if (int64_t& earlier = at[static_cast<size_t>(place)]; earlier < 0) {
      earlier = d++;
    } else {
      SB_CHECK(t.sym_size(earlier) == t.sym_size(d),
               "einsum: a subscript names dimensions of sizes ", size_text(t.sym_size(earlier)),
               " and ", size_text(t.sym_size(d)), " of ", operand.describe());
      // The diagonal comes last, hence to the place of the first of both.
      t = movedim_int(diagonal(t, 0, earlier, d), -1, earlier);
    }
  }
  DimVector order;
  for (int64_t from : at) {
    if (from >= 0) order.push_back(from);
  }
  t = permute(t, order);
  for (int64_t i = 0; i < a.rank; ++i) {
    if (at[static_cast<size_t>(i)] < 0) t = unsqueeze(t, i);
  }
  return t;
}

void check_sizes(const std::vector<Tensor>& operands, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    SymInt size = 1;
    for (const Tensor& t : operands) {
      const SymInt own = t.sym_size(d);
      if (known(own == size) || is_one(own)) continue;
      if (!is_one(size)) {
        SB_CHECK(own == size, "einsum: operands do not broadcast: a subscript names sizes ",
                 size_text(size), " and ", size_text(own));
      }
      size = own;
    }
  }
}

Tensor summed(const Tensor& t, const DimVector& dims) {
  return dims.empty() ? t : sum_dim(t, dims, true, t.dtype());
}

// left * right, summed over `dims`, which stay as dimensions of size 1.
Tensor multiply(Tensor left, Tensor right, const DimVector& dims) {
  DimSet sum;
  for (int64_t d : dims) sum.set(static_cast<size_t>(d));
  DimVector both, only_left, only_right, contracted, left_sum, right_sum;
  for (int64_t d = 0; d < left.dim(); ++d) {
    const bool l = !is_one(left.sym_size(d));
    const bool r = !is_one(right.sym_size(d));
    if (!sum[static_cast<size_t>(d)]) {
      (l && r ? both : l ? only_left : r ? only_right : both).push_back(d);
    } else {
      contracted.push_back(d);
      if (l && !r) left_sum.push_back(d);
      if (r && !l) right_sum.push_back(d);
    }
  }
  if (dims.empty()) return mul(left, right);
  left = summed(left, left_sum);
  right = summed(right, right_sum);
  const auto order = [](std::initializer_list<const DimVector*> parts) {
    DimVector all;
    for (const DimVector* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  const auto numel = [](const Tensor& t, const DimVector& part) {
    SymInt n = 1;
    for (int64_t d : part) n *= t.sym_size(d);
    return n;
  };
  const SymInt batch = numel(left, both);
  const Tensor product =
      bmm(reshape(permute(left, order({&both, &only_left, &contracted, &only_right})),
                  {batch, numel(left, only_left), numel(left, contracted)}),
          reshape(permute(right, order({&both, &contracted, &only_right, &only_left})),
                  {batch, numel(right, contracted), numel(right, only_right)}));
  const DimVector from = order({&both, &only_left, &contracted, &only_right});
  SymDimVector sizes;
  DimVector back(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t d = from[i];
    sizes.push_back(sum[static_cast<size_t>(d)] ? SymInt(1)
                    : is_one(left.sym_size(d))  ? right.sym_size(d)
                                                : left.sym_size(d));
    back[static_cast<size_t>(d)] = static_cast<int64_t>(i);
  }
  return permute(view(product, SymIntArrayRef(sizes)), back);
}

// Takes two operands away, by their numbers, and puts their product last.
void contract(std::vector<Tensor>* operands, size_t i, size_t j, const Arrangement& a) {
  const Tensor left = (*operands)[i];
  const Tensor right = (*operands)[j];
  operands->erase(operands->begin() + static_cast<int64_t>(std::max(i, j)));
  operands->erase(operands->begin() + static_cast<int64_t>(std::min(i, j)));
  DimVector dims;
  for (int64_t d = a.result_rank; d < a.rank; ++d) {
    const bool needed = std::any_of(operands->begin(), operands->end(),
                                    [&](const Tensor& t) { return !is_one(t.sym_size(d)); });
    if (!needed && (!is_one(left.sym_size(d)) || !is_one(right.sym_size(d)))) dims.push_back(d);
  }
  operands->push_back(multiply(left, right, dims));
}

Tensor einsum_kernel(std::string_view text, TensorList tensors, OptionalSpan<IntArrayRef> path) {
  SB_CHECK(!tensors.empty(), "einsum: expected at least one operand");
  const Equation equation = parse_equation(text);
  SB_CHECK(equation.operands.size() == tensors.size(), "einsum: the equation has ",
           equation.operands.size(), " operands, got ", tensors.size());
  for (const Tensor& t : tensors) check_defined("einsum", t);
  const size_t n = tensors.size();
  SB_CHECK(!path || path->size() == 2 * (n - 1), "einsum: path: expected ", 2 * (n - 1),
           " numbers");
  const Arrangement a = arrange(equation, tensors);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < n; ++i) {
    operands.push_back(arranged(a, equation.operands[i], tensors[i]));
  }
  check_sizes(operands, a.rank);
  for (size_t i = 0; path && i < n - 1; ++i) {
    const int64_t left = (*path)[2 * i];
    const int64_t right = (*path)[2 * i + 1];
    const auto count = static_cast<int64_t>(operands.size());
    SB_CHECK(left >= 0 && left < count && right >= 0 && right < count && left != right,
             "einsum: path: cannot contract operands ", left, " and ", right, " of ", count);
    contract(&operands, static_cast<size_t>(left), static_cast<size_t>(right), a);
  }
  while (operands.size() > 1) {
    // The product so far is the first of both.
    contract(&operands, 0, 1, a);
    std::rotate(operands.begin(), operands.end() - 1, operands.end());
  }
  DimVector rest;
  for (int64_t d = a.result_rank; d < a.rank; ++d) rest.push_back(d);
  Tensor result = operands[0];
  // What two operands have was summed when they were multiplied. That of a single one is a sum like
  // any other, and so of int64 for integers.
  if (n == 1 && !rest.empty()) result = sum_dim(result, rest, true, std::nullopt);
  for (auto d = rest.rbegin(); d != rest.rend(); ++d) result = squeeze_dim(result, *d);
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) { define(m, einsum).composed(einsum_kernel); }

}  // namespace sb
