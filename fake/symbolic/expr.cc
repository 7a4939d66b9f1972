#include "switchboard/fake/symbolic/expr.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "absl/hash/hash.h"
#include "switchboard/fake/symbolic/expr_linear.h"

namespace sb::symbolic {

size_t ExprPool::Hash::operator()(Expr e) const {
  return absl::HashOf(static_cast<int>(e->form), static_cast<int>(e->kind), static_cast<int>(e->op),
                      e->value, std::bit_cast<uint64_t>(e->float_value), e->args, e->coefficients);
}

bool ExprPool::Equal::operator()(Expr a, Expr b) const {
  return a->form == b->form && a->kind == b->kind && a->op == b->op && a->value == b->value &&
         std::bit_cast<uint64_t>(a->float_value) == std::bit_cast<uint64_t>(b->float_value) &&
         a->args == b->args && a->coefficients == b->coefficients;
}

Expr ExprPool::intern(ExprNode node) {
  if (const auto it = interned_.find(&node); it != interned_.end()) return *it;
  node.index = static_cast<uint32_t>(nodes_.size());
  for (Expr arg : node.args) node.has_unbacked |= arg->has_unbacked;
  nodes_.push_back(std::move(node));
  interned_.insert(&nodes_.back());
  return &nodes_.back();
}

Expr ExprPool::intern_apply(SymKind kind, SymOp op, std::vector<Expr> args) {
  ExprNode node;
  node.form = ExprForm::Apply;
  node.kind = kind;
  node.op = op;
  node.args = std::move(args);
  return intern(std::move(node));
}

Expr ExprPool::constant(int64_t value) {
  ExprNode node;
  node.value = value;
  return intern(std::move(node));
}
Expr ExprPool::constant_float(double value) {
  ExprNode node;
  node.kind = SymKind::Float;
  node.float_value = value;
  return intern(std::move(node));
}
Expr ExprPool::constant_bool(bool value) {
  ExprNode node;
  node.kind = SymKind::Bool;
  node.value = value;
  return intern(std::move(node));
}
Expr ExprPool::symbol(SymKind kind, std::string name, bool unbacked) {
  ExprNode node;
  node.form = ExprForm::Symbol;
  node.kind = kind;
  node.value = static_cast<int64_t>(names_.size());
  node.has_unbacked = unbacked;
  node.name = &names_.emplace_back(std::move(name));
  return intern(std::move(node));
}

ExprPool::Linear ExprPool::linear(Expr e) {
  Linear result;
  if (e->is_const()) {
    result.constant = e->value;
  } else if (e->is_sum()) {
    result.constant = e->value;
    result.terms.reserve(e->args.size());
    for (size_t i = 0; i < e->args.size(); ++i)
      result.terms.emplace_back(e->args[i], e->coefficients[i]);
  } else {
    result.terms.emplace_back(e, 1);
  }
  return result;
}

Expr ExprPool::from_linear(Linear sum) {
  if (sum.is_constant()) return constant(sum.constant);
  if (sum.is_monomial()) return sum.terms[0].first;
  ExprNode node;
  node.form = ExprForm::Apply;
  node.op = SymOp::Add;
  node.value = sum.constant;
  for (const auto& [monomial, coefficient] : sum.terms) {
    node.args.push_back(monomial);
    node.coefficients.push_back(coefficient);
  }
  return intern(std::move(node));
}

void ExprPool::accumulate(Linear& sum, const Linear& other, int64_t factor) {
  if (factor == 0) return;
  sum.constant = coefficient_add(sum.constant, coefficient_mul(other.constant, factor));
  std::vector<Linear::Term> merged;
  merged.reserve(sum.terms.size() + other.terms.size());
  auto a = sum.terms.begin();
  for (const auto& [monomial, coefficient] : other.terms) {
    while (a != sum.terms.end() && a->first->index < monomial->index) merged.push_back(*a++);
    int64_t total = coefficient_mul(coefficient, factor);
    if (a != sum.terms.end() && a->first == monomial) total = coefficient_add(total, (a++)->second);
    if (total != 0) merged.emplace_back(monomial, total);
  }
  merged.insert(merged.end(), a, sum.terms.end());
  sum.terms = std::move(merged);
}

Expr ExprPool::add_all(absl::Span<const Expr> args) {
  Linear sum;
  for (Expr arg : args) {
    Linear next = linear(arg);
    if (next.terms.size() >= kMaxTerms) next = Linear{0, {{arg, 1}}};
    if (sum.terms.size() >= kMaxTerms) sum = Linear{0, {{from_linear(std::move(sum)), 1}}};
    accumulate(sum, next, 1);
  }
  return from_linear(std::move(sum));
}

Expr ExprPool::multiply_monomials(Expr a, Expr b) {
  const auto factors = [](const Expr& m) {
    return m->is(SymOp::Mul) ? absl::MakeConstSpan(m->args) : absl::MakeConstSpan(&m, 1);
  };
  const auto by_age = [](Expr x, Expr y) { return x->index < y->index; };
  const auto fa = factors(a);
  const auto fb = factors(b);
  std::vector<Expr> product;
  if (fa.size() + fb.size() > kMaxDegree) {
    product = {a, b};
    std::sort(product.begin(), product.end(), by_age);
  } else {
    std::merge(fa.begin(), fa.end(), fb.begin(), fb.end(), std::back_inserter(product), by_age);
  }
  return intern_apply(SymKind::Int, SymOp::Mul, std::move(product));
}

Expr ExprPool::multiply(Expr a, Expr b) {
  const Linear la = linear(a);
  const Linear lb = linear(b);
  Linear product;
  if (la.is_constant() || lb.is_constant()) {
    const bool a_constant = la.is_constant();
    accumulate(product, a_constant ? lb : la, a_constant ? la.constant : lb.constant);
    return from_linear(std::move(product));
  }
  if ((la.terms.size() + 1) * (lb.terms.size() + 1) > kMaxExpansion)
    return multiply_monomials(a, b);
  for (const auto& [ma, ca] : la.terms) {
    for (const auto& [mb, cb] : lb.terms)
      accumulate(product, Linear{0, {{multiply_monomials(ma, mb), 1}}}, coefficient_mul(ca, cb));
  }
  accumulate(product, Linear{0, la.terms}, lb.constant);
  accumulate(product, Linear{0, lb.terms}, la.constant);
  product.constant = coefficient_mul(la.constant, lb.constant);
  return from_linear(std::move(product));
}

Expr ExprPool::min_max(SymOp op, absl::Span<const Expr> args) {
  std::vector<Expr> flat;
  for (Expr arg : args) {
    if (arg->is(op) && arg->kind == SymKind::Int && flat.size() + arg->args.size() <= kMaxExpansion)
      flat.insert(flat.end(), arg->args.begin(), arg->args.end());
    else
      flat.push_back(arg);
  }
  // Of two that differ by a constant, one is always the answer.
  std::vector<Expr> kept;
  for (Expr next : flat) {
    bool needed = true;
    for (Expr& have : kept) {
      Linear difference = linear(next);
      accumulate(difference, linear(have), -1);
      if (!difference.is_constant()) continue;
      if ((op == SymOp::Min) == (difference.constant < 0)) have = next;
      needed = false;
      break;
    }
    if (needed) kept.push_back(next);
  }
  std::sort(kept.begin(), kept.end(), [](Expr a, Expr b) { return a->index < b->index; });
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept.size() == 1 ? kept[0] : intern_apply(SymKind::Int, op, std::move(kept));
}

ExprPool::Scaled ExprPool::split(Expr e) {
  Linear sum = linear(e);
  Scaled result;
  result.constant = std::exchange(sum.constant, 0);
  if (sum.is_constant()) {
    result.form = constant(0);
    return result;
  }
  uint64_t g = 0;
  for (const auto& [m, c] : sum.terms) g = std::gcd(g, magnitude(c));
  if (g > static_cast<uint64_t>(INT64_MAX)) throw_coefficient_overflow();
  result.factor = sum.terms[0].second < 0 ? -static_cast<int64_t>(g) : static_cast<int64_t>(g);
  for (auto& [m, c] : sum.terms) c = floor_quotient(c, result.factor);
  result.form = from_linear(std::move(sum));
  return result;
}

Expr ExprPool::rebuild(Expr e, absl::Span<const Expr> args) {
  if (e->form != ExprForm::Apply || args == absl::MakeConstSpan(e->args)) return e;
  if (e->is_sum()) {
    Linear sum{e->value, {}};
    for (size_t i = 0; i < args.size(); ++i) {
      Linear next = linear(args[i]);
      if (sum.terms.size() + next.terms.size() > kMaxTerms) next = Linear{0, {{args[i], 1}}};
      accumulate(sum, next, e->coefficients[i]);
    }
    return from_linear(std::move(sum));
  }
  const bool integer_comparison = args.size() == 1 && e->kind == SymKind::Bool &&
                                  (e->op == SymOp::Eq || e->op == SymOp::Ne || e->op == SymOp::Le);
  return integer_comparison ? compare_with_zero(e->op, args[0]) : apply(e->op, args);
}

Expr ExprPool::apply(SymOp op, absl::Span<const Expr> args) {
  const bool many = op == SymOp::Add || op == SymOp::Mul || op == SymOp::And || op == SymOp::Or ||
                    op == SymOp::Min || op == SymOp::Max;
  const bool one =
      op == SymOp::Neg || op == SymOp::Not || (op >= SymOp::Sqrt && op <= SymOp::ToInt);
  SB_CHECK_TYPE(many ? !args.empty() : args.size() == (one ? 1u : 2u), "symbolic ",
                sb::to_string(op), ": expected ",
                many  ? "1 operand or more"
                : one ? "1 operand"
                      : "2 operands",
                ", got ", args.size());
  for (Expr arg : args) {
    SB_CHECK_TYPE(arg->kind == args[0]->kind, "symbolic ", sb::to_string(op), ": expected ",
                  sb::to_string(args[0]->kind), ", got ", sb::to_string(arg->kind), " ",
                  to_string(arg));
  }
  const bool comparison = op >= SymOp::Eq && op <= SymOp::Ge;
  switch (args[0]->kind) {
    case SymKind::Float:
      return float_apply(op, args);
    case SymKind::Bool:
      if (op == SymOp::And || op == SymOp::Or) return connective(op, args);
      if (op == SymOp::Not) return negate(args[0]);
      if (op == SymOp::ToInt) {
        if (args[0]->is_const()) return constant(args[0]->value);
        return intern_apply(SymKind::Int, op, {args[0]});
      }
      if (comparison)
        return compare(op, apply(SymOp::ToInt, {args[0]}), apply(SymOp::ToInt, {args[1]}));
      break;
    case SymKind::Int:
      if (comparison) return compare(op, args[0], args[1]);
      switch (op) {
        case SymOp::Add:
          return add_all(args);
        case SymOp::Mul: {
          Expr product = args[0];
          for (Expr arg : args.subspan(1)) product = multiply(product, arg);
          return product;
        }
        case SymOp::Sub:
          return add_all({args[0], multiply(args[1], constant(-1))});
        case SymOp::Neg:
          return multiply(args[0], constant(-1));
        case SymOp::FloorDiv:
          return floor_div(args[0], args[1]);
        case SymOp::Mod:
          return mod(args[0], args[1]);
        case SymOp::Min:
        case SymOp::Max:
          return min_max(op, args);
        case SymOp::ToFloat:
          if (args[0]->is_const()) return constant_float(static_cast<double>(args[0]->value));
          return intern_apply(SymKind::Float, op, {args[0]});
        case SymOp::TrueDiv:
          return float_apply(op,
                             {apply(SymOp::ToFloat, {args[0]}), apply(SymOp::ToFloat, {args[1]})});
        default:
          break;
      }
  }
  SB_THROW(TypeError, "symbolic ", sb::to_string(op), ": not an operation on ",
           sb::to_string(args[0]->kind));
}

Expr ExprPool::float_apply(SymOp op, absl::Span<const Expr> args) {
  const bool comparison = op >= SymOp::Eq && op <= SymOp::Ge;
  const bool rounding = op == SymOp::Floor || op == SymOp::Ceil || op == SymOp::Trunc;
  const bool arithmetic = op <= SymOp::Sqrt && op != SymOp::FloorDiv && op != SymOp::Mod;
  SB_CHECK_TYPE(comparison || rounding || arithmetic, "symbolic ", sb::to_string(op),
                ": not an operation on SymFloat");
  if (rounding && args[0]->is(SymOp::ToFloat)) return args[0]->args[0];
  if (std::all_of(args.begin(), args.end(), [](Expr a) { return a->is_const(); })) {
    std::vector<Number> numbers;
    for (Expr a : args) numbers.push_back({a->value, a->float_value});
    const Number result = evaluate_op(op, SymKind::Float, numbers);
    return comparison ? constant_bool(result.i != 0)
           : rounding ? constant(result.i)
                      : constant_float(result.d);
  }
  const SymKind kind = comparison ? SymKind::Bool : rounding ? SymKind::Int : SymKind::Float;
  return intern_apply(kind, op, std::vector<Expr>(args.begin(), args.end()));
}

std::vector<Expr> symbols_of(Expr e) {
  absl::flat_hash_set<Expr> seen;
  std::vector<Expr> symbols;
  visit_post_order(
      e, [&](Expr n) { return seen.contains(n); },
      [&](Expr n) {
        seen.insert(n);
        if (n->is_symbol()) symbols.push_back(n);
      });
  std::sort(symbols.begin(), symbols.end(), [](Expr a, Expr b) { return a->index < b->index; });
  return symbols;
}

}  // namespace sb::symbolic
