// What happens to the elements of sections that a client holds while their Realm moves from version
// to version, so that the sections go on from what they were. Confined to the Realm's place.
internal import ObjectStore
internal import Storage

/// What has happened to the elements of some sections since these were found.
///
/// Who asks for the sections next finds out what becomes of them by it: only then the program's
/// code that makes keys runs.
final class HeldSections {
  /// After more changes than this, that nobody has asked about, the sections are found anew.
  private static let changesMax = 1_024

  // Unchecked exclusivity: as those of HeldQueries.
  /// The version up to which it is known; nil when it no longer is.
  @exclusivity(unchecked) private(set) var version: Version?
  /// What happened to the elements; modifications are those that may have another key.
  @exclusivity(unchecked) private(set) var change = CollectionChange()
  @exclusivity(unchecked) private var filter: KeyPathFilter
  /// The table of the elements whose keys are also made of what links lead to.
  private let linkingTable: Int?
  /// The tables to which these lead.
  let tables: Set<Int>

  /// - Parameters:
  ///   - version: that of the sections.
  ///   - keyPaths: what keys are made of; nil: also of what links lead to.
  ///   - table: the class of the elements; nil for values.
  init(
    of version: Version, _ keyPaths: [String]?, _ realm: ConfinedRealm, _ table: TablePointer?
  ) {
    self.version = version
    filter = KeyPathFilter(keyPaths, realm, table)
    linkingTable = keyPaths == nil ? table?.pointee.binding.table?.index : nil
    tables = linkingTable.map { realm.classes.stored.tables(behind: $0) } ?? []
  }

  /// The objects that may have another key after a step; nil when that is not known.
  func changedElements(_ step: VersionStep) -> ChangedObjects? {
    if version == nil { return nil }
    guard let linkingTable else { return filter.changedElements(step) }
    let changed = step.reachingOverAnyLinks(linkingTable, atMost: Self.changesMax)
    if changed == nil { forget() }
    return changed
  }

  /// Notes what a step has done to the elements.
  func note(_ next: CollectionChange, from old: Version, to new: Version) {
    guard version == old else { return forget() }
    version = new
    if next.isEmpty { return }
    change = change.isEmpty ? next : change.followed(by: next)
    let count = change.deletions.count + change.insertions.count + change.modifications.count
    if count > Self.changesMax { forget() }
  }

  /// The sections are those of the version now.
  func beginAnew() { change = CollectionChange() }

  /// What happens from now on is not known.
  func forget() {
    version = nil
    change = CollectionChange()
  }
}
