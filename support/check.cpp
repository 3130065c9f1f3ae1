// assertion_failed: turns a broken invariant of ours into InternalError.
#include "support/check.h"

namespace tarry::support {

void assertion_failed(const char* expression, const char* file, int line) {
  TARRY_THROW(InternalError, "", (Where{file, static_cast<std::uint32_t>(line)}),
              std::string("internal check failed: ") + expression +
                  "; this is a bug in Tarry, please report it with the output of TARRY_DUMP=graph,plan,ir");
}

}  // namespace tarry::support
