// What a fuzzed file goes through: it is opened for reading and for writing, checked, read and
// written. Whatever it holds, that ends in typed errors or findings, never in a stop or a signal.
internal import ObjectStore
internal import Platform
package import Storage
internal import TestSupport

/// Opens the file that an input stands for, and does with it what a client might.
///
/// - Returns: what became of it, for tests.
@discardableResult
package func openFuzzedFile(_ input: UnsafeRawBufferPointer) -> FuzzOutcome {
  let fuzzed = FuzzedFile(input: input)
  // What trees make of blocks that were written on purpose is another matter: they trust checksums.
  let isReadable = !fuzzed.flags.contains(.sealsBlocks)
  let disk = SimulatedDisk()
  let path = "/fuzz/fuzzed.realm"
  do {
    try disk.open(path, [.writable, .create]).write(bytes: fuzzed.bytes, at: 0)
  } catch {
    fatalError("the simulated disk failed: \(error)")
  }
  var outcome = FuzzOutcome()
  do throws(StorageError) {
    let store = try Store.open(StoreOptions(path: path, isReadOnly: true, fileSystem: disk))
    let check = try store.checkInvariants()
    outcome.opens = true
    if check.findings.isEmpty {
      outcome.objects = try readEverything(store, trees: isReadable)
    }
  } catch {
    outcome.error = error
  }
  do throws(StorageError) {
    let store = try Store.open(StoreOptions(path: path, fileSystem: disk))
    let check = try store.checkInvariants()
    outcome.isSound = check.findings.isEmpty
    if outcome.isSound, isReadable {
      try write(store)
      let findings = try store.checkInvariants().findings
      precondition(findings.isEmpty, "unsound after a commit: \(findings)")
    }
  } catch {
    outcome.error = error
  }
  return outcome
}

/// What became of a fuzzed file.
package struct FuzzOutcome {
  /// It opened for reading.
  package var opens = false
  /// It opened for writing and the complete check found nothing.
  package var isSound = false
  /// Objects in its tables, if these could be read.
  package var objects: Int?
  package var error: StorageError?
}

/// The schema and all tables; nil for a file without any.
///
/// - Parameter trees: whether to read the tables, too.
private func readEverything(_ store: Store, trees: Bool) throws(StorageError) -> Int? {
  let snapshot = try store.pinNewest()
  // The corpus has files of bare blocks, without tables.
  guard !snapshot.root.isNone,
    BlockHeader.kind(snapshot.reader.pointer(snapshot.root)).rawValue == 0x99
  else { return nil }
  let schema = try StoredSchema.load(snapshot.reader, root: snapshot.root)
  if !trees { return nil }
  var objects = 0
  for table in schema.tables {
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
    objects += reader.count
    _ = reader.checkInvariants(table)
  }
  return objects
}

/// Replaces the whole content by one block.
private func write(_ store: Store) throws(StorageError) {
  let transaction = try store.beginWrite()
  transaction.editor.freeTree(transaction.root)
  transaction.root = transaction.editor.allocate(
    kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 100)
  _ = try transaction.commit()
  try store.runMaintenance()
}
