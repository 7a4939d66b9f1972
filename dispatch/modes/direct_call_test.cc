#include "switchboard/dispatch/modes/direct_call.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb {
namespace {

SB_OP(first, "direct::first(Tensor x, Tensor? y=None, int n=1) -> Tensor");
SB_OP(both, "direct::both(Tensor[] xs) -> (Tensor, Tensor[])");
SB_OP(count, "direct::count(Tensor x, SymInt[] size=[]) -> int");
SB_OP(stored, "direct::stored(Tensor x, Storage s) -> Tensor");

// Owns tensors, and shows kernels at Meta the very tensors.
class Direct : public DispatchMode, private internal::DirectPath {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    ++stacks;
    op.redispatch_boxed(DispatchKey::Meta, stack);
  }
  std::string name() const override { return "Direct"; }

 private:
  internal::DirectPath* direct_path() override { return this; }
  bool call_direct(OperatorEntry& op, const internal::TypedFrame& frame) override {
    const Kernel& meta = op.resolved_table()[DispatchKey::Meta];
    internal::DirectArguments arguments;
    if (declines || !meta.unboxed || !arguments.collect(frame)) return false;
    tensors.clear();
    for (const Tensor* const t : arguments.span()) {
      if (t->impl()->mode_data() && &t->impl()->mode_data()->mode() != this) return false;
      tensors.push_back(*t);
    }
    frame.enter(meta, DispatchKey::Meta);
    internal::for_each_result(frame, [this](const Tensor& t) { results.push_back(t); });
    return true;
  }

 public:
  bool declines = false;
  int stacks = 0;
  std::vector<Tensor> tensors, results;
};

class OwnedBy : public ModeData {
 public:
  explicit OwnedBy(DispatchMode* mode) : mode_(mode) {}
  DispatchMode& mode() const override { return *mode_; }

 private:
  DispatchMode* mode_;
};

struct Fixture {
  Fixture() {
    m.define(first);
    m.define(both);
    m.define(count);
    m.define(stored);
    m.impl(first, DispatchKey::Meta,
           [](DispatchKeySet keys, const Tensor& x, const std::optional<Tensor>&, int64_t n) {
             CHECK(keys == DispatchKeySet(DispatchKey::Meta));
             CHECK(current_mode() == nullptr);
             SB_CHECK(n > 0, "expected n above 0, got ", n);
             return x;
           });
    m.impl(both, DispatchKey::Meta, [](TensorList xs) {
      return std::tuple<Tensor, std::vector<Tensor>>(xs[0], {xs.begin(), xs.end()});
    });
    m.impl(count, DispatchKey::Meta,
           [](const Tensor&, SymIntArrayRef s) { return static_cast<int64_t>(s.size()); });
    m.impl(stored, DispatchKey::Meta, [](const Tensor& x, const Storage&) { return x; });
  }
  Tensor make() {
    const Tensor t = tensor_with(tensor_key_set(DeviceType::CPU) | DispatchKey::Python);
    t.impl()->set_mode_data(make_intrusive<OwnedBy>(&mode));
    return t;
  }
  Library m{Library::Kind::Def, "direct"};
  Direct mode;
};

TEST_CASE("a mode takes a typed call with the tensors where they are, and gets the results") {
  Fixture f;
  const Tensor x = f.make(), y = f.make();
  CHECK(first(x, y, 3).is_same(x));
  REQUIRE(f.mode.tensors.size() == 2);
  CHECK(f.mode.tensors[1].is_same(y));
  REQUIRE(f.mode.results.size() == 1);
  CHECK(f.mode.results[0].is_same(x));
  const Tensor list[] = {y, x};
  const auto [one, all] = both(list);
  CHECK(one.is_same(y));
  CHECK(f.mode.results.size() == 4);
  CHECK(count(x, {1, 2}) == 2);
  CHECK(f.mode.stacks == 0);
}

TEST_CASE("the mode on top of the stack takes it, and is off the stack meanwhile") {
  Fixture f;
  const ModeGuard guard(&f.mode);
  const Tensor x = tensor_with(tensor_key_set(DeviceType::CPU));
  CHECK(first(x).is_same(x));
  CHECK(f.mode.stacks == 0);
  CHECK(current_mode() == &f.mode);
}

TEST_CASE("a mode that declines gets a stack, and so does one that is observed") {
  Fixture f;
  const Tensor x = f.make();
  f.mode.declines = true;
  CHECK(first(x).is_same(x));
  CHECK(f.mode.stacks == 1);
  f.mode.declines = false;
  class Nothing : public CallObserver {
    void enter(const OperatorEntry&, DispatchKeySet, const Kernel&) override {}
    void leave(const OperatorEntry&, DispatchKeySet) override {}
  } nothing;
  const ObserveCalls observe(&nothing);
  CHECK(first(x).is_same(x));
  CHECK(f.mode.stacks == 2);
}

TEST_CASE("a call with a storage, or more than eight tensors, gets a stack") {
  Fixture f;
  const Tensor x = f.make();
  CHECK(stored(x, make_storage(4, get_allocator(DeviceType::CPU), DeviceType::CPU)).is_same(x));
  CHECK(f.mode.stacks == 1);
  both(std::vector<Tensor>(8, x));
  CHECK(f.mode.stacks == 1);
  both(std::vector<Tensor>(9, x));
  CHECK(f.mode.stacks == 2);
}

TEST_CASE("an operator with rules of its own for modes gets a stack") {
  Fixture f;
  const Tensor x = f.make();
  operator_base(first.handle().entry());
  CHECK(first(x).is_same(x));
  CHECK(f.mode.stacks == 1);
}

TEST_CASE("arguments of two modes are an error, as with a stack") {
  Fixture f;
  Direct other;
  const Tensor x = f.make(), y = f.make();
  y.impl()->set_mode_data(make_intrusive<OwnedBy>(&other));
  CHECK_THROWS_WITH(first(x, y),
                    "direct::first: arguments belong to different modes, Direct and Direct");
}

TEST_CASE("a kernel that throws leaves the mode as it was") {
  Fixture f;
  const Tensor x = f.make();
  CHECK_THROWS_WITH(first(x, std::nullopt, 0), "expected n above 0, got 0");
  CHECK(f.mode.results.empty());
  CHECK(first(x).is_same(x));
}

}  // namespace
}  // namespace sb
