// Realms that are open already are found again, wherever that is asked for: never in a wrong place,
// never with other settings, and without being kept open.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct OpenRealmTests {
  @Test func theSameSettingsGiveTheSameInstance() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let realm = try Realm(configuration: configuration)
    for _ in 0..<3 { #expect(try Realm(configuration: configuration) == realm) }
    // The same made anew, and a copy that was changed and changed back.
    #expect(try Realm(configuration: folder.configuration()) == realm)
    var copy = configuration
    copy.schemaVersion = 9
    copy.schemaVersion = 0
    #expect(copy == configuration)
    #expect(try Realm(configuration: copy) == realm)
    #expect(try Realm(configuration: configuration) == realm)
  }

  @Test func changedSettingsGiveAnother() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration()
    let realm = try Realm(configuration: configuration)
    configuration.maximumNumberOfActiveVersions = 50
    let limited = try Realm(configuration: configuration)
    #expect(limited != realm)
    configuration.objectTypes = [Dog.self]
    let narrow = try Realm(configuration: configuration)
    #expect(narrow != realm && narrow != limited && narrow.schema.objectSchema.count == 1)
    configuration.fileURL = folder.configuration("other.realm").fileURL
    let other = try Realm(configuration: configuration)
    try other.write { other.add(Dog()) }
    #expect(realm.objects(Dog.self).isEmpty)
    configuration.durability = .memory
    #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(try Realm(configuration: folder.configuration()) == realm)
    withExtendedLifetime((limited, narrow)) {}
  }

  @Test func anInvalidatedRealmIsTheSame() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    let dog = realm.objects(Dog.self).first!
    realm.invalidate()
    #expect(try Realm(configuration: configuration) == realm)
    #expect(dog.isInvalidated && realm.objects(Dog.self).count == 1)
  }

  @Test func noRealmIsKeptOpen() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    for name in ["first", "second"] {
      do {
        let realm = try Realm(configuration: configuration)
        #expect(try Realm(configuration: configuration) == realm)
        try realm.write { _ = realm.create(Dog.self, value: ["name": name]) }
        #expect(realm.objects(Dog.self).map(\.name) == [name])
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
      }
      // Nobody uses it any more: this thread remembers, but does not keep it.
      #expect(try Realm.deleteFiles(for: configuration))
    }
  }

  @Test func threadsComeAndGo() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    let main = Carried(realm)
    for _ in 0..<200 {
      onThread {
        let realm = try! Realm(configuration: configuration)
        #expect(realm != main.value && realm.objects(Dog.self).count == 1)
        #expect(try! Realm(configuration: configuration) == realm)
      }
    }
  }

  /// A Realm may end on another thread than the one that remembers it.
  @Test func endsElsewhereWhileItIsLookedFor() throws {
    let configuration = memoryConfiguration()
    let kept = try Realm(configuration: configuration)
    let handed = Monitor<Carried<Realm>?>(nil)
    let isDone = Atomic(false)
    let other = startThread {
      while !isDone.load(ordering: .relaxed) {
        let realm = handed.withLock { handed in
          defer { handed = nil }
          return handed
        }
        withExtendedLifetime(realm) {}
      }
    }
    onThread {
      for _ in 0..<5_000 {
        let realm = try! Realm(configuration: configuration)
        handed.withLock { $0 = Carried(realm) }
        #expect(realm.isEmpty)
      }
    }
    isDone.store(true, ordering: .relaxed)
    other.joinInTime()
    withExtendedLifetime(kept) {}
  }

  // MARK: - Places

  /// Blocks of several queues, one after the other on one and the same thread.
  @Test func queuesOnOneThread() {
    let configuration = memoryConfiguration()
    onThread {
      let thread = ThreadToken.current
      let own = try! Realm(configuration: configuration)
      let queues = (0..<3).map { DispatchQueue(label: "queue \($0)") }
      var realms: [Realm] = []
      for _ in 0..<3 {
        for (number, queue) in queues.enumerated() {
          queue.sync {
            // An idle queue runs its block on the thread that waits for it.
            #expect(ThreadToken.current == thread)
            let realm = try! Realm(configuration: configuration, queue: queue)
            if realms.count == number { realms.append(realm) }
            #expect(realm == realms[number])
            #expect(try! Realm(configuration: configuration, queue: queue) == realm)
            #expect(try! Realm(configuration: configuration) == own)
          }
        }
        #expect(try! Realm(configuration: configuration) == own)
      }
      for (number, realm) in realms.enumerated() {
        #expect(realm != own && !realms[..<number].contains(realm))
      }
    }
  }

  /// The thread remembers the Realm of a queue, but runs no block of it any more.
  @Test func aQueueThatIsLeftStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let configuration = memoryConfiguration()
      onThread {
        let queue = DispatchQueue(label: "left")
        let realm = queue.sync { Carried(try! Realm(configuration: configuration, queue: queue)) }
        _ = try! Realm(configuration: configuration, queue: queue)
        withExtendedLifetime(realm) {}
      }
    }
    expectStop(result, "Realm opened from incorrect dispatch queue.")
  }

  /// In a program with an asynchronous main one thread runs code of the main actor and other code.
  @Test func mainActorAndOtherTasksOnOneThread() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let configuration = memoryConfiguration()
      let main = await MainActor.run { Carried(try! openRealm(configuration)) }
      for _ in 0..<500 {
        let isSame = await MainActor.run { try! openRealm(configuration) == main.value }
        let isOther = await Task.detached { try! openRealm(configuration) != main.value }.value
        precondition(isSame && isOther)
      }
    }
    _ = result
  }

  actor Opener {
    private(set) var realm: Realm!

    func open(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    /// The Realm of the thread is another one than the actor's, which the thread has opened last.
    func opensAnother(_ configuration: Realm.Configuration) async throws -> Bool {
      let isSame = try await Realm.open(configuration: configuration) == realm
      return try isSame && openRealm(configuration) != realm
    }
  }

  @Test func anActorAndItsThread() async throws {
    let configuration = memoryConfiguration()
    let opener = Opener()
    try await opener.open(configuration)
    for _ in 0..<20 { #expect(try await opener.opensAnother(configuration)) }
  }

  // MARK: - Further instances

  @Test func aFurtherInstanceShowsTheNewestVersion() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    for count in 1...5 {
      await shared.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
      onThread {
        let realm = try! Realm(configuration: configuration)
        #expect(realm.objects(Dog.self).count == count)
        try! realm.write { realm.objects(Dog.self).last!.age = count }
      }
    }
    await shared.run { shared in
      shared.realm.refresh()
      #expect(shared.realm.objects(Dog.self).map(\.age) == [1, 2, 3, 4, 5])
    }
  }

  /// What the first instance was made of is no longer what the file holds.
  @Test func aFurtherInstanceAfterAChangeOfTheClasses() throws {
    let folder = TemporaryFolder()
    let narrow = folder.configuration("test.realm", [Dog.self])
    let realm = try Realm(configuration: narrow)
    try realm.write { realm.add(Dog()) }
    let wide = folder.configuration()
    onThread {
      let realm = try! Realm(configuration: wide)
      try! realm.write { _ = realm.create(Person.self, value: ["id": 1, "name": "Ann"]) }
    }
    for _ in 0..<2 {
      onThread {
        let realm = try! Realm(configuration: narrow)
        #expect(realm.objects(Dog.self).count == 1)
        try! realm.write { realm.add(Dog()) }
        try! realm.write { realm.delete(realm.objects(Dog.self).last!) }
      }
      onThread {
        let realm = try! Realm(configuration: wide)
        #expect(realm.objects(Person.self).map(\.name) == ["Ann"])
      }
    }
    realm.refresh()
    #expect(realm.objects(Dog.self).count == 1)
  }

  /// Somebody has put another file in the place of the one that is open.
  @Test func aFurtherInstanceOfAnotherFile() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    try FileManager.default.removeItem(at: configuration.fileURL!)
    try FileManager.default.removeItem(atPath: configuration.fileURL!.path + ".lock")
    onThread {
      let other = try! Realm(configuration: configuration)
      #expect(other.isEmpty)
      try! other.write { _ = other.create(Dog.self, value: ["name": "new"]) }
      onThread {
        let names = try! Realm(configuration: configuration).objects(Dog.self).map(\.name)
        #expect(Array(names) == ["new"])
      }
    }
    realm.refresh()
    #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
  }

  /// A file with the same classes at the same places as one that was open before, and one with
  /// others.
  @Test func openedAgain() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("a.realm", [Dog.self])
    for count in 0..<3 {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).count == count)
      try realm.write { realm.add(Dog()) }
      let other = try Realm(
        configuration: folder.configuration("b-\(count).realm", [Dog.self]))
      try other.write { other.add(Dog()) }
      #expect(other.objects(Dog.self).map(\.age) == [3])
    }
    do {
      let wide = try Realm(configuration: folder.configuration("a.realm"))
      try wide.write { _ = wide.create(Person.self, value: ["id": 1]) }
    }
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.objects(Dog.self).first!.age = 8 }
    #expect(realm.objects(Dog.self).map(\.age) == [8, 3, 3])
  }
}
