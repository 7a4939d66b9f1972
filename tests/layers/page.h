// The page docs/layers.md: what an operator of each class does under each layer.

#ifndef SWITCHBOARD_TESTS_LAYERS_PAGE_H_
#define SWITCHBOARD_TESTS_LAYERS_PAGE_H_

#include <string>
#include <vector>

namespace sb::layers {

struct Page {
  std::string text;
  // What is neither the same nor refused with the operator and the layer: "view under trace: ...".
  std::vector<std::string> broken;
};

// Runs the program of every class under every layer, and under some stacks of them.
Page make_page();

}  // namespace sb::layers

#endif  // SWITCHBOARD_TESTS_LAYERS_PAGE_H_
