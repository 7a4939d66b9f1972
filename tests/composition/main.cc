// Random programs under stacks of layers: see README.md.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/tests/composition/print_cpp.h"
#include "switchboard/tests/composition/report.h"
#include "switchboard/tests/composition/trial.h"
#include "switchboard/tests/composition/workers.h"
#include "switchboard/tests/failures/failure_files.h"
#include "switchboard/tests/poison/poison.h"
#include "switchboard/tools/progress.h"

ABSL_FLAG(uint64_t, programs, 1000, "how many");
ABSL_FLAG(uint64_t, seed, 1, "which programs");
ABSL_FLAG(uint64_t, first, 0, "the number of the first one");
ABSL_FLAG(std::string, layers, "", "of which stacks are made; all of them by default");
ABSL_FLAG(std::string, stack, "", "the only stack to run, from the inside out: 'grad, trace'");
ABSL_FLAG(std::string, only, "", "operators whose name contains this");
ABSL_FLAG(size_t, jobs, 1, "how many processes");
ABSL_FLAG(size_t, small, 20,
          "how many failures are made small and printed; the others are left as they are");
ABSL_FLAG(double, seconds, 0, "begin no program after so long; 0: make all");
ABSL_FLAG(
    std::string, failures, "",
    "the folder to leave a test of each failure in; by default the one that this is run from");
ABSL_FLAG(bool, print, false, "print the programs themselves");

namespace sb::composition {
namespace {

constexpr char kGenerating[] = "eager: ";

std::string unescaped(const std::string& text) {
  std::string out;
  absl::CUnescape(text, &out);
  return out;
}

// What shows a crash: the program as a test, as small as it became. Made again in a process of its
// own, which may crash as well.
std::string code_of_crash(const Operators& operators, const TrialOptions& options, uint64_t number,
                          const std::string& stack, const std::string& how) {
  std::string code;
  Work again;
  again.first = number;
  again.count = 1;
  again.trial = [&](uint64_t, char*, const Say& say) {
    set_num_threads(1);
    const auto tell = [&](const Program& program) {
      say(absl::CEscape(test_code(program, stack,
                                  absl::StrFormat("program %d of seed %d%s%s", number, options.seed,
                                                  stack.empty() ? "" : " under ", stack),
                                  how)));
    };
    // Without a stack it is a step of the program that crashes, while that is made.
    Trying trying;
    if (stack.empty())
      trying = [&](const Step& step, const Frame& frame) { tell(alone(step, frame)); };
    const Program program = program_of(operators, options, number, trying);
    if (stack.empty()) return;
    tell(program);
    make_crash_small(program, parse_stack(stack), tell);
  };
  again.hear = [&](const std::string& line) { code = unescaped(line); };
  again.crashed = [](uint64_t, const std::string&, const std::string&) {};
  run_in_workers(again);
  return code;
}

int run_all() {
  test::poison_fresh_memory(0xa7);
  TrialOptions options;
  options.seed = absl::GetFlag(FLAGS_seed);
  options.layers = parse_stack(absl::GetFlag(FLAGS_layers));
  options.stack = parse_stack(absl::GetFlag(FLAGS_stack));
  if (options.layers.empty())
    for (const Layer& layer : all_layers()) options.layers.push_back(&layer);
  const Operators operators(absl::GetFlag(FLAGS_only));
  std::printf("%s\n", operators.to_string().c_str());

  Report report;
  size_t printed = 0;
  const auto begin = std::chrono::steady_clock::now();
  const double seconds = absl::GetFlag(FLAGS_seconds);
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  tools::Progress progress(
      seconds > 0 ? "seconds of random programs" : "random programs",
      seconds > 0 ? static_cast<uint64_t>(seconds) : absl::GetFlag(FLAGS_programs));
  const std::string folder = test::failure_folder(absl::GetFlag(FLAGS_failures));
  const auto report_failure = [&](const std::string& stack, uint64_t number,
                                  const std::string& text, const std::string& code) {
    progress.clear();
    std::printf("%s",
                absl::StrFormat("\nFAILED  --seed=%d --first=%d --programs=1 --stack='%s'\n%s",
                                options.seed, number, stack, text)
                    .c_str());
    if (!code.empty()) {
      std::string name = absl::StrFormat("random_programs_%d_%d", options.seed, number);
      for (const Layer* layer : parse_stack(stack)) name += "_" + std::string(layer->name);
      std::printf("left in %s\n", test::leave_file(folder, name + ".cc", code).c_str());
    }
    std::fflush(stdout);
  };

  Work work;
  work.first = absl::GetFlag(FLAGS_first);
  work.count = absl::GetFlag(FLAGS_programs);
  work.jobs = std::max<size_t>(1, absl::GetFlag(FLAGS_jobs));
  work.go_on = [&] { return seconds == 0 || elapsed() < seconds; };
  const size_t most = absl::GetFlag(FLAGS_small);
  std::set<std::string> seen;  // of this worker
  size_t made_small = 0;
  work.trial = [&](uint64_t number, char* place, const Say& say) {
    if (seconds > 0 && elapsed() > seconds) return;
    if (number == work.first) set_num_threads(1);
    if (absl::GetFlag(FLAGS_print))
      say("T\t" + absl::CEscape(test_code(program_of(operators, options, number), "eager",
                                          absl::StrFormat("program %d", number), "")));
    TrialEvents events;
    events.begin = [&](const std::string& stack) {
      std::snprintf(place, kPlaceSize, "%s", stack.c_str());
    };
    // A crash there is one of the operator.
    events.trying = [&](const Step& step, const Frame&) {
      std::snprintf(place, kPlaceSize, "%s%s", kGenerating, step.name().c_str());
    };
    events.undetermined = [&] { say("U"); };
    events.verdict = [&](const LayerStack& stack, const Verdict& verdict, const Program& program) {
      const std::string layers = to_string(stack);
      switch (verdict.kind) {
        case Verdict::Kind::Passed:
          return say("P\t" + layers);
        case Verdict::Kind::DoesNotApply:
          return say("D");
        case Verdict::Kind::Refused:
          return say("R\t" + layers + "\t" + verdict.op + "\t" + verdict.layer + "\t" +
                     absl::CEscape(verdict.message));
        case Verdict::Kind::Failed:
          break;
      }
      std::string kind, code;
      if (made_small < most) {
        const Smallest small = smallest(program, stack, verdict);
        kind = small.kind;
        if (seen.insert(kind).second) {
          ++made_small;
          code = test_code(small.program, to_string(small.stack),
                           absl::StrFormat("program %d of seed %d under %s", number, options.seed,
                                           to_string(small.stack)),
                           small.message);
        }
      } else {
        kind = kind_of(stack, verdict.message);
        if (seen.insert(kind).second)
          code = test_code(
              program, layers,
              absl::StrFormat("program %d of seed %d under %s", number, options.seed, layers),
              verdict.message);
      }
      say("F\t" + layers + "\t" + std::to_string(number) + "\t" + absl::CEscape(kind) + "\t" +
          absl::CEscape(code));
    };
    run_trial(operators, options, number, events);
    say("E");
  };
  work.hear = [&](const std::string& line) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    const auto count = [&](size_t which) { ++report.stacks[parts.at(1)][which]; };
    switch (line[0]) {
      case 'E':
        ++report.programs;
        progress.set(seconds > 0 ? static_cast<uint64_t>(elapsed()) : report.programs);
        break;
      case 'U':
        ++report.undetermined;
        break;
      case 'D':
        ++report.not_applied;
        break;
      case 'P':
        ++report.passed;
        count(0);
        break;
      case 'R':
        ++report.refused;
        count(2);
        {
          Report::Refusal& refusal = report.refusals[{parts.at(2), parts.at(3)}];
          if (++refusal.count == 1) refusal.message = unescaped(parts.at(4)).substr(0, 300);
        }
        break;
      case 'T':
        std::printf("%s\n", unescaped(parts.at(1)).c_str());
        break;
      case 'F': {
        ++report.failed;
        count(1);
        const std::string kind = unescaped(parts.at(3));
        if (++report.failures[kind] > 1) break;
        const std::string code = unescaped(parts.at(4));
        report_failure(parts.at(1), std::stoull(parts.at(2)), printed++ < most ? code : "", code);
      }
    }
  };
  work.crashed = [&](uint64_t number, const std::string& place, const std::string& how) {
    if (!work.go_on() && how.find("Killed") != std::string::npos) return;  // the time is up
    ++report.programs;
    ++report.failed;
    const bool generating = place.empty() || place.starts_with(kGenerating);
    ++report.stacks[generating ? "none" : place][1];
    const std::string stack = generating ? "" : place;
    report_failure(stack, number, place + " " + how + "\n",
                   code_of_crash(operators, options, number, stack, place + " " + how));
  };
  run_in_workers(work);
  progress.clear();
  if (!report.failures.empty()) {
    std::printf("\nfailures that are alike, and how often:\n");
    for (const auto& [kind, n] : report.failures)
      std::printf("%8d  %s\n", static_cast<int>(n), kind.c_str());
  }
  const double took = elapsed();
  std::printf("\n%.0f programs a second, %.0f seconds", static_cast<double>(report.programs) / took,
              took);
  std::printf("%s", report.to_string().c_str());
  return report.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sb::composition

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Runs random programs under stacks of layers.");
  absl::ParseCommandLine(argc, argv);
  try {
    return sb::composition::run_all();
  } catch (const sb::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
