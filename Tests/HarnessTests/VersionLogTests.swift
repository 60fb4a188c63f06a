// Numbers of transactions where writers are processes that may die.
import Harness
import Platform
import TestSupport
import Testing

@Suite struct VersionLogTests {
  /// In memory of its own, and in a file that two have mapped.
  private func withLogs(_ body: (VersionLog, VersionLog) throws -> Void) throws {
    let own = VersionLog()
    try body(own, own)
    let folder = TemporaryFolder()
    let path = folder.file("processes.tmp")
    let (first, second) = (
      try ProcessBoard(path, isNew: true), try ProcessBoard(path, isNew: false)
    )
    try body(first.versions, second.versions)
    #expect(throws: SystemError.self) { try ProcessBoard(path, isNew: true) }
  }

  @Test func anUncommittedNumberIsTakenAgain() throws { try withLogs(Self.takeAgain) }

  private static func takeAgain(_ one: VersionLog, _ other: VersionLog) {
    let first = one.nextTransaction(orAgain: { _ in false })
    #expect(first == 1)
    // It has died before the commit.
    let asked = Asked()
    let again = other.nextTransaction(orAgain: { asked.isCommitted($0) })
    #expect(again == 1 && asked.numbers == [1])
    // It has died after the commit, and said nothing.
    let second = one.nextTransaction(orAgain: { _ in true })
    #expect(second == 2)
    one.acknowledge(version: 7, transaction: 2)
    #expect(other.acknowledgedTransaction == 2 && other.transaction(of: 7) == 2)
    // What was acknowledged is not asked for.
    let third = other.nextTransaction(orAgain: { asked.isCommitted($0) })
    #expect(third == 3 && asked.numbers == [1])
    other.dropUncommitted { $0 == 3 }
    #expect(one.transactions == 3)
    other.dropUncommitted { _ in false }
    #expect(one.transactions == 2)
    other.dropUncommitted { _ in false }
    #expect(one.transactions == 2)
  }

  /// Notes which numbers it is asked for, none of which is committed.
  private final class Asked {
    private(set) var numbers: [Int] = []

    func isCommitted(_ number: Int) -> Bool {
      numbers.append(number)
      return false
    }
  }

  @Test func twoTransactionsOfOneVersionAreTold() throws {
    try withLogs { one, other in
      #expect(one.acknowledge(version: 9, transaction: 4) == nil)
      #expect(other.acknowledge(version: 9, transaction: 4) == nil)
      #expect(other.acknowledge(version: 9, transaction: 5) == 4)
    }
  }
}
