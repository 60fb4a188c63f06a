// Rows with many threads: durable commits by eight, and readers beside a writer.
import Foundation
import Synchronization

enum ThreadRows {
  /// `commit-durable-8-threads`: each thread waits for its own commits; commits a second of all.
  static func durableCommits(_ fixtures: Fixtures) -> Benchmark {
    let name = "commit-durable-8-threads"
    let limit = Row("raw-group-side-by-side-8-threads", .perSecond)
    let threads = 8
    let commits = 1_000
    var floor: RawFile?
    return Benchmark(
      [Row(name, .perSecond), limit], Contestant.engines(.full) + [Contestant(.raw, .full)],
      warmUps: 1
    ) { contestant, repetition in
      if contestant.engine == .raw {
        if floor == nil {
          let ours = try fixtures.shared(Contestant(.ours, .full), for: .durableCommits)
          floor = try RawFile(fixtures.path("group-floor"), bytes: ours.engine.fileBytes())
        }
        let file = floor!
        try flushFileSystem(holding: fixtures.options.folder)
        var values: [String: Double] = [:]
        for row in [name, limit.name] {
          let loop = GroupLoop(file, isSideBySide: row == limit.name, seed: repetition)
          let time = try onThreads(threads) { _, line in
            line.arrive()
            for _ in 0..<commits { try loop.commit() }
          }
          values[row] = Double(threads * commits) * 1e9 / Double(time)
        }
        return Measurement(values: values, checksum: nil)
      }
      let fixture = try fixtures.shared(contestant, for: .durableCommits)
      fixture.session.rest()
      try flushFileSystem(holding: fixtures.options.folder)
      let writers = fixture.writers()
      let time = try onThreads(threads) { number, line in
        let writer = try writers.start(number, of: threads, seed: repetition * threads + number)
        line.arrive()
        for _ in 0..<commits { try writer.commit() }
      }
      let rate = Double(threads * commits) * 1e9 / Double(time)
      return Measurement(values: [name: rate], checksum: try fixture.check())
    }
  }

  /// `readers-2-writer-1`: two threads look objects up and move to the newest version after each
  /// 16, one commits without syncs, all as fast as they can.
  static func readersAndWriter(_ fixtures: Fixtures) -> Benchmark {
    let readers = 2
    let nanoseconds: UInt64 = fixtures.options.isQuick ? 300_000_000 : 1_500_000_000
    let rows = [
      Row("readers-2-writer-1-reads", .perSecond), Row("readers-2-writer-1-commits", .perSecond),
    ]
    let contestants = Contestant.engines(.memory) + [Contestant(.lmdb, .memoryThroughMap)]
    return Benchmark(rows, contestants, warmUps: 1) { contestant, repetition in
      let fixture = try fixtures.shared(contestant, for: .memoryCommits)
      fixture.session.rest()
      let writers = fixture.writers()
      let isOver = Atomic(false)
      let reads = Atomic(0)
      let commits = Atomic(0)
      let keys = randomKeys(16_384, below: fixture.count, seed: UInt64(repetition))
      let time = try onThreads(readers + 1) { number, line in
        if number == readers {
          let writer = try writers.start(0, of: 1, seed: repetition)
          line.arrive()
          var count = 0
          while !isOver.load(ordering: .relaxed) {
            try writer.commit()
            count += 1
          }
          commits.add(count, ordering: .relaxed)
        } else {
          let session = try writers.engine.openSession()
          line.arrive()
          var count = 0
          var sum = 0
          while !isOver.load(ordering: .relaxed) {
            let first = count % keys.count
            sum += try session.lookup(keys[first..<first + 16])
            count += 16
          }
          // Ages are 0 ..< 100: a reader that found nothing would show here.
          guard (count * 40...count * 60).contains(sum) else {
            throw PeerError("\(contestant.engine.rawValue): \(count) ages sum to \(sum)")
          }
          reads.add(count, ordering: .relaxed)
        }
      } meanwhile: {
        Thread.sleep(forTimeInterval: Double(nanoseconds) / 1e9)
        isOver.store(true, ordering: .relaxed)
      }
      // How much each engine has written differs, so the model is what the file is checked against.
      try fixture.check()
      let values = [
        rows[0].name: Double(reads.load(ordering: .relaxed)) * 1e9 / Double(time),
        rows[1].name: Double(commits.load(ordering: .relaxed)) * 1e9 / Double(time),
      ]
      return Measurement(values: values, checksum: nil)
    }
  }
}

/// What threads need of a fixture to write to it.
struct Writers: @unchecked Sendable {
  // @unchecked: each thread touches only the ages of keys that are its own.
  let engine: any Engine
  private let ages: UnsafeMutablePointer<UInt8>
  private let count: Int

  init(engine: any Engine, ages: UnsafeMutablePointer<UInt8>, count: Int) {
    self.engine = engine
    self.ages = ages
    self.count = count
  }

  /// A writer for the calling thread, with keys of its own.
  func start(_ number: Int, of threads: Int, seed: Int) throws -> Writer {
    Writer(
      try engine.openSession(), ages, keys: count / threads, step: threads, first: number,
      seed: seed)
  }
}

/// Commits changes from one thread, and keeps the model in step.
final class Writer {
  private let session: any Session
  private let ages: UnsafeMutablePointer<UInt8>
  private let keys: Int
  private let step: Int
  private let first: Int
  private var random: SeededRandom

  init(
    _ session: any Session, _ ages: UnsafeMutablePointer<UInt8>, keys: Int, step: Int, first: Int,
    seed: Int
  ) {
    self.session = session
    self.ages = ages
    self.keys = keys
    self.step = step
    self.first = first
    random = SeededRandom(seed: UInt64(seed + 500))
  }

  func commit() throws {
    let key = random.next(below: keys) * step + first
    let age = (Int(ages[key]) + 1 + random.next(below: 99)) % 100
    try session.setAge(key, age)
    ages[key] = UInt8(age)
  }
}

extension Fixture {
  /// For threads that write.
  func writers() -> Writers { Writers(engine: engine, ages: ages, count: count) }
}
