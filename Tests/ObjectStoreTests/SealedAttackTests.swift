// Files whose blocks were altered and sealed again, as a hostile program can write them, or
// somebody who has the key: each is opened, read by every way there is, and written to, in a
// process of its own (SealedAttack). Before blocks were looked at beyond their checksums, 93 of 598
// such files ended in signals, endless loops, damaged heaps or allocations of terabytes.
import Foundation
import TestSupport
import Testing

@Suite(.ownThreads) struct SealedAttackTests {
  private static let executable = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("SealedAttack")

  /// Attacks of each kind of file: REALM_SEALED_ATTACKS, else a few.
  private static var count: UInt64 {
    ProcessInfo.processInfo.environment["REALM_SEALED_ATTACKS"].flatMap { UInt64($0) }
      ?? UInt64(amount(40, debug: 15))
  }

  @Test(arguments: [false, true])
  func alteredBlocksGiveErrorsOrTheDocumentedStop(isEncrypted: Bool) throws {
    let seed = testSeed(isEncrypted ? 1_000_001 : 1)
    let text = try Self.attack(seed, Self.count, isEncrypted: isEncrypted)
    // Attacks that change nothing prove nothing, and so do files that never open.
    for outcome in ["documented stops", "passed"] {
      #expect(text.contains(outcome), "\(text)")
    }
  }

  /// Leaves of pairs with fewer links to one object than their branch says: the last of these links
  /// was a trap without words.
  @Test func aCountThatTheLeavesDoNotHaveIsDamage() throws {
    let text = try Self.attack(1_000_384, 1, isEncrypted: true)
    #expect(text.contains("1 documented stops"), "\(text)")
  }

  /// Runs attacks of consecutive seeds, and returns what they came to.
  private static func attack(_ seed: UInt64, _ count: UInt64, isEncrypted: Bool) throws -> String {
    let folder = TemporaryFolder()
    let process = Process()
    let output = Pipe()
    process.executableURL = executable
    process.arguments =
      [folder.path, "\(seed)", "\(count)"] + (isEncrypted ? ["encrypted"] : [])
    process.standardOutput = output
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(
      process.terminationReason == .exit && process.terminationStatus == 0,
      "\(text)\nrepeat one: SealedAttack FOLDER SEED 1\(isEncrypted ? " encrypted" : "") only")
    withExtendedLifetime(folder) {}
    return text
  }
}
