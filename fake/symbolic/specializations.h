// Several runs of one program, each right for some sizes.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_SPECIALIZATIONS_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_SPECIALIZATIONS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

// Environments for runs of one program: one for each specialisation, in which it is a guard, and a
// last one for all sizes. Throws ValueError for a hint that the predicate does not hold of. As
// `mark_dynamic(..., specialize_on=[...])`.
//
//   const auto envs = specialized_envs(
//       {{"x.size(0)", 8, [](const SymInt& n) { return n == 8; }},
//        {"x.size(0)", 64, [](const SymInt& n) { return n % 64 == 0; }}});
//   for (const auto& env : envs) run(env);
//   const size_t best = *first_accepting(envs, {{"x.size(0)", 128}});  // 1
std::vector<IntrusivePtr<ShapeEnv>> specialized_envs(
    const std::vector<SizeSpecialization>& specializations, ShapeEnvSettings settings = {});

// The first whose guards accept these sizes; nullopt where none does. Throws as
// ShapeEnv::evaluate_guards.
std::optional<size_t> first_accepting(absl::Span<const IntrusivePtr<ShapeEnv>> envs,
                                      absl::Span<const std::pair<std::string, int64_t>> sizes);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_SPECIALIZATIONS_H_
