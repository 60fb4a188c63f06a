// Threads that write, read and pin versions of one store on a simulated disk, made from the seed of
// their schedule. With the trait ControlledScheduling the engine's own locks and words are points,
// too.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Programs of threads on a store.
enum StorePrograms {
  #if CONTROLLED_SCHEDULING
    static let all = [
      HuntProgram(
        name: "store", summary: "threads that write, cancel, pin and read on a simulated disk",
        hasBug: false, program: { try run(threads: 2 + random(below: 2), steps: 3) }),
      HuntProgram(
        name: "store-power-cut", summary: "the same, and what a power cut leaves of it",
        hasBug: false, program: { try run(threads: 2, steps: 2, cutsPower: true) }),
    ]
  #else
    /// The engine's locks are no points in this build: a thread would wait for one with the baton.
    static let all: [HuntProgram] = []
  #endif

  /// What a thread does next.
  private enum Step: Int, CaseIterable { case write, writeLater, cancel, read, hold }

  /// What threads have been told; judged at the end.
  private struct Told {
    /// Transactions whose commit has begun, by thread.
    var begun: [Int]
    /// And has returned, or completed.
    var done: [Int]
    var completions = 0
    var laterWrites = 0
  }

  private static let path = "/data/hunt.realm"

  static func run(threads count: Int, steps: Int, cutsPower: Bool = false) throws {
    let disk = SimulatedDisk(allowsUnpromptedWork: true)
    var store: Store? = try Store.open(StoreOptions(path: path, fileSystem: disk))
    let told = Platform.Monitor(
      Told(begun: Array(repeating: 0, count: count), done: Array(repeating: 0, count: count)))
    let threads = (0..<count).map { number in
      let plan = (0..<1 + random(below: steps)).map { _ in
        Step(rawValue: random(below: Step.allCases.count))!
      }
      return Platform.Thread.start(name: "user \(number)") { [store] in
        for step in plan { perform(step, store!, number, count, told) }
      }
    }
    // What is acknowledged at the cut is not less than now.
    let cut = cutsPower ? (disk.operationCount, told.withLock { $0.done }) : nil
    for thread in threads { thread.join() }
    let end = try store!.pinNewest()
    let values = CounterTree.values(end.reader, end.root)
    let result = told.withLock { $0 }
    check(
      result.completions == result.laterWrites,
      "\(result.completions) completions of \(result.laterWrites) asynchronous commits")
    if !values.isEmpty || result.begun.contains(where: { $0 > 0 }) {
      judge(values, count)
      check(
        Array(values.dropFirst()) == result.done.map(UInt64.init),
        "the counters are \(values.dropFirst()), but \(result.done) were committed")
    }
    for finding in try store!.checkInvariants().findings { check(false, "\(finding)") }
    store = nil
    if let cut { try judgePowerCut(disk, cut, count) }
  }

  private static func perform(
    _ step: Step, _ store: Store, _ number: Int, _ count: Int, _ told: Platform.Monitor<Told>
  ) {
    do {
      switch step {
      case .write, .writeLater, .cancel:
        let transaction = try store.beginWrite()
        let before = CounterTree.values(transaction.editor.reader, transaction.root)
        judge(before, count)
        transaction.root = CounterTree.add(
          transaction.editor, transaction.root, to: [0, 1 + number], of: 1 + count)
        if step == .cancel { return transaction.cancel() }
        told.withLock { $0.begun[number] += 1 }
        let version = transaction.version
        if step == .write {
          let snapshot = try transaction.commit()
          check(snapshot.version == version, "\(version) was committed as \(snapshot.version)")
          told.withLock { $0.done[number] += 1 }
          let newest = try store.pinNewest()
          check(
            newest.version >= version,
            "\(version) is not visible after its commit: the newest is \(newest.version)")
        } else {
          told.withLock { $0.laterWrites += 1 }
          let isDurable = Platform.Monitor(false)
          _ = try transaction.commitAsynchronously(awaitsMore: false) { error in
            check(error == nil, "an asynchronous commit fails: \(error!)")
            told.withLock {
              $0.completions += 1
              $0.done[number] += 1
            }
            isDurable.withLock { $0 = true }
            isDurable.notifyAll()
          }
          isDurable.wait(until: { $0 }, then: { _ in })
        }
      case .read:
        let snapshot = try store.pinNewest()
        judge(CounterTree.values(snapshot.reader, snapshot.root), count)
      case .hold:
        let snapshot = try store.pinNewest()
        let seen = CounterTree.values(snapshot.reader, snapshot.root)
        let later = try store.pinNewest()
        check(
          later.version >= snapshot.version,
          "the newest version is \(later.version) after \(snapshot.version)")
        let again = CounterTree.values(snapshot.reader, snapshot.root)
        check(seen == again, "\(snapshot.version) shows \(again) and has shown \(seen)")
        judge(again, count)
      }
    } catch {
      check(false, "\(step) of user \(number) fails: \(error)")
    }
  }

  /// The first counter counts what all others do.
  private static func judge(_ values: [UInt64], _ count: Int) {
    if values.isEmpty { return }
    check(
      values[0] == values.dropFirst().reduce(0, +),
      "a version is torn: the total is \(values[0]), the counters are \(values.dropFirst())")
  }

  /// Opens what a power cut at some operation leaves: a version that is not older than acknowledged
  /// then.
  private static func judgePowerCut(
    _ disk: SimulatedDisk, _ cut: (operations: Int, done: [Int]), _ count: Int
  ) throws {
    var generator = RandomGenerator(seed: UInt64(random(below: 1 << 48)))
    let operation = cut.operations + random(below: disk.operationCount - cut.operations + 1)
    let image = disk.crashImage(cutAfterOperation: operation, random: &generator)
    guard image.exists(path) else {
      return check(cut.done.allSatisfy { $0 == 0 }, "the file is gone")
    }
    let store = try Store.open(StoreOptions(path: path, fileSystem: image))
    let snapshot = try store.pinNewest()
    let values = CounterTree.values(snapshot.reader, snapshot.root)
    judge(values, count)
    for (number, done) in cut.done.enumerated() where done > 0 {
      check(
        values.count > 1 + number && values[1 + number] >= UInt64(done),
        "a power cut takes acknowledged commits back: \(values) after \(cut.done)")
    }
  }
}
