// A function that a call borrows.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tarry::support {

template <class Signature>
class FunctionRef;

/// Refers to a callable that outlives it: an argument, never a member. Unlike std::function it needs no memory, so that
/// work which can no longer fail may be handed over.
template <class R, class... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, const F&, Arguments...>)
  FunctionRef(const F& function)  // NOLINT(google-explicit-constructor): arguments convert
      : function_(std::addressof(function)), call_([](const void* f, Arguments... arguments) -> R {
          return (*static_cast<const F*>(f))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const { return call_(function_, std::forward<Arguments>(arguments)...); }

 private:
  const void* function_;
  R (*call_)(const void*, Arguments...);
};

}  // namespace tarry::support
