// Threads of two processes with Realms of one file, in which objects with much content come and go
// while versions of them are held: a file that becomes long and short under live and frozen Realms.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift
internal import Simulation
internal import Storage

/// What there is of the others, and who has committed how often.
final class HuntedTotal: Object {
  /// Number of the next one.
  @Persisted var next: Int
  @Persisted var loads: Int
  @Persisted var fillings: Int
  /// Commits of all users, and behind that of each.
  @Persisted var commits: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An object whose content follows from its number and from how often it was filled.
final class HuntedLoad: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var fillings: Int
  @Persisted var data: Data
  @Persisted var text: String
  @Persisted var numbers: List<Int>

  private static let sizes = [0, 30, 700, 6_000, 30_000]

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  private var size: Int { Self.sizes[(7 * number + 3 * fillings) % Self.sizes.count] }
  private var byte: UInt8 { UInt8(truncatingIfNeeded: 31 * number + fillings) }
  private var letters: String { String(repeating: "abcdefgh", count: size / 32) }

  func fill() {
    fillings += 1
    data = Data(repeating: byte, count: size)
    text = letters
    numbers.removeAll()
    numbers.append(objectsIn: 0..<size / 100)
  }

  /// Checks that nothing of it is of another one, or of another time.
  func judge(_ what: String) {
    check(
      data == Data(repeating: byte, count: size) && text == letters
        && Array(numbers) == Array(0..<size / 100),
      "\(what): object \(number), filled \(fillings) times, has \(data.count) bytes that begin with "
        + "\(Array(data.prefix(4))), \(text.utf8.count) of text and \(numbers.count) numbers")
  }
}

/// Programs of Realms and the space of their file.
enum RealmSpacePrograms {
  static let all = [
    HuntProgram(
      name: "realm-space",
      summary: "Realms of two processes make a file long and short, and hold versions of it",
      hasBug: false, needsControlledEngine: true, steps: 200_000, warmUps: 60,
      program: { try run(users: 2 + random(below: 2), steps: 8) }),
    HuntProgram(
      name: "realm-disk-full", summary: "the same on a disk that is full for some calls",
      hasBug: false, needsControlledEngine: true, steps: 200_000, warmUps: 60,
      program: { try run(users: 2, steps: 8, fault: .diskFull) }),
  ]

  private enum Step: Int, CaseIterable {
    case create, createMany, fill, delete, deleteMost, hold, drop, refresh, invalidate, pause
  }

  /// What users share.
  private struct Shared: Sendable {
    let users: Int
    let disk: SimulatedDisk
    let told: Platform.Monitor<StoreTold>
    let use: HuntedUse
    let fault: StoreFault?

    /// Whether it is what the disk fails with.
    func permits(_ error: Realm.Error) -> Bool { fault != nil && error.code == .outOfDiskSpace }

    func configuration(_ system: any FileSystem) -> Realm.Configuration {
      use.configuration(
        "/data/space-\(disk.number).realm", system, [HuntedTotal.self, HuntedLoad.self])
    }
  }

  /// What a version shows.
  private struct Content: Equatable {
    var commits: [UInt64]
    var loads: [[Int]]

    /// Looks at all of it, and checks that it is of one version.
    init(_ realm: Realm, _ what: String) {
      guard let total = realm.objects(HuntedTotal.self).first else {
        check(false, "\(what) has no total")
        (commits, loads) = ([], [])
        return
      }
      let objects = realm.objects(HuntedLoad.self).sorted(byKeyPath: "number")
      for object in objects { object.judge(what) }
      loads = Array(objects.map { [$0.number, $0.fillings] })
      commits = total.commits.map { UInt64($0) }
      CountingUser.judge(commits)
      let fillings = loads.reduce(0) { $0 + $1[1] }
      check(
        loads.count == total.loads && fillings == total.fillings,
        "\(what) has \(loads.count) objects filled \(fillings) times, and is told to have "
          + "\(total.loads) filled \(total.fillings) times")
    }
  }

  private static func run(users: Int, steps: Int, fault: StoreFault? = nil) throws {
    let disk = HuntedDisk.make()
    let systems = (0..<2).map { HuntedDisk.system(disk, process: $0) }
    let shared = Shared(
      users: users, disk: disk, told: Platform.Monitor(StoreTold(threads: users)),
      use: HuntedUse.random(), fault: fault)
    RealmPrograms.onThread("founder") {
      let realm = try Realm(configuration: shared.configuration(systems[0]))
      try realm.write {
        realm.create(
          HuntedTotal.self, value: ["commits": Array(repeating: 0, count: 1 + users)])
      }
    }
    let begin = disk.operationCount
    fault?.plan(systems[random(below: systems.count)])
    let threads = (0..<users).map { number in
      let configuration = shared.configuration(systems[number % systems.count])
      let plan = (0..<1 + random(below: steps)).map { _ in
        Step(rawValue: random(below: Step.allCases.count))!
      }
      return Platform.Thread.start(name: "user \(number)") {
        do {
          let user = User(number, try Realm(configuration: configuration), shared)
          for step in plan { try user.perform(step) }
        } catch let error as Realm.Error where shared.permits(error) {
          note("user \(number) cannot open the file: \(error)")
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    for thread in threads { thread.join() }
    RealmPrograms.onThread("judge") {
      let end = shared.told.withLock { $0 }
      try judge(disk, shared, end, "the end")
      // Without syncs nothing is promised of a power cut, and a full disk may take a commit back
      // that has failed.
      guard shared.use.durability == .full, fault == nil else { return }
      let (image, operation) = HuntedDisk.powerCut(disk, from: begin)
      try judge(image, shared, end.at(operation: operation), "a power cut")
    }
  }

  private static func judge(
    _ image: SimulatedDisk, _ shared: Shared, _ told: StoreTold, _ what: String
  ) throws {
    let realm = try Realm(configuration: shared.configuration(image))
    told.judge(Content(realm, what).commits, what)
    for finding in try realm.checkInvariants().findings { check(false, "\(what): \(finding)") }
  }

  /// A thread's Realm, and versions that it holds.
  private final class User {
    private let number: Int
    private let realm: Realm
    private let shared: Shared
    private var held: [(realm: Realm, loads: Results<HuntedLoad>, content: Content)] = []

    init(_ number: Int, _ realm: Realm, _ shared: Shared) {
      self.number = number
      self.realm = realm
      self.shared = shared
    }

    func perform(_ step: Step) throws {
      switch step {
      case .create: try write { create(1, $0) }
      case .createMany: try write { create(4, $0) }
      case .fill:
        try write { total in
          let loads = realm.objects(HuntedLoad.self)
          guard !loads.isEmpty else { return create(1, total) }
          loads[random(below: loads.count)].fill()
          total.fillings += 1
        }
      case .delete: try write { delete(from: random(below: max(1, $0.next)), 1, $0) }
      case .deleteMost: try write { delete(from: random(below: 3), .max, $0) }
      case .hold:
        let frozen = realm.freeze()
        let loads = realm.objects(HuntedLoad.self).sorted(byKeyPath: "number").freeze()
        held.append((frozen, loads, Content(frozen, "a frozen Realm of user \(number)")))
      case .drop: if !held.isEmpty { held.remove(at: random(below: held.count)) }
      case .refresh: realm.refresh()
      case .invalidate: realm.invalidate()
      case .pause: SpacePrograms.pause()
      }
      _ = Content(realm, "the Realm of user \(number) after \(step)")
      for one in held {
        let what = "a frozen Realm of user \(number) after \(step)"
        let content = Content(one.realm, what)
        check(content == one.content, "\(what) shows \(content) and has shown \(one.content)")
        let loads = Array(one.loads.map { [$0.number, $0.fillings] })
        check(loads == one.content.loads, "\(what) has frozen results of \(loads)")
      }
    }

    private func write(_ change: (HuntedTotal) -> Void) throws {
      let before = shared.told.withLock { $0 }
      shared.told.withLock { $0.begun[number] += 1 }
      do {
        try realm.write {
          let what = "a transaction of user \(number)"
          shared.told.withLock { $0 }.judge(Content(realm, what).commits, what, since: before)
          let total = realm.objects(HuntedTotal.self).first!
          change(total)
          for place in [0, 1 + number] { total.commits[place] += 1 }
        }
        shared.told.withLock { $0.acknowledge(number, on: shared.disk) }
      } catch let error as Realm.Error where shared.permits(error) {
        note("a write of user \(number) fails: \(error)")
      }
    }

    private func create(_ count: Int, _ total: HuntedTotal) {
      for _ in 0..<count {
        realm.create(HuntedLoad.self, value: ["number": total.next]).fill()
        total.next += 1
        total.loads += 1
        total.fillings += 1
      }
    }

    private func delete(from first: Int, _ count: Int, _ total: HuntedTotal) {
      let loads = realm.objects(HuntedLoad.self).where { $0.number >= first }
        .sorted(byKeyPath: "number")
      for load in Array(loads.prefix(count)) {
        total.loads -= 1
        total.fillings -= load.fillings
        realm.delete(load)
      }
    }
  }
}
