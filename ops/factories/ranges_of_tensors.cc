// linspace and logspace whose ends are 0-dim tensors: those of the numbers that they hold.

#include <string>

#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/factory_parameters.h"

namespace sb {
namespace {

constexpr const char* kOptions =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

// What a result without data is made of: any number of that kind.
Scalar number_of(const char* op, const Tensor& t) {
  check_defined(op, t);
  SB_CHECK(t.dim() == 0, op, ": expected tensors of 0 dimensions for start and end, got ",
           t.describe());
  if (!t.is_meta()) return item(t);
  return is_complex(t.dtype()) ? Scalar(std::complex<double>()) : Scalar(0);
}
Scalar number_of(const char*, const Scalar& number) { return number; }

// A meta tensor's range is one, too.
std::optional<Device> device_beside(const std::optional<Device>& device, const Tensor& t) {
  return device || !t.is_meta() ? device : t.device();
}
std::optional<Device> device_beside(const std::optional<Device>& device, const Scalar&) {
  return device;
}

// "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps", and its out= form, for Start and
// End of these types.
template <class Start, class End>
void define_between(Library& m, const std::string& start, const std::string& end) {
  const auto schema = [&](const char* op, const char* out, const char* base) {
    return std::string("aten::") + op + "." + start + "_" + end + out + "(" + start + " start, " +
           end + " end, int steps, " + base;
  };
  const auto define_both = [&](const std::string& functional, auto make, const std::string& to,
                               auto make_to) {
    define(m, functional + kOptions + ") -> Tensor").composite_explicit(make).meta(make);
    define(m, to + "*, Tensor(a!) out) -> Tensor(a!)").composite_explicit(make_to).meta(make_to);
  };
  define_both(
      schema("linspace", "", ""),
      [](const Start& from, const End& last, int64_t steps, SB_TENSOR_OPTIONS) {
        return linspace(number_of("linspace", from), number_of("linspace", last), steps, dtype,
                        layout, device_beside(device_beside(device, from), last), pin_memory);
      },
      schema("linspace", "_out", ""),
      [](const Start& from, const End& last, int64_t steps, const Tensor& out) {
        return linspace_out(number_of("linspace", from), number_of("linspace", last), steps, out);
      });
  constexpr const char* base = "float base=10.0, ";
  define_both(
      schema("logspace", "", base),
      [](const Start& from, const End& last, int64_t steps, double by, SB_TENSOR_OPTIONS) {
        return logspace(number_of("logspace", from), number_of("logspace", last), steps, by, dtype,
                        layout, device_beside(device_beside(device, from), last), pin_memory);
      },
      schema("logspace", "_out", base),
      [](const Start& from, const End& last, int64_t steps, double by, const Tensor& out) {
        return logspace_out(number_of("logspace", from), number_of("logspace", last), steps, by,
                            out);
      });
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_between<Tensor, Tensor>(m, "Tensor", "Tensor");
  define_between<Tensor, Scalar>(m, "Tensor", "Scalar");
  define_between<Scalar, Tensor>(m, "Scalar", "Tensor");
}

}  // namespace
}  // namespace sb
