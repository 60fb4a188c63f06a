// Code that is in the places of several Realms at once: a block of a queue that hands its blocks to
// another queue, an actor that shares its executor with others. What it thaws belongs to the Realm
// that it uses.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct SharedPlaceTests {
  private let configuration = memoryConfiguration()

  /// A frozen dog; its Realm keeps the content.
  private func makeDog() async -> Frozen<Dog> {
    let configuration = configuration
    return await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      return Frozen(try! realm.write { realm.create(Dog.self) }.freeze())
    }
  }

  /// One of several actors of one executor.
  private actor Tenant {
    private let executor: WanderingSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }
    private var realm: Realm!

    init(_ executor: WanderingSerialExecutor) { self.executor = executor }

    func open(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    /// Whether a frozen object comes into the Realm that is being written.
    func thawsIntoItsOwn(_ frozen: Frozen<Dog>) throws -> Bool {
      try realm.write { frozen.value.thaw()?.realm == realm }
    }

    func wrapsItsOwn(_ dog: ThreadSafe<Dog>) throws -> Bool {
      try realm.write { dog.wrappedValue?.realm == realm }
    }
  }

  @Test func actorsOfOneExecutor() async throws {
    let frozen = await makeDog()
    let executor = WanderingSerialExecutor()
    let (first, second) = (Tenant(executor), Tenant(executor))
    try await first.open(configuration)
    try await second.open(configuration)
    #expect(try await first.thawsIntoItsOwn(frozen))
    #expect(try await second.thawsIntoItsOwn(frozen))
    let wrapped = ThreadSafe(wrappedValue: frozen.value)
    #expect(try await first.wrapsItsOwn(wrapped))
    #expect(try await second.wrapsItsOwn(wrapped))
  }

  /// The Realms of two queues.
  private final class Opened: @unchecked Sendable {
    // @unchecked: touched by blocks of the two queues only, of which one runs at a time.
    var low: Realm!
    var high: Realm!
  }

  @Test(arguments: [true, false]) func queuesThatHandOnTheirBlocks(lowIsFirst: Bool) async {
    let frozen = await makeDog()
    let low = DispatchQueue(label: "low")
    let high = DispatchQueue(label: "high", target: low)
    let configuration = configuration
    let opened = Opened()
    if lowIsFirst {
      await low.run { opened.low = try Realm(configuration: configuration, queue: low) }
    }
    await high.run { opened.high = try Realm(configuration: configuration, queue: high) }
    if !lowIsFirst {
      await low.run { opened.low = try Realm(configuration: configuration, queue: low) }
    }
    await high.run {
      #expect(frozen.value.thaw()?.realm == opened.high)
      try opened.high.write { #expect(frozen.value.thaw()?.realm == opened.high) }
      // This one may be used here, too.
      opened.low.beginWrite()
      #expect(frozen.value.thaw()?.realm == opened.low)
      opened.low.cancelWrite()
    }
    await low.run {
      #expect(frozen.value.thaw()?.realm == opened.low)
      opened.low = nil
    }
    await high.run { opened.high = nil }
  }
}
