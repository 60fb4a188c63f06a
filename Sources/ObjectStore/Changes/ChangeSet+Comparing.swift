// What differs between two versions, found by comparing them: for spans that nobody recorded. Equal
// references are equal subtrees, so only what differs is looked at. Values that were assigned again, and
// moves inside of collections, cannot be told this way: only differing content is reported.
package import Storage

extension ChangeSet {
  /// What differs between two versions of a file.
  ///
  /// - Precondition: both snapshots live.
  /// - Complexity: O(blocks that differ).
  package static func between(_ old: Snapshot, _ new: Snapshot) -> ChangeSet {
    fatalError("not made yet")
  }
}
