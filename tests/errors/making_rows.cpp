// Wrong calls that make arrays, read values and use files.
#include <sstream>

#include <tarry/dynamic.h>
#include <tarry/type_info.h>

#include "runtime/device/backend.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/errors/rows.h"
#include "tests/helpers/devices.h"

namespace tarry::test {
namespace {

namespace fault = support::fault;

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<float> kFive(5, 1.0f);

void add_rule_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("zeros", {"rank 17", "at most 16"}, [] { (void)zeros(std::vector<std::int64_t>(17, 1)); });
  rows.wrong<InvalidShape>("ones", {"(2, -1) has a negative extent"}, [] { (void)ones({2, -1}); });
  rows.wrong<InvalidShape>("full", {"(9223372036854775807, 2)", "2^63 - 1"}, [] { (void)full({INT64_MAX, 2}, 1); });
  rows.wrong<InvalidShape>("zeros", {"(0, 9223372036854775807, 2)"}, [] { (void)zeros({0, INT64_MAX, 2}); });
  rows.wrong<InvalidDtype>("zeros", {"complex64 is not available"}, [] { (void)zeros({2}, complex64); });
  rows.wrong<InvalidDtype>("ones", {"dtype 255"}, [] { (void)ones({2}, static_cast<Dtype>(255)); });
  rows.wrong<InvalidValue>("full", {"300", "uint8"}, [] { (void)full({2}, 300, uint8); });
  rows.wrong<InvalidValue>("full_like", {"-1", "uint8"}, [] { (void)full_like(zeros({2}, uint8), -1); });
  rows.wrong("zeros_like", {"undefined"}, [] { (void)zeros_like(Array()); });
  rows.wrong<InvalidDtype>("ones_like", {"complex128"}, [] { (void)ones_like(zeros({2}), complex128); });
  rows.wrong<InvalidValue>("arange", {"finite", "inf"}, [] { (void)arange(0, kInf); });
  rows.wrong<InvalidValue>("arange", {"finite", "nan"},
                           [] { (void)arange(0, 1, std::numeric_limits<float>::quiet_NaN()); });
  rows.wrong<InvalidDtype>("arange", {"not bool"}, [] { (void)arange(true); });
  rows.wrong<InvalidDtype>("arange", {"not bool"}, [] { (void)arange(5, bool_); });
  rows.wrong<InvalidValue>("arange", {"step is 0"}, [] { (void)arange(0, 1, 0); });
  rows.wrong<InvalidValue>("arange", {"18446744073709551614 to 18446744073709551614 does not fit int64"},
                           [] { (void)arange(UINT64_MAX - 1, UINT64_MAX); });
  rows.wrong<InvalidShape>("arange", {"more than 2^63 - 1"}, [] { (void)arange(INT64_MIN, INT64_MAX); });
  rows.wrong<InvalidShape>("arange", {"more than 2^63 - 1"}, [] { (void)arange(0.0, 1e300, 1e-300); });
  rows.wrong<InvalidValue>("arange", {"0 to 299 does not fit uint8"}, [] { (void)arange(300, uint8); });
  rows.wrong<InvalidDtype>("arange", {"int32", "astype"}, [] { (void)arange(0, 1.5, 0.5, int32); });
  rows.wrong<InvalidValue>("linspace", {"count -1"}, [] { (void)linspace(0, 1, -1); });
  rows.wrong<InvalidDtype>("linspace", {"int64 is not floating"}, [] { (void)linspace(0, 1, 5, {.dtype = int64}); });
  rows.wrong<InvalidValue>("linspace", {"finite"}, [] { (void)linspace(-kInf, 1, 5); });
  rows.wrong<InvalidValue>("logspace", {"count -1"}, [] { (void)logspace(0, 1, -1); });
  rows.wrong<InvalidDtype>("logspace", {"int64 is not floating"}, [] { (void)logspace(0, 1, 5, {.dtype = int64}); });
  rows.wrong<InvalidValue>("logspace", {"finite"}, [] { (void)logspace(0, kInf, 5); });
  rows.wrong<InvalidValue>("logspace", {"base -2"}, [] { (void)logspace(0, 1, 5, {.base = -2}); });
  rows.wrong<InvalidValue>("geomspace", {"from 0 to 1", "one sign"}, [] { (void)geomspace(0, 1, 5); });
  rows.wrong<InvalidValue>("geomspace", {"from -1 to 1", "one sign"}, [] { (void)geomspace(-1, 1, 5); });
  rows.wrong<InvalidShape>("empty", {"(-1,)", "negative"}, [] { (void)empty({-1}); });
  rows.wrong<InvalidShape>("eye", {"(-1, -1)", "negative"}, [] { (void)eye(-1); });
  rows.wrong<InvalidShape>("eye", {"(2, -2)", "negative"}, [] { (void)eye(2, {.columns = -2}); });
  rows.wrong("cuda", {"no device cuda:-1"}, [] { (void)cuda(-1); });
  rows.wrong("cuda", {"no device cuda:256"}, [] { (void)cuda(256); });
}

void add_random_rows(ErrorRows& rows) {
  static random::Generator g(1);
  rows.wrong<InvalidDtype>("bits", {"uint32 or uint64, not int64"}, [] { (void)random::bits(g, 3, int64); });
  rows.wrong<InvalidDtype>("bits", {"complex64 is not available"}, [] { (void)random::bits(g, 3, complex64); });
  rows.wrong<InvalidShape>("uniform", {"(2, -1) has a negative extent"}, [] { (void)random::uniform(g, {2, -1}); });
  rows.wrong<InvalidDtype>("uniform", {"int32 is not floating"}, [] { (void)random::uniform(g, 3, {.dtype = int32}); });
  rows.wrong<InvalidValue>("uniform", {"low 2.0", "not less than high 1.0"},
                           [] { (void)random::uniform(g, 3, {.low = 2, .high = 1}); });
  rows.wrong<InvalidValue>("uniform", {"high inf is not a finite float32"},
                           [] { (void)random::uniform(g, 3, {.high = kInf}); });
  rows.wrong<InvalidValue>("uniform", {"high - low", "not a finite float16"},
                           [] { (void)random::uniform(g, 3, {.low = -60000, .high = 60000, .dtype = float16}); });
  rows.wrong<InvalidDtype>("normal", {"bool is not floating"}, [] { (void)random::normal(g, 3, {.dtype = bool_}); });
  rows.wrong<InvalidValue>("normal", {"deviation -1", "negative"},
                           [] { (void)random::normal(g, 3, {.deviation = -1}); });
  rows.wrong<InvalidValue>("exponential", {"scale -1", "negative"},
                           [] { (void)random::exponential(g, 3, {.scale = -1}); });
  rows.wrong<InvalidDtype>("integers", {"float32 is no integer"}, [] { (void)random::integers(g, 3, 0, 2, float32); });
  rows.wrong<InvalidDtype>("integers", {"low is a fraction"}, [] { (void)random::integers(g, 3, 0.5, 2); });
  rows.wrong<InvalidDtype>("integers", {"high is a bool"}, [] { (void)random::integers(g, 3, 0, true); });
  rows.wrong<InvalidValue>("integers", {"low 2 is not less than high 2"}, [] { (void)random::integers(g, 3, 2, 2); });
  rows.wrong<InvalidValue>("integers", {"-1 to 299 does not fit uint8"},
                           [] { (void)random::integers(g, 3, -1, 300, uint8); });
  rows.wrong<InvalidValue>("bernoulli", {"p 1.5", "[0, 1]"}, [] { (void)random::bernoulli(g, 3, 1.5); });
  rows.wrong<InvalidDtype>("bernoulli", {"int64 is not floating"},
                           [] { (void)random::bernoulli(g, zeros({3}, int64)); });
  rows.wrong<InvalidShape>("bernoulli", {"p of float32 (4,)", "(3,)"},
                           [] { (void)random::bernoulli(g, 3, zeros({4})); });
  rows.wrong("bernoulli", {"undefined"}, [] { (void)random::bernoulli(g, Array()); });
  rows.wrong<InvalidValue>("gamma", {"a -1", "[0, inf)"}, [] { (void)random::gamma(g, 3, -1); });
  rows.wrong<InvalidShape>("gamma", {"a of float32 (4,)", "(3,)"}, [] { (void)random::gamma(g, 3, zeros({4})); });
  rows.wrong<InvalidDtype>("gamma", {"int32 is not floating"}, [] { (void)random::gamma(g, 3, 1, {int32}); });
  rows.wrong<InvalidShape>("gamma", {"(2, -1) has a negative extent"}, [] { (void)random::gamma(g, {2, -1}, 1); });
  rows.wrong<InvalidValue>("beta", {"b 0", "(0, inf)"}, [] { (void)random::beta(g, 3, 1, 0); });
  rows.wrong<InvalidValue>("beta", {"a inf", "(0, inf)"}, [] { (void)random::beta(g, 3, kInf, 1); });
  rows.wrong<InvalidValue>("poisson", {"mean -0.5", "[0, 2^62]"}, [] { (void)random::poisson(g, 3, -0.5); });
  rows.wrong<InvalidShape>("poisson", {"mean of int64 (2,)", "(3,)"},
                           [] { (void)random::poisson(g, 3, zeros({2}, int64)); });
  rows.wrong<InvalidDtype>("binomial", {"n 2.5", "no integer"}, [] { (void)random::binomial(g, 3, 2.5, 0.5); });
  rows.wrong<InvalidDtype>("binomial", {"n of float32 (3,)", "no integer"},
                           [] { (void)random::binomial(g, 3, zeros({3}), 0.5); });
  rows.wrong<InvalidValue>("binomial", {"n -1", "[0, 2^52]"}, [] { (void)random::binomial(g, 3, -1, 0.5); });
  rows.wrong<InvalidValue>("binomial", {"p 1.5", "[0, 1]"}, [] { (void)random::binomial(g, 3, 2, 1.5); });
}

void add_memory_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("asarray", {"5 elements do not fill float32 (2, 3)"}, [] { (void)asarray(kFive, {2, 3}); });
  rows.wrong("asarray", {"no memory for float32 (2, 3)"},
             [] { (void)asarray(static_cast<const float*>(nullptr), {2, 3}); });
  rows.wrong<InvalidShape>("asarray", {"(5, -1)"}, [] { (void)asarray(kFive, {5, -1}); });
  rows.wrong<InvalidShape>("asarray", {"2 elements", "(3,)"}, [] { (void)asarray(std::vector<bool>(2), 3); });
  rows.wrong<InvalidShape>("array", {"2 and 1"}, [] { (void)array({{1, 2}, {3}}); });
  rows.wrong<InvalidShape>("array", {"2 and 1"}, [] { (void)array({{{1}, {2}}, {{3}}}); });
  rows.wrong("borrow", {"no memory", "(3,)"}, [] { (void)borrow<float>(nullptr, 3); });
  rows.wrong("borrow", {"1 strides for shape (5, 1)"}, [] { (void)borrow(kFive.data(), {5, 1}, {1}); });
  rows.wrong("borrow", {"2^63 - 1 bytes", "(2, 2)"}, [] { (void)borrow(kFive.data(), {2, 2}, {INT64_MAX, 1}); });
  rows.wrong<InvalidShape>("borrow", {"(-1,)"}, [] { (void)borrow(kFive.data(), -1); });
  rows.wrong<InvalidDtype>("to_vector", {"float32, not float64", "astype"},
                           [] { (void)asarray(kFive).to_vector<double>(); });
  rows.wrong<InvalidDtype>("to_vector", {"float32, not bool"}, [] { (void)asarray(kFive).to_vector<bool>(); });
  rows.wrong<InvalidDtype>("host", {"float32, not int32"}, [] { (void)asarray(kFive).host<int>(); });
  rows.wrong<InvalidShape>("item", {"(5,) has 5 elements, not 1"}, [] { (void)asarray(kFive).item<float>(); });
  rows.wrong<InvalidShape>("item", {"float32 (5,) has not one element"}, [] { (void)item(asarray(kFive)); });
  rows.wrong<InvalidValue>("store_element", {"the number 300 does not fit uint8"}, [] {
    std::uint8_t element;
    store_element(&element, uint8, 300);
  });
  rows.wrong<InvalidDtype>("store_element", {"complex64 is not available"},
                           [] { store_element(nullptr, complex64, 0); });
  rows.wrong<InvalidDtype>("load_element", {"complex64 is not available"},
                           [] { (void)load_element(nullptr, complex64); });
  rows.wrong<InvalidDtype>("finfo", {"int8 is no floating dtype"}, [] { (void)finfo(int8); });
  rows.wrong<InvalidDtype>("iinfo", {"bool is no integer dtype"}, [] { (void)iinfo(bool_); });
  rows.wrong<InvalidValue>("isdtype", {"\"real\" is no kind of dtype"}, [] { (void)isdtype(int8, "real"); });
  rows.wrong<InvalidDtype>("dtype_named", {"no dtype is named \"float\""}, [] { (void)dtype_named("float"); });
  rows.wrong("host_bytes", {"undefined"}, [] { (void)host_bytes(Array()); });
  rows.wrong<InvalidShape>("copy_to", {"(5,) has 5 elements, not 4"}, [] {
    std::vector<float> four(4);
    asarray(kFive).copy_to(std::span(four));
  });
  rows.wrong<InvalidShape>("bool", {"(5,) has no single truth value"}, [] { (void)static_cast<bool>(asarray(kFive)); });
  rows.wrong("to_vector", {"undefined"}, [] { (void)Array().to_vector<float>(); });
  rows.wrong("item", {"undefined"}, [] { (void)Array().item<float>(); });
  rows.wrong("host", {"undefined"}, [] { (void)Array().host<float>(); });
  rows.wrong("shape", {"undefined"}, [] { (void)Array().shape(); });
  rows.wrong("ndim", {"undefined"}, [] { (void)Array().ndim(); });
  rows.wrong("size", {"undefined"}, [] { (void)Array().size(); });
  rows.wrong("dtype", {"undefined"}, [] { (void)Array().dtype(); });
  rows.wrong("device", {"undefined"}, [] { (void)Array().device(); });
  rows.wrong("is_evaluated", {"undefined"}, [] { (void)Array().is_evaluated(); });
  rows.wrong("evaluate", {"undefined"}, [] { evaluate(Array()); });
  rows.wrong("evaluate", {"undefined"}, [] { evaluate(std::vector<Array>(2)); });
  rows.wrong("plan", {"undefined"}, [] { (void)plan(Array()); });
  rows.wrong("<<", {"undefined"}, [] {
    std::ostringstream out;
    out << Array();
  });
  rows.wrong("plan_for", {"no target is called sm_1", "sm_90", "x86-64-v3"},
             [] { (void)plan_for("sm_1", zeros({3})); });
}

/// The conversion cannot be told where it stands.
void add_placeless_rows(ErrorRows& rows) {
  rows.inside<InvalidArgument>({"[bool] an operand is undefined"}, [] { (void)static_cast<bool>(Array()); });
}

/// Writes `bytes` to a file and gives that to load_npy or open_npy. The k-th call of the file system fails where k is
/// given.
using Reader = Array (*)(const std::string& path, Where where);
void read_with(Reader reader, const std::string& bytes, int k = 0, Where where = std::source_location::current()) {
  const support::ScopedTemporaryDirectory directory;
  const std::string path = (directory.path() / "x.npy").string();
  if (support::write_file_atomically(path, bytes)) throw std::runtime_error("cannot write " + path);
  if (k > 0) fault::arm(fault::Site::File, static_cast<std::uint64_t>(k));
  (void)reader(path, where);
}
void load(const std::string& bytes, Where where = std::source_location::current()) {
  read_with(load_npy, bytes, 0, where);
}

std::string npy(std::string header, const std::string& elements = {}, char version = '\1') {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size()), '\0'};
  return bytes + header + elements;
}

void add_file_rows(ErrorRows& rows) {
  const std::string one = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  rows.wrong("load_npy", {"/no/such/file", "No such file"}, [] { (void)load_npy("/no/such/file"); });
  rows.wrong("load_npy", {"/tmp", "no regular file"}, [] { (void)load_npy("/tmp"); });
  rows.wrong("load_npy", {"x.npy", "does not begin"}, [] { load("no numpy file, but long enough to be one"); });
  rows.wrong("load_npy", {"x.npy", "does not begin"}, [] { load(""); });
  rows.wrong("load_npy", {"format version is 9"}, [one] { load(npy(one, "abcd", '\t')); });
  rows.wrong("load_npy", {"ends within its header"}, [one] { load(npy(one).substr(0, 30)); });
  rows.wrong("load_npy", {"header cannot be understood: {'descr'"}, [] { load(npy("{'descr': '<f4'}")); });
  rows.wrong("load_npy", {"type '<c8'"}, [] { load(npy("{'descr': '<c8', 'fortran_order': False, 'shape': ()}")); });
  rows.wrong("load_npy", {"before its last element"}, [one] { load(npy(one, "abc")); });
  rows.wrong<InvalidShape>("load_npy", {"(9223372036854775807, 2)"}, [] {
    load(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2)}"));
  });
  rows.wrong("load_npy", {"cannot read the elements of", "x.npy"}, [one] { read_with(load_npy, npy(one, "abcd"), 4); });
  rows.wrong("open_npy", {"/no/such/file", "No such file"}, [] { (void)open_npy("/no/such/file"); });
  rows.wrong("open_npy", {"x.npy", "before its last element"}, [one] { read_with(open_npy, npy(one, "abc")); });
  rows.wrong("open_npy", {"x.npy", "big-endian", "load_npy"},
             [] { read_with(open_npy, npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd")); });
  rows.wrong("open_npy", {"x.npy", "begin at byte 67", "4 bytes; load_npy"},
             [] { read_with(open_npy, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)  }", "abcd")); });
  rows.wrong("load_npy", {"its header has 65536 bytes"},
             [] { load(std::string("\x93NUMPY\2\0\0\0\1\0", 12) + std::string(65536, ' ')); });
  rows.inside<OutOfMemory>({"[open_npy] there is no room to map ", "x.npy into memory", "Cannot allocate"}, [] {
    fault::arm(fault::Site::Allocation, 1);
    read_with(open_npy, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}   ", "abcd"));
  });
  rows.wrong("open_npy", {"cannot map ", "x.npy into memory", "No such device"},
             [] { read_with(open_npy, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}   ", "abcd"), 4); });
  rows.wrong<InvalidDtype>("save_npy", {"bfloat16", "astype"}, [] { save_npy("/tmp/x.npy", zeros({3}, bfloat16)); });
  rows.wrong("save_npy", {"/no/such/x.npy", "No such file"}, [] { save_npy("/no/such/x.npy", asarray(kFive)); });
  rows.wrong("save_npy", {"undefined"}, [] { save_npy("/tmp/x.npy", Array()); });
  rows.wrong("save_npy", {"x.npy", "No space left"}, [] {
    fault::arm(fault::Site::File, 1);
    save_npy("/tmp/x.npy", asarray(kFive));
  });
}

}  // namespace

void add_making_rows(ErrorRows& rows) {
  add_rule_rows(rows);
  add_random_rows(rows);
  add_memory_rows(rows);
  add_placeless_rows(rows);
  add_file_rows(rows);
}

}  // namespace tarry::test
