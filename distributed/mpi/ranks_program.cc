// What mpi_test.sh runs, on processes or threads: ranks_program WHAT [--threads N]

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/digest.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/mpi/mpi_engine.h"
#include "switchboard/distributed/mpi/mpi_functions.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/sequence_guard.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace {

using sb::Tensor;

// Prints the bits of rank 0's result, so that engines can be compared.
void print(const char* what, const Tensor& t) {
  sb::Digest digest;
  digest.add(std::string_view(static_cast<const char*>(t.data_ptr()), t.nbytes()));
  if (sb::get_rank() == 0)
    std::printf("%s %016llx\n", what, static_cast<unsigned long long>(digest.value()));
}

// Numbers whose sums are not exact.
Tensor numbers(int64_t n, sb::DType dtype = sb::DType::Float32) {
  const Tensor x = sb::add_Scalar(sb::arange(n, dtype), 1);
  return sb::div_Scalar(x, static_cast<double>(3 * sb::get_rank() + 7));
}

void collectives() {
  const int64_t n = sb::get_world_size();
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{400'003}})
    print("all_reduce", sb::all_reduce(numbers(size), "sum"));
  print("avg", sb::all_reduce(numbers(1000, sb::DType::Float64), "avg"));
  print("max", sb::all_reduce(numbers(1000), "max"));
  print("all_gather", sb::all_gather_tensor(numbers(1000), 0));
  print("reduce_scatter", sb::reduce_scatter_tensor(numbers(1000 * n), "sum", 0));
  print("all_to_all", sb::all_to_all_single(numbers(1000 * n)));
  print("broadcast", sb::broadcast(numbers(1000), n - 1));
  const sb::GroupPtr first = sb::new_group({0});
  print("group", sb::get_rank() == 0 ? sb::all_reduce(numbers(10), "sum", first) : numbers(10));
  if (n > 1) {
    const sb::GroupPtr ends = sb::new_group({n - 1, 0});
    if (ends->rank() >= 0) print("pair", sb::all_gather_tensor(numbers(10), 0, ends));
  }
  const Tensor in = sb::empty({200'000});
  sb::send(numbers(200'000), (sb::get_rank() + 1) % n);
  sb::receive(in, (sb::get_rank() + n - 1) % n);
  print("message", in);
  sb::barrier();
}

// Times of an all_reduce, on the first rank, beside MPI's own: the least means of many turns, as
// other programs run, too.
void time() {
  void* const library = dlopen(std::getenv("SB_MPI_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  const auto plain = reinterpret_cast<decltype(&sb_mpi_all_reduce_max)>(
      library ? dlsym(library, "sb_mpi_all_reduce_max") : nullptr);
  SB_CHECK(plain, "ranks_program time: expected SB_MPI_LIBRARY to be the library of this MPI");
  struct Case {
    int64_t size;
    int calls, turns;
  };
  for (const Case& c : {Case{1, 1000, 100}, Case{1000, 1000, 40}, Case{4'000'000, 2, 20}}) {
    const Tensor x = numbers(c.size);
    double least[2] = {1e9, 1e9};
    for (int turn = 0; turn < 2 * c.turns; ++turn) {
      sb::barrier();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < c.calls; ++i) {
        if (turn % 2 == 0)
          plain(static_cast<float*>(x.data_ptr()), static_cast<int>(c.size));
        else
          sb::all_reduce_(x, "max");
      }
      const std::chrono::duration<double, std::micro> all =
          std::chrono::steady_clock::now() - begin;
      least[turn % 2] = std::min(least[turn % 2], all.count() / c.calls);
    }
    if (sb::get_rank() == 0)
      std::printf("all_reduce of %lld floats: %.2f us, MPI's own %.2f us, ratio %.2f\n",
                  static_cast<long long>(c.size), least[1], least[0], least[1] / least[0]);
  }
}

// What computing meanwhile saves where the other ranks come late: the least times of many turns of
// an all_reduce and a computation, the second rank that much later than the first.
void overlap() {
  const Tensor x = numbers(1'000'000), rows = sb::view(numbers(262'144), {512, 512});
  const auto compute = [&] {
    for (int i = 0; i < 4; ++i) sb::mm(rows, rows);
  };
  double least[2] = {1e9, 1e9};
  for (int turn = 0; turn < 40; ++turn) {
    sb::barrier();
    const auto begin = std::chrono::steady_clock::now();
    if (sb::get_rank() != 0) compute();  // late
    if (turn % 2 == 0) {
      sb::all_reduce_(x, "max");
      if (sb::get_rank() == 0) compute();
    } else {
      const Tensor most = sb::all_reduce(x, "max");
      if (sb::get_rank() == 0) compute();
      most.data_ptr();
    }
    const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - begin;
    least[turn % 2] = std::min(least[turn % 2], all.count());
  }
  if (sb::get_rank() == 0)
    std::printf("first the all_reduce, then a computation: %.1f ms; meanwhile: %.1f ms, %.2f\n",
                least[0], least[1], least[1] / least[0]);
}

// What a SequenceGuard adds to the smallest call: the least times of many runs in turn, as other
// programs run, too.
void guard_cost() {
  constexpr int kCalls = 256, kTurns = 200;
  const Tensor x = numbers(1);
  double least[2] = {1e9, 1e9};
  for (int turn = 0; turn < 2 * kTurns; ++turn) {
    sb::barrier();
    std::optional<sb::SequenceGuard> guard;
    if (turn % 2 == 1) guard.emplace();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) sb::all_reduce_(x, "max");
    const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
    least[turn % 2] = std::min(least[turn % 2], all.count() / kCalls);
  }
  if (sb::get_rank() == 0)
    std::printf("all_reduce of 1 float: %.3f us, with a guard %.3f us\n", least[0], least[1]);
}

// Two pairs, of which the second calls something else, below a guard.
void part() {
  const sb::DeviceMesh mesh({{"data", 2}, {"tensor", 2}});
  const sb::SequenceGuard guard(4);
  for (int i = 0; i < 4; ++i)
    sb::all_reduce(numbers(i == 2 ? 10 + mesh.coordinate("data") : 10), "sum",
                   mesh.group("tensor"));
}

// Ranks 0 and 1 meet alone and with all, each in its own order.
void circle() {
  const sb::GroupPtr pair = sb::new_group({0, 1});
  if (sb::get_rank() == 0) sb::all_reduce(numbers(10), "sum", pair);
  sb::barrier();
  if (sb::get_rank() == 1) sb::all_reduce(numbers(10), "sum", pair);
}

// Meets again and again, for longer than anybody looks.
void meet() {
  std::printf("meeting\n");
  std::fflush(stdout);
  for (int i = 0; i < 3000; ++i) {
    sb::all_reduce(numbers(1000), "sum");
    usleep(10'000);
  }
}

const std::map<std::string, std::function<void()>> programs = {
    {"collectives", collectives},
    {"time", time},
    {"guard_cost", guard_cost},
    {"overlap", overlap},
    {"part", part},
    {"meet", meet},
    {"circle", circle},
    {"diverge",
     [] {
       sb::all_reduce(numbers(10), "sum");
       sb::get_rank() == 1 ? sb::broadcast(numbers(10), 0) : sb::all_reduce(numbers(10), "sum");
     }},
    {"throw",
     [] {
       if (sb::get_rank() == 1) SB_THROW(IndexError, "nothing there");
       sb::barrier();
     }},
    {"end",
     [] {
       if (sb::get_rank() != 1) sb::barrier();
     }},
    {"late",
     [] {
       if (sb::get_rank() == 1) sleep(4);
       sb::barrier();
     }},
    {"die",
     [] {
       if (sb::get_rank() == 1) std::raise(SIGKILL);
       sb::barrier();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto program = programs.find(argc > 1 ? argv[1] : "");
  if (program == programs.end()) {
    std::fprintf(stderr, "usage: ranks_program WHAT [--threads N]\n");
    return 2;
  }
  if (argc == 4 && std::string_view(argv[2]) == "--threads") {
    sb::run_ranks(std::atoi(argv[3]), program->second);
    return 0;
  }
  // What is found without the timeout must not need it.
  const double timeout = program->first == "late" ? 2 : program->first == "meet" ? 3 : 30;
  return sb::run_mpi(program->second, {.timeout = timeout, .library = ""});
}
