// A plugin that needs a function that no program has.

void function_that_does_not_exist();

namespace {
const int value = (function_that_does_not_exist(), 0);
}

int* address_of_value() { return const_cast<int*>(&value); }
