// What schemas may say, and what tags ask of operators.

#include <string>

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/objects/out_variant.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

// What defining the operator throws, or how its schema prints.
std::string defined(std::string_view schema, TagSet tags = {}) {
  Library m(Library::Kind::Def, "q");
  std::string printed;
  const std::string error =
      error_of([&] { printed = m.define(schema, tags).schema().to_string(); });
  return printed.empty() ? error : printed;
}

SB_QUESTION("Two arguments of an operator have one name. Is that a schema?",
            .pytorch = "Yes; a call that gives the name gets the last of the two.",
            .here = "RuntimeError when it is defined.",
            .better = "A name that means two things is a mistake.") {
  CHECK_THAT(defined("f(Tensor x, Tensor x) -> Tensor"), StartsWith("RuntimeError"));
}

SB_QUESTION("A second star among the arguments?", .pytorch = "It is left out without a word.",
            .here = "RuntimeError.", .better = "What has no meaning is not read over.") {
  CHECK_THAT(defined("f(Tensor x, *, int n, *, int k) -> Tensor"), StartsWith("RuntimeError"));
}

SB_QUESTION(
    "Defaults of another type: `int x=True`, `int n=1.5`, `bool b=1`, `Tensor? t=3`, "
    "`str s=1`?",
    .pytorch =
        "All are taken, and a call without the argument gives the kernel that value "
        "or an error.",
    .here = "RuntimeError for each.", .better = "The mistake is in the schema, and found there.") {
  for (const char* argument : {"int x=True", "int n=1.5", "bool b=1", "Tensor? t=3", "str s=1"}) {
    INFO(argument);
    CHECK_THAT(defined(std::string("f(") + argument + ") -> ()"), StartsWith("RuntimeError"));
  }
}

SB_QUESTION("`int n=0x10`?", .pytorch = "The default is 0.", .here = "RuntimeError.",
            .better = "16 was meant, and 0 would run.") {
  CHECK_THAT(defined("f(int n=0x10) -> ()"), StartsWith("RuntimeError"));
}

SB_QUESTION("A default beyond 64 bits?", .both = "An error, not another number.") {
  CHECK_THAT(defined("f(int n=9223372036854775808) -> ()"), Contains("Error: "));
}

SB_QUESTION("A comment behind the schema?", .pytorch = "It is passed over.",
            .here = "RuntimeError.",
            .better = "Comments are C++'s; in the string a '#' is more likely a slip.") {
  CHECK_THAT(defined("f(Tensor x) -> Tensor # twice"), StartsWith("RuntimeError"));
}

SB_QUESTION("A positional argument without a default behind one that has one?",
            .pytorch = "An internal assertion that asks for a bug report.",
            .here = "RuntimeError that names the argument.",
            .better = "It is the schema that is wrong.") {
  CHECK_THAT(defined("f(int n=1, Tensor x) -> Tensor"), StartsWith("RuntimeError"));
}

SB_QUESTION("Which names may an operator not have?",
            .both =
                "Those that begin with a digit, hold '-', a second '.', or other signs, and the "
                "overload 'default'. self and from are names.") {
  for (const char* name : {"1f", "f-g", "f.g.h", "f.default", "f.", ""}) {
    INFO(name);
    CHECK_THAT(defined(std::string(name) + "(Tensor x) -> Tensor"), Contains("Error: "));
  }
  CHECK(defined("__f__(Tensor self, Tensor from) -> Tensor") ==
        "q::__f__(Tensor self, Tensor from) -> Tensor");
}

SB_QUESTION("A name with letters beyond ASCII?",
            .pytorch = "UnicodeDecodeError, since the message cuts the letter in two.",
            .here = "RuntimeError.", .better = "The error is about the name.") {
  CHECK_THAT(defined("\xC3\xBC(Tensor x) -> Tensor"), StartsWith("RuntimeError"));
}

SB_QUESTION("Only a name, or no result: `f`, `f(Tensor x)`?",
            .both = "An error: a schema says what it returns.") {
  CHECK_THAT(defined("f"), Contains("Error: "));
  CHECK_THAT(defined("f(Tensor x)"), StartsWith("RuntimeError"));
}

SB_QUESTION("A class that nobody registered, as an argument's type?", .pytorch = "An error.",
            .here = "It is taken.",
            .better =
                "Operators and the classes that they take may be defined in any order; a "
                "call with an object of another class is refused.") {
  CHECK(defined("f(__torch__.torch.classes.q.Foo x) -> Tensor") ==
        "q::f(__torch__.torch.classes.q.Foo x) -> Tensor");
}

SB_QUESTION("What does the tag inplace ask of a schema?",
            .both =
                "The first argument is written to, no other is, and it is the one result; "
                "ValueError otherwise.") {
  CHECK(defined("f(Tensor(a!) x) -> Tensor(a!)", Tag::inplace) ==
        "q::f(Tensor(a!) x) -> Tensor(a!)");
  for (const char* schema :
       {"f(Tensor x) -> Tensor", "f(Tensor(a!) x) -> ()", "f(Tensor x, Tensor(a!) y) -> Tensor(a!)",
        "f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)"}) {
    INFO(schema);
    CHECK_THAT(defined(schema, Tag::inplace), StartsWith("ValueError"));
  }
}

SB_QUESTION("And the tag out?",
            .both =
                "What is written to is keyword-only, a Tensor, and returned in order; "
                "ValueError otherwise.") {
  CHECK(defined("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out) ==
        "q::f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  for (const char* schema : {"f(Tensor x) -> Tensor", "f(Tensor x, *, Tensor(a!) out) -> ()",
                             "f(Tensor x, Tensor(a!) out) -> Tensor(a!)",
                             "f(Tensor x, *, Tensor(a!)? out=None) -> Tensor(a!)"}) {
    INFO(schema);
    CHECK_THAT(defined(schema, Tag::out), StartsWith("ValueError"));
  }
}

SB_QUESTION(
    "The kernel of a custom_op that is tagged inplace, or out, returns something else. Is "
    "that seen?",
    .both = "Yes: RuntimeError in the call.") {
  const CustomOp inplace =
      custom_op("q::f_", "(Tensor(a!) x) -> Tensor(a!)", [](const Tensor& x) { return clone(x); },
                {.tags = Tag::inplace});
  CHECK_THAT(error_of([&] { inplace(numbers({1})); }), StartsWith("RuntimeError: q::f_"));
  const CustomOp out =
      custom_op("q::g", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
                [](const Tensor& x, const Tensor&) { return clone(x); }, {.tags = Tag::out});
  CHECK_THAT(error_of([&] {
               out.op().call({numbers({1})}, {{"out", numbers({1})}});
             }),
             StartsWith("RuntimeError: q::g"));
}

SB_QUESTION(
    "And that of an operator of a Library, whose schema says that it returns what it "
    "writes to?",
    .pytorch = "It is not: the call gives another tensor.",
    .here = "It is not either, in the call; opcheck finds it.",
    .better =
        "Calls of library operators cost no check; here and there it is what "
        "opcheck is for.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f_(Tensor(a!) x) -> Tensor(a!)", Tag::inplace));
  m.impl("f_", K::CPU, [](const Tensor& x) { return clone(x); });
  const Tensor x = numbers({1});
  CHECK_FALSE(call(op, x).is_same(x));
}

SB_QUESTION("Which operator is the out= form of another one?",
            .both =
                "An overload of its name with the tag out and the same other arguments; one "
                "without the tag is none, and an operator that writes has none to look for.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload f(m.define("f(Tensor x) -> Tensor"));
  m.define("f.untagged(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  CHECK_FALSE(to_out_variant(f).has_value());
  const OpOverload out(m.define("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out));
  CHECK(to_out_variant(f) == out);
  CHECK_THAT(error_of([&] { to_out_variant(out); }), StartsWith("RuntimeError"));
}

}  // namespace
}  // namespace sb::questions
