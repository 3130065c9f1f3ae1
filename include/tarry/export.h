// TARRY_EXPORT marks what the shared library exports; everything else is hidden.
#pragma once

#define TARRY_EXPORT __attribute__((visibility("default")))
