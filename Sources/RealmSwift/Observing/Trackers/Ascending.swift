// What observers of every kind ask of ascending sequences: where something belongs, and what need
// not move.

extension RandomAccessCollection where Index == Int {
  /// The first position whose element is not before what is looked for; the end if all are.
  ///
  /// - Parameter isBefore: never true behind a false.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The longest part of a sequence that ascends: what need not move.
enum LongestAscent {
  /// Which of some numbers are in it; nil is not.
  static func of(_ numbers: [Int?]) -> [Bool] {
    var result = numbers.map { $0 != nil }
    var last = -1
    var ascends = true
    for case let number? in numbers {
      if number < last {
        ascends = false
        break
      }
      last = number
    }
    if ascends { return result }
    // By length: where the ascent of that length with the smallest end ends; and what comes before
    // each.
    var ends: [Int] = []
    var before = Array(repeating: -1, count: numbers.count)
    for (position, number) in numbers.enumerated() {
      guard let number else { continue }
      let length = ends.lowerBound { numbers[$0]! < number }
      before[position] = length == 0 ? -1 : ends[length - 1]
      if length == ends.count { ends.append(position) } else { ends[length] = position }
    }
    result = Array(repeating: false, count: numbers.count)
    var position = ends.last ?? -1
    while position >= 0 {
      result[position] = true
      position = before[position]
    }
    return result
  }
}
