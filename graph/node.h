// Node: one recorded op. Immutable but for its state, its inputs (dropped once evaluated) and its result.
//
// Semantics. Values are arrays of one dtype. Map ops work elementwise on inputs of one dtype that broadcast as NumPy's
// do; recording inserts Cast nodes, so promotion is over before a node exists. Integers wrap; x/0 and shifts are
// defined (docs/reference/numerics.md). A Reduce works along one axis, which it removes; several axes are a chain,
// highest first. ArgMin and ArgMax take any number and give int64. A Scan works along one axis, which it keeps. A View
// is an index map and never a copy. A Reshape keeps the row-major sequence of elements. Update(base, value) is base
// with value in a box (start, step per axis; value's extents are the counts). Index(i, n) of int64 is the place along
// an axis of n > 0 elements that i names: i, or i + n where i is negative. An i outside of -n..n-1 gives 0, and is the
// error of whatever depends on it. Gather(x, i) reads along one axis, where element p of the result is that of x at
// i[p] along the axis and at p along the others: i has the result's shape, x has it but for that axis, and every i is
// an Index. Matmul((p, m, k), (q, k, n)) is (max(p, q), m, n), matrix by matrix, of one floating dtype; p == q, or one
// of them is 1 and that matrix serves all. Sort and Argsort order the last axis, ascending or descending; Argsort gives
// the int64 places. Searchsorted(sorted, x) is, for each x, the first place at which it could stand in a sorted row, or
// the last one. Bincount(i) counts the integers i (of uint8, uint16, uint32 or int64) that are 0, 1, ... up to the
// extent of its result; it passes over others. A Segment op of (rows, n) values and m + 1 ascending int64 offsets
// within 0..n gives (rows, m): run g of each row goes from offset g to offset g + 1. A Scatter op (set, add, multiply,
// min, max) of (base, i, v) is base, of (n, r), whose row i[p] is joined by row p of v, of (k, r), for every p: i, of
// (k), is int64 and within 0..n-1; k, n and r are not 0; floats are not added or multiplied so
// (docs/reference/numerics.md). Compact(mask), of (n + 1) and int64, begins with the places of the true elements of
// (n), in order; its last element is their number, and those between have no value. A loop goes over levels k = 0, 1,
// ..., n - 1: LoopLevel, of (n), from the first or from the last. What depends on it has a value at each level, of
// which no memory knows: LoopElement(x, level) is x without an axis, along which it stands at k; LoopCarry(init, level)
// is init at the first level, and later what its LoopNext(carry, value, others) named at the level before; elementwise
// ops and broadcasts are between them, and nothing else. The LoopNexts of a loop are a chain of tokens, without
// dimensions, that begins at the level, or at LoopWhile(condition, level). Two ops lead out of the loop, over the whole
// chain: LoopStack(value, chain) is the value at all levels along a new axis, LoopLast(value, chain) at the last one.
// Both have the extents that the values of the loop broadcast to. With a LoopWhile, carries are all that levels differ
// in, and they keep their values where the condition is false: levels behind are not computed. Only LoopLasts of next
// values lead out of such a loop. A loop that combines, by its LoopLevel, has other carries: LoopCarry(element, level),
// of a LoopElement, is what the levels before combine to, LoopLater(carry) the same of levels behind them, and its
// LoopNext names what the two combine to; between them are elementwise ops of such values and of numbers. Only
// LoopStack(carry, chain) leads out of it: what the levels 0..k combine to, in the order of scans
// (docs/reference/numerics.md). A Scalar is a 0-d value that becomes a kernel argument, never source text. An edge is
// (node, output index). An evaluated node is a leaf. An Input that is lazy waits for a call of the user's code
// (call.h). A Selection is what x(mask) records before somebody asks for its shape (record/selection.h): no other node
// reads it.
//
// Threads. op, dtype, shape, attributes never change. state, inputs and extra->result change only under
// engine_mutex() (runtime claims, publishes and drops inputs there). The last reference may be dropped on any thread;
// destruction is iterative.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tarry/error.h>

#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/shape.h"
#include "graph/storage.h"
#include "support/recycle.h"

namespace tarry::graph {

struct Node;
class Call;
class Selection;

/// Typed 16-byte cell of a scalar: the value in its dtype, zero-padded.
struct ScalarCell {
  alignas(8) unsigned char bytes[16] = {};
  template <class T>
  static ScalarCell of(T v) {
    ScalarCell c;
    __builtin_memcpy(c.bytes, &v, sizeof v);
    return c;
  }
  template <class T>
  [[nodiscard]] T as() const {
    T v;
    __builtin_memcpy(&v, bytes, sizeof v);
    return v;
  }
  friend bool operator==(const ScalarCell& a, const ScalarCell& b) {
    return __builtin_memcmp(a.bytes, b.bytes, 16) == 0;
  }
};

enum class State : std::uint8_t {
  Lazy,
  Claimed,
  Ready,
  Failed,
  Dead
};  // Dead: only its recorder's list knows it (pending.h)

/// Shared owner of one output of a node.
class Edge {
 public:
  Edge() = default;
  Edge(Node* adopted, std::uint32_t output) : node_(adopted), output_(output) {}  // takes over one reference
  Edge(const Edge& o);
  Edge(Edge&& o) noexcept : node_(std::exchange(o.node_, nullptr)), output_(o.output_) {}
  Edge& operator=(Edge o) noexcept {
    std::swap(node_, o.node_);
    std::swap(output_, o.output_);
    return *this;
  }
  ~Edge();
  [[nodiscard]] Node* node() const { return node_; }
  [[nodiscard]] std::uint32_t output() const { return output_; }
  explicit operator bool() const { return node_ != nullptr; }
  Node* release() { return std::exchange(node_, nullptr); }

 private:
  Node* node_ = nullptr;
  std::uint32_t output_ = 0;
};

/// Fields that few nodes need: attributes, results, an error, shapes beyond six dimensions. A View or Update that is a
/// box needs none for its attributes.
struct Extra : support::Recycled {
  template <class T>
  using List = std::vector<T, support::Recycler<T>>;
  KeptAttributes attributes;
  List<std::int64_t> dims;                 ///< the shape where rank > Node::kInlineRank
  List<std::shared_ptr<Storage>> results;  ///< one per output once Ready
  std::exception_ptr error;                ///< once Failed
  std::shared_ptr<Call> call;              ///< of an Input that is lazy: what makes its value (call.h)
  std::uint32_t call_result = 0;
  std::shared_ptr<Selection> selection;         ///< of a Selection: what it stands for (record/selection.h)
  std::shared_ptr<const std::string> own_code;  ///< of an Input whose value a call makes or made: what that is called
};

struct alignas(128) Node {
  static constexpr int kInlineRank = 6;
  static constexpr int kBoxRank = kInlineRank / 2;
  static constexpr int kMaxInputs = 3;
  static constexpr unsigned kMostRank = 63;  ///< far above kMaxRank

  std::atomic<std::uint32_t> refs{1};
  Op op{};
  Dtype dtype{};  ///< of every output
  std::uint8_t rank : 6 = 0;
  std::uint8_t in_loop : 1 = 0;  ///< has a value at each level of a loop, and no other
  std::uint8_t traced : 1 = 0;   ///< depends on what stands for a function's arguments (record/trace.h)
  std::uint8_t n_inputs : 7 = 0;
  std::uint8_t computed : 1 =
      0;  ///< an evaluate has computed it and not stored it (key_walk.h); guarded by engine_mutex()
  std::atomic<State> state{State::Lazy};
  Mode mode{};
  Device device{};         ///< explicitly placed, or unplaced
  std::uint32_t line = 0;  ///< user's line; file below
  Node* newer = nullptr;   ///< in its recorder's list (pending.h)
  union {
    const char* file = nullptr;
    Node* dying;  ///< the next of the nodes that die together
  };
  std::uintptr_t inputs[kMaxInputs] = {};  ///< Node* with the output index in the low bits (alignment is 128)
  std::int64_t dims[kInlineRank] = {};     ///< the shape; a Scalar (rank 0) keeps its cell here, a box its start behind
  Extra* extra = nullptr;
  std::uint32_t mark = 0;                  ///< its id in the latest walk (key_walk.h); guarded by engine_mutex()
  std::atomic<std::uint32_t> recorder{0};  ///< the thread in whose list it is (pending.h), or 0
  Node* older = nullptr;

  [[nodiscard]] Node* input(int i) const { return reinterpret_cast<Node*>(inputs[i] & ~std::uintptr_t{127}); }
  [[nodiscard]] std::uint32_t input_output(int i) const { return static_cast<std::uint32_t>(inputs[i] & 127); }
  void add_input(Edge e);  ///< takes over the reference; only of a node that nobody else knows yet
  [[nodiscard]] std::span<const std::int64_t> shape() const {
    return {rank <= kInlineRank ? dims : extra->dims.data(), rank};
  }
  /// At most kInlineRank dimensions. Not a loop: a compiler makes that a call, which costs more.
  void set_shape(std::span<const std::int64_t> from) {
    rank = from.size() & kMostRank;
    switch (from.size()) {
      case 6: dims[5] = from[5]; [[fallthrough]];
      case 5: dims[4] = from[4]; [[fallthrough]];
      case 4: dims[3] = from[3]; [[fallthrough]];
      case 3: dims[2] = from[2]; [[fallthrough]];
      case 2: dims[1] = from[1]; [[fallthrough]];
      case 1: dims[0] = from[0]; [[fallthrough]];
      default: break;
    }
  }
  [[nodiscard]] Where where() const { return {file, line}; }
  [[nodiscard]] ScalarCell cell() const {
    ScalarCell c;
    __builtin_memcpy(c.bytes, dims, 16);
    return c;
  }
  /// Their canonical form. Not of a View or Update that has its value: where it has no other attributes it is a box,
  /// every step 1 and the axes in order, of up to kBoxRank dimensions.
  [[nodiscard]] AttributeBytes attributes() const;
  [[nodiscard]] bool is_box() const { return extra == nullptr && (op == Op::View || op == Op::Update); }
  [[nodiscard]] std::int64_t& box_start(int d) { return dims[kBoxRank + d]; }
  [[nodiscard]] std::size_t box_bytes() const { return 4 + (op == Op::View ? 20 : 16) * std::size_t{rank}; }
  /// Puts the attributes of a box, of so many bytes.
  template <class To>
  void put_box(To& to) const {
    const std::int32_t count = rank;
    const bool axes = op == Op::View;
    to.put(count);
    for (std::int32_t d = 0; d < count; ++d) {
      if (axes) to.put(d);
      to.put(dims[kBoxRank + d]);
      to.put(std::int64_t{1});
    }
  }
  Extra& need_extra() {
    if (!extra) extra = new Extra;
    return *extra;
  }
};
static_assert(sizeof(Node) == 128);

/// Arguments of make_node; the caller has validated and inferred everything.
struct NodeSpec {
  Op op;
  Dtype dtype;
  Mode mode = Mode::Strict;
  Device device{};
  std::span<const std::int64_t> shape;
  const AttributeBytes* attributes = nullptr;
  ScalarCell cell;  ///< Op::Scalar only
  Where where;
};

/// A new lazy node over `inputs` (each gains a reference). Pooled.
Edge make_node(const NodeSpec& spec, std::span<const Edge> inputs);
/// A node without inputs. Its maker adds them and then calls pending::recorded() and nothing else: so references move.
Node* new_node(const NodeSpec& spec);
/// The same before anything is said of it, for makers that need no more than a few fields.
Node* blank_node();
/// A Ready Input node that holds `storage`.
Edge make_input(Dtype dtype, std::span<const std::int64_t> shape, std::shared_ptr<Storage> storage, Device device,
                Where where);

/// Bytes of memory for all elements of one output; at most 2^58.
std::int64_t bytes_of(const Node& n);

inline void retain(Node* n) noexcept { n->refs.fetch_add(1, std::memory_order_relaxed); }
void free_cell(Node* dead) noexcept;  ///< of a node that holds nothing any more
void release(Node* n) noexcept;       ///< destroys iteratively; never call with engine_mutex() held
/// Removes and returns the node's input references, to be dropped outside the lock. Caller holds engine_mutex().
void take_inputs(Node* n, std::vector<Edge>& out);

/// The one mutex of recording-versus-evaluation: held for snapshot, claim, publication, never while compiling or
/// running.
std::mutex& engine_mutex();

/// Live nodes in this process, for tests and budgets.
std::int64_t live_nodes() noexcept;

inline Edge::Edge(const Edge& o) : node_(o.node_), output_(o.output_) {
  if (node_) graph::retain(node_);
}
inline Edge::~Edge() {
  if (node_) graph::release(node_);
}
inline void Node::add_input(Edge e) {
  const std::uint32_t output = e.output();
  inputs[n_inputs++] = reinterpret_cast<std::uintptr_t>(e.release()) | output;
}

}  // namespace tarry::graph
