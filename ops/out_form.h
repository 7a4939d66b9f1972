// The out= form of any operator; see define/define.h.

#ifndef SWITCHBOARD_OPS_OUT_FORM_H_
#define SWITCHBOARD_OPS_OUT_FORM_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/ops/define/define.h"

namespace sb {

struct OutFormOptions {
  bool structured = false;
  bool keep_shape = false;
  DispatchKey key = DispatchKey::CompositeExplicitAutograd;
};
inline OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                                      std::string_view overload, std::vector<std::string> outs = {},
                                      OutFormOptions options = {},
                                      SourceLocation where = SourceLocation::current()) {
  OutOptions out = options.structured ? kStructuredOut : kCopiedOut;
  out.keep_shape = options.keep_shape;
  out.key = options.key;
  OpDefinition<void>(m, functional, where).out(overload, std::move(outs), out);
  return functional;
}
inline OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                                      std::string_view overload, std::vector<std::string> outs,
                                      SourceLocation where) {
  return define_out_form(m, functional, overload, std::move(outs), {}, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUT_FORM_H_
