// Programs in which a file becomes long and short while versions of it are held, and in which it is
// used with syncs and without by turns.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Programs of a file's space and of its durability.
enum SpacePrograms {
  static let all = [
    HuntProgram(
      name: "store-space",
      summary: "two processes make a file long and short, a third one opens it, and what is left",
      hasBug: false, needsControlledEngine: true, steps: 100_000, program: { try space() }),
    HuntProgram(
      name: "store-durability",
      summary: "processes use a file with syncs and without by turns, and what is left",
      hasBug: false, needsControlledEngine: true, steps: 60_000, program: { try durabilities() }),
  ]

  private static let path = "/data/hunt.realm"

  /// A version that is held, and what it showed at first.
  fileprivate struct Held {
    let snapshot: Snapshot
    let content: BallastTree.Content

    init(_ store: Store) throws {
      snapshot = try store.pinNewest()
      content = BallastTree.content(snapshot.reader, snapshot.root, counters: users)
      StorePrograms.judge(content.counters)
    }

    func judge() {
      let again = BallastTree.content(snapshot.reader, snapshot.root, counters: users)
      check(again == content, "\(snapshot.version) shows \(again) and has shown \(content)")
    }
  }

  // MARK: - Long and short

  private static let users = 3

  /// Time of the machine is not waited for.
  private static var pausesMax: Int { controlledExecutor == nil ? 1 : 10 }

  private static func space() throws {
    let disk = HuntedDisk.make()
    let use = HuntedUse.random()
    let systems = (0..<3).map { HuntedDisk.system(disk, process: $0) }
    let told = Platform.Monitor(StoreTold(threads: users))
    let options = systems.map { HuntedDisk.options(path, $0, use) }
    var stores = try options.prefix(2).map { try Store.open($0) }
    let begin = disk.operationCount
    var threads = (0..<users).map { number in
      let store = stores[number % stores.count]
      let steps = 1 + random(below: 10)
      return Platform.Thread.start(name: "user \(number)") {
        do {
          try write(store, number, steps: steps, told, disk)
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    let openings = random(below: 3)
    let last = options[2]
    threads.append(
      Platform.Thread.start(name: "opener") {
        do {
          for _ in 0..<openings {
            let before = told.withLock { $0 }
            try Held(try Store.open(last)).judge(since: before, told)
            RaceHunt.Thread.yield()
          }
        } catch { check(false, "the opener fails: \(error)") }
      })
    for thread in threads { thread.join() }
    for store in stores.reversed() {
      try change(store, 0, words: 1, told, disk)
      for finding in try store.checkInvariants().findings { check(false, "\(finding)") }
    }
    let end = told.withLock { $0 }
    for store in stores {
      let counters = try Held(store).content.counters
      check(
        Array(counters.dropFirst()) == end.done.map(UInt64.init),
        "the counters are \(counters.dropFirst()), but \(end.done) were committed")
    }
    stores = []
    for _ in 0..<3 {
      try StoreFault.judgeCut(
        disk, path: path, isKill: use.durability == .memory || random(below: 2) == 0, from: begin,
        end, use)
    }
  }

  private static func write(
    _ store: Store, _ number: Int, steps: Int, _ told: Platform.Monitor<StoreTold>,
    _ disk: SimulatedDisk
  ) throws {
    var held: [Held] = []
    for _ in 0..<steps {
      switch random(below: 8) {
      case 0, 1: held.append(try Held(store))
      case 2: if !held.isEmpty { held.remove(at: random(below: held.count)).judge() }
      // Others are idle then, and tidy.
      case 3: RaceHunt.Thread.sleep(for: .milliseconds(1 << random(below: pausesMax)))
      case 4: try change(store, number, words: 1, told, disk)
      default:
        try change(store, number, words: BallastTree.wordsMax >> random(below: 8), told, disk)
      }
      for one in held { one.judge() }
    }
  }

  /// A commit that adds one to the user's counter and gives some of its leaves so many words.
  private static func change(
    _ store: Store, _ number: Int, words: Int, _ told: Platform.Monitor<StoreTold>,
    _ disk: SimulatedDisk
  ) throws {
    let transaction = try store.beginWrite()
    let reader = transaction.editor.reader
    StorePrograms.judge(
      BallastTree.content(reader, transaction.root, counters: users).counters)
    transaction.root = BallastTree.change(
      transaction.editor, transaction.root, user: number, of: users, words: words)
    told.withLock { $0.begun[number] += 1 }
    if random(below: 3) == 0 {
      let isDone = Platform.Monitor(false)
      _ = try transaction.commitAsynchronously(awaitsMore: false) { error in
        check(error == nil, "an asynchronous commit fails: \(error.map { "\($0)" } ?? "")")
        isDone.withLock { $0 = true }
        isDone.notifyAll()
      }
      isDone.wait(until: { $0 }, then: { _ in })
    } else {
      _ = try transaction.commit()
    }
    told.withLock { $0.acknowledge(number, on: disk) }
  }

  // MARK: - With syncs and without

  /// Each process has one user, who opens the file now in this way, now in that.
  private static func durabilities() throws {
    let disk = HuntedDisk.make()
    let systems = (0..<users).map { HuntedDisk.system(disk, process: $0) }
    let told = Platform.Monitor(StoreTold(threads: users))
    let agreed: Durability? = random(below: 2) == 0 ? HuntedUse.durability() : nil
    let threads = (0..<users).map { number in
      let rounds = 1 + random(below: 3)
      return Platform.Thread.start(name: "user \(number)") {
        for _ in 0..<rounds {
          let use = HuntedUse(durability: agreed ?? HuntedUse.durability())
          do {
            let store = try Store.open(HuntedDisk.options(path, systems[number], use))
            for _ in 0..<1 + random(below: 2) {
              try EnginePrograms.add(store, number, of: users, told, disk)
            }
          } catch StorageError.alreadyOpen where agreed == nil {
            // Others use it in the other way.
          } catch { check(false, "user \(number) fails: \(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    let end = told.withLock { $0 }
    try StoreFault.judge(
      disk.killImage(), path, end, "the end", HuntedUse(durability: agreed ?? .full))
    let isKill = random(below: 2) == 0
    do {
      // Without syncs in between, what is there after a power cut is all that was ever told: the
      // header says by then that syncs are left out.
      try StoreFault.judgeCut(
        disk, path: path, isKill: isKill, from: 0, end,
        HuntedUse(durability: agreed ?? .memory))
    } catch StorageError.notADatabase where agreed != .full && !isKill {
      // It was used without syncs when the power went.
    }
  }
}

extension SpacePrograms.Held {
  /// Checks that it shows what was told before it was taken.
  fileprivate func judge(since before: StoreTold, _ told: Platform.Monitor<StoreTold>) {
    var expected = told.withLock { $0 }
    expected.done = before.done
    expected.judge(content.counters, "an opening")
  }
}
