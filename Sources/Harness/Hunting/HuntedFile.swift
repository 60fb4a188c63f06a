// The file that hunted Realms use: what is in it, what it is changed by, and what has to hold in
// each version of it.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift
internal import Simulation
internal import Storage

/// What a user has done; the one with the number 0 counts what all others have.
final class HuntedCounter: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var value: Int
  @Persisted var steps: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// One for each transaction; only the last two stay.
final class HuntedNote: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var counter: HuntedCounter?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension HuntedUse {
  /// How Realms open a file that is used so.
  func configuration(
    _ path: String, _ system: any FileSystem, _ types: [ObjectBase.Type]
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), encryptionKey: encryptionKey.map { Data($0) },
      objectTypes: types)
    configuration.durability = durability == .full ? .full : .memory
    configuration.fileSystem = system
    return configuration
  }
}

/// What the users of a file share.
struct HuntedFile: Sendable {
  /// A frozen Realm and what it showed at first.
  // @unchecked: frozen Realms are for all threads.
  struct Frozen: @unchecked Sendable {
    let realm: Realm
    let values: [UInt64]
  }

  /// What is handed from one user to another.
  struct Box: Sendable {
    var frozen: Frozen?
    var reference: (object: ThreadSafeReference<HuntedCounter>, number: Int, value: Int)?
  }

  static let notesMax = 2

  let users: Int
  let told: Platform.Monitor<StoreTold>
  private let disk: SimulatedDisk
  /// Of each process, as what is handed over within it.
  private let configurations: [Realm.Configuration]
  private let boxes: [Platform.Monitor<Box>]

  /// - Parameter isPlain: on the disk alone, whose syncs take no time.
  init(users: Int, processes: Int = 1, isPlain: Bool = true) {
    self.users = users
    told = Platform.Monitor(StoreTold(threads: users))
    let disk = HuntedDisk.make()
    self.disk = disk
    configurations = (0..<processes).map { process in
      let system: any FileSystem =
        isPlain ? disk : HuntedDisk.system(disk, process: process)
      return Self.configuration(disk.number, system)
    }
    boxes = configurations.map { _ in Platform.Monitor(Box()) }
  }

  /// Each run has a name of its own: nothing of another run is open by it.
  private static func configuration(
    _ number: UInt64, _ system: any FileSystem
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: "/data/hunt-\(number).realm"),
      objectTypes: [HuntedCounter.self, HuntedNote.self])
    configuration.fileSystem = system
    return configuration
  }

  /// How a user opens it.
  func configuration(of user: Int) -> Realm.Configuration {
    configurations[user % configurations.count]
  }

  func box(of user: Int) -> Platform.Monitor<Box> { boxes[user % boxes.count] }

  /// Notes that a transaction of a user has come to its end.
  func acknowledge(_ user: Int) { told.withLock { $0.acknowledge(user, on: disk) } }

  /// Makes the file with all counters.
  ///
  /// - Returns: how many operations of the disk that took.
  @discardableResult
  func found() throws -> Int {
    let realm = try Realm(configuration: configuration(of: 0))
    try realm.write {
      for number in 0...users { realm.create(HuntedCounter.self, value: ["number": number]) }
    }
    return disk.operationCount
  }

  /// The counters, of which the first one counts what all others do.
  static func values(_ realm: Realm) -> [UInt64] {
    realm.objects(HuntedCounter.self).sorted(byKeyPath: "number").map { UInt64($0.value) }
  }

  /// Checks that a version is whole.
  static func judgeVersion(_ realm: Realm, _ what: String) {
    let counters = realm.objects(HuntedCounter.self).sorted(byKeyPath: "number")
    for counter in counters.dropFirst() {
      check(
        Array(counter.steps) == Array(0..<counter.value),
        "\(what): counter \(counter.number) is \(counter.value) and has \(Array(counter.steps))")
    }
    let total = counters[0].value
    let notes = Array(realm.objects(HuntedNote.self).sorted(byKeyPath: "number").map(\.number))
    check(
      notes == Array(max(0, total - notesMax)..<total),
      "\(what): the notes are \(notes) after \(total) transactions")
  }

  /// Adds one in a transaction that is open.
  func add(_ realm: Realm, _ user: Int) {
    let total = realm.object(ofType: HuntedCounter.self, forPrimaryKey: 0)!
    let counter = realm.object(ofType: HuntedCounter.self, forPrimaryKey: 1 + user)!
    counter.steps.append(counter.value)
    counter.value += 1
    realm.create(
      HuntedNote.self, value: ["number": total.value, "counter": counter] as [String: Any])
    total.value += 1
    realm.delete(
      realm.objects(HuntedNote.self).where { $0.number < total.value - Self.notesMax })
  }

  /// Checks what a Realm shows that has been brought to the newest version.
  ///
  /// - Parameter before: what was told before that.
  func judgeNewest(_ realm: Realm, since before: StoreTold, _ what: String) {
    told.withLock { $0 }.judge(Self.values(realm), what, since: before)
    Self.judgeVersion(realm, what)
  }

  /// Brings what an observer knows up to date, and checks that it gives what there is.
  static func follow(
    _ change: RealmCollectionChange<Results<HuntedNote>>, _ known: inout [Int]?, _ who: String
  ) {
    switch change {
    case .initial(let notes):
      check(known == nil, "an observer of \(who) begins twice")
      known = notes.map(\.number)
    case .update(let notes, let deletions, let insertions, _):
      guard var numbers = known else {
        return check(false, "an observer of \(who) is told of changes before it begins")
      }
      let there = Array(notes.map(\.number))
      let isPossible =
        deletions.allSatisfy { numbers.indices.contains($0) }
        && insertions.allSatisfy { there.indices.contains($0) }
        && numbers.count - deletions.count + insertions.count == there.count
      guard isPossible else {
        return check(
          false, "\(who) knows \(numbers) and is told of \(deletions) and \(insertions) in \(there)"
        )
      }
      for position in deletions.reversed() { numbers.remove(at: position) }
      for position in insertions { numbers.insert(there[position], at: position) }
      check(numbers == there, "changes give \(numbers) to \(who), but the notes are \(there)")
      known = numbers
    case .error(let error): check(false, "an observer of \(who) fails: \(error)")
    }
  }

  /// Checks what is left when nobody uses the file any more.
  func judgeEnd() throws {
    let realm = try Realm(configuration: configuration(of: 0))
    Self.judgeVersion(realm, "the end")
    let (values, told) = (Self.values(realm), told.withLock { $0 })
    check(
      values.dropFirst().elementsEqual(told.done.map(UInt64.init)),
      "the counters are \(values.dropFirst()), but \(told.done) were committed")
    CountingUser.judge(values)
    for finding in try realm.checkInvariants().findings { check(false, "\(finding)") }
  }

  /// Checks what a power cut leaves at one of the operations behind `begin`.
  func judgeCut(from begin: Int) throws {
    let (image, operation) = HuntedDisk.powerCut(disk, from: begin)
    let realm = try Realm(configuration: Self.configuration(disk.number, image))
    Self.judgeVersion(realm, "a power cut")
    told.withLock { $0 }.at(operation: operation).judge(Self.values(realm), "a power cut")
    for finding in try realm.checkInvariants().findings { check(false, "a power cut: \(finding)") }
  }
}
