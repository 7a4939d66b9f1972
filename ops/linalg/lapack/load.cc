// Finds a LAPACK and its routines.

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
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
  // Batches are split over our own threads, and one matrix has the same factors at any number of
  // them. This is for all who use the same OpenBLAS in the process.
  void use_one_thread() const {
    using SetNumThreads = void(int);
    const auto set_num_threads =
        reinterpret_cast<SetNumThreads*>(dlsym(handle_, "openblas_set_num_threads"));
    if (set_num_threads) set_num_threads(1);
  }

 private:
  void* handle_;
  std::string name_;
};

template <class T>
void find_all(const Library& library, std::string_view letter, Routines<T>* routines) {
  constexpr bool is_complex = !std::is_same_v<T, Real<T>>;
  library.find(letter, "getrf", routines->getrf);
  library.find(letter, "getrs", routines->getrs);
  library.find(letter, "potrf", routines->potrf);
  library.find(letter, "geqrf", routines->geqrf);
  library.find(letter, is_complex ? "ungqr" : "orgqr", routines->orgqr);
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
  library.use_one_thread();
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
