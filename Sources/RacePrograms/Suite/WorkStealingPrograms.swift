// The suite's work-stealing queues: an owner pushes and pops at the tail, thieves take from the
// head, and the last item is fought for.
internal import RaceHunt

extension SuiteProgram {
  static let workStealingPrograms = [
    workStealing("chess.WSQ", isInterlocked: false, hasState: false),
    workStealing("chess.SWSQ", isInterlocked: false, hasState: true),
    workStealing("chess.IWSQ", isInterlocked: true, hasState: false),
    workStealing("chess.IWSQWS", isInterlocked: true, hasState: true),
  ]

  private static func workStealing(
    _ name: String, isInterlocked: Bool, hasState: Bool
  ) -> SuiteProgram {
    SuiteProgram(name, "the owner takes the last item while a thief does") {
      let queue = WorkQueue(isInterlocked: isInterlocked)
      let items = 4
      // With state: an item must not be worked on twice, not even at different times.
      let states = (0..<items).map { Variable(0, "item \($0)") }
      @Sendable func work(_ item: Int) {
        if hasState {
          check(states[item].read() == 0, "item \(item) is worked on again")
          states[item].write(1)
        } else {
          states[item].addAtomically(1)
        }
      }
      let thieves = (1...2).map { number in
        Thread.start(name: "thief \(number)") {
          for _ in 1...2 { if let item = queue.steal() { work(item) } }
        }
      }
      for item in 0..<items {
        queue.push(item)
        if item % 2 == 1, let own = queue.pop() { work(own) }
      }
      while let own = queue.pop() { work(own) }
      for thief in thieves { thief.join() }
      for item in 0..<items {
        let count = states[item].read()
        check(count == 1, "item \(item) is worked on \(count) times")
      }
    }
  }
}

/// A queue after the protocol of tail, head, exception, with its bug: the owner that has seen a
/// conflict looks again without the lock.
private final class WorkQueue: Sendable {
  private let (head, tail) = (Variable(0, "head"), Variable(0, "tail"))
  private let slots = (0..<8).map { Variable(-1, "slot \($0)") }
  private let lock = Lock("queue")
  private let isInterlocked: Bool

  init(isInterlocked: Bool) { self.isInterlocked = isInterlocked }

  private func set(_ variable: Variable, _ value: Int) {
    if isInterlocked { variable.exchange(value) } else { variable.write(value) }
  }

  func push(_ item: Int) {
    let position = tail.read()
    slots[position % 8].write(item)
    set(tail, position + 1)
  }

  func pop() -> Int? {
    let position = tail.read() - 1
    set(tail, position)
    if head.read() <= position { return slots[position % 8].read() }
    // A thief may have given up meanwhile.
    set(tail, position + 1)
    lock.lock()
    defer { lock.unlock() }
    if head.read() > position { return nil }
    set(tail, position)
    return slots[position % 8].read()
  }

  func steal() -> Int? {
    lock.lock()
    defer { lock.unlock() }
    let position = head.read()
    // Right is: first move the head, then look at the tail.
    if position >= tail.read() { return nil }
    set(head, position + 1)
    return slots[position % 8].read()
  }
}
