// Text from elsewhere (names of files, logs of compilers, what a file says) as it may be shown: a terminal obeys
// control bytes, and JSON holds UTF-8 alone.
#pragma once

#include <string>
#include <string_view>

namespace tarry::support {

/// `text` with control characters, and bytes that are no UTF-8, as \xNN; those in `kept` stay. Gives text that it
/// leaves as it is.
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace tarry::support
