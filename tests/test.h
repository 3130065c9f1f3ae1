// The one file that includes Catch2 (v2 today; v3 is a change of this file).
#pragma once

#include <catch2/catch.hpp>
