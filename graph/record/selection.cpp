// Selections: what they stand for, and how they are settled.
#include "graph/record/selection.h"

#include <tarry/evaluate.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "graph/record/mask.h"
#include "graph/record/parts.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Chains of more operations are settled, so that none is dropped, or recorded anew, by deep recursion.
constexpr int kMostSteps = 64;
/// Nodes that a comparison of masks looks at.
constexpr std::size_t kMostCompared = 32;

using WaitIn = void (*)(void (*work)(void*), void* state);
void wait_here(void (*work)(void*), void* state) { work(state); }
constinit std::atomic<WaitIn> wait_in = &wait_here;

bool is_selection(const Edge& x) { return x && x.node()->op == Op::Selection; }

Selection& of(const Edge& x) { return *x.node()->extra->selection; }

/// How many axes of all elements are one axis of the selection.
int depth(const Masked& masked) { return masked.mask.node()->rank; }

/// Recording as it was for another node, by the budget of now.
class ContextOf {
 public:
  explicit ContextOf(Context then) : now_(context()) {
    then.budget = now_.budget;
    context() = then;
  }
  ~ContextOf() { context() = now_; }
  ContextOf(const ContextOf&) = delete;
  ContextOf& operator=(const ContextOf&) = delete;

 private:
  const Context now_;
};

bool alike(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.mode == b.mode && a.device == b.device && a.n_inputs == b.n_inputs &&
         (a.n_inputs != 0 || a.op == Op::Scalar || a.op == Op::Iota) && std::ranges::equal(a.shape(), b.shape()) &&
         (a.op != Op::Scalar || a.cell() == b.cell()) &&
         std::string_view(a.attributes()) == std::string_view(b.attributes());
}

/// True if both are the same node, or recorded alike from the same nodes, as the masks of `x(x < 0)` and `x.set(x < 0,
/// v)`. False for what would take long to compare.
bool same_values(const Edge& a, const Edge& b) {
  using Pair = std::pair<const Node*, const Node*>;
  if (a.output() != b.output()) return false;
  if (a.node() == b.node()) return true;
  const std::lock_guard lock(engine_mutex());
  std::vector<Pair> open{{a.node(), b.node()}};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const auto [x, y] = open[next];
    if (x == y) continue;
    if (open.size() > kMostCompared || !alike(*x, *y)) return false;
    for (int i = 0; i < x->n_inputs; ++i) {
      if (x->input_output(i) != y->input_output(i)) return false;
      open.emplace_back(x->input(i), y->input(i));
    }
  }
  return true;
}

Edge new_selection(const Edge& all, const Edge& mask, Where where, std::shared_ptr<Selection> selection) {
  const Node &a = *all.node(), &m = *mask.node();
  Dims shape{0};  // how many are true is not known
  for (int d = m.rank; d < a.rank; ++d) shape.push_back(a.shape()[static_cast<std::size_t>(d)]);
  Node* const n = new_node({.op = Op::Selection,
                            .dtype = a.dtype,
                            .mode = a.mode,
                            .device = a.device == Device{} ? m.device : a.device,
                            .shape = shape.span(),
                            .attributes = nullptr,
                            .cell = {},
                            .where = where});
  n->in_loop = a.in_loop | m.in_loop;
  n->traced = a.traced | m.traced;
  n->need_extra().selection = std::move(selection);
  return {n, 0};
}

/// All elements beside one mask for each argument, where the selections among them are of one and nothing else meets
/// their first axis.
std::optional<Edge> find_all(std::span<const Argument> arguments, std::span<Argument> all) {
  Edge mask;
  int rank = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    all[i] = arguments[i];
    if (!is_selection(arguments[i].edge)) continue;
    std::optional<Masked> masked = masked_of(arguments[i].edge);
    const int own_rank = arguments[i].edge.node()->rank;
    if (!masked || of(arguments[i].edge).steps() >= kMostSteps) return {};
    if (mask && (own_rank != rank || !same_values(masked->mask, mask))) return {};
    mask = std::move(masked->mask);
    rank = own_rank;
    all[i].edge = std::move(masked->all);
  }
  for (const Argument& a : arguments)
    if (a.edge && !is_selection(a.edge) && a.edge.node()->rank >= rank) return {};
  return mask;
}

Edge record(Op op, Dtype dtype, std::span<Argument> arguments, Where where) {
  return op == Op::Cast ? record_cast(std::move(arguments[0].edge), dtype, where)
                        : record_map_from(op, arguments, where);
}

/// The same where a selection is among the arguments.
Edge record_over(Op op, Dtype dtype, std::span<Argument> arguments, Where where) {
  std::array<Argument, Node::kMaxInputs> all;
  if (const std::optional<Edge> mask = find_all(arguments, all)) {
    try {
      const Edge made = record(op, dtype, std::span(all).first(arguments.size()), where);
      return new_selection(made, *mask, where, std::make_shared<Selection>(Masked{made, *mask}, op, dtype, arguments));
    } catch (const InvalidArgument&) {  // the message should name the elements alone
    }
  }
  for (Argument& a : arguments)
    if (is_selection(a.edge)) a.edge = settled(std::move(a.edge));
  return record(op, dtype, arguments, where);
}

}  // namespace

Selection::Selection(Masked masked, Op op, Dtype dtype, std::span<const Argument> arguments)
    : op_(op), dtype_(dtype), count_(static_cast<int>(arguments.size())), masked_(std::move(masked)) {
  std::ranges::copy(arguments, arguments_.begin());
  for (const Argument& a : arguments)
    if (is_selection(a.edge)) steps_ = std::max(steps_, of(a.edge).steps() + 1);
}

std::optional<Masked> Selection::masked() {
  const std::lock_guard lock(mutex_);
  if (elements_) return {};
  return masked_;
}

Edge Selection::made(const Node& of, const Masked& masked, std::span<const Argument> arguments) const {
  const ContextOf recorded(context_);
  if (op_ == Op::Selection) return record_chosen(masked.all, masked.mask, of.where());
  std::array<Argument, Node::kMaxInputs> elements;
  std::ranges::copy(arguments, elements.begin());
  for (Argument& a : elements)
    if (is_selection(a.edge)) a.edge = settled(std::move(a.edge));
  return record(op_, dtype_, std::span(elements).first(arguments.size()), of.where());
}

Edge Selection::elements(const Node& of) {
  Masked masked;
  std::array<Argument, Node::kMaxInputs> arguments;
  {
    const std::lock_guard lock(mutex_);
    if (elements_) return elements_;
    masked = masked_;
    arguments = arguments_;
  }
  Edge made;
  auto work = [&] { made = this->made(of, masked, std::span(arguments).first(static_cast<std::size_t>(count_))); };
  const WaitIn wait = wait_in.load(std::memory_order_acquire);
  wait([](void* w) { (*static_cast<decltype(work)*>(w))(); }, &work);
  std::array<Argument, Node::kMaxInputs> dropped;  // behind the mutex
  const std::lock_guard lock(mutex_);
  if (!elements_) {
    elements_ = std::move(made);
    masked_ = {};
    std::swap(dropped, arguments_);
  }
  return elements_;
}

Edge elements_of(const Node& selection) { return selection.extra->selection->elements(selection); }

std::optional<Masked> masked_of(const Edge& x) {
  if (!is_selection(x)) return {};
  return of(x).masked();
}

Edge record_selection(const Edge& x, const Edge& mask, Where where) {
  return new_selection(x, mask, where, std::make_shared<Selection>(Masked{x, mask}));
}

Edge record_selected(Op op, std::span<Argument> arguments, Where where) {
  return record_over(op, Dtype{}, arguments, where);
}

Edge record_selected_cast(const Edge& x, Dtype dtype, Where where) {
  if (x.node()->dtype == dtype) return x;
  Argument argument[] = {{x, 0}};
  return record_over(Op::Cast, dtype, argument, where);
}

std::optional<Edge> all_for(const Operand& v, const Edge& mask, std::span<const std::int64_t> shape) {
  if (v.array() == nullptr || !v.array()->is_defined()) return {};
  const Edge given = detail::ArrayAccess::edge(*v.array());
  std::optional<Masked> masked = masked_of(given);
  const auto rank = static_cast<std::size_t>(given.node()->rank + mask.node()->rank - 1);
  if (!masked || rank != shape.size() || !same_values(masked->mask, mask)) return {};
  if (!broadcasts(masked->all.node()->shape(), shape)) return {};
  return std::move(masked->all);
}

bool select_alike(const Edge& a, const Edge& b) {
  const std::optional<Masked> x = masked_of(a), y = masked_of(b);
  return x && y && std::ranges::equal(a.node()->shape(), b.node()->shape()) && same_values(x->mask, y->mask);
}

Edge MaskedAxes::filled(Edge elements, Scalar otherwise, Where where) const {
  Dims column(masked.mask.node()->shape());
  while (column.size() < elements.node()->rank) column.push_back(1);
  const Edge mask = record_reshape(masked.mask, column.span(), where);
  return record_map(Op::Where, {{mask, 0}, {std::move(elements), 0}, {Edge(), otherwise}}, where);
}

std::optional<MaskedAxes> masked_axes(const Array& x, const Axes& axes, const ReduceOptions& options) {
  if (!x.is_defined()) return {};
  const Edge selection = detail::ArrayAccess::edge(x);
  std::optional<Masked> masked = masked_of(selection);
  if (!masked || (options.keepdims && depth(*masked) != 1)) return {};
  if (axes.all()) return MaskedAxes{*std::move(masked), axes};
  const int rank = selection.node()->rank, more = depth(*masked) - 1;
  std::vector<std::int64_t> among_all;
  bool over_first = false;
  for (std::int64_t axis : axes.vector()) {
    if (axis < -rank || axis >= rank) return {};
    if (axis < 0) axis += rank;
    if (axis != 0) {
      among_all.push_back(axis + more);
      continue;
    }
    over_first = true;
    for (int d = 0; d <= more; ++d) among_all.push_back(d);
  }
  if (!over_first) return {};
  return MaskedAxes{*std::move(masked), std::move(among_all)};
}

}  // namespace tarry::graph

namespace tarry {
inline namespace v0 {

void detail::wait_in(void (*call)(void (*work)(void*), void* state)) noexcept {
  graph::wait_in.store(call, std::memory_order_release);
}

bool detail::have_one_shape(const Array& a, const Array& b) {
  return (is_selection(a) && is_selection(b) && graph::select_alike(ArrayAccess::edge(a), ArrayAccess::edge(b))) ||
         a.shape() == b.shape();
}

}  // namespace v0
}  // namespace tarry
