// The suite's programs whose steps come in phases: two stages, reordered stores, a wrong lock, and
// conditions that are waited for too often.
internal import RaceHunt

extension SuiteProgram {
  static let phasePrograms =
    [(3, 2, 1), (4, 3, 1), (5, 4, 1), (10, 9, 1), (20, 10, 10), (50, 25, 25), (100, 50, 50)].map {
      reorder($0.0, setters: $0.1, checkers: $0.2)
    }
    + [("", 1, 1), ("_20", 10, 10), ("_50", 25, 25), ("_100", 99, 1)].map {
      twoStage("CS.twostage\($0.0)_bad", first: $0.1, second: $0.2)
    } + [
      wrongLock("CS.wronglock_bad", others: 7), wrongLock("CS.wronglock_3_bad", others: 3),
      SuiteProgram("CS.phase01_bad", "a lock of the first phase is not given back") {
        let (first, second) = (Lock("first"), Lock("second"))
        let phases = Variable(0, "phases")
        runThreads(2, "thread") { _ in
          first.lock()
          second.lock()
          phases.change(by: 1)
          first.unlock()
          first.lock()
          phases.change(by: 1)
          second.unlock()
        }
      },
      SuiteProgram("CS.sync01_bad", "waits for room that is there only at the start") {
        let lock = Lock("lock")
        let (isEmpty, isFull) = (Signal("is empty"), Signal("is full"))
        let count = Variable(0, "count")
        runThreads([
          (
            "producer",
            {
              lock.lock()
              while count.read() > 0 { lock.wait(for: isEmpty) }
              count.change(by: 1)
              lock.unlock()
              isFull.notifyOne()
            }
          ),
          (
            "consumer",
            {
              lock.lock()
              while count.read() == 0 { lock.wait(for: isFull) }
              count.change(by: -1)
              lock.unlock()
              isEmpty.notifyOne()
            }
          ),
        ])
        check(count.read() == 1, "the count is \(count.read())")
      },
      SuiteProgram("CS.sync02_bad", "makes one more than is consumed") {
        let lock = Lock("lock")
        let (isEmpty, isFull) = (Signal("is empty"), Signal("is full"))
        let count = Variable(1, "count")
        runThreads([
          (
            "producer",
            {
              for _ in 1...3 {
                lock.lock()
                while count.read() > 0 { lock.wait(for: isEmpty) }
                count.change(by: 1)
                isFull.notifyOne()
                lock.unlock()
              }
            }
          ),
          (
            "consumer",
            {
              for _ in 1...3 {
                lock.lock()
                while count.read() == 0 { lock.wait(for: isFull) }
                count.change(by: -1)
                isEmpty.notifyOne()
                lock.unlock()
              }
            }
          ),
        ])
        check(count.read() == 0, "\(count.read()) are left")
      },
    ]

  /// A pair is set by two stores; a checker must not see one of them alone.
  private static func reorder(_ count: Int, setters: Int, checkers: Int) -> SuiteProgram {
    SuiteProgram("CS.reorder_\(count)_bad", "sees the first of two stores without the second") {
      let (a, b) = (Variable(0, "a"), Variable(0, "b"))
      let setting = bodies(setters, "setter") { _ in
        a.write(1)
        b.write(-1)
      }
      let checking = bodies(checkers, "checker") { _ in
        let isUnset = a.read() == 0 && b.read() == 0
        let isSet = !isUnset && a.read() == 1 && b.read() == -1
        check(isUnset || isSet, "one of the two is set")
      }
      runThreads(setting + checking)
    }
  }

  /// The second value follows from the first, each under a lock of its own.
  private static func twoStage(_ name: String, first: Int, second: Int) -> SuiteProgram {
    SuiteProgram(name, "the first of two values is set and the second is not yet") {
      let (lockOne, lockTwo) = (Lock("lock of one"), Lock("lock of two"))
      let (one, two) = (Variable(0, "one"), Variable(0, "two"))
      let writing = bodies(first, "writer") { _ in
        lockOne.lock()
        one.write(1)
        lockOne.unlock()
        lockTwo.lock()
        two.write(one.read() + 1)
        lockTwo.unlock()
      }
      let reading = bodies(second, "reader") { _ in
        lockOne.lock()
        let seenOne = one.read()
        lockOne.unlock()
        if seenOne == 0 { return }
        lockTwo.lock()
        let seenTwo = two.read()
        lockTwo.unlock()
        check(seenTwo == seenOne + 1, "one is \(seenOne) and two is \(seenTwo)")
      }
      runThreads(writing + reading)
    }
  }

  /// One thread has a lock, the others change the same variable with another one.
  private static func wrongLock(_ name: String, others: Int) -> SuiteProgram {
    SuiteProgram(name, "a variable is changed with the wrong lock") {
      let (right, wrong) = (Lock("right"), Lock("wrong"))
      let data = Variable(0, "data")
      let first = bodies(1, "first") { _ in
        right.lock()
        let seen = data.read()
        data.change(by: 1)
        let now = data.read()
        check(now == seen + 1, "data goes from \(seen) to \(now)")
        right.unlock()
      }
      let others = bodies(others, "other") { _ in
        wrong.lock()
        data.change(by: 1)
        wrong.unlock()
      }
      runThreads(first + others)
    }
  }
}
