// take_snapshot: from recorded nodes to a Graph and the canonical key of its plan, in one walk without recursion.
//
// Donation (LeafLayout::donated). A leaf may be overwritten where this evaluate is all that keeps it: its memory is a
// whole buffer of our pool that nothing else holds, and every reference to its node comes from a root, which drops its
// inputs when it is published, or from a node that only such nodes refer to. Reference counts are read under the engine's
// mutex. Who could raise one afterwards would have to hold a reference now, and it would have been counted.
#include <bit>
#include <cstring>

#include "graph/graph.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Open-addressing map from node address to graph id; a walk does one lookup per edge.
class IdMap {
 public:
  IdMap() : slots_(64) {}
  NodeId* find(const Node* n) {
    for (std::size_t i = place(n);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].node == n) return &slots_[i].id;
      if (!slots_[i].node) return nullptr;
    }
  }
  void insert(const Node* n, NodeId id) {
    if (2 * ++used_ > slots_.size()) grow();
    put(n, id);
  }

 private:
  struct Slot {
    const Node* node = nullptr;
    NodeId id = 0;
  };
  [[nodiscard]] std::size_t place(const Node* n) const {
    return (reinterpret_cast<std::uintptr_t>(n) / sizeof(Node) * 0x9E3779B97F4A7C15u >> 20) & (slots_.size() - 1);
  }
  void put(const Node* n, NodeId id) {
    std::size_t i = place(n);
    while (slots_[i].node) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {n, id};
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.node) put(s.node, s.id);
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Walker {
 public:
  explicit Walker(Snapshot& s) : s_(s) {}

  /// The first claimed node met, or nullptr when the snapshot is complete.
  Node* walk(std::span<const Edge> roots) {
    for (const Edge& root : roots) {
      if (Node* blocked = visit(root.node())) return blocked;
      s_.graph.roots.push_back({*ids_.find(root.node()), root.output()});
      append(s_.graph.roots.back());
    }
    find_donations();
    return nullptr;
  }

 private:
  struct Frame {
    Node* node;
    int next;
  };

  Node* visit(Node* root) {
    if (ids_.find(root)) return nullptr;
    stack_.push_back({root, 0});
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      const State state = f.node->state.load(std::memory_order_acquire);
      if (state == State::Claimed) return f.node;
      if (state == State::Failed) std::rethrow_exception(f.node->extra->error);
      if (state == State::Lazy && f.next < f.node->n_inputs) {
        Node* input = f.node->input(f.next++);
        if (!ids_.find(input)) stack_.push_back({input, 0});
        continue;
      }
      Node* done = f.node;
      stack_.pop_back();
      if (!ids_.find(done)) add(done, state == State::Ready);
    }
    return nullptr;
  }

  void add(Node* n, bool ready) {
    Graph& g = s_.graph;
    if (n->device.kind != DeviceKind::Unplaced) s_.placed = n->device;
    if (ready && output_count(n->op) > 1) {
      // Several outputs of one evaluated node are several leaves; they are told apart where they are used.
      TARRY_ASSERT(n->extra && !n->extra->results.empty());
    }
    GraphNode out;
    out.dtype = n->dtype;
    out.mode = n->mode;
    out.shape = g.intern(Dims(n->shape()));
    out.file = n->file;
    out.line = n->line;
    if (ready && n->op != Op::Scalar) {
      out.op = Op::Input;
      out.payload = add_leaf(*n, 0);
    } else {
      out.op = n->op;
      out.n_inputs = n->n_inputs;
      for (int i = 0; i < n->n_inputs; ++i) out.inputs[i] = resolve(n->input(i), n->input_output(i));
      out.payload = add_payload(*n);
    }
    const auto id = static_cast<NodeId>(g.nodes.size());
    out.origin = id;
    ids_.insert(n, id);
    nodes_.push_back(n);
    first_.push_back(id);
    append(out.op);
    append(out.dtype);
    append(out.mode);
    for (int i = 0; i < out.n_inputs; ++i) append(out.inputs[i]);
    append_dims(g.shapes[out.shape]);
    append(ready);
    if (out.op == Op::Input) append_leaf(g.leaves[out.payload]);
    if (out.op == Op::Scalar) append(g.scalars[out.payload].known);
    if (!ready) append_bytes(n->attributes());
    g.nodes.push_back(out);
    ++s_.recorded_nodes;
  }

  /// The edge (node, output); a second output of an evaluated node becomes a leaf of its own.
  GraphEdge resolve(Node* n, std::uint32_t output) {
    const NodeId id = *ids_.find(n);
    if (output == 0 || s_.graph.nodes[id].op != Op::Input) return {id, output};
    for (const auto& [from, to] : second_outputs_)
      if (from == id) return {to, 0};
    GraphNode leaf = s_.graph.nodes[id];
    leaf.payload = add_leaf(*n, output);
    leaf.origin = static_cast<NodeId>(s_.graph.nodes.size());
    append(id);
    append_leaf(s_.graph.leaves[leaf.payload]);
    s_.graph.nodes.push_back(leaf);
    nodes_.push_back(n);
    first_.push_back(id);
    second_outputs_.emplace_back(id, static_cast<NodeId>(s_.graph.nodes.size() - 1));
    return {second_outputs_.back().second, 0};
  }

  std::uint32_t add_leaf(const Node& n, std::uint32_t output) {
    const auto& storage = n.extra->results.at(output);
    const Buffer& buffer = *storage->buffer;
    const std::size_t bytes = static_cast<std::size_t>(element_count(n.shape())) * itemsize(n.dtype);
    const bool whole = storage->contiguous && storage->offset == 0 && buffer.bytes >= bytes;
    // Counted before the storage is copied: the copy, a read-modify-write of the same counter, orders this thread after
    // the last use by whoever gave up a share.
    const bool sole = buffer.owner == Owner::Pool && storage.use_count() == 1 && storage->buffer.use_count() == 1;
    s_.graph.leaves.push_back({storage->offset, storage->strides, storage->contiguous, whole && sole});
    s_.leaves.push_back(storage);
    s_.leaf_devices.push_back(storage->buffer->device);
    s_.leaf_computed.push_back(n.op != Op::Input);
    return static_cast<std::uint32_t>(s_.leaves.size() - 1);
  }

  std::uint32_t add_payload(const Node& n) {
    Graph& g = s_.graph;
    switch (info(n.op).op_class) {
      case OpClass::Scalar: {
        ScalarSource source;
        source.dtype = n.dtype;
        source.cell = static_cast<std::uint32_t>(s_.cells.size());
        source.known = n.attributes() == kOpaque ? ScalarClass::Other : classify(n.dtype, n.cell());
        s_.cells.push_back(n.cell());
        g.scalars.push_back(source);
        return static_cast<std::uint32_t>(g.scalars.size() - 1);
      }
      case OpClass::View:
        g.views.push_back(decode_view(n.attributes()));
        return static_cast<std::uint32_t>(g.views.size() - 1);
      case OpClass::Update:
        g.updates.push_back(decode_update(n.attributes()));
        return static_cast<std::uint32_t>(g.updates.size() - 1);
      case OpClass::Reduce:
      case OpClass::Scan:
        g.reduces.push_back(decode_reduce(n.attributes()));
        return static_cast<std::uint32_t>(g.reduces.size() - 1);
      case OpClass::Iota:
        return static_cast<std::uint32_t>(decode_iota(n.attributes()).axis);
      default:
        return kNoId;
    }
  }

  /// Consumers before producers: counts the references to each node from nodes that let go of it.
  void find_donations() {
    std::vector<std::uint32_t> released(nodes_.size());
    std::vector<bool> root(nodes_.size());
    for (const GraphEdge& r : s_.graph.roots) root[r.node] = true;
    for (auto id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
      const GraphNode& n = s_.graph.nodes[id];
      const NodeId first = first_[id];
      const bool dies = nodes_[id]->refs.load(std::memory_order_acquire) == released[first];
      if (n.op == Op::Input && (!dies || root[first])) s_.graph.leaves[n.payload].donated = false;
      if (!dies && !root[id]) continue;
      for (int i = 0; i < n.n_inputs; ++i) ++released[first_[n.inputs[i].node]];
    }
  }

  template <class T>
  void append(const T& v) {
    s_.key.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void append_bytes(std::string_view b) {
    append(static_cast<std::uint32_t>(b.size()));
    s_.key.append(b);
  }
  void append_dims(const Dims& d) {
    append(static_cast<std::uint8_t>(d.size()));
    s_.key.append(reinterpret_cast<const char*>(d.begin()), static_cast<std::size_t>(d.size()) * sizeof(std::int64_t));
  }
  void append_leaf(const LeafLayout& l) {
    append(l.contiguous);
    append(l.offset);
    if (!l.contiguous) append_dims(l.strides);
  }

  Snapshot& s_;
  IdMap ids_;
  std::vector<Frame> stack_;
  std::vector<Node*> nodes_;   // by graph id
  std::vector<NodeId> first_;  // by graph id: the first id of the same node; another output is a leaf of its own
  std::vector<std::pair<NodeId, NodeId>> second_outputs_;
};

}  // namespace

Snapshot take_snapshot(std::span<const Edge> roots, Node** blocked) {
  Snapshot s;
  *blocked = Walker(s).walk(roots);
  return s;
}

}  // namespace tarry::graph
