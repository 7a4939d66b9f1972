#include "switchboard/tests/functionalize/programs.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

// Programs of one or two inputs.
std::function<Tensors(Device)> matrix(int64_t rows = 3, int64_t columns = 4) {
  return [=](Device place) { return Tensors{counting({rows, columns}, place)}; };
}
std::function<Tensors(Device)> two_vectors() {
  return [](Device place) { return Tensors{counting({4}, place), counting({4}, place)}; };
}

std::vector<Program> make_programs() {
  std::vector<Program> all;
  const auto add = [&](const char* name, std::function<Tensors(Device)> inputs,
                       TensorFunction run) {
    all.push_back({name, std::move(inputs), std::move(run)});
  };

  add("a chain of in-place operators", matrix(), [](const Tensors& in) {
    Tensor x = in[0] * 2;
    add_(x, in[0]);
    mul_(x, x);
    relu_(x);
    neg_(x);
    return Tensors{x};
  });
  const auto pairs = matrix(3, 2);
  add("a conjugate is written to", pairs, [](const Tensors& in) {
    const Tensor z = view_as_complex(in[0]);
    const Tensor c = _conj(z);
    mul_(c, z);
    return Tensors{view_as_real(resolve_conj(c)), view_as_real(z)};
  });
  add("part of a conjugate is written to another part", pairs, [](const Tensors& in) {
    const Tensor z = view_as_complex(in[0]);
    copy_(select(_conj(z), 0, 0), mul_Scalar(select(_conj(z), 0, 1), 3));
    return Tensors{view_as_real(z)};
  });
  add("the imaginary part of a conjugate is written to", pairs, [](const Tensors& in) {
    const Tensor part = imag(_conj(view_as_complex(in[0])));
    add_(part, select(in[0], 1, 0));
    return Tensors{clone(part)};
  });
  add("negatives are written to", matrix(), [](const Tensors& in) {
    const Tensor n = _neg_view(in[0]);
    copy_(n, in[0]);
    return Tensors{resolve_neg(n)};
  });
  add(
      "a conjugate and what it is a view of are inputs",
      [](Device place) {
        const Tensor z = view_as_complex(counting({3, 2}, place));
        return Tensors{view_as_real(z), _conj(z), z};
      },
      [](const Tensors& in) {
        mul_(in[1], in[2]);
        return Tensors{view_as_real(mul(in[1], in[2]))};
      });
  add("an input is written to", two_vectors(), [](const Tensors& in) {
    add_(in[0], in[1]);
    return Tensors{mul(in[0], in[1])};
  });
  add("an input is written to and returned", matrix(), [](const Tensors& in) {
    mul_Scalar_(in[0], 3);
    return Tensors{in[0]};
  });
  add("a row is written to and the whole is read", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    add_(select(x, 0, 1), select(in[0], 0, 2));
    return Tensors{x + 1, x};
  });
  add("the whole is written to and a row is read", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor row = select(x, 0, 1);
    mul_(x, in[0]);
    return Tensors{row, row + row};
  });
  add("a view of a view of an input is written to", matrix(), [](const Tensors& in) {
    const Tensor part = slice(transpose(in[0], 0, 1), 0, 1, 4, 2);
    const Tensor one = select(part, 1, -1);
    mul_Scalar_(one, 10);
    add_(part, part);
    return Tensors{one, in[0] * 1};
  });
  add("two views that overlap are written to in turn", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor a = slice(x, 1, 0, 3, 1);
    const Tensor b = slice(x, 1, 1, 4, 1);
    add_Scalar_(a, 1);
    mul_Scalar_(b, 2);
    add_(a, b);
    return Tensors{a, b, x};
  });
  add("out= of the right shape", two_vectors(), [](const Tensors& in) {
    const Tensor out = empty_like(in[0]);
    add_out(in[0], in[1], 1, out);
    return Tensors{out};
  });
  add("out= that is a view", matrix(), [](const Tensors& in) {
    const Tensor x = zeros_like(in[0]);
    mul_out(select(in[0], 0, 0), select(in[0], 0, 1), select(x, 0, 2));
    return Tensors{x};
  });
  add("out= that grows from nothing", two_vectors(), [](const Tensors& in) {
    const Tensor out = new_empty(in[0], {0});
    add_out(in[0], in[1], 2, out);
    add_Scalar_(out, 1);
    return Tensors{out};
  });
  add("out= of another dtype", two_vectors(), [](const Tensors& in) {
    const Tensor out = new_empty(in[0], {4}, DType::Float64);
    add_out(in[0], in[1], 1, out);
    return Tensors{out};
  });
  add("out= of factories and of copies", two_vectors(), [](const Tensors& in) {
    const Tensor out = new_empty(in[0], {0}, DType::Float64);
    full_out({2, 2}, 7, out);
    const Tensor range = new_empty(in[0], {3}, DType::Int64);
    arange_out(3, range);
    const Tensor copied = new_empty(in[0], {4}, DType::Int32);
    _to_copy_out(in[0], false, std::nullopt, copied);
    zeros_like_out(in[1], std::nullopt, select(unsqueeze(in[0], 0), 0, 0));
    return Tensors{out, range, copied};
  });
  add("two out= at once", matrix(), [](const Tensors& in) {
    const Tensor values = new_empty(in[0], {3});
    const Tensor indices = new_empty(in[0], {3}, DType::Int64);
    max_dim_out(in[0], 1, false, values, indices);
    add_Scalar_(values, 1);
    return Tensors{values, indices};
  });
  add("copy_ into a slice", matrix(), [](const Tensors& in) {
    Tensor x = zeros_like(in[0]);
    copy_(slice(x, 1, 0, 4, 2), slice(in[0], 1, 1, 3, 1));
    return Tensors{x};
  });
  add("copy_ that converts and broadcasts", matrix(), [](const Tensors& in) {
    Tensor x = new_empty(in[0], {2, 3, 4}, DType::Int32);
    copy_(x, in[0]);
    copy_(select(x, 0, 1), select(in[0], 0, 0));
    return Tensors{x};
  });
  add("what was copied is not shared", two_vectors(), [](const Tensors& in) {
    Tensor x = empty_like(in[0]);
    copy_(x, in[0]);
    add_(in[0], in[1]);
    return Tensors{x, in[0] + 0};
  });
  add("in-place on a transposed input", matrix(), [](const Tensors& in) {
    const Tensor y = t(in[0]);
    add_(y, ones_like(y));
    return Tensors{y, reshape(in[0], {12})};
  });
  add("parts of a split are written to", matrix(4, 3), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const std::vector<Tensor> parts = split(x, 3, 0);
    add_Scalar_(parts[0], 10);
    zero_(parts[1]);
    const std::vector<Tensor> sized = split_with_sizes(x, {1, 2}, 1);
    mul_Scalar_(sized[1], 2);
    return Tensors{x, parts[0], parts[1], sized[0]};
  });
  add("parts of a chunk and of an unbind are written to", matrix(4, 3), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    neg_(chunk(x, 2, 0)[1]);
    copy_(unbind(x, 1)[2], unbind(x, 1)[0]);
    return Tensors{x};
  });
  add("the base of an expanded tensor is written to", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor wide = expand(unsqueeze(x, 0), {3, 4});
    add_(x, in[1]);
    return Tensors{wide + 0, wide};
  });
  add("zero_ and fill_", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    zero_(select(x, 0, 0));
    fill_(select(x, 0, 1), 7);
    fill__Tensor(select(x, 0, 2), select(select(in[0], 0, 0), 0, 3));
    return Tensors{x};
  });
  add("one element is set", matrix(), [](const Tensors& in) {
    fill_(select(select(in[0], 0, 1), 0, 2), -1);
    return Tensors{sum(in[0])};
  });
  add("shapes change in place", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor row = select(x, 0, 0);
    transpose_(x, 0, 1);
    unsqueeze_(x, 0);
    add_Scalar_(x, 1);
    squeeze_(x);
    t_(x);
    as_strided_(row, {2}, {5}, 1);
    mul_Scalar_(row, 100);
    return Tensors{x, row};
  });
  add("an input's shape changes in place", matrix(), [](const Tensors& in) {
    t_(in[0]);
    mul_Scalar_(in[0], 2);
    return Tensors{in[0] + 1};
  });
  add("a tensor shrinks in place, and grows back", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    resize_(x, {2, 2});
    mul_Scalar_(x, -1);
    resize_(x, {4, 3});
    return Tensors{x};
  });
  add("a tensor grows in place", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    resize_(x, {2, 3});
    zero_(select(x, 0, 1));  // what is new is not initialised
    return Tensors{x};
  });
  add(
      "an empty input grows in place",
      [](Device place) {
        return Tensors{empty_on(place, {0}, DType::Float32), counting({2, 2}, place)};
      },
      [](const Tensors& in) {
        resize_as_(in[0], in[1]);
        copy_(in[0], in[1]);
        return Tensors{in[0]};
      });
  add("a detached tensor is written to", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    add_(detach(x), in[1]);
    detach_(x);
    return Tensors{x};
  });
  add(
      "an input is a view of another",
      [](Device place) {
        const Tensor x = counting({3, 4}, place);
        return Tensors{x, select(x, 0, 1), t(x)};
      },
      [](const Tensors& in) {
        mul_Scalar_(in[1], 10);
        add_Scalar_(in[0], 1);
        neg_(select(in[2], 0, 1));
        return Tensors{in[1] + 0, in[2], in[0] * 2};
      });
  add(
      "the view of an input comes first",
      [](Device place) {
        const Tensor x = counting({3, 4}, place);
        return Tensors{slice(x, 1, 1, 3, 1), x};
      },
      [](const Tensors& in) {
        fill_(in[0], 0);
        return Tensors{in[1] + in[1]};
      });
  add(
      "an input is given twice",
      [](Device place) {
        const Tensor x = counting({4}, place);
        return Tensors{x, x};
      },
      [](const Tensors& in) {
        add_(in[0], in[1]);
        return Tensors{in[1] * 2};
      });
  add(
      "an input with gaps is written to",
      [](Device place) {
        return Tensors{slice(counting({4, 6}, place), 1, 1, 6, 2)};
      },
      [](const Tensors& in) {
        mul_(in[0], in[0]);
        add_Scalar_(reshape(in[0], {12}), 5);  // of a copy
        return Tensors{in[0], as_strided(in[0], {2, 2}, {6, 1}, 0)};
      });
  add(
      "an input that is expanded is read",
      [](Device place) {
        const Tensor x = counting({1, 3}, place);
        return Tensors{expand(x, {2, 3}), x};
      },
      [](const Tensors& in) {
        add_Scalar_(in[1], 1);
        return Tensors{in[0] * 2};
      });
  add("a result is a view of an input", matrix(), [](const Tensors& in) {
    const Tensor y = select(in[0], 1, 2);
    add_Scalar_(in[0], 1);
    return Tensors{y, t(in[0])};
  });
  add(
      "empty tensors",
      [](Device place) {
        return Tensors{counting({0}, place), counting({2, 0, 3}, place)};
      },
      [](const Tensors& in) {
        add_Scalar_(in[0], 1);
        zero_(select(in[1], 0, 1));
        copy_(select(in[1], 2, 0), select(in[1], 2, 1));
        return Tensors{in[0], in[1]};
      });
  add(
      "tensors without dimensions",
      [](Device place) {
        return Tensors{counting({}, place), counting({3}, place)};
      },
      [](const Tensors& in) {
        add_(in[0], select(in[1], 0, 2));
        copy_(select(in[1], 0, 0), in[0]);
        const Tensor y = unsqueeze(in[0], 0);
        mul_(y, y);
        return Tensors{in[0] + in[1]};
      });
  add("a tensor is seen as another dtype", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor bits = view_dtype(x, DType::Int32);
    zero_(slice(bits, 0, 1, 3, 1));
    const Tensor bytes = view_dtype(slice(x, 0, 2, 4, 1), DType::UInt8);
    zero_(slice(bytes, 0, 4, 8, 1));
    return Tensors{x, bits};
  });
  add("as_strided looks past its tensor", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor row = select(x, 0, 1);
    mul_Scalar_(as_strided(row, {2, 2}, {4, 1}, 2), -1);
    return Tensors{x, row};
  });
  add("rows that overlap are written to one by one", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor rows = as_strided(x, {2, 3}, {1, 1}, 0);
    mul_Scalar_(select(rows, 0, 0), 10);
    add_Scalar_(select(rows, 0, 1), 5);
    return Tensors{x, rows};
  });
  add("an expanded tensor is filled", two_vectors(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor wide = expand(unsqueeze(x, 1), {4, 3});
    fill_(select(wide, 0, 2), 9);
    zero_(select(wide, 1, 1));
    return Tensors{x, wide};
  });
  add(
      "inputs of different dtypes share memory that neither fills",
      [](Device place) {
        const Tensor bytes = counting({11}, place, DType::UInt8);
        const Tensor shorts = view_dtype(slice(bytes, 0, 0, 10, 1), DType::Int16);
        return Tensors{shorts, slice(bytes, 0, 3, 9, 1)};
      },
      [](const Tensors& in) {
        zero_(slice(in[0], 0, 1, 3, 1));
        add_Scalar_(in[1], 1);
        return Tensors{in[0] + 0, in[1]};
      });
  add("views of other shapes", matrix(), [](const Tensors& in) {
    Tensor x = clone(in[0]);
    const Tensor y = permute(view(x, {3, 2, 2}), {2, 0, 1});
    add_Scalar_(select(y, 0, 1), 100);
    mul_Scalar_(flatten(x), 2);
    return Tensors{x, y, narrow(x, 1, 1, 2)};
  });
  add("factories inside", matrix(), [](const Tensors& in) {
    const Tensor x = zeros({3, 4}, in[0].dtype(), Layout::Strided, in[0].device());
    add_(x, in[0]);
    const Tensor y = arange(4, in[0].dtype(), Layout::Strided, in[0].device());
    mul_(y, y);
    return Tensors{x, matmul(in[0], y)};
  });
  add(
      "matrix products in place",
      [](Device place) {
        return Tensors{counting({2, 2}, place), counting({2, 2}, place)};
      },
      [](const Tensors& in) {
        addmm_(in[0], in[0], in[1]);
        const Tensor out = new_empty(in[0], {2, 2});
        mm_out(in[0], in[1], t(out));
        return Tensors{out};
      });
  add("nothing is written to", two_vectors(), [](const Tensors& in) {
    return Tensors{in[0] + in[1], in[0], view(in[1], {2, 2})};
  });
  return all;
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program>* const all = new std::vector<Program>(make_programs());
  return *all;
}

Tensor counting(std::vector<int64_t> sizes, Device place, DType dtype) {
  int64_t numel = 1;
  for (int64_t s : sizes) numel *= s;
  const Tensor vector = arange_start(1, numel + 1, dtype);
  return to(view(vector, sizes), std::nullopt, std::nullopt, place);
}

TensorFunction functionalized(Route route, const TensorFunction& f) {
  return route == Route::Key ? functionalize(f) : FunctionalMode().functionalize(f);
}

std::string text_of(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) {
    text += t.describe() + " strides " + shape_text(t.strides());
    text += " offset " + std::to_string(t.storage_offset());
    if (t.is_cpu()) {
      const Tensor doubles = cast_copy(t, DType::Float64);
      for (int64_t i = 0; i < doubles.numel(); ++i)
        text += " " + std::to_string(doubles.data<double>()[i]);
    }
    text += "\n";
  }
  return text;
}

void Watcher::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  ops.push_back(op.name().to_string());
  if (op.schema().is_mutable()) mutating.push_back(op.name().to_string());
  op.call_boxed(stack);
}

bool Watcher::saw(const std::string& op) const {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace sb::test
