// The subcommands of `tarry`. Each add_... adds one, which runs while the command line is parsed.
#pragma once

#include <CLI/CLI.hpp>

namespace tarry::tools {

void add_info(CLI::App& program);
void add_cache(CLI::App& program);
void add_warm(CLI::App& program);
void add_pages(CLI::App& program);  ///< what completion and the manual page are made of

/// Ends the program with status 1 where the command itself has said what is wrong.
[[noreturn]] inline void fail() { throw CLI::RuntimeError(1); }

}  // namespace tarry::tools
