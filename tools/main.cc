// The command `sb`: runs exported programs, and shows how the dispatcher decides.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/plugins/load_library.h"
#include "switchboard/distributed/mpi/mpi_engine.h"
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/sequence_guard.h"
#include "switchboard/distributed/world.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/check_command.h"
#include "switchboard/tools/check_ranks_command.h"
#include "switchboard/tools/command_line.h"
#include "switchboard/tools/dump_commands.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/extract_command.h"
#include "switchboard/tools/guards_command.h"
#include "switchboard/tools/inspect_commands.h"
#include "switchboard/tools/page_command.h"
#include "switchboard/tools/plan_command.h"
#include "switchboard/tools/record_command.h"
#include "switchboard/tools/replay_command.h"
#include "switchboard/tools/run_command.h"
#include "switchboard/tools/trace_command.h"

namespace sb::tools {
namespace {

using Run = int (*)(const CommandLine&, std::ostream&);

struct Command {
  const CommandSpec& spec;
  Run run;
};

// Nobody who plans a model asks for the gradients that the tables show.
template <Run run>
int without_gradients(const CommandLine& line, std::ostream& out) {
  const ExcludeKeysGuard off(kAutogradFunctionalities |
                             DispatchKeySet(DispatchKey::ADInplaceOrView));
  return run(line, out);
}

std::vector<Command> commands() {
  return {{run_spec(), run_command},
          {check_spec(), check_command},
          {trace_spec(), trace_command},
          {plan_spec(), without_gradients<plan_command>},
          {guards_spec(), without_gradients<guards_command>},
          {check_ranks_spec(), check_ranks_command},
          {ops_spec(), ops_command},
          {table_spec(), table_command},
          {explain_spec(), explain_command},
          {dump_spec(), dump_command},
          {diff_spec(), diff_command},
          {record_spec(), record_command},
          {replay_spec(), replay_command},
          {extract_spec(), extract_command},
          {page_spec(), page_command}};
}

std::string help() {
  std::string text =
      "sb runs exported PyTorch programs, and shows how the dispatcher decides.\n\n"
      "  sb run MODEL [--device all]        run a program, op by op, and check its outputs\n"
      "  sb check MODEL                     what a program needs and is not here\n"
      "  sb trace MODEL [--out F.json]      every kernel of a program, as text or for Perfetto\n"
      "  sb plan MODEL [--device D]         FLOPs, memory and an arena, for a device that is not "
      "here\n"
      "  sb plan MODEL --ranks N --link R   the same for N ranks, with what they send and how "
      "long\n"
      "  sb guards MODEL                    the batch sizes that a program takes, and why\n"
      "  sb check-ranks MODEL --ranks N     where the ranks of a program would part or hang\n"
      "  sb ops [GLOB]                      list operators\n"
      "  sb table OP                        the computed table: which kernel at which key, and "
      "why\n"
      "  sb explain OP [--keys K,K]         where a call goes, key by key\n"
      "  sb dump                            all tables, to keep in a file\n"
      "  sb diff OLD NEW                    what changed between two dumps, or where two "
      "recordings part\n"
      "  sb record MODEL [-o F]             keep every call of a program, at every key, in a file\n"
      "  sb replay RECORDING                make them again, without the program, and compare\n"
      "  sb extract RECORDING CALL          one call as a program of a page\n"
      "  sb page [RECORDING] -o page.html   tables, calls and memory, to look at in a browser\n\n"
      "A program with collectives runs on ranks, of which the first prints: sb --ranks 4 COMMAND "
      "on\n"
      "threads, mpirun -n 4 sb --mpi COMMAND on processes.\n\n"
      "sb COMMAND --help says more. To begin with: sb run examples/digits_mlp --device all\n";
  return text;
}

// Throws what load_library() throws.
void load_libraries(const CommandLine& line) {
  if (const auto paths = line.find("load"))
    for (const absl::string_view path : absl::StrSplit(*paths, ','))
      load_library(std::string(path));
}

int run(const std::vector<std::string>& words, std::ostream& out) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    (words.empty() ? std::cerr : out) << help();
    return words.empty() ? kBadInput : kHolds;
  }
  for (const Command& command : commands()) {
    if (command.spec.name != words[0]) continue;
    const CommandLine line =
        CommandLine::parse(command.spec, absl::MakeConstSpan(words).subspan(1));
    if (!line.has("help")) {
      load_libraries(line);
      return command.run(line, out);
    }
    out << command.spec.help();
    return kHolds;
  }
  SB_THROW(ValueError, "unknown command ", io::quote(words[0]), "; see sb --help");
}

// Runs a command as every rank of a program with collectives; the first prints.
int run_as_rank(const std::vector<std::string>& words) {
  std::ostream nowhere(nullptr);
  // All ranks run one program.
  SequenceGuard guard;
  const int status = run(words, get_rank() == 0 ? std::cout : nowhere);
  guard.check();
  return status;
}
int run_on_threads(const std::vector<std::string>& words) {
  int ranks = 0;
  SB_CHECK_VALUE(words.size() > 1 && absl::SimpleAtoi(words[1], &ranks),
                 "--ranks: expected a number; see sb --help");
  std::atomic<int> worst{kHolds};
  run_ranks(ranks, [&] {
    const int status = run_as_rank({words.begin() + 2, words.end()});
    if (status != kHolds) worst = status;
  });
  return worst;
}
int run_under_mpirun(const std::vector<std::string>& words) {
  int status = kHolds;
  const int failed = run_mpi([&] { status = run_as_rank({words.begin() + 1, words.end()}); });
  return failed ? kBadInput : status;
}

int run_all(const std::vector<std::string>& words) {
  if (!words.empty() && words[0] == "--ranks") return run_on_threads(words);
  if (!words.empty() && words[0] == "--mpi") return run_under_mpirun(words);
  return run(words, std::cout);
}

}  // namespace
}  // namespace sb::tools

int main(int argc, char** argv) {
  // `bazel run` starts programs elsewhere.
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY"); folder && *folder) {
    if (::chdir(folder) != 0) std::cerr << "sb: cannot go to " << folder << "\n";
  }
  try {
    const int status = sb::tools::run_all({argv + 1, argv + argc});
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << "sb: cannot write the output\n";
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "sb: " << error.what() << "\n";
  }
  return sb::tools::kBadInput;
}
