// Files larger than memory: a sum, a mean and deviation, and a new file of scaled values, each of one large .npy file
// under a limit of memory. The file is made sparse, so it takes no room on the disk: zeros but for a few rows.
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace fs = std::filesystem;
namespace ta = tarry;

namespace {

constexpr std::int64_t kColumns = 1024;

/// A folder that goes with what is in it.
class Folder {
 public:
  explicit Folder(const fs::path& parent) : path_(parent / fmt::format("tarry-out-of-core-{}", getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// Contents of the file: rows of zeros but for every `every`-th, which holds 1, 2, 3, ...
struct Data {
  std::int64_t rows = 0, every = 0, filled = 0;
  [[nodiscard]] double count() const { return static_cast<double>(rows) * kColumns; }
  [[nodiscard]] double sum() const { return static_cast<double>(filled) * kColumns * (kColumns + 1) / 2; }
  [[nodiscard]] double deviation() const {
    const double mean = sum() / count();
    const double squares = static_cast<double>(filled) * kColumns * (kColumns + 1) * (2 * kColumns + 1) / 6;
    return std::sqrt(squares / count() - mean * mean);
  }
};

Data make_file(const std::string& path, double gigabytes) {
  Data d;
  d.rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(gigabytes * 1e9) / (kColumns * 4));
  d.every = std::max<std::int64_t>(1, d.rows / 1000);
  std::string dict = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", d.rows, kColumns);
  dict.append(127 - (10 + dict.size()) % 128, ' ');
  dict += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(dict.size() & 0xff) << static_cast<char>(dict.size() >> 8)
       << dict;
  std::vector<float> row(kColumns);
  for (std::int64_t c = 0; c < kColumns; ++c) row[static_cast<std::size_t>(c)] = static_cast<float>(c + 1);
  const std::int64_t start = static_cast<std::int64_t>(10 + dict.size());
  for (std::int64_t r = 0; r < d.rows; r += d.every, ++d.filled) {
    file.seekp(start + r * kColumns * 4);
    file.write(reinterpret_cast<const char*>(row.data()), kColumns * 4);
  }
  file.close();
  fs::resize_file(path, static_cast<std::uintmax_t>(start + d.rows * kColumns * 4));
  return d;
}

/// One line of the terminal that fills up.
struct Bar {
  std::string title;
  bool shown = false;
  void operator()(const ta::Progress& p) const {
    if (!shown) return;
    constexpr std::int64_t kWidth = 40;
    const std::int64_t filled = kWidth * p.chunks_done / p.chunks;
    fmt::print(stderr, "\r{:<20} [{:<{}}] {:>3} % {:>8.1f} GB", title,
               std::string(static_cast<std::size_t>(filled), '#'), kWidth, 100 * p.chunks_done / p.chunks,
               1e-9 * static_cast<double>(p.bytes));
    if (p.chunks_done == p.chunks) fmt::print(stderr, "\n");
    std::fflush(stderr);
  }
};

struct Measured {
  double seconds = 0, value = 0, expected = 0;
  std::int64_t chunks = 0, bytes = 0;
  [[nodiscard]] double rate() const { return static_cast<double>(bytes) / seconds; }
  [[nodiscard]] bool right() const { return std::abs(value - expected) <= 1e-4 * std::abs(expected); }
};

/// Highest resident set of this process, pages of files included.
double peak_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

struct Result {
  std::string device, limit;
  double gigabytes = 0;
  Measured sum, again, moments, scaled;
  double peak = 0;
};

/// Runs `body`, which gives a value, and notes what the last chunk told.
template <class Body>
Measured measured(const std::string& title, bool shown, double expected, Body&& body) {
  Bar bar{title, shown};
  ta::Progress last;
  auto note = [&](const ta::Progress& p) { last = p, bar(p); };
  const ta::OnProgress progress(note);
  Measured m;
  m.expected = expected;
  m.seconds = measure::seconds([&] { m.value = body(); });
  m.chunks = last.chunks;
  m.bytes = last.bytes;
  return m;
}

Result run(double gigabytes, double written, int repeat, const std::string& directory, ta::Device device, bool shown) {
  const ta::Scope scope(device);
  const Folder folder(directory.empty() ? fs::temp_directory_path() : fs::path(directory));
  const std::string input = folder.file("x.npy"), output = folder.file("y.npy");
  const Data data = make_file(input, gigabytes);

  Result r;
  r.device = device.str();
  r.gigabytes = data.count() * 4e-9;
  const auto sum_of_file = [&] {
    const ta::Array x = ta::open_npy(input);
    return ta::sum(x, {}, {.dtype = ta::float64}).item<double>();
  };
  r.sum = measured("sum", shown, data.sum(), sum_of_file);
  for (int i = 0; i < repeat; ++i) {  // compiled, and what fits is in memory
    const Measured again = measured("sum again", shown, data.sum(), sum_of_file);
    if (i == 0 || again.seconds < r.again.seconds) r.again = again;
  }
  r.moments = measured("mean and deviation", shown, data.deviation(), [&] {
    const ta::Array x = ta::astype(ta::open_npy(input), ta::float64), deviation = ta::std(x), mean = ta::mean(x);
    ta::evaluate(mean, deviation);
    return deviation.item<double>();
  });
  if (written > 0) {
    const std::int64_t rows = std::min(data.rows, static_cast<std::int64_t>(written * 1e9) / (kColumns * 4));
    r.scaled = measured("scaled, to a file", shown, 2.0F * kColumns + 1, [&] {
      const ta::Array x = ta::open_npy(input)(ta::slice(rows));
      ta::save_npy(output, 2 * x + 1);
      return static_cast<double>(ta::open_npy(output)(0, -1).item<float>());
    });
  }
  r.peak = peak_resident();
  return r;
}

nlohmann::ordered_json json_of(const Measured& m) {
  return {{"seconds", m.seconds},
          {"bytes_per_second", m.rate()},
          {"chunks", m.chunks},
          {"value", m.value},
          {"right", m.right()}};
}

void print_json(const Result& r) {
  const nlohmann::ordered_json json = {
      {"example", "out_of_core"},
      {"device", r.device},
      {"gigabytes", r.gigabytes},
      {"limit", r.limit},
      {"sum", json_of(r.sum)},
      {"again", json_of(r.again)},
      {"moments", json_of(r.moments)},
      {"scaled", json_of(r.scaled)},
      {"right", r.sum.right() && r.again.right() && r.moments.right() && r.scaled.right()},
      {"chunks", r.sum.chunks + r.again.chunks + r.moments.chunks + r.scaled.chunks},
      {"peak_resident_bytes", r.peak},
  };
  fmt::print("{}\n", json.dump(2));
}

void print_table(const Result& r) {
  fmt::print("A file of {:.1f} GB on {} with a limit of {}\n\n", r.gigabytes, r.device, r.limit);
  fmt::print("{:<20}{:>10}{:>10}{:>8}{:>18}\n", "", "seconds", "GB/s", "chunks", "value");
  const auto row = [](const char* name, const Measured& m) {
    if (m.seconds > 0)
      fmt::print("{:<20}{:>10.2f}{:>10.2f}{:>8}{:>18.8g}{}\n", name, m.seconds, 1e-9 * m.rate(), m.chunks, m.value,
                 m.right() ? "" : "  wrong");
  };
  row("sum", r.sum);
  row("sum again", r.again);
  row("mean and deviation", r.moments);
  row("scaled, to a file", r.scaled);
  fmt::print("\npeak resident memory {:.2f} GB\n", 1e-9 * r.peak);
}

int run_main(int argc, char** argv) {
  CLI::App app("Reduces and maps a file that is larger than memory may be.");
  double gigabytes = 1, written = -1;
  int repeat = 1;
  std::string device, limit = "256m", directory;
  bool json = false;
  app.add_option("--gb", gigabytes, "Size of the file in GB")->check(CLI::PositiveNumber);
  app.add_option("--write", written, "GB of the new file; half of --gb, at most 4, unless given");
  app.add_option("--repeat", repeat, "How often the sum is done again; the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--limit", limit, "Memory that arrays may take, as TARRY_MEMORY_LIMIT has it");
  app.add_option("--directory", directory, "Where the files are; the system's temporary directory unless given");
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_flag("--json", json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);
  setenv("TARRY_MEMORY_LIMIT", limit.c_str(), 1);

  if (written < 0) written = std::min(4.0, gigabytes / 2);
  Result result =
      run(gigabytes, written, repeat, directory, measure::device(device), !json && isatty(STDERR_FILENO) == 1);
  result.limit = limit;
  json ? print_json(result) : print_table(result);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "out_of_core: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
