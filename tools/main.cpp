// `tarry`: what a user asks the installation, not a program. A file per subcommand; this one wires them.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string_view>

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
  constexpr int kUsage = 2;  // what shells and other tools give for a call that is not understood
  program.failure_message([&](const CLI::App* app, const CLI::Error& error) {
    const std::string_view first = argc > 1 ? argv[1] : "-";
    const bool unknown = !first.starts_with('-') && app->get_subcommands().empty();
    return fmt::format("tarry: {}\n\n{}", unknown ? fmt::format("there is no command \"{}\"", first) : error.what(),
                       app->help());
  });
  try {
    program.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {  // what a command found is its own status
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == EXIT_SUCCESS ? EXIT_SUCCESS : kUsage;
  } catch (const std::exception& error) {
    tarry::tools::say(stderr, "tarry: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
