// Locks of the simulated disk that others are tested with.
internal import Platform
internal import Simulation
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct SimulatedLockTests {
  /// Nobody could give back what a dead process has locked.
  @Test(arguments: [false, true]) func whoIsKilledInTheCallLocksNothing(waits: Bool) throws {
    let disk = SimulatedDisk()
    let systems = (0..<2).map { FaultFileSystem(disk, process: $0) }
    let files = try systems.map { try $0.open("/data/a", [.writable, .create]) }
    systems[0].hold(.lockByte)
    let dying = files[0]
    let caller = Thread.start(name: "caller") {
      #expect(throws: SystemError.self) {
        _ = try dying.lockByte(7, exclusive: true, wait: waits)
      }
    }
    #expect(
      systems[0].wait(untilHeld: .lockByte, count: 1, nanoseconds: waitLimitNanoseconds))
    systems[0].kill()
    caller.joinInTime()
    #expect(try files[1].lockByte(7, exclusive: true, wait: false))
  }
}
