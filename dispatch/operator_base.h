// What an operator does under modes, transforms and the Python dispatcher.

#ifndef SWITCHBOARD_DISPATCH_OPERATOR_BASE_H_
#define SWITCHBOARD_DISPATCH_OPERATOR_BASE_H_

namespace sb {

class OperatorBase {
 public:
  void clear() {}
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OPERATOR_BASE_H_
