// Runs files of conformance cases and counts what became of them.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_RUNNER_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_RUNNER_H_

#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

struct Options {
  std::string only = "*";              // a glob on the case's id or its operator
  bool list = false;                   // print ids and run nothing
  bool show_skips = false;             // print each skipped case
  bool replay = false;                 // make each case again from a recording of it
  std::vector<std::string> ways = {};  // of programs that have several; empty: all of them
};

struct Counts {
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t refused = 0;
  int64_t skipped = 0;

  void add(Outcome::Kind kind);
};

struct Tally : Counts {
  std::map<std::string, int64_t> reasons;  // for skipping
  // Of programs that are run in several ways, by file and way.
  std::map<std::pair<std::string, std::string>, Counts> ways;

  // "3 passed, 0 failed, 1 skipped", after a line for every reason for skipping, and for every file
  // and way. Where there are ways, "2 refused" too.
  std::string to_string() const;
};

// Runs one case, which may be of any kind but a program that is run in several ways.
Outcome run_case(const Json& json, Place& place);

// Runs the cases of a JSON Lines file, a line at a time; prints the first difference of each that
// fails. A line that is not JSON is a failed case.
void run_cases(std::istream& in, const std::string& file, Place& place, const Options& options,
               std::ostream& out, Tally* tally);

// The same by file name; a file that cannot be opened is a failed case.
void run_file(const std::string& file, Place& place, const Options& options, std::ostream& out,
              Tally* tally);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_RUNNER_H_
