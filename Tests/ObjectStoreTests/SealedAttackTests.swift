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

  /// Of each further kind.
  private static var shortCount: UInt64 { max(8, count / 4) }

  @Test(arguments: [false, true])
  func alteredBlocksGiveErrorsOrTheDocumentedStop(isEncrypted: Bool) throws {
    let seed = testSeed(isEncrypted ? 1_000_001 : 1)
    let text = try Self.attack(seed, Self.count, isEncrypted: isEncrypted)
    // Attacks that change nothing prove nothing, and so do files that never open.
    for outcome in ["documented stops", "passed"] {
      #expect(text.contains(outcome), "\(text)")
    }
  }

  /// What the file says of its space is wrong.
  ///
  /// Places in use are free or dead, free ones taken, parts and logs are exchanged, lengths and
  /// versions are others. Written to four times each.
  @Test(arguments: [false, true]) func alteredJournals(isEncrypted: Bool) throws {
    let seed = testSeed(isEncrypted ? 3_000_001 : 2_000_001)
    let text = try Self.attack(
      seed, Self.shortCount, ["journal", "long"], isEncrypted: isEncrypted)
    for outcome in ["typed errors", "passed"] { #expect(text.contains(outcome), "\(text)") }
  }

  /// Blocks lie in others: whoever gives up one of them gives away bytes of the other.
  @Test func blocksInBlocks() throws {
    let text = try Self.attack(
      testSeed(4_000_001), Self.shortCount, ["nested", "long"], isEncrypted: false)
    #expect(text.contains("typed errors"), "\(text)")
  }

  /// Altered blocks in files that are written to again and again.
  @Test func alteredBlocksOfFilesThatAreWrittenTo() throws {
    _ = try Self.attack(testSeed(5_000_001), Self.shortCount, ["long"], isEncrypted: false)
  }

  /// Leaves of pairs with fewer links to one object than their branch says: the last of these links
  /// was a trap without words.
  @Test func aCountThatTheLeavesDoNotHaveIsDamage() throws {
    let text = try Self.attack(1_000_384, 1, isEncrypted: true)
    #expect(text.contains("1 documented stops"), "\(text)")
  }

  /// Dead blocks that overlap, kept for a pin.
  ///
  /// Coding them for the journal was a trap without words.
  @Test(arguments: [4_000_004, 4_000_019] as [UInt64])
  func deadBlocksThatOverlapAreDamage(seed: UInt64) throws {
    _ = try Self.attack(seed, 1, ["nested", "long"], isEncrypted: false)
  }

  /// Runs attacks of consecutive seeds, and returns what they came to.
  private static func attack(
    _ seed: UInt64, _ count: UInt64, _ kind: [String] = [], isEncrypted: Bool
  ) throws -> String {
    let folder = TemporaryFolder()
    let process = Process()
    let output = Pipe()
    process.executableURL = executable
    process.arguments =
      [folder.path, "\(seed)", "\(count)"] + kind + (isEncrypted ? ["encrypted"] : [])
    process.standardOutput = output
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let flags = (isEncrypted ? ["encrypted"] : []) + kind + ["only"]
    #expect(
      process.terminationReason == .exit && process.terminationStatus == 0,
      "\(text)\nrepeat one: SealedAttack FOLDER SEED 1 \(flags.joined(separator: " "))")
    withExtendedLifetime(folder) {}
    return text
  }
}
