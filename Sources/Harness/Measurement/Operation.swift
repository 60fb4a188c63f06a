// The operations that result rows are about: the tool's own, one entry each in the table below, and
// those that the workloads of a program add to it.
internal import Platform

/// An operation that result rows are about.
///
/// A number, so that it is compared in one step; everything else is looked up.
package struct Operation: Hashable, Sendable, CustomStringConvertible {
  /// What is known of one.
  struct Facts: Sendable {
    let name: String
    /// Whether each one is a transaction.
    let commits: Bool
    /// A step of another operation, which needs no place of its own in the progress line.
    let isMinor: Bool
    /// Whether one thread does it from its begin to its end.
    let isOfOneThread: Bool

    init(
      _ name: String, commits: Bool = false, isMinor: Bool = false, isOfOneThread: Bool = true
    ) {
      self.name = name
      self.commits = commits
      self.isMinor = isMinor
      self.isOfOneThread = isOfOneThread
    }
  }

  private let number: UInt16

  private init(_ number: Int) { self.number = UInt16(number) }

  // MARK: - The tool's own

  package static let insert = Operation(0)
  package static let read = Operation(1)
  package static let refresh = Operation(2)
  package static let write = Operation(3)
  /// A pass over the whole table.
  package static let sum = Operation(4)
  package static let freeze = Operation(5)
  package static let update = Operation(6)
  package static let scan = Operation(7)
  package static let readModifyWrite = Operation(8)
  package static let migrate = Operation(9)
  /// A letter's way through a chain of actors.
  package static let chain = Operation(10)
  /// A call that asks for an asynchronous write: how long it blocks the caller.
  package static let request = Operation(11)
  /// From the request to the begin of its block.
  package static let begin = Operation(12)
  /// The call that commits without waiting for the disk.
  package static let accept = Operation(13)
  /// From the request to the completion.
  package static let durable = Operation(14)
  /// From the first request of some made together to the last completion.
  package static let burst = Operation(15)
  /// From handing a job to a queue, or leaving one actor, to its begin there.
  package static let hop = Operation(16)
  /// Making a reference.
  package static let reference = Operation(17)
  package static let resolve = Operation(18)
  /// From letting all pins go until the file is short again.
  package static let recover = Operation(19)
  /// From the commit to an observer's call.
  package static let notify = Operation(20)

  /// In the order of their numbers.
  private static let own: [Facts] = [
    Facts("insert", commits: true), Facts("read"), Facts("refresh", isMinor: true),
    Facts("write", commits: true), Facts("sum"), Facts("freeze", isMinor: true),
    Facts("update", commits: true), Facts("scan"), Facts("read-modify-write", commits: true),
    Facts("migrate", commits: true), Facts("chain", isOfOneThread: false),
    Facts("request", isMinor: true, isOfOneThread: false),
    Facts("begin", isMinor: true, isOfOneThread: false),
    Facts("accept", isMinor: true, isOfOneThread: false),
    Facts("durable", commits: true, isOfOneThread: false),
    Facts("burst", isMinor: true, isOfOneThread: false),
    Facts("hop", isMinor: true, isOfOneThread: false), Facts("reference"), Facts("resolve"),
    Facts("recover", isOfOneThread: false), Facts("notify", isOfOneThread: false),
  ]

  // MARK: - Those of a program

  private static let added = Monitor<[Facts]>([])

  /// Adds an operation, or finds the one of this name.
  ///
  /// Nil if the name belongs to one that is something else.
  package static func adding(_ name: String, commits: Bool) -> Operation? {
    if let position = own.firstIndex(where: { $0.name == name }) {
      let operation = Operation(position)
      let isSame = own[position].commits == commits && !own[position].isMinor
      return isSame && operation != .recover ? operation : nil
    }
    return added.withLock { added in
      if let position = added.firstIndex(where: { $0.name == name }) {
        return added[position].commits == commits ? Operation(own.count + position) : nil
      }
      added.append(Facts(name, commits: commits))
      return Operation(own.count + added.count - 1)
    }
  }

  private var facts: Facts {
    let number = Int(number)
    if number < Self.own.count { return Self.own[number] }
    return Self.added.withLock { $0[number - Self.own.count] }
  }

  // MARK: - What is known of one

  /// All, in their order.
  package static var allCases: [Operation] {
    (0..<own.count + added.withLock { $0.count }).map(Operation.init)
  }

  /// The operation of this name; nil if this program has none.
  package init?(rawValue: String) {
    guard let operation = Self.allCases.first(where: { $0.rawValue == rawValue }) else {
      return nil
    }
    self = operation
  }

  /// Its name on the command line and in the result files.
  package var rawValue: String { facts.name }
  package var description: String { rawValue }
  /// Whether each one is a transaction.
  package var commits: Bool { facts.commits }
  /// A step of another operation, which needs no place of its own in the progress line.
  package var isMinor: Bool { facts.isMinor }
  /// Whether the tool's workloads have one thread do it from its begin to its end.
  package var isOfOneThread: Bool { facts.isOfOneThread }
  /// The phase whose figures are the run's result.
  package var phase: Phase { self == .recover ? .recover : .measure }

  /// The same for a name in result files, whoever's operation it is.
  package static func phase(ofName name: String) -> Phase {
    name == recover.rawValue ? .recover : .measure
  }
}
