// Programs in which a file becomes long and short while versions of it are held, is read by those
// who cannot write, is copied, and is used with syncs and without by turns.
internal import Glibc
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Programs of a file's space, of its readers and of its durability.
enum SpacePrograms {
  static let all = [
    HuntProgram(
      name: "store-space",
      summary: "two processes make a file long and short, a third one opens it, and what is left",
      hasBug: false, needsControlledEngine: true, steps: 100_000, program: { try space() }),
    HuntProgram(
      name: "store-readers",
      summary: "readers without a lock file hold versions of a file that becomes long and short",
      hasBug: false, needsControlledEngine: true, steps: 100_000, program: { try readers() }),
    HuntProgram(
      name: "store-copies",
      summary: "several copy a file that others write to one place, and what is left",
      hasBug: false, needsControlledEngine: true, steps: 60_000, program: { try copies() }),
    HuntProgram(
      name: "store-durability",
      summary: "processes use a file with syncs and without by turns, and what is left",
      hasBug: false, needsControlledEngine: true, steps: 60_000, program: { try durabilities() }),
  ]

  private static let path = "/data/hunt.realm"

  // MARK: - Long and short

  private static let users = 3

  /// Waits for 1 to 512 ms, in which a store may be idle, and tidy.
  ///
  /// Time of the machine is hardly waited for.
  static func pause() {
    let powers = controlledExecutor == nil ? 1 : 10
    RaceHunt.Thread.sleep(for: .milliseconds(1 << random(below: powers)))
  }

  private static func space() throws {
    let disk = HuntedDisk.make()
    let use = HuntedUse.random()
    let systems = (0..<3).map { HuntedDisk.system(disk, process: $0) }
    let told = Platform.Monitor(StoreTold(threads: users))
    let options = systems.map { HuntedDisk.options(path, $0, use) }
    var stores = try options.prefix(2).map { try Store.open($0) }
    let begin = disk.operationCount
    let held = Platform.Monitor<[HeldBallast]>([])
    var threads = writers(stores, steps: 10, told, held, disk)
    let openings = random(below: 3)
    let last = options[2]
    threads.append(
      Platform.Thread.start(name: "opener") {
        do {
          for _ in 0..<openings {
            let before = told.withLock { $0 }
            try HeldBallast(try Store.open(last), users).judge(since: before, told)
            RaceHunt.Thread.yield()
          }
        } catch { check(false, "the opener fails: \(error)") }
      })
    for thread in threads { thread.join() }
    for store in stores.reversed() {
      try change(store, CountingUser(number: 0, count: users, told: told, disk: disk), words: 1)
      try judge(store, held)
    }
    held.withLock { $0 = [] }
    let end = told.withLock { $0 }
    for store in stores {
      let counters = try HeldBallast(store, users).content.counters
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

  /// Checks a store at the end, while versions of it are still held.
  private static func judge(
    _ store: Store, _ held: Platform.Monitor<[HeldBallast]>
  ) throws {
    for finding in try store.checkInvariants().findings { check(false, "\(finding)") }
    for one in held.withLock({ $0 }) { one.judge() }
  }

  /// - Returns: the versions that it still holds.
  private static func write(
    _ store: Store, _ user: CountingUser, steps: Int
  ) throws -> [HeldBallast] {
    var held: [HeldBallast] = []
    for _ in 0..<steps {
      switch random(below: 8) {
      case 0, 1: held.append(try HeldBallast(store, users))
      case 2: if !held.isEmpty { held.remove(at: random(below: held.count)).judge() }
      case 3: pause()
      case 4: try change(store, user, words: 1)
      default: try change(store, user, words: BallastTree.wordsMax >> random(below: 8))
      }
      for one in held { one.judge() }
    }
    return held
  }

  /// A commit that adds one to the user's counter and gives some of its leaves so many words.
  private static func change(_ store: Store, _ user: CountingUser, words: Int) throws {
    func change(_ transaction: WriteTransaction) {
      let reader = transaction.editor.reader
      CountingUser.judge(
        BallastTree.content(reader, transaction.root, counters: users).counters)
      transaction.root = BallastTree.change(
        transaction.editor, transaction.root, user: user.number, of: users, words: words)
    }
    if random(below: 3) == 0 {
      try user.commitAndWait(store, change)
    } else {
      try user.commit(store, change)
    }
  }

  /// Users who write, in the processes of these stores by turns.
  ///
  /// - Parameter held: gets the versions that they hold in the end.
  private static func writers(
    _ stores: [Store], steps stepsMax: Int, _ told: Platform.Monitor<StoreTold>,
    _ held: Platform.Monitor<[HeldBallast]>, _ disk: SimulatedDisk
  ) -> [Platform.Thread] {
    (0..<users).map { number in
      let store = stores[number % stores.count]
      let steps = 1 + random(below: stepsMax)
      let user = CountingUser(number: number, count: users, told: told, disk: disk)
      return Platform.Thread.start(name: "user \(number)") {
        do {
          let rest = try write(store, user, steps: steps)
          held.withLock { $0 += rest }
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
  }

  // MARK: - Only read

  private static func readers() throws {
    let disk = HuntedDisk.make()
    let use = HuntedUse.random()
    let told = Platform.Monitor(StoreTold(threads: users))
    let stores = try (0..<2).map {
      try Store.open(HuntedDisk.options(path, HuntedDisk.system(disk, process: $0), use))
    }
    let begin = disk.operationCount
    let held = Platform.Monitor<[HeldBallast]>([])
    var threads = writers(stores, steps: 8, told, held, disk)
    for number in 0..<1 + random(below: 2) {
      let system = HuntedDisk.system(disk, process: 2 + number)
      system.inject(FileFault([.open], code: EACCES, pathSuffix: ".lock"))
      var options = HuntedDisk.options(path, system, use)
      options.isReadOnly = true
      let (looks, readOnly) = (1 + random(below: 3), options)
      threads.append(
        Platform.Thread.start(name: "reader \(number)") {
          do {
            for _ in 0..<looks { try read(readOnly, told, disk) }
          } catch { check(false, "reader \(number) fails: \(error)") }
        })
    }
    for thread in threads { thread.join() }
    for store in stores { try judge(store, held) }
    held.withLock { $0 = [] }
    let end = told.withLock { $0 }
    try StoreFault.judgeCut(
      disk, path: path, isKill: use.durability == .memory || random(below: 2) == 0, from: begin,
      end, use)
  }

  /// Opens the file, and looks at one version for a while.
  private static func read(
    _ options: StoreOptions, _ told: Platform.Monitor<StoreTold>, _ disk: SimulatedDisk
  ) throws {
    let before = told.withLock { $0 }
    let held = try HeldBallast(try Store.open(options), users)
    held.judge(since: before, told)
    told.withLock { $0.see(held.content.counters, on: disk) }
    for _ in 0..<random(below: 4) {
      pause()
      held.judge()
    }
  }

  // MARK: - Copied

  private static let copyPath = "/data/copy.realm"

  /// Only one of those who copy to one place makes the file, of a version that there was.
  private static func copies() throws {
    let disk = HuntedDisk.make()
    let systems = (0..<3).map { HuntedDisk.system(disk, process: $0) }
    let told = Platform.Monitor(StoreTold(threads: users))
    let stores = try systems.prefix(2).map { try Store.open(HuntedDisk.options(path, $0)) }
    try CountingUser(number: 0, count: users, told: told, disk: disk).commit(stores[0])
    let begin = disk.operationCount
    let copied = Platform.Monitor<(operations: Int, done: [Int])?>(nil)
    var threads = (0..<users).map { number in
      let store = stores[number % stores.count]
      let commits = 1 + random(below: 3)
      let user = CountingUser(number: number, count: users, told: told, disk: disk)
      return Platform.Thread.start(name: "user \(number)") {
        do {
          for _ in 0..<commits { try user.commit(store) }
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    for number in 0..<2 {
      let (copier, way) = (systems[2], random(below: 3))
      threads.append(
        Platform.Thread.start(name: "copier \(number)") {
          let before = told.withLock { $0.done }
          do {
            switch way {
            case 0: try stores[number].writeCopy(to: copyPath)
            case 1:
              let transaction = try stores[number].beginWrite()
              defer { transaction.cancel() }
              try transaction.writeCopy(to: copyPath)
            default: try Store.copyFile(path, toNew: copyPath, fileSystem: copier)
            }
            copied.withLock {
              check($0 == nil, "two copies are made in one place")
              $0 = (disk.operationCount, before)
            }
          } catch StorageError.fileExists {
          } catch StorageError.alreadyOpen {
            // Another one is being made.
          } catch { check(false, "copier \(number) fails: \(error)") }
        })
    }
    for thread in threads { thread.join() }
    guard let made = copied.withLock({ $0 }) else { return check(false, "nobody makes the copy") }
    let end = told.withLock { $0 }
    var generator = RandomGenerator(seed: UInt64(random(below: 1 << 48)))
    for _ in 0..<2 {
      let cut = begin + random(below: disk.operationCount - begin + 1)
      var expected = end
      expected.done = cut >= made.operations ? made.done : Array(repeating: 0, count: users)
      try StoreFault.judge(
        disk.crashImage(cutAfterOperation: cut, random: &generator), copyPath, expected,
        "a copy after a power cut")
    }
    try StoreFault.judgeCut(disk, path: path, isKill: false, from: begin, end)
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
      let user = CountingUser(number: number, count: users, told: told, disk: disk)
      return Platform.Thread.start(name: "user \(number)") {
        var held: [HeldCounters] = []
        for _ in 0..<rounds {
          let use = HuntedUse(durability: agreed ?? HuntedUse.durability())
          do {
            held += try user.use(HuntedDisk.options(path, systems[number], use))
            for one in held { one.judge() }
            if random(below: 2) == 0 { held = [] }
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
