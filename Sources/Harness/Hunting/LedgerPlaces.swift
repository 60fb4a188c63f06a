// The places in which the ledger is used: threads, serial queues and actors, in one process or
// two.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift
internal import Simulation
internal import Storage

/// What the users of a ledger share.
struct SharedLedger: Sendable {
  struct Reference: Sendable {
    let object: ThreadSafeReference<HuntedEntry>
    let number: Int
    /// Transactions in the version that it is of.
    let total: Int
    let mayBeAhead: Bool
  }

  /// What is handed from one user to another.
  struct Box: Sendable {
    var frozen: LedgerUser.Frozen?
    var reference: Reference?
  }

  let judge: LedgerJudge
  /// Those of the program, by which some of its users work, and all may observe.
  let queues: [RaceHunt.DispatchQueue]
  /// Where nothing is done but to observe.
  let watcher = LedgerWatcher()
  private let users: Int
  private let disk: SimulatedDisk
  private let use: HuntedUse
  /// Of each process, as what is handed over within it.
  private let configurations: [Realm.Configuration]
  private let boxes: [Platform.Monitor<Box>]

  init(users: Int, processes: Int, queues: [RaceHunt.DispatchQueue]) {
    self.users = users
    self.queues = queues
    let disk = HuntedDisk.make()
    let use = HuntedUse.random()
    (self.disk, self.use) = (disk, use)
    judge = LedgerJudge(users: users, disk)
    let compacts = random(below: 2) == 1
    // The disk alone, whose syncs take no time, has fewer steps.
    let isPlain = processes == 1 && random(below: 2) == 0
    configurations = (0..<processes).map { process in
      let system: any FileSystem = isPlain ? disk : HuntedDisk.system(disk, process: process)
      var configuration = Self.configuration(disk.number, use, system)
      if compacts { configuration.shouldCompactOnLaunch = { _, _ in true } }
      return configuration
    }
    boxes = configurations.map { _ in Platform.Monitor(Box()) }
  }

  private static func configuration(
    _ number: UInt64, _ use: HuntedUse, _ system: any FileSystem
  ) -> Realm.Configuration {
    use.configuration(
      "/data/ledger-\(number).realm", system, [HuntedLedger.self, HuntedEntry.self])
  }

  /// How a user opens the file.
  func configuration(of user: Int) -> Realm.Configuration {
    configurations[user % configurations.count]
  }

  func box(of user: Int) -> Platform.Monitor<Box> { boxes[user % boxes.count] }

  /// Makes the file with a ledger that nobody has used.
  ///
  /// - Returns: how many operations of the disk that took.
  func found() throws -> Int {
    let realm = try Realm(configuration: configuration(of: 0))
    try realm.write {
      realm.create(HuntedLedger.self, value: ["counts": Array(repeating: 0, count: users)])
    }
    return disk.operationCount
  }

  /// Checks what is left when nobody uses the file any more.
  func judgeEnd() throws {
    for configuration in configurations {
      let realm = try Realm(configuration: configuration)
      // Of a commit whose completion was cancelled nobody knows when it is durable.
      try realm.write { judge.begins(realm, "the end") }
      judge.sees(realm, least: judge.newest.total, "the end")
      for finding in try realm.checkInvariants().findings { check(false, "\(finding)") }
    }
  }

  /// Checks what the end of all processes leaves at one of the operations behind `begin`, or that
  /// of the machine where commits were synced.
  func judgeCut(from begin: Int) throws {
    let isKill = use.durability != .full || random(below: 2) == 0
    let what = isKill ? "a kill" : "a power cut"
    let image: SimulatedDisk
    let operation: Int
    if isKill {
      operation = begin + random(below: disk.operationCount - begin + 1)
      image = disk.killImage(cutAfterOperation: operation)
    } else {
      (image, operation) = HuntedDisk.powerCut(disk, from: begin)
    }
    let least = judge.least(at: operation)
    note("\(what) comes behind disk operation \(operation), when \(least) were acknowledged")
    let realm = try Realm(configuration: Self.configuration(disk.number, use, image))
    judge.sees(realm, least: least, "what \(what) leaves")
    for finding in try realm.checkInvariants().findings { check(false, "\(what): \(finding)") }
    let state = LedgerState(realm)
    try realm.write { LedgerState.apply(.add, of: 0, realm) }
    check(LedgerState(realm).total == state.total + 1, "what \(what) leaves does not go on")
  }
}

extension LedgerUser {
  /// Does all of a plan on a thread.
  func start(_ plan: [Step]) -> Platform.Thread {
    Platform.Thread.start(name: who) { [self] in
      do {
        for step in plan {
          note("\(who): \(step)")
          if realm == nil {
            try take { try Realm(configuration: shared.configuration(of: number)) }
          }
          try perform(step)
          look(after: step)
        }
        close()
      } catch { check(false, "\(who) fails: \(error)") }
    }
  }
}

/// A user whose steps are work of a serial queue, between which what comes to its Realm runs.
final class LedgerQueue: Sendable {
  private let user: LedgerUser
  private let queue: RaceHunt.DispatchQueue
  private let plan: [LedgerUser.Step]
  private let isDone = Platform.Monitor(false)

  init(_ user: LedgerUser, _ queue: RaceHunt.DispatchQueue, _ plan: [LedgerUser.Step]) {
    self.user = user
    self.queue = queue
    self.plan = plan
  }

  func start() { queue.async { self.perform(0) } }

  func wait() { isDone.wait(until: { $0 }, then: { _ in }) }

  private func perform(_ index: Int) {
    guard index < plan.count else { return end() }
    let step = plan[index]
    note("\(user.who): \(step)")
    do {
      if user.realm == nil {
        let configuration = user.shared.configuration(of: user.number)
        try user.take { try Realm(configuration: configuration, queue: queue.real) }
      }
      try user.perform(step)
      user.look(after: step)
    } catch { check(false, "\(user.who) fails: \(error)") }
    queue.async { self.perform(index + 1) }
  }

  private func end() {
    guard user.laterWrites.unfinished.isEmpty else {
      user.laterWrites.whenDone = { self.queue.async { self.end() } }
      return
    }
    user.close()
    isDone.withLock { $0 = true }
    isDone.notifyAll()
  }
}

/// An actor that others' observers are called on.
actor LedgerWatcher {
  /// Ends one, behind which no call comes.
  func end(_ token: NotificationToken, _ follower: LedgerFollower) {
    token.invalidate()
    follower.isOver = true
  }
}

/// A user that is an actor, whose steps wait where they can.
actor LedgerActor {
  private let user: LedgerUser
  /// Observers that jobs of this actor call, in Realms of their own.
  private var own: [(token: NotificationToken, follower: LedgerFollower)] = []
  /// And those that the watcher's jobs call.
  private var watched: [(token: NotificationToken, follower: LedgerFollower)] = []
  /// Goes through changes while the plan goes on.
  private var loop: Task<Void, Never>?

  init(_ user: LedgerUser) { self.user = user }

  /// The user's, as what belongs to the actor.
  private var realm: Realm! { user.realm }

  func perform(_ plan: [LedgerUser.Step]) async {
    do {
      for step in plan {
        note("\(user.who): \(step)")
        if user.realm == nil {
          let configuration = user.shared.configuration(of: user.number)
          let realm = try await Realm.open(configuration: configuration)
          try user.take { realm }
        }
        try await perform(step)
        user.look(after: step)
        // For what comes to the Realm meanwhile.
        await Task.yield()
      }
      await end()
    } catch { check(false, "\(user.who) fails: \(error)") }
  }

  private func end() async {
    while !user.laterWrites.unfinished.isEmpty {
      await withCheckedContinuation { continuation in
        user.laterWrites.whenDone = { continuation.resume() }
      }
    }
    await close()
  }

  private func close() async {
    while !own.isEmpty { await endObserving() }
    while !watched.isEmpty { await endWatched() }
    await endLoop()
    user.close()
  }

  private func beginLoop() {
    guard loop == nil, let realm = user.realm else { return }
    let (subject, follower) = user.nextFollower()
    loop = Task {
      // Else the task would not belong to the actor.
      _ = self
      await follower.loop(over: subject, of: realm)
    }
  }

  private func endLoop() async {
    loop?.cancel()
    await loop?.value
    loop = nil
  }

  private func observe() async {
    if own.count >= LedgerUser.heldMax { return }
    let (subject, follower) = user.nextFollower()
    if let token = await follower.begin(subject, realm, on: self) { own.append((token, follower)) }
  }

  private func endObserving() async {
    guard let (token, follower) = own.popLast() else { return }
    token.invalidate()
    follower.isOver = true
    // Released only when calls that were on their way would have come.
    await Task.yield()
    withExtendedLifetime(token) {}
  }

  private func observeOnWatcher() async {
    if watched.count >= LedgerUser.heldMax { return }
    let (subject, follower) = user.nextFollower()
    let watcher = user.shared.watcher
    if let token = await follower.begin(subject, realm, on: watcher) {
      watched.append((token, follower))
    }
  }

  private func endWatched() async {
    guard let (token, follower) = watched.popLast() else { return }
    await user.shared.watcher.end(token, follower)
  }

  private func perform(_ step: LedgerUser.Step) async throws {
    switch step {
    case .observe where random(below: 2) == 1: await observe()
    case .endObserving where random(below: 2) == 1: await endObserving()
    case .observeElsewhere where random(below: 2) == 1: await observeOnWatcher()
    case .endElsewhere where random(below: 2) == 1: await endWatched()
    case .loop: beginLoop()
    case .endLoop: await endLoop()
    case .close: await close()
    case .write: try await write()
    case .refresh where random(below: 2) == 1:
      let least = user.judge.least
      await realm.asyncRefresh()
      // Jobs may have moved it before, whose observers are called later.
      user.isRefreshed(realm, least, false)
    case .cancelTask:
      // Detached, so that it may have come to any point of its write.
      let task = Task.detached { try await self.write() }
      for _ in 0..<random(below: 4) { await Task.yield() }
      task.cancel()
      do { try await task.value } catch is CancellationError {}
    case .writeSlowly:
      // Who waits for such a transaction blocks a thread, and threads of the machine are few.
      if controlledExecutor == nil { try await write() } else { try await writeSlowly() }
    default: try user.perform(step)
    }
  }

  private func write() async throws {
    var total = 0
    try await realm.asyncWrite {
      user.judge.begins(realm, "a transaction of \(user.who)")
      total = user.judge.commits(realm, user.change, of: user.number, user.who)
    }
    user.judge.acknowledge(total)
  }

  /// A transaction that is open while other jobs of the actor run.
  private func writeSlowly() async throws {
    realm.beginWrite()
    user.judge.begins(realm, "a transaction of \(user.who)")
    for _ in 0..<1 + random(below: 3) { await Task.yield() }
    guard realm.isInWriteTransaction else {
      return check(false, "a transaction of \(user.who) ends while its task waits")
    }
    let total = user.judge.commits(realm, user.change, of: user.number, user.who)
    try realm.commitWrite()
    user.judge.acknowledge(total)
  }
}
