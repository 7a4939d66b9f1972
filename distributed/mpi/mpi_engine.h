// Ranks that are processes, started by mpirun: `mpirun -n 4 program`.
//
//   int main() {
//     return sb::run_mpi([] { std::cout << all_reduce(full({2}, get_rank()), "sum") << "\n"; });
//   }

#ifndef SWITCHBOARD_DISTRIBUTED_MPI_MPI_ENGINE_H_
#define SWITCHBOARD_DISTRIBUTED_MPI_MPI_ENGINE_H_

#include <functional>
#include <string>

namespace sb {

struct MpiOptions {
  // Seconds that a rank waits for another: then it fails, and tells all others.
  double timeout = 60;
  // The shared object with MPI in it (//distributed/mpi: libsb_mpich.so, libsb_openmpi.so). Where
  // it is empty, the environment variable SB_MPI_LIBRARY names it; else it is looked for beside the
  // program, in a folder `mpi` there and in the program's runfiles: that of the MPI whose mpirun
  // started this process.
  std::string library;
};

// Runs a program as one rank, in a world of all processes that mpirun started, and ends MPI. An
// error is printed with its rank and ends the waits of the other ranks with DistError. Returns 0
// where no rank failed, and else 1 on all of them; 1 also where there is no such shared object, or
// MPI does not start. Once in a process.
int run_mpi(const std::function<void()>& program, const MpiOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_MPI_MPI_ENGINE_H_
