#include "switchboard/ops/cpu/elementwise.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"

namespace sb {
namespace {

ElementwiseLoop loop_of(const ElementwiseOp& op, DType common) {
  return (*op.loops)[static_cast<size_t>(compute_dtype(common))];
}
DeviceElementwise device_kernel(const ElementwiseOp& op, Device device) {
  return op.devices[static_cast<size_t>(device.type)].load(std::memory_order_acquire);
}
bool has_loops(Device device) { return device.is_cpu() || device.is_meta(); }

// The general way.
[[gnu::noinline]] Tensor elementwise_any(const ElementwiseOp& op, const Tensor& out,
                                         absl::Span<const Tensor* const> inputs,
                                         const void* params) {
  TensorIterator iterator(op.name, op.flags, out, inputs);
  check_implemented(op, iterator);
  const DType dtype = (op.flags & kBoolOutput) ? DType::Bool : iterator.common_dtype();
  Tensor result = iterator.allocate_output(dtype);
  run_elementwise(op, &iterator, compute_dtype(dtype), params);
  return result;
}

inline bool is_plain(const Tensor& t) {
  return t.defined() && !t.is_symbolic() && t.impl()->is_contiguous() &&
         (t.is_cpu() || t.is_meta());
}
// Whether b, too, is contiguous and of a's shape, dtype and device.
// Not inline: it would take the caller's registers.
[[gnu::noinline]] bool is_plain_pair(const TensorImpl& a, const TensorImpl& b) {
  const size_t rank = static_cast<size_t>(a.dim());
  if (!b.defined() || b.symbolic_shape() || !b.is_contiguous() || a.dtype() != b.dtype() ||
      a.device() != b.device() || rank != static_cast<size_t>(b.dim())) {
    return false;
  }
  const int64_t *const x = a.sizes().data(), *const y = b.sizes().data();
  for (size_t d = 0; d < rank; ++d) {
    if (x[d] != y[d]) return false;
  }
  return true;
}

// Whether writing `out` spoils no element of `t` that is yet to be read. Both are contiguous and of
// one size.
inline bool is_apart(const char* out, const Tensor& t, size_t nbytes) {
  const char* const in = static_cast<const char*>(t.data_ptr());
  return out == in || out + nbytes <= in || in + nbytes <= out;
}

// The same on several threads. Apart, so that the usual calls need no stack for it.
[[gnu::noinline]] void run_pieces(ElementwiseLoop loop, const void* params,
                                  std::initializer_list<const Tensor*> tensors) {
  parallel_for(0, (*tensors.begin())->numel(), kElementGrain, [&](int64_t from, int64_t to) {
    char* data[TensorIterator::kMaxOperands];
    size_t i = 0;
    for (const Tensor* t : tensors) {
      data[i++] = static_cast<char*>(t->data_ptr()) + static_cast<size_t>(from) * t->itemsize();
    }
    loop(data, to - from, params);
  });
}

// Runs the loop on plain tensors.
template <class... Inputs>
inline void run_plain(ElementwiseLoop loop, const void* params, const Tensor& out,
                      const Inputs&... inputs) {
  const int64_t n = out.numel();
  if (n > kElementGrain) [[unlikely]]
    return run_pieces(loop, params, {&out, &inputs...});
  char* const data[] = {static_cast<char*>(out.data_ptr()),
                        static_cast<char*>(inputs.data_ptr())...};
  loop(data, n, params);
}

// The usual call, whose tensors are all contiguous and of one shape, dtype and device, needs no
// TensorIterator. The table has no loop for dtypes that are not computed in themselves.
template <class... Rest>
inline Tensor elementwise_of(const ElementwiseOp& op, const Tensor& out, const void* params,
                             const Tensor& a, const Rest&... rest) {
  const ElementwiseLoop loop = (*op.loops)[static_cast<size_t>(a.dtype())];
  if (loop && is_plain(a) && (is_plain_pair(*a.impl(), *rest.impl()) && ...)) [[likely]] {
    const DType dtype = (op.flags & kBoolOutput) ? DType::Bool : a.dtype();
    if (!out.defined()) {
      Tensor result = empty_on(a.device(), a.sizes(), dtype);
      if (a.is_cpu()) run_plain(loop, params, result, a, rest...);
      return result;
    }
    // With another item size even a common start overlaps in part only.
    if (a.is_cpu() && dtype == a.dtype() && is_plain_pair(*a.impl(), *out.impl())) {
      const char* const p = static_cast<const char*>(out.data_ptr());
      const size_t nbytes = out.nbytes();
      if (is_apart(p, a, nbytes) && (is_apart(p, rest, nbytes) && ...)) {
        run_plain(loop, params, out, a, rest...);
        return out;
      }
    }
  }
  return elementwise_any(op, out, {&a, &rest...}, params);
}

}  // namespace

Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a,
                   const void* params) {
  return elementwise_of(op, out, params, a);
}

Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a, const Tensor& b,
                   const void* params) {
  return elementwise_of(op, out, params, a, b);
}

Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a, const Tensor& b,
                   const Tensor& c, const void* params) {
  return elementwise_any(op, out, {&a, &b, &c}, params);
}

void check_implemented(const ElementwiseOp& op, const TensorIterator& iterator) {
  const Device device = iterator.device();
  if (has_loops(device)) {
    SB_CHECK_NOT_IMPLEMENTED(loop_of(op, iterator.common_dtype()), op.name,
                             ": not implemented for ", to_string(iterator.common_dtype()));
  } else {
    SB_CHECK_NOT_IMPLEMENTED(device_kernel(op, device), op.name, ": not implemented for ",
                             to_string(device));
  }
}

void run_elementwise(const ElementwiseOp& op, TensorIterator* iterator, DType out,
                     const void* params) {
  const Device device = iterator->device();
  const DType common = iterator->common_dtype();
  if (device.is_cpu()) {
    iterator->run(loop_of(op, common), compute_dtype(common), out, params);
  } else if (!device.is_meta()) {
    device_kernel(op, device)(*iterator, params);
  }
}

void register_elementwise(const ElementwiseOp& op, DeviceType device, DeviceElementwise kernel) {
  SB_CHECK_VALUE(device != DeviceType::CPU && device != DeviceType::Meta && kernel, op.name,
                 ": register_elementwise: expected a kernel for a device that is not CPU or Meta");
  DeviceElementwise none = nullptr;
  SB_CHECK(op.devices[static_cast<size_t>(device)].compare_exchange_strong(none, kernel), op.name,
           ": register_elementwise: ", to_string(Device(device)), " has a kernel already");
}

Tensor wrapped_scalar_tensor(const Scalar& value) {
  if (value.is_symbolic()) return make_symbolic_number(value);
  Tensor t = empty_on(DeviceType::CPU, {}, value.kind());
  store_scalar(value, value.kind(), t.data_ptr());
  t.impl()->set_wrapped_number(true);
  return t;
}

Tensor wrapped_scalar_tensor(const Scalar& value, const Tensor& beside) {
  return wrapped_scalar_tensor(value.is_symbolic() && needs_values(beside) ? value.settled()
                                                                           : value);
}

}  // namespace sb
