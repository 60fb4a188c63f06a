// How the coordinator of a run and its threads keep step.
import Harness
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct RunControlTests {
  /// A thread that waits at the end of a phase's budget, seen by the coordinator.
  private func waiter(_ control: RunControl, after phase: Phase) -> Thread {
    let thread = Thread.start(name: "waiter") { control.waitForNextPhase(after: phase) }
    #expect(eventually { control.areWaiting(threads: 1) })
    return thread
  }

  /// Otherwise the new phase would end at once.
  @Test func nobodyWaitsInAPhaseThatHasJustBegun() {
    // A thread may wake at once: not in every round.
    for _ in 0..<50 {
      let control = RunControl()
      control.begin(.measure, at: 1, operations: 1)
      let thread = waiter(control, after: .measure)
      control.begin(.recover, at: 2)
      #expect(!control.areWaiting(threads: 1))
      thread.joinInTime()
    }
  }

  @Test func aStopEndsTheWaiting() {
    let control = RunControl()
    control.begin(.measure, at: 1, operations: 1)
    let thread = waiter(control, after: .measure)
    control.stop()
    thread.joinInTime()
    // One that comes after the stop does not wait either.
    control.waitForNextPhase(after: .measure)
    #expect(control.epoch.phase == nil)
  }
}
