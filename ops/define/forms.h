// The schemas of an operator's in-place and out= forms, derived at compile time from its own:
//
//   SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
//   SB_OP(add_, inplace_of(add));
//       // aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
//   SB_OP(add_out, out_of(add, "out"));
//       // aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) ->
//       Tensor(a!)
//   SB_OP(sort_out, out_of(sort, "values", {"values", "indices"}));
//
// The overload name of the out= form is irregular in ATen ("out", "Tensor_out", "dim_max"), so it
// is given. Forms with other arguments than these are written out.

#ifndef SWITCHBOARD_OPS_DEFINE_FORMS_H_
#define SWITCHBOARD_OPS_DEFINE_FORMS_H_

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The schema of the form `Form` of the operator `Of`.
template <class Form, class Of>
struct DerivedSchema {
  using Key = internal::FormKey<Form, Of>;
  // Schemas of ATen have fewer characters than this.
  std::array<char, 512> text{};
  size_t length = 0;

  consteval void append(std::string_view part) {
    for (char c : part) text.at(length++) = c;
  }
  // "Tensor(a!)", "Tensor(b!)", ...
  consteval void append_written_tensor(size_t i) {
    append("Tensor(");
    text.at(length++) = static_cast<char>('a' + i);
    append("!)");
  }
};

// `self`, the first argument, is written to and returned.
template <class Tag>
consteval DerivedSchema<InplaceForm, Tag> inplace_of(const Op<Tag>&) {
  const std::string_view schema = Tag::schema;
  const size_t open = schema.find('(');
  const size_t dot = schema.substr(0, open).find('.');
  const size_t name = dot < open ? dot : open;
  if (!schema.substr(open).starts_with("(Tensor self")) throw "the first argument is not self";
  if (!schema.ends_with(") -> Tensor")) throw "expected an operator that returns one Tensor";
  DerivedSchema<InplaceForm, Tag> form;
  form.append(schema.substr(0, name));
  form.append("_");
  form.append(schema.substr(name, open - name));
  form.append("(Tensor(a!)");
  form.append(schema.substr(open + 7));
  form.append("(a!)");
  return form;
}

// Keyword-only last arguments of the given names, one for each Tensor that the operator returns,
// are written to and returned. Results keep their own names.
template <class Tag>
consteval DerivedSchema<OutForm, Tag> out_of(const Op<Tag>&, std::string_view overload,
                                             std::initializer_list<std::string_view> outs = {
                                                 "out"}) {
  const std::string_view schema = Tag::schema;
  const size_t open = schema.find('('), close = schema.rfind(") -> ");
  const std::string_view full_name = schema.substr(0, open);
  const std::string_view arguments = schema.substr(open + 1, close - open - 1);
  DerivedSchema<OutForm, Tag> form;
  form.append(full_name.substr(0, full_name.find('.')));
  form.append(".");
  form.append(overload);
  form.append("(");
  form.append(arguments);
  if (arguments.find("*, ") == std::string_view::npos) form.append(arguments.empty() ? "*" : ", *");
  size_t i = 0;
  for (std::string_view out : outs) {
    form.append(", ");
    form.append_written_tensor(i++);
    form.append(" ");
    form.append(out);
  }
  form.append(") -> ");
  std::string_view results = schema.substr(close + 5);
  for (i = 0; i < outs.size(); ++i) {
    const size_t at = results.find("Tensor");
    if (at == std::string_view::npos) throw "expected as many results as outs";
    form.append(results.substr(0, at));
    form.append_written_tensor(i);
    results.remove_prefix(at + 6);
  }
  if (results.find("Tensor") != std::string_view::npos) throw "expected as many outs as results";
  form.append(results);
  return form;
}

// An out= form with a schema of its own.
template <class Tag>
consteval DerivedSchema<OutForm, Tag> out_form(const Op<Tag>&, std::string_view schema) {
  DerivedSchema<OutForm, Tag> form;
  form.append(schema);
  return form;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_FORMS_H_
