// C: loops in parts of a few hundred elements, in which functions are called for all of them at once, between loops of
// what is plain. A function is text of its own that kernels share (codegen/render/prebuilt.h), so for the compiler a
// kernel is arithmetic; what passes through arrays stays in L1.
#include <algorithm>
#include <limits>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "codegen/c/render.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kApart = 16;  // elements between arrays, so that equal places of two do not lie 4096 bytes apart
constexpr std::size_t kMostBytes = 32768;  // of its arrays: stacks may be small

bool is_root(Op op) { return op == Op::Sqrt || op == Op::Rsqrt; }

/// An op of so many instructions an element that operands may as well pass through arrays.
bool is_long(const Instr& instr) {
  const graph::OpInfo& info = graph::info(instr.op);
  return instr.kind == InstrKind::Compute && info.ulp32 > 0 && info.cost >= 9 && !is_root(instr.op);
}

/// A function of angles that are all near has a text of its own, which becomes vectors (codegen/prelude/trig_f64.h).
bool has_near(const Instr& instr) {
  const bool turns = instr.op == Op::Sin || instr.op == Op::Cos || instr.op == Op::Tan;
  return turns && (instr.dtype == float32 || instr.dtype == float64);
}

/// The address of an array's element at `here` instead of i.
std::string address(const std::string& element, std::string_view i) {
  return fmt::format("&{}here]", std::string_view(element).substr(0, element.size() - 1 - i.size()));
}

}  // namespace

/// How calls are spread over depths: each as early as it can be, or none before one that the results need earlier, and
/// so many together at most: then fewer arrays are in use at once, and there are more loops.
struct CWriter::Spread {
  bool in_order = false;
  int most = std::numeric_limits<int>::max();
};

/// How a loop is cut: what is drawn at depth n, loop n, then the calls of depth n. A value is computed in the first
/// loop behind all calls that it needs; one that needs none, in the first loop that reads it.
struct CWriter::BatchedCalls {
  struct Piece {
    std::vector<Value> values;
    std::vector<std::pair<std::string, Value>> kept;
  };
  std::map<Value, int> depth;  ///< of what varies
  std::set<Value> calls, draws;
  std::set<Value> arrays;               ///< what a loop leaves to calls and later loops
  std::map<Value, std::size_t> places;  ///< of calls, draws and arrays: the array that holds them while they are read
  std::vector<Dtype> held;              ///< by these arrays
  std::vector<Piece> pieces;
  int part = kPart;      ///< elements of a part, for which arrays have room
  Value direct = kNone;  ///< a call that writes the loop's only result where it belongs, the last of all
  std::string result;    ///< that place

  [[nodiscard]] std::string array_of(Value v) const { return fmt::format("part{}", places.at(v)); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const Dtype dtype : held) bytes += static_cast<std::size_t>(part) * itemsize(dtype);
    return bytes;
  }
};

/// Values of a loop, each behind its operands, of which the one that takes the most steps comes first: so a step's
/// values stand together.
std::vector<Value> CWriter::step_order(const Loop& l) const {
  std::map<Value, int> height;
  for (const Value v : l.values) {
    int most = 0;
    for (const Value a : ir.instrs[v].args)
      if (a != kNone && height.contains(a)) most = std::max(most, height.at(a));
    height[v] = most + 1;
  }
  std::vector<Value> order;
  std::set<Value> seen;
  std::vector<std::pair<Value, bool>> open;  // true: its operands are in the order
  const auto add = [&](std::vector<Value> values) {
    std::erase_if(values, [&](Value v) { return v == kNone || !height.contains(v) || seen.contains(v); });
    std::ranges::stable_sort(values, {}, [&](Value v) { return height.at(v); });
    for (const Value v : values) open.emplace_back(v, false);
  };
  add(l.values);
  while (!open.empty()) {
    const auto [v, has_operands] = open.back();
    open.pop_back();
    if (has_operands) {
      order.push_back(v);
    } else if (seen.insert(v).second) {
      open.emplace_back(v, true);
      add({ir.instrs[v].args.begin(), ir.instrs[v].args.end()});
    }
  }
  return order;
}

/// Which values are calls and draws, and how deep everything is: the last depth.
int CWriter::find_depths(const Loop& l, const Spread& spread, BatchedCalls& batched) const {
  const bool calls = l.runs && std::ranges::any_of(l.values, [&](Value v) { return is_long(ir.instrs[v]); });
  const bool folds = std::ranges::any_of(l.values, [&](Value v) { return ir.instrs[v].kind == InstrKind::Fold; });
  const auto varies = [&](Value v) { return v != kNone && batched.depth.contains(v); };
  int last = 0, deepest = 0;
  std::map<int, int> at_depth;
  std::set<Value> early;  // what needs no call
  std::vector<Value> order;
  for (const Value v : spread.in_order ? step_order(l) : l.values) {
    const Instr& instr = ir.instrs[v];
    if (instr.kind == InstrKind::Scalar || is_invariant(instr, l.axis) || instr.kind == InstrKind::Store) continue;
    int depth = 0;
    bool is_early = true;
    for (const Value a : instr.args) {
      if (!varies(a)) continue;
      depth = std::max(depth, batched.depth.at(a) + (batched.calls.contains(a) ? 1 : 0));
      is_early = is_early && early.contains(a) && !batched.calls.contains(a);
    }
    const bool takes = std::any_of(instr.args.begin(), instr.args.end(),
                                   [&](Value a) { return a != kNone && (varies(a) || is_element(l.operand(a))); });
    if (shares_blocks(v, l.axis)) {
      batched.draws.insert(v);
    } else if (calls && !folds && takes &&
               (is_long(instr) || (instr.kind == InstrKind::Compute && is_root(instr.op)))) {
      batched.calls.insert(v);
      if (spread.in_order) depth = std::max(depth, deepest);
      while (at_depth[depth] >= spread.most) ++depth;
      ++at_depth[depth];
      deepest = depth;
      last = std::max(last, depth + 1);
    }
    batched.depth[v] = depth;
    if (is_early) early.insert(v);
    last = std::max(last, depth);
    order.push_back(v);
  }
  // Values that need no call wait for their first reader.
  std::map<Value, int> latest;
  for (const Value v : l.values)
    if (ir.instrs[v].kind == InstrKind::Store) latest[ir.instrs[v].args[0]] = last;
  for (const auto& [to, v] : l.kept) latest[v] = last;
  for (const Value v : order | std::views::reverse) {
    int& depth = batched.depth.at(v);
    if (early.contains(v) && latest.contains(v)) depth = latest.at(v) - (batched.calls.contains(v) ? 1 : 0);
    for (const Value a : ir.instrs[v].args)
      if (varies(a)) latest[a] = std::min(latest.contains(a) ? latest.at(a) : depth, depth);
  }
  return last;
}

/// Gives each value that is an array a place, whose value before has been read by then. Truth values are as wide there
/// as the widest value of the loop.
void CWriter::find_places(const Loop& l, BatchedCalls& batched) const {
  std::size_t widest = 1;
  for (const Value v : l.values) widest = std::max(widest, itemsize(ir.instrs[v].dtype));
  const Dtype truth = truth_dtype(widest);
  // Draws of depth n come at 3 n, loop n at 3 n + 1, calls of depth n at 3 n + 2.
  std::map<Value, int> until;
  const auto read = [&](Value v, int when) { until[v] = std::max(until[v], when); };
  for (std::size_t n = 0; n < batched.pieces.size(); ++n) {
    const int when = 3 * static_cast<int>(n) + 1;
    for (const Value v : batched.pieces[n].values)
      for (const Value a : ir.instrs[v].args) read(a, when);
    for (const auto& [to, v] : batched.pieces[n].kept) read(v, when);
  }
  for (const Value v : batched.calls)
    for (const Value a : ir.instrs[v].args) read(a, 3 * batched.depth.at(v) + 2);
  std::vector<std::pair<int, Value>> made;
  for (const Value v : batched.draws) made.emplace_back(3 * batched.depth.at(v), v);
  for (const Value v : batched.arrays) made.emplace_back(3 * batched.depth.at(v) + 1, v);
  for (const Value v : batched.calls)
    if (v != batched.direct) made.emplace_back(3 * batched.depth.at(v) + 2, v);
  std::ranges::sort(made);
  std::vector<int> taken;  // until when, by place
  for (const auto& [when, v] : made) {
    const Dtype dtype = ir.instrs[v].dtype == bool_ ? truth : ir.instrs[v].dtype;
    std::size_t place = 0;
    while (place < taken.size() && (taken[place] >= when || batched.held[place] != dtype)) ++place;
    if (place == taken.size()) {
      taken.push_back(0);
      batched.held.push_back(dtype);
    }
    taken[place] = until.contains(v) ? until.at(v) : when;
    batched.places[v] = place;
  }
}

CWriter::BatchedCalls CWriter::batched_calls_of(const Loop& l, const Spread& spread) const {
  BatchedCalls batched;
  const int last = find_depths(l, spread, batched);
  const auto varies = [&](Value v) { return batched.depth.contains(v); };
  const auto is_called = [&](Value v) { return batched.calls.contains(v) || batched.draws.contains(v); };
  const auto operands = [&](Value v, const auto& each) {
    for (const Value a : ir.instrs[v].args)
      if (a != kNone && varies(a)) each(a);
  };
  const std::vector<std::pair<std::string, Value>>& results = l.kept;
  std::vector<Value> stores;
  for (const Value v : l.values)
    if (ir.instrs[v].kind == InstrKind::Store && !is_invariant(ir.instrs[v], l.axis)) stores.push_back(v);

  std::vector<std::set<Value>> wanted(static_cast<std::size_t>(last) + 1);
  for (const Value v : stores) wanted.back().insert(ir.instrs[v].args[0]);
  for (const auto& [to, v] : results) wanted.back().insert(v);
  const auto leave = [&](Value v) {
    if (is_called(v) || !batched.arrays.insert(v).second) return;
    wanted[static_cast<std::size_t>(batched.depth.at(v))].insert(v);
  };
  for (const Value call : batched.calls)
    operands(call, [&](Value a) {
      if (!is_in_place(a, l.axis)) leave(a);
    });
  batched.pieces.resize(wanted.size());
  for (int n = last; n >= 0; --n) {
    std::set<Value> own;
    std::vector<Value> open(wanted[static_cast<std::size_t>(n)].begin(), wanted[static_cast<std::size_t>(n)].end());
    while (!open.empty()) {
      const Value v = open.back();
      open.pop_back();
      if (!varies(v) || is_called(v)) continue;
      const bool is_plain = arity(ir.instrs[v]) > 0 || ir.instrs[v].kind == InstrKind::Fold;
      if (is_plain && batched.depth.at(v) < n)
        leave(v);  // anything else costs no more than reading an array
      else if (own.insert(v).second)
        operands(v, [&](Value a) { open.push_back(a); });
    }
    BatchedCalls::Piece& piece = batched.pieces[static_cast<std::size_t>(n)];
    piece.values.assign(own.begin(), own.end());
    for (const Value v : own)
      if (batched.arrays.contains(v) && batched.depth.at(v) == n) piece.kept.emplace_back(std::string(), v);
  }
  batched.pieces.back().values.insert(batched.pieces.back().values.end(), stores.begin(), stores.end());
  batched.pieces.back().kept.insert(batched.pieces.back().kept.end(), results.begin(), results.end());

  // The only result is what a call gives.
  if (last > 0 && stores.size() + results.size() == 1) {
    const Value v = stores.empty() ? results[0].second : ir.instrs[stores[0]].args[0];
    const std::string place = stores.empty() ? results[0].first : element(ir.instrs[stores[0]].index, l.axis, l.i);
    const bool in_order = stores.empty() || stride_class(ir.instrs[stores[0]].index, l.axis) == StrideClass::One;
    const bool is_plain = !l.steps.contains(place);
    if (batched.calls.contains(v) && batched.depth.at(v) == last - 1 && in_order && is_plain &&
        !batched.arrays.contains(v)) {
      batched.direct = v;
      batched.result = address(place, l.i);
      batched.pieces.pop_back();
    }
  }
  find_places(l, batched);
  for (BatchedCalls::Piece& piece : batched.pieces)
    for (auto& [to, v] : piece.kept)
      if (to.empty()) to = fmt::format("{}[{} - here]", batched.array_of(v), l.i);
  return batched;
}

bool CWriter::is_in_place(Value v, Axis axis) const {
  const Instr& instr = ir.instrs[v];
  if (instr.kind != InstrKind::Load || instr.guard != kNone || instr.loop != kNone) return false;
  const Access& a = ir.accesses[instr.index];
  return a.buffer != kNone && a.loop == kNone && stride_class(instr.index, axis) == StrideClass::One;
}

CWriter::BatchedCalls CWriter::small_batched_calls_of(const Loop& l) const {
  std::vector<BatchedCalls> ways;
  for (const Spread& spread : {Spread(), Spread{true}, Spread{true, 8}, Spread{true, 2}}) {
    ways.push_back(batched_calls_of(l, spread));
    if (ways.back().bytes() <= kMostBytes) return std::move(ways.back());
  }
  for (const int part : {kPart / 4, kPart / 16})
    for (BatchedCalls& batched : ways) {
      batched.part = part;
      if (batched.bytes() <= kMostBytes) return std::move(batched);
    }
  Loop whole = l;
  whole.runs = false;
  return batched_calls_of(whole, Spread());
}

CWriter::Loop CWriter::piece_of(const Loop& l, const BatchedCalls& batched, std::size_t n) const {
  const BatchedCalls::Piece& piece = batched.pieces[n];
  Loop loop = l;
  loop.values = piece.values;
  loop.kept = piece.kept;
  loop.from = "here";
  loop.to = "there";
  loop.runs = false;
  loop.is_long = !batched.calls.empty();
  for (const Value v : batched.draws) loop.drawn.insert(v);
  const std::set<Value> own(piece.values.begin(), piece.values.end());
  loop.operand = [this, own, &batched, i = l.i, operand = l.operand](Value v) {
    const bool is_own = own.contains(v);
    if (batched.draws.contains(v)) return is_own ? value_name(v) : fmt::format("drawn{}[{} - here]", v, i);
    if (batched.calls.contains(v) || (batched.arrays.contains(v) && !is_own)) {
      const std::string element = fmt::format("{}[{} - here]", batched.array_of(v), i);
      return ir.instrs[v].dtype == bool_ ? fmt::format("({} != 0)", element) : element;
    }
    return operand(v);
  };
  return loop;
}

bool CWriter::has_vectors(const Loop& l) const {
  const BatchedCalls batched = small_batched_calls_of(l);
  if (batched.calls.empty() && batched.draws.empty()) return is_vector_loop(l);
  for (std::size_t n = 0; n < batched.pieces.size(); ++n) {
    const Loop piece = piece_of(l, batched, n);
    if (!(piece.values.empty() && piece.kept.empty()) && !is_vector_loop(piece)) return false;
  }
  return true;
}

/// The function for n elements: its name. `in_order[k]`: operand k is an array. Single elements cost as much as a
/// vector, so what is left of the last one is computed as one: the last elements again where there are enough, which
/// are taken before anything is written, as the result may lie in an operand's place; what there is with copies of the
/// first one where there are not.
std::string CWriter::run_function(Value v, const std::vector<bool>& in_order) {
  const Instr& instr = ir.instrs[v];
  const auto type_of = [&](std::size_t k) { return c_type(ir.instrs[instr.args[k]].dtype); };
  const auto value = [&](std::string_view array, std::string_view index) {
    std::vector<std::string> operands;
    for (std::size_t k = 0; k < in_order.size(); ++k)
      operands.push_back(in_order[k] ? fmt::format("{}{}[{}]", array, k, index) : fmt::format("x{}", k));
    return expressions.compute(v, operands);
  };
  const auto each_array = [&](std::string_view text) {
    for (std::size_t k = 0; k < in_order.size(); ++k)
      if (in_order[k]) line(fmt::format(fmt::runtime(text), fmt::arg("k", k), fmt::arg("type", type_of(k))));
  };
  const int lanes = std::max(vector_bytes_, 16) / static_cast<int>(itemsize(instr.dtype));
  return share(
      fmt::format("{}_run",
                  std::string_view(function_name(instr.op, ir.instrs[instr.args[0]].dtype, instr.dtype)).substr(6)),
      [&] {
        std::string parameters;
        for (std::size_t k = 0; k < in_order.size(); ++k)
          parameters +=
              in_order[k] ? fmt::format(", const {}* x{}", type_of(k), k) : fmt::format(", {} x{}", type_of(k), k);
        open(fmt::format("static __attribute__((noinline)) void {}(tarry_i64 n, {}* to{})", kSharedName,
                         c_type(instr.dtype), parameters));
        open("if (n == 1)");
        line(fmt::format("to[0] = {};", value("x", "0")));
        line("return;");
        close();
        line(fmt::format("enum {{ lanes = {} }};", lanes));
        line("const tarry_i64 whole = n & -lanes;");
        each_array("{type} last{k}[lanes] __attribute__((aligned(64)));");
        open("if (whole < n)");
        open("if (n > lanes)");
        each_array("for (int l = 0; l < lanes; ++l) last{k}[l] = x{k}[n - lanes + l];");
        close();
        open("else");
        each_array("for (int l = 0; l < lanes; ++l) {{ TARRY_SCALAR; last{k}[l] = x{k}[l < n ? l : 0]; }}");
        close();
        close();
        const auto all = [&](const auto& of) {
          open_loop("i", "0", "whole");
          line(fmt::format("to[i] = {};", of("x", "i")));
          close();
          line(fmt::format("if (whole < n) for (int l = 0; l < lanes; ++l) rest[l] = {};", of("last", "l")));
        };
        line(fmt::format("{} rest[lanes] __attribute__((aligned(64)));", c_type(instr.dtype)));
        if (has_near(instr)) {
          const std::string suffix = instr.dtype == float32 ? "f32" : "f64";
          line(fmt::format("{} far = 0;", instr.dtype == float32 ? "tarry_u32" : "tarry_u64"));
          open_loop("i", "0", "n");
          line(fmt::format("far |= tarry_far_{}(x0[i]);", suffix));
          close();
          open("if (far == 0)");
          all([&](std::string_view array, std::string_view index) {
            return fmt::format("tarry_{}_near_{}({}0[{}])", graph::info(instr.op).name, suffix, array, index);
          });
          close();
          open("else");
          all(value);
          close();
        } else {
          all(value);
        }
        open("if (whole < n)");
        line("if (n > lanes) for (int l = 0; l < lanes; ++l) to[n - lanes + l] = rest[l];");
        line("else for (int l = 0; l < n; ++l) { TARRY_SCALAR; to[l] = rest[l]; }");
        close();
        close();
      });
}

void CWriter::call_batch(Value v, const Loop& l, const BatchedCalls& batched) {
  const Instr& instr = ir.instrs[v];
  std::string arguments;
  std::vector<bool> in_order;
  for (int k = 0; k < arity(instr); ++k) {
    const Value a = instr.args[static_cast<std::size_t>(k)];
    const std::string text = l.operand(a);
    std::string argument = text;
    bool is_array = true;
    if (batched.draws.contains(a))
      argument = fmt::format("drawn{}", a);
    else if (batched.calls.contains(a) || batched.arrays.contains(a))
      argument = batched.array_of(a);
    else if (batched.depth.contains(a) && is_in_place(a, l.axis))
      argument = address(element(ir.instrs[a].index, l.axis, l.i), l.i);
    else if (is_element(text))
      argument = address(text, l.i);
    else
      is_array = false;
    arguments += ", " + argument;
    in_order.push_back(is_array);
  }
  line(fmt::format("{}(there - here, {}{});", run_function(v, in_order),
                   v == batched.direct ? batched.result : batched.array_of(v), arguments));
}

/// The value of one element.
void CWriter::call_once(Value v, const Operand& operand) {
  const Instr& instr = ir.instrs[v];
  std::string arguments;
  for (int k = 0; k < arity(instr); ++k) {
    const Value a = instr.args[static_cast<std::size_t>(k)];
    arguments += fmt::format(", (const {}[]){{{}}}", c_type(ir.instrs[a].dtype), operand(a));
  }
  line(fmt::format("{} {};", c_type(instr.dtype), value_name(v)));
  line(fmt::format("{}(1, &{}{});", run_function(v, std::vector<bool>(static_cast<std::size_t>(arity(instr)), true)),
                   value_name(v), arguments));
}

bool CWriter::is_called(const Instr& instr) { return is_long(instr); }

/// Writes the loop in parts; false where it calls nothing.
bool CWriter::run_parts(const Loop& l) {
  const BatchedCalls batched = small_batched_calls_of(l);
  if (batched.calls.empty() && batched.draws.empty()) return false;
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  for (std::size_t place = 0; place < batched.held.size(); ++place)
    line(fmt::format("{} part{}[{}] __attribute__((aligned(64)));", c_type(batched.held[place]), place,
                     batched.part + kApart));
  if (l.is_part && batched.part == kPart) {
    open("");
    line(fmt::format("const tarry_i64 here = {}, there = {};", l.from, l.to));
  } else {
    open(fmt::format("for (tarry_i64 here = {0}, there; here < {1}; here = there)", l.from, l.to));
    line(fmt::format("there = {0} - here < {1} ? {0} : here + {1};", l.to, batched.part));
  }
  const bool is_cut = is_decided(l.values);  // else a piece's guard need not be a constant
  for (std::size_t n = 0; n < std::max(batched.pieces.size(), std::size_t{1}); ++n) {
    for (const Value v : batched.draws)
      if (batched.depth.at(v) == static_cast<int>(n)) draw(v, batched.array_of(v), l.operand);
    if (n < batched.pieces.size()) {
      const Loop piece = piece_of(l, batched, n);
      if (!piece.values.empty() || !piece.kept.empty()) {
        open("");
        if ((is_cut || guards_of(piece.values).empty()) && is_vector_loop(piece))
          run_vectors(piece);
        else
          run_plain(piece);
        close();
      }
    }
    for (const Value v : batched.calls)
      if (batched.depth.at(v) == static_cast<int>(n) && v != batched.direct) call_batch(v, l, batched);
    if (batched.direct != kNone && batched.depth.at(batched.direct) == static_cast<int>(n))
      call_batch(batched.direct, l, batched);
  }
  close();
  return true;
}

void CWriter::draw(Value v, const std::string& words, const Operand& operand) {
  const Instr& in = ir.instrs[v];
  const std::string type = c_type(in.dtype), suffix(info(in.dtype).suffix);
  const std::string fill = share("fill_" + suffix, [&] {
    open(
        fmt::format("static __attribute__((noinline)) const {1}* {0}({1}* words, tarry_i64 number, tarry_i64 count, "
                    "tarry_u64 key, tarry_u32 draw)",
                    kSharedName, type));
    line(fmt::format("return {};", expressions.call("tarry_fill_" + suffix, "words, number, count, key, draw")));
    close();
  });
  line(fmt::format("const {}* const drawn{} = {}({}, a{} + here, there - here, {}, {});", type, v, fill, words,
                   ir.instrs[in.args[0]].index, operand(in.args[1]), operand(in.args[2])));
}

/// True if neighbouring iterations take words of one block: then it is drawn once for all of them.
bool CWriter::shares_blocks(Value v, Axis axis) const {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Compute && in.op == Op::RandomBits && in.region != Region::Loop &&
         is_iota(ir, in.args[0]) && stride_class(ir.instrs[in.args[0]].index, axis) == StrideClass::One;
}

}  // namespace tarry::codegen
