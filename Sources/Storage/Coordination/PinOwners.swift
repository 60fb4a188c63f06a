// Who pins what in other processes, as far as the lock file tells: for lists of live versions, not
// for decisions.
internal import Platform

/// A version that another process pins.
struct PinOwner {
  let version: Version
  /// The process, and the thread that pinned the version first; nil when nothing is known.
  let text: String?
  /// When, by the monotonic clock; 0 when that is not known.
  let since: UInt64
}

extension LockFile {
  /// The pins of other living processes, in no order.
  ///
  /// Pins that come and go meanwhile may be missing.
  /// - Complexity: O(pins), and some system calls for each process.
  func pinOwners() throws(StorageError) -> [PinOwner] {
    guard let table else { return [] }
    stopIfForked()
    var owners: [PinOwner] = []
    for slot in SlotSet(bits: otherLiveSlots) where try table.isAlive(slot) {
      let first = table.slot(slot)
      let process = (first + SlotWord.process).pointee.load(ordering: .relaxed)
      var texts: [UInt64: String] = [:]
      try forEachPin(slot, table) { version, mark in
        let text =
          texts[mark.thread]
          ?? describeThread(mark.thread, ofProcess: process)
        texts[mark.thread] = text
        owners.append(
          PinOwner(version: Version(version), text: text, since: mark.nanoseconds))
      }
    }
    return owners
  }

  private func forEachPin(
    _ slot: Int, _ table: LockTable, _ body: (UInt64, PinMark) -> Void
  ) throws(StorageError) {
    // Acquiring: pairs with the store in PinRegion.takeFresh, which follows the segment's.
    let used = (table.slot(slot) + SlotWord.used).pointee.load(ordering: .acquiring)
    for segment in 0..<LockLayout.segmentCount {
      let start = LockLayout.words(inSegments: segment)
      guard start < Int(clamping: used), let pins = try table.segment(segment, ofSlot: slot)
      else { return }
      let count = LockLayout.words(inSegment: segment)
      for index in 0..<min(Int(clamping: used) - start, count) {
        // Acquiring: the mark is the pin's, or a later one's, which the second look finds out.
        let word = pins[index].load(ordering: .acquiring)
        guard let version = LockLayout.pinned(word) else { continue }
        let mark = PinMark(rawValue: pins[count + index].load(ordering: .acquiring))
        if pins[index].load(ordering: .relaxed) == word { body(version, mark) }
      }
    }
  }
}
