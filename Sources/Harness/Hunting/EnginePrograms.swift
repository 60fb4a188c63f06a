// Programs of single parts of the engine, each of which a random mix of transactions comes to
// seldom: who gets the write lock next, versions that are held while their blocks die, groups of
// asynchronous commits, pins of another process, and compaction beside an opening.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Programs of parts of the engine.
enum EnginePrograms {
  static let all = [
    HuntProgram(
      name: "store-queue", summary: "threads and an asynchronous waiter queue for the write lock",
      hasBug: false, needsControlledEngine: true, program: { try queue(threads: 3) }),
    HuntProgram(
      name: "store-pins", summary: "versions are held in any order while others write",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try pins(processes: 1) }),
    HuntProgram(
      name: "store-foreign-pins",
      summary: "versions are held in a process while another one writes",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try pins(processes: 2) }),
    HuntProgram(
      name: "store-groups", summary: "asynchronous commits in groups, and what a power cut leaves",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try groups(threads: 2, fault: .powerCut) }),
    HuntProgram(
      name: "store-groups-kill", summary: "the same, and what a kill leaves",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try groups(threads: 2, fault: .kill) }),
    HuntProgram(
      name: "store-process-kill",
      summary:
        "one of two processes is killed at a call, and what the other one and a power cut leave",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try processKill() }),
    HuntProgram(
      name: "store-compaction",
      summary: "a file is compacted while others open it and write, and what a power cut leaves",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try openings(compacts: true) }),
    HuntProgram(
      name: "store-openings",
      summary: "processes make, open and close a file, and what a power cut or a kill leaves",
      hasBug: false, needsControlledEngine: true, steps: 60_000,
      program: { try openings(compacts: false) }),
  ]

  private static let path = "/data/hunt.realm"

  // MARK: - The write lock

  /// Threads get the lock in the order in which they came; an asynchronous waiter among them is
  /// offered it, and takes it or does not.
  private static func queue(threads count: Int) throws {
    let store = try Store.open(HuntedDisk.options(path, HuntedDisk.make()))
    let held = try store.beginWrite()
    let order = Platform.Monitor<[Int]>([])
    let offers = Platform.Monitor(0)
    let offer = WriteOffer {
      offers.withLock { $0 += 1 }
      offers.notifyAll()
    }
    let place = random(below: count + 1)
    let takes = random(below: 2) == 0
    var threads: [Platform.Thread] = []
    for number in 0...count {
      if number == place { store.requestWrite(offer) }
      if number == count { break }
      threads.append(
        Platform.Thread.start(name: "user \(number)") {
          do {
            let transaction = try store.beginWrite()
            order.withLock { $0.append(number) }
            transaction.cancel()
          } catch { check(false, "user \(number) fails: \(error)") }
        })
      // The next one comes only when this one waits.
      store.waitForQueuedWriters(number + 1)
    }
    let taker =
      takes
      ? Platform.Thread.start(name: "taker") {
        var seen = 0
        while true {
          let before = seen
          seen = offers.wait(until: { $0 > before }, then: { $0 })
          do {
            guard let transaction = try store.beginWrite(taking: offer) else { continue }
            transaction.cancel()
            return
          } catch { return check(false, "the asynchronous waiter fails: \(error)") }
        }
      } : nil
    held.cancel()
    for thread in threads { thread.join() }
    taker?.join()
    if taker == nil { store.withdrawRequest(offer) }
    let served = order.withLock { $0 }
    check(
      served == Array(0..<count), "threads that came in the order 0, 1, 2 are served as \(served)")
  }

  // MARK: - Pins

  private static let counters = 4

  private static func pins(processes: Int) throws {
    let disk = HuntedDisk.make()
    let stores: [Store] = try (0..<processes).map { process in
      let system: any FileSystem =
        processes == 1
        ? disk : HuntedDisk.system(disk, process: process)
      return try Store.open(HuntedDisk.options(path, system))
    }
    let begun = 4 + random(below: 28)
    var threads = [
      Platform.Thread.start(name: "writer") {
        do {
          for _ in 0..<begun { try addSome(stores[0]) }
        } catch { check(false, "the writer fails: \(error)") }
      }
    ]
    for number in 0..<2 {
      let store = stores[number % processes == 0 ? processes - 1 : 0]
      let steps = 2 + random(below: 28)
      threads.append(
        Platform.Thread.start(name: "holder \(number)") {
          do {
            var held: [HeldCounters] = []
            for _ in 0..<steps {
              let choice = held.count < 3 ? random(below: 3) : 1 + random(below: 2)
              if choice == 0 || held.isEmpty {
                held.append(try HeldCounters(store))
              } else if choice == 1 {
                held[random(below: held.count)].judge()
              } else {
                held.remove(at: random(below: held.count)).judge()
              }
            }
            for one in held { one.judge() }
          } catch { check(false, "holder \(number) fails: \(error)") }
        })
    }
    for thread in threads { thread.join() }
    // Whoever writes next takes over what is free.
    for store in stores.reversed() { try addSome(store) }
    for store in stores {
      let end = try store.pinNewest()
      let values = CounterTree.values(end.reader, end.root)
      check(
        values.first == UInt64(begun + processes),
        "the end is \(values) after \(begun + processes) commits")
      for finding in try store.checkInvariants().findings { check(false, "\(finding)") }
    }
  }

  /// A commit that adds one to some counter.
  private static func addSome(_ store: Store) throws {
    let transaction = try store.beginWrite()
    CountingUser.judge(CounterTree.values(transaction.editor.reader, transaction.root))
    transaction.root = CounterTree.add(
      transaction.editor, transaction.root, to: [0, 1 + random(below: counters)],
      of: 1 + counters)
    _ = try transaction.commit()
  }

  // MARK: - Groups

  /// Threads that commit asynchronously and do not wait for one before the next.
  private static func groups(threads count: Int, fault: StoreFault) throws {
    let disk = HuntedDisk.make()
    // There a sync covers what was written before it, and others can go on while it lasts.
    let systems = (0..<1 + random(below: 2)).map { HuntedDisk.system(disk, process: $0) }
    var stores = try systems.map { try Store.open(HuntedDisk.options(path, $0)) }
    let begin = disk.operationCount
    let told = Platform.Monitor(StoreTold(threads: count))
    let threads = (0..<count).map { number in
      let commits = 1 + random(below: 4)
      let store = stores[number % stores.count]
      let user = CountingUser(number: number, count: count, told: told, disk: disk)
      return Platform.Thread.start(name: "user \(number)") {
        do {
          for left in (0..<commits).reversed() {
            try user.commitLater(store, awaitsMore: left > 0 && random(below: 2) == 0)
          }
          told.wait(until: { $0.completions == $0.laterWrites }, then: { _ in })
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    let watcher = watcher(of: stores[0], told, disk)
    for thread in threads { thread.join() }
    watcher.join()
    let end = told.withLock { $0 }
    for store in stores {
      let snapshot = try store.pinNewest()
      let values = CounterTree.values(snapshot.reader, snapshot.root)
      check(
        Array(values.dropFirst()) == end.done.map(UInt64.init),
        "the counters are \(values.dropFirst()), but \(end.done) were committed")
      for finding in try store.checkInvariants().findings { check(false, "\(finding)") }
    }
    stores = []
    try StoreFault.judgeCut(disk, path: path, isKill: fault == .kill, from: begin, end)
  }

  /// A thread that looks at the newest version now and then: what it has seen stays.
  private static func watcher(
    of store: Store, _ told: Platform.Monitor<StoreTold>, _ disk: SimulatedDisk
  ) -> Platform.Thread {
    let looks = 1 + random(below: 6)
    return Platform.Thread.start(name: "watcher") {
      do {
        for _ in 0..<looks {
          let values = try HeldCounters(store).values
          told.withLock { $0.see(values, on: disk) }
        }
      } catch { check(false, "the watcher fails: \(error)") }
    }
  }

  // MARK: - The end of a process

  /// Two processes write; one of them dies at any of its calls.
  private static func processKill() throws {
    let users = 3
    let disk = HuntedDisk.make()
    let systems = (0..<3).map { HuntedDisk.system(disk, process: $0) }
    let told = Platform.Monitor(StoreTold(threads: users))
    let begin: Int
    do {
      let stores = try systems.prefix(2).map { try Store.open(HuntedDisk.options(path, $0)) }
      begin = disk.operationCount
      systems[1].kill(afterCalls: random(below: 60))
      let threads = (0..<users).map { number in
        let steps = 1 + random(below: 4)
        let (store, system) = (stores[number == 0 ? 0 : 1], systems[number == 0 ? 0 : 1])
        let user = CountingUser(
          number: number, count: users, told: told, disk: disk, mayFail: { system.isKilled })
        return Platform.Thread.start(name: "user \(number)") {
          var held: [HeldCounters] = []
          do {
            for left in (0..<steps).reversed() {
              if number > 0 { held.append(try HeldCounters(store)) }
              if random(below: 2) == 0 {
                try user.commit(store)
              } else {
                try user.commitLater(store, awaitsMore: left > 0)
              }
            }
          } catch { check(system.isKilled, "user \(number) fails: \(error)") }
          for one in held { one.judge() }
        }
      }
      let watcher = watcher(of: stores[0], told, disk)
      for thread in threads { thread.join() }
      watcher.join()
      let survivor = CountingUser(number: 0, count: users, told: told, disk: disk)
      try survivor.commit(stores[0])
      for finding in try stores[0].checkInvariants().findings { check(false, "\(finding)") }
      if systems[1].isKilled { try judgePinsOfTheDead(stores[0]) }
      let end = try stores[0].pinNewest()
      told.withLock { $0 }.judge(CounterTree.values(end.reader, end.root), "who has survived")
      let third = try Store.open(HuntedDisk.options(path, systems[2]))
      try survivor.commit(third)
      for finding in try third.checkInvariants().findings { check(false, "\(finding)") }
    }
    let end = told.withLock { $0 }
    try StoreFault.judge(disk.killImage(), path, end, "the end")
    try StoreFault.judgeCut(disk, path: path, isKill: random(below: 2) == 0, from: begin, end)
  }

  /// What only a dead process has held is free soon.
  private static func judgePinsOfTheDead(_ store: Store) throws {
    // Threads of the store itself hold versions for a moment, and those of a busy machine for long.
    let looks = controlledExecutor == nil ? 1_200 : 10
    for _ in 0..<looks {
      RaceHunt.Thread.sleep(for: .milliseconds(50))
      if try store.statistics().pins == 0 { return }
    }
    let held = try store.statistics().versions.map { "\($0.version)" }
    check(false, "versions are held that only a dead process used: \(held)")
  }

  // MARK: - Opening

  /// Users of two processes open a file, or make it, write and close it, perhaps while it is
  /// compacted.
  private static func openings(compacts: Bool) throws {
    let users = 2
    let disk = HuntedDisk.make()
    let told = Platform.Monitor(StoreTold(threads: users))
    if compacts || random(below: 2) == 0 {
      let store = try Store.open(HuntedDisk.options(path, disk))
      let founder = CountingUser(number: 0, count: users, told: told, disk: disk)
      for _ in 0..<2 { try founder.commit(store) }
    }
    let begin = disk.operationCount
    let systems = (0..<2).map { HuntedDisk.system(disk, process: $0) }
    var threads = (0..<users).map { number in
      let system = systems[compacts ? 0 : number]
      let user = CountingUser(number: number, count: users, told: told, disk: disk)
      return Platform.Thread.start(name: "user \(number)") {
        var held: [HeldCounters] = []
        do {
          for _ in 0..<1 + random(below: 3) {
            held += try user.use(HuntedDisk.options(path, system), mayRead: !compacts)
            for one in held { one.judge() }
            if random(below: 2) == 0 { held = [] }
          }
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    if compacts {
      threads.append(
        Platform.Thread.start(name: "compaction") {
          do {
            for _ in 0..<1 + random(below: 2) {
              _ = try Store.compact(HuntedDisk.options(path, systems[1]))
            }
          } catch { check(false, "the compaction fails: \(error)") }
        })
    }
    for thread in threads { thread.join() }
    let end = told.withLock { $0 }
    try StoreFault.judge(disk.killImage(), path, end, "the end")
    try StoreFault.judgeCut(disk, path: path, isKill: random(below: 2) == 0, from: begin, end)
  }
}
