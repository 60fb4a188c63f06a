// What the tests of quick writes share: a file with groups and items, and who counts how often it
// is told.
import EditingProcess
import Foundation
import Observation
import Platform
import RealmSwift
import TestSupport
import Testing

/// A file of its own, open on the main actor.
@MainActor
final class Shop {
  let folder = TemporaryFolder()
  let configuration: Realm.Configuration
  let realm: Realm

  init() {
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("shop.realm")),
      objectTypes: editedClasses)
    realm = try! Realm(configuration: configuration)
  }

  /// A group with items of these names.
  func addGroup(_ names: String...) -> ItemGroup {
    try! realm.write {
      let group = ItemGroup()
      group.title = "group"
      group.items.append(objectsIn: names.map { Item(name: $0) })
      realm.add(group)
      return group
    }
  }

  func addItem(_ name: String) -> Item { addGroup(name).items[0] }

  /// Has another thread write, as another process would.
  func writeElsewhere(_ body: @escaping @Sendable (Realm) -> Void) {
    let configuration = configuration
    Thread.start(name: "elsewhere") {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { body(realm) }
    }.joinInTime()
  }

  /// What the Realm owes, and all jobs of the main actor that stand in line.
  func settle() async {
    realm.refresh()
    for _ in 0..<3 {
      await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }
  }
}

/// What the log is told while `body` runs.
///
/// On the main actor, so that no other test's lines come in between.
@MainActor
func logged(_ body: () throws -> Void) rethrows -> [String] {
  let messages = Monitor<[String]>([])
  let old = Logger.shared
  Logger.shared = Logger(level: .warn) { _, text in messages.withLock { $0.append(text) } }
  defer { Logger.shared = old }
  try body()
  return messages.withLock { $0 }
}

/// The line about writes to a value that is gone.
func leftOut(_ type: String) -> String {
  "A quick write was left out: the \(type) to change was deleted meanwhile."
}

/// Counts how often the reader of something is told.
@MainActor
final class Redraws {
  private(set) var count = 0

  /// Reads, and again each time when it is told.
  func follow(_ read: @escaping @MainActor () -> Void) {
    withObservationTracking(read) {
      MainActor.assumeIsolated {
        self.count += 1
        self.follow(read)
      }
    }
  }

  func take() -> Int {
    defer { count = 0 }
    return count
  }
}

extension Realm {
  /// How many versions `body` makes, where nobody else writes.
  func versions(_ body: () throws -> Void) rethrows -> UInt64 {
    let before = currentVersion
    try body()
    return currentVersion - before
  }
}
