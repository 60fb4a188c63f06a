// What an operation takes beside time: allocations and instructions of the thread that does it.
// They hardly vary, or not at all, so that a small change of them is seen where that of a time is
// not.
internal import CThreadCounts

/// What a thread has done so far, or between two moments.
package struct ThreadWork: Equatable, Sendable {
  /// Calls that allocate memory.
  package private(set) var allocations: UInt64 = 0
  /// Instructions in user mode; 0 where nobody counts them.
  package private(set) var instructions: UInt64 = 0

  package init() {}

  /// The calling thread's, so far.
  @inline(__always)
  package static func now() -> ThreadWork {
    var work = ThreadWork()
    work.allocations = thread_allocations()
    work.instructions = thread_instructions()
    return work
  }

  /// What the calling thread has done since.
  @inline(__always)
  package static func since(_ before: ThreadWork) -> ThreadWork { now() - before }

  package static func - (later: ThreadWork, earlier: ThreadWork) -> ThreadWork {
    var work = ThreadWork()
    work.allocations = later.allocations &- earlier.allocations
    // What was not counted at one of both moments is not known.
    if later.instructions != 0 && earlier.instructions != 0 {
      work.instructions = later.instructions &- earlier.instructions
    }
    return work
  }

  /// Adds what does not belong to an operation.
  package static func += (sum: inout ThreadWork, more: ThreadWork) {
    sum.allocations &+= more.allocations
    sum.instructions &+= more.instructions
  }

  /// Without what does not belong to it.
  package func without(_ excluded: ThreadWork) -> ThreadWork {
    var work = self
    work.allocations -= min(excluded.allocations, allocations)
    work.instructions -= min(excluded.instructions, instructions)
    return work
  }

  /// Whether this process counts allocations: not with a sanitizer.
  package static let countsAllocations = thread_allocations_are_counted() != 0

  /// Lets the calling thread count its instructions, where that can be had, while `body` runs.
  package static func countingInstructions<Result>(
    _ body: () throws -> Result
  ) rethrows -> Result {
    guard countsInstructions, thread_instructions_begin() == 0 else { return try body() }
    defer { thread_instructions_end() }
    return try body()
  }

  /// Whether threads of this process can count instructions: not without a counter of the
  /// processor that the kernel lets it read.
  package static let countsInstructions: Bool = {
    guard thread_instructions_begin() == 0 else { return false }
    thread_instructions_end()
    return true
  }()
}

/// What the operations of a kind have taken.
package struct OperationWork: Equatable, Sendable {
  /// Operations whose allocations were counted.
  private var counted: UInt64 = 0
  private var allocations: UInt64 = 0
  /// Those whose instructions were.
  private var instructed: UInt64 = 0
  private var instructions: UInt64 = 0

  package init() {}

  @inline(__always)
  package mutating func record(_ work: ThreadWork) {
    counted += 1
    allocations &+= work.allocations
    if work.instructions != 0 {
      instructed += 1
      instructions &+= work.instructions
    }
  }

  package mutating func add(_ other: OperationWork) {
    counted += other.counted
    allocations &+= other.allocations
    instructed += other.instructed
    instructions &+= other.instructions
  }

  /// Of each of so many operations; nil unless those of all were counted.
  package func allocationsPerOperation(of count: UInt64) -> Double? {
    guard ThreadWork.countsAllocations, count > 0, counted == count else { return nil }
    return Double(allocations) / Double(count)
  }

  /// The same of instructions.
  package func instructionsPerOperation(of count: UInt64) -> Double? {
    guard count > 0, instructed == count else { return nil }
    return Double(instructions) / Double(count)
  }
}
