#include "switchboard/ops/composite/facts.h"

#include <string>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

bool is_nonzero_kernel(const Tensor& self) {
  check_defined("is_nonzero", self);
  SB_CHECK(self.numel() == 1, "is_nonzero: expected a tensor of one element, got ",
           self.describe());
  const Scalar value = item(self);
  return value.is_complex() ? value.to<std::complex<double>>() != std::complex<double>()
                            : value.to<bool>();
}

bool is_set_to_kernel(const Tensor& self, const Tensor& tensor) {
  check_defined("is_set_to", self);
  check_defined("is_set_to", tensor);
  return self.storage() == tensor.storage() && self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

int64_t internal_overlap(const Tensor& self) {
  check_defined("_debug_has_internal_overlap", self);
  if (self.impl()->is_non_overlapping_and_dense()) return 0;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) return 1;
  }
  return 2;
}

// `numbers` has one for each dimension.
SymInt at_dim(const char* op, const Tensor& self, SymIntArrayRef numbers, int64_t dim) {
  SB_CHECK_INDEX(self.dim() > 0, op, ": ", self.describe(), " has no dimensions");
  return numbers[static_cast<size_t>(wrap_dim(op, dim, self.dim()))];
}
SymInt size_at(const Tensor& self, int64_t dim) {
  check_defined("sym_size", self);
  return at_dim("sym_size", self, self.sym_sizes(), dim);
}
SymInt stride_at(const Tensor& self, int64_t dim) {
  check_defined("sym_stride", self);
  return at_dim("sym_stride", self, self.sym_strides(), dim);
}
std::vector<SymInt> list_of(SymIntArrayRef numbers) { return {numbers.begin(), numbers.end()}; }

size_t storage_numel(const Tensor& t) {
  check_defined("_has_same_storage_numel", t);
  return t.storage() ? t.storage()->nbytes() / t.itemsize() : 0;
}

Tensor shape_as_tensor(const Tensor& self) {
  check_defined("_shape_as_tensor", self);
  if (self.dim() == 0) return empty({0}, DType::Int64, std::nullopt, self.device());
  std::vector<Tensor> sizes;
  for (int64_t size : self.sizes())
    sizes.push_back(full({}, size, DType::Int64, std::nullopt, self.device()));
  return stack(sizes);
}

Tensor reshape_from_tensor(const Tensor& self, const Tensor& shape) {
  check_defined("_reshape_from_tensor", self);
  check_defined("_reshape_from_tensor", shape);
  SB_CHECK(shape.dim() == 1 && shape.dtype() == DType::Int64,
           "_reshape_from_tensor: shape: expected a vector of int64, got ", shape.describe());
  std::vector<int64_t> sizes;
  for (const Tensor& size : unbind(shape)) sizes.push_back(item(size).to<int64_t>());
  return reshape(self, sizes);
}

DType common_dtype(const Tensor& a, const Tensor& b) {
  check_defined("result_type", a);
  check_defined("result_type", b);
  const Tensor* const both[] = {&a, &b};
  return result_type(both);
}

// A question that reads no keys but asks about them stands at the keys of the lazy bits too.
template <class Op, class F>
void define_answers(Library& m, const Op& op, F answer) {
  define(m, op)
      .composed(answer)
      .kernel(DispatchKey::Conjugate, fallthrough)
      .kernel(DispatchKey::Negative, fallthrough);
}
template <class Op, class F>
void define_question(Library& m, const Op& op, F answer) {
  define_answers(m, op, [answer](const Tensor& self) {
    check_defined("a question about a tensor", self);
    return answer(self);
  });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, is_nonzero, Tag::data_dependent_output).composed(is_nonzero_kernel);
  define(m, is_pinned).composite_explicit([](const Tensor&, std::optional<Device>) {
    return false;
  });
  define_question(m, is_complex_op, [](const Tensor& t) { return is_complex(t.dtype()); });
  define_question(m, is_floating_point_op,
                  [](const Tensor& t) { return is_floating_point(t.dtype()); });
  define_question(m, is_signed, [](const Tensor& t) {
    return t.dtype() != DType::Bool && t.dtype() != DType::UInt8;
  });
  define_question(m, is_conj, [](const Tensor& t) { return t.impl()->is_conj(); });
  define_question(m, is_neg, [](const Tensor& t) { return t.impl()->is_neg(); });
  define_question(m, is_inference, [](const Tensor& t) { return t.impl()->is_inference(); });
  define_question(m, _debug_has_internal_overlap, internal_overlap);
  define_answers(m, sym_size_int, size_at);
  define_answers(m, sym_stride_int, stride_at);
  define_question(m, sym_size, [](const Tensor& t) { return list_of(t.sym_sizes()); });
  define_question(m, sym_stride, [](const Tensor& t) { return list_of(t.sym_strides()); });
  define_question(m, sym_numel, [](const Tensor& t) { return t.sym_numel(); });
  define_question(m, sym_storage_offset, [](const Tensor& t) { return t.sym_storage_offset(); });
  define(m, is_set_to).composed(is_set_to_kernel);
  define(m, size_int).composed([](const Tensor& self, int64_t dim) {
    check_defined("size", self);
    SB_CHECK_INDEX(self.dim() > 0, "size: ", self.describe(), " has no dimensions");
    return self.size(wrap_dim("size", dim, self.dim()));
  });
  define(m, stride_int).composed([](const Tensor& self, int64_t dim) {
    check_defined("stride", self);
    SB_CHECK_INDEX(self.dim() > 0, "stride: ", self.describe(), " has no dimensions");
    return self.stride(wrap_dim("stride", dim, self.dim()));
  });
  define(m, result_type_Tensor).composed(common_dtype);
  define(m, result_type_Scalar).composed([](const Tensor& tensor, const Scalar& other) {
    return common_dtype(tensor, wrapped_scalar_tensor(other));
  });
  define(m, result_type_Scalar_Tensor).composed([](const Scalar& scalar, const Tensor& tensor) {
    return common_dtype(wrapped_scalar_tensor(scalar), tensor);
  });
  define(m, result_type_Scalar_Scalar).composed([](const Scalar& a, const Scalar& b) {
    return common_dtype(wrapped_scalar_tensor(a), wrapped_scalar_tensor(b));
  });
  define(m, can_cast_op).composed([](DType from, DType to) { return can_cast(from, to); });
  define(m, promote_types_op).composed([](DType a, DType b) { return promote_types(a, b); });
  define(m, positive).composed([](const Tensor& self) {
    check_defined("positive", self);
    SB_CHECK_NOT_IMPLEMENTED(self.dtype() != DType::Bool, "positive: expected no bool tensor, got ",
                             self.describe());
    return self;
  });
  define(m, _has_same_storage_numel)
      .composite_explicit([](const Tensor& self, const Tensor& other) {
        return storage_numel(self) == storage_numel(other);
      });
  define(m, _shape_as_tensor).composed(shape_as_tensor);
  define(m, _reshape_from_tensor).composed(reshape_from_tensor);
  define(m, type_as).composed([](const Tensor& self, const Tensor& other) {
    check_defined("type_as", other);
    return to(self, other.dtype(), other.layout(), other.device());
  });

  constexpr std::pair<const char*, DType> kCasts[] = {
      {"Byte", DType::UInt8},    {"Char", DType::Int8},     {"Short", DType::Int16},
      {"Int", DType::Int32},     {"Long", DType::Int64},    {"Half", DType::Float16},
      {"Float", DType::Float32}, {"Double", DType::Float64}};
  for (const auto& [name, dtype] : kCasts) {
    define(m,
           std::string("aten::_cast_") + name + "(Tensor self, bool non_blocking=False) -> Tensor")
        .composed([dtype = dtype](const Tensor& self, bool non_blocking) {
          return to_dtype(self, dtype, non_blocking);
        });
  }
}

}  // namespace sb
