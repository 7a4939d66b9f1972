// Finds a LAPACK and its routines.

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/cpu/cpu_capability.h"
#include "switchboard/ops/linalg/lapack/routines.h"

namespace sb::lapack {
namespace {

constexpr const char* kVariable = "SB_LAPACK";
constexpr const char* kDefault = "liblapack.so.3";

class Library {
 public:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  template <class F>
  void find(std::string_view letter, std::string_view routine, F*& function) const {
    const std::string symbol = str_cat(letter, routine, "_");
    function = reinterpret_cast<F*>(dlsym(handle_, symbol.c_str()));
    SB_CHECK(function, "LAPACK: '", name_, "' has no ", symbol);
  }
  // A function that only OpenBLAS has; null where this is another library.
  template <class F>
  F* find_own(const char* symbol) const {
    return reinterpret_cast<F*>(dlsym(handle_, symbol));
  }

 private:
  void* handle_;
  std::string name_;
};

// Batches are split over our own threads, and one matrix has the same factors at any number of
// them. This is for all who use the same OpenBLAS in the process.
void use_one_thread(const Library& library) {
  if (auto* const set_num_threads = library.find_own<void(int)>("openblas_set_num_threads"))
    set_num_threads(1);
}

// What OpenBLAS is to compute with, by its own names, where it has chosen `kernels`; null for that
// itself.
//
// It knows CPUs by their model. Those that are newer than itself get kernels of 2004, which are a
// fourth as fast. And an SB_CPU_CAPABILITY of avx2 is to hold for all.
const char* better_than(std::string_view kernels) {
  const bool is_fallback = kernels == "Prescott";
  const bool is_avx512 =
      kernels == "SkylakeX" || kernels == "Cooperlake" || kernels == "Sapphirerapids";
  switch (cpu_capability()) {
    case CpuCapability::Avx512:
      return is_fallback ? "SkylakeX" : nullptr;
    case CpuCapability::Avx2:
      return is_fallback || is_avx512 ? "Haswell" : nullptr;
    default:
      return nullptr;
  }
}
void use_this_cpu(const Library& library) {
  constexpr const char* kChoice = "OPENBLAS_CORETYPE";
  const auto name = library.find_own<char*()>("openblas_get_corename");
  const auto forget = library.find_own<void()>("gotoblas_dynamic_quit");
  const auto choose = library.find_own<void()>("gotoblas_dynamic_init");
  if (!name || !forget || !choose || std::getenv(kChoice)) return;
  const char* const better = better_than(name());
  if (!better) return;
  // It takes a choice from the environment alone.
  setenv(kChoice, better, /*overwrite=*/1);
  forget();
  choose();
  unsetenv(kChoice);
}

template <class T>
void find_all(const Library& library, std::string_view letter, Routines<T>* routines) {
  constexpr bool is_complex = !std::is_same_v<T, Real<T>>;
  library.find(letter, "getrf", routines->getrf);
  library.find(letter, "trsm", routines->trsm);
  library.find(letter, "potrf", routines->potrf);
  library.find(letter, "geqrf", routines->geqrf);
  library.find(letter, is_complex ? "ungqr" : "orgqr", routines->orgqr);
  library.find(letter, "sytrf", routines->sytrf);
  library.find(letter, is_complex ? "hetrf" : "sytrf", routines->hetrf);
  library.find(letter, "sytrs", routines->sytrs);
  library.find(letter, is_complex ? "hetrs" : "sytrs", routines->hetrs);
  library.find(letter, "gesdd", routines->gesdd);
  library.find(letter, is_complex ? "heevd" : "syevd", routines->heevd);
  library.find(letter, "geev", routines->geev);
}

// Never destroyed, and the library stays: threads may factorize until the process ends.
const Loaded* load() {
  auto result = std::make_unique<Loaded>();
  const char* const named = std::getenv(kVariable);
  const std::string name = named && *named ? named : kDefault;
  if (name == "none") return result.release();
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    // Its words may change until the next call of a function of its.
    const std::string problem = str_cat(dlerror());
    SB_CHECK(name == kDefault, "LAPACK: ", kVariable, " names '", name, "': ", problem);
    return result.release();
  }
  const Library library(handle, name);
  use_one_thread(library);
  use_this_cpu(library);
  find_all(library, "s", &result->single_real);
  find_all(library, "d", &result->double_real);
  find_all(library, "c", &result->single_complex);
  find_all(library, "z", &result->double_complex);
  result->library = name;
  return result.release();
}

}  // namespace

const Loaded& loaded() {
  static const Loaded& result = *load();
  return result;
}

bool is_available() { return !loaded().library.empty(); }
std::string library() { return loaded().library; }

}  // namespace sb::lapack
