// Text from elsewhere as it is shown.
#include "support/printable.h"

#include "tests/helpers/test.h"

using tarry::support::printable;

TEST_CASE("printable: text stays, control characters and what is no UTF-8 become escapes", "[support]") {
  CHECK(printable("a.cpp:7 m\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "a.cpp:7 m\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(printable("m\xfcller.cpp") == "m\\xfcller.cpp");
  CHECK(printable("\x1b[2J\x07\x7f\n") == "\\x1b[2J\\x07\\x7f\\x0a");
  CHECK(printable("a\nb\tc\r", "\n\t") == "a\nb\tc\\x0d");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // the CSI of 8-bit terminals
  CHECK(printable("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80") ==
        "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80");  // overlong, a surrogate, beyond all
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");
  CHECK(printable(std::string("\0", 1)) == "\\x00");
}

TEST_CASE("printable: what it gives it leaves as it is", "[support]") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(printable(printable(all)) == printable(all));
}
