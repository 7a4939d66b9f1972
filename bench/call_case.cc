#include "switchboard/bench/call_case.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/views/views.h"

namespace sb::bench {
namespace {

std::optional<DType> dtype_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 11> kNames = {{
      {"f16", DType::Float16},
      {"bf16", DType::BFloat16},
      {"f32", DType::Float32},
      {"f64", DType::Float64},
      {"i8", DType::Int8},
      {"u8", DType::UInt8},
      {"i16", DType::Int16},
      {"i32", DType::Int32},
      {"i64", DType::Int64},
      {"bool", DType::Bool},
      {"c64", DType::Complex64},
  }};
  for (const auto& [text, dtype] : kNames) {
    if (text == name) return dtype;
  }
  return std::nullopt;
}

int64_t read_int(std::string_view word) {
  int64_t n = 0;
  SB_CHECK_VALUE(absl::SimpleAtoi(io::to_absl(word), &n), "expected an integer, got '", word, "'");
  return n;
}

std::vector<std::string> split(std::string_view text, char at) {
  return absl::StrSplit(io::to_absl(text), at, absl::SkipEmpty());
}

// "f32:64x64:t"
Tensor read_tensor(std::string_view word) {
  const std::vector<std::string> parts = absl::StrSplit(io::to_absl(word), ':');
  const std::optional<DType> dtype = dtype_of(parts[0]);
  SB_CHECK_VALUE(dtype, "expected a tensor, got '", word, "'");
  const auto has = [&](std::string_view option) {
    return std::find(parts.begin() + 2, parts.end(), option) != parts.end();
  };
  std::vector<int64_t> sizes;
  for (const std::string& size : split(parts[1], 'x')) sizes.push_back(read_int(size));
  if (has("t")) std::swap(sizes.end()[-1], sizes.end()[-2]);
  std::optional<int64_t> below;
  if (!is_floating_point(*dtype) && !is_complex(*dtype)) below = *dtype == DType::Bool ? 2 : 100;
  for (const std::string& part : parts) {
    if (part[0] == '<') below = read_int(std::string_view(part).substr(1));
  }
  Tensor tensor = below ? to(randint(*below, sizes), *dtype) : rand(sizes, *dtype);
  if (has("spd")) {
    const auto n = static_cast<double>(sizes.back());
    tensor = matmul(tensor, transpose(tensor, -2, -1)) + eye(sizes.back(), *dtype) * n;
  }
  if (has("t")) tensor = transpose(tensor, -2, -1);
  if (has("nhwc")) tensor = contiguous(tensor, MemoryFormat::ChannelsLast);
  if (has("even")) tensor = slice(tensor, -1, std::nullopt, std::nullopt, 2);
  if (has("grad")) set_requires_grad(tensor);
  return tensor;
}

IValue read_list(std::string_view words);

IValue read(std::string_view word) {
  if (absl::StartsWith(io::to_absl(word), "[")) {
    return read_list(word.substr(1, word.size() - 2));
  }
  if (word == "none") return {};
  if (word == "true" || word == "false") return word == "true";
  if (const auto dtype = dtype_of(word)) return *dtype;
  if (word.front() == '\'') return word.substr(1, word.size() - 2);
  if (word.find(':') != word.npos) return read_tensor(word);
  if (word.find_first_of(".e") == word.npos) return read_int(word);
  double number = 0;
  SB_CHECK_VALUE(absl::SimpleAtod(io::to_absl(word), &number), "expected a number, got '", word,
                 "'");
  return number;
}

// A list of numbers or of tensors, by what its first element is.
IValue read_list(std::string_view words) {
  std::vector<IValue> values;
  for (const std::string& word : split(words, ',')) values.push_back(read(word));
  return values;
}

void find_inputs(const IValue& value, std::vector<Tensor>& inputs) {
  value.for_each_tensor([&](const Tensor& t) {
    if (t.defined() && requires_grad(t)) inputs.push_back(t);
  });
}

}  // namespace

CallCase::CallCase(std::string_view text) : CallCase(split(text, ' ')) {}

CallCase::CallCase(const std::vector<std::string>& words)
    : op_(default_dispatcher().find_op_or_throw(words.at(0))) {
  std::vector<IValue> positional;
  std::vector<std::pair<std::string, IValue>> keyword;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) {
      positional.push_back(read(words[i]));
    } else {
      keyword.emplace_back(words[i].substr(0, equals), read(words[i].substr(equals + 1)));
    }
  }
  arguments_ = bind_arguments(op_.schema(), std::move(positional), std::move(keyword));
  for (const IValue& value : arguments_) find_inputs(value, inputs_);
  if (!inputs_.empty()) {
    Stack stack = arguments_;
    op_.call_boxed(&stack);
    ones_ = ones_like(stack[0].to_tensor());
  }
}

void CallCase::run(int64_t times) const {
  if (inputs_.empty()) {
    const InferenceModeGuard guard;
    Stack stack;
    for (int64_t i = 0; i < times; ++i) {
      stack = arguments_;
      op_.call_boxed(&stack);
    }
    return;
  }
  for (int64_t i = 0; i < times; ++i) {
    Stack stack = arguments_;
    op_.call_boxed(&stack);
    grad({stack[0].to_tensor()}, inputs_, {ones_});
  }
}

}  // namespace sb::bench
