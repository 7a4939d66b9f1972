// Loads a plugin and calls what it registered.

#include <iostream>

#include "switchboard/dispatch/objects/op_namespace.h"

int main(int, char** argv) {
  // doc: begin
  const std::string program = argv[0];
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  sb::ops.load_library(folder + "libtriple_plugin.so");
  std::cout << sb::ops["plug"]["triple"](14)[0].to_int() << "\n";
  // doc: end
}
