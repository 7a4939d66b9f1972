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

// Plans are made and deleted by one thread at a time.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

template <class T>
struct Library {
  using Complex = std::complex<T>;
  void* (*plan_dft_1d)(int n, Complex* in, Complex* out, int sign, unsigned flags) = nullptr;
  void* (*plan_dft_r2c_1d)(int n, T* in, Complex* out, unsigned flags) = nullptr;
  void* (*plan_dft_c2r_1d)(int n, Complex* in, T* out, unsigned flags) = nullptr;
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
    find(&library.plan_dft_1d, "plan_dft_1d");
    find(&library.plan_dft_r2c_1d, "plan_dft_r2c_1d");
    find(&library.plan_dft_c2r_1d, "plan_dft_c2r_1d");
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
  // Estimating writes to neither, and asks for their alignment alone.
  const auto given = memory_for_fftw<From>(points), made = memory_for_fftw<To>(points);
  auto* const from = reinterpret_cast<From*>(given.get());
  auto* const to = reinterpret_cast<To*>(made.get());
  const int n = static_cast<int>(points);
  void* plan = nullptr;
  if constexpr (kIsReal<From>) {
    plan = library->plan_dft_r2c_1d(n, from, to, kEstimate);
  } else if constexpr (kIsReal<To>) {
    plan = library->plan_dft_c2r_1d(n, from, to, kEstimate);
  } else {
    plan = library->plan_dft_1d(n, from, to, forward ? kForward : kBackward, kEstimate);
  }
  if (!plan) return nullptr;
  return plans[{points, forward}] = std::shared_ptr<const FftwLine>(new FftwLine(plan));
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
