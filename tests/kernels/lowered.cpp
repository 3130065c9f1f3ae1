// Groups become kernels, which run in the interpreter beside loops over nodes.
#include "tests/kernels/lowered.h"

#include <cstring>
#include <map>

namespace tarry::test {

Fusion one_group(const Graph& g, const Dims& space, int axis) {
  Fusion f;
  f.group_of.assign(g.nodes.size(), kNoId);
  f.recomputed_set_of.assign(g.nodes.size() * graph::Node::kMaxInputs, kNoId);
  graph::Group group;
  group.space = space;
  group.axis = axis;
  group.reduces = axis >= 0;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const OpClass c = graph::info(g.nodes[id].op).op_class;
    if (c != OpClass::Map && c != OpClass::Update && c != OpClass::Gather && c != OpClass::Reduce) continue;
    group.nodes.push_back(id);
    f.group_of[id] = 0;
  }
  f.groups.push_back(std::move(group));
  return f;
}

const Memory& Runner::at(const codegen::BufferRef& b) {
  if (b.is_leaf) return m_.leaves[b.leaf];
  if (b.faults) return faults_;
  const auto [it, fresh] = memory_.try_emplace(b.value);
  if (fresh) it->second.assign(static_cast<std::size_t>(g_.bytes(b.value.node)), 0x5b);
  return it->second;
}

std::vector<Memory> Runner::memory(const Lowered& l) {
  if (l.scatter) memory_[l.scatter->update] = copy(l.scatter->base);
  std::vector<Memory> all;
  for (const codegen::BufferRef& b : l.buffers) all.push_back(at(b));
  return all;
}

std::vector<std::uint64_t> Runner::scalars(const Lowered& l) const {
  std::vector<std::uint64_t> all;
  for (const codegen::ScalarRef& s : l.scalars) {
    std::uint64_t word = s.constant;
    if (s.source != kNoId) std::memcpy(&word, g_.scalars[s.source].constant.bytes, 8);
    all.push_back(word);
  }
  return all;
}

void Runner::run(const Lowered& l) {
  if (l.scatter) memory_[l.scatter->update] = copy(l.scatter->base);
  std::vector<void*> buffers;
  for (const codegen::BufferRef& b : l.buffers) buffers.push_back(const_cast<unsigned char*>(at(b).data()));
  codegen::interpret(l.ir, l.args, buffers, scalars(l), &traffic);
}

Memory Runner::copy(GraphEdge base) const {
  const GraphNode& n = g_.nodes[base.node];
  if (n.op != Op::Input) return memory_.at(base);
  REQUIRE(g_.leaves[n.payload].contiguous);
  return m_.leaves[n.payload];
}

Lowered check_kernel(const Maker& m, const Fusion& f, const std::vector<GraphEdge>& outputs, const char* target_name) {
  graph::verify(m.g);
  const Lowered l = codegen::lower(m.g, f, 0, outputs, named_target(target_name));
  INFO(to_string(m.g) + to_string(l.ir));
  const auto expected = values_of(m);
  Runner runner(m);
  runner.run(l);
  for (const GraphEdge& e : outputs) CHECK(runner.value(e) == expected[e.node]);
  CHECK(runner.traffic.bytes_written == l.bytes_written);
  return l;
}

std::vector<Lowered> lower_plan(const Graph& g, const Fusion& f, const graph::Target& t,
                                std::vector<std::vector<GraphEdge>>& wanted) {
  wanted.assign(f.groups.size(), {});
  for (const GraphEdge& r : g.roots) wanted[f.group_of[r.node]].push_back(r);
  std::vector<Lowered> kernels;
  std::string text = to_string(g);
  const auto key = [](const GraphEdge& e) { return std::pair(e.node, e.output); };
  for (auto group = static_cast<std::uint32_t>(f.groups.size()); group-- > 0;) {
    auto& out = wanted[group];
    std::ranges::sort(out, {}, key);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.empty()) continue;
    INFO(text << "group " << group);
    kernels.push_back(codegen::lower(g, f, group, out, t));
    text += to_string(kernels.back().ir);
    for (const GraphEdge& e : kernels.back().loads) {
      REQUIRE(f.group_of[e.node] < group);
      wanted[f.group_of[e.node]].push_back(e);
    }
  }
  return kernels;
}

std::vector<Lowered> check_plan(const Maker& m, const Fusion& f, const graph::Target& t) {
  std::vector<std::vector<GraphEdge>> wanted;
  std::vector<Lowered> kernels = lower_plan(m.g, f, t, wanted);
  std::string text = to_string(m.g);
  for (const Lowered& l : kernels) text += to_string(l.ir);
  INFO(text);
  const auto expected = values_of(m);
  Runner runner(m);
  std::int64_t written = 0;
  for (auto k = kernels.rbegin(); k != kernels.rend(); ++k) {
    runner.run(*k);
    written += k->bytes_written;
  }
  for (const auto& outputs : wanted)
    for (const GraphEdge& e : outputs) REQUIRE(runner.value(e) == expected[e.node]);
  CHECK(runner.traffic.bytes_written == written);
  return kernels;
}

}  // namespace tarry::test
