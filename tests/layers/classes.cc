#include "switchboard/tests/layers/classes.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/tag.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/builtin.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/law.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::layers {
namespace {

using composition::call;
using K = DispatchKey;

// ---- What the registry says.

const FunctionSchema& schema_of(const OperatorHandle& op) { return op.schema(); }
bool any_argument(const OperatorHandle& op, bool (*f)(const Argument&)) {
  return std::any_of(schema_of(op).arguments.begin(), schema_of(op).arguments.end(), f);
}
bool takes_tensor(const OperatorHandle& op) {
  return any_argument(op, [](const Argument& a) { return a.type.has_tensor(); });
}
bool gives_tensor(const OperatorHandle& op) {
  return std::any_of(schema_of(op).returns.begin(), schema_of(op).returns.end(),
                     [](const Return& r) { return r.type.has_tensor(); });
}
bool is_out(const OperatorHandle& op) {
  return any_argument(op, [](const Argument& a) { return a.is_write() && a.kwarg_only; });
}
bool is_ours(const OperatorHandle& op) {
  const std::string_view ns = op.name().ns();
  return is_builtin_namespace(ns) || ns == "quantized";
}
// The key whose kernel runs for tensors on the CPU, below autograd; and with it.
K kernel_of(const OperatorHandle& op) {
  return op.entry().dispatcher().resolve(op.entry(), K::CPU).source;
}
K autograd_of(const OperatorHandle& op) {
  return op.entry().dispatcher().resolve(op.entry(), K::AutogradCPU).source;
}
bool is_pure(const OperatorHandle& op) {
  return !op.schema().is_mutable() && !op.schema().is_view() && takes_tensor(op) &&
         gives_tensor(op) && !op.entry().has_tag(Tag::nondeterministic_seeded);
}
bool is_custom(const OperatorHandle& op) {
  return !is_ours(op) && is_pure(op) && !has_ordered_effect(op);
}

// ---- Operators with effects.

constexpr char kQueueClass[] = "__torch__.torch.classes.layers.Queue";
struct Queue : OpaqueObject {
  std::string_view class_name() const override { return kQueueClass; }
  std::deque<Tensor> items;
};

std::string* left_behind() {
  static thread_local std::string left;
  return &left;
}

SB_LIBRARY(layers, m) {
  const std::string queue = str_cat(kQueueClass, " queue");
  m.define("seed(int seed) -> ()");
  m.impl("seed", K::CompositeExplicitAutograd, [](int64_t seed) {
    leave("seed");
    default_cpu_generator()->set_seed(static_cast<uint64_t>(seed));
  });
  m.define("print(Tensor x) -> ()");
  m.impl("print", K::CompositeExplicitAutograd,
         [](const Tensor& x) { leave(str_cat("print ", x.describe())); });
  m.define(str_cat("push(", queue, ", Tensor x) -> ()"));
  m.impl("push", K::CompositeExplicitAutograd,
         [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
           const Tensor x = std::move(stack->back()).to_tensor();
           stack->pop_back();
           const IntrusivePtr<OpaqueObject> object = stack->back().to_object();
           stack->pop_back();
           leave(str_cat("push ", x.describe()));
           dynamic_cast<Queue&>(*object).items.push_back(x);
         });
  m.define(str_cat("pop(", queue, ") -> Tensor"));
  m.impl("pop", K::CompositeExplicitAutograd,
         [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
           const IntrusivePtr<OpaqueObject> object = stack->back().to_object();
           std::deque<Tensor>& items = dynamic_cast<Queue&>(*object).items;
           SB_CHECK(!items.empty(), "layers::pop: the queue is empty");
           leave(str_cat("pop ", items.front().describe()));
           stack->back() = IValue(items.front());
           items.pop_front();
         });
}

// ---- The programs.

Tensors object_program(const Tensors& in) {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  call("layers::push", {queue, in[0] * 2});
  call("layers::push", {queue, in[0] * 3});
  const Tensor first = call("layers::pop", {queue})[0];
  return {first + call("layers::pop", {queue})[0] * 10};
}

// Whether the operator is one of ours, pure, and has its kernel for the CPU from that key.
template <K key>
bool is_pure_at(const OperatorHandle& op) {
  return is_ours(op) && is_pure(op) && kernel_of(op) == key;
}
bool is_pure_at_explicit(const OperatorHandle& op) {
  return is_pure_at<K::CompositeExplicitAutograd>(op) ||
         is_pure_at<K::CompositeExplicitAutogradNonFunctional>(op);
}

// The classes of operators.
std::vector<OperatorClass> first_order() {
  return {
      {"kernel for each backend", is_pure_at<K::CPU>, "aten::mul.Tensor",
       [](const Tensors& in) {
         return call("aten::mul.Tensor", {in[0], in[1]});
       }},
      {"composite implicit", is_pure_at<K::CompositeImplicitAutograd>, "aten::matmul",
       [](const Tensors& in) {
         return call("aten::matmul", {in[0], in[1]});
       }},
      {"composite explicit",
       [](const OperatorHandle& op) {
         return is_pure_at_explicit(op) && !op.entry().has_tag(Tag::derived_through);
       },
       "aten::clone", [](const Tensors& in) { return call("aten::clone", {in[0] * in[1]}); }},
      {"composite explicit, derived through",
       [](const OperatorHandle& op) {
         return is_pure_at_explicit(op) && op.entry().has_tag(Tag::derived_through);
       },
       "aten::_stack",
       [](const Tensors& in) {
         return call("aten::_stack", {Tensors{in[0] * 2, in[0] * in[1]}, 1});
       }},
      {"several results",
       [](const OperatorHandle& op) { return is_pure(op) && op.schema().returns.size() > 1; },
       "aten::max.dim",
       [](const Tensors& in) {
         return call("aten::max.dim", {in[0], 1});
       }},
      {"view",
       [](const OperatorHandle& op) { return op.schema().is_view() && !op.schema().is_mutable(); },
       "aten::diagonal",
       [](const Tensors& in) {
         // Written through, too.
         const Tensor view = call("aten::diagonal", {in[0], 1})[0];
         call("aten::mul_.Scalar", {view, 2});
         return Tensors{view, in[0] + 1};
       }},
      {"several views",
       [](const OperatorHandle& op) {
         return op.schema().is_view() && !op.schema().is_mutable() &&
                std::any_of(op.schema().returns.begin(), op.schema().returns.end(),
                            [](const Return& r) { return r.type.is_list(); });
       },
       "aten::split.Tensor",
       [](const Tensors& in) {
         return call("aten::split.Tensor", {in[0], 2, 1});
       }},
      {"in place",
       [](const OperatorHandle& op) {
         return is_ours(op) && op.schema().is_mutable() && !is_out(op);
       },
       "aten::add_.Tensor",
       [](const Tensors& in) {
         call("aten::add_.Tensor", {select(in[0], 0, 1), in[1]});
         return Tensors{in[0] * 2};
       }},
      {"view in place",
       [](const OperatorHandle& op) { return op.entry().has_tag(Tag::inplace_view); },
       "aten::transpose_",
       [](const Tensors& in) {
         const Tensor y = in[0] * 2;
         call("aten::transpose_", {y, 0, 1});
         return Tensors{y};
       }},
      {"out=", is_out, "aten::mul.out",
       [](const Tensors& in) {
         call("aten::mul.out", {in[0], in[1]}, {{"out", in[0]}});
         return Tensors{in[0] + in[1]};
       }},
      {"factory",
       [](const OperatorHandle& op) {
         return is_ours(op) && !takes_tensor(op) && gives_tensor(op);
       },
       "aten::full",
       [](const Tensors& in) {
         return Tensors{in[0] * call("aten::full", {std::vector<int64_t>{2, 3}, 2.5})[0]};
       }},
      {"random",
       [](const OperatorHandle& op) { return op.entry().has_tag(Tag::nondeterministic_seeded); },
       "aten::rand_like",
       [](const Tensors& in) {
         call("layers::seed", {7});
         return Tensors{call("aten::rand_like", {in[0]})[0] * in[0]};
       }},
      {"shape from data",
       [](const OperatorHandle& op) { return op.entry().has_tag(Tag::dynamic_output_shape); },
       "aten::masked_select",
       [](const Tensors& in) {
         return call("aten::masked_select", {in[0], call("aten::gt.Scalar", {in[0], 2})[0]});
       }},
      {"number from data",
       [](const OperatorHandle& op) { return op.entry().has_tag(Tag::data_dependent_output); },
       "aten::item",
       [](const Tensors& in) {
         const IValue number =
             default_dispatcher().find_op_or_throw("aten::item").call({sum(in[1])})[0];
         return call("aten::mul.Scalar", {in[0], number});
       }},
      {"custom, opaque",
       [](const OperatorHandle& op) {
         return is_custom(op) && kernel_of(op) != K::CompositeImplicitAutograd &&
                autograd_of(op) == K::AutogradCPU;
       },
       "composition::opaque",
       [](const Tensors& in) { return call("composition::opaque", {in[0]}); }},
      {"custom, with a gradient",
       [](const OperatorHandle& op) {
         return is_custom(op) && kernel_of(op) != K::CompositeImplicitAutograd &&
                autograd_of(op) == K::Autograd;
       },
       "composition::product",
       [](const Tensors& in) {
         return call("composition::product", {in[0], in[1]});
       }},
      {"custom, composite implicit",
       [](const OperatorHandle& op) {
         return is_custom(op) && kernel_of(op) == K::CompositeImplicitAutograd;
       },
       "composition::shifted",
       [](const Tensors& in) {
         return call("composition::shifted", {in[0] * in[1], 2});
       }},
      {"custom view",
       [](const OperatorHandle& op) {
         return !is_ours(op) && op.schema().is_view() && !op.schema().is_mutable();
       },
       "composition::every_other",
       [](const Tensors& in) {
         const Tensor view = call("composition::every_other", {in[0], 1})[0];
         call("aten::mul_.Scalar", {view, 2});
         return Tensors{view, in[0] + 1};
       }},
      {"custom, writes",
       [](const OperatorHandle& op) { return !is_ours(op) && op.schema().is_mutable(); },
       "composition::add_to",
       [](const Tensors& in) {
         call("composition::add_to", {in[0], in[0] * 2});
         return Tensors{in[0] * 3};
       }},
      {"effect on the host",
       [](const OperatorHandle& op) {
         return has_ordered_effect(op) && op.schema().returns.empty();
       },
       "layers::print",
       [](const Tensors& in) {
         call("layers::print", {in[0]});
         call("layers::print", {in[1] * 2});
         return Tensors{in[0] * in[1]};
       }},
      {"call on an object",
       [](const OperatorHandle& op) {
         return any_argument(op, [](const Argument& a) { return a.type.base == BaseType::Class; });
       },
       "layers::pop", object_program},
      {"without tensors",
       [](const OperatorHandle& op) { return !takes_tensor(op) && !gives_tensor(op); },
       "layers::seed",
       [](const Tensors& in) {
         call("layers::seed", {7});
         return Tensors{in[0] * 2};
       }},
      {"numbers from metadata",
       [](const OperatorHandle& op) {
         return takes_tensor(op) && !gives_tensor(op) && !op.schema().returns.empty();
       },
       "aten::size.int",
       [](const Tensors& in) {
         const IValue rows =
             default_dispatcher().find_op_or_throw("aten::size.int").call({in[0], 0})[0];
         return call("aten::mul.Scalar", {in[0], rows});
       }},
  };
}

// Those of higher-order operators: one each, with tensors that its functions capture.
std::vector<OperatorClass> higher_order() {
  return {
      {"cond", nullptr, "cond",
       [](const Tensors& in) {
         return cond(
             sum(in[0]) > 0, [&](const Tensor& x) { return x * in[1]; },
             [](const Tensor& x) { return x * 2; }, {in[0]});
       }},
      {"switch", nullptr, "switch",
       [](const Tensors& in) {
         return switch_on(
             call("aten::argmax", {in[1]})[0],
             branches([&](const Tensor& x) { return x * in[1]; },
                      [](const Tensor& x) { return x * x; }, [](const Tensor& x) { return x * 2; }),
             {in[0]});
       }},
      {"while_loop", nullptr, "while_loop",
       [](const Tensors& in) {
         return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                           [&](const Tensor& i, const Tensor& x) {
                             return Tensors{i + 1, x * in[1]};
                           },
                           {zeros({}), in[0] * 2});
       }},
      {"map", nullptr, "map_impl",
       [](const Tensors& in) {
         return map([&](const Tensor& row) { return row * in[1]; }, {in[0]});
       }},
      {"scan", nullptr, "scan",
       [](const Tensors& in) {
         return scan(
             [](const Tensor& sum, const Tensor& row) {
               return Tensors{sum + row, sum * row};
             },
             {in[1] * 1}, {in[0]});
       }},
      {"associative_scan", nullptr, "associative_scan",
       [](const Tensors& in) {
         return associative_scan([](const Tensor& a, const Tensor& b) { return a * b; }, {in[0]});
       }},
  };
}

}  // namespace

const std::vector<OperatorClass>& operator_classes() {
  static const std::vector<OperatorClass> classes = [] {
    std::vector<OperatorClass> all = first_order();
    for (OperatorClass& c : higher_order()) all.push_back(std::move(c));
    return all;
  }();
  return classes;
}

void leave(std::string_view what) {
  std::string& left = *left_behind();
  left += str_cat(left.empty() ? "" : ", ", what);
}
std::string take_left() { return std::exchange(*left_behind(), ""); }

}  // namespace sb::layers
