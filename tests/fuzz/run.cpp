// Running and comparing programs: the differential part of the fuzzer.
#include "tests/fuzz/run.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>

#include "support/env.h"
#include "tests/fuzz/oracle.h"
#include "tests/helpers/x87.h"

namespace tarry::test::fuzz {
namespace {

/// Overrides TARRY_DISABLE while it lives.
class Disabled {
 public:
  explicit Disabled(const char* words) { support::env::set("TARRY_DISABLE", words); }
  ~Disabled() { support::env::set("TARRY_DISABLE", std::nullopt); }
  Disabled(const Disabled&) = delete;
  Disabled& operator=(const Disabled&) = delete;
};

Tensor read(const Array& x) {
  Tensor t({x.dtype(), x.shape().vector()});
  visit(t.type.dtype, [&](auto zero) { x.copy_to(t.as<decltype(zero)>()); });
  return t;
}

std::vector<Tensor> read(std::span<const Array> arrays) {
  std::vector<Tensor> tensors;
  for (const Array& x : arrays) tensors.push_back(read(x));
  return tensors;
}

/// Throws where what moved is less than what has to move at least.
void evaluate_bounded(std::span<const Array> roots) {
  const Counters c = evaluate(roots).counters();
  if (c.bytes_lower_bound > c.bytes_read + c.bytes_written)
    throw std::runtime_error("moved " + std::to_string(c.bytes_read + c.bytes_written) + " bytes, the bound is " +
                             std::to_string(c.bytes_lower_bound));
}

/// Statement by statement, all programs in step.
void evaluate_stepwise(std::span<const Program> programs, std::vector<Arrays>& arrays) {
  for (std::size_t i = 0;; ++i) {
    std::vector<Array> round;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      if (i >= programs[p].statements.size()) continue;
      arrays[p].values.push_back(record(programs[p].statements[i], arrays[p].values));
      round.push_back(arrays[p].values.back());
    }
    if (round.empty()) return;
    evaluate_bounded(round);
  }
}

/// Everything recorded, then one evaluate of the outputs; nothing but the outputs is still held by then.
void evaluate_fused(std::span<const Program> programs, std::vector<Arrays>& arrays) {
  std::vector<Array> roots;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    std::vector<Array> values = std::move(arrays[p].values);
    for (const Statement& s : programs[p].statements) values.push_back(record(s, values));
    arrays[p].values.clear();
    for (const int v : programs[p].outputs) arrays[p].values.push_back(values[static_cast<std::size_t>(v)]);
    roots.insert(roots.end(), arrays[p].values.begin(), arrays[p].values.end());
  }
  evaluate_bounded(roots);
}

/// Statement by statement in a loop's manner: what nobody reads any more is dropped, and its memory may be taken over.
void evaluate_dropping(std::span<const Program> programs, std::vector<Arrays>& arrays) {
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const Program& program = programs[p];
    const std::size_t inputs = program.inputs.size();
    std::vector<std::size_t> last(arrays[p].values.size() + program.statements.size());
    for (std::size_t i = 0; i < program.statements.size(); ++i)
      for (const Argument& a : program.statements[i].arguments)
        if (a.value >= 0) last[static_cast<std::size_t>(a.value)] = i;
    for (const int v : program.outputs) last[static_cast<std::size_t>(v)] = program.statements.size();
    std::vector<Array> values = std::move(arrays[p].values);
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
      values.push_back(record(program.statements[i], values));
      for (std::size_t v = 0; v < inputs + i; ++v)
        if (last[v] == i) values[v] = Array();
      if (i % 2 == 0) evaluate_bounded({&values.back(), 1});
    }
    arrays[p].values.clear();
    for (const int v : program.outputs) arrays[p].values.push_back(values[static_cast<std::size_t>(v)]);
  }
}

/// A view of all of a value, or of a part of it.
Array peek(const Array& x, bool part) {
  if (part && x.ndim() > 0 && x.shape()[0] > 1) return x(slice(x.shape()[0] / 2));
  return expand_dims(x, 0);
}

/// All values stay held; after each statement some of those so far are needed, and only views of them are evaluated.
void evaluate_peeking(std::span<const Program> programs, std::vector<Arrays>& arrays) {
  for (std::size_t p = 0; p < programs.size(); ++p) {
    std::mt19937_64 random(programs[p].seed);
    std::vector<Array> values = std::move(arrays[p].values);
    for (const Statement& s : programs[p].statements) {
      values.push_back(record(s, values));
      std::vector<Array> views;
      for (std::uint64_t n = random() % 3; n > 0; --n)
        views.push_back(peek(values[random() % values.size()], random() % 2 == 0));
      if (!views.empty()) evaluate_bounded(views);
    }
    arrays[p].values.clear();
    for (const int v : programs[p].outputs) arrays[p].values.push_back(values[static_cast<std::size_t>(v)]);
    evaluate_bounded(arrays[p].values);
  }
}

/// True for values whose bits every backend must agree on.
std::vector<bool> exact_values(const Program& p) {
  const std::vector<Type> types = *infer(p);
  std::vector<bool> exact(p.inputs.size(), true);
  for (const Statement& s : p.statements) {
    bool is_exact = ulp_bound(s.function, types[exact.size()].dtype) == 0;
    for (const Argument& a : s.arguments)
      is_exact = is_exact && (a.value < 0 || exact[static_cast<std::size_t>(a.value)]);
    exact.push_back(is_exact);
  }
  return exact;
}

std::string describe(const Program& p, std::size_t value) {
  const std::string number = "v" + std::to_string(value);
  return value < p.inputs.size() ? number : number + " = " + name(p.statements[value - p.inputs.size()].function);
}

std::string judge_steps(const Program& p, const std::vector<Tensor>& values) {
  for (std::size_t i = 0; i < p.inputs.size(); ++i)
    if (std::string problem = difference(values[i], values_of(p.inputs[i])); !problem.empty())
      return "input " + describe(p, i) + ": " + problem;
  for (std::size_t i = 0; i < p.statements.size(); ++i) {
    const std::size_t value = p.inputs.size() + i;
    const std::string problem = judge(p.statements[i], std::span(values).first(value), values[value]);
    if (!problem.empty()) return "oracle, " + describe(p, value) + ": " + problem;
  }
  return "";
}

/// The results of a run against the stepwise values; `trusted` (may be null) leaves some values out.
std::string compare_outputs(const Program& p, const std::vector<Tensor>& results, const std::vector<Tensor>& values,
                            bool has_all, const std::vector<bool>* trusted) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t value = has_all ? i : static_cast<std::size_t>(p.outputs[i]);
    if (trusted != nullptr && !(*trusted)[value]) continue;
    if (std::string problem = difference(results[i], values[value]); !problem.empty())
      return describe(p, value) + ": " + problem;
  }
  return "";
}

/// The interpreter comes first: it runs in a tenth of the time that compiling takes.
std::vector<Variant> variants(Device device, Depth depth) {
  if (device != cpu) {
    if (depth == Depth::Basic) return {{"fused", "", Order::Together, device}};
    return {{"fused", "", Order::Together, device},
            {"dropping", "", Order::Dropping, device},
            {"peeking", "", Order::Peeking, device},
            {"without reuse", "reuse", Order::Together, device},
            {"without passes", "cse,fold,simplify", Order::Together, device}};
  }
  std::vector<Variant> all = {{"interpreted", "compile"},
                              {"dropping", "compile", Order::Dropping},
                              {"peeking", "compile", Order::Peeking},
                              {"without reuse", "compile,reuse"},
                              {"without passes", "compile,cse,fold,simplify"},
                              {"without fusion", "compile,fusion"}};
  if (depth != Depth::Basic) all.push_back({"fused", ""});
  if (depth == Depth::All) all.push_back({"compiled one by one", "", Order::Stepwise});
  return all;
}

std::vector<Failure> check_once(std::span<const Program> programs, Device device, Depth depth, bool stop) {
  std::vector<std::string> problems(programs.size());
  const auto note = [&](std::size_t p, const std::string& context, const std::string& problem) {
    if (!problem.empty() && problems[p].empty()) problems[p] = context + problem;
  };
  const auto values = run(programs, {"stepwise", device == cpu ? "compile" : "", Order::Stepwise, device});
  for (std::size_t p = 0; p < programs.size(); ++p) note(p, "", judge_steps(programs[p], values[p]));
  const auto failed = [&] {
    return std::any_of(problems.begin(), problems.end(), [](const std::string& p) { return !p.empty(); });
  };
  for (const Variant& v : variants(device, depth)) {
    if (stop && failed()) break;
    const auto results = run(programs, v);
    for (std::size_t p = 0; p < programs.size(); ++p)
      note(p, std::string(v.name) + " differs from stepwise, ",
           compare_outputs(programs[p], results[p], values[p], v.order == Order::Stepwise, nullptr));
  }
  if (device != cpu) {
    const auto outputs = run(programs, {"cpu", "compile"});
    for (std::size_t p = 0; p < programs.size(); ++p) {
      const std::vector<bool> exact = exact_values(programs[p]);
      note(p, "cpu differs from gpu, ", compare_outputs(programs[p], outputs[p], values[p], false, &exact));
    }
  }
  std::vector<Failure> failures;
  for (std::size_t p = 0; p < programs.size(); ++p)
    if (!problems[p].empty()) failures.push_back({p, problems[p]});
  return failures;
}

}  // namespace

std::vector<std::vector<Tensor>> run(std::span<const Program> programs, const Variant& variant) {
  const Disabled disabled(variant.disabled);
  const Scope scope(variant.device);
  std::vector<Arrays> arrays;
  for (const Program& p : programs) arrays.push_back(make_inputs(p));
  std::vector<std::vector<std::vector<std::byte>>> lent;
  for (const Arrays& a : arrays) lent.push_back(a.memory);
  switch (variant.order) {
    case Order::Together: evaluate_fused(programs, arrays); break;
    case Order::Stepwise: evaluate_stepwise(programs, arrays); break;
    case Order::Dropping: evaluate_dropping(programs, arrays); break;
    case Order::Peeking: evaluate_peeking(programs, arrays); break;
  }
  if (!test::free_x87()) throw std::runtime_error(std::string("left the x87 stack in use, ") + variant.name);
  std::vector<std::vector<Tensor>> results;
  for (const Arrays& a : arrays) results.push_back(read(a.values));
  for (std::size_t p = 0; p < programs.size(); ++p)
    if (arrays[p].memory != lent[p])
      throw std::runtime_error(std::string("written to borrowed memory, ") + variant.name);
  return results;
}

std::vector<Failure> check(std::span<const Program> programs, Device device, Depth depth, bool stop) {
  try {
    return check_once(programs, device, depth, stop);
  } catch (const std::exception& e) {
    if (programs.size() == 1) return {{0, std::string("threw ") + e.what()}};
  }
  std::vector<Failure> failures;  // one of them throws: each on its own
  for (std::size_t p = 0; p < programs.size(); ++p)
    for (Failure& f : check(programs.subspan(p, 1), device, depth, stop)) failures.push_back({p, std::move(f.what)});
  return failures;
}

std::string explain(const Program& program, const Failure& failure, Device device) {
  // The shrunk program must fail for the same kind of reason: the words before the first comma.
  const auto kind = [](const std::string& what) { return what.substr(0, std::min(what.find(','), std::size_t{24})); };
  const auto outcome = [&](const Program& p) {
    const std::vector<Failure> failures = check(std::span(&p, 1), device, Depth::All);
    return failures.empty() ? std::string() : failures[0].what;
  };
  const std::string found = kind(failure.what);
  const Program small = shrink(program, [&](const Program& p) { return kind(outcome(p)) == found; }, 300);
  return "seed " + std::to_string(program.seed) + ": " + failure.what + "\nshrunk: " + outcome(small) + "\n" +
         to_cpp(small);
}

}  // namespace tarry::test::fuzz
