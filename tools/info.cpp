// `tarry info`: devices, compilers and kernel cache of this machine.
#include <fmt/format.h>
#include <tarry/tarry.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {

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

}  // namespace

void add_info(CLI::App& program) {
  CLI::App* const command =
      program.add_subcommand("info", "Devices, compilers and kernel cache; why something is missing");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object");
  command->callback([json] {
    const std::string facts = describe_system();
    say("{}", *json ? text_of(as_json(facts)) + "\n" : wrapped(facts));
  });
}

}  // namespace tarry::tools
