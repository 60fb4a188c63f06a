// What was freed together, before it goes to the free space: blocks that died together often lie
// side by side, though they died in the order of a tree, or of hashes. Merged first, they cost the
// free space far less.

extension [Run] {
  /// Whether runs ascend and none of them could be one with the next.
  var isSortedAndMerged: Bool {
    withUnsafeBufferPointer { runs in
      for index in 0..<Swift.max(runs.count - 1, 0)
      where runs[index].offset >= runs[index + 1].offset
        || runs[index].isFollowed(by: runs[index + 1])
      {
        return false
      }
      return true
    }
  }

  /// Sorts runs by place and makes one of those that are adjacent.
  ///
  /// - Precondition: no byte is in two of them.
  mutating func sortAndMerge() {
    if count < 2 { return }
    sort { $0.offset < $1.offset }
    // In place: the runs up to `last` are the result so far.
    let last = withUnsafeMutableBufferPointer { runs in
      var last = 0
      for index in 1..<runs.count {
        if runs[last].isFollowed(by: runs[index]) {
          runs[last].length += runs[index].length
        } else {
          last += 1
          runs[last] = runs[index]
        }
      }
      return last
    }
    removeLast(count - 1 - last)
  }
}

extension Run {
  /// Whether two runs are adjacent and of one kind: the homes are counted apart from what follows.
  func isFollowed(by upper: Run) -> Bool {
    end == upper.offset && upper.offset != FileHeader.dataStart
  }
}
