// Memory that goes round: blocks that were given back wait in their thread for the next object of that size, so that
// work which repeats asks the allocator for nothing.
#pragma once

#include <cstddef>

namespace tarry::support {

/// At least `bytes`, aligned as operator new aligns.
void* take_block(std::size_t bytes);
/// `bytes` as in take_block; any thread may give a block back.
void give_block(void* block, std::size_t bytes) noexcept;

/// An allocator of such blocks, for containers and std::allocate_shared.
template <class T>
struct Recycler {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  Recycler() = default;
  template <class U>
  Recycler(const Recycler<U>&) noexcept {}  // NOLINT: conversion wanted
  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { give_block(p, n * sizeof(T)); }
  friend bool operator==(Recycler, Recycler) { return true; }
};

/// Base of classes whose objects live in such blocks.
struct Recycled {
  static void* operator new(std::size_t bytes) { return take_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { give_block(block, bytes); }
};

}  // namespace tarry::support
