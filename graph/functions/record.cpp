// record_function(): statements in order, each path of them once. Where paths part, values are chosen by the condition;
// a path that ends early (return, break, continue) leaves its values in an Exit, which the join takes up.
#include "graph/functions/record.h"

#include <tarry/loop.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "graph/functions/values.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

using Number = TextValues::Number;
using Value = TextValues::Value;
using ExprKind = Expr::Kind;

/// Where elements have left by one of return, break and continue, and with which values.
struct Exit {
  Edge mask;  ///< of the elements; none: no element
  std::vector<Value> values;
  bool all = false;  ///< every element of the path has left, and this way
  [[nodiscard]] bool any() const { return static_cast<bool>(mask); }
};
enum Leave : std::uint8_t { kReturn, kBreak, kContinue };

/// A path through the text: its variables, innermost last, and its exits.
struct Path {
  struct Named {
    std::string name;
    Dtype dtype{};
    Edge value;  ///< none before the first assignment
  };
  std::vector<Named> variables;
  std::array<Exit, 3> exits;
  bool ended = false;  ///< no element comes here
};

class FunctionRecorder {
 public:
  FunctionRecorder(const Syntax& syntax, std::string_view name, std::span<const Argument> arguments, Where defined,
                   Where where)
      : syntax_(syntax), called_(name), arguments_(arguments), defined_(defined), where_(where), ops_(name, where) {}

  std::vector<Edge> record() {
    Path path;
    take_arguments(path);
    for (const Variable& r : syntax_.results) path.variables.push_back({r.name, dtype_of(r.type, r.at), {}});
    statements(syntax_.body, path);
    Exit& done = path.exits[kReturn];
    if (!syntax_.results.empty()) {
      if (!path.ended) leave(path, kReturn, results_of(path, syntax_.text.size()));
      std::vector<Edge> results;
      for (const Value& v : done.values) results.push_back(v.edge);
      return broadcast(std::move(results));
    }
    if (!path.ended) refuse(syntax_.text.size(), "an end without a return");
    return broadcast({typed(done.values[0])});
  }

 private:
  [[noreturn]] void refuse(std::size_t at, std::string why) const {
    if (defined_.line != where_.line || std::string_view(defined_.file) != where_.file)
      why += fmt::format(" (text at {})", defined_.str());
    refuse_text(called_, syntax_.text, at, why, where_);
  }

  // --- Types and arguments ---------------------------------------------------------------------------------------

  [[nodiscard]] Dtype dtype_of(const TypeName& t, std::size_t at) const {
    if (t.kind == TypeName::Kind::Template && !template_) refuse(at, "no parameter has the type T");
    return t.kind == TypeName::Kind::Template ? *template_ : t.dtype;
  }

  void take_arguments(Path& path) {
    const std::vector<Variable>& parameters = syntax_.parameters;
    if (arguments_.size() != parameters.size())
      TARRY_THROW(InvalidArgument, std::string(called_), where_,
                  fmt::format("{} arguments for {}{}", arguments_.size(), first_line(), given(arguments_)));
    std::vector<Argument> of_template;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].type.kind == TypeName::Kind::Template) of_template.push_back(arguments_[i]);
    if (!of_template.empty()) template_ = common_dtype(called_, of_template, where_);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Dtype to = dtype_of(parameters[i].type, parameters[i].at);
      const Edge& e = arguments_[i].edge;
      if (e && e.node()->dtype != to && promote(e.node()->dtype, to) != to)
        TARRY_THROW(InvalidDtype, std::string(called_), where_,
                    fmt::format("argument '{}' of {} is {}; convert it with astype", parameters[i].name, first_line(),
                                Typed(e).str()));
      path.variables.push_back({parameters[i].name, to, bring_to(arguments_[i], to, called_, where_)});
    }
  }
  [[nodiscard]] std::string first_line() const {
    return std::string(called_) + syntax_.text.substr(0, syntax_.text.find('\n'));
  }

  [[nodiscard]] std::vector<Value> results_of(const Path& path, std::size_t at) const {
    std::vector<Value> all;
    for (const Variable& r : syntax_.results) {
      const Path::Named& v = *std::ranges::find(path.variables, r.name, &Path::Named::name);
      if (!v.value) refuse(at, fmt::format("result '{}' has no value here", r.name));
      all.push_back({v.value, std::nullopt});
    }
    return all;
  }
  /// Results in the shape that all arguments broadcast to, whichever of them they use.
  [[nodiscard]] std::vector<Edge> broadcast(std::vector<Edge> all) const {
    std::vector<Edge> given;
    for (const Argument& a : arguments_)
      if (a.edge) given.push_back(a.edge);
    if (given.empty()) return all;
    const Dims shape = broadcast_shape(called_, given, where_);
    for (Edge& e : all)
      if (!std::ranges::equal(e.node()->shape(), shape)) e = to_shape(e, shape.span(), where_);
    return all;
  }

  // --- Statements ------------------------------------------------------------------------------------------------

  void statements(const std::vector<StatementId>& list, Path& path) {
    const std::size_t outside = path.variables.size();
    for (const StatementId id : list) {
      if (path.ended) break;
      statement(syntax_.statements[id], path);
    }
    path.variables.resize(std::min(outside, path.variables.size()));
  }

  void statement(const Statement& s, Path& path) {
    switch (s.kind) {
      case Statement::Kind::Declare: return declare(s, path);
      case Statement::Kind::Assign: {
        Path::Named& v = variable(path, s.name, s.at);
        v.value = ops_.as(value(s.value, path), v.dtype);
        return;
      }
      case Statement::Kind::If: return branch(s, path);
      case Statement::Kind::While: return loop(s, path);
      case Statement::Kind::Return: return give_back(s, path);
      case Statement::Kind::Break:
      case Statement::Kind::Continue:
        if (!in_loop_) refuse(s.at, "there is no loop here");
        return leave(path, s.kind == Statement::Kind::Break ? kBreak : kContinue, outer_values(path));
      case Statement::Kind::Block: return statements(s.body, path);
    }
  }

  void declare(const Statement& s, Path& path) {
    Path::Named v{s.name, {}, {}};
    if (s.value != kNothing) {
      const Value first = value(s.value, path);
      v.dtype = s.type.kind == TypeName::Kind::Auto ? TextValues::dtype(first) : dtype_of(s.type, s.at);
      v.value = ops_.as(first, v.dtype);
    } else {
      v.dtype = dtype_of(s.type, s.at);
      v.value = ops_.as(TextValues::number({}), v.dtype);
    }
    path.variables.push_back(std::move(v));
  }

  Path::Named& variable(Path& path, const std::string& name, std::size_t at) const {
    const auto it = std::find_if(path.variables.rbegin(), path.variables.rend(),
                                 [&](const Path::Named& v) { return v.name == name; });
    if (it == path.variables.rend()) refuse(at, fmt::format("'{}' is not declared", name));
    return *it;
  }

  void give_back(const Statement& s, Path& path) {
    if (!syntax_.results.empty()) {
      if (s.value != kNothing) refuse(s.at, "results with names are assigned, not returned");
      return leave(path, kReturn, results_of(path, s.at));
    }
    if (s.value == kNothing) refuse(s.at, "what is returned?");
    Value v = value(s.value, path);
    if (syntax_.returned && syntax_.returned->kind != TypeName::Kind::Auto)
      v = {ops_.as(v, dtype_of(*syntax_.returned, s.at)), std::nullopt};
    leave(path, kReturn, {std::move(v)});
  }
  /// The type of a real number that meets nothing: the widest of the real parameters.
  [[nodiscard]] Dtype real_dtype() const {
    std::optional<Dtype> widest;
    for (const Variable& p : syntax_.parameters)
      if (const Dtype d = dtype_of(p.type, p.at); is_floating(d)) widest = widest ? TextValues::common(*widest, d) : d;
    return widest.value_or(float64);
  }
  [[nodiscard]] Edge typed(const Value& v) const {
    return ops_.as(v, v.is_weak() ? real_dtype() : TextValues::dtype(v));
  }

  /// All elements of the path that have not left before.
  void leave(Path& path, Leave way, std::vector<Value> values) const {
    Exit& exit = path.exits[way];
    const Edge gone = left(path);
    if (exit.any())
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = chosen_or(exit.mask, exit.values[i], values[i]);
    exit.values = std::move(values);
    exit.all = !gone || (exit.any() && gone.node() == exit.mask.node());
    const Edge rest = exit.all ? ops_.yes() : ops_.neither(gone);
    exit.mask = exit.any() && !exit.all ? ops_.either(exit.mask, rest) : rest;
    path.ended = true;
  }
  /// Elements that have left; none where no element has.
  [[nodiscard]] Edge left(const Path& path) const {
    Edge all;
    for (const Exit& e : path.exits)
      if (e.any()) all = all ? ops_.either(all, e.mask) : e.mask;
    return all;
  }
  [[nodiscard]] Edge chosen_or(const Edge& condition, const Edge& a, const Edge& b) const {
    if (!a || !b) return a ? a : b;
    if (a.node() == b.node() && a.output() == b.output()) return a;
    return ops_.chosen_of(condition, a, b);
  }
  [[nodiscard]] Value chosen_or(const Edge& condition, const Value& a, const Value& b) const {
    if (!a.number && !b.number && a.edge.node()->dtype == b.edge.node()->dtype)
      return {chosen_or(condition, a.edge, b.edge), std::nullopt};
    if (a.number && b.number && (a.is_weak() || b.is_weak())) {
      const Dtype real = real_dtype();
      return {ops_.chosen_of(condition, ops_.as(a, real), ops_.as(b, real)), std::nullopt};
    }
    return ops_.choice(condition, a, b);
  }

  void branch(const Statement& s, Path& path) {
    const Edge condition = ops_.truth(value(s.value, path));
    Path yes = path, no = path;
    statements(s.body, yes);
    statements(s.otherwise, no);
    path = joined(condition, path, std::move(yes), std::move(no));
  }

  /// Two paths that part at `before`.
  [[nodiscard]] Path joined(const Edge& condition, const Path& before, Path yes, Path no) const {
    Path out;
    out.ended = yes.ended && no.ended;
    for (std::size_t i = 0; i < yes.exits.size(); ++i)
      out.exits[i] = joined(condition, before.exits[i], yes.exits[i], no.exits[i]);
    if (yes.ended || no.ended) {
      out.variables = std::move((yes.ended ? no : yes).variables);
      return out;
    }
    out.variables = std::move(yes.variables);
    for (std::size_t i = 0; i < out.variables.size(); ++i)
      out.variables[i].value = chosen_or(condition, out.variables[i].value, no.variables[i].value);
    return out;
  }
  [[nodiscard]] Edge joined_mask(const Edge& condition, const Exit& yes, const Exit& no) const {
    if (yes.all && no.all) return ops_.yes();
    if (yes.all) return no.any() ? ops_.either(condition, no.mask) : condition;
    const Edge otherwise = no.any() && (no.all || !yes.any()) ? ops_.neither(condition) : Edge();
    if (no.all) return yes.any() ? ops_.either(otherwise, yes.mask) : otherwise;
    if (yes.any() && no.any()) return chosen_or(condition, yes.mask, no.mask);
    return yes.any() ? ops_.both(condition, yes.mask) : ops_.both(otherwise, no.mask);
  }
  [[nodiscard]] Exit joined(const Edge& condition, const Exit& before, const Exit& yes, const Exit& no) const {
    if (!yes.any() && !no.any()) return {};
    Exit out;
    out.mask = joined_mask(condition, yes, no);
    out.all = yes.all && no.all;
    // A path on which no other element left has the values of before, and so has the other one where it has values.
    const auto is_as_before = [&](const Exit& e) { return !e.any() || e.mask.node() == before.mask.node(); };
    if (is_as_before(no)) {
      out.values = yes.values;
    } else if (is_as_before(yes)) {
      out.values = no.values;
    } else {
      for (std::size_t i = 0; i < yes.values.size(); ++i)
        out.values.push_back(chosen_or(condition, yes.values[i], no.values[i]));
    }
    return out;
  }

  // --- Loops -----------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<Value> outer_values(const Path& path) const {
    std::vector<Value> all;
    for (std::size_t i = 0; i < outside_; ++i) all.push_back({path.variables[i].value, std::nullopt});
    return all;
  }

  /// The places of a loop's state: variables that it assigns, where elements are gone unless none ever is, where a
  /// first round is due, what was returned and where.
  struct State {
    std::vector<std::size_t> variables;
    std::vector<Dtype> results;
    bool leaves = false, body_first = false, returns = false;
    [[nodiscard]] std::size_t gone() const { return variables.size(); }
    [[nodiscard]] std::size_t first() const { return gone() + (leaves ? 1 : 0); }
    [[nodiscard]] std::size_t result(std::size_t i) const { return first() + (body_first ? 1 : 0) + i; }
    [[nodiscard]] std::size_t returned() const { return result(results.size()); }
  };

  void assigned_in(const std::vector<StatementId>& list, std::set<std::string>& names, State& state) const {
    for (const StatementId id : list) {
      const Statement& s = syntax_.statements[id];
      if (s.kind == Statement::Kind::Assign) names.insert(s.name);
      if (s.kind == Statement::Kind::Return) state.returns = true;
      if (s.kind == Statement::Kind::Return || s.kind == Statement::Kind::Break) state.leaves = true;
      assigned_in(s.body, names, state);
      assigned_in(s.otherwise, names, state);
    }
  }

  void loop(const Statement& s, Path& path) {
    if (in_loop_) refuse(s.at, "a loop inside a loop");
    std::set<std::string> names;
    State state;
    state.body_first = s.body_first;
    state.leaves = static_cast<bool>(left(path));
    assigned_in(s.body, names, state);
    assigned_in(s.otherwise, names, state);
    for (std::size_t i = 0; i < path.variables.size(); ++i) {
      Path::Named& v = path.variables[i];
      if (!names.contains(v.name)) continue;
      if (!v.value) v.value = ops_.as(TextValues::number({}), v.dtype);
      state.variables.push_back(i);
    }
    if (state.returns) state.results = result_dtypes(s, path);
    const std::vector<Array> init = before(state, path);
    const LoopCondition goes_on = [&](std::span<const Array> now) {
      Path inside = unpacked(state, path, now);
      Edge on = s.value == kNothing ? ops_.yes() : ops_.truth(value(s.value, inside));
      if (s.body_first) on = ops_.either(on, edge(now[state.first()]));
      return detail::wrap(state.leaves ? ops_.both(on, ops_.neither(edge(now[state.gone()]))) : on);
    };
    const LoopStep body = [&](std::span<const Array> now) {
      return after(state, round(s, unpacked(state, path, now)), now);
    };
    const std::vector<Array> done = detail::while_loop(goes_on, body, init, {}, where_);
    for (std::size_t k = 0; k < state.variables.size(); ++k) path.variables[state.variables[k]].value = edge(done[k]);
    if (!state.returns) return;
    Exit& exit = path.exits[kReturn];
    exit.values.clear();
    for (std::size_t i = 0; i < state.results.size(); ++i)
      exit.values.push_back({edge(done[state.result(i)]), std::nullopt});
    exit.mask = edge(done[state.returned()]);
  }

  [[nodiscard]] Edge edge(const Array& x) const { return detail::defined_edge(x, called_, where_); }

  [[nodiscard]] std::vector<Array> before(const State& state, const Path& path) const {
    std::vector<Array> all;
    for (const std::size_t i : state.variables) all.push_back(detail::wrap(path.variables[i].value));
    const Edge gone = left(path);
    if (state.leaves) all.push_back(detail::wrap(gone ? gone : ops_.no()));
    if (state.body_first) all.push_back(detail::wrap(ops_.yes()));
    if (!state.returns) return all;
    const Exit& exit = path.exits[kReturn];
    for (std::size_t i = 0; i < state.results.size(); ++i)
      all.push_back(detail::wrap(ops_.as(exit.any() ? exit.values[i] : TextValues::number({}), state.results[i])));
    all.push_back(detail::wrap(exit.any() ? exit.mask : ops_.no()));
    return all;
  }

  [[nodiscard]] Path unpacked(const State& state, const Path& path, std::span<const Array> now) const {
    Path inside = path;
    inside.exits = {};
    for (std::size_t k = 0; k < state.variables.size(); ++k) inside.variables[state.variables[k]].value = edge(now[k]);
    return inside;
  }

  /// A round: the body, then what follows each round for those that come there.
  [[nodiscard]] Path round(const Statement& s, Path inside) {
    in_loop_ = true;
    outside_ = inside.variables.size();
    inside.exits = {};
    statements(s.body, inside);
    const Exit next = std::exchange(inside.exits[kContinue], {});
    for (std::size_t i = 0; next.any() && i < outside_; ++i) {
      Edge& now = inside.variables[i].value;
      now = inside.ended ? next.values[i].edge : chosen_or(next.mask, next.values[i].edge, now);
    }
    inside.ended = inside.ended && !next.any();
    statements(s.otherwise, inside);
    in_loop_ = false;
    return inside;
  }

  [[nodiscard]] std::vector<Array> after(const State& state, const Path& inside, std::span<const Array> before) const {
    const Exit &broken = inside.exits[kBreak], &returned = inside.exits[kReturn];
    std::vector<Array> all;
    for (const std::size_t i : state.variables) {
      const Edge& now = inside.variables[i].value;
      all.push_back(detail::wrap(broken.any() ? chosen_or(broken.mask, broken.values[i].edge, now) : now));
    }
    const Edge gone = left(inside);
    if (state.leaves) all.push_back(detail::wrap(gone ? gone : ops_.no()));
    if (state.body_first) all.push_back(detail::wrap(ops_.no()));
    if (!state.returns) return all;
    for (std::size_t i = 0; i < state.results.size(); ++i) {
      const Edge earlier = edge(before[state.result(i)]);
      const Value now = returned.any() ? returned.values[i] : Value{earlier, std::nullopt};
      all.push_back(
          detail::wrap(chosen_or(returned.any() ? returned.mask : ops_.no(), ops_.as(now, state.results[i]), earlier)));
    }
    const Edge earlier = edge(before[state.returned()]);
    all.push_back(detail::wrap(returned.any() ? ops_.either(earlier, returned.mask) : earlier));
    return all;
  }

  /// Results that have no types yet are those of a round that nobody needs.
  [[nodiscard]] std::vector<Dtype> result_dtypes(const Statement& s, const Path& path) {
    std::vector<Dtype> all;
    for (const Variable& r : syntax_.results) all.push_back(dtype_of(r.type, r.at));
    if (!all.empty()) return all;
    const Path inside = round(s, path);
    const Exit &before = path.exits[kReturn], &now = inside.exits[kReturn];
    if (!before.any()) return {typed(now.values[0]).node()->dtype};
    return {typed(chosen_or(ops_.yes(), before.values[0], now.values[0])).node()->dtype};
  }

  // --- Values ----------------------------------------------------------------------------------------------------

  Value value(ExprId id, Path& path) {
    const Expr& e = syntax_.exprs[id];
    switch (e.kind) {
      case ExprKind::Integer:
      case ExprKind::Real: {
        const Number n{e.kind == ExprKind::Real, e.real, e.integer};
        return e.exact ? ops_.typed(n, *e.exact) : TextValues::number(n);
      }
      case ExprKind::Truth: return {e.integer != 0 ? ops_.yes() : ops_.no(), std::nullopt};
      case ExprKind::Name: return named(e, path);
      case ExprKind::Unary: return checked(ops_.unary(e.name, value(e.args[0], path)), e);
      case ExprKind::Binary: {
        const Value a = value(e.args[0], path), b = value(e.args[1], path);
        return checked(ops_.binary(e.name, a, b), e);
      }
      case ExprKind::Choice: {
        const Edge condition = ops_.truth(value(e.args[0], path));
        const Value a = value(e.args[1], path), b = value(e.args[2], path);
        return chosen_or(condition, a, b);
      }
      case ExprKind::Cast: {
        const Value v = value(e.args[0], path);
        return {ops_.as(v, dtype_of(e.type, e.at)), std::nullopt};
      }
      case ExprKind::Call: return call(e, path);
    }
    return {};
  }

  Value named(const Expr& e, Path& path) {
    struct Constant {
      std::string_view name;
      double value;
    };
    constexpr Constant kConstants[] = {{"M_PI", 3.14159265358979323846},
                                       {"M_E", 2.7182818284590452354},
                                       {"INFINITY", std::numeric_limits<double>::infinity()},
                                       {"NAN", std::numeric_limits<double>::quiet_NaN()}};
    const bool is_variable = std::ranges::find(path.variables, e.name, &Path::Named::name) != path.variables.end();
    const auto* const constant = std::ranges::find(kConstants, e.name, &Constant::name);
    if (!is_variable && constant != std::end(kConstants)) return TextValues::number({true, constant->value, 0});
    const Path::Named& v = variable(path, e.name, e.at);
    if (!v.value) refuse(e.at, fmt::format("'{}' has no value here", e.name));
    return {v.value, std::nullopt};
  }

  [[nodiscard]] Value checked(const std::optional<Value>& v, const Expr& e) const {
    if (!v) refuse(e.at, fmt::format("'{}' takes integers", e.name));
    return *v;
  }

  Value call(const Expr& e, Path& path) {
    const auto f = TextValues::find(e.name);
    if (!f) refuse(e.at, fmt::format("there is no function '{}'", e.name));
    if (static_cast<std::size_t>(f->arity) != e.args.size())
      refuse(e.at, fmt::format("'{}' takes {} arguments, not {}", e.name, f->arity, e.args.size()));
    std::vector<Value> args;
    for (const ExprId a : e.args) args.push_back(value(a, path));
    return checked(ops_.call(*f, args), e);
  }

  const Syntax& syntax_;
  const std::string_view called_;
  const std::span<const Argument> arguments_;
  const Where defined_, where_;
  const TextValues ops_;
  std::optional<Dtype> template_;
  bool in_loop_ = false;
  std::size_t outside_ = 0;  // variables that a loop's round finds
};

}  // namespace

std::vector<Edge> record_function(const Syntax& syntax, std::string_view name, std::span<const Argument> arguments,
                                  Where defined, Where where) {
  return FunctionRecorder(syntax, name, arguments, defined, where).record();
}

}  // namespace tarry::graph
