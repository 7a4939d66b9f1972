#include "switchboard/ops/fft/fftw.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "switchboard/ops/fft/real_of.h"

namespace sb::internal {
namespace {

// Of fftw3.h, which is not needed to build.
constexpr int kForward = -1, kBackward = 1;
constexpr unsigned kEstimate = 1u << 6;

bool enabled_by_environment() {
  const char* const value = std::getenv("SB_FFTW");
  return !value || std::string_view(value) != "0";
}
std::atomic<bool>& is_enabled() {
  static std::atomic<bool> enabled(enabled_by_environment());
  return enabled;
}

// Plans that are kept, of each kind of line.
constexpr size_t kMostPlans = 64;

// How many lines are taken at once. FFTW has straight code for these lengths, with vectors across
// lines; for the others it has vectors within a line. By numbers, not by lines, so that a line's
// bits do not depend on how many there are.
int64_t lines_at_once(int64_t points) {
  const bool straight = points <= 16 || points == 20 || points == 25 || points == 32;
  return straight ? 16 : 1;
}

// Plans are made and deleted by one thread at a time.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

template <class T>
struct Library {
  using Complex = std::complex<T>;
  // Of `count` transforms of `rank` dimensions n. Of each side: null; from a number to the next;
  // and from a transform to the next.
  template <class From, class To, class... Rest>
  using Plan = void* (*)(int rank, const int* n, int count, From* in, const int*, int in_stride,
                         int in_step, To* out, const int*, int out_stride, int out_step, Rest...);
  Plan<Complex, Complex, int, unsigned> plan_many_dft = nullptr;  // sign and flags
  Plan<T, Complex, unsigned> plan_many_dft_r2c = nullptr;
  Plan<Complex, T, unsigned> plan_many_dft_c2r = nullptr;
  void (*execute_dft)(void* plan, Complex* in, Complex* out) = nullptr;
  void (*execute_dft_r2c)(void* plan, T* in, Complex* out) = nullptr;
  void (*execute_dft_c2r)(void* plan, Complex* in, T* out) = nullptr;
  void (*destroy_plan)(void* plan) = nullptr;

  // nullptr where it is not there.
  static const Library* get() {
    static const Library* const library = open();
    return library;
  }

 private:
  static const Library* open() {
    const std::string prefix = std::is_same_v<T, float> ? "fftwf" : "fftw";
    const char* const file = std::is_same_v<T, float> ? "libfftw3f.so.3" : "libfftw3.so.3";
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    static Library library;
    bool complete = true;
    const auto find = [&](auto* function, const char* name) {
      *function = reinterpret_cast<std::decay_t<decltype(*function)>>(
          dlsym(handle, (prefix + "_" + name).c_str()));
      complete = complete && *function;
    };
    find(&library.plan_many_dft, "plan_many_dft");
    find(&library.plan_many_dft_r2c, "plan_many_dft_r2c");
    find(&library.plan_many_dft_c2r, "plan_many_dft_c2r");
    find(&library.execute_dft, "execute_dft");
    find(&library.execute_dft_r2c, "execute_dft_r2c");
    find(&library.execute_dft_c2r, "execute_dft_c2r");
    find(&library.destroy_plan, "destroy_plan");
    return complete ? &library : nullptr;
  }
};

}  // namespace

void set_fftw_enabled(bool enabled) { is_enabled() = enabled; }

template <class From, class To>
std::shared_ptr<const FftwLine<From, To>> FftwLine<From, To>::get(int64_t points, bool forward) {
  if (!is_enabled()) return nullptr;
  const auto* const library = Library<RealOf<From>>::get();
  if (!library) return nullptr;
  using Plans = absl::flat_hash_map<std::pair<int64_t, bool>, std::shared_ptr<const FftwLine>>;
  static Plans& plans = *new Plans;
  Plans old;  // go when the lock is open
  const std::lock_guard lock(planner());
  if (const auto known = plans.find({points, forward}); known != plans.end()) return known->second;
  if (plans.size() >= kMostPlans) plans.swap(old);
  const int64_t at_once = lines_at_once(points);
  // Estimating writes to neither, and asks for their alignment alone.
  const auto given = memory_for_fftw<From>(points * at_once);
  const auto made = memory_for_fftw<To>(points * at_once);
  auto* const from = reinterpret_cast<From*>(given.get());
  auto* const to = reinterpret_cast<To*>(made.get());
  const int n = static_cast<int>(points), lines = static_cast<int>(at_once);
  const auto plan_by = [&](auto function, auto... rest) {
    return function(1, &n, lines, from, nullptr, lines, 1, to, nullptr, lines, 1, rest...);
  };
  void* plan = nullptr;
  if constexpr (kIsReal<From>) {
    plan = plan_by(library->plan_many_dft_r2c, kEstimate);
  } else if constexpr (kIsReal<To>) {
    plan = plan_by(library->plan_many_dft_c2r, kEstimate);
  } else {
    plan = plan_by(library->plan_many_dft, forward ? kForward : kBackward, kEstimate);
  }
  if (!plan) return nullptr;
  return plans[{points, forward}] = std::shared_ptr<const FftwLine>(new FftwLine(plan, at_once));
}

template <class From, class To>
FftwLine<From, To>::~FftwLine() {
  const std::lock_guard lock(planner());
  Library<RealOf<From>>::get()->destroy_plan(plan_);
}

template <class From, class To>
void FftwLine<From, To>::run(From* from, To* to) const {
  const auto& library = *Library<RealOf<From>>::get();
  if constexpr (kIsReal<From>) {
    library.execute_dft_r2c(plan_, from, to);
  } else if constexpr (kIsReal<To>) {
    library.execute_dft_c2r(plan_, from, to);
  } else {
    library.execute_dft(plan_, from, to);
  }
}

template class FftwLine<std::complex<float>, std::complex<float>>;
template class FftwLine<float, std::complex<float>>;
template class FftwLine<std::complex<float>, float>;
template class FftwLine<std::complex<double>, std::complex<double>>;
template class FftwLine<double, std::complex<double>>;
template class FftwLine<std::complex<double>, double>;

}  // namespace sb::internal
