// Planted bug: a shift by the width of its type. UndefinedBehaviorSanitizer must report it.
int main(int argc, char**) {
  const int width = 31 + argc;
  return (1 << width) == 7 ? 1 : 0;
}
