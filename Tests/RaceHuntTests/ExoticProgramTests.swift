// Less usual ways to run tasks: executors that a task prefers, tasks that begin at once, streams of
// closures, isolated ends of objects. Sound programs that are the same twice, and lost updates.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct ExoticProgramTests {
  /// A word that two loads and stores change, or one step does.
  private static func add(_ word: Atomic<Int>, _ isBroken: Bool) {
    if isBroken { word.store(word.load() + 1) } else { word.add(1) }
  }

  static let programs = [
    DropInTests.Named("tasks that begin at once") { isBroken in
      {
        let word = Atomic(0)
        let first = Task.immediate {
          await Task.yield()
          add(word, isBroken)
        }
        let second = Task.immediateDetached {
          await Task.yield()
          add(word, isBroken)
        }
        await first.value
        await second.value
        check(word.load() == 2, "the word is \(word.load())")
      }
    },
    DropInTests.Named("executor that tasks prefer") { isBroken in
      {
        let executor = QueueTaskExecutor()
        let word = Atomic(0)
        await withTaskExecutorPreference(executor) {
          await withTaskGroup(of: Void.self) { group in
            for _ in 1...2 {
              group.addTask { add(word, isBroken) }
            }
          }
        }
        check(word.load() == 2, "the word is \(word.load())")
      }
    },
    DropInTests.Named("stream of a closure") { isBroken in
      {
        let word = Atomic(0)
        let streams = (1...2).map { _ in
          let left = Atomic(2)
          return AsyncStream(unfolding: {
            add(word, isBroken)
            return left.subtract(1).newValue >= 0 ? 1 : nil
          })
        }
        await withTaskGroup(of: Void.self) { group in
          for stream in streams { group.addTask { for await _ in stream {} } }
        }
        check(word.load() == 6, "the word is \(word.load())")
      }
    },
    DropInTests.Named("main actor and main queue") { isBroken in
      {
        let word = Atomic(0)
        let thread = Thread { add(word, isBroken) }
        thread.start()
        let task = Task { @MainActor in add(word, isBroken) }
        await withCheckedContinuation { continuation in
          DispatchQueue.main.async {
            word.add(1)
            continuation.resume()
          }
        }
        await task.value
        _ = await MainActor.run { word.add(1) }
        while !thread.isFinished {
          try await Task.sleep(until: .now + .seconds(1), tolerance: .zero, clock: .continuous)
        }
        check(word.load() == 4, "the word is \(word.load())")
      }
    },
    DropInTests.Named("objects that end on their actor") { isBroken in
      {
        let word = Atomic(0)
        let users = (1...2).map { _ in
          Task.detached {
            let guest = await Guest(word, isBroken: isBroken)
            await guest.greet()
          }
        }
        for user in users { await user.value }
        try await Task.sleep(for: .seconds(1))
        check(word.load() == 2, "\(word.load()) have ended")
      }
    },
    DropInTests.Named("concurrent functions") { isBroken in
      {
        let word = Atomic(0)
        @concurrent func work() async { add(word, isBroken) }
        async let first: Void = work()
        async let second: Void = work()
        _ = await (first, second)
        check(word.load() == 2, "the word is \(word.load())")
      }
    },
    DropInTests.Named("group of queues") { isBroken in
      {
        let word = Atomic(0)
        let group = DispatchGroup()
        let (one, two) = (
          DispatchQueue(label: "one"), DispatchQueue(label: "two", target: .global())
        )
        one.async(group: group) { add(word, isBroken) }
        two.async(group: group, qos: .userInteractive, flags: .barrier) { add(word, isBroken) }
        await withCheckedContinuation { continuation in
          group.notify(queue: .main) { continuation.resume() }
        }
        check(word.load() == 2, "the word is \(word.load())")
      }
    },
    DropInTests.Named("two throwing streams in a group") { isBroken in
      {
        let word = Atomic(0)
        let result = await Task {
          try await withThrowingDiscardingTaskGroup { group in
            group.addTask { add(word, isBroken) }
            group.addTask {
              add(word, isBroken)
              throw Unreachable()
            }
          }
        }.result
        if case .success = result { check(false, "no error") }
        check(word.load() == 2, "the word is \(word.load())")
      }
    },
  ]

  @Test(arguments: programs) func theMistakeIsFoundAndRepeated(named: DropInTests.Named) throws {
    try named.checkMistakeIsFound()
  }

  @Test(arguments: programs, ["random", "pct:3", "surw", "depth-first:1"])
  func withoutItNothingIsFound(named: DropInTests.Named, strategy: String) throws {
    try named.checkItIsSound(by: strategy)
  }
}

/// A queue that runs the tasks that prefer it.
private final class QueueTaskExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// Counts its end, on its actor.
@Trade private final class Guest {
  private let word: Atomic<Int>
  private let isBroken: Bool

  init(_ word: Atomic<Int>, isBroken: Bool) {
    self.word = word
    self.isBroken = isBroken
  }

  func greet() async { await Task.yield() }

  isolated deinit {
    if isBroken { word.store(1) } else { word.add(1) }
  }
}
