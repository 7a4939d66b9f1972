// Why a call goes where it goes: tables, explanations and traces, as data first and then as text.
// Each header can be included by itself.

#ifndef SWITCHBOARD_DISPATCH_INSPECTOR_H_
#define SWITCHBOARD_DISPATCH_INSPECTOR_H_

#include "switchboard/dispatch/chrome_trace.h"    // IWYU pragma: export
#include "switchboard/dispatch/computed_table.h"  // IWYU pragma: export
#include "switchboard/dispatch/explain.h"         // IWYU pragma: export
#include "switchboard/dispatch/table_dump.h"      // IWYU pragma: export
#include "switchboard/dispatch/trace.h"           // IWYU pragma: export

#endif  // SWITCHBOARD_DISPATCH_INSPECTOR_H_
