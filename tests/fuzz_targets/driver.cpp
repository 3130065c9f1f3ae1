// The loop around a target for compilers without libFuzzer: runs the seeds and the files that are named, then mutates
// them.
//
//   fuzz_NAME [--seconds S] [--seed N] [--write DIRECTORY] [FILE...]
//
// S is TARRY_FUZZ_SECONDS where it is not given, else 2. --write writes the seeds, as a corpus for libFuzzer, and ends.
// The input that ends the process stays in crash-NAME.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz_targets/target.h"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace {

constexpr unsigned kMostSeconds = 30;  // for one input; a machine that others use too is slow
constexpr std::size_t kMostBytes = 1 << 16;

std::string current, crash_file;

/// Async-signal-safe.
void keep_current() {
  const int fd = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  (void)!::write(fd, current.data(), current.size());
  ::close(fd);
}

void on_signal(int signal) {
  keep_current();
  static const char kHang[] = "fuzz: no result in time\n";
  if (signal == SIGALRM) (void)!::write(2, kHang, sizeof kHang - 1);
  ::signal(signal, SIG_DFL);
  ::raise(signal == SIGALRM ? SIGABRT : signal);
}

void run(const std::string& input) {
  current = input;
  ::alarm(kMostSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
  ::alarm(0);
}

/// Mutations of text and of bytes alike.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(const std::vector<std::string>& corpus) {
    std::string s = pick(corpus);
    for (std::size_t rounds = 1 + below(4); rounds > 0; --rounds) change(s, corpus);
    if (s.size() > kMostBytes) s.resize(kMostBytes);
    return s;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& pick(const std::vector<std::string>& all) { return all[below(all.size())]; }

  void change(std::string& s, const std::vector<std::string>& corpus) {
    static constexpr std::array<std::int64_t, 22> kNumbers = {
        -1,  0,   1,     2,         3,         16,        17,        32,        64,        127,       128,
        255, 256, 65535, INT32_MAX, INT32_MIN, 1LL << 32, 1LL << 40, 1LL << 61, 1LL << 62, INT64_MAX, INT64_MIN};
    if (s.empty()) s = pick(corpus);
    if (s.empty()) return;
    const std::size_t at = below(s.size()), length = 1 + below(std::min<std::size_t>(s.size() - at, 32));
    switch (below(9)) {
      case 0: s[at] = static_cast<char>(s[at] ^ 1 << below(8)); break;
      case 1: s.erase(at, length); break;
      case 2: s.insert(at, s.substr(below(s.size()), length)); break;
      case 3: {
        const std::string& other = pick(corpus);
        if (!other.empty()) s.replace(at, length, other.substr(below(other.size()), 1 + below(64)));
        break;
      }
      case 4:
      case 5:  // a number in digits
        replace_run(
            s, at, [](char c) { return (c >= '0' && c <= '9') || c == '-'; },
            std::to_string(kNumbers[below(kNumbers.size())]));
        break;
      case 6: {  // a word
        const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); };
        const std::string& other = pick(corpus);
        const std::size_t from = find_run(other, below(other.size()), is_word);
        std::size_t to = from;
        while (to < other.size() && is_word(other[to])) ++to;
        replace_run(s, at, is_word, other.substr(from, to - from));
        break;
      }
      case 7: {  // a number in bytes
        const std::size_t width = std::size_t{1} << below(4);
        const std::int64_t value = kNumbers[below(kNumbers.size())];
        if (at + width <= s.size()) std::memcpy(s.data() + at, &value, width);
        break;
      }
      default:  // lists: an element again, or one less
        if (const std::size_t comma = s.find(',', at); comma != std::string::npos) {
          const std::size_t next = std::min(s.find(',', comma + 1), s.size());
          if (below(2) == 0)
            s.insert(comma, s.substr(comma, next - comma));
          else
            s.erase(comma, next - comma);
        }
        break;
    }
  }

  template <class Is>
  static std::size_t find_run(const std::string& s, std::size_t at, Is is) {
    while (at < s.size() && !is(s[at])) ++at;
    return std::min(at, s.size());
  }
  template <class Is>
  static void replace_run(std::string& s, std::size_t at, Is is, const std::string& by) {
    const std::size_t from = find_run(s, at, is);
    std::size_t to = from;
    while (to < s.size() && is(s[to])) ++to;
    if (from < to) s.replace(from, to - from, by);
  }

  std::mt19937_64 random_;
};

void write_seeds(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  int number = 0;
  for (const std::string& seed : tarry::test::seeds())
    std::ofstream(directory / std::to_string(number++), std::ios::binary) << seed;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const wanted = std::getenv("TARRY_FUZZ_SECONDS");
  double seconds = wanted != nullptr ? std::atof(wanted) : 2;
  std::uint64_t seed = std::random_device()();
  std::vector<std::string> corpus = tarry::test::seeds();
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : "";
    if (argument == "--seconds") {
      seconds = std::atof(value), ++i;
    } else if (argument == "--seed") {
      seed = std::strtoull(value, nullptr, 10), ++i;
    } else if (argument == "--write") {
      return write_seeds(value), 0;
    } else {
      std::ifstream file(argument, std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  crash_file = "crash-" + std::filesystem::path(arguments[0]).filename().string();
  const bool sanitized = &__sanitizer_set_death_callback != nullptr;
  if (sanitized) __sanitizer_set_death_callback(keep_current);
  for (const int signal : {SIGALRM, SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL})
    if (!sanitized || signal == SIGALRM || signal == SIGABRT) std::signal(signal, on_signal);
  for (const std::string& input : corpus) run(input);
  Mutator mutated(seed);
  const auto start = std::chrono::steady_clock::now();
  long runs = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds)
    run(mutated(corpus)), ++runs;
  std::printf("%zu seeds, %ld mutations from seed %llu\n", corpus.size(), runs, static_cast<unsigned long long>(seed));
}
