// A copy of a file without free space, and compaction in place.
import Foundation
import RealmSwift

enum CopyRows {
  private static let rows = [
    Row("write-copy", .nanoseconds), Row("compact", .nanoseconds), Row("compact-memory", .bytes),
  ]

  /// `write-copy` to another file; `compact` of a closed one, with the most memory that it needed.
  static func all(_ fixtures: Fixtures) -> Benchmark {
    let count = fixtures.options.objects
    return Benchmark(rows, [Contestant(.ours, .full), Contestant(.sqlite, .full)]) {
      contestant, repetition in
      let fixture = try fixtures.fresh(contestant, count: count)
      let path = fixture.engine.files[0]
      var changes = Changes(seed: repetition)
      for _ in 0..<100 { try fixture.commit(changes.next(for: fixture)) }
      try fixture.close()
      let copy = fixtures.path("copy")
      try flushFileSystem(holding: fixtures.options.folder)
      var values: [String: Double] = [:]
      values["write-copy"] = try time { try self.copy(contestant, path, to: copy) }
      try waitUntilClosed(path)
      try FileManager.default.removeItem(atPath: copy)
      try flushFileSystem(holding: fixtures.options.folder)
      let watch = try MemoryWatch()
      values["compact"] = try time { try compact(contestant, path) }
      values["compact-memory"] = Double(watch.stop())
      try waitUntilClosed(path)
      try fixture.open()
      let checksum = try fixture.check()
      try fixture.remove()
      return Measurement(values: values, checksum: checksum)
    }
  }

  private static func time(_ body: () throws -> Void) throws -> Double {
    let start = now()
    try body()
    return Double(now() - start)
  }

  private static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
  }

  private static func copy(_ contestant: Contestant, _ path: String, to copy: String) throws {
    if contestant.engine == .ours {
      let realm = try Realm(configuration: configuration(path))
      try realm.writeCopy(toFile: URL(fileURLWithPath: copy))
    } else {
      try SQLiteConnection(path).run("VACUUM INTO '\(copy)'")
    }
  }

  private static func compact(_ contestant: Contestant, _ path: String) throws {
    if contestant.engine == .ours {
      guard try Realm.compact(configuration: configuration(path)) else {
        throw PeerError("\(path) was not compacted")
      }
    } else {
      try SQLiteConnection(path).run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}
