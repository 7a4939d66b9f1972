// What a page holds of the dispatcher: the tables of all operators, as JSON.

#ifndef SWITCHBOARD_TOOLS_PAGE_PAGE_DATA_H_
#define SWITCHBOARD_TOOLS_PAGE_PAGE_DATA_H_

#include <string>

#include "switchboard/dispatch/inspect/table_dump.h"

namespace sb::page {

// An object with
//   keys        {name, group, in_use} of each runtime key, lowest first: the columns
//   rules       the names of the resolution rules
//   names       of the operators, and
//   signatures  what their schemas say after the name: the rows
//   texts       and
//   cells       of each different cell five numbers of texts: its rule, the key that its kernel is
//               from ("" where that is the cell's own), what is there, its place, and the reason;
//               the first cell is none
//   rows        the cells of all rows, one after the other, in base64: pairs of numbers, a cell and
//               how many of it follow each other; seven bits a byte, the low ones first
// It is ASCII without "<", so that it can stand in a script element whatever operators are called.
std::string tables_json(const TableDump& tables);

}  // namespace sb::page

#endif  // SWITCHBOARD_TOOLS_PAGE_PAGE_DATA_H_
