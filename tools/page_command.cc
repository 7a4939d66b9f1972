#include "switchboard/tools/page_command.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/objects/inspect_higher_order.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/findings.h"
#include "switchboard/tools/page/page.h"
#include "switchboard/tools/run_report.h"

namespace sb::tools {
namespace {

// What a browser still opens.
constexpr size_t kMostBytes = size_t{1} << 29;

page::PageRecording read(const std::string& path) {
  io::InputFile file(path);  // throws where there is none
  SB_CHECK_VALUE(io::is_recording(path), io::quote(path),
                 ": expected a recording, such as sb record writes");
  return {std::filesystem::path(path).filename().string(), file.read_all(kMostBytes)};
}

}  // namespace

const CommandSpec& page_spec() {
  static const CommandSpec spec = {
      "page",
      "[RUN.sbr [OTHER.sbr]]",
      0,
      2,
      "Writes a page that shows the tables of all operators, and of a recording the calls and the\n"
      "memory; of two recordings, where they part. It is one file, which any browser opens "
      "without\n"
      "a network. Recordings may also be dropped on it.",
      {{"out", "F", "the file (page.html)", false, 'o'}}};
  return spec;
}

int page_command(const CommandLine& line, std::ostream& out) {
  std::vector<page::PageRecording> recordings;
  for (const std::string& path : line.arguments()) recordings.push_back(read(path));
  TableDump tables = dump_tables(default_dispatcher());
  dump_higher_order_ops(&tables);
  const std::string page = page::make_page(tables, recordings);

  const std::string path = line.get("out", "page.html");
  std::ofstream file(path, std::ios::binary);
  SB_CHECK(file.is_open(), path, ": cannot be opened for writing: ", std::strerror(errno));
  file << page;
  file.close();
  SB_CHECK(file, path, ": could not be written");
  Findings found;
  found.add("file", path, path + ": ");
  found.add("bytes", page.size(), with_separators(std::ssize(page)) + " bytes, ");
  found.add("operators", tables.size(),
            with_separators(std::ssize(tables)) + " operators; open it in a browser\n");
  found.print(line, out);
  return kHolds;
}

}  // namespace sb::tools
