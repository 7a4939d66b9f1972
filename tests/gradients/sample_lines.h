// Samples that are written by hand, by family.

#ifndef SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_LINES_H_
#define SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_LINES_H_

#include <string>
#include <vector>

namespace sb::test {

std::vector<std::string> elementwise_samples();
std::vector<std::string> linalg_samples();
std::vector<std::string> networks_samples();
std::vector<std::string> shapes_samples();

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_GRADIENTS_SAMPLE_LINES_H_
