#include "switchboard/core/print/tensor_print.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/print/number_format.h"
#include "switchboard/core/scalar.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

// PyTorch's default print options.
constexpr int64_t kThreshold = 1000;  // elements from which on a tensor is summarised
constexpr int64_t kEdgeItems = 3;     // elements shown at each end of a summarised dimension
constexpr size_t kLineWidth = 80;

constexpr std::string_view kPrefix = "tensor(";

// Summaries have limits of their own, which PyTorch lacks: a shape such as [2] * 60 would fill the
// memory, and a very high rank the stack.
constexpr int64_t kMaxShown = 1'000'000;
constexpr int64_t kMaxRank = 1000;

// The elements of a tensor as text, in row-major order, and the place that one takes in a line.
struct Cells {
  std::vector<std::string> texts;
  size_t width;
};

// Which elements are shown, and how they are laid out.
class Layouter {
 public:
  explicit Layouter(const Tensor& t) : t_(t), summarise_(t.numel() > kThreshold) {}

  // How many elements are shown; stops counting when there are too many.
  int64_t shown() const {
    int64_t n = 1;
    for (int64_t size : t_.sizes()) {
      n *= shown_in(size);
      if (n > kMaxShown) break;
    }
    return n;
  }

  // The offsets of the shown elements from element 0, in elements.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> result;
    result.reserve(static_cast<size_t>(shown()));
    collect_offsets(0, 0, result);
    return result;
  }

  std::string lay_out(const Cells& cells) const {
    const std::string* next = cells.texts.data();
    return lay_out(0, kPrefix.size(), cells.width, next);
  }

 private:
  bool is_cut(int64_t size) const { return summarise_ && size > 2 * kEdgeItems; }
  int64_t shown_in(int64_t size) const { return is_cut(size) ? 2 * kEdgeItems : size; }

  void collect_offsets(size_t dim, int64_t offset, std::vector<int64_t>& out) const {
    if (dim == t_.sizes().size()) {
      out.push_back(offset);
      return;
    }
    const int64_t size = t_.sizes()[dim];
    for (int64_t k = 0; k < shown_in(size); ++k) {
      const int64_t i = is_cut(size) && k >= kEdgeItems ? size - 2 * kEdgeItems + k : k;
      collect_offsets(dim + 1, offset + i * t_.strides()[dim], out);
    }
  }

  // The text of dimension `dim` and those below it; `indent` is the column where it begins.
  std::string lay_out(size_t dim, size_t indent, size_t width, const std::string*& next) const {
    const size_t rank = t_.sizes().size();
    if (rank == 0) return *next++;

    const int64_t size = t_.sizes()[dim];
    const bool innermost = dim + 1 == rank;
    std::vector<std::string> items;
    for (int64_t k = 0; k < shown_in(size); ++k) {
      if (is_cut(size) && k == kEdgeItems) items.push_back(innermost ? " ..." : "...");
      items.push_back(innermost ? *next++ : lay_out(dim + 1, indent + 1, width, next));
    }
    const std::string new_line(indent + 1, ' ');
    if (!innermost) {
      const std::string blank_lines(rank - dim - 1, '\n');
      return str_cat("[", absl::StrJoin(items, str_cat(",", blank_lines, new_line)), "]");
    }
    const size_t room = indent < kLineWidth ? kLineWidth - indent : 0;
    const size_t per_line = std::max<size_t>(1, room / (width + 2));
    std::vector<std::string> lines;
    for (size_t i = 0; i < items.size(); i += per_line) {
      const size_t count = std::min(per_line, items.size() - i);
      lines.push_back(absl::StrJoin(absl::MakeSpan(items).subspan(i, count), ", "));
    }
    return str_cat("[", absl::StrJoin(lines, str_cat(",\n", new_line)), "]");
  }

  const Tensor& t_;
  const bool summarise_;
};

Cells format_integers(const std::vector<int64_t>& values, bool is_bool) {
  const IntFormat format(values, is_bool);
  Cells cells{{}, format.width()};
  for (int64_t v : values) cells.texts.push_back(format(v));
  return cells;
}

Cells format_reals(const std::vector<double>& values) {
  const FloatFormat format(values);
  Cells cells{{}, format.width()};
  for (double v : values) cells.texts.push_back(format(v));
  return cells;
}

Cells format_complex(const std::vector<double>& real, const std::vector<double>& imaginary) {
  const FloatFormat real_format(real);
  const FloatFormat imaginary_format(imaginary);
  Cells cells{{}, real_format.width() + imaginary_format.width() + 1};
  for (size_t i = 0; i < real.size(); ++i) {
    std::string text = imaginary_format(imaginary[i]);
    text.erase(0, text.find_first_not_of(' '));
    const std::string_view sign = text[0] == '-' ? "" : "+";
    cells.texts.push_back(str_cat(real_format(real[i]), sign, text, "j"));
  }
  return cells;
}

// Reads the elements at those offsets; the lazy negative and conjugate bits take effect.
template <class T>
Cells format_elements(const Tensor& t, const std::vector<int64_t>& offsets) {
  // Any byte may stand in a bool tensor, and only 0 is false.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  const Stored* const data = reinterpret_cast<const Stored*>(t.data<T>());
  const double sign = t.impl()->is_neg() ? -1 : 1;
  if constexpr (std::is_integral_v<T>) {
    std::vector<int64_t> values;
    for (int64_t offset : offsets) values.push_back(static_cast<int64_t>(data[offset]));
    return format_integers(values, std::is_same_v<T, bool>);
  } else if constexpr (is_complex(dtype_of<T>)) {
    const double imaginary_sign = t.impl()->is_conj() ? -sign : sign;
    std::vector<double> real;
    std::vector<double> imaginary;
    for (int64_t offset : offsets) {
      real.push_back(sign * data[offset].real());
      imaginary.push_back(imaginary_sign * data[offset].imag());
    }
    return format_complex(real, imaginary);
  } else {
    std::vector<double> values;
    for (int64_t offset : offsets) values.push_back(sign * static_cast<double>(data[offset]));
    return format_reals(values);
  }
}

// The numbers that the elements of a quantized tensor stand for.
template <class T>
Cells format_quantized(const Tensor& t, const std::vector<int64_t>& offsets) {
  const Quantizer& quantizer = *t.impl()->quantizer();
  const T* const data = static_cast<const T*>(t.data_ptr());
  std::vector<double> values;
  for (int64_t offset : offsets) {
    const int64_t steps = int64_t{data[offset]} - quantizer.zero_point;
    values.push_back(static_cast<float>(static_cast<double>(steps) * quantizer.scale));
  }
  return format_reals(values);
}

Cells format_quantized(const Tensor& t, const std::vector<int64_t>& offsets) {
  if (t.dtype() == DType::QInt8) return format_quantized<int8_t>(t, offsets);
  if (t.dtype() == DType::QUInt8) return format_quantized<uint8_t>(t, offsets);
  return format_quantized<int32_t>(t, offsets);
}

// Whether the elements can be read here, and are not too many to show.
bool is_showable(const Tensor& t) {
  if (!t.is_cpu() || !t.storage() || t.dim() > kMaxRank) return false;
  if (is_quantized(t.dtype()) && !t.impl()->quantizer()) return false;
  if (t.numel() == 0) return true;
  if (!t.storage()->data() || Layouter(t).shown() > kMaxShown) return false;
  const int64_t needed = checked_storage_bytes(t.sizes(), t.strides(), t.storage_offset(),
                                               static_cast<int64_t>(t.itemsize()));
  return static_cast<size_t>(needed) <= t.storage()->nbytes();
}

std::string format_elements(const Tensor& t) {
  if (t.numel() == 0) return "[]";
  const Layouter layouter(t);
  const std::vector<int64_t> offsets = layouter.offsets();
  const Cells cells =
      t.impl()->quantizer()
          ? format_quantized(t, offsets)
          : visit_dtype(t.dtype(), [&]<class T>() { return format_elements<T>(t, offsets); });
  return layouter.lay_out(cells);
}

// As Python prints a tuple: "(2, 3)", "(2,)", "()".
std::string format_sizes(IntArrayRef sizes) {
  return str_cat("(", absl::StrJoin(sizes, ", "), sizes.size() == 1 ? ",)" : ")");
}

// Whether a reader of the elements knows the dtype from them.
bool is_shown_by_elements(DType t) {
  const DType complex = default_dtype() == DType::Float64 ? DType::Complex128 : DType::Complex64;
  return t == default_dtype() || t == complex || t == DType::Int64 || t == DType::Bool;
}

std::vector<std::string> suffixes_of(const Tensor& t, bool showable) {
  std::vector<std::string> suffixes;
  if (!t.is_cpu()) suffixes.push_back(str_cat("device='", to_string(t.device()), "'"));
  const bool has_elements = showable && t.numel() != 0;
  const Quantizer* const quantizer = t.impl()->quantizer().get();
  if (quantizer || (!has_elements && !(showable && t.dim() == 1))) {
    suffixes.push_back(str_cat("size=", format_sizes(t.sizes())));
  }
  if (has_elements ? !is_shown_by_elements(t.dtype()) : t.dtype() != default_dtype()) {
    suffixes.push_back(str_cat("dtype=torch.", to_string(t.dtype())));
  }
  if (quantizer) {
    suffixes.push_back("quantization_scheme=torch.per_tensor_affine");
    suffixes.push_back(str_cat("scale=", Scalar(quantizer->scale).to_string()));
    suffixes.push_back(str_cat("zero_point=", quantizer->zero_point));
  }
  return suffixes;
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";  // as PyTorch's C++ prints it
  const bool showable = is_showable(tensor);
  std::string text = str_cat(kPrefix, showable ? format_elements(tensor) : "...");

  // PyTorch counts two columns too many, and so do we.
  size_t column = text.size() - (text.rfind('\n') + 1) + 2;
  for (const std::string& suffix : suffixes_of(tensor, showable)) {
    if (column + suffix.size() + 2 > kLineWidth) {
      text += str_cat(",\n", std::string(kPrefix.size(), ' '), suffix);
      column = kPrefix.size() + suffix.size();
    } else {
      text += str_cat(", ", suffix);
      column += suffix.size() + 2;
    }
  }
  return text += ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace sb
