#include <charconv>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>

#include "absl/strings/numbers.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tests/gradients/sample.h"

namespace sb::test {
namespace {

// 0.15 to 0.85, no two alike for a while: multiples of the golden ratio.
double magnitude(int64_t i) {
  const double x = 0.6180339887498949 * static_cast<double>(i + 1);
  return 0.15 + 0.7 * (x - std::floor(x));
}

class Parser {
 public:
  explicit Parser(std::string_view line) : line_(line), rest_(line) {}

  Sample parse() {
    Sample& sample = sample_;
    sample.text = std::string(line_);
    std::string_view name = word();
    if (name == "once") {
      sample.once = true;
      name = word();
    }
    sample.op = str_cat("aten::", name);
    while (skip_spaces(), !rest_.empty()) {
      const size_t end = rest_.find_first_of(" =[{\"");
      if (end != std::string_view::npos && rest_[end] == '=') {
        std::string key(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        sample.keyword.emplace_back(std::move(key), value());
      } else {
        sample.positional.push_back(value());
      }
    }
    return std::move(sample_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    SB_THROW(ValueError, "sample '", line_, "': expected ", what, " at '", rest_, "'");
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  std::string_view word() {
    skip_spaces();
    const std::string_view found = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(found.size());
    return found;
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view until(std::string_view ends) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(found.size());
    return found;
  }

  IValue value() {
    if (rest_.size() > 1 && rest_[1] == '[') return tensor();
    if (take('{')) return tensor_list();
    if (take('[')) return list();
    if (take('"')) {
      const std::string text(until("\""));
      if (!take('"')) fail("a quote");
      return text;
    }
    return plain(until(" ,]}"));
  }
  IValue plain(std::string_view text) {
    if (text == "None") return IValue();
    if (text == "true" || text == "false") return text == "true";
    if (const std::optional<DType> dtype = find_dtype(text)) return *dtype;
    int64_t n = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, n).ptr == end && !text.empty()) return n;
    double x = 0;
    if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &x)) fail("a value");
    return x;
  }

  std::vector<int64_t> ints(char close) {
    std::vector<int64_t> list;
    while (!take(close)) {
      list.push_back(plain(until(str_cat(",", std::string(1, close)))).to_int());
      take(',');
      if (rest_.empty()) fail("the end of a list");
    }
    return list;
  }
  IValue list() {
    std::vector<IValue> items;
    while (!take(']')) {
      items.push_back(plain(until(",]")));
      take(',');
      if (rest_.empty()) fail("]");
    }
    if (!items.empty() && items[0].is_Double()) {
      std::vector<double> list;
      for (const IValue& v : items) list.push_back(v.to_double());
      return list;
    }
    if (!items.empty() && items[0].is_Bool()) {
      std::vector<bool> list;
      for (const IValue& v : items) list.push_back(v.to_bool());
      return list;
    }
    std::vector<int64_t> list;
    for (const IValue& v : items) list.push_back(v.to_int());
    return list;
  }
  IValue tensor_list() {
    std::vector<std::optional<Tensor>> items;
    bool holes = false;
    while (!take('}')) {
      const IValue item = value();
      holes = holes || item.is_None();
      items.push_back(item.is_None() ? std::nullopt : std::optional(item.to_tensor()));
      take(',');
      if (rest_.empty()) fail("}");
    }
    if (holes) return items;
    std::vector<Tensor> tensors;
    for (const auto& t : items) tensors.push_back(*t);
    return tensors;
  }

  Tensor tensor() {
    const char kind = rest_[0];
    if (kind == 's') sample_.symmetric.push_back(tensors_);
    ++tensors_;
    rest_.remove_prefix(2);
    const std::vector<int64_t> sizes = ints(']');
    if (kind == 'i') {
      if (!take('{')) fail("{");
      const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Int64);
      const std::vector<int64_t> elements = ints('}');
      if (static_cast<int64_t>(elements.size()) != t.numel()) fail("as many elements");
      std::copy(elements.begin(), elements.end(), t.data<int64_t>());
      return t;
    }
    if (kind == 'b') {
      const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Bool);
      for (int64_t i = 0; i < t.numel(); ++i) t.data<bool>()[i] = i % 2 == 0;
      return t;
    }
    if (kind == 'c') {
      const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Complex128);
      for (int64_t i = 0; i < t.numel(); ++i)
        t.data<std::complex<double>>()[i] = {signed_number(), signed_number()};
      set_requires_grad(t);
      return t;
    }
    const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Float64);
    double* const p = t.numel() > 0 ? t.data<double>() : nullptr;
    for (int64_t i = 0; i < t.numel(); ++i) p[i] = real_number(kind);
    if (kind == 's') make_definite(t);
    if (kind != 'n' && kind != 'm') set_requires_grad(t);
    return t;
  }
  double signed_number() {
    const double x = magnitude(next_);
    // Not in turn, or neighbours would differ in sign always.
    return (next_++ * 7 % 5) % 2 == 0 ? x : -x;
  }
  double real_number(char kind) {
    switch (kind) {
      case 'f':
      case 's':
        return signed_number();
      case 'h':
        return 0.1 * signed_number();
      case 'p':
      case 'n':
        return magnitude(next_++);
      case 'u':
      case 'm':
        return 1 + magnitude(next_++);
      default:
        fail("a kind of tensor");
    }
  }
  // Each matrix A becomes A + A^T + 4: its eigenvalues are far from 0 and from each other.
  static void make_definite(const Tensor& t) {
    const int64_t n = t.size(-1);
    for (int64_t first = 0; first < t.numel(); first += n * n) {
      double* const m = t.data<double>() + first;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < i; ++k) m[i * n + k] = m[k * n + i] = m[i * n + k] + m[k * n + i];
        m[i * n + i] = 2 * m[i * n + i] + 4 + static_cast<double>(i);
      }
    }
  }

  std::string_view line_;
  std::string_view rest_;
  int64_t next_ = 0;
  size_t tensors_ = 0;
  Sample sample_;
};

}  // namespace

Sample parse_sample(std::string_view line) { return Parser(line).parse(); }

}  // namespace sb::test
