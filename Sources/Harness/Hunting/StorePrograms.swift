// Threads that write, read and pin versions of one store on a simulated disk, made from the seed of
// their schedule. With the trait ControlledScheduling the engine's own locks and words are points,
// too.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Programs of threads on a store.
enum StorePrograms {
  /// Whether the engine's locks are points in this build: else a thread would wait for one with the
  /// baton, and only threads of the machine can run the programs.
  static var areControlled: Bool {
    #if CONTROLLED_SCHEDULING
      true
    #else
      false
    #endif
  }

  static let all =
    [
      HuntProgram(
        name: "store", summary: "threads that write, cancel, pin and read on a simulated disk",
        hasBug: false, needsControlledEngine: true,
        program: { try run(threads: 2 + random(below: 2), steps: 3) }),
      HuntProgram(
        name: "store-commits", summary: "three threads with a commit each on a simulated disk",
        hasBug: false, needsControlledEngine: true, program: { try commits(threads: 3) }),
      HuntProgram(
        name: "store-two-processes",
        summary: "the same in two processes on one disk, and what a kill leaves",
        hasBug: false, needsControlledEngine: true,
        // Two threads in one process, so that it can reuse what the other one still reads.
        program: { try run(threads: 3, steps: 3, processes: 2, fault: .kill) }),
      HuntProgram(
        name: "store-two-processes-failed-sync",
        summary: "the same, and a sync of any of them that fails", hasBug: false,
        needsControlledEngine: true,
        program: { try run(threads: 3, steps: 3, processes: 2, fault: .failedSync) }),
      HuntProgram(
        name: "store-many-commits", summary: "more commits of two processes on one disk",
        hasBug: false, needsControlledEngine: true, steps: 60_000,
        program: { try run(threads: 3, steps: 8, among: writesMostly, processes: 2) }),
    ]
    + StoreFault.allCases.map { fault in
      HuntProgram(
        name: "store-\(fault.rawValue)", summary: "the same, and \(fault.summary)", hasBug: false,
        needsControlledEngine: true, program: { try run(threads: 2, steps: 2, fault: fault) })
    }

  /// What a thread does next.
  private enum Step: Int, CaseIterable { case write, writeLater, cancel, read, hold }

  /// Steps of a program in which much is written, for what only many commits show.
  private static let writesMostly: [Step] = [.write, .write, .write, .writeLater, .cancel, .hold]

  private static let path = "/data/hunt.realm"

  /// What threads and judges share.
  private struct Shared: Sendable {
    let threads: Int
    let told: Platform.Monitor<StoreTold>
    let disk: SimulatedDisk
    let systems: [FaultFileSystem]

    /// Whether an error of the engine has a reason.
    var isStruck: Bool { systems.contains { !$0.struck.isEmpty } }

    func user(_ number: Int) -> CountingUser {
      CountingUser(
        number: number, count: threads, told: told, disk: disk, mayFail: { isStruck })
    }
  }

  private static func run(
    threads count: Int, steps: Int, among choices: [Step] = Step.allCases, processes: Int = 1,
    fault: StoreFault? = nil
  ) throws {
    let disk = HuntedDisk.make()
    // The disk alone where nothing goes wrong: each call would be some steps more.
    let isPlain = processes == 1 && fault == nil
    let systems =
      isPlain
      ? []
      : (0..<processes).map { HuntedDisk.system(disk, process: $0) }
    var stores: [Store] =
      isPlain
      ? [try Store.open(HuntedDisk.options(path, disk))]
      : try systems.map { try Store.open(HuntedDisk.options(path, $0)) }
    for system in systems { fault?.plan(system) }
    let begin = disk.operationCount
    let shared = Shared(
      threads: count, told: Platform.Monitor(StoreTold(threads: count)), disk: disk,
      systems: systems)
    let threads = (0..<count).map { number in
      let plan = (0..<1 + random(below: steps)).map { _ in choices[random(below: choices.count)] }
      let store = stores[number % stores.count]
      return Platform.Thread.start(name: "user \(number)") {
        for step in plan { perform(step, store, number, shared) }
      }
    }
    for thread in threads { thread.join() }
    try judgeEnd(stores, shared, fault)
    let told = shared.told.withLock { $0 }
    stores = []
    switch fault {
    case nil: break
    case .powerCut, .kill:
      try StoreFault.judgeCut(
        disk, path: path, isKill: fault == .kill, from: begin, told)
    default:
      let image = disk.killImage()
      try StoreFault.judge(image, path, told, "opening it again")
      var generator = RandomGenerator(seed: UInt64(random(below: 1 << 48)))
      try StoreFault.judge(
        image.crashImage(random: &generator), path, told, "a power cut after opening it again")
    }
  }

  /// Looks at the stores that have been through it.
  private static func judgeEnd(_ stores: [Store], _ shared: Shared, _ fault: StoreFault?) throws {
    let told = shared.told.withLock { $0 }
    check(
      told.completions == told.laterWrites,
      "\(told.completions) completions of \(told.laterWrites) asynchronous commits")
    for system in shared.systems { system.clearFaults() }
    for store in stores {
      let end = try store.pinNewest()
      let values = CounterTree.values(end.reader, end.root)
      told.judge(values, "the end")
      if !shared.isStruck && !values.isEmpty {
        check(
          Array(values.dropFirst()) == told.done.map(UInt64.init),
          "the counters are \(values.dropFirst()), but \(told.done) were committed")
      }
    }
    let isOver = shared.isStruck && fault?.isOvercome != true
    for store in stores {
      // What had failed before may be told once more, now.
      var errors: [String] = []
      while errors.count < 2 {
        do {
          for finding in try store.checkInvariants().findings { check(false, "\(finding)") }
          if shared.isStruck { try shared.user(0).commit(store) }
          break
        } catch { errors.append("\(error)") }
      }
      check(
        isOver || errors.count < 2, "the store does not go on: \(errors.joined(separator: "; "))")
    }
  }

  private static func perform(_ step: Step, _ store: Store, _ number: Int, _ shared: Shared) {
    do {
      switch step {
      case .write: try shared.user(number).commit(store)
      case .writeLater: try shared.user(number).commitAndWait(store)
      case .cancel:
        let transaction = try store.beginWrite()
        shared.user(number).add(transaction)
        transaction.cancel()
      case .read:
        let snapshot = try store.pinNewest()
        let values = CounterTree.values(snapshot.reader, snapshot.root)
        CountingUser.judge(values)
        shared.told.withLock { $0.see(values, on: shared.disk) }
      case .hold:
        let snapshot = try store.pinNewest()
        let seen = CounterTree.values(snapshot.reader, snapshot.root)
        let later = try store.pinNewest()
        check(
          later.version >= snapshot.version,
          "the newest version is \(later.version) after \(snapshot.version)")
        let again = CounterTree.values(snapshot.reader, snapshot.root)
        check(seen == again, "\(snapshot.version) shows \(again) and has shown \(seen)")
        CountingUser.judge(again)
      }
    } catch {
      check(shared.isStruck, "\(step) of user \(number) fails: \(error)")
    }
  }

  /// Three commits: what the speed of hunts is measured with.
  private static func commits(threads count: Int) throws {
    let disk = HuntedDisk.make()
    let store = try Store.open(StoreOptions(path: path, fileSystem: disk))
    let shared = Shared(
      threads: count, told: Platform.Monitor(StoreTold(threads: count)), disk: disk,
      systems: [])
    let threads = (0..<count).map { number in
      Platform.Thread.start(name: "user \(number)") { perform(.write, store, number, shared) }
    }
    for thread in threads { thread.join() }
    let end = try store.pinNewest()
    let values = CounterTree.values(end.reader, end.root)
    check(values == [UInt64(count)] + Array(repeating: 1, count: count), "the end is \(values)")
  }
}
