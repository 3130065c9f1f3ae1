// The part of a random generator that recording and replaying need.
#pragma once

#include <cstdint>

#include <tarry/random.h>

#include "graph/record/record.h"

namespace tarry {
inline namespace v0 {

/// A stream has 2^31 draws; the next ones have another key.
struct detail::Draws {
  static constexpr std::uint64_t kStream = std::uint64_t{1} << 31;

  static graph::Edge key(const random::Generator& g) { return ArrayAccess::edge(g.argument_); }
  /// The number of the next draw. Throws where a function that is recorded would draw the same numbers at every call.
  static graph::Edge number(const random::Generator& g, const char* op, Where where);
  static void take(random::Generator& g) { skip(g, 1); }
  static void skip(random::Generator& g, std::uint64_t count);
  static void renew(random::Generator& g);

  // For functions that are replayed.

  /// A generator that stands for an argument; it has drawn nothing.
  static random::Generator stand_in(graph::Edge key);
  static std::uint64_t drawn(const random::Generator& g) { return g.draws_; }
  static std::uint64_t key_value(const random::Generator& g) { return g.stream_key(); }
  /// True where all of the next draws have one key.
  static bool one_stream(const random::Generator& g, std::uint64_t count) {
    return g.draws_ % kStream + count < kStream;
  }
  /// Throws where the generator stands for an argument, whose key and draws nobody knows.
  static void require_known(const random::Generator& g, const char* op, Where where);
  /// Throws also where a function that is recorded has not made the generator itself.
  static void require_own(const random::Generator& g, const char* op, Where where);
};

}  // namespace v0
}  // namespace tarry
