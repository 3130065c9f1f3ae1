// The body of a loop as a graph, and its copies with other values: for bodies that are more than elementwise.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// A loop whose body this thread is recording, inside of those that it has opened before.
class OpenLoop {
 public:
  explicit OpenLoop(const Node* level) noexcept;
  ~OpenLoop();
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  /// True while this thread records a body.
  [[nodiscard]] static bool is_recording() noexcept;

 private:
  friend class Body;
  const Node* const level_;
  const OpenLoop* const outside_;
};

/// The operations that a body has recorded between LoopCarrys and LoopElements of its level, and what it returns.
class Body {
 public:
  Body(const Node* level, std::span<const Edge> results);

  /// The first operation that is not elementwise, nor a broadcast; null where there is none.
  [[nodiscard]] const Node* mixing() const { return mixing_; }
  /// True if a value of a level of an open loop is read.
  [[nodiscard]] bool reads_outside() const { return reads_outside_; }
  /// True if a value of a level of a loop that is over is read.
  [[nodiscard]] bool reads_lost() const { return reads_lost_; }
  /// Its operations and what it was given, inputs before their readers.
  [[nodiscard]] const std::vector<const Node*>& order() const { return order_; }
  [[nodiscard]] const std::vector<Edge>& results() const { return results_; }
  /// True if n has another value at each level of this loop, or is part of a loop inside whose result has.
  [[nodiscard]] bool varies(const Node* n) const {
    const auto found = kinds_.find(n);
    return found != kinds_.end() && found->second.copied;
  }
  /// True for what the body was given.
  [[nodiscard]] bool is_given(const Node& n) const;
  /// Relaxed where all elementwise operations are, and there are some.
  [[nodiscard]] Mode mode() const;
  /// The results where `values[i]` stands for `given[i]`.
  [[nodiscard]] std::vector<Edge> with(std::span<const Edge> given, std::span<const Edge> values) const;

 private:
  struct Kind {
    bool depends = false;  ///< on a value of the level
    bool outside = false;  ///< on a value of an open loop
    bool copied = false;   ///< depends, or is part of a loop whose result does
  };
  /// Stands for a node.
  struct Copy {
    Edge edge;
    bool is_node;  ///< it is made as the node is, and not a value from elsewhere
    bool outside;
    [[nodiscard]] Edge at(std::uint32_t output) const { return is_node ? output_of(edge, output) : edge; }
  };
  void reach(const Node* root);
  void classify();
  void find_copied();
  [[nodiscard]] Copy copy(const Node& n, const std::unordered_map<const Node*, Copy>& made) const;

  const Node* const level_;
  const std::vector<Edge> results_;
  std::vector<const Node*> order_;  ///< that have a value at each level, inputs before their readers
  std::unordered_map<const Node*, Kind> kinds_;
  const Node* mixing_ = nullptr;
  bool reads_outside_ = false, reads_lost_ = false;
};

}  // namespace tarry::graph
