// How far an evaluate is that works its operands off in chunks.
#pragma once

#include <tarry/export.h>

#include <cstdint>

namespace tarry {
inline namespace v0 {

/// How far an evaluate is.
struct Progress {
  std::int64_t chunks_done = 0, chunks = 0;
  std::int64_t bytes = 0;  ///< of operands and results along the chunks so far
};

/// While it lives, every evaluate and save_npy of this thread that streams calls `call(progress)` after each chunk, and
/// a while_loop over a whole array when it has looked at its condition: its rounds are the chunks, of at most its
/// limit. An exception of the call ends the evaluate, whose arrays stay lazy, or the loop. `call` is an object that
/// outlives this one; the innermost counts.
///
///     auto bar = [](const ta::Progress& p) { std::cerr << '\r' << 100 * p.chunks_done / p.chunks << " %"; };
///     ta::OnProgress shown(bar);
///
/// Example: `auto tick = [](const ta::Progress&) {}; ta::OnProgress shown(tick)`.
class TARRY_EXPORT OnProgress {
 public:
  template <class Call>
  [[nodiscard]] explicit OnProgress(Call& call) noexcept
      : OnProgress([](void* c, const Progress& p) { (*static_cast<Call*>(c))(p); }, &call) {}
  ~OnProgress();
  OnProgress(const OnProgress&) = delete;
  OnProgress& operator=(const OnProgress&) = delete;

  /// Called by the library, in this thread.
  static void report(const Progress& progress);

 private:
  using Function = void (*)(void*, const Progress&);
  OnProgress(Function function, void* call) noexcept;
  const Function function_;
  void* const call_;
  const OnProgress* const outer_;
};

}  // namespace v0
}  // namespace tarry
