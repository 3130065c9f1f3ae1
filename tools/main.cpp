// `tarry`: what a user asks the installation, not a program. One function per subcommand.
#include <cstdlib>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tarry/tarry.h>

#include "tools/warm.h"

namespace {

/// describe_system() has a line "fact: text" per fact; as JSON each is one member.
nlohmann::ordered_json as_json(std::string_view facts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  while (!facts.empty()) {
    const std::string_view line = facts.substr(0, facts.find('\n'));
    facts.remove_prefix(std::min(line.size() + 1, facts.size()));
    if (const std::size_t colon = line.find(": "); colon != std::string_view::npos) {
      json[std::string(line.substr(0, colon))] = line.substr(colon + 2);
    }
  }
  return json;
}

void info(bool json) {
  const std::string facts = tarry::describe_system();
  fmt::print("{}", json ? as_json(facts).dump(2) + "\n" : facts);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tarry's command line tool.", "tarry");
  app.require_subcommand(1);
  CLI::App* info_command = app.add_subcommand("info", "Devices, compilers and kernel cache; why something is missing");
  bool json = false;
  info_command->add_flag("--json", json, "Print one JSON object");
  int status = EXIT_SUCCESS;
  tarry::tools::add_warm(app, status);
  try {
    app.parse(argc, argv);
    if (info_command->parsed()) info(json);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarry: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return status;
}
