// Snapshots to JSON lines and back. The one file of the library that knows nlohmann-json.
#include "runtime/warm/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_set>
#include <utility>

#include "graph/record/recorded.h"
#include "runtime/warm/manifest_limits.h"
#include "support/check.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/printable.h"

namespace tarry::runtime {
namespace {

using Json = nlohmann::ordered_json;
using graph::Dims;
using graph::Graph;
using graph::GraphEdge;
using graph::GraphNode;
using graph::OpClass;

constexpr const char* kVersionKey = "tarry_manifest";
constexpr std::string_view kIdPrefix = R"({"id":")";
constexpr std::size_t kIdDigits = 32;
constexpr const char* kScalarClasses[] = {"other", "zero", "negative zero", "one"};  // by graph::ScalarClass

// To JSON, as text: a value of nlohmann-json that holds others allocates when it is destroyed, which ends a process
// that is out of memory.

/// Names may have any bytes, JSON only some.
std::string base_name(const char* file) { return support::printable(std::filesystem::path(file).filename().string()); }

std::string json_string(std::string_view text) { return Json(text).dump(); }

template <class Range, class Text>
std::string list_of_texts(const Range& range, Text&& text_of) {
  std::string text = "[";
  for (const auto& one : range) {
    if (text.size() > 1) text += ',';
    text += text_of(one);
  }
  return text += ']';
}

std::string text_of(const Dims& dims) {
  return list_of_texts(dims.span(), [](std::int64_t n) { return std::to_string(n); });
}

std::string text_of(const GraphEdge& e) {
  return e.output == 0 ? std::to_string(e.node) : fmt::format("[{},{}]", e.node, e.output);
}

std::string text_of(const graph::IndexMap& map) {
  std::string text = "[";
  for (int d = 0; d < map.size; ++d)
    text += fmt::format("{}[{},{},{}]", d > 0 ? "," : "", map[d].axis, map[d].start, map[d].step);
  return text += ']';
}

std::string payload_of(const Graph& g, const GraphNode& n) {
  switch (graph::info(n.op).op_class) {
    case OpClass::Leaf: return fmt::format(R"(,"leaf":{})", n.payload);
    case OpClass::Scalar:
      return fmt::format(R"(,"value":"{}")", kScalarClasses[static_cast<int>(g.scalars[n.payload].known)]);
    case OpClass::Iota:
    case OpClass::Gather: return fmt::format(R"(,"axis":{})", static_cast<std::int32_t>(n.payload));
    case OpClass::Loop:
      return graph::has_axis(n.op) ? fmt::format(R"(,"axis":{})", static_cast<std::int32_t>(n.payload)) : "";
    case OpClass::Routine: return n.payload == 0 ? "" : fmt::format(R"(,"way":{})", n.payload);
    case OpClass::View: return fmt::format(R"(,"map":{})", text_of(g.views[n.payload]));
    case OpClass::Update:
      return fmt::format(R"(,"start":{},"step":{})", text_of(g.updates[n.payload].start),
                         text_of(g.updates[n.payload].step));
    case OpClass::Reduce:
    case OpClass::Scan: {
      const std::string axis = fmt::format(R"(,"axis":{})", g.reduces[n.payload].axis);
      return n.op == graph::Op::MomentsMerge ? fmt::format(R"({},"weight":{})", axis, g.reduces[n.payload].weight)
                                             : axis;
    }
    case OpClass::Reshape:
    case OpClass::Map:
    case OpClass::Library:
    case OpClass::Composite: break;
  }
  return {};
}

std::string text_of(const Graph& g, const GraphNode& n) {
  std::string text = fmt::format(R"({{"op":{},"dtype":{},"shape":{})", json_string(graph::name(n.op)),
                                 json_string(name(n.dtype)), text_of(g.shapes[n.shape]));
  if (n.n_inputs > 0)
    text += fmt::format(R"(,"in":{})", list_of_texts(std::span(n.inputs).first(n.n_inputs),
                                                     [](const GraphEdge& e) { return text_of(e); }));
  text += payload_of(g, n);
  if (n.mode == graph::Mode::Relaxed) text += R"(,"mode":"relaxed")";
  if (n.file) text += fmt::format(R"(,"at":{})", json_string(fmt::format("{}:{}", base_name(n.file), n.line)));
  return text += '}';
}

std::string text_of(const graph::LeafLayout& layout, const LeafMemory& memory) {
  std::string text = fmt::format(R"({{"from":"{}")", memory.computed ? "evaluate" : "user");
  if (!memory.pooled) text += R"(,"memory":"foreign")";
  if (!memory.on_device) text += R"(,"elsewhere":true)";
  if (layout.offset != 0) text += fmt::format(R"(,"offset":{})", layout.offset);
  if (!layout.contiguous) text += fmt::format(R"(,"strides":{})", text_of(layout.strides));
  if (layout.donated) text += R"(,"donated":true)";
  if (layout.any_byte) text += R"(,"any_byte":true)";
  return text += '}';
}

/// The id of a line whose other members are `content`.
std::string id_of(const std::string& content) { return support::checksum_bytes(content).hex(); }

/// Words that leave the kernels as they are.
bool shapes_plans(std::string_view word) { return word != "plan_cache" && word != "compile"; }

// From JSON. Whatever is missing or of another kind throws Json::exception; what would break a rule of Graph, Broken.

struct Broken : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Every number of a manifest is whole. Json::get() would convert any other, whatever becomes of it.
template <class T>
T number_of(const Json& json) {
  if (json.is_number_unsigned() && std::in_range<T>(json.get<std::uint64_t>()))
    return static_cast<T>(json.get<std::uint64_t>());
  if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<T>(json.get<std::int64_t>()))
    return static_cast<T>(json.get<std::int64_t>());
  throw Broken("not an integer in range: " + json.dump());
}
template <class T>
T number_of(const Json& json, const char* key, T otherwise) {
  return json.contains(key) ? number_of<T>(json[key]) : otherwise;
}

/// The elements of an array of at most `most`.
const Json& list_of(const Json& json, std::size_t most) {
  if (!json.is_array() || json.size() > most) throw Broken("not an array of as many as there may be");
  return json;
}

Dims dims_of(const Json& json) {
  Dims dims;
  for (const Json& value : list_of(json, graph::kMaxRank)) dims.push_back(number_of<std::int64_t>(value));
  return dims;
}

Dims shape_of(const Json& json) {
  const Dims shape = dims_of(json);
  std::int64_t count = 1;
  for (std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, std::max<std::int64_t>(extent, 1), &count))
      throw Broken("a shape that no array has");
  return shape;
}

GraphEdge edge_of(const Json& json) {
  if (json.is_array()) return {number_of<graph::NodeId>(json.at(0)), number_of<std::uint32_t>(json.at(1))};
  return {number_of<graph::NodeId>(json), 0};
}

DeviceKind device_kind_of(const Json& json) {
  if (json == "cuda") return DeviceKind::Cuda;
  if (json == "cpu") return DeviceKind::Cpu;
  throw Broken("there is no such device");
}

graph::Op op_of(const std::string& op) {
  for (const graph::OpInfo& row : graph::kOpTable)
    if (op == row.name && row.op_class != OpClass::Composite) return row.op;
  throw Broken("there is no op " + op);
}

Dtype dtype_of_name(const std::string& dtype) {
  for (int d = 0; d < kDtypeCount; ++d)
    if (dtype == kDtypeTable[d].name) return static_cast<Dtype>(d);
  throw Broken("there is no dtype " + dtype);
}

graph::ScalarClass class_of(const std::string& text) {
  const auto* const found = std::find(std::begin(kScalarClasses), std::end(kScalarClasses), text);
  if (found == std::end(kScalarClasses)) throw Broken("there is no class of scalars " + text);
  return static_cast<graph::ScalarClass>(found - std::begin(kScalarClasses));
}

template <class T>
std::uint32_t add(std::vector<T>& table, T value) {
  table.push_back(std::move(value));
  return static_cast<std::uint32_t>(table.size() - 1);
}

graph::IndexMap map_of(const Json& json) {
  graph::IndexMap map;
  for (const Json& d : list_of(json, graph::kMaxRank))
    map.push_back(
        {number_of<std::int32_t>(d.at(0)), number_of<std::int64_t>(d.at(1)), number_of<std::int64_t>(d.at(2))});
  return map;
}

class Reader {
 public:
  explicit Reader(Recorded& out) : out_(out), g_(out.graph) {}

  void read(const Json& json) {
    out_.device = device_kind_of(json.at("device"));
    if (json.contains("disable")) out_.disabled = json["disable"].get<std::vector<std::string>>();
    for (const Json& leaf : json.at("leaves")) add_leaf(leaf);
    for (const Json& node : json.at("nodes")) add_node(node);
    for (const Json& root : json.at("roots")) g_.roots.push_back(edge_of(root));
    if (const std::string why = graph::why_not_recorded(g_); !why.empty()) throw Broken(why);
  }

 private:
  void add_leaf(const Json& json) {
    LeafMemory memory;
    memory.computed = json.at("from") == "evaluate";
    memory.pooled = json.value("memory", "") != "foreign";
    memory.on_device = !json.value("elsewhere", false);
    graph::LeafLayout layout;
    layout.offset = number_of(json, "offset", std::int64_t{0});
    layout.contiguous = !json.contains("strides");
    if (!layout.contiguous) layout.strides = dims_of(json["strides"]);
    layout.donated = json.value("donated", false);
    layout.any_byte = json.value("any_byte", false);
    out_.leaves.push_back(memory);
    g_.leaves.push_back(layout);
  }

  void add_node(const Json& json) {
    const auto id = static_cast<graph::NodeId>(g_.nodes.size());
    GraphNode n;
    n.op = op_of(json.at("op"));
    n.dtype = dtype_of_name(json.at("dtype"));
    n.mode = json.value("mode", "") == "relaxed" ? graph::Mode::Relaxed : graph::Mode::Strict;
    n.shape = g_.intern(shape_of(json.at("shape")));
    n.origin = id;
    if (json.contains("in"))
      for (const Json& input : list_of(json["in"], graph::Node::kMaxInputs)) n.inputs[n.n_inputs++] = edge_of(input);
    n.payload = payload(json, n);
    if (json.contains("at")) set_place(n, json["at"]);
    g_.nodes.push_back(n);
  }

  std::uint32_t payload(const Json& json, const GraphNode& n) {
    switch (graph::info(n.op).op_class) {
      case OpClass::Leaf: {
        const auto leaf = number_of<std::uint32_t>(json.at("leaf"));
        graph::LeafLayout& layout = g_.leaves.at(leaf);
        if (layout.contiguous) layout.strides = graph::row_major_strides(g_.shapes[n.shape].span());
        return leaf;
      }
      case OpClass::Scalar: {
        graph::ScalarSource source;
        source.dtype = n.dtype;
        source.known = class_of(json.at("value"));
        source.cell = static_cast<std::uint32_t>(g_.scalars.size());
        return add(g_.scalars, source);
      }
      case OpClass::Iota:
      case OpClass::Gather: return static_cast<std::uint32_t>(number_of<std::int32_t>(json.at("axis")));
      case OpClass::Loop:
        return graph::has_axis(n.op) ? static_cast<std::uint32_t>(number_of<std::int32_t>(json.at("axis")))
                                     : graph::kNoId;
      case OpClass::Routine: return number_of(json, "way", std::uint32_t{0});
      case OpClass::View: return add(g_.views, map_of(json.at("map")));
      case OpClass::Update: return add(g_.updates, {dims_of(json.at("start")), dims_of(json.at("step"))});
      case OpClass::Reduce:
      case OpClass::Scan:
        return add(g_.reduces, {number_of<std::int32_t>(json.at("axis")), number_of(json, "weight", std::int64_t{1})});
      default: return n.op == graph::Op::Index ? graph::IndexAttributes{}.payload() : graph::kNoId;
    }
  }

  void set_place(GraphNode& n, const std::string& at) {
    const std::size_t colon = at.rfind(':');
    const char* const end = at.data() + at.size();
    if (colon == std::string::npos || colon + 1 == at.size()) throw Broken("a location without a line");
    const auto [last, error] = std::from_chars(at.data() + colon + 1, end, n.line);
    if (last != end || error != std::errc{}) throw Broken("a location without a line");
    n.file = out_.files.insert(support::printable(at.substr(0, colon))).first->c_str();
  }

  Recorded& out_;
  Graph& g_;
};

[[noreturn]] void refuse(const std::string& location, const std::string& why, Where where) {
  TARRY_THROW(InvalidArgument, "warm", where, fmt::format("{}: {}", location, why));
}

/// nullopt where the line is damaged.
std::optional<Recorded> parse_line(std::string_view line, const std::string& location, Where where) {
  if (const char* limit = passed_limit(line)) refuse(location, limit, where);
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("id")) return std::nullopt;
  Recorded recorded;
  recorded.id = json["id"].is_string() ? json["id"].get<std::string>() : "";
  recorded.location = location;
  json.erase("id");
  if (recorded.id != id_of(json.dump())) return std::nullopt;
  try {
    Reader(recorded).read(json);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {  // whole, but not of our making
    refuse(location, support::printable(e.what()), where);
  }
  return recorded;
}

}  // namespace

std::string manifest_header() { return fmt::format(R"({{"{}":{}}})", kVersionKey, kManifestVersion); }

std::optional<int> manifest_version(std::string_view line) {
  constexpr std::size_t kLongest = 64;
  if (line.size() > kLongest || line.find(kVersionKey) == std::string_view::npos) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains(kVersionKey) || !json[kVersionKey].is_number_integer()) return std::nullopt;
  const auto version = json[kVersionKey].get<std::int64_t>();
  return std::in_range<int>(version) ? static_cast<int>(version) : INT_MAX;
}

std::string manifest_line(const graph::Snapshot& s, Device device, const PlanSwitches& switches) {
  const Graph& g = s.graph;
  std::vector<std::string> disabled;
  for (std::string_view rest = switches.words; !rest.empty(); rest.remove_prefix(rest.find(',') + 1))
    if (const std::string_view word = rest.substr(0, rest.find(',')); shapes_plans(word))
      disabled.push_back(support::printable(word));
  std::string text = fmt::format(R"({{"device":"{}")", device.kind == DeviceKind::Cuda ? "cuda" : "cpu");
  if (!disabled.empty()) text += fmt::format(R"(,"disable":{})", list_of_texts(disabled, json_string));
  text += R"(,"leaves":[)";
  for (std::size_t i = 0; i < g.leaves.size(); ++i) {
    const LeafMemory memory{s.leaf_computed[i], s.leaves[i]->buffer->owner == graph::Owner::Pool,
                            s.leaf_devices[i] == device};
    text += (i > 0 ? "," : "") + text_of(g.leaves[i], memory);
  }
  text += fmt::format(R"(],"nodes":{},"roots":{}}})",
                      list_of_texts(g.nodes, [&](const GraphNode& n) { return text_of(g, n); }),
                      list_of_texts(g.roots, [](const GraphEdge& r) { return text_of(r); }));
  return fmt::format("{}{}\",{}", kIdPrefix, id_of(text), std::string_view(text).substr(1));
}

std::string_view manifest_line_id(std::string_view line) {
  if (!line.starts_with(kIdPrefix) || line.size() < kIdPrefix.size() + kIdDigits) return {};
  return line.substr(kIdPrefix.size(), kIdDigits);
}

std::vector<Recorded> read_manifest(const std::filesystem::path& file, Where where) {
  std::error_code why;
  const std::optional<support::OpenFile> open = support::OpenFile::open(file, &why);
  if (open && open->size() > kMaxManifestBytes) refuse(file.string(), "is larger than 1 GiB", where);
  const std::optional<std::string> content = open ? open->read(0, open->size()) : std::nullopt;
  if (!content) refuse(file.string(), why ? "cannot be read: " + why.message() : "is no file", where);
  std::vector<Recorded> all;
  std::unordered_set<std::string> seen;
  std::string_view rest = *content;
  bool header = false;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string location = fmt::format("{}:{}", file.string(), number);
    if (line.empty()) continue;
    if (const std::optional<int> version = manifest_version(line)) {
      if (*version != kManifestVersion)
        refuse(location,
               fmt::format("a manifest of version {}; this library reads version {}: record it again", *version,
                           kManifestVersion),
               where);
      header = true;
      continue;
    }
    if (!header) refuse(location, "is no manifest: the first line is not " + manifest_header(), where);
    std::optional<Recorded> recorded = parse_line(line, location, where);
    if (!recorded) {
      support::log::warn_once(fmt::format("{} is damaged and left out; record it again", location));
    } else if (seen.insert(recorded->id).second) {
      all.push_back(std::move(*recorded));
    }
  }
  if (!header) refuse(file.string(), "is empty: nothing was recorded", where);
  return all;
}

PlanSwitches switches_of(const Recorded& recorded) {
  PlanSwitches s;
  for (const std::string& word : recorded.disabled) s.words += word + ",";
  const auto has = [words = recorded.disabled](std::string_view w) {
    return std::find(words.begin(), words.end(), w) != words.end();
  };
  s.fusion = !has("fusion");
  s.reuse = !has("reuse");
  s.steps = !has("steps");
  s.library = !has("library");
  s.matmul = !has("matmul");
  s.row_column = !has("row_column");
  s.levels = !has("levels");
  s.disabled = has;
  return s;
}

}  // namespace tarry::runtime
