// Reads 64-bit ELF files: cubins and shared objects.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>

#include "tests/helpers/test.h"

namespace tarry::test {

template <class T>
T read_at(const std::string& bytes, std::size_t offset) {
  REQUIRE(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// A section of an ELF file, "" where there is none.
inline std::string elf_section(const std::string& elf, const std::string& name) {
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  const auto header_of = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(elf, header.e_shoff + i * header.e_shentsize);
  };
  const Elf64_Shdr names = header_of(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = header_of(i);
    if (elf.data() + names.sh_offset + s.sh_name == name) return elf.substr(s.sh_offset, s.sh_size);
  }
  return "";
}

/// The needs of a shared object: libraries and symbols, separated by spaces; "" where it needs nothing.
inline std::string elf_needs(const std::string& elf) {
  std::string needs;
  const std::string names = elf_section(elf, ".dynstr"), symbols = elf_section(elf, ".dynsym"),
                    dynamic = elf_section(elf, ".dynamic");
  REQUIRE(!dynamic.empty());
  for (std::size_t at = sizeof(Elf64_Sym); at < symbols.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(symbols, at);
    if (symbol.st_shndx == SHN_UNDEF) needs += std::string(names.c_str() + symbol.st_name) + " ";
  }
  for (std::size_t at = 0; at < dynamic.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = read_at<Elf64_Dyn>(dynamic, at);
    if (entry.d_tag == DT_NEEDED) needs += std::string(names.c_str() + entry.d_un.d_val) + " ";
  }
  return needs;
}

}  // namespace tarry::test
