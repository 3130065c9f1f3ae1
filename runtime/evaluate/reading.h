// Reading: borrowed memory that is being read.
#pragma once

#include "graph/storage.h"

namespace tarry::runtime {

/// Keeps touch() of other threads away from memory while it is read, and refuses it to this one.
class Reading {
 public:
  explicit Reading(graph::Storage& s);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  /// Whether this thread is reading `s`.
  static bool is_here(const graph::Storage& s) noexcept;

 private:
  graph::Storage& storage_;
  const Reading* const outer_;
};

}  // namespace tarry::runtime
