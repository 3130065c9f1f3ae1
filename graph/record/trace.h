// Tracing: what a thread records for a function that is to be replayed. Stand-ins take the place of its arguments: an
// Input without a value, or a Scalar without a number. What depends on one is marked `traced`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.h"

namespace tarry::graph {

/// Stands for a value like that of `like`: of a Scalar a number, of others an array.
Edge stand_in_for(const Node& like, Where where);
/// Stands for a number that no rewrite may look at.
Edge number_stand_in(Dtype dtype, Where where);

/// This thread records a function while it lives.
class Tracing {
 public:
  /// A number that a draw of a generator takes: what the generator has drawn before the call, and so many more.
  struct Draw {
    Edge number;
    std::uint32_t generator;
    std::uint64_t offset;
  };

  Tracing() noexcept;
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  /// That of this thread, or nullptr.
  static Tracing* here() noexcept;

  /// A generator was made in the function, where it gives the same numbers at every call, as it should.
  void made_generator(const Edge& key) { made_.push_back(key); }
  [[nodiscard]] bool has_made(const Node* key) const;
  /// The number of a draw from a generator whose key stands for that of an argument.
  Edge draw(const Node* key, std::uint64_t offset, Where where);

  std::vector<Edge> keys;  ///< of the generators among the arguments
  std::vector<Draw> draws;

 private:
  std::vector<Edge> made_;
};

}  // namespace tarry::graph
