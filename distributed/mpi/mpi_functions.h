// What a shared object that is linked with an MPI gives to the engine: plain C, so that it needs
// nothing of the program that loads it, and no program needs MPI to be built or to start.

#ifndef SWITCHBOARD_DISTRIBUTED_MPI_MPI_FUNCTIONS_H_
#define SWITCHBOARD_DISTRIBUTED_MPI_MPI_FUNCTIONS_H_

#include <cstddef>

extern "C" {

// Functions return 0, or the number of an MPI error, of which describe_error() writes the text.
// Requests are numbers; a request that is done is forgotten. `control` messages travel apart from
// the others, and have 512 bytes.
struct SbMpiFunctions {
  const char* library;  // "MPICH 4.0.2", as the library calls itself
  int (*start)(int* rank, int* size, int* max_tag);
  int (*send)(const void* bytes, size_t size, int to, int tag, int* request);
  int (*receive)(void* bytes, size_t size, int from, int tag, int* request);
  // Whether a request is done.
  int (*test)(int request, int* done);
  // Gives a request up: its memory may go.
  void (*cancel)(int request);
  int (*send_control)(const char* text, int to);
  // A control message that has come; `from` is -1 where there is none.
  int (*poll_control)(char* text, int* from);
  int (*finish)();
  void (*describe_error)(int error, char* text, size_t size);
};

// The symbol that the engine looks up.
const SbMpiFunctions* sb_mpi_functions();
using SbMpiEntry = const SbMpiFunctions* (*)();
// MPI's own all_reduce of the largest of `count` floats, in place. For `ranks_program time`, which
// measures beside it; the engine does not call it.
int sb_mpi_all_reduce_max(float* numbers, int count);
}

#endif  // SWITCHBOARD_DISTRIBUTED_MPI_MPI_FUNCTIONS_H_
