// The walk: depth first, without recursion, and the words of the key as it goes.
#include "graph/record/key_walk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "graph/call.h"
#include "graph/pending.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Its value is what a call will make.
bool awaits_call(const Node& n) { return n.op == Op::Input && n.extra != nullptr && n.extra->call != nullptr; }

/// Evaluated: its value is what the graph sees of it. A Scalar stays one, since its value is a launch argument.
bool is_leaf(const Node& n, bool ready) { return (ready && n.op != Op::Scalar) || awaits_call(n); }

bool is_ready(const Node& n) { return n.state.load(std::memory_order_acquire) == State::Ready; }

/// The class of a Scalar's value that a plan may know.
ScalarClass known_of(const Node& n) {
  return n.extra != nullptr && std::string_view(n.extra->attributes) == kOpaque ? ScalarClass::Other
                                                                                : classify(n.dtype, n.cell());
}

/// Its shape follows from those of its inputs and its attributes, which the key has.
constexpr auto kShapeFollows = [] {
  std::array<bool, kOpCount> follows{};
  for (const OpInfo& op : kOpTable)
    follows[static_cast<std::size_t>(op.op)] = op.op_class == OpClass::Map || op.op_class == OpClass::Reduce ||
                                               op.op_class == OpClass::Update || op.op_class == OpClass::Gather;
  return follows;
}();

/// Bytes follow how many they are, in whole words.
constexpr std::size_t words_of(std::size_t bytes) { return 1 + (bytes + 7) / 8; }

class Walker {
 public:
  Walker(KeyWalk& o, const WalkOptions& options)
      : o_(o),
        passes_(options.claimed == Claimed::IsLazy ? State::Claimed : State::Lazy),
        marks_(options.marks),
        most_kept_(options.most_kept),
        stand_ins_(options.stand_ins),
        at_(o.room(KeyWalk::kHead) + KeyWalk::kHead),
        end_(o.words.data() + o.words.size()) {}
  ~Walker() { o_.advance(at_); }
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  Node* run(std::span<const Edge> roots) {
    // Scalars that are roots come first: what is published has an id of its own, below those of its readers.
    for (const Edge& root : roots)
      if (root.node()->op == Op::Scalar && !seen(root.node())) add_scalar(root.node(), is_ready(*root.node()), true);
    for (const Edge& root : roots) {
      if (root.node()->in_loop) refuse(*root.node());
      if (root.node()->traced && stand_ins_ == StandIns::Refused) refuse_traced(*root.node());
      if (Node* blocked = visit(root.node())) return blocked;
      o_.roots.push_back({o_.id_of(*root.node()), root.output()});
      put(word(o_.roots.back()) | kRootTag);
    }
    o_.asked = o_.roots.size();
    if (stand_ins_ == StandIns::Bound) o_.candidates.clear();
    std::erase_if(o_.candidates, [&](const KeyWalk::Candidate& c) { return !is_inner(o_.visits[c.id]); });
    if (marks_ != Marks::Ignore || !o_.candidates.empty()) find_kept();
    for (const KeyWalk::Candidate& c : o_.candidates) o_.donated[c.leaf] = is_inner(o_.visits[c.id]);
    return nullptr;
  }

 private:
  [[noreturn]] static void refuse(const Node& n) {
    TARRY_THROW(InvalidArgument, std::string(name(n.op)), n.where(),
                "is a value of the body of a scan, which it has at each level; what the body returns can be evaluated");
  }

  [[noreturn]] static void refuse_traced(const Node& n) {
    TARRY_THROW(InvalidArgument, std::string(name(n.op)), n.where(),
                "depends on the arguments of a function that is recorded to be replayed, which have no values while it "
                "is; what the function returns has them");
  }

  /// A node's mark is its id where the walk has been there: what an earlier walk left there names another node, or
  /// none.
  [[nodiscard]] bool seen(const Node* n) const {
    if (n->mark < count_) return o_.visits[n->mark].node == n;
    const std::size_t alias = n->mark & ~KeyWalk::kAlias;
    return (n->mark & KeyWalk::kAlias) != 0 && alias < o_.aliases.size() && o_.aliases[alias].node == n;
  }

  Node* visit(Node* root) {
    if (seen(root)) return nullptr;
    Node* n = root;
    int next = 0;  // of its inputs
    for (;;) {
      const State state = n->state.load(std::memory_order_acquire);
      if (state == State::Lazy || state == passes_) {
        Node* below = nullptr;
        while (next < n->n_inputs && seen(below = n->input(next))) ++next;
        if (next < n->n_inputs) {
          o_.stack.push_back({n, next + 1});
          n = below;
          next = 0;
          continue;
        }
      } else if (state == State::Claimed) {
        return n;
      } else if (state == State::Failed) {
        std::rethrow_exception(n->extra->error);
      }
      if (n->op == Op::Scalar) {
        add_scalar(n, state == State::Ready, false);
      } else if (state != State::Ready && awaits_call(*n)) {
        if (passes_ != State::Claimed) return n;
        add_expected(n);
      } else if (state == State::Ready) {
        add_value(n);
      } else {
        add_computed(n);
      }
      if (o_.stack.empty()) return nullptr;
      n = o_.stack.back().node;
      next = o_.stack.back().next;
      o_.stack.pop_back();
    }
  }

  /// The scalar that stands for `n`, or nullptr. Looks back over a fixed number of them: the answer depends on the
  /// program alone, and a walk stays linear.
  [[nodiscard]] const Node* equal_scalar(const Node& n) const {
    constexpr std::size_t kLookBack = 16;
    const ScalarCell cell = n.cell();
    for (std::size_t i = o_.scalars.size(); i > 0 && i + kLookBack > o_.scalars.size(); --i) {
      const Node& s = *o_.scalars[i - 1];
      if (s.line == n.line && s.dtype == n.dtype && s.file == n.file && s.device == n.device && s.cell() == cell)
        return &s;
    }
    return nullptr;
  }

  void add_scalar(Node* n, bool ready, bool own_id) {
    place(*n);
    if (n->extra == nullptr && n->file != nullptr) {
      if (const Node* const same = own_id ? nullptr : equal_scalar(*n)) {
        n->mark = KeyWalk::kAlias | static_cast<std::uint32_t>(o_.aliases.size());
        o_.aliases.push_back({n, same->mark});
        return;
      }
      o_.scalars.push_back(n);
    }
    o_.cells.push_back(n->cell());
    number(n);
    const auto known = static_cast<std::uint64_t>(known_of(*n));
    put(first_word(Op::Scalar, n->dtype, n->rank, 0) | mode_bits(*n) | (ready ? kReady : 0) | known << kKnownShift);
    if (!ready) put_bytes(n->extra == nullptr ? std::string_view() : std::string_view(n->extra->attributes));
  }

  void add_value(Node* n) {
    place(*n);
    number(n);
    put(first_word(Op::Input, n->dtype, n->rank, 0) | mode_bits(*n) | kReady);
    put_extents(*n);
    add_leaf(*n, 0);
  }

  /// A value that a call will make.
  void add_expected(Node* n) {
    place(*n);
    number(n);
    put(first_word(Op::Input, n->dtype, n->rank, 0) | mode_bits(*n) | kReady);
    put_extents(*n);
    add_leaf(*n, n->extra->call->expected(n->extra->call_result));
  }

  void add_computed(Node* n) {
    place(*n);
    const int inputs = n->n_inputs;
    std::uint64_t packed = 0, ids = 0;
    for (int i = 0; i < inputs; ++i) {
      const NodeId id = o_.id_of(*n->input(i));
      ++o_.visits[id].readers;
      const GraphEdge e = resolve(n->input(i), id, n->input_output(i));
      packed = packed << 21 | std::uint64_t{e.node} << 1 | e.output;
      ids |= e.node;
    }
    number(n);
    reserve(kWithoutExtra);
    const std::uint64_t first = first_word(n->op, n->dtype, n->rank, n->n_inputs) | mode_bits(*n);
    if (ids >> 20 == 0) {  // all inputs in one word: an id below 2^20 and an output of 0 or 1 each
      *at_++ = first | kPacked;
      *at_++ = packed;
    } else {
      *at_++ = first;
      for (int i = 0; i < inputs; ++i) *at_++ = word(resolve(n->input(i), o_.id_of(*n->input(i)), n->input_output(i)));
    }
    if (n->extra != nullptr) {
      if (!kShapeFollows[static_cast<std::size_t>(n->op)]) put_extents(*n);
      put_bytes(n->extra->attributes);
      return;
    }
    std::uint64_t* at = at_;
    if (!kShapeFollows[static_cast<std::size_t>(n->op)]) {
      const int rank = n->rank;
      for (int d = 0; d < rank; ++d) *at++ = static_cast<std::uint64_t>(n->dims[d]);
    }
    if (!n->is_box()) {
      *at++ = 0;
    } else {
      const std::size_t bytes = n->box_bytes();
      AttributeWriter to(begin_bytes(bytes, at));
      n->put_box(to);
      at += words_of(bytes);
    }
    at_ = at;
  }

  void place(const Node& n) {
    if (n.device.kind != DeviceKind::Unplaced) o_.placed = n.device;
  }

  void number(Node* n) {
    n->mark = count_;
    add_visit(n, 0);
  }
  void add_visit(Node* n, std::uint32_t output) {
    o_.visits.push_back({n, output, 0});
    ++count_;
  }

  /// The edge (node, output); a second output of an evaluated node becomes a leaf of its own.
  GraphEdge resolve(Node* n, NodeId id, std::uint32_t output) {
    return output == 0 ? GraphEdge{id, 0} : resolve_further(n, id, output);
  }
  [[gnu::noinline]] GraphEdge resolve_further(Node* n, NodeId id, std::uint32_t output) {
    if (n->state.load(std::memory_order_acquire) != State::Ready) return {id, output};
    for (const auto& [from, to] : o_.second_outputs)
      if (from == id) return {to, 0};
    const NodeId leaf = count_;
    add_visit(n, output);
    o_.second_outputs.emplace_back(id, leaf);
    put(word({id, output}) | kOutputTag);
    add_leaf(*n, output);
    return {leaf, 0};
  }

  void add_leaf(const Node& n, std::uint32_t output) { add_leaf(n, n.extra->results.at(output)); }
  void add_leaf(const Node& n, const std::shared_ptr<Storage>& storage) {
    const Buffer& buffer = *storage->buffer;
    const std::size_t size = static_cast<std::size_t>(element_count(n.shape())) * itemsize(n.dtype);
    const bool whole = storage->contiguous && storage->offset == 0 && buffer.bytes >= size;
    // Counted before the storage is copied: the copy, a read-modify-write of the same counter, orders this thread after
    // the last use by whoever gave up a share.
    const bool sole = buffer.owner == Owner::Pool && storage.use_count() == 1 && storage->buffer.use_count() == 1;
    if (whole && sole) o_.candidates.push_back({n.mark, static_cast<std::uint32_t>(o_.leaves.size())});
    o_.donated.push_back(0);
    o_.leaves.push_back(storage);
    if (n.op == Op::Input && n.extra->own_code) ++o_.own_code;
    put(static_cast<std::uint64_t>(storage->contiguous) | static_cast<std::uint64_t>(storage->any_byte) << 1);
    put(static_cast<std::uint64_t>(storage->offset));
    if (storage->contiguous) return;
    for (const std::int64_t stride : storage->strides) put(static_cast<std::uint64_t>(stride));
  }

  static constexpr std::uint32_t kRoot = KeyWalk::kRoot, kKept = KeyWalk::kKept, kWhole = KeyWalk::kWhole,
                                 kGrown = KeyWalk::kGrown, kShown = KeyWalk::kShown, kReaders = KeyWalk::kReaders;

  /// Nobody but nodes of the walk refers to it.
  [[nodiscard]] static bool is_held(const KeyWalk::Visit& v) {
    return v.node->refs.load(std::memory_order_acquire) != (v.readers & kReaders);
  }
  /// Nor does a node that stays lazy.
  [[nodiscard]] static bool is_inner(const KeyWalk::Visit& v) { return (v.readers & kKept) == 0 && !is_held(v); }

  /// Consumers before producers: a node that somebody else holds, or such a node reads, keeps what it reads. Not roots.
  void find_kept() {
    for (const GraphEdge& r : o_.roots) o_.visits[r.node].readers |= kRoot | kWhole;
    for (std::size_t id = o_.visits.size(); id-- > 0;) {
      KeyWalk::Visit& v = o_.visits[id];
      Node& n = *v.node;
      if (n.n_inputs == 0) continue;
      if (computes_all(n.op)) v.readers |= kWhole;
      bool root = (v.readers & kRoot) != 0;
      const bool kept = !root && !is_inner(v);
      const bool grows = kept && n.computed == 0;
      if (kept && marks_ != Marks::Ignore) {
        root = (v.readers & kShown) != 0 || (n.computed != 0 && is_stored(static_cast<NodeId>(id)));
        if (root)
          store(static_cast<NodeId>(id));
        else if (marks_ == Marks::Set)
          n.computed = 1;
      }
      if (root && n.op == Op::Reshape && marks_ == Marks::Set) show(*n.input(0));
      const bool whole = root || (v.readers & kWhole) != 0;
      const std::uint32_t passed = kept && !root ? kKept | (grows ? kGrown : 0) : 0;
      for (int i = 0; i < n.n_inputs; ++i) {
        const bool of_input = whole && (n.op != Op::View || !is_smaller(n, *n.input(i)));
        o_.visits[o_.id_of(*n.input(i))].readers |= passed | (of_input ? kWhole : 0);
      }
    }
  }

  /// A result shows all of its memory.
  void show(const Node& n) {
    const bool is_view = info(n.op).op_class == OpClass::View || n.op == Op::Reshape;
    if (!is_view && output_count(n.op) == 1 && !n.in_loop) o_.visits[o_.id_of(n)].readers |= kShown;
  }
  /// Whatever is needed of its result.
  static bool computes_all(Op op) { return is_scan(op) || is_call(op) || is_loop(op); }
  static bool is_smaller(const Node& n, const Node& than) {
    return element_count(n.shape()) < element_count(than.shape());
  }

  void store(NodeId id) {
    o_.roots.push_back({id, 0});
    put(word(o_.roots.back()) | kRootTag);
  }

  /// True if a kept value that was computed before is stored now.
  [[nodiscard]] bool is_stored(NodeId id) {
    constexpr std::int64_t kSmall = std::int64_t{1} << 20;  // bytes that take no longer than the launch
    const Node& n = *o_.visits[id].node;
    const OpClass c = info(n.op).op_class;
    if (output_count(n.op) > 1 || n.in_loop) return false;
    if (c == OpClass::View || c == OpClass::Reshape) {
      const KeyWalk::Visit& base = o_.visits[viewed(id)];
      if (base.node->n_inputs == 0 || is_held(base) || !is_smaller(n, *base.node)) return false;
    }
    const std::int64_t bytes = bytes_of(n);
    const bool needed = (o_.visits[id].readers & (kWhole | kGrown)) != 0 || bytes <= kSmall;
    if (!needed || bytes > spare()) return false;
    spare_ -= bytes;
    return true;
  }

  /// The edge that a view or a reshape stands for.
  [[nodiscard]] NodeId viewed(NodeId id) {
    for (auto next = static_cast<NodeId>(o_.viewed.size()); next < o_.visits.size(); ++next) {
      const Node& n = *o_.visits[next].node;
      const OpClass c = info(n.op).op_class;
      const bool moves = n.n_inputs != 0 && (c == OpClass::View || c == OpClass::Reshape);
      o_.viewed.push_back(moves ? o_.viewed[o_.id_of(*n.input(0))] : next);
    }
    return o_.viewed[id];
  }

  [[nodiscard]] std::int64_t spare() {
    if (spare_ >= 0) return spare_;
    constexpr std::int64_t kMost = std::int64_t{1} << 58;
    std::int64_t leaves = 0;
    for (const KeyWalk::Visit& v : o_.visits)
      if (pending::is_value(*v.node)) leaves = std::min(leaves + bytes_of(*v.node), kMost);
    return spare_ = std::min(std::max(leaves, pending::budgeted_bytes()), most_kept_);
  }

  // Words that may stand where a node could begin say what they are; a node's first word has neither bit.
  static constexpr std::uint64_t kRootTag = std::uint64_t{1} << 63, kOutputTag = std::uint64_t{1} << 62;
  /// A node's first word: these, as they lie in the node, and the bits below.
  static std::uint64_t first_word(Op op, Dtype dtype, std::uint8_t rank, std::uint8_t inputs) {
    return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(dtype) << 8 | std::uint32_t{rank} << 16 |
           std::uint32_t{inputs} << 24;
  }
  static std::uint64_t mode_bits(const Node& n) { return static_cast<std::uint64_t>(n.mode) << 32; }
  static constexpr std::uint64_t kReady = std::uint64_t{1} << 40, kPacked = std::uint64_t{1} << 41;
  static constexpr int kKnownShift = 48;

  static std::uint64_t word(GraphEdge e) { return static_cast<std::uint64_t>(e.node) << 32 | e.output; }
  void reserve(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) grow(count);
  }
  [[gnu::noinline]] void grow(std::size_t count) {
    o_.advance(at_);
    at_ = o_.room(count);
    end_ = o_.words.data() + o_.words.size();
  }
  void put(std::uint64_t word) {
    reserve(1);
    *at_++ = word;
  }
  void put_extents(const Node& n) {
    reserve(n.rank);
    for (const std::int64_t extent : n.shape()) *at_++ = static_cast<std::uint64_t>(extent);
  }
  void put_bytes(std::string_view bytes) {
    reserve(words_of(bytes.size()));
    void* const to = begin_bytes(bytes.size(), at_);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    at_ += words_of(bytes.size());
  }
  /// Where they go.
  static void* begin_bytes(std::size_t bytes, std::uint64_t* at) {
    at[words_of(bytes) - 1] = 0;  // beyond the last byte
    at[0] = bytes;
    return at + 1;
  }
  /// The most words of a node without Extra.
  static constexpr std::size_t kWithoutExtra =
      1 + Node::kMaxInputs + Node::kInlineRank + words_of(4 + 20 * Node::kBoxRank);

  KeyWalk& o_;
  const State passes_;  // what counts as lazy too
  const Marks marks_;
  const std::int64_t most_kept_;
  const StandIns stand_ins_;
  std::int64_t spare_ = -1;   // bytes that may be stored besides; -1: not counted yet
  std::uint64_t *at_, *end_;  // where the next word goes, and the end of the room there is
  std::uint32_t count_ = 0;   // of visits
};

}  // namespace

void KeyWalk::clear() {
  constexpr std::size_t kMostKept = 16384;  // nodes
  if (visits.capacity() > kMostKept) {
    *this = KeyWalk();
    return;
  }
  visits.clear();
  roots.clear();
  leaves.clear();
  donated.clear();
  viewed.clear();
  cells.clear();
  length = walked = asked = 0;
  own_code = 0;
  placed = {};
  stack.clear();
  second_outputs.clear();
  scalars.clear();
  aliases.clear();
  candidates.clear();
}

Node* walk(std::span<const Edge> roots, KeyWalk& key_walk, const WalkOptions& options) {
  key_walk.clear();
  Node* const blocked = Walker(key_walk, options).run(roots);
  key_walk.walked = key_walk.length;
  return blocked;
}

void note_lines(KeyWalk& key_walk) {
  key_walk.lines.resize(key_walk.visits.size());
  Where* line = key_walk.lines.data();
  for (const KeyWalk::Visit& v : key_walk.visits) *line++ = v.node->where();
}

namespace {

std::uint32_t add_payload(const Node& n, std::uint32_t& cell, Graph& g) {
  switch (info(n.op).op_class) {
    case OpClass::Scalar: {
      ScalarSource source;
      source.dtype = n.dtype;
      source.cell = cell++;
      source.known = known_of(n);
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
    case OpClass::Gather: return static_cast<std::uint32_t>(decode_iota(n.attributes()).axis);
    case OpClass::Loop: return has_axis(n.op) ? static_cast<std::uint32_t>(decode_iota(n.attributes()).axis) : kNoId;
    case OpClass::Routine: return static_cast<std::uint32_t>(decode_routine(n.attributes()).way);
    default: return n.op == Op::Index ? decode_index(n.attributes()).payload() : kNoId;
  }
}

}  // namespace

Snapshot expand(const KeyWalk& o) {
  Snapshot s;
  Graph& g = s.graph;
  g.nodes.reserve(o.visits.size());
  std::uint32_t cell = 0, leaf = 0;
  for (const KeyWalk::Visit& v : o.visits) {
    const Node& n = *v.node;
    const bool ready = n.state.load(std::memory_order_acquire) == State::Ready;
    GraphNode out;
    out.dtype = n.dtype;
    out.mode = n.mode;
    out.shape = g.intern(Dims(n.shape()));
    out.file = n.file;
    out.line = n.line;
    out.origin = static_cast<NodeId>(g.nodes.size());
    if (v.output == 0) ++s.recorded_nodes;
    if (is_leaf(n, ready)) {
      out.op = Op::Input;
      out.payload = leaf++;
      const Storage& storage = *o.leaves[out.payload];
      g.leaves.push_back(
          {storage.offset, storage.strides, storage.contiguous, o.donated[out.payload] != 0, storage.any_byte});
      s.leaf_devices.push_back(storage.buffer->device);
      s.leaf_computed.push_back(n.op != Op::Input);
      if (n.op == Op::Input && n.extra->own_code) s.own_code.emplace_back(out.origin, *n.extra->own_code);
    } else {
      out.op = n.op;
      out.n_inputs = n.n_inputs;
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId id = o.id_of(*n.input(i));
        out.inputs[i] = {id, n.input_output(i)};
        if (out.inputs[i].output == 0 || g.nodes[id].op != Op::Input) continue;
        const auto second = std::find_if(o.second_outputs.begin(), o.second_outputs.end(),
                                         [&](const auto& p) { return p.first == id; });
        TARRY_ASSERT(second != o.second_outputs.end());
        out.inputs[i] = {second->second, 0};
      }
      out.payload = add_payload(n, cell, g);
    }
    g.nodes.push_back(out);
  }
  g.roots = o.roots;
  s.asked = o.asked;
  s.leaves = o.leaves;
  s.cells = o.cells;
  s.placed = o.placed;
  s.key.assign(reinterpret_cast<const char*>(o.words.data() + KeyWalk::kHead),
               (o.walked - KeyWalk::kHead) * sizeof(std::uint64_t));
  return s;
}

Snapshot take_snapshot(std::span<const Edge> roots, Node** blocked, Marks marks) {
  KeyWalk key_walk;
  Node* const claimed = walk(roots, key_walk, {.marks = marks, .claimed = blocked ? Claimed::Blocks : Claimed::IsLazy});
  if (blocked) *blocked = claimed;
  return claimed ? Snapshot() : expand(key_walk);
}

}  // namespace tarry::graph
