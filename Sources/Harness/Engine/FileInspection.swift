// Looks at a Realm file from outside of any Realm: what is in it, and whether it is sound. Uses the
// engine's package hooks, because a file must be judged without knowing its classes.
internal import ObjectStore
internal import Storage

/// What is in a file.
package struct FileDescription: Codable, Sendable {
  package struct VersionRecord: Codable, Sendable {
    package var version: UInt64
    /// Nil when only another process pins it.
    package var ageS: Double?
    package var owner: String
    /// Bytes that the file keeps for this version; nil where only a writer knows.
    package var retainedBytes: UInt64?
    package var isNewest: Bool
  }

  package struct ColumnRecord: Codable, Sendable {
    package var name: String
    package var type: String
    package var isOptional: Bool
    package var isIndexed: Bool
  }

  package struct TableRecord: Codable, Sendable {
    package var name: String
    package var objects: Int
    package var primaryKey: String?
    package var columns: [ColumnRecord]
  }

  package var path: String
  package var newestVersion: UInt64
  package var schemaVersion: UInt64
  /// Nil where only a writer knows, and the file could not be opened as one.
  package var commits: UInt64?
  package var liveVersions: Int
  package var versions: [VersionRecord]
  package var fileBytes: UInt64
  package var liveBytes: UInt64?
  package var heldBytes: UInt64?
  package var freeBytes: UInt64?
  package var tables: [TableRecord]
  /// The process that writes, and those that wait for it, in order.
  package var writer: String?
  package var waiters: [String] = []
}

/// What a complete check of a file found.
package struct FileCheck: Codable, Sendable {
  package enum Verdict: String, Codable, Sendable {
    case sound
    /// Cannot be opened, foreign, or damaged bytes.
    case unreadable
    /// Readable, but an invariant of the structure is broken.
    case broken
  }

  package var path: String
  package var verdict: Verdict
  package var version: UInt64?
  package var blocks: Int?
  package var reachableBytes: UInt64?
  package var heldBytes: UInt64?
  package var freeBytes: UInt64?
  package var fileBytes: UInt64?
  package var tables: Int?
  package var objects: Int?
  package var findings: [String] = []
  /// What could not be checked, and why.
  package var notes: [String] = []
}

/// Judges files.
package enum FileInspection {
  /// Walks and verifies everything: bytes of every block, tables and indexes, space.
  ///
  /// The space is known to a writer only: for that part the file is opened for writing, and nothing
  /// is changed. A file that is read-only is checked without it.
  package static func check(_ path: String, key: [UInt8]? = nil) -> FileCheck {
    RootStructure.register()
    var check = FileCheck(path: path, verdict: .sound)
    do throws(StorageError) {
      try checkBlocksAndTables(path, key, &check)
    } catch {
      check.verdict = .unreadable
      check.findings.append("\(error)")
      if let hint = EngineKind.foreignFile(path) { check.findings.append(hint) }
    }
    if check.verdict == .sound { checkSpace(path, key, &check) }
    return check
  }

  /// Opens a file as a reader, beside whoever has it open.
  static func openForReading(
    _ path: String, key: [UInt8]?, notes: inout [String]
  ) throws(StorageError) -> Store {
    let options = StoreOptions(path: path, isReadOnly: true, encryptionKey: key)
    do throws(StorageError) { return try Store.open(options) } catch {
      guard case .logNotRepeated(_, let log) = error else { throw error }
      notes.append("the commit log '\(log)' was written to the file first")
    }
    // Without its newest commits there is nothing to judge.
    _ = try openForWriting(path, key)
    return try Store.open(options)
  }

  private static func checkBlocksAndTables(
    _ path: String, _ key: [UInt8]?, _ check: inout FileCheck
  ) throws(StorageError) {
    let store = try openForReading(path, key: key, notes: &check.notes)
    let blocks = try store.checkInvariants()
    check.version = blocks.version.rawValue
    check.blocks = blocks.blocks
    check.reachableBytes = blocks.reachableBytes
    check.fileBytes = blocks.fileBytes
    check.findings = blocks.findings
    check.notes += blocks.notes
    // Tables are read only when every byte of them is known to be good.
    guard blocks.findings.isEmpty else {
      check.verdict = .unreadable
      return
    }
    let snapshot = try store.pinNewest()
    let schema = try StoredSchema.load(snapshot.reader, root: snapshot.root)
    check.tables = schema.tables.count
    check.objects = 0
    check.findings += schema.checkInvariants { table in
      let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
      check.objects! += reader.count
      return reader
    }
    if !check.findings.isEmpty { check.verdict = .broken }
  }

  private static func checkSpace(
    _ path: String, _ key: [UInt8]?, _ check: inout FileCheck
  ) {
    do throws(StorageError) {
      let space = try openForWriting(path, key).checkInvariants()
      check.heldBytes = space.heldBytes
      check.freeBytes = space.freeBytes
      check.findings = space.findings
      if !space.findings.isEmpty { check.verdict = .broken }
    } catch {
      if case .damaged = error {
        check.verdict = .unreadable
        check.findings.append("\(error)")
      } else {
        check.notes.append("the space accounting was not checked: \(error)")
      }
    }
  }

  /// Versions, space and tables; also of a file that is in use.
  package static func describe(_ path: String, key: [UInt8]? = nil) throws -> FileDescription {
    // First for reading: a file that is not there must not be made.
    var description = try describeForReading(path, key)
    // Who is stopped keeps the write lock for as long.
    if description.writer?.hasSuffix("stopped") == true { return description }
    if let figures = try? openForWriting(path, key).statistics(countsRetained: true) {
      description.commits = figures.commits
      description.liveVersions = max(description.liveVersions, figures.liveVersions)
      description.versions = versions(figures)
      description.fileBytes = figures.fileBytes
      description.liveBytes = figures.liveBytes
      description.heldBytes = figures.heldBytes
      description.freeBytes = figures.freeBytes
    }
    return description
  }

  private static func describeForReading(
    _ path: String, _ key: [UInt8]?
  ) throws -> FileDescription {
    let store = try Store.open(StoreOptions(path: path, isReadOnly: true, encryptionKey: key))
    let snapshot = try store.pinNewest()
    let schema = try StoredSchema.load(snapshot.reader, root: snapshot.root)
    let figures = try store.statistics()
    let writing = try store.writingProcesses()
    return FileDescription(
      path: path, newestVersion: figures.newestVersion.rawValue,
      schemaVersion: schema.schemaVersion, liveVersions: figures.liveVersions,
      versions: versions(figures),
      fileBytes: figures.fileBytes,
      tables: schema.tables.map { describe($0, snapshot) }, writer: writing.writer,
      waiters: writing.waiters)
  }

  private static func versions(_ figures: StoreStatistics) -> [FileDescription.VersionRecord] {
    figures.versions.map { entry in
      .init(
        version: entry.version.rawValue, ageS: entry.ageNanoseconds.map { Double($0) / 1e9 },
        owner: entry.owner, retainedBytes: entry.retainedBytes,
        isNewest: entry.version == figures.newestVersion)
    }
  }

  private static func describe(
    _ table: StoredTable, _ snapshot: Snapshot
  ) -> FileDescription.TableRecord {
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
    return FileDescription.TableRecord(
      name: table.schema.name, objects: reader.count, primaryKey: table.schema.primaryKey,
      columns: table.schema.columns.map { column in
        .init(
          name: column.name, type: "\(column.type)", isOptional: column.isOptional,
          isIndexed: column.isIndexed)
      })
  }

  /// Opens a file as a writer, with the durability that its present users have agreed on.
  private static func openForWriting(
    _ path: String, _ key: [UInt8]? = nil
  ) throws(StorageError) -> Store {
    do throws(StorageError) {
      return try Store.open(StoreOptions(path: path, durability: .full, encryptionKey: key))
    } catch {
      guard case .alreadyOpen = error else { throw error }
      return try Store.open(StoreOptions(path: path, durability: .memory, encryptionKey: key))
    }
  }
}
