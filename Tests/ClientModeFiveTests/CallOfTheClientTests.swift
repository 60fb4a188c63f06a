// A stop names the line of the program that led to it, not only a line of the library.
import Foundation
import RealmSwift
import Testing

@Suite struct CallOfTheClientTests {
  @Test func aStopNamesTheCall() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("REALM_NAMES_CALLS", "1", 1)
      askForTheColour()
    }
    let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(words.contains("Invalid property name 'colour' for class 'Dog'."), "\(words)")
    #expect(words.contains("(called at \(#filePath):\(lineOfTheColour))"), "\(words)")
  }

  /// Through code of the library that is compiled into the program, on a small stack.
  @Test func aStopOnAnotherThreadNamesTheCall() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("REALM_NAMES_CALLS", "1", 1)
      try useElsewhere()
    }
    let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(words.contains("Realm accessed from incorrect thread."), "\(words)")
    #expect(words.contains("(called at \(#filePath):\(lineOfTheUse))"), "\(words)")
  }

  @Test func itCanBeTurnedOff() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("REALM_NAMES_CALLS", "0", 1)
      askForTheColour()
    }
    let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(words.contains("'colour'") && !words.contains("called at"), "\(words)")
  }
}

private let lineOfTheColour = #line + 4

private func askForTheColour() {
  let dog = Dog(value: ["name": "Rex"])
  _ = dog["colour"]
}

private let lineOfTheUse = #line + 11

private func useElsewhere() throws {
  let realm = try Realm(configuration: .init(inMemoryIdentifier: "calls", objectTypes: [Dog.self]))
  try realm.write { realm.add(Dog(value: ["name": "Rex"])) }
  guard let first = realm.objects(Dog.self).first else { return }
  // The misuse that is tried: an object on a thread that is not its own.
  nonisolated(unsafe) let dog = first
  let isOver = DispatchSemaphore(value: 0)
  let thread = Thread {
    defer { isOver.signal() }
    dog.name = "Bello"
  }
  thread.stackSize = 512 << 10
  thread.start()
  // Whoever gets here was not stopped: the process ends well, and the test fails.
  _ = isOver.wait(timeout: .now() + 60)
}
