// Buffers as chains: each value may go on in the buffer of another. A chain that starts at a leaf is in the leaf's
// buffer, one that ends as a result in that result's, any other in a temporary slot, for as long as it lives.
#include "runtime/plan/assign_buffers.h"

#include <algorithm>

#include "graph/passes/overlap.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using codegen::BufferRef;
using graph::Graph;
using graph::GraphEdge;
using graph::kNoId;
using graph::NodeId;

constexpr std::size_t kNever = ~std::size_t{0};

/// A leaf or a value that some step stores.
struct Place {
  std::uint32_t leaf = kNoId;    ///< a leaf
  std::uint32_t output = kNoId;  ///< a result
  std::size_t bytes = 0;
  std::size_t from = kNever, last = kNever;  ///< steps that store it and that read it last
  std::uint32_t takes = kNoId, taken_by = kNoId;
  bool dies = false;  ///< nobody needs it after its last step
  Operand operand;
};

class Placer {
 public:
  Placer(const Graph& g, const OutputIndex& outputs, Reuse reuse, CompiledPlan& plan)
      : g_(g), outputs_(outputs), reuse_(reuse == Reuse::Memory), plan_(plan) {}

  void run() {
    collect();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) take_over(s);
    place_chains();
    write();
  }

 private:
  [[nodiscard]] KernelStep& step(std::size_t s) { return std::get<KernelStep>(plan_.steps[s]); }
  /// The buffers of a step that is a call, and where its operands go; else null.
  struct Call {
    const std::vector<BufferRef>* buffers = nullptr;
    std::vector<Operand>* operands = nullptr;
    const BufferRef* base = nullptr;  ///< what the result holds before
    explicit operator bool() const { return buffers != nullptr; }
  };
  [[nodiscard]] Call call(std::size_t s) {
    if (auto* const l = std::get_if<LibraryStep>(&plan_.steps[s])) return {&l->buffers, &l->operands};
    if (auto* const r = std::get_if<RoutineStep>(&plan_.steps[s]))
      return {&r->buffers, &r->operands, r->base ? &*r->base : nullptr};
    return {};
  }

  // --- Lifetimes ---------------------------------------------------------------------------------------------------

  std::uint32_t id_of(const BufferRef& b) {
    if (b.faults) return kNoId;
    const auto next = static_cast<std::uint32_t>(places_.size());
    std::uint32_t& id = b.is_leaf ? leaf_ids_.try_emplace(b.leaf, next).first->second
                                  : value_ids_.try_emplace(b.value, next).first->second;
    if (id == next) places_.push_back(b.is_leaf ? leaf_place(b.leaf) : value_place(b.value));
    return id;
  }

  [[nodiscard]] Place leaf_place(std::uint32_t leaf) const {
    Place p;
    p.leaf = leaf;
    p.bytes = leaf_bytes_[leaf];
    p.dies = reuse_ && g_.leaves[leaf].donated;
    p.operand = {Operand::Kind::Leaf, leaf};
    return p;
  }

  [[nodiscard]] Place value_place(const GraphEdge& value) const {
    Place p;
    p.bytes = static_cast<std::size_t>(g_.bytes(value.node));
    if (const auto it = outputs_.find(value); it != outputs_.end()) p.output = it->second;
    p.dies = reuse_ && p.output == kNoId;
    return p;
  }

  void collect() {
    leaf_bytes_.resize(g_.leaves.size());
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (g_.nodes[id].op == graph::Op::Input)
        leaf_bytes_[g_.nodes[id].payload] = static_cast<std::size_t>(g_.bytes(id));
    for (std::uint32_t leaf = 0; leaf < g_.leaves.size(); ++leaf)
      if (reuse_ && g_.leaves[leaf].donated) donated_.push_back(id_of({true, leaf, {}}));
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      ids_.emplace_back();
      const auto use = [&](const BufferRef& buffer, bool stored) {
        const std::uint32_t id = id_of(buffer);
        ids_[s].push_back(id);
        if (id == kNoId) return;
        places_[id].last = s;
        if (stored && places_[id].from == kNever) places_[id].from = s;
      };
      base_.push_back(kNoId);
      if (const Call c = call(s)) {
        for (std::size_t b = 0; b < c.buffers->size(); ++b) use((*c.buffers)[b], b + 1 == c.buffers->size());
        if (c.base != nullptr) use_base(s, *c.base);
        continue;
      }
      const codegen::Lowered& k = step(s).lowered;
      for (std::size_t b = 0; b < k.buffers.size(); ++b) use(k.buffers[b], stores(k, b));
      if (!k.scatter) continue;
      use_base(s, base_ref(k.scatter->base));
    }
  }

  void use_base(std::size_t s, const BufferRef& base) {
    base_[s] = id_of(base);
    places_[base_[s]].last = s;
  }

  /// The memory that an update goes on with: a leaf is itself, whatever reads it.
  [[nodiscard]] BufferRef base_ref(const GraphEdge& base) const {
    const graph::GraphNode& n = g_.nodes[base.node];
    return n.op == graph::Op::Input ? BufferRef{true, n.payload, {}} : BufferRef{false, kNoId, base};
  }

  static bool stores(const codegen::Lowered& k, std::size_t buffer) {
    return std::any_of(k.ir.accesses.begin(), k.ir.accesses.end(),
                       [&](const codegen::Access& a) { return a.buffer == buffer && a.store; });
  }

  // --- In place ----------------------------------------------------------------------------------------------------

  void take_over(std::size_t s) {
    if (call(s)) {
      const std::uint32_t to = ids_[s].back();
      if (may_take(s, base_[s], to) && std::ranges::count(ids_[s], base_[s]) == 0) take(to, base_[s]);
      return;
    }
    const codegen::Lowered& k = step(s).lowered;
    for (std::size_t b = 0; b < k.buffers.size(); ++b) {
      if (!stores(k, b)) continue;
      const bool update = k.scatter && k.buffers[b] == BufferRef{false, kNoId, k.scatter->update};
      if (update) {
        const bool in_place = may_take(s, base_[s], ids_[s][b]) && scatter_allows(k, base_[s], s, b);
        if (in_place) take(ids_[s][b], base_[s]);
        continue;
      }
      for (std::size_t from = 0; from < k.buffers.size(); ++from) {
        if (!may_take(s, ids_[s][from], ids_[s][b]) || ids_[s][from] == base_[s] || !same_elements(k, from, b))
          continue;
        take(ids_[s][b], ids_[s][from]);
        break;
      }
    }
  }

  [[nodiscard]] bool may_take(std::size_t s, std::uint32_t from, std::uint32_t to) const {
    if (from == kNoId) return false;
    const Place &a = places_[from], &b = places_[to];
    return from != to && a.dies && a.last == s && a.from != s && a.taken_by == kNoId && b.takes == kNoId &&
           a.bytes == b.bytes;
  }

  void take(std::uint32_t to, std::uint32_t from) {
    places_[to].takes = from;
    places_[from].taken_by = to;
  }

  /// True if a kernel reads a buffer at places that it computes: anywhere.
  static bool is_gathered(const codegen::KernelIr& ir, std::size_t buffer) {
    return std::any_of(ir.accesses.begin(), ir.accesses.end(),
                       [&](const codegen::Access& a) { return a.buffer == buffer && a.gathered; });
  }

  /// True if buffer `from` is read only at elements that the same point writes to buffer `to`, and before it does.
  static bool same_elements(const codegen::Lowered& k, std::size_t from, std::size_t to) {
    const codegen::KernelIr& ir = k.ir;
    if (is_gathered(ir, from)) return false;
    if ((!ir.is_map() && !ir.is_row()) || ir.has(codegen::trait::kNeighbours))
      return false;  // a tile loads what others store
    if (itemsize(ir.buffers[from]) != itemsize(ir.buffers[to])) return false;
    std::vector<const codegen::AccessArgs*> written;
    for (const codegen::Instr& in : ir.instrs) {
      if (in.kind == codegen::InstrKind::Store && ir.accesses[in.index].buffer == to) {
        if (in.region != codegen::Region::Point || in.stage + 1 != ir.stages()) return false;
        written.push_back(&k.args.accesses[in.index]);
      }
    }
    if (written.empty()) return false;
    bool stored = false;
    for (const codegen::Instr& in : ir.instrs) {
      if (in.kind == codegen::InstrKind::Store && ir.accesses[in.index].buffer == to) stored = true;
      if (in.kind != codegen::InstrKind::Load || ir.accesses[in.index].buffer != from) continue;
      const auto is_read = [&](const codegen::AccessArgs* a) { return equal(k.args.accesses[in.index], *a); };
      if (stored || in.region != codegen::Region::Point || std::ranges::none_of(written, is_read)) return false;
    }
    return true;
  }

  static bool equal(const codegen::AccessArgs& a, const codegen::AccessArgs& b) {
    return a.offset == b.offset && a.strides == b.strides && a.reduced_stride == b.reduced_stride;
  }

  /// True if an update's kernel reads the base's buffer only where it does not write, or at the element it writes.
  bool scatter_allows(const codegen::Lowered& k, std::uint32_t base, std::size_t s, std::size_t to) {
    const codegen::AccessArgs* written = nullptr;
    for (std::size_t a = 0; a < k.ir.accesses.size(); ++a)
      if (k.ir.accesses[a].buffer == to && k.ir.accesses[a].store) written = &k.args.accesses[a];
    if (!written || !k.ir.is_map()) return false;
    const auto box = [&](const codegen::AccessArgs& a) {
      return graph::StridedBox{a.offset, k.args.extents, a.strides};
    };
    for (std::size_t a = 0; a < k.ir.accesses.size(); ++a) {
      const codegen::Access& access = k.ir.accesses[a];
      if (access.buffer == codegen::kNone || access.store || ids_[s][access.buffer] != base) continue;
      if (access.gathered) return false;
      if (itemsize(k.ir.buffers[access.buffer]) != itemsize(k.ir.buffers[to])) return false;
      const bool apart = !graph::overlap(box(k.args.accesses[a]), box(*written));
      if (!apart && !same_elements(k, access.buffer, to)) return false;
    }
    return true;
  }

  // --- Chains to buffers -------------------------------------------------------------------------------------------

  void place_chains() {
    std::vector<std::uint32_t> heads;  // of chains that start in memory of their own, by the step that makes them
    for (std::uint32_t id = 0; id < places_.size(); ++id)
      if (places_[id].takes == kNoId && places_[id].leaf == kNoId) heads.push_back(id);
    std::stable_sort(heads.begin(), heads.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return places_[a].from < places_[b].from; });
    for (const std::uint32_t head : heads) {
      const std::uint32_t output = places_[tail(head)].output;
      if (output == kNoId) continue;
      const std::uint32_t leaf = idle_leaf(places_[head]);
      if (leaf != kNoId) {
        take(head, leaf);
      } else {
        place_all(head, {Operand::Kind::Output, output});
      }
    }
    for (std::uint32_t id = 0; id < places_.size(); ++id) {
      if (places_[id].leaf == kNoId || places_[id].taken_by == kNoId) continue;
      place_all(id, places_[id].operand);
      if (const std::uint32_t output = places_[tail(id)].output; output != kNoId)
        plan_.outputs[output].leaf = places_[id].leaf;
    }
    std::erase_if(heads,
                  [&](std::uint32_t h) { return places_[h].takes != kNoId || places_[tail(h)].output != kNoId; });
    place_temporaries(heads);
  }

  [[nodiscard]] std::uint32_t tail(std::uint32_t id) const {
    while (places_[id].taken_by != kNoId) id = places_[id].taken_by;
    return id;
  }

  void place_all(std::uint32_t head, Operand operand) {
    for (std::uint32_t id = head; id != kNoId; id = places_[id].taken_by) places_[id].operand = operand;
  }

  /// A donated leaf of the right size that is not read any more when the value is made.
  [[nodiscard]] std::uint32_t idle_leaf(const Place& value) const {
    for (const std::uint32_t id : donated_) {
      const Place& p = places_[id];
      const bool idle = p.last == kNever || p.last < value.from;
      if (p.taken_by == kNoId && idle && p.bytes == value.bytes) return id;
    }
    return kNoId;
  }

  void place_temporaries(const std::vector<std::uint32_t>& heads) {
    struct Busy {
      std::size_t last;
      std::uint32_t slot;
    };
    std::vector<Busy> busy;
    std::vector<std::uint32_t> free;
    for (const std::uint32_t head : heads) {
      const auto done = [&](const Busy& b) { return b.last < places_[head].from; };
      for (const Busy& b : busy)
        if (reuse_ && done(b)) free.push_back(b.slot);
      if (reuse_) std::erase_if(busy, done);
      const std::uint32_t slot = take_slot(free, places_[head].bytes);
      busy.push_back({places_[tail(head)].last, slot});
      place_all(head, {Operand::Kind::Temporary, slot});
    }
  }

  /// The free slot that fits best: the smallest one large enough, else the largest one, grown.
  std::uint32_t take_slot(std::vector<std::uint32_t>& free, std::size_t bytes) {
    std::vector<std::size_t>& slots = plan_.temporaries;
    if (free.empty()) {
      slots.push_back(bytes);
      return static_cast<std::uint32_t>(slots.size() - 1);
    }
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const std::size_t x = slots[a], y = slots[b];
      if ((x >= bytes) != (y >= bytes)) return x >= bytes;
      return x >= bytes ? x < y : x > y;
    };
    const auto best = std::min_element(free.begin(), free.end(), better);
    const std::uint32_t slot = *best;
    free.erase(best);
    slots[slot] = std::max(slots[slot], bytes);
    return slot;
  }

  // --- Steps -------------------------------------------------------------------------------------------------------

  void write() {
    std::vector<Step> steps;
    std::uint32_t checks = 0;  // of the steps before
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      std::vector<Operand>& operands = call(s) ? *call(s).operands : step(s).operands;
      for (const std::uint32_t id : ids_[s])
        operands.push_back(id == kNoId ? Operand{Operand::Kind::Faults, checks} : places_[id].operand);
      if (!call(s)) checks += static_cast<std::uint32_t>(step(s).lowered.checks.size());
      if (base_[s] != kNoId) copy_base(s, steps);
      steps.push_back(std::move(plan_.steps[s]));
    }
    plan_.steps = std::move(steps);
  }

  /// The copy before an update that could not take over the base's buffer.
  void copy_base(std::size_t s, std::vector<Step>& steps) {
    const std::uint32_t to = call(s) ? ids_[s].back() : value_ids_.at(step(s).lowered.scatter->update);
    const Place& base = places_[base_[s]];
    if (places_[to].takes == base_[s]) return;
    std::size_t offset = 0;  // the base of a call begins where its memory does
    if (base.leaf != kNoId && !call(s)) {
      const graph::LeafLayout& layout = g_.leaves[base.leaf];
      TARRY_ASSERT(layout.contiguous);
      offset = static_cast<std::size_t>(layout.offset) * itemsize(g_.nodes[step(s).lowered.scatter->update.node].dtype);
    }
    steps.emplace_back(CopyStep{base.operand, places_[to].operand, offset, places_[to].bytes});
  }

  const Graph& g_;
  const OutputIndex& outputs_;
  const bool reuse_;
  CompiledPlan& plan_;
  std::vector<Place> places_;
  std::map<std::uint32_t, std::uint32_t> leaf_ids_;
  std::map<GraphEdge, std::uint32_t, EdgeLess> value_ids_;
  std::vector<std::size_t> leaf_bytes_;
  std::vector<std::uint32_t> donated_;           // places of donated leaves, read or not
  std::vector<std::vector<std::uint32_t>> ids_;  // by step and buffer
  std::vector<std::uint32_t> base_;              // by step: the base of its update, or kNoId
};

}  // namespace

void assign_buffers(const Graph& g, const OutputIndex& outputs, Reuse reuse, CompiledPlan& plan) {
  Placer(g, outputs, reuse, plan).run();
}

}  // namespace tarry::runtime
