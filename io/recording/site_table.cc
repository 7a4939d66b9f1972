#include "switchboard/io/recording/site_table.h"

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/computed_table.h"

namespace sb::internal {
namespace {

bool same(const Kernel& a, const Kernel& b) {
  return a.unboxed == b.unboxed && a.boxed == b.boxed && a.state == b.state;
}

// Another thread may have replaced the kernel since the call found it; a typed kernel that can only
// be called boxed has an entry of its own in the table; and a call that names its kernel's key need
// not be at the table's.
void describe(CallSite* site) {
  const OperatorEntry& op = *site->op;
  op.dispatcher().inspect([&] {
    const DispatchKey key = site->keys.highest_key();
    const RegisteredKernel* const registered = op.resolve(key).kernel;
    site->where = "(removed)";
    if (!registered ||
        (registered->fits_schema && !same(registered->function.entries, site->kernel)))
      return;
    site->where = to_string(registered->where);
    site->reason = rule_text(table_row(op, key));
  });
  if (op.dead()) return;
  const FunctionSchema& schema = op.schema();
  site->schema = schema.to_string();
  site->num_arguments = static_cast<uint32_t>(schema.arguments.size());
  site->num_results = static_cast<uint32_t>(schema.returns.size());
  for (uint32_t i = 0; i < site->num_arguments; ++i)
    if (schema.arguments[i].is_write()) site->written.push_back(i);
  site->seeded = op.has_tag(Tag::nondeterministic_seeded);
}

}  // namespace

bool SiteTable::is_of(const CallSite& site, const OperatorEntry& op, DispatchKeySet keys,
                      const Kernel& kernel) {
  return site.op == &op && site.keys == keys && same(site.kernel, kernel) &&
         site.generation == op.generation() &&
         // Another dispatcher may have gone, and one more have its addresses.
         (&op.dispatcher() == &default_dispatcher() || site.name == op.name());
}

CallSite& SiteTable::find_slow(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) {
  CallSite*& known = sites_[{&op, keys.bits()}];
  if (known && is_of(*known, op, keys, kernel)) return *known;
  auto site = std::make_unique<CallSite>();
  site->op = &op;
  site->keys = keys;
  site->kernel = kernel;
  site->generation = op.generation();
  site->name = op.name();
  site->index = static_cast<uint32_t>(all_.size());
  describe(site.get());
  known = all_.emplace_back(std::move(site)).get();
  return *known;
}

}  // namespace sb::internal
