// What a workload is to the run that carries it: a table to fill, threads that measure, and checks
// at the end. The run's life cycle is in WorkloadRun, what a workload does in its own files.

/// One kind of load on an engine.
package protocol Workload<Driver>: Sendable {
  associatedtype Driver: EngineDriver

  /// What the threads share.
  var shared: RunShared<Driver> { get }
  /// The threads that measure, in the order in which they start.
  var threads: [WorkerPlan] { get }
  /// How many objects the table has now.
  var objects: Int { get }
  /// How many frozen versions or values it keeps on purpose now; what its threads stand on is not
  /// counted.
  var pinsKept: Int { get }

  /// Fills the table before anything is measured, on the calling thread; by default with its
  /// objects.
  ///
  /// Returns the version that it ends with, or nil when `isCancelled` became true.
  func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64?

  /// Checks what the run left, on the calling thread.
  ///
  /// The ledger counts what was checked, also when a violation is thrown.
  func checkEnd(_ ledger: inout InvariantLedger) throws
}

extension Workload {
  package var objects: Int { shared.plan.model.objects }
  package var pinsKept: Int { shared.pins.count }

  package func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64? {
    try loadTable(
      shared.driver, model: shared.plan.model, isCancelled: isCancelled, progress: progress)
  }
}

/// A thread of a run: what it measures, and how its worker is made.
package struct WorkerPlan: Sendable {
  package let name: String
  package let operations: [Operation]
  /// Called on the new thread.
  package let make: @Sendable (Handover) throws -> any Worker

  package init(
    _ name: String, operations: [Operation],
    make: @escaping @Sendable (Handover) throws -> any Worker
  ) {
    self.name = name
    self.operations = operations
    self.make = make
  }
}

/// What runs on one measuring thread; made and used on it.
///
/// A struct keeps its state in locals while it runs, where the compiler proves that nobody else
/// touches it; a class has that checked at each access, in timed operations too.
package protocol Worker {
  /// Works until the run stops.
  mutating func run() throws
  /// What the thread checked; read when it has ended.
  var ledger: InvariantLedger { get }
  /// Time in which the thread's schedule stood still for a check.
  var pausedNanoseconds: UInt64 { get }
}
