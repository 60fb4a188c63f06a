// Search in ascending numbers. The import is public because it is inlined into the layers above.
public import CShim

/// How many of some ascending numbers are not above a value; takes as long whatever they are.
///
/// - Complexity: O(log n).
@inlinable @inline(__always)
package func countUpTo(_ value: Int64, in numbers: UnsafePointer<Int64>, count: Int) -> Int {
  Int(shim_count_up_to(numbers, Int64(count), value))
}

/// The same of numbers of 32 bits, wherever they are; little-endian as in a file.
@inlinable @inline(__always)
package func countUpTo(_ value: UInt32, in numbers: UnsafeRawPointer, count: Int) -> Int {
  Int(shim_count_up_to_32(numbers, Int64(count), value))
}
