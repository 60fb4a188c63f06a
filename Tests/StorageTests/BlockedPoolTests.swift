// Writes by blocking calls from all threads that run tasks, while a suspended actor has the
// transaction: it can never go on, so the writes must end with an error. And waits that only look
// like it must go on.
//
// Each test has a priority of its own: the threads of one priority are a pool.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct BlockedPoolTests {
  /// Begins a transaction and commits it after a suspension.
  private actor Owner {
    func write(_ store: Store, _ hasBegun: Gate, _ mayGoOn: Gate) async throws {
      let transaction = try store.beginWrite(by: PlaceNote(name: "actor Owner"))
      hasBegun.open()
      await mayGoOn.passed()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 0, [1])
      _ = try transaction.commit()
    }
  }

  /// Lets tasks go on without keeping a thread.
  private final class Gate: Sendable {
    private let state = Monitor((isOpen: false, task: CheckedContinuation<Void, Never>?.none))

    func open() {
      let task = state.withLock { state in
        state.isOpen = true
        return state.task
      }
      task?.resume()
    }

    func passed() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.task = continuation }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }
  }

  /// What became of writes that were begun on all threads of a pool.
  private final class Outcomes: Sendable {
    private let state = Monitor<[StorageError?]>([])
    var all: [StorageError?] { state.withLock { $0 } }
    func add(_ error: StorageError?) { state.withLock { $0.append(error) } }
  }

  private func pool(_ priority: TaskPriority) async throws -> TaskPool {
    try #require(await Task.detached(priority: priority) { TaskPool.current }.value)
  }

  /// Blocks every thread of a pool in a write.
  private func fill(_ pool: TaskPool, _ priority: TaskPriority, _ store: Store) -> Outcomes {
    let outcomes = Outcomes()
    for slot in 1...pool.width {
      Task.detached(priority: priority) {
        do throws(StorageError) {
          let transaction = try store.beginWrite()
          transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, [1])
          _ = try transaction.commit()
          outcomes.add(nil)
        } catch {
          outcomes.add(error)
        }
      }
    }
    return outcomes
  }

  private func open(_ name: String) throws -> (TemporaryFolder, Store) {
    BlockedPools.lookNanoseconds.store(20_000_000, ordering: .relaxed)
    let folder = TemporaryFolder()
    return (folder, try Store.open(StoreOptions(path: "\(folder.path)/\(name).realm")))
  }

  /// The program hung for good: the actor had no thread to commit on, and the threads waited for
  /// its commit.
  @Test func aSuspendedHolderWithoutAThreadIsFound() async throws {
    let (folder, store) = try open("blocked")
    let priority = TaskPriority.background
    let pool = try await pool(priority)
    let hasBegun = Gate()
    let mayGoOn = Gate()
    let owner = Owner()
    let writing = Task.detached(priority: priority) {
      try await owner.write(store, hasBegun, mayGoOn)
    }
    #expect(await eventually(yielding: { hasBegun.isOpen }))
    let outcomes = fill(pool, priority, store)
    store.waitForQueuedWriters(pool.width)
    // From here on it could commit, had it a thread.
    mayGoOn.open()
    try #require(
      await eventually(yielding: { outcomes.all.count == pool.width }), "the writes wait for ever")
    // The first write that is given up frees a thread. If the actor commits on it before the
    // other writes are given up, these can be served.
    let errors = outcomes.all.compactMap { $0 }
    #expect(!errors.isEmpty)
    for error in errors {
      #expect(
        error == .threadsExhausted(path: store.path, holder: "actor Owner", threads: pool.width))
      #expect(
        error.description.contains(
          "Do not keep transactions open across suspensions, and use asyncWrite"))
    }
    try await writing.value
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root)[0] == [1])
    // The lock is free for everyone again.
    let later = fill(pool, priority, store)
    #expect(await eventually(yielding: { later.all.count == pool.width }))
    #expect(later.all.allSatisfy { $0 == nil })
    withExtendedLifetime(folder) {}
  }

  /// Holders that go on by themselves: the waits last until they do.
  @Test(arguments: ["a thread", "the main actor", "an actor of another priority"])
  func otherHoldersAreWaitedFor(_ holder: String) async throws {
    let (folder, store) = try open("goes-on")
    let priority = TaskPriority(rawValue: holder == "a thread" ? 10 : holder.count > 20 ? 11 : 12)
    let pool = try await pool(priority)
    let hasBegun = Gate()
    let mayGoOn = Gate()
    let isDone = Gate()
    switch holder {
    case "a thread":
      Thread.start(name: "holder") {
        let transaction = try! store.beginWrite()
        hasBegun.open()
        #expect(eventually { mayGoOn.isOpen })
        _ = try! transaction.commit()
        isDone.open()
      }.detach()
    case "the main actor":
      Task { @MainActor in
        let transaction = try store.beginWrite()
        hasBegun.open()
        await mayGoOn.passed()
        _ = try transaction.commit()
        isDone.open()
      }
    default:
      let owner = Owner()
      Task.detached(priority: TaskPriority(rawValue: 13)) {
        try await owner.write(store, hasBegun, mayGoOn)
        isDone.open()
      }
    }
    #expect(await eventually(yielding: { hasBegun.isOpen }))
    let outcomes = fill(pool, priority, store)
    store.waitForQueuedWriters(pool.width)
    // As many looks as have found the other case, and some.
    let looks = BlockedPools.looksTaken.load(ordering: .relaxed)
    #expect(
      await eventually(yielding: {
        BlockedPools.looksTaken.load(ordering: .relaxed) >= looks + 10 * pool.width
      }))
    #expect(outcomes.all.isEmpty)
    mayGoOn.open()
    #expect(await eventually(yielding: { outcomes.all.count == pool.width && isDone.isOpen }))
    #expect(outcomes.all.allSatisfy { $0 == nil })
    withExtendedLifetime(folder) {}
  }

  /// Hears how many threads were said to be busy.
  private final class BusyReports: Sendable {
    private let state = Monitor<[Int]>([])
    private let path: String
    var all: [Int] { state.withLock { $0 } }

    init(path: String) {
      self.path = path
      LongWait.setObserver(ofFile: path) { [state] wait in
        if let threads = wait.busyThreads { state.withLock { $0.append(threads) } }
      }
    }

    deinit { LongWait.setObserver(ofFile: path, nil) }
  }

  private func fillBut(one pool: TaskPool, _ priority: TaskPriority, _ store: Store) -> Outcomes {
    let outcomes = Outcomes()
    for _ in 1..<pool.width {
      Task.detached(priority: priority) {
        do throws(StorageError) {
          _ = try store.beginWrite().commit()
          outcomes.add(nil)
        } catch {
          outcomes.add(error)
        }
      }
    }
    return outcomes
  }

  /// One thread of the pool waits for something else: nobody can know for what, so it is a warning,
  /// and when that ends all go on.
  @Test func aThreadThatIsBlockedElsewhereIsAWarning() async throws {
    let (folder, store) = try open("elsewhere")
    let priority = TaskPriority(rawValue: 15)
    let pool = try await pool(priority)
    try #require(pool.width > 1, "a machine of one processor has no thread to spare")
    let reports = BusyReports(path: store.path)
    let hasBegun = Gate()
    let mayGoOn = Gate()
    let owner = Owner()
    let writing = Task.detached(priority: priority) {
      try await owner.write(store, hasBegun, mayGoOn)
    }
    #expect(await eventually(yielding: { hasBegun.isOpen }))
    let elsewhere = Monitor(false)
    Task.detached(priority: priority) {
      let isOver = elsewhere.wait(nanoseconds: waitLimitNanoseconds) { $0 }
      #expect(isOver)
    }
    let outcomes = fillBut(one: pool, priority, store)
    store.waitForQueuedWriters(pool.width - 1)
    #expect(await eventually(yielding: { reports.all == [pool.width] }))
    #expect(outcomes.all.isEmpty)
    elsewhere.withLock { $0 = true }
    elsewhere.notifyAll()
    mayGoOn.open()
    try await writing.value
    #expect(await eventually(yielding: { outcomes.all.count == pool.width - 1 }))
    #expect(outcomes.all.allSatisfy { $0 == nil })
    withExtendedLifetime(folder) {}
  }

  /// One thread of the pool is free: the holder goes on by it.
  @Test func aFreeThreadIsEnough() async throws {
    let (folder, store) = try open("free")
    let priority = TaskPriority(rawValue: 14)
    let pool = try await pool(priority)
    try #require(pool.width > 1, "a machine of one processor has no thread to spare")
    let hasBegun = Gate()
    let mayGoOn = Gate()
    let owner = Owner()
    let writing = Task.detached(priority: priority) {
      try await owner.write(store, hasBegun, mayGoOn)
    }
    #expect(await eventually(yielding: { hasBegun.isOpen }))
    let outcomes = fillBut(one: pool, priority, store)
    store.waitForQueuedWriters(pool.width - 1)
    let looks = BlockedPools.looksTaken.load(ordering: .relaxed)
    #expect(
      await eventually(yielding: {
        BlockedPools.looksTaken.load(ordering: .relaxed) >= looks + 10 * pool.width
      }))
    #expect(outcomes.all.isEmpty)
    mayGoOn.open()
    try await writing.value
    #expect(await eventually(yielding: { outcomes.all.count == pool.width - 1 }))
    #expect(outcomes.all.allSatisfy { $0 == nil })
    withExtendedLifetime(folder) {}
  }
}
