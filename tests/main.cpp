// Catch2's main.
#define CATCH_CONFIG_MAIN
#include "tests/test.h"
