// How many crash points are tried, and with which seeds. A round takes one history of each crash
// test, about 1,200 points; more points mean more rounds, and a round's number gives its seeds. So
// a failure is repeated by its seed alone, however many points the run had.
internal import Glibc
internal import Platform
internal import TestSupport

/// The crash points of this run.
enum CrashPoints {
  /// First cuts of a round, without those of CrashLogTests; each is followed by a second one.
  static let perRound = 1200
  /// Points of the whole run.
  static let total = number("REALM_CRASH_POINTS") ?? amount(2 * perRound, debug: perRound)
  /// Rounds of the run; REALM_CRASH_ROUND is the first one.
  static let rounds: [Int] = {
    // One seed is asked for, whatever round it is from.
    if number("REALM_SEED") != nil { return [0] }
    let first = number("REALM_CRASH_ROUND") ?? 0
    return Array(first..<first + max(1, (total + perRound - 1) / perRound))
  }()

  private static let tried = Atomic<Int>(0)

  /// Of a history's `count` points so many as this run wants: less than all only in very short
  /// ones.
  static func share(_ count: Int) -> Int { max(1, min(count, count * total / perRound)) }

  /// Runs `body` with the generator of a test and round.
  ///
  /// - Parameter test: tells the seeds of the tests apart; below 100.
  static func run(
    _ test: UInt64, round: Int,
    _ body: @escaping @Sendable (inout RandomGenerator) async throws -> Void
  ) async {
    await withSeeds(first: test + 100 * UInt64(round), body)
    // For scripts/crash-points, which sums up.
    if let file = getenv("REALM_CRASH_COUNT") { write(to: String(cString: file)) }
  }

  static func note() { tried.add(1, ordering: .relaxed) }

  private static func write(to path: String) {
    let text = "\(tried.load(ordering: .relaxed))\n"
    guard let file = try? LinuxFileSystem().open(path, [.writable, .create]) else { return }
    try? file.write(bytes: Array(text.utf8), at: 0)
  }

  private static func number(_ name: String) -> Int? {
    guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { return nil }
    guard let number = Int(text), number >= 0 else {
      fatalError("\(name) is not a number: '\(text)'")
    }
    return number
  }
}
