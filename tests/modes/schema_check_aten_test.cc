// The aten operators do what their schemas say.

#include <functional>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/composite/split.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// A bit of everything, on tensors like x, float32[4, 6].
void run_program(const Tensor& x) {
  const Tensor y = zeros_like(x), row = select(x, 0, 0);
  add_(y, x);
  mul_Scalar_(y, 2);
  add_out(x, x, 1, y);
  fill_(row, 3);
  copy_(y, permute(permute(x, {1, 0}), {1, 0}));
  cat(std::vector<Tensor>{x, y, x}, 1);
  for (const Tensor& part : split(x, 4, 1)) relu(part);
  unbind(x);
  max_dim(x, 1);
  sum_dim(x, {0}, true);
  mm(x, transpose(y, 0, 1));
  matmul(x, view(y, {6, 4}));
  addmm(mm(x, transpose(x, 0, 1)), x, transpose(x, 0, 1));
  unsqueeze_(y, 0);
  squeeze_(y);
  transpose_(y, 0, 1);
  expand(unsqueeze(x, 0), {5, 4, 6});
  slice(x, 1, 0, 6, 2);
  as_strided(x, {2, 2}, {1, 3}, 2);
  to_dtype(x, DType::Float64);
  resize_(y, {3, 3});
  detach(x);
  x < 3;
  x + 1;
}

TEST_CASE("the operators of a program do what their schemas say, on the CPU") {
  SchemaCheckMode check;
  ModeGuard guard(&check);
  const Tensor x = ones({4, 6});
  run_program(x);
  equal(x, x);
  item(sum_all(x));
  CHECK(check.checked().size() > 30);
  CHECK_FALSE(check.notes().empty());
}

TEST_CASE("and on meta tensors, and on fake ones") {
  SchemaCheckMode check;
  FakeTensorMode fake;
  const Tensor meta = ones({4, 6}, Device(DeviceType::Meta));
  const Tensor faked = fake.from_tensor(ones({4, 6}), Device(DeviceType::CUDA, 0));
  ModeGuard guard(&check);
  run_program(meta);
  run_program(faked);
  CHECK(check.checked().size() > 60);
}

TEST_CASE("and on the dummy device, whose memory is sealed") {
  SchemaCheckMode check({.to_cpu = [](const Tensor& t) { return to(t, Device(DeviceType::CPU)); }});
  const Tensor x = to(ones({4, 6}), Device("dummy"));
  {
    ModeGuard guard(&check);
    run_program(x);
  }
  CHECK(check.checked().size() > 30);
  SchemaCheckMode blind;  // without a way to read
  ModeGuard guard(&blind);
  run_program(x);
}

TEST_CASE("operators that share memory in spite of their schemas say so by a tag, and are let be") {
  SchemaCheckMode check;
  ModeGuard guard(&check);
  const Tensor x = ones({4});
  CHECK(_unsafe_view(x, {2, 2}).is_alias_of(x));
  CHECK(unsafe_split(x, 2)[1].is_alias_of(x));
  CHECK(set__source_Tensor(ones({2}), x).is_alias_of(x));
  CHECK(set_source_Tensor(ones({2}), x).is_alias_of(x));
}

}  // namespace
}  // namespace sb
