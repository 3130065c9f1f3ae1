// One row per mistake or failure: a call that must throw, and what its message says.
#pragma once

#include <tarry/tarry.h>

#include <concepts>
#include <functional>
#include <source_location>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "support/check.h"

namespace tarry::test {

struct ErrorRow {
  std::type_index kind;            ///< class of the exception
  std::string op;                  ///< what Error::op() and the message's tag name; "" where there is none
  std::vector<std::string> parts;  ///< of the message
  std::function<void()> call;
  Where where;       ///< of the row
  bool user = true;  ///< the call is one of the user's, whose place the message ends with
};

/// Rows in the order they were written.
class ErrorRows {
 public:
  using Parts = std::vector<std::string>;
  using Call = std::function<void()>;

  /// A call that is wrong in itself: InvalidArgument or one of its kinds, with op, place and parts.
  template <std::derived_from<InvalidArgument> Kind = InvalidArgument>
  void wrong(std::string op, Parts parts, Call call, Where where = std::source_location::current()) {
    failed<Kind>(std::move(op), std::move(parts), std::move(call), where);
  }
  /// A right call that fails: as wrong(), with another type.
  template <std::derived_from<Error> Kind>
  void failed(std::string op, Parts parts, Call call, Where where = std::source_location::current()) {
    rows_.push_back({typeid(Kind), std::move(op), std::move(parts), std::move(call), where});
  }
  /// Errors found by an evaluate: the message has the places of ops and evaluate.
  template <std::derived_from<Error> Kind>
  void at_evaluate(Parts parts, Call call, Where where = std::source_location::current()) {
    failed<Kind>("evaluate", std::move(parts), std::move(call), where);
  }
  /// Anything else: no call of the user's is known there.
  template <std::derived_from<Error> Kind>
  void inside(Parts parts, Call call, Where where = std::source_location::current()) {
    rows_.push_back({typeid(Kind), "", std::move(parts), std::move(call), where, false});
  }
  [[nodiscard]] const std::vector<ErrorRow>& rows() const { return rows_; }

 private:
  std::vector<ErrorRow> rows_;
};

void add_operation_rows(ErrorRows& rows);    ///< ops, reductions, promotion
void add_shape_rows(ErrorRows& rows);        ///< views, indexing, updates, joining
void add_window_rows(ErrorRows& rows);       ///< products along axes, windows, statistics, grids
void add_order_rows(ErrorRows& rows);        ///< sorting, searching, counting, grouping
void add_loop_rows(ErrorRows& rows);         ///< loops with a body, recurrences
void add_making_rows(ErrorRows& rows);       ///< making arrays, reading values, files
void add_interop_rows(ErrorRows& rows);      ///< memory of other code
void add_environment_rows(ErrorRows& rows);  ///< compilers, memory, devices; and our own bugs

/// Sites that a row reached in a process of its own.
void add_reached(const support::ThrowSite& site);

}  // namespace tarry::test
