// What sanitizers must not report: libnvrtc is not instrumented.
#ifdef TARRY_SANITIZE_NAME
extern "C" {

// A failure injected into nvrtcDestroyProgram leaves its program behind, as a real one would.
const char* __lsan_default_suppressions() { return "leak:libnvrtc\n"; }

// Of its synchronisation only the mutexes can be seen, so memory that goes from thread to thread looks like a race.
const char* __tsan_default_suppressions() { return "called_from_lib:libnvrtc.so\nrace:libnvrtc.so\n"; }

}
#endif
