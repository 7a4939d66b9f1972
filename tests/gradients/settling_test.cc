// Which operators read a symbolic size as a number, forward and backward: a list with reasons that
// may only shrink.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/gradients/sample.h"

namespace sb::test {
namespace {

using Names = std::map<std::string, std::string>;

constexpr const char* kCount = "how many results there are depends on the size";
constexpr const char* kRank = "as many steps as the size says; no general rule has been written";
constexpr const char* kNotYet = "its rule is written for numbers";

// Operators that settle, and why.
const Names& settle_forward() {
  static const auto* const names = new Names{{"aten::chunk", kCount},
                                             {"aten::split.Tensor", kCount},
                                             {"aten::split_copy.Tensor", kCount},
                                             {"aten::unbind.int", kCount},
                                             {"aten::unbind_copy.int", kCount},
                                             {"aten::unsafe_chunk", kCount},
                                             {"aten::histogramdd.int_bins", kCount},
                                             {"aten::unsafe_split.Tensor", kCount},
                                             {"aten::linalg_qr", kNotYet},
                                             {"aten::qr", kNotYet},
                                             {"aten::quantile.scalar", kNotYet}};
  return *names;
}
const Names& settle_backward() {
  static const auto* const names = new Names{{"aten::_pack_padded_sequence", kNotYet},
                                             {"aten::fill_diagonal_", kNotYet},
                                             {"aten::glu_backward", kCount},
                                             {"aten::linalg_lu_factor", kRank},
                                             {"aten::linalg_lu", kRank},
                                             {"aten::linalg_lu_factor_ex", kRank},
                                             {"aten::nanquantile", kNotYet},
                                             {"aten::native_group_norm", kNotYet},
                                             {"aten::quantile", kNotYet}};
  return *names;
}

bool has_out(const OperatorHandle& op) {
  for (const Argument& argument : op.schema().arguments)
    if (argument.is_out()) return true;
  return false;
}

// One call on fake tensors of which every size of 2 or more is a symbol of its own.
class SymbolicCall {
 public:
  explicit SymbolicCall(const Sample& sample) {
    for (const IValue& value : sample.positional) positional_.push_back(symbolic(value));
    for (const auto& [name, value] : sample.keyword) keyword_.emplace_back(name, symbolic(value));
  }

  void forward(const OperatorHandle& op) {
    FakeTensorModeGuard active(mode_);
    results_ = op.call(positional_, keyword_);
  }
  void go_backward() {
    FakeTensorModeGuard active(mode_);
    std::vector<Tensor> roots, grads;
    for (const IValue& result : results_) {
      if (!result.is_Tensor() || !requires_grad(result.to_tensor())) continue;
      roots.push_back(result.to_tensor());
      grads.push_back(ones_like(roots.back()));
    }
    if (!roots.empty()) backward(roots, grads);
  }
  // What was read as a number so far; "" if nothing was.
  std::string read() const {
    std::vector<std::string> texts;
    for (const SettledSymbol& s : env_->settled())
      if (s.was_read) texts.push_back(str_cat(s.text, " by ", to_string(s.origin)));
    return absl::StrJoin(texts, ", ");
  }

 private:
  Tensor symbolic(const Tensor& t) {
    if (!t.defined()) return t;
    const auto rank = static_cast<size_t>(t.dim());
    return mode_.from_tensor(
        t, {.source = str_cat("t", count_++),
            .dims = std::vector<SymbolicDim>(rank, {.kind = DimDynamic::Dynamic})});
  }
  IValue symbolic(const IValue& value) {
    if (value.is_Tensor()) return symbolic(value.to_tensor());
    if (value.is_TensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& t : value.to_tensor_list()) list.push_back(symbolic(t));
      return list;
    }
    if (value.is_OptionalTensorList()) {
      std::vector<std::optional<Tensor>> list;
      for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
        list.push_back(t ? std::optional(symbolic(*t)) : std::nullopt);
      return list;
    }
    return value;
  }

  const IntrusivePtr<ShapeEnv> env_ =
      ShapeEnv::create({.duck_shape = false, .on_settle = OnSettle::Record});
  FakeTensorMode mode_{{.shape_env = env_}};
  int count_ = 0;
  Arguments positional_;
  KeywordArguments keyword_;
  std::vector<IValue> results_;
};

// Each of them is on the list, and nothing else is.
void check_listed(const Names& found, const Names& listed) {
  for (const auto& [name, read] : found) {
    INFO((&listed == &settle_forward() ? "forward " : "backward ") << name << " reads " << read);
    CHECK(listed.contains(name));
  }
  for (const auto& [name, reason] : listed) {
    INFO(name << " settles nothing any more: take it from the list");
    CHECK(found.contains(name));
  }
}

TEST_CASE("no operator reads symbolic sizes as numbers, but for those that are listed") {
  std::map<std::string, std::vector<std::string>> lines;
  for (const std::string& line : sample_lines()) lines[parse_sample(line).op].push_back(line);
  Names forward, backward;
  size_t swept = 0, differentiated = 0;
  std::vector<std::string> refused;
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    if (op.name().ns() != "aten" || has_out(op)) continue;
    const std::string name = op.name().to_string();
    std::vector<std::string> samples = lines[name];
    if (samples.empty())
      if (std::string line = make_up_sample(op); !line.empty()) samples.push_back(std::move(line));
    for (const std::string& line : samples) {
      SymbolicCall call(parse_sample(line));
      std::string read;
      try {
        call.forward(op);
        ++swept;
        read = call.read();
        if (!read.empty()) forward[name] = read;
        call.go_backward();
        ++differentiated;
      } catch (const Error& error) {
        refused.push_back(str_cat(line, ": ", error.what()));
      }
      const std::string all = call.read();
      if (all.size() > read.size()) backward[name] = all.substr(read.size());
    }
  }
  WARN(swept << " calls, " << differentiated << " of them backward; refused:\n"
             << absl::StrJoin(refused, "\n"));
  check_listed(forward, settle_forward());
  check_listed(backward, settle_backward());
  CHECK(swept > 700);
}

}  // namespace
}  // namespace sb::test
