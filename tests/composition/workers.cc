#include "switchboard/tests/composition/workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::composition {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kMostTime{60};

// Seen by the worker and by the process that waits.
struct Shared {
  std::atomic<uint64_t> number;  // of the trial that runs
  char place[kPlaceSize];
};

struct Worker {
  Shared* shared = nullptr;
  pid_t pid = 0;
  int from = -1;  // what it says
  std::string heard;
  uint64_t last_number = 0;
  Clock::time_point since;
  bool done = false;
};

void start(const Work& work, Worker* worker, uint64_t first) {
  int ends[2];
  SB_CHECK(pipe(ends) == 0, "no pipe for a worker");
  std::fflush(nullptr);
  worker->shared->number = first;
  worker->shared->place[0] = 0;
  worker->pid = fork();
  SB_CHECK(worker->pid >= 0, "no process for a worker");
  if (worker->pid == 0) {
    close(ends[0]);
    if (!std::freopen("/dev/null", "w", stdout)) _exit(3);  // where programs print
    const Say say = [&](const std::string& line) {
      const std::string text = line + "\n";
      for (size_t at = 0; at < text.size();) {
        const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
        if (n <= 0) _exit(3);
        at += static_cast<size_t>(n);
      }
    };
    for (uint64_t n = first; n < work.first + work.count; n += work.jobs) {
      worker->shared->number = n;
      work.trial(n, worker->shared->place, say);
    }
    _exit(0);
  }
  close(ends[1]);
  worker->from = ends[0];
  worker->heard.clear();
  worker->last_number = first;
  worker->since = Clock::now();
}

std::string ending(int status) {
  return WIFSIGNALED(status) ? str_cat("crashes: ", strsignal(WTERMSIG(status)))
                             : str_cat("ends the process with status ", WEXITSTATUS(status));
}

// The worker's pipe has ended.
void finish(const Work& work, Worker* worker, bool killed) {
  int status = 0;
  close(worker->from);
  waitpid(worker->pid, &status, 0);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const uint64_t number = worker->shared->number;
  if (!well)
    work.crashed(number, worker->shared->place,
                 killed ? "takes more than a minute" : ending(status));
  const uint64_t next = number + work.jobs;
  if (well || next >= work.first + work.count || !work.go_on())
    worker->done = true;
  else
    start(work, worker, next);
}

}  // namespace

void run_in_workers(const Work& work) {
  std::vector<Worker> workers(work.jobs);
  for (size_t i = 0; i < workers.size(); ++i) {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SB_CHECK(memory != MAP_FAILED, "no memory for a worker");
    workers[i].shared = new (memory) Shared();
    if (i < work.count)
      start(work, &workers[i], work.first + i);
    else
      workers[i].done = true;
  }
  for (;;) {
    std::vector<pollfd> ends;
    std::vector<Worker*> of;
    for (Worker& worker : workers)
      if (!worker.done) {
        ends.push_back({worker.from, POLLIN, 0});
        of.push_back(&worker);
      }
    if (ends.empty()) break;
    poll(ends.data(), ends.size(), 1000);
    for (size_t i = 0; i < ends.size(); ++i) {
      Worker& worker = *of[i];
      bool killed = false;
      if (worker.shared->number != worker.last_number) {
        worker.last_number = worker.shared->number;
        worker.since = Clock::now();
      } else if (Clock::now() - worker.since > kMostTime || !work.go_on()) {
        killed = work.go_on();
        kill(worker.pid, SIGKILL);
      }
      if (ends[i].revents == 0 && !killed) continue;
      char buffer[1 << 16];
      const ssize_t n = read(worker.from, buffer, sizeof(buffer));
      if (n > 0) {
        worker.heard.append(buffer, static_cast<size_t>(n));
        size_t begin = 0;
        for (size_t end; (end = worker.heard.find('\n', begin)) != std::string::npos;
             begin = end + 1)
          work.hear(worker.heard.substr(begin, end - begin));
        worker.heard.erase(0, begin);
      } else {
        finish(work, &worker, killed);
      }
    }
  }
  for (Worker& worker : workers) munmap(worker.shared, sizeof(Shared));
}

bool crashes(const std::function<void()>& f) {
  constexpr unsigned kMostSeconds = 10;
  std::fflush(nullptr);
  const pid_t pid = fork();
  SB_CHECK(pid >= 0, "no process for a program that may crash");
  if (pid == 0) {
    alarm(kMostSeconds);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  return !late && status != 0;
}

}  // namespace sb::composition
