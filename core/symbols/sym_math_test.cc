// Arithmetic of SymInt, SymFloat and SymBool: plain ones, and what reaches a node.

#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {
namespace {

using Catch::Contains;

// A node that says what was asked of it.
class Recorder : public SymNode {
 public:
  Recorder(SymKind kind, std::string text, std::string* log)
      : kind_(kind), text_(std::move(text)), log_(log) {}
  SymKind kind() const override { return kind_; }
  std::string to_string() const override { return text_; }
  SymValue apply(SymOp op, absl::Span<const SymValue> operands) const override {
    std::string text = str_cat(sb::to_string(op), "(");
    for (const SymValue& v : operands)
      text += str_cat(v.is_symbolic() ? v.node()->to_string() : str_cat(v.as_int()), ";");
    const SymKind kind = op >= SymOp::Eq ? SymKind::Bool : SymKind::Int;
    return SymValue(IntrusivePtr<const SymNode>(make_intrusive<Recorder>(kind, text + ")", log_)));
  }
  bool guard_bool(SourceLocation where) const override {
    const SymReason* reason = SymReason::current();
    *log_ += str_cat("guard ", text_, " in ", reason ? reason->reason() : "nothing", " line ",
                     where.line() != 0, "\n");
    return true;
  }
  bool expect_true(SourceLocation, std::string_view message) const override {
    *log_ += str_cat("expect ", text_, " for ", message, "\n");
    return text_ != "==(n;0;)";
  }

 private:
  const SymKind kind_;
  const std::string text_;
  std::string* const log_;
};

TEST_CASE("plain arithmetic is that of int64, and overflow is an error", "[core][sym_int]") {
  const SymInt a = 7;
  const SymInt b = -2;
  CHECK((a + b).expect_int() == 5);
  CHECK((a - b).expect_int() == 9);
  CHECK((a * b).expect_int() == -14);
  CHECK((a / b).expect_int() == -3);
  CHECK((a % b).expect_int() == 1);
  CHECK(sym_floor_div(a, b).expect_int() == -4);
  CHECK(sym_mod(a, b).expect_int() == -1);
  CHECK(sym_floor_div(int64_t{-7}, int64_t{2}) == -4);
  CHECK((-a).expect_int() == -7);
  CHECK(sym_max(a, b).expect_int() == 7);
  CHECK(sym_min(int64_t{7}, int64_t{-2}) == -2);
  CHECK((a > b).expect_bool());
  const SymInt big = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_WITH(big + 1, Contains("size overflow"));
  CHECK_THROWS_AS(big * 2, RuntimeError);
  CHECK_THROWS_AS(SymInt(-(int64_t{1} << 62)) - 1, RuntimeError);  // would look like a pointer
  CHECK_THROWS_WITH(a / 0, Contains("7 / 0"));
  CHECK_THROWS_WITH(sym_mod(a, 0), Contains("7 % 0"));
  CHECK_THROWS_AS(sym_sum(std::vector<int64_t>{big.expect_int(), 1}), RuntimeError);
}

TEST_CASE("one text of a rule serves plain and symbolic sizes", "[core][sym_int]") {
  const auto rule = [](auto size, auto other) {
    if (guard_size_oblivious(size == other)) return sym_max(size, other);
    SB_CHECK(other != 0, "no");
    return sym_floor_div(size * other, other);
  };
  CHECK(rule(int64_t{3}, int64_t{4}) == 3);
  CHECK(rule(SymInt(3), SymInt(4)).expect_int() == 3);
}

TEST_CASE("operations with a symbol go to its node", "[core][sym_int]") {
  std::string log;
  const SymInt n(make_intrusive<Recorder>(SymKind::Int, "n", &log));
  CHECK((n + 1).to_string() == "+(n;1;)");
  CHECK((2 * n).to_string() == "*(2;n;)");
  CHECK((n / 2).to_string() == "//(n;2;)");
  const std::vector<SymInt> sizes = {2, n, 3, n};
  CHECK(sym_product(sizes).to_string() == "*(n;n;6;)");
  CHECK(log.empty());
  CHECK_THROWS_WITH(n.guard_int(), Contains("SymInt n: guard_int is not supported"));
  CHECK_THROWS_AS(SymInt((n == 1).value()), ValueError);  // a condition is no integer
}

TEST_CASE("asking a condition guards, and && and || of two ask one question", "[core][sym_bool]") {
  std::string log;
  const SymInt n(make_intrusive<Recorder>(SymKind::Int, "n", &log));
  {
    SymReason reason("aten::view");
    if (n == 1 || n == 2) log += "then\n";
  }
  CHECK(log == "guard |(==(n;1;);==(n;2;);) in aten::view line 0\nthen\n");
  log.clear();
  CHECK(guard_bool(n == 1));
  CHECK(log == "guard ==(n;1;) in nothing line 1\n");
  log.clear();
  CHECK(((n == 1) | SymBool(true)).expect_bool());  // decided without asking
  CHECK(((n == 1) & SymBool(true)).to_string() == "==(n;1;)");
  CHECK((!(n == 1)).to_string() == "!(==(n;1;);)");
  CHECK(log.empty());
  CHECK_THROWS_WITH((n == 1).expect_bool(), Contains("got symbolic ==(n;1;)"));
}

TEST_CASE("a check of a symbolic condition states it", "[core][sym_bool]") {
  std::string log;
  const SymInt n(make_intrusive<Recorder>(SymKind::Int, "n", &log));
  SB_CHECK(n == 4, "expected 4");
  CHECK(log == "expect ==(n;4;) for n == 4\n");
  CHECK_THROWS_WITH([&] { SB_CHECK_INDEX(n == 0, "n is ", n.to_string()); }(), Contains("n is n"));
  CHECK_THROWS_WITH(check(n == 0, "not so"), Contains("not so"));
  CHECK_THROWS_WITH(check(SymInt(3) == 4), Contains("expected False"));
}

TEST_CASE("a float becomes a size only where it fits", "[core][sym_float]") {
  CHECK(sym_floor(SymFloat(2.7)).expect_int() == 2);
  CHECK(sym_ceil(SymFloat(-2.7)).expect_int() == -2);
  CHECK(sym_true_div(7, 2).expect_float() == 3.5);
  CHECK_THROWS_AS(sym_floor(SymFloat(1e300)), RuntimeError);
  CHECK_THROWS_AS(sym_trunc(SymFloat(std::numeric_limits<double>::quiet_NaN())), RuntimeError);
  CHECK_THROWS_AS(sym_true_div(7, 0), RuntimeError);
}

}  // namespace
}  // namespace sb
