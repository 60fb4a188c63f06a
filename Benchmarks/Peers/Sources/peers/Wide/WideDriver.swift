// The seam of the rows of writes: objects of nine properties, and the changes that one transaction
// makes to some of them. What a change needs in an engine's own form is made before the clock runs.
import Foundation

/// All values of one object of nine properties.
struct WideValues: Equatable {
  var id: Int
  var name: String
  var note: String
  var count: Int
  var rank: Int
  var score: Double
  var isActive: Bool
  var date: Date
  var payload: Data

  static let nameBytes = 12
  static let noteBytes = 40
  static let payloadBytes = 100

  /// The values that object `id` gets from a seed.
  init(_ id: Int, seed: Int) {
    let number = mixed(UInt64(id) ^ UInt64(seed) << 32)
    self.id = id
    name = "name\(10_000_000 + number % 80_000_000)"
    note = "a note of object \(10_000_000 + number % 70_000_000), not short"
    note += String(repeating: ".", count: Self.noteBytes - note.utf8.count)
    count = Int(number % 1_000_003)
    rank = Int((number >> 32) % 100)
    score = Double(number % 999_983) * 1.5
    isActive = number & 1 == 1
    date = Date(timeIntervalSinceReferenceDate: Double(number % 800_000_000))
    payload = Data(repeating: UInt8(number & 255), count: Self.payloadBytes)
  }

  /// A number that stands for all of the values.
  var sum: Int {
    var sum = id &+ count &* 3 &+ rank &* 5 &+ Int(score * 2) &* 7 &+ (isActive ? 11 : 13)
    sum = sum &+ Int(date.timeIntervalSinceReferenceDate) &* 17
    for byte in name.utf8 { sum = sum &* 31 &+ Int(byte) }
    for byte in note.utf8 { sum = sum &* 31 &+ Int(byte) }
    for byte in payload { sum = sum &* 31 &+ Int(byte) }
    return sum
  }
}

/// What one transaction does to some objects.
enum WideChange: String, CaseIterable {
  /// Finds each and sets all properties but the key: random keys, or neighbours.
  case whole
  case wholeNear = "whole-near"
  /// The same by the names of the properties.
  case byName = "by-name"
  /// Finds each and sets one number, or one text.
  case number, text
  /// Sets one number of all that a condition names.
  case numberWhere = "number-where"
  /// Adds objects that are made; from dictionaries.
  case insert, create
  /// Writes whole objects by key, of whose values none, one or all are other ones.
  case upsertNone = "upsert-none"
  case upsertSome = "upsert-some"
  case upsertAll = "upsert-all"
  /// Removes objects by key, or all that a condition names.
  case delete
  case deleteWhere = "delete-where"

  /// Whether the keys of one transaction are neighbours.
  var isNear: Bool {
    switch self {
    case .wholeNear, .numberWhere, .insert, .create, .deleteWhere: true
    default: false
    }
  }

  var inserts: Bool { self == .insert || self == .create }
  var deletes: Bool { self == .delete || self == .deleteWhere }
}

/// One engine with its file of such objects.
protocol WideDriver: AnyObject {
  /// Makes what the change needs; not part of the time.
  func prepare(_ change: WideChange, _ objects: [WideValues]) throws
  /// The change in one transaction.
  func run(_ change: WideChange, _ objects: [WideValues]) throws
  func values(_ id: Int) throws -> WideValues?
  func count() throws -> Int
  func close() throws
}

extension WideDriver {
  func prepare(_ change: WideChange, _ objects: [WideValues]) throws {}
}
