// What a program may add to the tool: names that mean something already are refused.
import Harness
import Testing

@Suite struct ToolTests {
  private enum Odd: WorkloadDescription {
    static var name: String { "odd" }
    static var summary: String { "for tests" }
    static var help: String { "for tests" }
    static var flags: Set<String> { [] }
    static var scheduled: Set<Harness.Operation> { [] }
    static var ownFlags: [OwnFlag] {
      [OwnFlag(FlagDefinition("threads", "N", "taken"), standard: nil) { $0 }]
    }
    static func operations(_ settings: RunSettings) -> [Harness.Operation] { [.read] }
    static func shape(_ settings: RunSettings) -> String { "" }
    static func make<Driver: EngineDriver>(
      _ shared: RunShared<Driver>
    ) -> any Workload<Driver> { Transfer(shared) }
  }

  @Test func takenNamesAreRefused() {
    #expect(throws: UsageError.self) {
      try Tool.become(Tool(name: "x", workloads: [TransferDescription.self]))
    }
    let refusal = "the workload odd: --threads is a flag of every run; give it another name"
    #expect(throws: UsageError(refusal)) {
      try Tool.become(Tool(name: "x", workloads: [Odd.self]))
    }
    // Nothing of a refused one stays.
    #expect(Tool.current.name == "realm-bench" && Tool.current.workloads.isEmpty)
  }

  @Test(arguments: ["buy", "read-2"]) func names(_ text: String) { #expect(Tool.isName(text)) }

  @Test(arguments: ["", "Buy", "2buy", "-buy", "buy now", "buy,now", "b\u{fc}y", "../buy"])
  func textsThatAreNoNames(_ text: String) { #expect(!Tool.isName(text)) }

  /// A number and its entry in the table are two places: they have to agree.
  @Test func operationsAndInvariantsHaveTheirNames() {
    let operations: [(Harness.Operation, String)] = [
      (.insert, "insert"), (.read, "read"), (.refresh, "refresh"), (.write, "write"),
      (.sum, "sum"), (.freeze, "freeze"), (.update, "update"), (.scan, "scan"),
      (.readModifyWrite, "read-modify-write"), (.migrate, "migrate"), (.chain, "chain"),
      (.request, "request"), (.begin, "begin"), (.accept, "accept"), (.durable, "durable"),
      (.burst, "burst"), (.hop, "hop"), (.reference, "reference"), (.resolve, "resolve"),
      (.recover, "recover"), (.notify, "notify"),
    ]
    for (operation, name) in operations {
      #expect(operation.rawValue == name && Operation(rawValue: name) == operation)
    }
    let invariants: [Invariant] = [
      .snapshotStability, .atomicity, .monotonicVersions, .readYourWrites, .frozenImmutability,
      .durablePrefix, .serialOrder, .exactChanges, .references, .spaceAccounting, .confinement,
      .completion,
    ]
    for (position, invariant) in invariants.enumerated() {
      #expect(invariant.name == "I\(position + 1)")
      #expect(Invariant(rawValue: invariant.name) == invariant)
    }
    // What a name means already is nobody else's.
    #expect(Operation.adding("recover", commits: false) == nil)
    #expect(Operation.adding("read", commits: true) == nil)
    #expect(Operation.adding("read", commits: false) == .read)
    #expect(Invariant.adding("I1", summary: "other", place: "") == nil)
  }
}
