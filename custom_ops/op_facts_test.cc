#include "switchboard/custom_ops/op_facts.h"

#include <map>

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/objects/out_variant.h"
#include "switchboard/ops/copying/copy.h"

namespace sb {
namespace {

using Catch::Contains;
using Facts = std::map<std::string, std::string>;

Facts facts_of(const OpOverload& op) {
  Facts facts;
  for (const OpFact& fact : op_facts(op)) facts[fact.name] = fact.text;
  return facts;
}
Facts facts_of(const std::string& name) {
  return facts_of(OpOverload(default_dispatcher().find_op_or_throw(name)));
}

CustomOp twice_op(TagSet tags = {}) {
  return custom_op("op_facts_test::twice", "(Tensor x) -> Tensor",
                   [](const Tensor& x) { return clone(x); }, {.tags = tags});
}

TEST_CASE("facts of a built-in operator are its tags, its out= form and what autocast does") {
  const Facts add = facts_of("aten::add.Tensor");
  CHECK_THAT(add.at("tags"), Contains("pointwise"));
  CHECK(add.at("out variant") == "aten::add.out");
  CHECK(add.count("effect") == 0);
  CHECK(facts_of("aten::mm").at("autocast") == "cpu to the region's dtype");
}

TEST_CASE("an operator of one's own keeps strides, unless a tag says otherwise") {
  {
    const CustomOp plain = twice_op();
    CHECK(facts_of(plain.op()).at("layout") == "needs_exact_strides, as no tag says otherwise");
  }
  const CustomOp tagged = twice_op(Tag::flexible_layout);
  const Facts facts = facts_of(tagged.op());
  CHECK(facts.count("layout") == 0);
  CHECK_THAT(facts.at("tags"), Contains("flexible_layout"));
}

TEST_CASE("what is registered of an operator is a fact for as long as it is registered") {
  CustomOp op = twice_op();
  const CustomOp out = custom_op("op_facts_test::twice_into", "(Tensor x, Tensor(a!) y) -> ()",
                                 [](const Tensor&, const Tensor&) {});
  {
    const RegistrationHandle effect = register_effect(op.op().handle(), Effect::Ordered);
    const RegistrationHandle variant = register_out_variant(op.op(), out.op());
    const RegistrationHandle cast = register_autocast(op.op(), "cpu", DType::Float16);
    const RegistrationHandle rule =
        operator_base(op.op().handle().entry())
            .impl_mode<CountingMode>([](CountingMode&, DispatchKeySet, Stack*) {});
    const Facts facts = facts_of(op.op());
    CHECK_THAT(facts.at("effect"), Contains("ordered"));
    CHECK(facts.at("out variant") == "op_facts_test::twice_into, as registered");
    CHECK(facts.at("autocast") == "cpu to float16");
    CHECK_THAT(facts.at("rule"), Contains("for sb::CountingMode (custom_ops/op_facts_test.cc:"));
  }
  const Facts after = facts_of(op.op());
  for (const char* name : {"effect", "out variant", "autocast", "rule"})
    CHECK(after.count(name) == 0);
}

TEST_CASE("kernels that are disabled are facts with the place that says so") {
  CustomOp op = twice_op();
  op.register_kernel("cpu", [](const Tensor& x) { return x; });
  {
    const RegistrationHandle off = op.set_kernel_enabled("cpu", false);
    CHECK_THAT(facts_of(op.op()).at("disabled"),
               Contains("the kernel at CPU (custom_ops/op_facts_test.cc:"));
  }
  CHECK(facts_of(op.op()).count("disabled") == 0);
}

TEST_CASE("facts as text are lines in columns") {
  CHECK(to_string(std::vector<OpFact>{{"tags", "core"}, {"out variant", "a::b.out"}}) ==
        "  tags         core\n  out variant  a::b.out\n");
  CHECK(to_string(std::vector<OpFact>{}).empty());
}

TEST_CASE("every operator has facts that can be told") {
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    CAPTURE(op.name().to_string());
    CHECK_NOTHROW(op_facts(OpOverload(op)));
  }
}

}  // namespace
}  // namespace sb
