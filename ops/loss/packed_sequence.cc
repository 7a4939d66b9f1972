#include "switchboard/ops/loss/packed_sequence.h"

#include <algorithm>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The numbers of a vector, which is on the CPU in PyTorch; where a device's fallback has made it,
// it is on the device.
std::vector<int64_t> numbers(const char* op, const char* name, const Tensor& t) {
  if (t.is_meta()) {
    SB_THROW(DataDependentOutputError, op, ": ", name,
             ": the result depends on the data, which meta tensors do not have");
  }
  SB_CHECK(t.dim() == 1 && t.dtype() == DType::Int64, op, ": ", name,
           ": expected a vector of int64, got ", t.describe());
  const Tensor dense = contiguous(t.is_cpu() ? t : to(t, Device(DeviceType::CPU)));
  // By operators, as the kernels are composed: the tensor may have no memory of its own.
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < dense.numel(); ++i)
    numbers.push_back(item(select(dense, 0, i)).to<int64_t>());
  return numbers;
}
Tensor vector_like(const Tensor& t, const std::vector<int64_t>& values) {
  const Tensor result = empty_on(DeviceType::CPU, {static_cast<int64_t>(values.size())}, t.dtype());
  std::copy(values.begin(), values.end(), result.data<int64_t>());
  return clone(t.is_cpu() ? result : to(result, t.device()));
}

std::tuple<Tensor, Tensor> pack_kernel(const Tensor& input, const Tensor& lengths,
                                       bool batch_first) {
  const char* const op = "_pack_padded_sequence";
  const std::vector<int64_t> length = numbers(op, "lengths", lengths);
  SB_CHECK_INDEX(input.dim() >= 2, op, ": input: expected at least 2 dimensions, got ",
                 input.describe());
  const Tensor steps = batch_first ? transpose(input, 0, 1) : input;
  const int64_t batch = steps.size(1);
  SB_CHECK(input.numel() > 0, op, ": input: ", input.describe(), " has no element");
  SB_CHECK(static_cast<int64_t>(length.size()) == batch, op, ": lengths: expected ", batch,
           " of them, got ", length.size());
  SB_CHECK(length.back() > 0, op, ": lengths: expected at least 1, got ", length.back());
  SB_CHECK(length.front() <= steps.size(0), op, ": lengths: expected at most ", steps.size(0),
           ", got ", length.front());
  SB_CHECK(std::is_sorted(length.rbegin(), length.rend()), op,
           ": lengths: expected them in descending order");

  DimVector rows(steps.sizes().begin() + 1, steps.sizes().end());
  rows[0] = -1;
  std::vector<Tensor> parts;
  std::vector<int64_t> batch_sizes;
  int64_t begin = 0;
  for (int64_t taking_part = batch; taking_part > 0; --taking_part) {
    // The steps that the last of these sequences is the first to lack.
    const int64_t end = length[static_cast<size_t>(taking_part - 1)];
    if (end == begin) continue;
    parts.push_back(reshape(slice(slice(steps, 0, begin, end, 1), 1, 0, taking_part, 1), rows));
    batch_sizes.insert(batch_sizes.end(), static_cast<size_t>(end - begin), taking_part);
    begin = end;
  }
  return {cat(parts, 0), vector_like(lengths, batch_sizes)};
}

// Calls f(step, begin, end): the rows of each time step in the packed tensor.
template <class F>
void for_each_step(const std::vector<int64_t>& batch_sizes, F f) {
  int64_t row = 0;
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    f(static_cast<int64_t>(i), row, row + batch_sizes[i]);
    row += batch_sizes[i];
  }
}

void check_batch_sizes(const char* op, const Tensor& packed,
                       const std::vector<int64_t>& batch_sizes) {
  SB_CHECK(packed.dim() >= 1 && !batch_sizes.empty(), op, ": expected packed sequences, got ",
           packed.describe());
  int64_t rest = packed.size(0);
  int64_t before = rest;
  for (int64_t n : batch_sizes) {
    SB_CHECK(n >= 0 && n <= rest && n <= before, op, ": batch_sizes: do not fit ",
             packed.describe());
    rest -= n;
    before = n;
  }
}

// Writes each step's rows to the first sequences of `padded`, which is [time, batch, ...].
void unpack(const Tensor& packed, const std::vector<int64_t>& batch_sizes, const Tensor& padded) {
  for_each_step(batch_sizes, [&](int64_t step, int64_t begin, int64_t end) {
    const Tensor to = slice(select(padded, 0, step), 0, 0, end - begin, 1);
    copy_(to, slice(packed, 0, begin, end, 1));
  });
}

Tensor pack_backward_kernel(const Tensor& grad, SymIntArrayRef symbolic_input_size,
                            const Tensor& batch_sizes, bool batch_first) {
  DimVector input_size;
  for (const SymInt& size : symbolic_input_size) input_size.push_back(size.guard_int());
  const char* const op = "_pack_padded_sequence_backward";
  const std::vector<int64_t> sizes_of_steps = numbers(op, "batch_sizes", batch_sizes);
  SB_CHECK(input_size.size() >= 2, op, ": input_size: expected at least 2 dimensions, got ",
           shape_text(IntArrayRef(input_size)));
  check_batch_sizes(op, grad, sizes_of_steps);
  DimVector sizes(input_size.begin(), input_size.end());
  if (batch_first) std::swap(sizes[0], sizes[1]);
  SB_CHECK(static_cast<int64_t>(sizes_of_steps.size()) <= sizes[0] && sizes_of_steps[0] <= sizes[1],
           op, ": input_size: ", shape_text(IntArrayRef(input_size)), " has no room for ",
           grad.describe());
  const Tensor result = new_zeros(grad, sizes);
  unpack(grad, sizes_of_steps, result);
  return batch_first ? transpose(result, 0, 1) : result;
}

std::tuple<Tensor, Tensor> pad_packed_kernel(const Tensor& data, const Tensor& batch_sizes,
                                             bool batch_first, const Scalar& padding_value,
                                             int64_t total_length) {
  const char* const op = "_pad_packed_sequence";
  const std::vector<int64_t> sizes_of_steps = numbers(op, "batch_sizes", batch_sizes);
  check_batch_sizes(op, data, sizes_of_steps);
  const int64_t steps = static_cast<int64_t>(sizes_of_steps.size());
  SB_CHECK(total_length <= 0 || total_length >= steps, op, ": total_length: expected at least ",
           steps, ", got ", total_length);
  const int64_t batch = sizes_of_steps[0];
  DimVector sizes(data.sizes().begin(), data.sizes().end());
  sizes[0] = batch;
  sizes.insert(sizes.begin(), std::max(steps, total_length));
  const Tensor padded = new_full(data, sizes, padding_value);
  unpack(data, sizes_of_steps, padded);
  std::vector<int64_t> lengths(static_cast<size_t>(batch), 0);
  for (int64_t n : sizes_of_steps) {
    for (int64_t i = 0; i < n; ++i) ++lengths[static_cast<size_t>(i)];
  }
  return {batch_first ? transpose(padded, 0, 1) : padded, vector_like(batch_sizes, lengths)};
}

Tensor pad_sequence_kernel(TensorList sequences, bool batch_first, double padding_value,
                           std::string_view padding_side) {
  const char* const op = "pad_sequence";
  SB_CHECK(padding_side == "left" || padding_side == "right", op,
           ": padding_side: expected 'left' or 'right', got '", padding_side, "'");
  SB_CHECK(!sequences.empty(), op, ": sequences: got an empty list");
  SB_CHECK_INDEX(sequences[0].dim() >= 1, op, ": sequences: expected a dimension, got ",
                 sequences[0].describe());
  const SymIntArrayRef rest = sequences[0].sym_sizes().subspan(1);
  SymInt longest = 0;
  for (const Tensor& t : sequences) {
    const auto check = [&](const SymBool& fits) {
      SB_CHECK(fits, op, ": sequences: expected the trailing sizes of ", sequences[0].describe(),
               ", got ", t.describe());
    };
    check(t.dim() >= 1);
    check(equal_sizes<SymInt>(t.sym_sizes().subspan(1), rest));
    longest = sym_max(longest, t.sym_size(0));
  }
  SymDimVector sizes = {longest, static_cast<int64_t>(sequences.size())};
  if (batch_first) std::swap(sizes[0], sizes[1]);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  const Tensor padded = new_full(sequences[0], SymIntArrayRef(sizes), padding_value);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Tensor column = select(padded, batch_first ? 0 : 1, static_cast<int64_t>(i));
    const SymInt size = sequences[i].sym_size(0);
    const SymInt begin = padding_side == "left" ? longest - size : SymInt(0);
    copy_(slice(column, 0, begin, begin + size), sequences[i]);
  }
  return padded;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _pack_padded_sequence, Tag::dynamic_output_shape).cpu(pack_kernel).out("out");

  define(m, _pack_padded_sequence_backward).composed(pack_backward_kernel);
  define(m, _pad_packed_sequence).composed(pad_packed_kernel);
  define(m, pad_sequence).composed(pad_sequence_kernel);
}

}  // namespace sb
