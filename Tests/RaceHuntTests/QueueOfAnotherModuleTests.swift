// A module of this package that knows Dispatch's queues only, as the engine does, reaches those of
// an explored program by them.
import Dispatch
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct QueueOfAnotherModuleTests {
  @Test func itsWorkRunsInTheQueueOfTheProgram() throws {
    try explore(iterations: 200) {
      let queue = RaceHunt.DispatchQueue(label: "files")
      let key = DispatchSpecificKey<Bool>()
      queue.real.setSpecific(key: key, value: true)
      let count = RaceHunt.Mutex(0)
      for _ in 0..<2 {
        let isTaken = Control.async(on: queue.real, isMain: false) {
          check(Control.isOnQueue(with: key) == true, "the work runs elsewhere")
          let seen = count.withLock { $0 }
          count.withLock { $0 = seen + 1 }
        }
        check(isTaken, "the queue is not found")
      }
      check(Control.isOnQueue(with: key) == false, "the program runs in the queue")
      queue.sync {}
      check(count.withLock { $0 } == 2, "work of a serial queue runs beside other work")
    }
  }

  @Test func aQueueThatIsNotTheProgramsIsLeftAlone() throws {
    let key = DispatchSpecificKey<Bool>()
    let queue = Dispatch.DispatchQueue(label: "of the system")
    #expect(!Control.async(on: queue, isMain: false) {})
    #expect(Control.isOnQueue(with: key) == nil)
    try explore(iterations: 10) {
      check(!Control.async(on: queue, isMain: false) {}, "a queue of the system is taken")
      let gone = RaceHunt.DispatchQueue(label: "gone").real
      check(!Control.async(on: gone, isMain: false) {}, "a queue that is gone is taken")
    }
  }

  @Test func theMainQueueIsThatOfTheProgram() throws {
    try explore(iterations: 50) {
      let hasRun = RaceHunt.DispatchSemaphore(value: 0)
      let isTaken = Control.async(on: Dispatch.DispatchQueue.main, isMain: true) {
        RaceHunt.dispatchPrecondition(condition: .onQueue(RaceHunt.DispatchQueue.main))
        hasRun.signal()
      }
      check(isTaken, "the main queue is not found")
      hasRun.wait()
    }
  }
}
