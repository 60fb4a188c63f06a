// What the tests of actors share: executors that change threads on purpose.
import Platform
import RealmSwift
import TestSupport

/// Runs jobs one at a time, each on a new thread.
final class WanderingSerialExecutor: SerialExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isRunning = false
  }

  private let state = Monitor(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let starts = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { runNext() }
  }

  private func runNext() {
    startThread("wanderer") { [self] in
      let job = state.withLock { $0.jobs.removeFirst() }
      job.runSynchronously(on: asUnownedSerialExecutor())
      let hasMore = state.withLock { state in
        state.isRunning = !state.jobs.isEmpty
        return state.isRunning
      }
      if hasMore { runNext() }
    }.detach()
  }
}

/// Runs each job of a task that prefers it on a new thread.
final class WanderingTaskExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    startThread("wanderer") { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }.detach()
  }
}

/// An actor whose jobs run on ever new threads.
actor Wanderer {
  private let executor = WanderingSerialExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private(set) var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  /// One transaction over several suspensions; the threads that it ran on.
  func addSlowly(_ names: [String]) async throws -> Set<UInt64> {
    var threads: Set = [ThreadToken.current.rawValue]
    realm.beginWrite()
    for name in names {
      realm.create(Dog.self, value: ["name": name])
      // Comes back on another thread; a suspension alone might go on at once on this one.
      await MainActor.run {}
      precondition(realm.isInWriteTransaction)
      threads.insert(ThreadToken.current.rawValue)
    }
    try realm.commitWrite()
    return threads
  }

  func add(_ name: String) async throws {
    try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
  }

  var names: [String] { realm.objects(Dog.self).map(\.name) }
}
