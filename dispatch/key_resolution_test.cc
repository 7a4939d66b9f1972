#include "catch2/catch.hpp"
#include "switchboard/dispatch/inspector.h"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace {

using K = DispatchKey;
using Rule = ResolutionRule;

class Table {
 public:
  Table() : library_(dispatcher_, Library::Kind::Def, "demo") {
    op_ = library_.define("f(Tensor x) -> Tensor");
  }
  Table& at(K key) {
    library_.impl("f", key, [](const Tensor& x) { return x; });
    return *this;
  }
  Rule rule(K key) const {
    for (const TableRow& row : computed_table(*op_))
      if (row.key == key) return row.rule;
    FAIL("no such row");
    return Rule::Missing;
  }

 private:
  Dispatcher dispatcher_;
  Library library_;
  std::optional<OperatorHandle> op_;
};

TEST_CASE("a kernel at the key itself comes first") {
  Table t;
  t.at(K::CPU).at(K::CompositeExplicitAutograd).at(K::CompositeImplicitAutograd).at(K::Autograd);
  CHECK(t.rule(K::CPU) == Rule::Kernel);
  CHECK(t.rule(K::CUDA) == Rule::DefaultBackendKernel);
}

TEST_CASE("CompositeExplicitAutograd serves the backends and Undefined, and no autograd key") {
  Table t;
  t.at(K::CompositeExplicitAutograd);
  for (K key : {K::CPU, K::SparseCUDA, K::QuantizedCPU, K::Meta, K::FPGA, K::Undefined})
    CHECK(t.rule(key) == Rule::DefaultBackendKernel);
  CHECK(t.rule(K::AutogradCPU) == Rule::BackendFallback);
  CHECK(t.rule(K::NestedTensorCPU) == Rule::Missing);
}

TEST_CASE("the NonFunctional variant goes before it, and leaves out Sparse, XLA and Lazy") {
  Table t;
  t.at(K::CompositeExplicitAutogradNonFunctional);
  CHECK(t.rule(K::CPU) == Rule::DefaultBackendKernel);
  CHECK(t.rule(K::SparseCPU) == Rule::Missing);
  CHECK(t.rule(K::XLA) == Rule::Missing);
  CHECK(t.rule(K::Lazy) == Rule::Missing);
}

TEST_CASE("CompositeImplicitAutograd serves autograd keys unless their backend has a kernel") {
  Table t;
  t.at(K::CompositeImplicitAutograd).at(K::CPU);
  CHECK(t.rule(K::AutogradCPU) == Rule::BackendFallback);
  CHECK(t.rule(K::AutogradCUDA) == Rule::MathKernel);
  CHECK(t.rule(K::CUDA) == Rule::MathKernel);
  CHECK(t.rule(K::NestedTensorCPU) == Rule::MathKernel);
}

TEST_CASE("an explicit composite hides the implicit one at every autograd key") {
  Table t;
  t.at(K::CompositeImplicitAutograd).at(K::CompositeExplicitAutograd);
  CHECK(t.rule(K::AutogradCUDA) == Rule::BackendFallback);
  CHECK(t.rule(K::CUDA) == Rule::DefaultBackendKernel);
}

TEST_CASE(
    "AutogradOther is ambiguous when one of its backends has a kernel beside the implicit one") {
  Table t;
  t.at(K::CompositeImplicitAutograd).at(K::SparseCPU);
  CHECK(t.rule(K::AutogradOther) == Rule::AmbiguousAutogradOther);
  t.at(K::AutogradOther);
  CHECK(t.rule(K::AutogradOther) == Rule::Kernel);
}

TEST_CASE("the Autograd alias serves what is left of the autograd keys") {
  Table t;
  t.at(K::Autograd).at(K::CPU);
  for (K key : {K::AutogradCPU, K::AutogradPrivateUse1, K::AutogradOther, K::AutogradNestedTensor})
    CHECK(t.rule(key) == Rule::AutogradKernel);
}

TEST_CASE("without any kernel a slot holds the backend fallback, or nothing") {
  Table t;
  CHECK(t.rule(K::AutogradCPU) == Rule::BackendFallback);
  CHECK(t.rule(K::AutogradPrivateUse1) == Rule::Missing);
  CHECK(t.rule(K::CPU) == Rule::Missing);
}

}  // namespace
}  // namespace sb
