// Who is told how far a streamed evaluate is.
#include <tarry/progress.h>

namespace tarry {
inline namespace v0 {
namespace {

thread_local constinit const OnProgress* innermost = nullptr;

}  // namespace

OnProgress::OnProgress(Function function, void* call) noexcept : function_(function), call_(call), outer_(innermost) {
  innermost = this;
}

OnProgress::~OnProgress() { innermost = outer_; }

void OnProgress::report(const Progress& progress) {
  if (innermost != nullptr) innermost->function_(innermost->call_, progress);
}

}  // namespace v0
}  // namespace tarry
