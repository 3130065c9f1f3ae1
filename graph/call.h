// Calls: code of the user's that makes values. An Input whose value is not there yet has one; it runs before a walk
// goes on, so graphs and plans see values alone.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "graph/node.h"

namespace tarry::graph {

class Call {
 public:
  struct Result {
    Dtype dtype{};
    Dims shape;
  };
  Call(std::string called, std::vector<Edge> inputs, std::vector<Result> results);
  /// Inputs are given up without recursion, however long a chain of calls is.
  virtual ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] const std::string& called() const { return called_; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }
  /// The value of a result; the code runs where it has not. Throws what it throws, and runs again the next time. Not
  /// with engine_mutex().
  std::shared_ptr<Storage> value(std::uint32_t result, Where where);
  /// A value without memory, on the device where it will be: what plan() sees.
  [[nodiscard]] std::shared_ptr<Storage> expected(std::uint32_t result) const;

 protected:
  /// Values of all results, row-major.
  virtual std::vector<std::shared_ptr<Storage>> run(std::span<const Edge> inputs, Where where) = 0;
  [[nodiscard]] virtual Device device() const = 0;

 private:
  const std::string called_;
  const std::vector<Result> results_;
  std::list<Edge> inputs_;  // joined without an allocation where calls die
  std::mutex mutex_;
  std::thread::id runs_{};                        // guarded by engine_mutex()
  std::vector<std::shared_ptr<Storage>> values_;  // guarded by mutex_
};

/// Arrays that a call makes, placed on `device` or on none.
std::vector<Edge> record_call(const std::shared_ptr<Call>& call, Device device, Where where);

}  // namespace tarry::graph
