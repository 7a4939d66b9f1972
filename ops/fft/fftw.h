// Fourier transforms of lines by FFTW, where the machine has it: its shared objects are opened by
// the first transform, and nothing else needs them.

#ifndef SWITCHBOARD_OPS_FFT_FFTW_H_
#define SWITCHBOARD_OPS_FFT_FFTW_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sb::internal {

// Whether transforms ask FFTW (true, unless SB_FFTW=0 in the environment). For tests. Thread-safe.
void set_fftw_enabled(bool enabled);

// A transform of lines of one length, not scaled: of std::complex<T> to std::complex<T>; of T to
// std::complex<T>, forward, the first n / 2 + 1 of the numbers; or from these to T, not forward,
// where the imaginary parts of numbers that are their own conjugates do not count. T is float or
// double. Any thread may run it, also at the same time as others.
//
// A run transforms at_once() lines, number k of line j at k * at_once() + j: one line, or a fixed
// number of short ones, each computed as any other is.
template <class From, class To>
class FftwLine {
 public:
  // Of what both arguments of `run` are a multiple.
  static constexpr size_t kAlignment = 16;

  // nullptr where FFTW is not there, or not enabled. Thread-safe; the latest ones are kept.
  static std::shared_ptr<const FftwLine> get(int64_t points, bool forward);

  ~FftwLine();
  FftwLine(const FftwLine&) = delete;
  FftwLine& operator=(const FftwLine&) = delete;

  int64_t at_once() const { return at_once_; }
  // The two may not overlap. What `from` holds is lost where the result is real.
  void run(From* from, To* to) const;

 private:
  FftwLine(void* plan, int64_t at_once) : plan_(plan), at_once_(at_once) {}

  void* plan_;
  int64_t at_once_;
};

// Memory for n numbers, aligned for a plan; what is in it does not count, and untouched it costs
// nothing.
template <class T>
std::unique_ptr<std::byte[]> memory_for_fftw(int64_t n) {
  static_assert(alignof(std::max_align_t) % FftwLine<T, T>::kAlignment == 0);
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(n) * sizeof(T));
}

extern template class FftwLine<std::complex<float>, std::complex<float>>;
extern template class FftwLine<float, std::complex<float>>;
extern template class FftwLine<std::complex<float>, float>;
extern template class FftwLine<std::complex<double>, std::complex<double>>;
extern template class FftwLine<double, std::complex<double>>;
extern template class FftwLine<std::complex<double>, double>;

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_FFT_FFTW_H_
