#include "switchboard/ops/factories/ranges.h"

#include <cmath>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/factory_parameters.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

// RuntimeError for a step that is 0 or leads away from the end, in the numbers of T.
template <class T>
void check_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  const T from = start.to<T>(), to = end.to<T>(), by = step.to<T>();
  SB_CHECK(by > 0 || by < 0, "arange: argument step: expected a number other than 0, got ",
           step.to_string());
  SB_CHECK(by > 0 ? to >= from : to <= from, "arange: arguments start and end: ", start.to_string(),
           " to ", end.to_string(), " is against the sign of step ", step.to_string());
}

bool is_integer(const Scalar& s) { return s.is_int() || s.is_bool(); }

// The number of elements of a range of a dtype, after its checks. Only int64 with integers for ends
// and step counts in integers: else they keep their fractions for it, though of an integer dtype no
// element has one. As arange_out.
int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  for (const Scalar& bound : {start, end}) {
    SB_CHECK(std::isfinite(bound.to<double>()), "arange: unsupported range: ", start.to_string(),
             " -> ", end.to_string());
  }
  if (is_integral(dtype)) {
    for (const Scalar& number : {start, end, step}) check_scalar_fits(number, DType::Int64);
  }
  if (dtype != DType::Int64 || !is_integer(start) || !is_integer(end) || !is_integer(step)) {
    check_range<double>(start, end, step);
    const double from = start.to<double>(), to = end.to<double>(), by = step.to<double>();
    const double length = std::ceil((to - from) / by);
    SB_CHECK(length >= 0 && length < 9223372036854775808.0, "arange: ", start.to_string(), " to ",
             end.to_string(), " by ", step.to_string(), ": expected a number of elements, got ",
             length);
    return static_cast<int64_t>(length);
  }
  check_range<int64_t>(start, end, step);
  const int64_t from = start.to<int64_t>(), to = end.to<int64_t>(), by = step.to<int64_t>();
  const __int128 distance = static_cast<__int128>(to) - from;
  const __int128 length = (distance + by - (by > 0 ? 1 : -1)) / by;
  SB_CHECK(length <= INT64_MAX, "arange: ", start.to_string(), " to ", end.to_string(),
           ": too many elements");
  return static_cast<int64_t>(length);
}

bool is_symbolic_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  return start.is_symbolic() || end.is_symbolic() || step.is_symbolic();
}

// The same of a range with symbols: of integers in integers, which for other dtypes than int64 is
// the same as long as the numbers are sizes.
SymInt symbolic_range_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto check_ends = [&](const SymBool& along) {
    SB_CHECK(along, "arange: arguments start and end: ", start.to_string(), " to ", end.to_string(),
             " is against the sign of step ", step.to_string());
  };
  if (is_integer(start) && is_integer(end) && is_integer(step)) {
    const SymInt from = start.to_sym_int(), to = end.to_sym_int(), by = step.to_sym_int();
    SB_CHECK(by != 0, "arange: argument step: expected a number other than 0, got ",
             step.to_string());
    const bool up = guard_bool(by > 0);
    check_ends(up ? to >= from : to <= from);
    const SymInt distance = up ? to - from : from - to, stride = up ? by : -by;
    return sym_floor_div(distance + stride - 1, stride);
  }
  const SymFloat from = start.to_sym_float(), to = end.to_sym_float(), by = step.to_sym_float();
  const bool whole = is_integer(start) && is_integer(end);
  SB_CHECK(by != 0.0, "arange: argument step: expected a number other than 0, got ",
           step.to_string());
  const bool up = guard_bool(by > 0.0);
  if (whole) {  // of which more is known
    const SymInt first = start.to_sym_int(), last = end.to_sym_int();
    check_ends(up ? last >= first : last <= first);
  } else {
    check_ends(up ? to >= from : to <= from);
  }
  return sym_ceil((to - from) / by);
}

template <class T>
void write_range(T* to, int64_t n, const Scalar& start, const Scalar& step) {
  if constexpr (std::is_integral_v<T>) {
    const uint64_t from = static_cast<uint64_t>(start.to<int64_t>());
    const uint64_t by = static_cast<uint64_t>(step.to<int64_t>());
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from + by * static_cast<uint64_t>(i));
  } else {
    const double from = start.to<double>(), by = step.to<double>();
    for (int64_t i = 0; i < n; ++i) {
      to[i] = T(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(
          from + by * static_cast<double>(i)));
    }
  }
}

Tensor arange_to(const Scalar& start, const Scalar& end, const Scalar& step, const Tensor& out) {
  SB_CHECK(out.defined(), "arange: out: expected a tensor, got an undefined one");
  const DType dtype = out.dtype();
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(dtype) && dtype != DType::Bool,
                           "arange: not implemented for ", to_string(dtype));
  if (out.is_meta() && is_symbolic_range(start, end, step)) {
    const SymInt n = symbolic_range_length(start, end, step);
    if (out.dim() != 1 || !same_size(out.sym_size(0), n))
      out.impl()->set_sym_sizes_and_strides({n}, {1}, out.sym_storage_offset());
    return out;
  }
  const int64_t n = range_length(start.settled(), end.settled(), step.settled(), dtype);
  if (out.numel() == n)
    check_no_internal_overlap(out);
  else
    resize_output(out, {n});
  if (n == 0 || out.is_meta()) return out;
  const Tensor target = out.is_contiguous() ? out : clone(out, MemoryFormat::Contiguous);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!internal::is_std_complex<T> && !std::is_same_v<T, bool>) {
      write_range(target.data<T>(), n, start, step);
    }
  });
  if (!target.is_same(out)) copy_elements(out, target);
  return out;
}

Tensor arange_any(const Scalar& start, const Scalar& end, const Scalar& step, SB_TENSOR_OPTIONS) {
  if (!dtype && is_integer(start) && is_integer(end) && is_integer(step)) dtype = DType::Int64;
  const SymInt size =
      is_symbolic_range(start, end, step) ? symbolic_range_length(start, end, step) : SymInt(0);
  const Tensor result = empty({size}, dtype, layout, device, pin_memory, std::nullopt);
  const internal::BelowRecordingGuard fresh;
  return arange_start_out(start, end, step, result);
}

// What the steps of a range are computed in: exact enough for T, and wide enough for 16-bit types.
template <class T>
using StepType = std::conditional_t<
    internal::is_std_complex<T>, T,
    std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>>;

// f(x) of n > 1 numbers at equal distances, each counted from the nearer end.
template <class T, class F>
void write_steps(T* to, int64_t n, const Scalar& start, const Scalar& end, F f) {
  using Step = StepType<T>;
  const auto bound = [](const Scalar& s) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Step>(s.to<T>());
    } else {
      return s.to<Step>();
    }
  };
  const Step from = bound(start), last = bound(end);
  const auto steps = [](int64_t count) { return Step(static_cast<double>(count)); };
  const Step step = (last - from) / steps(n - 1);
  const auto value = [&](const Step& x) {
    if constexpr (std::is_integral_v<T>) {
      Step y = f(x);
      T result;
      cast_function(DType::Float64, dtype_of<T>)(reinterpret_cast<char*>(&result), sizeof(T),
                                                 reinterpret_cast<const char*>(&y), sizeof(y), 1);
      return result;
    } else {
      return T(f(x));
    }
  };
  for (int64_t i = 0; i < n; ++i)
    to[i] = value(i < n / 2 ? from + step * steps(i) : last - step * steps(n - 1 - i));
}

// Integers count within blocks of 32 bytes from the block's first element, whose fraction is lost,
// as in PyTorch, whose vectors these are. Pairs of blocks; what is left over counts as other types.
template <std::integral T>
void write_integer_steps(T* to, int64_t n, const Scalar& start, const Scalar& end) {
  write_steps(to, n, start, end, [](double x) { return x; });
  constexpr int64_t kBlock = 32 / sizeof(T);
  const double step = (static_cast<double>(end.to<T>()) - static_cast<double>(start.to<T>())) /
                      static_cast<double>(n - 1);
  for (int64_t i = 0; i < n / (2 * kBlock) * (2 * kBlock); ++i)
    to[i] = static_cast<T>(static_cast<double>(to[i / kBlock * kBlock]) +
                           step * static_cast<double>(i % kBlock));
}

// What a single step is: the start, or the base to its power.
Scalar single_step(const Scalar& start, std::optional<double> base, DType dtype) {
  if (!base) return start;
  using Complex = std::complex<double>;
  if (is_complex(dtype)) return std::pow(Complex(*base), start.to<Complex>());
  return std::pow(*base, start.to<double>());
}

// linspace.out, and logspace.out where there is a base.
Tensor steps_to(const char* op, const Scalar& start, const Scalar& end, int64_t n,
                std::optional<double> base, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a tensor, got an undefined one");
  SB_CHECK(n >= 0, op, ": expected a number of steps of 0 or more, got ", n);
  const DType dtype = out.dtype();
  SB_CHECK_NOT_IMPLEMENTED(n <= 1 || (dtype != DType::Bool && !(base && dtype == DType::Float16)),
                           op, ": not implemented for ", to_string(dtype));
  if (n != 0) check_scalar_fits(start, dtype);
  if (n > 1) check_scalar_fits(end, dtype);
  const Scalar single = n == 1 ? single_step(start, base, dtype) : start;
  if (n == 1 && !out.is_meta()) check_scalar_fits(single, dtype);  // before out changes
  if (out.numel() == n)
    check_no_internal_overlap(out);
  else
    resize_output(out, {n});
  if (n == 0 || out.is_meta()) return out;
  if (n == 1) return fill_(out, single);
  const Tensor target = out.is_contiguous() ? out : clone(out, MemoryFormat::Contiguous);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      if constexpr (std::is_integral_v<T>) {
        if (!base) return write_integer_steps(target.data<T>(), n, start, end);
      }
      if (!base) {
        write_steps(target.data<T>(), n, start, end, [](const auto& x) { return x; });
      } else {
        const StepType<T> from(*base);
        write_steps(target.data<T>(), n, start, end,
                    [&](const auto& x) { return std::pow(from, x); });
      }
    }
  });
  if (!target.is_same(out)) copy_elements(out, target);
  return out;
}
Tensor linspace_to(const Scalar& start, const Scalar& end, int64_t n, const Tensor& out) {
  return steps_to("linspace", start, end, n, std::nullopt, out);
}
Tensor logspace_to(const Scalar& start, const Scalar& end, int64_t n, double base,
                   const Tensor& out) {
  return steps_to("logspace", start, end, n, base, out);
}

// An empty tensor for n steps.
Tensor empty_steps(const char* op, const Scalar& start, const Scalar& end, int64_t n,
                   SB_TENSOR_OPTIONS) {
  SB_CHECK(n >= 0, op, ": expected a number of steps of 0 or more, got ", n);
  if (start.is_complex() || end.is_complex()) {
    if (!dtype) dtype = to_complex(default_dtype());
    SB_CHECK(is_complex(*dtype), op, ": a complex bound can't be safely cast to dtype ",
             to_string(*dtype));
  }
  return empty({n}, dtype, layout, device, pin_memory, std::nullopt);
}

void check_eye(const SymInt& rows, const SymInt& cols) {
  SB_CHECK(rows >= 0, "eye: argument n: expected 0 or more, got ", rows.to_string());
  SB_CHECK(cols >= 0, "eye: argument m: expected 0 or more, got ", cols.to_string());
}
Tensor eye_to(const SymInt& rows, const SymInt& cols, const Tensor& out) {
  SB_CHECK(out.defined(), "eye: out: expected a tensor, got an undefined one");
  check_eye(rows, cols);
  if (out.is_meta() && (rows.is_symbolic() || cols.is_symbolic() || out.is_symbolic())) {
    resize_symbolic_output(out, {rows, cols});
    return out;
  }
  const int64_t n = rows.guard_int(), m = cols.guard_int();
  resize_output(out, {n, m});
  if (out.is_meta() || out.numel() == 0) return out;
  zero_(out);
  const int64_t step = std::min(n, m) == 1
                           ? 0
                           : (out.stride(0) + out.stride(1)) * static_cast<int64_t>(out.itemsize());
  char* element = static_cast<char*>(out.data_ptr());
  for (int64_t i = 0; i < std::min(n, m); ++i) store_scalar(1, out.dtype(), element + i * step);
  return out;
}

Tensor eye_any(const SymInt& n, const SymInt& m, SB_TENSOR_OPTIONS) {
  check_eye(n, m);
  const internal::BelowRecordingGuard fresh;
  return eye_m_out(n, m, empty({0}, dtype, layout, device, pin_memory, std::nullopt));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, arange)
      .composite_explicit([](const Scalar& end, SB_TENSOR_OPTIONS) {
        return arange_any(0, end, 1, dtype, layout, device, pin_memory);
      })
      .out(arange_out,
           [](const Scalar& end, const Tensor& out) { return arange_start_out(0, end, 1, out); });
  define(m, arange_start)
      .composite_explicit([](const Scalar& start, const Scalar& end, SB_TENSOR_OPTIONS) {
        return arange_any(start, end, 1, dtype, layout, device, pin_memory);
      });
  define(m, arange_start_step).composite_explicit(arange_any);
  define(m, arange_start_out).cpu_and_meta(arange_to);

  define(m, linspace)
      .composite_explicit([](const Scalar& start, const Scalar& end, int64_t n, SB_TENSOR_OPTIONS) {
        const internal::BelowRecordingGuard fresh;
        return linspace_out(
            start, end, n,
            empty_steps("linspace", start, end, n, dtype, layout, device, pin_memory));
      });
  define(m, linspace_out).cpu_and_meta(linspace_to);
  define(m, logspace)
      .composite_explicit(
          [](const Scalar& start, const Scalar& end, int64_t n, double base, SB_TENSOR_OPTIONS) {
            const internal::BelowRecordingGuard fresh;
            return logspace_out(
                start, end, n, base,
                empty_steps("logspace", start, end, n, dtype, layout, device, pin_memory));
          });
  define(m, logspace_out).cpu_and_meta(logspace_to);

  define(m, eye).composite_explicit([](const SymInt& n, SB_TENSOR_OPTIONS) {
    return eye_any(n, n, dtype, layout, device, pin_memory);
  });
  define(m, eye_m).composite_explicit(eye_any);
  define(m, eye_out)
      .cpu([](const SymInt& n, const Tensor& out) { return eye_to(n, n, out); })
      .meta([](const SymInt& n, const Tensor& out) { return eye_to(n, n, out); });
  define(m, eye_m_out).cpu_and_meta(eye_to);
}

}  // namespace
}  // namespace sb
