// `tarry`: what a user asks the installation, not a program. A file per subcommand; this one wires them.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "tools/commands.h"
#include "tools/output.h"

int main(int argc, char** argv) {
  CLI::App program("Lazy arrays that run as fused kernels: the tool for machines and kernel caches.", "tarry");
  program.set_version_flag("--version", TARRY_VERSION);
  program.require_subcommand(1);
  tarry::tools::add_info(program);
  tarry::tools::add_warm(program);
  tarry::tools::add_cache(program);
  tarry::tools::add_pages(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    tarry::tools::say(stderr, "tarry: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
