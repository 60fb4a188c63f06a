// Sorting of many unsigned integers by some of their bits, in a few passes over memory.

/// Sorts integers by the bits from `low` to below `high`; those that are equal there keep their
/// order.
///
/// - Parameters:
///   - numbers: sorted on return.
///   - scratch: room for as many; its content is unspecified on return.
/// - Complexity: O(n) a pass, one pass for each 11 bits; few numbers are compared instead.
package func radixSort(
  _ numbers: UnsafeMutableBufferPointer<UInt64>, bits low: Int, to high: Int,
  scratch: UnsafeMutableBufferPointer<UInt64>
) {
  precondition(scratch.count >= numbers.count, "room for \(scratch.count) of \(numbers.count)")
  if numbers.count < 2 || low >= high { return }
  // Few numbers are at hand in the nearest cache, while each digit needs a table of counts of its
  // own.
  let digitMax = numbers.count < 4_096 ? 8 : 11
  let passes = (high &- low &+ digitMax &- 1) / digitMax
  let digit = (high &- low &+ passes &- 1) / passes
  var from = numbers.baseAddress.unsafelyUnwrapped
  var to = scratch.baseAddress.unsafelyUnwrapped
  var start = low
  while start < high {
    let width = min(digit, high &- start)
    if distribute(from, numbers.count, to, shift: UInt64(start), buckets: 1 &<< width) {
      swap(&from, &to)
    }
    start &+= width
  }
  if from != numbers.baseAddress {
    numbers.baseAddress.unsafelyUnwrapped.update(from: from, count: numbers.count)
  }
}

/// One pass; false, and nothing is moved, when all have the same digit.
private func distribute(
  _ from: UnsafeMutablePointer<UInt64>, _ count: Int, _ to: UnsafeMutablePointer<UInt64>,
  shift: UInt64, buckets: Int
) -> Bool {
  let mask = UInt64(buckets &- 1)
  return withUnsafeTemporaryAllocation(of: Int.self, capacity: buckets) { places in
    let places = places.baseAddress.unsafelyUnwrapped
    places.initialize(repeating: 0, count: buckets)
    for index in 0..<count {
      places[Int(truncatingIfNeeded: (from[index] &>> shift) & mask)] &+= 1
    }
    if places[Int(truncatingIfNeeded: (from[0] &>> shift) & mask)] == count { return false }
    var next = 0
    for bucket in 0..<buckets {
      let size = places[bucket]
      places[bucket] = next
      next &+= size
    }
    for index in 0..<count {
      let number = from[index]
      let bucket = Int(truncatingIfNeeded: (number &>> shift) & mask)
      to[places[bucket]] = number
      places[bucket] &+= 1
    }
    return true
  }
}
