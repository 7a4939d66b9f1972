#include "switchboard/io/recording/storage_contents.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <tuple>

#include "absl/strings/str_format.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_tree.h"

namespace sb::io {
namespace {

// Whether the tensor lies in its bytes, which a damaged file does not promise.
bool fits(const TensorContents& t) {
  const RecordedMeta& meta = t.run.meta(t.tensor);
  try {
    const int64_t needed = checked_storage_bytes(meta.sizes, meta.strides, meta.offset,
                                                 static_cast<int64_t>(itemsize(meta.dtype)));
    return static_cast<uint64_t>(needed) <= t.bytes->size();
  } catch (const Error&) {
    return false;
  }
}

// The bytes of the element at these indices of a tensor that fits.
std::string_view element_at(const TensorContents& t, const std::vector<int64_t>& index) {
  const RecordedMeta& meta = t.run.meta(t.tensor);
  int64_t at = meta.offset;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * meta.strides[d];
  const size_t item = itemsize(meta.dtype);
  return std::string_view(*t.bytes).substr(static_cast<size_t>(at) * item, item);
}

std::string element_text(DType dtype, std::string_view bytes) {
  const auto read = [&](auto v) {
    std::memcpy(&v, bytes.data(), sizeof(v));
    return v;
  };
  switch (dtype) {
    case DType::Float32:
      return absl::StrFormat("%.9g", read(float{}));
    case DType::Float64:
      return absl::StrFormat("%.17g", read(double{}));
    case DType::Int64:
      return str_cat(read(int64_t{}));
    case DType::Int32:
      return str_cat(read(int32_t{}));
    default: {
      std::string text = "0x";
      for (size_t i = bytes.size(); i-- > 0;)
        text += absl::StrFormat("%02x", static_cast<uint8_t>(bytes[i]));
      return text;
    }
  }
}

// Whether the elements of both are known, and are as many of one dtype.
bool comparable(const TensorContents& a, const TensorContents& b) {
  if (!a.bytes || !b.bytes || !a.tensor.defined() || !b.tensor.defined()) return false;
  const RecordedMeta& meta = a.run.meta(a.tensor);
  return meta.sizes == b.run.meta(b.tensor).sizes && meta.dtype == b.run.meta(b.tensor).dtype &&
         fits(a) && fits(b);
}

template <class T>
bool numbers_are_close(std::string_view x, std::string_view y, double tolerance) {
  for (size_t at = 0; at < x.size(); at += sizeof(T)) {
    T v, w;
    std::memcpy(&v, x.data() + at, sizeof(T));
    std::memcpy(&w, y.data() + at, sizeof(T));
    const double a = static_cast<double>(v), b = static_cast<double>(w);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::abs(a - b) <= tolerance + tolerance * std::abs(b))) return false;
  }
  return true;
}

// Of an element that is not an integer.
bool is_close(DType dtype, std::string_view x, std::string_view y, double tolerance) {
  if (tolerance <= 0) return false;
  switch (dtype) {
    case DType::Float16:
      return numbers_are_close<Half>(x, y, tolerance);
    case DType::BFloat16:
      return numbers_are_close<BFloat16>(x, y, tolerance);
    case DType::Float32:
    case DType::Complex64:
      return numbers_are_close<float>(x, y, tolerance);
    case DType::Float64:
    case DType::Complex128:
      return numbers_are_close<double>(x, y, tolerance);
    default:
      return false;
  }
}

}  // namespace

const std::string* storage_contents(const RecordedRun& run, uint64_t storage, uint32_t event,
                                    bool after) {
  const RecordedEvent& call = run.events[event];
  const std::string* last = nullptr;
  std::tuple<uint64_t, bool, uint32_t> when{};
  for (const RecordedContents& c : run.contents) {
    if (c.storage != storage) continue;
    const RecordedEvent& e = run.events[c.event];
    const uint64_t time = c.after ? e.end : e.start;
    // What runs around the event ends after it.
    const bool in_time = after     ? time <= call.end
                         : c.after ? c.event < event && time <= call.start
                                   : c.event <= event;
    if (!in_time) continue;
    // Of one moment: callers begin before those that they call, and end after them.
    const std::tuple<uint64_t, bool, uint32_t> then{time, c.after, c.after ? ~c.event : c.event};
    if (last && then < when) continue;
    last = &c.bytes;
    when = then;
  }
  return last;
}

std::string differing_element(const TensorContents& a, const TensorContents& b, double tolerance) {
  if (!comparable(a, b)) return "";
  const RecordedMeta& meta = a.run.meta(a.tensor);
  std::vector<int64_t> index(meta.sizes.size(), 0);
  for (const int64_t n : meta.sizes)
    if (n == 0) return "";
  while (true) {
    const std::string_view x = element_at(a, index), y = element_at(b, index);
    if (x != y && !is_close(meta.dtype, x, y, tolerance))
      return str_cat("element ", int_list(index), ": ", element_text(meta.dtype, x), " and ",
                     element_text(meta.dtype, y), "\n");
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == meta.sizes[d - 1]) index[--d] = 0;
    if (d == 0) return "";
  }
}

bool elements_are_close(const TensorContents& a, const TensorContents& b, double tolerance) {
  return comparable(a, b) && differing_element(a, b, tolerance).empty();
}

}  // namespace sb::io
