import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct ThreadEndTests {
  @Test func theFirstBodyIsCalledOnTheThreadThatEnds() {
    let calls = Monitor<[String]>([])
    let token = Monitor<ThreadToken?>(nil)
    Thread.start(name: "ends") {
      token.withLock { $0 = ThreadToken.current }
      #expect(
        ThreadEnd.notify { ended in
          let isSame = ended == token.withLock { $0 } && ended == .current
          calls.withLock { $0.append("first \(isSame)") }
        })
      #expect(ThreadEnd.notify { _ in calls.withLock { $0.append("second") } })
      #expect(calls.withLock { $0.isEmpty })
    }.joinInTime()
    #expect(calls.withLock { $0 } == ["first true"])
  }

  @Test func aTaskHasEndedWhenNobodyHoldsIt() async {
    let seen = Monitor<TaskReference?>(nil)
    var task: Task<Void, Never>? = Task.detached {
      #expect(TaskReference.isInTask)
      let reference = TaskReference.current
      seen.withLock { $0 = reference }
      #expect(reference?.hasEnded == false)
    }
    await task?.value
    let reference = seen.withLock { $0 }
    #expect(reference != nil && reference?.hasEnded == false)
    task = nil
    // The runtime lets go of it a moment after its last line.
    #expect(await eventually(yielding: { reference?.hasEnded == true }))
    async let child = TaskReference.current == nil
    // It may lie in the memory of this task.
    #expect(await child)
  }
}
