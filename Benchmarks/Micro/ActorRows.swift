// Figures of actors: a round trip with a read next to a bare one, durable asynchronous writes next
// to raw syncs of the same run, and schedules of the stepped executor.
import ActorSchedules
import Dispatch
import Foundation
import Platform
import RealmSwift

/// An actor with nothing to protect.
private actor BareActor {
  private var value = 1

  func read() -> Int { value }
}

/// An actor with a Realm.
private actor RealmActor {
  private var realm: Realm!
  private var person: Person!

  init(_ settings: Realm.Configuration, objects: Int) async throws {
    realm = try await Realm.open(configuration: settings)
    var random = RandomGenerator(seed: 11)
    let people = (0..<objects).map { makePerson($0, &random) }
    try realm.write { realm.add(people) }
    person = realm.object(ofType: Person.self, forPrimaryKey: objects / 2)
  }

  func read() -> Int { person.age }

  func lookUp(_ id: Int) -> Int { realm.object(ofType: Person.self, forPrimaryKey: id)!.age }

  /// From the call to its return, in nanoseconds.
  func write(_ id: Int, age: Int) async throws -> UInt64 {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    try await realm.asyncWrite {
      realm.object(ofType: Person.self, forPrimaryKey: id)!.age = age
    }
    return clock.nanoseconds() - start
  }
}

func actorRows(_ report: inout Report) throws {
  try hopRows(&report)
  try asynchronousWriteRows(&report)
  try scheduleRows(&report)
}

/// Runs a body in a task and waits for it.
private func inTask<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let done = DispatchSemaphore(value: 0)
  let result = Monitor<Result<Value, any Error>?>(nil)
  Task {
    do {
      let value = try await body()
      result.withLock { $0 = .success(value) }
    } catch { result.withLock { $0 = .failure(error) } }
    done.signal()
  }
  done.wait()
  return try result.withLock { try $0!.get() }
}

private func hopRows(_ report: inout Report) throws {
  let names = ["actor-hop-bare", "actor-hop-read", "actor-hop-lookup"]
  guard names.contains(where: { report.wants($0) }) else { return }
  let objects = 10_000
  let settings = configuration("actor.realm", .memory)
  let (bare, actor) = try inTask {
    (BareActor(), try await RealmActor(settings, objects: objects))
  }
  let calls = isQuick ? 100_000 : 1_000_000
  let clock = MonotonicClock()
  var samples: [[Double]] = [[], [], []]
  // By turns, so that they are measured alike.
  for _ in 0..<repetitions {
    let times = try inTask { () -> [UInt64] in
      var sum = 0
      let start = clock.nanoseconds()
      for _ in 0..<calls { sum &+= await bare.read() }
      let bareEnd = clock.nanoseconds()
      for _ in 0..<calls { sum &+= await actor.read() }
      let readEnd = clock.nanoseconds()
      for call in 0..<calls { sum &+= await actor.lookUp(call % objects) }
      let end = clock.nanoseconds()
      precondition(sum > 0)
      return [bareEnd - start, readEnd - bareEnd, end - readEnd]
    }
    for (position, time) in times.enumerated() {
      samples[position].append(Double(time) / Double(calls))
    }
  }
  for (name, values) in zip(names, samples) { report.add(name, unit: "ns", values) }
}

private func asynchronousWriteRows(_ report: inout Report) throws {
  guard report.wants("async-write-durable") || report.wants("async-write-over-raw-sync") else {
    return
  }
  let objects = 10_000
  let settings = configuration("async-write.realm", .full)
  let actor = try inTask { try await RealmActor(settings, objects: objects) }
  let file = try LinuxFileSystem().open(folder.path + "/raw-async", [.writable, .create])
  let page = [UInt8](repeating: 1, count: 4096)
  for index in 0..<1_024 {
    try page.withUnsafeBytes { try file.write($0, at: UInt64(index * 4096)) }
  }
  try file.synchronize()
  var random = RandomGenerator(seed: 12)
  let clock = MonotonicClock()
  let calls = isQuick ? 100 : 400
  func median(_ values: [UInt64]) -> Double { Double(values.sorted()[values.count / 2]) / 1_000 }
  var writes: [Double] = []
  var differences: [Double] = []
  for _ in 0..<repetitions {
    var written: [UInt64] = []
    var raw: [UInt64] = []
    for call in 0..<calls {
      let id = Int(random.next() % UInt64(objects))
      written.append(try inTask { try await actor.write(id, age: call % 100) })
      let place = random.next() % 1_024 * 4_096
      let start = clock.nanoseconds()
      try page.withUnsafeBytes { try file.write($0, at: place) }
      try file.synchronize()
      raw.append(clock.nanoseconds() - start)
    }
    writes.append(median(written))
    differences.append(median(written) - median(raw))
  }
  report.add("async-write-durable", unit: "us", writes)
  report.add("async-write-over-raw-sync", unit: "us", differences)
}

private func scheduleRows(_ report: inout Report) throws {
  let names = [
    "schedules", "schedules-all-processors", "schedules-without-realm",
    "schedules-by-processor-time",
  ]
  guard names.contains(where: { report.wants($0) }) else { return }
  let processors = ProcessInfo.processInfo.activeProcessorCount
  let stages = try (0..<processors).map { number in
    try inTask {
      try await ScheduleStage(
        actors: 3,
        Realm.Configuration(
          inMemoryIdentifier: "schedules-\(number)", objectTypes: [Journal.self]))
    }
  }
  let count = isQuick ? 2_000 : 20_000
  let clock = MonotonicClock()
  var rates: [[Double]] = [[], [], [], []]
  for _ in 0..<repetitions {
    for (position, threads) in [1, processors, 1].enumerated() {
      let isWanted =
        report.wants(names[position]) || position == 0 && report.wants(names[3])
      guard isWanted else { continue }
      let start = clock.nanoseconds()
      let used = processorSeconds()
      let running = stages[..<threads].enumerated().map { number, stage in
        Thread.start(name: "schedules") {
          for seed in 0..<UInt64(count) {
            run(seed + UInt64(number * count), on: stage, usesRealm: position < 2)
          }
        }
      }
      for thread in running { thread.join() }
      let seconds = Double(clock.nanoseconds() - start) / 1e9
      rates[position].append(Double(count * threads) / seconds)
      // What a machine with nothing else to do would run on one processor.
      if position == 0 { rates[3].append(Double(count) / (processorSeconds() - used)) }
    }
  }
  for (name, values) in zip(names, rates) where !values.isEmpty {
    report.add(name, unit: "schedules/s", values)
  }
}

/// The time that all threads of this process have run.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// One schedule: of a random program, or of tasks that only call actors.
private func run(_ seed: UInt64, on stage: ScheduleStage, usesRealm: Bool) {
  var random = RandomGenerator(seed: seed)
  let program =
    usesRealm
    ? ScheduleProgram(actors: 3, &random)
    : ScheduleProgram(
      actors: 3,
      tasks: Array(repeating: [.visit(actor: 0), .suspend, .visit(actor: 1)], count: 3))
  let result = stage.run(program, seed: seed, settles: usesRealm)
  precondition(result.violations.isEmpty, "\(result.violations), seed \(seed)")
}
