// Checks of values against the table of switches.
#include "support/switch_check.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "support/env.h"
#include "support/log.h"

namespace tarry::support::env {
namespace {

constexpr std::string_view kPrefix = "TARRY_";

/// Edits that make `b` of `a`: insertions, removals and exchanges of one character.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& all) {
  return *std::ranges::min_element(all, {}, [&](std::string_view other) { return distance(word, other); });
}

/// The printable part of a value, and no more of it than helps.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string plain(text.substr(0, kMost));
  for (char& c : plain)
    if (c < ' ' || c > '~') c = '?';
  return plain + (text.size() > kMost ? "..." : "");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// "a, b, or c": what stands between commas.
std::vector<std::string_view> parts(std::string_view list) {
  std::vector<std::string_view> all;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view part = trimmed(list.substr(0, comma));
    if (part.starts_with("or ")) part.remove_prefix(3);
    if (!part.empty()) all.push_back(part);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return all;
}

const Switch* find_switch(std::string_view name) {
  const auto found = std::ranges::find(switches(), name, [](const Switch& s) { return std::string_view(s.name); });
  return found == switches().end() ? nullptr : &*found;
}

/// "cuda:N" stands for every number.
bool is_choice(std::string_view value, std::string_view choice) {
  if (value == choice) return true;
  if (!choice.ends_with(":N") || !value.starts_with(choice.substr(0, choice.size() - 1))) return false;
  const std::string_view number = value.substr(choice.size() - 1);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> complaint_of_name(std::string_view name) {
  constexpr std::string_view kOfTests[] = {"TARRY_TEST_", "TARRY_FUZZ_", "TARRY_UPDATE_"};
  const auto is_of_tests = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (!name.starts_with(kPrefix) || find_switch(name) || std::ranges::any_of(kOfTests, is_of_tests))
    return std::nullopt;
  std::vector<std::string_view> names;
  for (const Switch& s : switches()) names.emplace_back(s.name);
  return fmt::format("{} is no switch and does nothing; the nearest is {}", shown(name), nearest(name, names));
}

std::vector<std::string> complaints_of_value(std::string_view name, std::string_view value,
                                             std::span<const std::string_view> passes) {
  const Switch* const s = find_switch(name);
  if (!s || value.empty()) return {};
  const std::string_view values = s->values;
  const auto one_of = [&](std::string_view word, std::vector<std::string_view> all) -> std::vector<std::string> {
    if (std::ranges::any_of(all, [&](std::string_view choice) { return is_choice(word, choice); })) return {};
    return {fmt::format("{} does not know \"{}\"; the nearest is {}, and there are {}", name, shown(word),
                        nearest(word, all), fmt::join(all, ", "))};
  };
  const auto unless = [&](bool understood) {
    return understood ? std::vector<std::string>()
                      : std::vector{fmt::format("{} is \"{}\", which is not understood; it may be {}", name,
                                                shown(value), values)};
  };
  constexpr std::string_view kWords = "words: ", kPasses = "names of passes";
  if (values.starts_with(kWords)) {
    std::vector<std::string_view> known;
    for (const std::string_view word : parts(values.substr(kWords.size()))) {
      if (word == kPasses) {
        known.insert(known.end(), passes.begin(), passes.end());
      } else {
        known.push_back(word);
      }
    }
    std::vector<std::string> all;
    for (const std::string_view word : parts(value)) std::ranges::move(one_of(word, known), std::back_inserter(all));
    return all;
  }
  if (values == "0, 1") {
    constexpr std::string_view kOthers[] = {"on", "off", "true", "false", "yes", "no"};
    return std::ranges::find(kOthers, value) != std::end(kOthers) ? std::vector<std::string>()
                                                                  : one_of(value, {"0", "1"});
  }
  if (values.starts_with("bytes")) return unless(bytes(name, 0) == bytes(name, 1));
  if (values == "count") return unless(integer(name, 0) > 0);
  constexpr std::string_view kAnything[] = {"directory", "directories", "file", "path", "program"};
  if (std::ranges::any_of(kAnything, [&](std::string_view kind) { return values.starts_with(kind); })) return {};
  return one_of(value, parts(values));
}

void warn_of_unknown_switches(std::span<const std::string_view> passes) noexcept {
  static std::atomic<std::uint64_t> looked{0};
  const std::uint64_t now = generation() + 1;
  if (looked.exchange(now, std::memory_order_acq_rel) == now) return;
  try {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (const auto complaint = complaint_of_name(text.substr(0, text.find('=')))) log::warn_once(*complaint);
    }
    for (const Switch& s : switches())
      for (const std::string& complaint : complaints_of_value(s.name, get(s.name).value_or(""), passes))
        log::warn_once(complaint);
  } catch (...) {  // no memory for words: work goes on without
  }
}

}  // namespace tarry::support::env
