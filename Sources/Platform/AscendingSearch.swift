// Search in ascending numbers.

/// How many of some ascending numbers are not above a value; takes as long whatever they are.
///
/// - Complexity: O(log n).
@inlinable @inline(__always)
package func countUpTo(_ value: Int64, in numbers: UnsafePointer<Int64>, count: Int) -> Int {
  Int(shim_count_up_to(numbers, Int64(count), value))
}

/// How many of some ascending pairs of integers are below another one; takes as long whatever they
/// are.
///
/// - Parameter stride: bytes from one pair's first number to the next pair's.
/// - Complexity: O(log n).
@inlinable @inline(__always)
package func countPairsBelow(
  _ pair: (Int64, Int64), in pairs: UnsafeRawPointer, count: Int, stride: Int
) -> Int {
  Int(shim_count_pairs_below(pairs, Int64(count), Int64(stride), pair.0, pair.1))
}

/// How many of some ascending unsigned numbers, little-endian as in a file, are below a value;
/// takes as long whatever they are.
///
/// - Parameters:
///   - stride: bytes from one number to the next.
///   - code: the logarithm of a number's bytes, 0 to 2.
/// - Complexity: O(log n).
@inlinable @inline(__always)
package func countBelow(
  _ value: UInt64, in numbers: UnsafeRawPointer, count: Int, stride: Int, code: UInt8
) -> Int {
  Int(shim_count_below(numbers, Int64(count), Int64(stride), Int32(code), value))
}
