// find_nearest: one pass over all entries, comparing sorted hashes of their lines.
#include "cache/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_set>

#include "cache/kernel_key.h"
#include "support/hash.h"

namespace tarry::cache {

namespace {

using Lines = std::vector<std::uint64_t>;  // hashes, sorted

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) lines.push_back(support::checksum_bytes(take_line(text)).lo);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Part of the lines that both have: 1 where all do.
double likeness(const Lines& a, const Lines& b) {
  std::size_t shared = 0;
  for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
    if (*i == *k) ++shared;
    const bool step_a = *i <= *k, step_b = *k <= *i;
    i += step_a ? 1 : 0;
    k += step_b ? 1 : 0;
  }
  const std::size_t most = std::max(a.size(), b.size());
  return most == 0 ? 1 : static_cast<double>(shared) / static_cast<double>(most);
}

/// The part of `text` that fits a line.
std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 100;
  return std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

Difference first_line_that_differs(std::string_view wanted, std::string_view found) {
  for (;;) {
    const bool ended = wanted.empty() || found.empty();
    const std::string_view a = take_line(wanted), b = take_line(found);
    if (ended || a != b) return {"text", shortened(a), shortened(b)};
  }
}

/// The words of `text` that are not in `other`.
std::string words_beyond(std::string_view text, std::string_view other) {
  std::multiset<std::string_view> known;
  const auto each_word = [](std::string_view rest, const auto& visit) {
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      visit(word);
    }
  };
  each_word(other, [&](std::string_view word) { known.insert(word); });
  std::string beyond;
  each_word(text, [&](std::string_view word) {
    if (const auto found = known.find(word); found != known.end()) {
      known.erase(found);
    } else {
      beyond += beyond.empty() ? "" : " ";
      beyond += word;
    }
  });
  return beyond;
}

/// "target is sm_80, not sm_90": the entry's side first.
std::string clause(const Difference& d) {
  if (d.component == "text") return fmt::format("text has the line \"{}\", not \"{}\"", d.found, d.wanted);
  if (d.component != "options") return fmt::format("{} is {}, not {}", d.component, d.found, d.wanted);
  if (d.found.empty()) return fmt::format("options lack {}", d.wanted);
  return d.wanted.empty() ? fmt::format("options have {} too", d.found)
                          : fmt::format("options have {}, not {}", d.found, d.wanted);
}

int differing_fields(const KeyFields& a, const KeyFields& b) {
  return (a.format != b.format) + (a.target != b.target) + (a.mode != b.mode) + (a.options != b.options);
}

KeyFields fields_of(const Subject& subject) { return parse_material(subject.material).value_or(KeyFields{}); }

/// The symbol without the hash it ends in: operations, dtype and schedule.
std::string_view base_name(std::string_view symbol) {
  constexpr std::size_t kDigits = 8;
  const std::size_t at = symbol.rfind('_');
  const bool is_hash = at != std::string_view::npos && symbol.size() == at + 1 + kDigits &&
                       symbol.find_first_not_of("0123456789abcdef", at + 1) == std::string_view::npos;
  return is_hash ? symbol.substr(0, at) : symbol;
}

/// The text as it would be if its hash were not in its symbol.
std::string plain_text(std::string_view text, const std::string& symbol) {
  std::string plain;
  for (;;) {
    const std::size_t at = symbol.empty() ? std::string_view::npos : text.find(symbol);
    plain += text.substr(0, at);
    if (at == std::string_view::npos) return plain;
    plain += base_name(symbol);
    text.remove_prefix(at + symbol.size());
  }
}

/// The entry that is looked for, and the best one so far.
struct Search {
  const Subject* wanted;
  KeyFields fields;
  Lines lines;
  double distance = std::numeric_limits<double>::infinity();
  std::string best_material = {}, best_name = {}, best_place = {};

  void consider(const Entry& entry, const KeyFields& other, const Lines& other_lines, const std::string& place) {
    constexpr double kFieldWeight = 1e-3;  // decides between equal texts
    const double name = base_name(wanted->name) == base_name(entry.name) ? 0 : 1;
    const double d = name + 1 - likeness(lines, other_lines) + kFieldWeight * differing_fields(fields, other);
    if (d > distance || (d == distance && entry.material >= best_material)) return;
    distance = d;
    best_material = entry.material;
    best_name = entry.name;
    best_place = place;
  }
};

}  // namespace

std::vector<Difference> compare(const Subject& wanted, const Subject& found) {
  const KeyFields a = fields_of(wanted), b = fields_of(found);
  std::vector<Difference> differences;
  const auto check = [&](const char* component, std::string_view x, std::string_view y) {
    if (x != y) differences.push_back({component, std::string(x), std::string(y)});
  };
  check("format", a.format, b.format);
  check("target", a.target, b.target);
  check("mode", a.mode, b.mode);
  if (a.options != b.options) {
    differences.push_back({"options", words_beyond(a.options, b.options), words_beyond(b.options, a.options)});
  }
  if (a.text == b.text) return differences;
  const std::string plain_a = plain_text(a.text, wanted.name), plain_b = plain_text(b.text, found.name);
  differences.push_back(plain_a == plain_b ? first_line_that_differs(a.text, b.text)
                                           : first_line_that_differs(plain_a, plain_b));
  return differences;
}

std::vector<std::optional<Nearest>> find_nearest(std::span<const Subject> wanted, std::span<Layer* const> layers) {
  std::vector<Search> searches;
  std::unordered_set<std::string_view> excluded;
  for (const Subject& w : wanted) {
    const KeyFields fields = fields_of(w);
    searches.push_back({&w, fields, lines_of(plain_text(fields.text, w.name))});
    excluded.insert(w.material);
  }
  for (Layer* layer : layers) {
    layer->visit([&](const Found& found) {
      const auto fields = found.entry != nullptr ? parse_material(found.entry->material) : std::nullopt;
      if (!fields || excluded.contains(found.entry->material)) return;
      const Lines lines = lines_of(plain_text(fields->text, found.entry->name));
      for (Search& s : searches) s.consider(*found.entry, *fields, lines, layer->path().string());
    });
  }
  std::vector<std::optional<Nearest>> result;
  for (const Search& s : searches) {
    if (s.best_material.empty()) {
      result.emplace_back();
    } else {
      result.push_back(Nearest{s.best_name, support::hash_bytes(s.best_material).hex(), s.best_place,
                               compare(*s.wanted, {s.best_material, s.best_name})});
    }
  }
  return result;
}

std::string describe(const std::optional<Nearest>& nearest) {
  if (!nearest) return "there is no entry to compare it with";
  std::string text = fmt::format("the nearest entry is {} (key {} in {})", nearest->name, nearest->key, nearest->place);
  const char* separator = ", whose ";
  for (const Difference& d : nearest->differences) {
    text += separator + clause(d);
    separator = "; ";
  }
  return text;
}

}  // namespace tarry::cache
