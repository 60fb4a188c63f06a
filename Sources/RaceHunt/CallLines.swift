// Lines of calls whose place is known as an address: of functions that have the names and
// parameters of Foundation's and Dispatch's, and so none for the place.
internal import CRaceHunt
internal import Synchronization

/// Puts lines where a text has addresses.
enum CallLines {
  /// On both sides of an address, in a text that is not yet shown.
  private static let mark: Character = "\u{1}"
  private static let capacity = 160
  /// At most so many at once.
  private static let most = 128
  /// What was found so far; empty for what has no line.
  private static let known = Synchronization.Mutex<[UInt: String]>([:])

  /// Stands for the line of a call, until somebody reads the text: looking lines up takes a while.
  static func marked(_ address: UInt) -> String { "\(mark)\(address)\(mark)" }

  /// The text as it is shown: with the line of each call, else with the function that calls.
  static func resolved(in text: String) -> String {
    let parts = text.split(separator: mark, omittingEmptySubsequences: false)
    if parts.count < 3 { return text }
    let addresses = parts.indices.filter { $0 % 2 == 1 }.compactMap { UInt(parts[$0]) }
    let lines = lines(of: Set(addresses))
    var result = ""
    for (position, part) in parts.enumerated() {
      guard position % 2 == 1, let address = UInt(part) else {
        result += part
        continue
      }
      result += lines[address].flatMap { $0.isEmpty ? nil : $0 } ?? Place.symbol(address)
    }
    return result
  }

  private static func lines(of addresses: Set<UInt>) -> [UInt: String] {
    known.withLock { known in
      let missing = addresses.filter { known[$0] == nil }.sorted()
      for first in stride(from: 0, to: missing.count, by: most) {
        let some = Array(missing[first..<min(first + most, missing.count)])
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: some.count * capacity) { texts in
          race_hunt_lines(some, some.count, texts.baseAddress!, capacity)
          for (number, address) in some.enumerated() {
            known[address] = String(cString: texts.baseAddress! + number * capacity)
          }
        }
      }
      return known
    }
  }
}
