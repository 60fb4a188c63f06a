// Observers as workloads see them: part of the table, watched in a place of its own, which is no
// thread of the run. What they are told is judged by ObservedCopy.

/// An observation of an engine's table.
package protocol EngineObserver: AnyObject, Sendable {
  /// Moves to the newest version, has everything told that is owed, and runs `body`, in the
  /// observer's place; returns then.
  func refresh(_ body: @escaping @Sendable (any ObservedContent) -> Void)
  /// Ends the observation in its place: nothing is told after that.
  func end()
}

/// The part of the table that is observed.
package enum ObservedPart: Int, CaseIterable, Sendable {
  /// All objects, in the order of insertion.
  case all
  /// Objects that are younger than 50, in the order of insertion.
  case young
  /// All objects by score.
  case byScore
}

/// What can be seen in a call, or in a refresh; not to be kept.
package protocol ObservedContent {
  var version: UInt64 { get }
  var count: Int { get }
  /// Reads all properties of the object at a position.
  func read(_ position: Int, into row: inout Row)
}

/// What an observer is told: positions of objects that are gone, in the content that it knows, then
/// of new and of changed ones in the content that it sees.
package struct ObservedChange: Sendable {
  /// The first call; nothing else is said.
  package var isFirst = false
  package var deletions: [Int] = []
  package var insertions: [Int] = []
  package var modifications: [Int] = []

  package init() {}

  /// The largest stamp of the objects that are new or changed; 0 where there are none.
  package func newestStamp(in content: any ObservedContent, reading row: inout Row) -> Int {
    var newest = 0
    for position in insertions + modifications where (0..<content.count).contains(position) {
      content.read(position, into: &row)
      newest = max(newest, row.stamp)
    }
    return newest
  }
}
