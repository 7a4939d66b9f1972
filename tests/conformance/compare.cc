#include "switchboard/tests/conformance/compare.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_join.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/scalar.h"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

std::string list_text(IntArrayRef list) { return str_cat("[", absl::StrJoin(list, ", "), "]"); }

template <class T>
Difference expect_same(const char* what, const T& expected, const T& actual) {
  if (expected == actual) return std::nullopt;
  if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return str_cat(what, ": expected ", list_text(expected), ", got ", list_text(actual));
  else if constexpr (std::is_integral_v<T>)
    return str_cat(what, ": expected ", expected, ", got ", actual);
  else
    return str_cat(what, ": expected ", to_string(expected), ", got ", to_string(actual));
}

bool reals_agree(double expected, double actual, Tolerance tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) == std::isnan(actual);
  if (expected == actual) return true;
  if (std::isinf(expected) || std::isinf(actual)) return false;
  return std::abs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

bool complexes_agree(std::complex<double> expected, std::complex<double> actual,
                     Tolerance tolerance) {
  const bool finite = std::isfinite(expected.real()) && std::isfinite(expected.imag()) &&
                      std::isfinite(actual.real()) && std::isfinite(actual.imag());
  if (finite)
    return std::abs(actual - expected) <=
           tolerance.absolute + tolerance.relative * std::abs(expected);
  return reals_agree(expected.real(), actual.real(), tolerance) &&
         reals_agree(expected.imag(), actual.imag(), tolerance);
}

// The value that the bits of an element stand for, once conjugated and negated as asked.
template <class T>
T resolve(const std::byte* element, bool conj, bool neg) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  if constexpr (internal::is_std_complex<T>) {
    if (conj) value = std::conj(value);
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (neg) value = static_cast<T>(-value);
  }
  return value;
}

Difference element_difference(const std::string& where, DType dtype, const std::byte* expected,
                              const std::byte* actual) {
  return str_cat(where, ": expected ", element_text(dtype, expected), ", got ",
                 element_text(dtype, actual));
}

}  // namespace

bool elements_agree(DType dtype, const std::byte* expected, const std::byte* actual,
                    Tolerance tolerance) {
  return visit_dtype(dtype, [&]<class T>() {
    const T e = resolve<T>(expected, false, false);
    const T a = resolve<T>(actual, false, false);
    if constexpr (std::is_integral_v<T>)
      return e == a;
    else if constexpr (internal::is_std_complex<T>)
      return complexes_agree(e, a, tolerance);
    else
      return reals_agree(static_cast<double>(e), static_cast<double>(a), tolerance);
  });
}

TensorState state_of(const Tensor& tensor, Place& place) {
  TensorState state;
  state.dtype = tensor.dtype();
  state.device = tensor.device();
  state.keys = tensor.key_set();
  state.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  state.strides.assign(tensor.strides().begin(), tensor.strides().end());
  state.offset = tensor.storage_offset();
  state.storage = tensor.storage();
  if (state.storage) {
    state.storage_bytes = state.storage->nbytes();
    if (place.has_data())
      state.bytes = std::make_shared<const std::vector<std::byte>>(place.read_storage(tensor));
  }
  return state;
}

Difference compare_dtype_and_shape(const TensorSpec& expected, const TensorState& actual) {
  if (auto d = expect_same("dtype", expected.dtype, actual.dtype)) return d;
  return expect_same("shape", expected.shape, actual.sizes);
}

Difference compare_metadata(const TensorSpec& expected, const TensorState& actual,
                            bool with_offset) {
  if (auto d = compare_dtype_and_shape(expected, actual)) return d;
  if (auto d = expect_same("stride", expected.stride, actual.strides)) return d;
  if (with_offset) return expect_same("offset", expected.offset, actual.offset);
  return std::nullopt;
}

Difference compare_elements(const TensorSpec& expected, const TensorState& actual,
                            Tolerance tolerance) {
  if (!expected.storage || !actual.bytes) return std::nullopt;
  const size_t rank = expected.shape.size();
  for (int64_t size : expected.shape)
    if (size == 0) return std::nullopt;
  const bool conj = actual.keys.has(DispatchKey::Conjugate);
  const bool neg = actual.keys.has(DispatchKey::Negative);
  return visit_dtype(expected.dtype, [&]<class T>() -> Difference {
    std::vector<int64_t> index(rank, 0);
    while (true) {
      int64_t from = expected.offset, to = actual.offset;
      for (size_t d = 0; d < rank; ++d) {
        from += index[d] * expected.stride[d];
        to += index[d] * actual.strides[d];
      }
      if ((static_cast<size_t>(to) + 1) * sizeof(T) > actual.bytes->size())
        return str_cat("element ", list_text(index), " lies past the end of the storage");
      if (static_cast<size_t>(from) < expected.storage->size() &&
          expected.storage->determined[static_cast<size_t>(from)]) {
        const T e = resolve<T>(expected.storage->at(static_cast<size_t>(from)), expected.conj,
                               expected.neg);
        const T a =
            resolve<T>(actual.bytes->data() + static_cast<size_t>(to) * sizeof(T), conj, neg);
        const auto* const e_bytes = reinterpret_cast<const std::byte*>(&e);
        const auto* const a_bytes = reinterpret_cast<const std::byte*>(&a);
        if (!elements_agree(expected.dtype, e_bytes, a_bytes, tolerance))
          return element_difference(str_cat("element ", list_text(index)), expected.dtype, e_bytes,
                                    a_bytes);
      }
      size_t d = rank;
      while (d > 0 && ++index[d - 1] == expected.shape[d - 1]) index[--d] = 0;
      if (d == 0) return std::nullopt;
    }
  });
}

Difference compare_storage(const TensorSpec& expected, const TensorState& actual,
                           Tolerance tolerance) {
  if (!expected.storage) return std::nullopt;
  const Elements& elements = *expected.storage;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements.determined[i]) continue;
    if ((i + 1) * itemsize(elements.dtype) > actual.storage_bytes)
      return str_cat("storage: expected at least ", i + 1, " elements, got ",
                     actual.storage_bytes / itemsize(elements.dtype));
    if (!actual.bytes) continue;
    const std::byte* const got = actual.bytes->data() + i * itemsize(elements.dtype);
    if (!elements_agree(elements.dtype, elements.at(i), got, tolerance))
      return element_difference(str_cat("storage element ", i), elements.dtype, elements.at(i),
                                got);
  }
  return std::nullopt;
}

Difference compare_unchanged(const TensorState& before, const TensorState& after,
                             bool with_contents) {
  if (auto d = expect_same("dtype", before.dtype, after.dtype)) return d;
  if (auto d = expect_same("device", before.device, after.device)) return d;
  if (auto d = expect_same("dispatch keys", before.keys, after.keys)) return d;
  if (auto d = expect_same("shape", before.sizes, after.sizes)) return d;
  if (auto d = expect_same("stride", before.strides, after.strides)) return d;
  if (auto d = expect_same("offset", before.offset, after.offset)) return d;
  if (before.storage != after.storage) return "has another storage";
  if (!with_contents) return std::nullopt;
  if (auto d = expect_same("storage bytes", before.storage_bytes, after.storage_bytes)) return d;
  if (!before.bytes || *before.bytes == *after.bytes) return std::nullopt;
  const size_t size = itemsize(before.dtype);
  for (size_t i = 0; (i + 1) * size <= before.bytes->size(); ++i) {
    const std::byte* const b = before.bytes->data() + i * size;
    const std::byte* const a = after.bytes->data() + i * size;
    if (std::memcmp(a, b, size) != 0)
      return element_difference(str_cat("storage element ", i), before.dtype, b, a);
  }
  return "storage: its last bytes differ";
}

Difference compare_value(const IValue& expected, const IValue& actual, Tolerance tolerance) {
  auto differ = [&] {
    return str_cat("expected ", expected.to_string(), " (", expected.tag_name(), "), got ",
                   actual.to_string(), " (", actual.tag_name(), ")");
  };
  if (expected.tag() != actual.tag()) return differ();
  bool same = false;
  switch (expected.tag()) {
    case IValue::Tag::None:
      same = true;
      break;
    case IValue::Tag::Int:
      same = expected.to_int() == actual.to_int();
      break;
    case IValue::Tag::Double:
      same = reals_agree(expected.to_double(), actual.to_double(), tolerance);
      break;
    case IValue::Tag::Bool:
      same = expected.to_bool() == actual.to_bool();
      break;
    case IValue::Tag::Complex:
      same = complexes_agree(expected.to_complex(), actual.to_complex(), tolerance);
      break;
    case IValue::Tag::String:
      same = expected.to_string_view() == actual.to_string_view();
      break;
    case IValue::Tag::DType:
      same = expected.to_dtype() == actual.to_dtype();
      break;
    case IValue::Tag::Layout:
      same = expected.to_layout() == actual.to_layout();
      break;
    case IValue::Tag::MemoryFormat:
      same = expected.to_memory_format() == actual.to_memory_format();
      break;
    case IValue::Tag::Device:
      same = expected.to_device() == actual.to_device();
      break;
    case IValue::Tag::IntList:
      same = expected.to_int_list() == actual.to_int_list();
      break;
    case IValue::Tag::BoolList:
      same = expected.to_bool_list() == actual.to_bool_list();
      break;
    case IValue::Tag::DoubleList: {
      const auto e = expected.to_double_list(), a = actual.to_double_list();
      same = e.size() == a.size();
      for (size_t i = 0; same && i < e.size(); ++i) same = reals_agree(e[i], a[i], tolerance);
      break;
    }
    case IValue::Tag::List: {
      const auto &e = expected.to_list(), &a = actual.to_list();
      if (e.size() != a.size()) return differ();
      for (size_t i = 0; i < e.size(); ++i)
        if (auto d = compare_value(e[i], a[i], tolerance)) return str_cat("item ", i, ": ", *d);
      same = true;
      break;
    }
    default:
      return str_cat("a value that cannot be compared: ", expected.to_string());
  }
  if (!same) return differ();
  return std::nullopt;
}

}  // namespace sb::conformance
