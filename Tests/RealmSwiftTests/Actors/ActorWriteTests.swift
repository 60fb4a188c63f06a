// Writing and refreshing in actors on Swift's own threads: blocks and completions on the actor,
// tasks that are cancelled at any time, several that wait for a refresh.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ActorWriteTests {
  actor Diary {
    private(set) var realm: Realm!
    private var numbers: [String] = []

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func write(_ number: Int) async throws {
      try await realm.asyncWrite {
        #expect(realm.isInWriteTransaction)
        realm.create(Dog.self, value: ["age": number])
      }
    }

    /// A block, a begin with its own commit, and the commit of a synchronous begin.
    func writeWithCompletions() async -> [String] {
      await withCheckedContinuation { continuation in
        realm.writeAsync {
          self.assertIsolated()
          self.realm.create(Dog.self, value: ["age": 1])
          self.numbers.append("block")
        } onComplete: { error in
          self.assertIsolated()
          self.numbers.append(error == nil ? "completion" : "error")
          self.realm.beginAsyncWrite {
            self.assertIsolated()
            self.realm.create(Dog.self, value: ["age": 2])
            self.numbers.append("begin")
            self.realm.commitAsyncWrite { error in
              self.assertIsolated()
              self.numbers.append(error == nil ? "commit" : "error")
              continuation.resume()
            }
          }
        }
      }
      await withCheckedContinuation { continuation in
        realm.beginWrite()
        realm.create(Dog.self, value: ["age": 3])
        realm.commitAsyncWrite { error in
          self.assertIsolated()
          self.numbers.append(error == nil ? "synchronous" : "error")
          continuation.resume()
        }
      }
      return numbers
    }

    /// What waits before its block is cancelled, by a task of the same actor.
    func cancelQueued() async throws -> Int {
      realm.beginWrite()
      let identifier = realm.writeAsync {
        Issue.record("a cancelled block was run")
      } onComplete: { _ in
        Issue.record("a cancelled block was completed")
      }
      try realm.cancelAsyncWrite(identifier)
      try realm.commitWrite()
      try await write(7)
      return realm.objects(Dog.self).count
    }

    var ages: [Int] {
      realm.refresh()
      return realm.objects(Dog.self).map(\.age)
    }

    var isBusy: Bool { realm.isPerformingAsynchronousWriteOperations }
    func stopFollowing() { realm.autorefresh = false }
    func asyncRefresh() async -> Bool { await realm.asyncRefresh() }
    var count: Int { realm.objects(Dog.self).count }
  }

  @Test func blocksAndCompletionsRunOnTheActor() async throws {
    let folder = TemporaryFolder()
    let diary = try await Diary(folder.configuration())
    let lines = await diary.writeWithCompletions()
    #expect(lines == ["block", "completion", "begin", "commit", "synchronous"])
    #expect(await diary.ages == [1, 2, 3])
    #expect(await !diary.isBusy)
  }

  @Test func aQueuedBlockIsCancelled() async throws {
    let diary = try await Diary(memoryConfiguration())
    #expect(try await diary.cancelQueued() == 1)
    #expect(await !diary.isBusy)
  }

  /// Tasks of several actors are cancelled by other threads while they write: who returns has
  /// written, who is cancelled has not.
  @Test func cancelledAtAnyTime() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    var diaries: [Diary] = []
    for _ in 0..<3 { diaries.append(try await Diary(configuration)) }
    var random = RandomGenerator(seed: testSeed())
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<150 {
      let diary = diaries[number % 3]
      tasks.append(Task { try await diary.write(number) })
      if random.oneIn(2) {
        let victim = tasks[Int(random.next(upperBound: UInt64(tasks.count)))]
        if random.oneIn(2) { await Task.yield() }
        victim.cancel()
      }
    }
    var written: Set<Int> = []
    for (number, task) in tasks.enumerated() {
      do {
        try await task.value
        written.insert(number)
      } catch is CancellationError {}
    }
    for diary in diaries {
      let ages = await diary.ages
      #expect(Set(ages) == written && ages.count == written.count)
      #expect(await !diary.isBusy)
    }
    #expect(!written.isEmpty)
  }

  @Test func severalWaitForARefresh() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (reader, writer) = (try await Diary(configuration), try await Diary(configuration))
    await reader.stopFollowing()
    for round in 1...20 {
      try await writer.write(round)
      let waiting = (0..<4).map { _ in Task { await reader.asyncRefresh() } }
      waiting[round % 4].cancel()
      var moved = 0
      for task in waiting where await task.value { moved += 1 }
      // Who came after the first had moved finds nothing newer; at least one was not cancelled.
      #expect(moved >= 1)
      #expect(await reader.count == round)
    }
  }
}
