// save_npy and load_npy: what NumPy writes is read, what is written NumPy reads.
#include <filesystem>
#include <fstream>
#include <string>

#include <tarry/tarry.h>

#include "runtime/device/backend.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/test.h"

using namespace tarry;
namespace fs = std::filesystem;

namespace {

struct Folder {
  support::ScopedTemporaryDirectory directory;
  [[nodiscard]] std::string file(const char* name) const { return (directory.path() / name).string(); }
  std::string write(const std::string& content) const {
    std::ofstream(file("x.npy"), std::ios::binary) << content;
    return file("x.npy");
  }
};

/// A file as NumPy lays it out, with `version` bytes of length field width and header text `dict`.
std::string npy(int version, const std::string& dict, const std::string& data) {
  std::string header = dict;
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string content = "\x93NUMPY";
  content += static_cast<char>(version);
  content += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) content += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return content + header + data;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::string why(const std::string& path) {
  try {
    (void)load_npy(path);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("npy: arrays come back with shape, dtype and bits", "[npy]") {
  const Folder f;
  const auto round_trip = [&](const Array& x) {
    save_npy(f.file("a.npy"), x);
    const Array y = load_npy(f.file("a.npy"));
    CHECK(y.dtype() == x.dtype());
    CHECK(y.shape() == x.shape());
    return y;
  };
  CHECK(round_trip(array({{1.5F, -0.0F}, {3.0F, 4.0F}})).to_vector<float>() == std::vector<float>{1.5F, -0.0F, 3, 4});
  CHECK(round_trip(array({1.0, 2.0}) * 2).to_vector<double>() == std::vector<double>{2, 4});
  CHECK(round_trip(array({true, false, true})).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(round_trip(asarray(std::vector<std::int64_t>{-1, INT64_MAX})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{-1, INT64_MAX});
  CHECK(round_trip(Array(2.5)).item<double>() == 2.5);
  CHECK(round_trip(zeros({0, 3})).size() == 0);
}

TEST_CASE("npy: the file is what NumPy writes", "[npy]") {
  const Folder f;
  save_npy(f.file("a.npy"), array({{1, 2, 3}, {4, 5, 6}}));
  const std::string dict = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(support::read_file(f.file("a.npy")) == npy(1, dict, raw<std::int32_t>({1, 2, 3, 4, 5, 6})));
  save_npy(f.file("b.npy"), array({true}));
  CHECK(support::read_file(f.file("b.npy")) ==
        npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\1"));
}

TEST_CASE("npy: other versions, byte orders and layouts are read", "[npy]") {
  const Folder f;
  const std::string fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  const Array columns = load_npy(f.write(npy(2, fortran, raw<float>({1, 4, 2, 5, 3, 6}))));
  CHECK(columns.shape() == Shape{2, 3});
  CHECK(columns.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string big = "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\">i8\"}";
  const Array swapped =
      load_npy(f.write(npy(3, big, std::string("\0\0\0\0\0\0\1\2\377\377\377\377\377\377\377\376", 16))));
  CHECK(swapped.to_vector<std::int64_t>() == std::vector<std::int64_t>{258, -2});
  const Array scalar =
      load_npy(f.write(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", raw<double>({7}))));
  CHECK(scalar.item<double>() == 7);
}

TEST_CASE("npy: an opened file is read where it lies", "[npy]") {
  const Folder f;
  std::vector<float> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8;
  save_npy(f.file("a.npy"), asarray(values, {30, 100}));
  const std::size_t live = runtime::backend(cpu).memory().live;
  const Array x = open_npy(f.file("a.npy"));
  CHECK(x.shape() == Shape{30, 100});
  CHECK(x.dtype() == float32);
  CHECK(x.host<float>().data() == x.host<float>().data());  // the mapping itself, not copies of it
  CHECK(runtime::backend(cpu).memory().live == live);
  CHECK(x.to_vector<float>() == values);
  CHECK(sum(x(3) * 2).item<float>() == sum(asarray(values, {30, 100})(3) * 2).item<float>());
  fs::remove(f.file("a.npy"));  // the mapping keeps the file
  CHECK(x(29, 99).item<float>() == values.back());
}

TEST_CASE("npy: what is computed from an opened file does not change it", "[npy]") {
  const Folder f;
  save_npy(f.file("a.npy"), array({1, 2, 3, 4}));
  const std::string before = support::read_file(f.file("a.npy")).value();
  Array x = open_npy(f.file("a.npy"));
  x.set({slice(1, 3)}, 7);
  x += 1;
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 8, 8, 5});
  CHECK(support::read_file(f.file("a.npy")) == before);
}

TEST_CASE("npy: opened files may be column-major, 0-d, empty, and not aligned to pages or vectors", "[npy]") {
  const Folder f;
  const std::string fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  const Array columns = open_npy(f.write(npy(2, fortran, raw<float>({1, 4, 2, 5, 3, 6}))));
  CHECK(columns.shape() == Shape{2, 3});
  CHECK((columns + 0.5F).to_vector<float>() == std::vector<float>{1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F});
  CHECK(open_npy(f.write(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", raw<double>({7}))))
            .item<double>() == 7);
  CHECK(open_npy(f.write(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", ""))).size() == 0);
  std::string odd = "{'descr': '<i2', 'fortran_order': False, 'shape': (40,), }";  // as other writers lay out
  odd.append(odd.size() % 2, ' ');
  std::string file = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(odd.size()) + '\0' + odd;
  for (char i = 0; i < 40; ++i) file += {i, '\0'};
  CHECK(sum(open_npy(f.write(file))).item<std::int64_t>() == 780);
}

TEST_CASE("npy: a file that cannot be read says why and names the caller's line", "[npy][error]") {
  const Folder f;
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK_THAT(why(f.file("none.npy")), Catch::Contains("[load_npy] cannot read ") && Catch::Contains("npy_test.cpp:"));
  CHECK_THAT(why(f.write("PK\3\4 and more than ten bytes")), Catch::Contains("does not begin like one"));
  CHECK_THAT(why(f.write(npy(9, good, ""))), Catch::Contains("its format version is 9"));
  CHECK_THAT(why(f.write(npy(1, good, "").substr(0, 40))), Catch::Contains("ends within its header"));
  CHECK_THAT(why(f.write(npy(1, good, "1234567"))), Catch::Contains("ends before its last element"));
  CHECK_THAT(why(f.write(npy(1, "{'descr': '<f4'}", ""))), Catch::Contains("its header cannot be understood"));
  CHECK_THAT(why(f.write(npy(1, "{'descr': '<U8', 'fortran_order': False, 'shape': (2,), }", ""))),
             Catch::Contains("elements of type '<U8', which no dtype has"));
  CHECK_THAT(why(f.write(npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", ""))),
             Catch::Contains("more than 2^63 - 1 elements"));
}

TEST_CASE("npy: what cannot be written is refused and leaves the old file", "[npy][error]") {
  const Folder f;
  CHECK_THROWS_WITH(save_npy(f.file("no/such/folder.npy"), array({1})), Catch::Contains("[save_npy] cannot write "));
  CHECK_THROWS_WITH(save_npy(f.file("b.npy"), astype(array({1.0F}), bfloat16)),
                    Catch::Contains("[save_npy] the format has no name for bfloat16"));
  CHECK_FALSE(fs::exists(f.file("b.npy")));
}
