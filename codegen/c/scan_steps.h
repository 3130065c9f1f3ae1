// C: what a scan does with blocks of many lines side by side: their nodes, their results, and the nodes that have come
// in. x{r}, node{r} and offset{r} in the text are arrays of reduction r; element [k][line] of x is element k of a
// block.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "codegen/c/render.h"

namespace tarry::codegen {

inline constexpr int kScanLines = 16;  ///< blocks of a row, or rows

/// The functions of scans that combine by an op each, which kernels share.
class ScanSteps {
 public:
  /// `width` lines side by side; states of `tile` lines.
  ScanSteps(CWriter& w, int width, int tile, int vector_bytes)
      : w_(w), ir_(w.ir), width_(width), tile_(tile), vector_bytes_(vector_bytes) {}
  virtual ~ScanSteps() = default;
  ScanSteps(const ScanSteps&) = delete;
  ScanSteps& operator=(const ScanSteps&) = delete;

  virtual void functions();  ///< all of them, and the struct of states
  /// Statements: elements `from` to `to` of an array become what leaves results alone; node{r} of x{r}; x{r} becomes
  /// the results behind offset{r}; what offsets have beside their arrays, of all lines and of one.
  [[nodiscard]] virtual std::string fill(const std::string& array, std::uint32_t r, const std::string& from,
                                         const std::string& to) const;
  virtual void nodes();
  virtual void results();
  virtual void declare_offsets() {}
  virtual void take_offset(const std::string&) {}
  virtual void take_offsets() {}
  /// Names p in a function of the walk.
  virtual void parameters(const std::string&) {}
  /// A text that `write` writes with kSharedName for its name; that name.
  virtual std::string share(const std::string& name, const std::function<void()>& write) {
    return w_.share(name, write);
  }
  /// Call of the function by which a node comes in.
  [[nodiscard]] virtual std::string push(const std::string& arguments) const {
    return states_ + "_push(" + arguments + ");";
  }
  [[nodiscard]] const std::string& states() const { return states_; }

 protected:
  [[nodiscard]] std::string type(std::uint32_t r) const { return c_type(ir_.reductions[r].dtype); }
  [[nodiscard]] std::string state_type() const { return "struct " + states_; }
  template <class F>
  void each_scan(F&& f) const {
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) f(r);
  }

  CWriter& w_;
  const KernelIr& ir_;
  const int width_, tile_, vector_bytes_;
  std::string states_;

 private:
  [[nodiscard]] std::string combine(std::uint32_t r, const std::string& a, const std::string& b);
  [[nodiscard]] bool has_vectors(std::uint32_t r) const;
  [[nodiscard]] int lanes(std::uint32_t r) const;
  void open_function(std::uint32_t r, const std::string& parameters);
  void vector_type(std::uint32_t r);
  void open_lines(std::uint32_t r, const std::string& count);
  [[nodiscard]] std::string line_of(std::uint32_t r, const std::string& array, const std::string& at = "0") const;
  void fill_function(std::uint32_t r);
  void state();
  void node_function(std::uint32_t r);
  void block_function(std::uint32_t r);
  void push_function();

  std::map<std::uint32_t, std::string> fills_, nodes_, blocks_;  // by reduction
};

/// Those of the kernel's scans.
std::unique_ptr<ScanSteps> scan_steps(CWriter& w, int width, int tile, int vector_bytes);
/// Those of a scan whose combination the kernel spells out: c/combine.cpp.
std::unique_ptr<ScanSteps> combine_steps(CWriter& w, int width, int tile, int vector_bytes);
/// Bytes of the struct of states of `tile` lines.
std::size_t scan_state_bytes(const KernelIr& ir, int tile);

}  // namespace tarry::codegen
