// What became of one conformance case.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_OUTCOME_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_OUTCOME_H_

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace sb::conformance {

// What is wrong, in words; nullopt where nothing is.
using Difference = std::optional<std::string>;

struct Outcome {
  // Refused: an error that says that Switchboard cannot do it, where it is to do it.
  enum class Kind { Passed, Failed, Refused, Skipped };
  Kind kind = Kind::Passed;
  std::string why;     // the first difference, the error, or the reason for skipping
  std::string detail;  // what the reason is about: an operator's name, for example

  static Outcome passed() { return {}; }
  static Outcome failed(std::string difference) {
    return {Kind::Failed, std::move(difference), ""};
  }
  static Outcome refused(std::string error) { return {Kind::Refused, std::move(error), ""}; }
  static Outcome skipped(std::string reason, std::string detail = "") {
    return {Kind::Skipped, std::move(reason), std::move(detail)};
  }
  static Outcome of(Difference difference) {
    return difference ? failed(*std::move(difference)) : passed();
  }
};

// Thrown while a case is read when it needs what Switchboard does not have: the case is skipped.
// `detail` is as in Outcome.
class Unsupported : public std::runtime_error {
 public:
  explicit Unsupported(const std::string& reason, std::string detail = "")
      : std::runtime_error(reason), detail_(std::move(detail)) {}
  const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

// Thrown while a case is read that does not follow the format: the case fails.
class MalformedCase : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_OUTCOME_H_
