// Two copies of the static library in one process: linked against both when given no argument, else loaded by path.
#include <dlfcn.h>

#include <cstdio>

extern "C" float first_copy();
extern "C" float second_copy();

namespace {

using Function = float (*)();

#ifndef TARRY_LINK_COPIES
Function load(const char* path, const char* name) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return reinterpret_cast<Function>(symbol);
}
#endif

}  // namespace

int main(int argc, char** argv) {
#ifdef TARRY_LINK_COPIES
  (void)argc, (void)argv;
  const Function first = first_copy, second = second_copy;
#else
  if (argc != 3) return 2;
  const Function first = load(argv[1], "first_copy"), second = load(argv[2], "second_copy");
  if (first == nullptr || second == nullptr) return 2;
#endif
  const float values[] = {first(), second(), first()};
  std::printf("%g %g %g\n", static_cast<double>(values[0]), static_cast<double>(values[1]),
              static_cast<double>(values[2]));
  return values[0] == 12.0F && values[1] == 12.0F && values[2] == 12.0F ? 0 : 1;
}
