#include "switchboard/ops/indexing/accumulate.h"

#include <limits>
#include <type_traits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {
namespace {

// A bool in memory may have any bits; it is computed as a byte.
struct Bool {
  unsigned char byte;
  bool value() const { return byte != 0; }
};

// What integers are added and multiplied in: wide enough not to be promoted to a signed type.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {a.value() || b.value()};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrapped_product(T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {a.value() && b.value()};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return a * b;
  }
}
template <class T>
T extreme_of(T a, T b, bool b_wins) {
  return b_wins || b != b ? b : a;  // NaN wins
}

// Elements of the table and of the other tensor, in the loops of an accumulation.
template <class Op>
struct Combine {
  template <class T>
  static void element(T& table, const T& other) {
    table = Op()(table, other);
  }
  template <class T>
  static void row(T* table, const T* other, int64_t n) {
    for (int64_t i = 0; i < n; ++i) element(table[i], other[i]);
  }
};
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped_sum(a, b);
  }
};
struct Product {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped_product(a, b);
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, Bool>) {
      return wrapped_sum(a, b);
    } else {
      return extreme_of(a, b, b > a);
    }
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, Bool>) {
      return wrapped_product(a, b);
    } else {
      return extreme_of(a, b, b < a);
    }
  }
};

// Calls f with the C++ type that elements of `t` are computed in. The low bits of sums and products
// do not depend on the sign.
template <class F>
decltype(auto) visit_ring(DType t, F&& f) {
  switch (t) {
    case DType::Bool:
      return f.template operator()<Bool>();
    case DType::UInt8:
    case DType::Int8:
      return f.template operator()<uint8_t>();
    case DType::Int16:
      return f.template operator()<uint16_t>();
    case DType::Int32:
      return f.template operator()<uint32_t>();
    case DType::Int64:
      return f.template operator()<uint64_t>();
    case DType::Float64:
      return f.template operator()<double>();
    case DType::Complex64:
      return f.template operator()<std::complex<float>>();
    case DType::Complex128:
      return f.template operator()<std::complex<double>>();
    default:
      return f.template operator()<float>();
  }
}
template <class F>
decltype(auto) visit_ordered(DType t, F&& f) {
  switch (t) {
    case DType::Int8:
      return f.template operator()<int8_t>();
    case DType::Int16:
      return f.template operator()<int16_t>();
    case DType::Int32:
      return f.template operator()<int32_t>();
    case DType::Int64:
      return f.template operator()<int64_t>();
    case DType::UInt8:
      return f.template operator()<uint8_t>();
    case DType::Bool:
      return f.template operator()<Bool>();
    case DType::Float64:
      return f.template operator()<double>();
    default:
      SB_ASSERT(!is_complex(t));
      return f.template operator()<float>();
  }
}

IndexedLoop loop_for(Accumulation kind, DType dtype) {
  const auto ring = [&]<class Op>(Op) {
    return visit_ring(
        dtype, []<class T>() -> IndexedLoop { return &internal::indexed_loop<T, Combine<Op>>; });
  };
  const auto ordered = [&]<class Op>(Op) {
    return visit_ordered(
        dtype, []<class T>() -> IndexedLoop { return &internal::indexed_loop<T, Combine<Op>>; });
  };
  switch (kind) {
    case Accumulation::Product:
      return ring(Product());
    case Accumulation::Max:
      return ordered(Max());
    case Accumulation::Min:
      return ordered(Min());
    default:
      return ring(Sum());
  }
}

// A 0-dim tensor of the value that changes nothing.
Tensor neutral(Accumulation kind, DType dtype) {
  const Tensor t = empty_on(Device(DeviceType::CPU), {}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T& value = *t.data<T>();
    if constexpr (internal::is_std_complex<T>) {
      value = T(kind == Accumulation::Product ? 1 : 0);
    } else {
      using Limits = Eigen::NumTraits<T>;
      const bool infinite = is_floating_point(dtype);
      switch (kind) {
        case Accumulation::Product:
          value = T(1);
          break;
        case Accumulation::Max:
          value = infinite ? -Limits::infinity() : Limits::lowest();
          break;
        case Accumulation::Min:
          value = infinite ? Limits::infinity() : Limits::highest();
          break;
        default:
          value = T(0);
      }
    }
  });
  return t;
}

// t's one element at all places of a tensor of like's shape.
Tensor repeated(const Tensor& t, const Tensor& like) {
  return alias_with_unchecked(t, like.sizes(), DimVector(like.sizes().size(), 0), 0);
}

template <class T>
T quotient(T sum, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t wide = static_cast<int64_t>(sum);
    return static_cast<T>(wide / count - (wide % count < 0));
  } else if constexpr (std::is_same_v<T, Bool>) {
    return sum;
  } else {
    using Real = decltype(std::real(sum));
    return sum / static_cast<Real>(count);
  }
}

void divide_by_counts(const Tensor& table, const Tensor& counts) {
  const auto divide = [&]<class T>() {
    strided_walk<2>(DimVector(table.sizes().begin(), table.sizes().end()),
                    {broadcast_byte_strides(table, table.sizes()),
                     broadcast_byte_strides(counts, table.sizes())},
                    {static_cast<char*>(table.data_ptr()), static_cast<char*>(counts.data_ptr())},
                    [](std::array<char*, 2> at, const std::array<int64_t, 2>& stride, int64_t n) {
                      for (int64_t i = 0; i < n; ++i) {
                        T& sum = *reinterpret_cast<T*>(at[0]);
                        const int64_t count = *reinterpret_cast<const int64_t*>(at[1]);
                        if (count > 1) sum = quotient(sum, count);
                        at[0] += stride[0];
                        at[1] += stride[1];
                      }
                    });
  };
  if (is_complex(table.dtype())) {
    visit_ring(table.dtype(), divide);
  } else {
    visit_ordered(table.dtype(), divide);
  }
}

}  // namespace

Accumulation parse_accumulation(const char* op, std::string_view reduce, bool with_sum) {
  if (with_sum && reduce == "sum") return Accumulation::Sum;
  if (reduce == "prod") return Accumulation::Product;
  if (reduce == "mean") return Accumulation::Mean;
  if (reduce == "amax") return Accumulation::Max;
  SB_CHECK(reduce == "amin", op, ": reduce: expected ", with_sum ? "sum, " : "",
           "prod, mean, amax or amin, got ", reduce);
  return Accumulation::Min;
}

bool has_accumulation(Accumulation kind, DType dtype) {
  switch (kind) {
    case Accumulation::Mean:
      return dtype != DType::Bool;
    case Accumulation::Max:
    case Accumulation::Min:
      return !is_complex(dtype);
    default:
      return true;
  }
}

void write_indexed(const Tensor& table, const Tensor& other, MakeWalk make_walk) {
  run_indexed(make_walk(table, other), write_loop(table.itemsize()));
}

void accumulate_indexed(Accumulation kind, const Tensor& table, const Tensor& other,
                        bool include_self, MakeWalk make_walk) {
  const DType dtype = compute_dtype(table.dtype());
  if (dtype != table.dtype()) {
    const Tensor wide = cast_copy(table, dtype);
    accumulate_indexed(kind, wide, cast_copy(other, dtype), include_self, make_walk);
    copy_elements(table, wide);
    return;
  }
  if (!include_self) write_indexed(table, repeated(neutral(kind, dtype), other), make_walk);
  run_indexed(make_walk(table, other), loop_for(kind, dtype));
  if (kind != Accumulation::Mean) return;
  const Tensor counts = empty_on(Device(DeviceType::CPU), table.sizes(), DType::Int64);
  std::fill_n(counts.data<int64_t>(), counts.numel(), include_self ? 1 : 0);
  const Tensor one = neutral(Accumulation::Product, DType::Int64);
  run_indexed(make_walk(counts, repeated(one, other)), loop_for(Accumulation::Sum, DType::Int64));
  divide_by_counts(table, counts);
}

}  // namespace sb
