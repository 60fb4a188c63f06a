// The ring of pins that a run keeps on purpose.
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct PinRingTests {
  private static func pin(_ version: UInt64) -> KeptPin<ModelPin> {
    KeptPin(
      pin: ModelPin(engine: ModelEngine(), state: ModelVersion(number: version, rows: [])),
      rows: [])
  }

  private static func versions(_ pins: [KeptPin<ModelPin>]) -> Set<UInt64> {
    Set(pins.map(\.pin.version))
  }

  @Test func theOrderOfReleaseSaysWhichGoes() {
    for (release, gone) in [(ReleaseOrder.oldest, 1), (.newest, 3)] as [(ReleaseOrder, UInt64)] {
      let ring = PinRing<ModelPin>(capacity: 3, release: release)
      for version in 1...4 as ClosedRange<UInt64> { #expect(ring.keep(Self.pin(version))) }
      #expect(ring.waiting == 1)
      #expect(ring.takeRetired()?.pin.version == gone)
      #expect(ring.takeRetired() == nil && ring.waiting == 0)
    }
  }

  /// A writer that is between its commit and its pin when the others let go.
  @Test func aClosedRingKeepsNothing() {
    let ring = PinRing<ModelPin>(capacity: 2)
    for version in 1...3 as ClosedRange<UInt64> { #expect(ring.keep(Self.pin(version))) }
    #expect(Self.versions(ring.close()) == [1, 2, 3])
    #expect(!ring.keep(Self.pin(4)))
    #expect(ring.waiting == 0 && ring.close().isEmpty)
  }
}
