// What happens in a schedule, one line of its table each.

/// What a strand does at a step.
@usableFromInline
enum EventKind: UInt8, Sendable {
  case begins, ends, runs, starts, joins, yields, sleeps, wakesUp, timesOut
  case locks, locksToRead, waitsForLock, unlocks, waits, notifiesOne, notifiesAll
  case loads, stores, exchanges, comparesAndExchanges, failsToExchange, adds
  case wakesForNothing, failsForNothing
  case subtracts, changes
  case submits, waitsForTurn, entersQueue, leavesQueue, suspends, resumes
  case passes, signals, enters, leaves
  case sends, receives, closes
  case notes, violates, decides
  /// Steps of code that has no types of its own here.
  case touches, calls
  case cancels

  /// Whether who does it may see what others have changed before.
  var isLook: Bool {
    switch self {
    case .loads, .failsToExchange, .failsForNothing: true
    default: isEndOfWait
    }
  }

  /// Whether it has waited before.
  var isEndOfWait: Bool {
    switch self {
    case .wakesUp, .wakesForNothing, .timesOut: true
    default: false
    }
  }

  var text: String {
    switch self {
    case .locksToRead: "locks to read"
    case .waitsForLock: "waits to lock"
    case .notifiesOne: "notifies one of"
    case .notifiesAll: "notifies all of"
    case .comparesAndExchanges: "exchanges"
    case .failsToExchange, .failsForNothing: "fails to exchange"
    case .adds: "adds to"
    case .subtracts: "subtracts from"
    case .submits: "submits to"
    case .waitsForTurn: "waits for its turn in"
    case .entersQueue: "has its turn in"
    case .leavesQueue: "ends its turn in"
    case .wakesUp, .wakesForNothing: "wakes up"
    case .timesOut: "times out"
    case .notes, .violates: ""
    default: "\(self)"
    }
  }
}

/// Where in the program: a line, or an address in code that has no types of this module.
struct Place: Sendable {
  let file: StaticString?
  /// A line of the file; without one an address of code.
  let number: UInt

  /// Whether the address is where a call comes back to, whose line is wanted.
  let isCall: Bool

  /// Without a name of a file the line is where a call comes back to: `Place.callFile`.
  init(file: StaticString, line: UInt) {
    isCall = file.utf8CodeUnitCount == 0
    self.file = isCall ? nil : file
    number = line
  }

  /// For operations that take a line of a file, in functions that know the address of their call.
  static let callFile: StaticString = ""

  init(caller: UInt) {
    file = nil
    number = caller
    isCall = false
  }

  /// Where a call comes back to: `race_hunt_caller()` in the function that is called.
  init(call: UInt) {
    file = nil
    number = call
    isCall = true
  }
}

struct Event: Sendable {
  let strand: Int32
  let operation: EventKind
  /// The number of a resource or of another strand, or of a text; -1 for none.
  let object: Int32
  let value: Int?
  let place: Place?

  /// Whether it is the same step; values and places follow from the steps before.
  func isSame(as other: Event) -> Bool {
    strand == other.strand && operation == other.operation && object == other.object
  }
}
