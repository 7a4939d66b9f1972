#include "switchboard/ops/assertions/assertions.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

constexpr std::string_view kMetadata = _assert_tensor_metadata.name();

template <class T>
void check_equal(const char* what, const T& got, const std::optional<T>& expected) {
  SB_CHECK(!expected || got == *expected, kMetadata, ": argument a: expected the ", what, " ",
           to_string(*expected), ", got ", to_string(got));
}

void check_list(const char* what, SymIntArrayRef got, OptionalSymIntArrayRef expected) {
  if (!expected) return;
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, kMetadata, ": argument a: expected the ", what, " ", shape_text(*expected),
             ", got ", shape_text(got));
  };
  fits(got.size() == expected->size());
  for (size_t d = 0; d < got.size(); ++d) fits(got[d] == (*expected)[d]);
}

std::string failure(std::string_view op, std::string_view message, const IValue& value) {
  if (!message.empty()) return str_cat(op, ": ", message);
  return str_cat(op, ": argument self: expected a number other than 0, got ", value.to_string());
}

void check_scalar(std::string_view op, const IValue& value, std::string_view message) {
  if (!value.is_symbolic()) {
    const Scalar number = value.to_scalar();
    const bool holds =
        number.is_complex() ? number != Scalar(std::complex<double>()) : number.to<bool>();
    SB_CHECK(holds, failure(op, message, value));
    return;
  }
  const SymBool holds = value.is_SymBool()  ? value.to_sym_bool()
                        : value.is_SymInt() ? value.to_sym_int() != SymInt(0)
                                            : value.to_sym_float() != SymFloat(0.0);
  check(holds, failure(op, message, value));
}

void check_element(std::string_view op, const Tensor& self, std::string_view message) {
  SB_CHECK(self.defined(), op, ": argument self: expected a tensor, got an undefined one");
  SB_CHECK(self.sym_numel() == 1, op, ": argument self: expected one element, got ",
           self.describe());
  if (self.is_meta()) return;
  check_scalar(op, IValue(item(self)), message);
}

enum class RangeOf { Number, Size };

template <RangeOf what>
void check_range(std::string_view op, const IValue& value, std::optional<int64_t> min,
                 std::optional<int64_t> max) {
  if (what == RangeOf::Size && !min) min = 0;
  SB_CHECK(!min || !max || *min <= *max, op, ": expected min to be at most max, got ", *min,
           " and ", *max);
  SB_CHECK(what != RangeOf::Size || !max || *max > 2, op,
           ": argument max: expected more than 2 for a size, got ", *max);
  const auto text = [&] {
    const auto bound = [](const std::optional<int64_t>& b) { return b ? str_cat(*b) : "any"; };
    return str_cat(op, ": argument size: expected a value in [", bound(min), ", ", bound(max),
                   "], got ", value.to_string());
  };
  const SymInt number = value.is_SymInt() ? value.to_sym_int() : value.to_scalar().to<int64_t>();
  if (min) check(number >= *min, text());
  if (max) check(number <= *max, text());
}

std::optional<int64_t> bound_of(const IValue& value) {
  return value.is_None() ? std::nullopt : std::optional(value.to_int());
}

// Boxed, since a Scalar of C++ holds no symbol. `check` looks at the arguments; an operator with a
// token returns a copy of it.
template <void (*check)(std::string_view op, absl::Span<const IValue> arguments)>
void define_check(Library& m, const auto& op) {
  define(m, op, Tag::derived_through)
      .composite_explicit([](const OperatorHandle& handle, DispatchKeySet, Stack* stack) {
        const FunctionSchema& schema = handle.schema();
        const size_t count = schema.arguments.size();
        const auto arguments = absl::MakeConstSpan(*stack).last(count);
        check(schema.name.name, arguments);
        IValue token;
        if (!schema.returns.empty()) token = clone(arguments.back().to_tensor());
        stack->resize(stack->size() - count);
        if (!schema.returns.empty()) stack->push_back(std::move(token));
      });
}

void check_scalar_arguments(std::string_view op, absl::Span<const IValue> arguments) {
  check_scalar(op, arguments[0], arguments[1].to_string_view());
}
template <RangeOf what>
void check_range_arguments(std::string_view op, absl::Span<const IValue> arguments) {
  check_range<what>(op, arguments[0], bound_of(arguments[1]), bound_of(arguments[2]));
}

}  // namespace

void check_tensor_metadata(const Tensor& a, OptionalSymIntArrayRef size,
                           OptionalSymIntArrayRef stride, std::optional<DType> dtype,
                           std::optional<Device> device, std::optional<Layout> layout) {
  SB_CHECK(a.defined(), kMetadata, ": argument a: expected a tensor, got an undefined one");
  check_list("sizes", a.sym_sizes(), size);
  check_list("strides", a.sym_strides(), stride);
  check_equal("dtype", a.dtype(), dtype);
  if (device && device->type == a.device().type && (!device->has_index() || device->is_cpu()))
    device.reset();
  check_equal("device", a.device(), device);
  check_equal("layout", a.layout(), layout);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _assert_tensor_metadata)
      .composite_explicit(check_tensor_metadata)
      .meta([](const Tensor& a, OptionalSymIntArrayRef size, OptionalSymIntArrayRef stride,
               std::optional<DType> dtype, std::optional<Device>, std::optional<Layout> layout) {
        check_tensor_metadata(a, size, stride, dtype, std::nullopt, layout);
      });
  // The meta device stands for the others.

  define_check<check_scalar_arguments>(m, _assert_scalar);
  define_check<check_scalar_arguments>(m, _functional_assert_scalar);
  define_check<check_range_arguments<RangeOf::Number>>(m, sym_constrain_range);
  define_check<check_range_arguments<RangeOf::Number>>(m, _functional_sym_constrain_range);
  define_check<check_range_arguments<RangeOf::Size>>(m, sym_constrain_range_for_size);
  define_check<check_range_arguments<RangeOf::Size>>(m, _functional_sym_constrain_range_for_size);

  define(m, _print)
      .composite_explicit([](std::string_view s) { std::cout << s << std::endl; })
      .meta([](std::string_view) {});

  define(m, _assert_async);
  define(m, _assert_async_msg);
  define(m, _functional_assert_async_msg);
  for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(_assert_async, key,
           [](const Tensor& self) { check_element(_assert_async.name(), self, ""); });
    m.impl(_assert_async_msg, key, [](const Tensor& self, std::string_view message) {
      check_element(_assert_async.name(), self, message);
    });
    m.impl(_functional_assert_async_msg, key,
           [](const Tensor& self, std::string_view message, const Tensor& dep_token) {
             check_element(_functional_assert_async_msg.name(), self, message);
             return clone(dep_token);
           });
  }
}

}  // namespace sb
