// Who commits in programs of a store: each user has a counter of its own, and the first one counts
// what all others do, so that a torn version shows.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// A user of a file that is on a disk.
struct CountingUser: Sendable {
  let number: Int
  /// Users in all.
  let count: Int
  let told: Platform.Monitor<StoreTold>
  let disk: SimulatedDisk
  /// Whether an asynchronous commit of it may fail.
  var mayFail: @Sendable () -> Bool = { false }

  /// Adds one in a transaction that is open.
  func add(_ transaction: WriteTransaction) {
    Self.judge(CounterTree.values(transaction.editor.reader, transaction.root))
    transaction.root = CounterTree.add(
      transaction.editor, transaction.root, to: [0, 1 + number], of: 1 + count)
  }

  /// Adds one, and sees that this is visible when the commit returns.
  ///
  /// - Parameter change: adds it, in a tree of another kind; nil for `add`.
  func commit(_ store: Store, _ change: ((WriteTransaction) -> Void)? = nil) throws {
    let transaction = try store.beginWrite()
    (change ?? add)(transaction)
    told.withLock { $0.begun[number] += 1 }
    let version = transaction.version
    let snapshot = try transaction.commit()
    check(snapshot.version == version, "\(version) was committed as \(snapshot.version)")
    told.withLock { $0.acknowledge(number, on: disk) }
    let newest = try store.pinNewest()
    check(
      newest.version >= version,
      "\(version) is not visible after its commit: the newest is \(newest.version)")
  }

  /// Adds one in an asynchronous commit, and waits until that is completed.
  ///
  /// - Parameter change: as of `commit`.
  func commitAndWait(_ store: Store, _ change: ((WriteTransaction) -> Void)? = nil) throws {
    let hasEnded = Platform.Monitor(false)
    try commitLater(store, change) {
      hasEnded.withLock { $0 = true }
      hasEnded.notifyAll()
    }
    hasEnded.wait(until: { $0 }, then: { _ in })
  }

  /// Adds one in a commit that is not waited for.
  ///
  /// - Parameters:
  ///   - change: as of `commit`.
  ///   - ends: called when the commit is completed.
  func commitLater(
    _ store: Store, awaitsMore: Bool = false, _ change: ((WriteTransaction) -> Void)? = nil,
    _ ends: @escaping @Sendable () -> Void = {}
  ) throws {
    let transaction = try store.beginWrite()
    (change ?? add)(transaction)
    told.withLock {
      $0.begun[number] += 1
      $0.laterWrites += 1
    }
    let isDone = RaceHunt.Atomic(false)
    do {
      _ = try transaction.commitAsynchronously(awaitsMore: awaitsMore) { error in
        check(
          error == nil || mayFail(),
          "an asynchronous commit fails: \(error.map { "\($0)" } ?? "")")
        check(
          !isDone.exchange(true, ordering: .relaxed), "an asynchronous commit is completed twice")
        told.withLock {
          $0.completions += 1
          if error == nil { $0.acknowledge(number, on: disk) }
        }
        told.notifyAll()
        ends()
      }
    } catch {
      // Who is told by an error is not told by a completion.
      told.withLock { $0.laterWrites -= 1 }
      throw error
    }
  }

  /// Checks that a version is whole.
  static func judge(_ values: [UInt64]) {
    if values.isEmpty { return }
    check(
      values[0] == values.dropFirst().reduce(0, +),
      "a version is torn: the total is \(values[0]), the counters are \(values.dropFirst())")
  }
}
