// C compilers of this machine: where they are, what they call themselves, and which were found not to work.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tarry::runtime {

/// How long a compiler may take to say its version, or to compile one line: 100 times what it takes. Longer than that
/// it hangs.
inline constexpr std::chrono::seconds kCompilerPatience{5};

struct KnownCompiler {
  std::string path, version;
  std::string defect;   ///< why it is not used, or ""
  bool proven = false;  ///< it has compiled something
};

/// The first of `programs` that is there and works; else one without a path, whose defect says why none does.
KnownCompiler find_compiler(const std::vector<std::string>& programs);
/// It has compiled something.
void note_works(const std::string& path);
/// It does not compile anything. It is asked again in a minute, then in two, and so on; or when its file changes.
void note_broken(const std::string& path, std::string defect);
/// As it is known now.
KnownCompiler known_compiler(const std::string& path);
std::uint64_t compiler_changes() noexcept;

}  // namespace tarry::runtime
