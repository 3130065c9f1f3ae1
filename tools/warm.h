// `tarry warm`.
#pragma once

#include <CLI/CLI.hpp>

namespace tarry::tools {

/// Adds the subcommand. Where it ran, `status` becomes the exit status.
void add_warm(CLI::App& app, int& status);

}  // namespace tarry::tools
