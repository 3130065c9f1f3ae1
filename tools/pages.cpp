// Completions of the shell, and the manual page: both made from the program's own description of itself.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/commands.h"

namespace tarry::tools {

namespace {

std::vector<const CLI::App*> visible(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
}

std::vector<const CLI::Option*> visible_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* o) { return !o->get_group().empty(); });
}

// ---- completion ----

/// The words that may follow `words` on the command line, one a line.
void print_candidates(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* at = &program;
  for (const std::string& word : words) {
    for (const CLI::App* next : visible(*at)) {
      if (next->get_name() == word) {
        at = next;
        break;
      }
    }
  }
  for (const CLI::App* next : visible(*at)) fmt::print("{}\n", next->get_name());
  for (const CLI::Option* option : visible_options(*at)) {
    for (const std::string& name : option->get_lnames()) fmt::print("--{}\n", name);
  }
}

constexpr std::string_view kBash =
    R"(# bash completion of tarry: asks the program itself, so it knows every command of the one that is installed.
_tarry() {
  local candidates
  candidates=$("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _tarry tarry
)";

// ---- manual ----

/// Text as troff wants it: hyphens and backslashes are commands there, and so is a point in front.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  if (result.starts_with('.') || result.starts_with('\'')) result.insert(0, "\\&");
  return result;
}

void print_options(const CLI::App& command) {
  for (const CLI::Option* option : visible_options(command)) {
    std::string value = option->get_type_name();
    value.resize(std::min(value.find_first_of(": "), value.size()));  // what follows are checks
    if (option->get_positional() || option->get_type_size() == 0) value.clear();
    if (!value.empty()) value.insert(0, 1, ' ');
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    fmt::print(".TP\n.B {}\n{}.\n", escaped(name + value), escaped(option->get_description()));
  }
}

void print_command(const CLI::App& command, const std::string& path) {
  const std::vector<const CLI::App*> below = visible(command);
  fmt::print(".SS {}\n{}.\n", escaped(path), escaped(command.get_description()));
  print_options(command);
  if (const std::string footer = command.get_footer(); !footer.empty())
    fmt::print(".PP\n.nf\n{}\n.fi\n", escaped(footer));
  for (const CLI::App* next : below) print_command(*next, path + " " + next->get_name());
}

constexpr std::string_view kSections = R"(.SH EXIT STATUS
0 where all went well; 1 where it did not, or where
.B cache verify
found damage; above 100 for a command line that is wrong.
.SH ENVIRONMENT
.TP
.B TARRY_CACHE_DIR
The directory that kernels are written to, or
.BR off .
.TP
.B TARRY_CACHE_PATH
Directories and bundles that are only read, separated by colons.
.TP
.B TARRY_CACHE_SIZE
The most that TARRY_CACHE_DIR may hold.
.TP
.B TARRY_CACHE_STRICT
1: kernels that another compiler version made are not used.
.TP
.B TARRY_REQUIRE_CACHED
1: a program fails where it would have to compile a kernel, and says which and why.
.TP
.B TARRY_LOG
.BR info :
a program says when it ends how many kernels it found and how many it compiled.
.SH FILES
.TP
.I $XDG_CACHE_HOME/tarry, ~/.cache/tarry
Compiled kernels, where TARRY_CACHE_DIR names no other directory.
.SH EXAMPLES
.nf
tarry cache export kernels.bundle \-\-target sm_90,x86\-64\-v3
TARRY_CACHE_PATH=/opt/app/kernels.bundle TARRY_REQUIRE_CACHED=1 app
tarry cache verify \-\-at /opt/app/kernels.bundle
tarry cache prune \-\-unused 30 \-\-size 500MB
TARRY_CACHE_PATH=/opt/app/kernels.bundle tarry cache explain
.fi
)";

void print_manual(const CLI::App& program) {
  fmt::print(".TH TARRY 1\n.SH NAME\ntarry \\- machines and kernel caches of the Tarry array library\n");
  fmt::print(".SH SYNOPSIS\n.B tarry\n.I command\n.RI [ options ]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
             escaped(program.get_description()));
  for (const CLI::App* command : visible(program)) print_command(*command, "tarry " + command->get_name());
  fmt::print("{}", kSections);
}

}  // namespace

void add_pages(CLI::App& program) {
  CLI::App* const complete = program.add_subcommand("complete", "What may follow these words; for shells")->group("");
  const auto words = std::make_shared<std::vector<std::string>>();
  complete->add_option("words", *words);
  complete->callback([&program, words] { print_candidates(program, *words); });
  program.add_subcommand("completion", "The completion script of bash")->group("")->callback([] {
    fmt::print("{}", kBash);
  });
  program.add_subcommand("manual", "The manual page")->group("")->callback([&program] { print_manual(program); });
}

}  // namespace tarry::tools
