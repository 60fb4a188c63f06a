// Where code runs: main thread and main actor, queues, actors, run loops.
import Dispatch
import Foundation
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct ExecutionPlaceTests {
  private actor Plain {
    var executor: ExecutorIdentity { ExecutorIdentity(unownedExecutor) }
    func isHere() -> Bool { ExecutorIdentity(unownedExecutor).isCurrent }
    func isHere(_ other: ExecutorIdentity) -> Bool { other.isCurrent }
    func current() -> ExecutorIdentity? { .current }
  }

  @Test func anActorKnowsItsJobs() async {
    let first = Plain()
    let second = Plain()
    #expect(await first.isHere())
    #expect(await first.current() == first.executor)
    let other = await second.executor
    #expect(await !first.isHere(other))
    #expect(!other.isCurrent)
    #expect(ExecutorIdentity.current == nil)
  }

  @Test @MainActor func theMainActorIsKnown() {
    #expect(ExecutorIdentity.main.isCurrent)
    #expect(ExecutorIdentity.current == .main)
  }

  @Test func aQueueKnowsItsBlocks() {
    let queue = DispatchQueue(label: "first")
    let target = DispatchQueue(label: "second", target: queue)
    let mark = QueueMark(queue)
    #expect(!mark.isHere)
    #expect(queue.sync { mark.isHere })
    #expect(target.sync { mark.isHere })
    #expect(DispatchQueue(label: "third").sync { !mark.isHere })
    #expect(queue.sync { currentQueueLabel } == "first")
  }

  @Test func blocksOfTheMainQueueAreKnown() async {
    let isHere = await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume(returning: QueueMark.main.isHere) }
    }
    #expect(isHere && !QueueMark.main.isHere)
  }

  @Test func theMainQueueIsKnown() {
    #expect(DispatchQueue.main.isMain && !DispatchQueue.global().isMain)
  }

  @Test func widthsAreRead() {
    #expect(DispatchQueue.main.isSerial == true)
    #expect(DispatchQueue(label: "serial").isSerial == true)
    let target = DispatchQueue(label: "target")
    #expect(DispatchQueue(label: "serial", target: target).isSerial == true)
    #expect(DispatchQueue(label: "concurrent", attributes: .concurrent).isSerial == false)
    #expect(DispatchQueue.global().isSerial == false)
    #expect(DispatchQueue.global(qos: .background).isSerial == false)
    // A busy queue's word holds more than its width.
    let busy = DispatchQueue(label: "busy")
    #expect(busy.sync { busy.isSerial == true })
  }

  @Test func aRunLoopIsSeenWhileItRuns() {
    let thread = Platform.Thread.start(name: "loop") {
      #expect(runningRunLoop == nil)
      nonisolated(unsafe) var seen: UInt?
      // Runs as soon as the loop does.
      RunLoop.current.perform {
        seen = runningRunLoop
      }
      RunLoop.current.run(until: Date())
      #expect(seen != nil && runningRunLoop == nil)
    }
    thread.joinInTime()
  }
}
