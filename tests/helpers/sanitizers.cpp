// Suppressions for sanitizers: libnvrtc is not instrumented.
#ifdef TARRY_SANITIZE_NAME
extern "C" {

#ifdef __SANITIZE_ADDRESS__
// Leaks are looked for in what a thread keeps, but not in what libraries loaded later keep per thread: where their
// blocks lie is guessed.
const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
#endif

// A failure injected into nvrtcDestroyProgram leaves its program behind, as a real one would.
const char* __lsan_default_suppressions() { return "leak:libnvrtc\n"; }

// Its synchronisation shows by the mutexes alone, so memory that goes from thread to thread looks like a race.
const char* __tsan_default_suppressions() { return "called_from_lib:libnvrtc.so\nrace:libnvrtc.so\n"; }
}
#endif
