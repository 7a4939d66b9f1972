// Compiled once for each MPI, into a shared object of its own: see BUILD.bazel.

#include "switchboard/distributed/mpi/mpi_functions.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kControlBytes = 512;

MPI_Comm data = MPI_COMM_NULL, control = MPI_COMM_NULL;
struct Request {
  MPI_Request request;
  int receives;  // so many bytes; -1: it sends
};
std::vector<Request> requests;
std::vector<int> free_requests;

int add(Request request) {
  if (free_requests.empty()) {
    requests.push_back(request);
    return static_cast<int>(requests.size()) - 1;
  }
  const int number = free_requests.back();
  free_requests.pop_back();
  requests[static_cast<size_t>(number)] = request;
  return number;
}

int start(int* rank, int* size, int* max_tag) {
  // One thread at a time: calls in the background have one of their own.
  int threads = MPI_THREAD_SINGLE;
  int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  if (!error && threads < MPI_THREAD_SERIALIZED) error = MPI_ERR_OTHER;
  if (error) return error;
  for (MPI_Comm* comm : {&data, &control}) {
    if ((error = MPI_Comm_dup(MPI_COMM_WORLD, comm))) return error;
    // The engine makes errors of them.
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm_rank(data, rank);
  MPI_Comm_size(data, size);
  int* upper = nullptr;
  int found = 0;
  MPI_Comm_get_attr(data, MPI_TAG_UB, static_cast<void*>(&upper), &found);
  *max_tag = found ? *upper : 32767;
  return 0;
}

int send(const void* bytes, size_t size, int to, int tag, int* number) {
  MPI_Request request;
  const int error = MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, to, tag, data, &request);
  if (!error) *number = add({request, -1});
  return error;
}

int receive(void* bytes, size_t size, int from, int tag, int* number) {
  MPI_Request request;
  const int error = MPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, from, tag, data, &request);
  if (!error) *number = add({request, static_cast<int>(size)});
  return error;
}

int test(int number, int* done) {
  Request& request = requests[static_cast<size_t>(number)];
  MPI_Status status;
  const int error = MPI_Test(&request.request, done, &status);
  if (error || !*done) return error;
  free_requests.push_back(number);
  int count = -1;
  if (request.receives >= 0) MPI_Get_count(&status, MPI_BYTE, &count);
  // Less than was asked for is another message.
  return count == request.receives ? 0 : MPI_ERR_TRUNCATE;
}

void cancel(int number) {
  MPI_Request& request = requests[static_cast<size_t>(number)].request;
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  free_requests.push_back(number);
}

int send_control(const char* text, int to) {
  // Kept until the end: nobody waits for it.
  static std::vector<std::string*> texts;
  texts.push_back(new std::string(text));
  texts.back()->resize(kControlBytes);
  MPI_Request request;
  const int error =
      MPI_Isend(texts.back()->data(), kControlBytes, MPI_CHAR, to, 0, control, &request);
  if (!error) MPI_Request_free(&request);
  return error;
}

int poll_control(char* text, int* from) {
  int there = 0;
  MPI_Status status;
  *from = -1;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, 0, control, &there, &status);
  if (error || !there) return error;
  error = MPI_Recv(text, kControlBytes, MPI_CHAR, status.MPI_SOURCE, 0, control, MPI_STATUS_IGNORE);
  if (!error) *from = status.MPI_SOURCE;
  return error;
}

int finish() { return MPI_Finalize(); }

void describe_error(int error, char* text, size_t size) {
  char whole[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, whole, &length);
  const size_t n = std::min(size - 1, static_cast<size_t>(length));
  std::memcpy(text, whole, n);
  text[n] = '\0';
}

}  // namespace

const SbMpiFunctions* sb_mpi_functions() {
  static char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  for (char* end : {std::strchr(library, '\n'), std::strchr(library, ',')})
    if (end) *end = '\0';
  static const SbMpiFunctions functions = {library, start,         send,         receive,
                                           test,    cancel,        send_control, poll_control,
                                           finish,  describe_error};
  return &functions;
}

int sb_mpi_all_reduce_max(float* numbers, int count) {
  return MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_FLOAT, MPI_MAX, data);
}
