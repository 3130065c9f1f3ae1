// The nodes that an evaluate computes: claimed, so that others wait, and settled without anything that could fail.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "graph/node.h"
#include "runtime/evaluate/dispatch.h"

namespace tarry::runtime {

/// The evaluate that a thread waits for. With engine_mutex().
struct Waiting {
  const graph::Node* node = nullptr;
};

/// The roots of one evaluate while it owns them: back to lazy unless they were published or failed. Nothing in it can
/// fail.
class Claim {
 public:
  explicit Claim(Run& run) noexcept;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim();

  void take(graph::Node* n) noexcept;  ///< engine_mutex() held; there is room for it
  /// Applies `change` to every claimed node under the lock, wakes waiters and gives the nodes up.
  template <class Change>
  void settle(Change&& change) noexcept {
    static_assert(noexcept(change(nullptr)));
    {
      const std::lock_guard lock(graph::engine_mutex());
      for (graph::Node* n : nodes_) change(n);
      unlist();
    }
    nodes_.clear();
    wake();
  }
  /// The evaluate of the thread that has claimed `n`; nullptr where none has. engine_mutex() held.
  static const Waiting* holder(const graph::Node* n) noexcept;
  /// A node of an evaluate that reads `s`; nullptr where none does. engine_mutex() held.
  static graph::Node* reader(const graph::Storage& s) noexcept;
  /// In a forked child: what threads claimed that it does not have has failed.
  static void fail_lost() noexcept;

 private:
  void unlist() noexcept;
  static void wake() noexcept;

  Run& run_;
  std::vector<graph::Node*>& nodes_;
  Claim* next_ = nullptr;
  const Waiting& holder_;
};

/// Waits until nobody computes `blocked`, or makes its value where it waits for a call. `lock` is of engine_mutex().
/// Throws where that could never be: what this thread computes needs this call, which a callback makes.
void wait_for(graph::Node* blocked, std::unique_lock<std::mutex>& lock, std::string_view op, Where where);

/// The same until no evaluate and no read uses the borrowed memory of `s`.
void wait_for_readers(const graph::Storage& s, std::unique_lock<std::mutex>& lock, std::string_view op, Where where);

std::shared_ptr<graph::Storage> storage_of(std::shared_ptr<graph::Buffer> buffer, const graph::Dims& strides);
/// Memory for publishing, so that it cannot fail: `value` for the next claimed node.
void add_result(Run& run, const std::shared_ptr<graph::Storage>& value);
/// Roots get their values and let go of what they were computed from. Each has its result.
void publish(Run& run, Claim& claim) noexcept;
/// The roots keep the error. Each has a result.
void fail(Run& run, Claim& claim, const std::exception_ptr& error) noexcept;

}  // namespace tarry::runtime
