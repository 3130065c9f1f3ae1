// Linear systems and factors of one small matrix: one text for two readers, this library (C++20, included inside a
// namespace behind codegen/prelude/core.h) and NVRTC, which gets what follows the line of dashes
// (codegen/cuda/matrices.cpp). The threads of a group share one matrix; every element is computed by the same
// operations in the same order whatever their number, so both readers give the same bits.
//
// A group G has `lane` of `lanes` along columns, `part` of `parts` across them, `thread` of `threads` altogether,
// sync(), and joins what its threads have: any(), most(), largest(). The matrix w is kept column by column, `ld` apart.
#pragma once
// ----------------------------------------------------------------
#ifdef __CUDACC__
TARRY_FN float root(float x) { return __fsqrt_rn(x); }
TARRY_FN double root(double x) { return __dsqrt_rn(x); }
#else
TARRY_FN float root(float x) { return __builtin_sqrtf(x); }
TARRY_FN double root(double x) { return __builtin_sqrt(x); }
#endif
template <class T>
TARRY_FN T magnitude(T x) {
  return x < 0 ? -x : x;
}
/// One rounding error of 1, infinity, and no number.
TARRY_FN float unit(float) { return 0x1p-24f; }
TARRY_FN double unit(double) { return 0x1p-53; }
TARRY_FN float endless(float) { return tarry_from_bits_f32(0x7f800000u); }
TARRY_FN double endless(double) { return tarry_from_bits_f64(0x7ff0000000000000ull); }
TARRY_FN float nothing(float) { return tarry_from_bits_f32(0x7fc00000u); }
TARRY_FN double nothing(double) { return tarry_from_bits_f64(0x7ff8000000000000ull); }

/// w[., column] of an n x n matrix that lies row by row.
template <class T, class G>
TARRY_FN void load(const G& g, const T* a, int n, T* w, int ld) {
  for (int r = g.part; r < n; r += g.parts)
    for (int c = g.lane; c < n; c += g.lanes) w[(tarry_i64)c * ld + r] = a[(tarry_i64)r * n + c];
}

/// Gaussian elimination with partial pivoting (Golub, Van Loan, Matrix Computations, 3.4) of n rows and `columns`
/// columns, the first n of which become the upper factor. A column of zeros has the pivot 0 and eliminates nothing.
/// Returns the sign of the row exchanges.
template <class T, class G>
TARRY_FN int eliminate(const G& g, T* w, int ld, int n, int columns) {
  int sign = 1;
  for (int k = 0; k < n; ++k) {
    T* const factors = w + (tarry_i64)k * ld;
    T most = -1;
    int from = k;
    for (int i = k + g.thread; i < n; i += g.threads) {
      const T x = magnitude(factors[i]);
      if (x > most) {
        most = x;
        from = i;
      }
    }
    from = g.largest(most, from);
    if (from != k) {
      for (int j = g.thread; j < columns; j += g.threads) {
        T* const column = w + (tarry_i64)j * ld;
        const T above = column[k];
        column[k] = column[from];
        column[from] = above;
      }
      sign = -sign;
    }
    g.sync();
    const T pivot = factors[k];
    for (int i = k + 1 + g.thread; i < n; i += g.threads) factors[i] = pivot == 0 ? (T)0 : factors[i] / pivot;
    g.sync();
    for (int j = k + 1 + g.part; j < columns; j += g.parts) {
      T* __restrict__ const column = w + (tarry_i64)j * ld;
      const T above = column[k];
      for (int i = k + 1 + g.lane; i < n; i += g.lanes) column[i] -= factors[i] * above;
    }
    g.sync();
  }
  return sign;
}

/// The columns behind the first n become the solutions of the upper factor's system.
template <class T, class G>
TARRY_FN void substitute(const G& g, T* w, int ld, int n, int columns) {
  for (int k = n - 1; k >= 0; --k) {
    const T* const factors = w + (tarry_i64)k * ld;
    for (int j = n + g.thread; j < columns; j += g.threads) w[(tarry_i64)j * ld + k] /= factors[k];
    g.sync();
    for (int j = n + g.part; j < columns; j += g.parts) {
      T* __restrict__ const column = w + (tarry_i64)j * ld;
      const T below = column[k];
      for (int i = g.lane; i < k; i += g.lanes) column[i] -= factors[i] * below;
    }
    g.sync();
  }
}

/// to[., first ...] of a x = b, or of the inverse where b is none; `count` of the m columns.
template <class T, class G>
TARRY_FN void solve(const G& g, const T* a, const T* b, T* to, T* w, int ld, int n, tarry_i64 m, tarry_i64 first,
                    int count) {
  load(g, a, n, w, ld);
  for (int r = g.part; r < n; r += g.parts)
    for (int c = g.lane; c < count; c += g.lanes)
      w[(tarry_i64)(n + c) * ld + r] = b ? b[r * m + first + c] : (T)(r == first + c ? 1 : 0);
  g.sync();
  eliminate(g, w, ld, n, n + count);
  substitute(g, w, ld, n, n + count);
  for (int r = g.part; r < n; r += g.parts)
    for (int c = g.lane; c < count; c += g.lanes) to[r * m + first + c] = w[(tarry_i64)(n + c) * ld + r];
  g.sync();
}

/// n factors of the determinant.
template <class T, class G>
TARRY_FN void pivots(const G& g, const T* a, T* to, T* w, int ld, int n) {
  load(g, a, n, w, ld);
  g.sync();
  const int sign = eliminate(g, w, ld, n, n);
  for (int k = g.thread; k < n; k += g.threads) to[k] = k == 0 && sign < 0 ? -w[0] : w[(tarry_i64)k * ld + k];
  g.sync();
}

/// The lower factor l of a = l l^T (Golub, Van Loan, 4.2), from the lower triangle of a; NaN where a is not positive
/// definite.
template <class T, class G>
TARRY_FN void cholesky(const G& g, const T* a, T* to, T* w, int ld, int n) {
  load(g, a, n, w, ld);
  g.sync();
  bool definite = true;
  for (int k = 0; k < n; ++k) {
    T* const factors = w + (tarry_i64)k * ld;
    const T pivot = root(factors[k]);
    definite = definite && pivot > 0 && pivot - pivot == 0;
    g.sync();
    for (int i = k + g.thread; i < n; i += g.threads) factors[i] = i == k ? pivot : factors[i] / pivot;
    g.sync();
    for (int j = k + 1 + g.part; j < n; j += g.parts) {
      T* __restrict__ const column = w + (tarry_i64)j * ld;
      const T right = factors[j];
      for (int i = j + g.lane; i < n; i += g.lanes) column[i] -= factors[i] * right;
    }
    g.sync();
  }
  const T lost = nothing((T)0);
  for (int r = g.part; r < n; r += g.parts)
    for (int c = g.lane; c < n; c += g.lanes)
      to[(tarry_i64)r * n + c] = c > r ? (T)0 : definite ? w[(tarry_i64)c * ld + r] : lost;
  g.sync();
}

/// Pair `i` of round `r` of a tournament in which each of n players meets each other once in as many rounds as there
/// are others, all at a time; false where one of the two does not exist.
TARRY_FN bool paired(int n, int r, int i, int& p, int& q) {
  const int others = n - 1 + n % 2;
  const int one = i == 0 ? others : (r + i) % others, other = i == 0 ? r : (r - i + others) % others;
  p = one < other ? one : other;
  q = one < other ? other : one;
  return q < n;
}

/// Row 0: the eigenvalues of a symmetric matrix, ascending; rows 1 to n: its eigenvectors, as columns. Reads the lower
/// triangle. Algorithm: Jacobi's rotations, of disjoint pairs at a time (Golub, Van Loan, 8.5), until all elements
/// beside the diagonal are below a 16th of a rounding error of the largest. Very large and very small matrices are
/// scaled by a power of two meanwhile: no product leaves the range. NaN where an element is not finite.
template <class T, class G>
TARRY_FN void eigh(const G& g, const T* a, T* to, T* w, int ld, int n) {
  T* const v = w + (tarry_i64)n * ld;
  T* const turns = v + (tarry_i64)n * ld;  // cosine and sine of each pair
  T* const ranks = turns + n + 1;
  T scale = 0;
  for (int r = g.part; r < n; r += g.parts) {
    for (int c = g.lane; c <= r; c += g.lanes) {
      const T x = a[(tarry_i64)r * n + c], size = x - x == 0 ? magnitude(x) : endless(x);
      w[(tarry_i64)c * ld + r] = w[(tarry_i64)r * ld + c] = x;
      v[(tarry_i64)c * ld + r] = v[(tarry_i64)r * ld + c] = r == c ? 1 : 0;
      if (size > scale) scale = size;
    }
  }
  scale = g.most(scale);
  const bool finite = scale - scale == 0;
  constexpr T kFar = (T)(sizeof(T) == 4 ? 0x1p40 : 0x1p400), kUp = (T)(sizeof(T) == 4 ? 0x1p80 : 0x1p600);
  const T grown = scale > kFar ? 1 / kUp : scale < 1 / kFar && scale > 0 ? kUp : (T)1;
  if (finite && grown != 1) {
    for (int r = g.part; r < n; r += g.parts)
      for (int c = g.lane; c <= r; c += g.lanes) w[(tarry_i64)c * ld + r] = w[(tarry_i64)r * ld + c] *= grown;
    scale *= grown;
  }
  const T least = finite ? scale * unit(scale) / 16 : scale;
  const int half = (n + 1) / 2, rounds = n - 1 + n % 2;
  constexpr int kMostSweeps = 40;  // 6 to 10 are enough
  bool turned = n > 1;
  g.sync();
  for (int sweep = 0; sweep < kMostSweeps && turned; ++sweep) {
    bool mine = false;
    for (int round = 0; round < rounds; ++round) {
      for (int i = g.thread; i < half; i += g.threads) {
        int p, q;
        T c = 1, s = 0;
        if (paired(n, round, i, p, q)) {
          const T beside = w[(tarry_i64)p * ld + q];
          if (magnitude(beside) > least) {
            const T tau = (w[(tarry_i64)q * ld + q] - w[(tarry_i64)p * ld + p]) / (2 * beside);
            const T t = (tau < 0 ? (T)-1 : (T)1) / (magnitude(tau) + root(1 + tau * tau));
            c = 1 / root(1 + t * t);
            s = t * c;
            mine = true;
          }
        }
        turns[2 * i] = c;
        turns[2 * i + 1] = s;
      }
      g.sync();
      for (int i = g.part; i < half; i += g.parts) {
        int p, q;
        const T c = turns[2 * i], s = turns[2 * i + 1];
        if (!paired(n, round, i, p, q) || s == 0) continue;
        T* const first = w + (tarry_i64)p * ld;
        T* const second = w + (tarry_i64)q * ld;
        T* const first_vector = v + (tarry_i64)p * ld;
        T* const second_vector = v + (tarry_i64)q * ld;
        for (int r = g.lane; r < n; r += g.lanes) {
          const T x = first[r], y = second[r], z = first_vector[r], u = second_vector[r];
          first[r] = c * x - s * y;
          second[r] = s * x + c * y;
          first_vector[r] = c * z - s * u;
          second_vector[r] = s * z + c * u;
        }
      }
      g.sync();
      for (int j = g.part; j < n; j += g.parts) {
        T* const column = w + (tarry_i64)j * ld;
        for (int i = g.lane; i < half; i += g.lanes) {
          int p, q;
          const T c = turns[2 * i], s = turns[2 * i + 1];
          if (!paired(n, round, i, p, q) || s == 0) continue;
          const T x = column[p], y = column[q];
          column[p] = j == q ? (T)0 : c * x - s * y;
          column[q] = j == p ? (T)0 : s * x + c * y;
        }
      }
      g.sync();
    }
    turned = g.any(mine);
  }
  const T lost = nothing((T)0);
  for (int i = g.thread; i < n; i += g.threads) {
    const T own = w[(tarry_i64)i * ld + i];
    int rank = 0;
    for (int j = 0; j < n; ++j) {
      const T other = w[(tarry_i64)j * ld + j];
      rank += other < own || (other == own && j < i) ? 1 : 0;
    }
    if (!finite) rank = i;
    ranks[i] = (T)rank;
    to[rank] = finite ? own / grown : lost;
  }
  g.sync();
  for (int r = g.part; r < n; r += g.parts)
    for (int c = g.lane; c < n; c += g.lanes)
      to[(tarry_i64)(1 + r) * n + (tarry_i64)ranks[c]] = finite ? v[(tarry_i64)c * ld + r] : lost;
  g.sync();
}
