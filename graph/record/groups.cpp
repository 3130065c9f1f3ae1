// A stable sort of the numbers, and a search for where each begins.
#include "graph/record/groups.h"

#include "graph/record/scatter.h"

namespace tarry::graph {

Groups record_groups(std::string_view op, const Edge& numbers, std::int64_t n, Where where) {
  const std::int64_t count = numbers.node()->shape()[0], bounds = n + 1;
  const Edge narrow = record_cast(numbers, dtype_of_numbers(n), where);
  const Edge order = record_index(record_routine(Op::Argsort, op, {&narrow, 1}, Typed(int64, {&count, 1}), {}, where),
                                  count, {}, where);
  const Edge sorted = record_gather(op, narrow, order, 0, where);
  const Edge search[] = {sorted, record_cast(record_numbers({&bounds, 1}, where), narrow.node()->dtype, where)};
  return {order, record_routine(Op::Searchsorted, op, search, Typed(int64, {&bounds, 1}), {}, where)};
}

}  // namespace tarry::graph
