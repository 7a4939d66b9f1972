// Shows why a call goes where it goes: tables, explanations and traces, as data first and then as
// text. Each header can be included by itself.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_INSPECTOR_H_
#define SWITCHBOARD_DISPATCH_INSPECT_INSPECTOR_H_

#include "switchboard/dispatch/inspect/chrome_trace.h"    // IWYU pragma: export
#include "switchboard/dispatch/inspect/computed_table.h"  // IWYU pragma: export
#include "switchboard/dispatch/inspect/explain.h"         // IWYU pragma: export
#include "switchboard/dispatch/inspect/table_dump.h"      // IWYU pragma: export
#include "switchboard/dispatch/inspect/trace.h"           // IWYU pragma: export

#endif  // SWITCHBOARD_DISPATCH_INSPECT_INSPECTOR_H_
