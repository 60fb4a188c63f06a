// Files that rows measure on: filled once for each contestant, kept for all rows that only read or
// change ages, and checked against a model of what must be in them.
import Foundation

/// One contestant's file with objects 0 ..< count, and the ages that they must have.
final class Fixture {
  let contestant: Contestant
  let settings: EngineSettings
  let population: Population
  /// Objects that are in the file: those of keys 0 ..< count.
  var count: Int
  /// The model: age of each object.
  ///
  /// Threads that write have keys of their own.
  let ages: UnsafeMutablePointer<UInt8>
  /// The files of the engine.
  private(set) var paths: [String] = []
  private var openEngine: (any Engine)?
  private var openSession: (any Session)?

  /// Makes the file and fills it, unless it is to stay empty.
  init(
    _ contestant: Contestant, folder: String, population: Population, isFilled: Bool = true,
    pins: Int = 0, shrinks: Bool = false
  ) throws {
    self.contestant = contestant
    self.population = population
    count = population.count
    settings = EngineSettings(
      folder: folder, durability: contestant.durability, objects: population.count, pins: pins,
      shrinks: shrinks)
    ages = .allocate(capacity: max(1, population.count))
    for id in 0..<population.count { ages[id] = UInt8(Population.age(id)) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try open()
    if isFilled { try session.insert(population) }
  }

  deinit { ages.deallocate() }

  var engine: any Engine { openEngine! }
  /// The session of the main thread.
  var session: any Session { openSession! }

  func open() throws {
    openEngine = try contestant.engine.open(settings)
    openSession = try engine.openSession()
    paths = engine.files
  }

  func close() throws {
    openSession = nil
    try openEngine?.close()
    openEngine = nil
  }

  /// Closes the file and removes it.
  func remove() throws {
    try close()
    try FileManager.default.removeItem(atPath: settings.folder)
  }

  /// Commits a change of one object's age.
  @inline(__always)
  func commit(_ change: Change) throws {
    try session.setAge(change.key, change.age)
    ages[change.key] = UInt8(change.age)
  }

  /// The sum of all ages in the model.
  var sum: Int { (0..<count).reduce(0) { $0 + Int(ages[$1]) } }

  /// Compares the file with the model: number, sum of ages, all values of some objects.
  ///
  /// - Returns: a checksum, the same for engines that were given the same changes.
  @discardableResult
  func check() throws -> Int {
    let who = "\(contestant.engine.rawValue) (\(contestant.durability.rawValue))"
    let found = try session.count()
    guard found == count else { throw PeerError("\(who): \(found) objects, not \(count)") }
    let sum = try session.iterate()
    guard sum == self.sum else { throw PeerError("\(who): ages sum to \(sum), not \(self.sum)") }
    for id in randomKeys(200, below: count, seed: 99) {
      let expected = population.values(id, age: Int(ages[id]))
      guard let person = try session.person(id), person == expected else {
        throw PeerError("\(who): object \(id) is not as it was stored")
      }
    }
    session.rest()
    return sum
  }
}

/// A change of the benchmark's small commits.
struct Change {
  let key: Int
  let age: Int
}

/// Changes in a repeatable order: random objects, each to an age that it does not have.
struct Changes {
  private var random: SeededRandom

  init(seed: Int) { random = SeededRandom(seed: UInt64(seed)) }

  mutating func next(for fixture: Fixture) -> Change {
    let key = random.next(below: fixture.count)
    return Change(key: key, age: (Int(fixture.ages[key]) + 1 + random.next(below: 99)) % 100)
  }
}

/// What rows do with a file that they share.
enum Purpose {
  case durableCommits, memoryCommits
  /// Of rows that only ours has: no peer's file would have the same changes.
  case own
}

/// Makes fixtures when they are first asked for.
final class Fixtures {
  let options: Options
  private var populations: [Int: Population] = [:]
  private var kept: [Purpose: [Contestant: Fixture]] = [:]
  private var number = 0

  init(_ options: Options) { self.options = options }

  func population(_ count: Int) -> Population {
    if let population = populations[count] { return population }
    let population = Population(count: count)
    populations[count] = population
    return population
  }

  /// The file of the run's size that rows of one purpose share: its contestants had the same
  /// changes.
  func shared(_ contestant: Contestant, for purpose: Purpose) throws -> Fixture {
    if let fixture = kept[purpose]?[contestant] { return fixture }
    let fixture = try fresh(contestant, count: options.objects)
    kept[purpose, default: [:]][contestant] = fixture
    return fixture
  }

  /// A new file, to be removed by the caller.
  func fresh(
    _ contestant: Contestant, count: Int, isFilled: Bool = true, pins: Int = 0,
    shrinks: Bool = false
  ) throws -> Fixture {
    number += 1
    let folder =
      "\(options.folder)/\(number)-\(contestant.engine.rawValue)-\(contestant.durability.rawValue)"
    return try Fixture(
      contestant, folder: folder, population: population(count), isFilled: isFilled, pins: pins,
      shrinks: shrinks)
  }

  /// The files that a closed fixture has left.
  func filesOnDisk(_ fixture: Fixture) throws -> [String] {
    try fixture.paths.filter { try sizeOfFile($0) > 0 }
  }

  /// A path for a file of the physical limits.
  func path(_ name: String) -> String { options.folder + "/" + name }

  /// Makes new files from now on.
  func forgetAll() { kept = [:] }

  func removeAll() throws {
    for fixture in kept.values.flatMap(\.values) { try fixture.remove() }
    kept = [:]
  }
}
