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

  private static func fill(_ ring: PinRing<ModelPin>, _ versions: ClosedRange<UInt64>) {
    for version in versions { #expect(ring.keep(pin(version))?.isEmpty == true) }
  }

  @Test func theOrderOfReleaseSaysWhichGoes() throws {
    for (release, gone) in [(ReleaseOrder.oldest, 1), (.newest, 3)] as [(ReleaseOrder, UInt64)] {
      let ring = PinRing<ModelPin>(capacity: 3, release: release)
      Self.fill(ring, 1...3)
      let left = try #require(ring.keep(Self.pin(4)))
      #expect(left.map(\.pin.version) == [gone])
      #expect(ring.count == 3)
    }
  }

  @Test func aPinLeavesAndIsReadAgainOnceWhateverTheOrder() throws {
    for release in [ReleaseOrder.oldest, .newest, .random] {
      let ring = PinRing<ModelPin>(capacity: 3, release: release)
      Self.fill(ring, 1...3)
      var verified: [UInt64] = []
      for version in 4...40 as ClosedRange<UInt64> {
        // A reader is there for every second one.
        if version % 2 == 0, ring.hasOneDue, let due = ring.takeDue() {
          verified.append(due.pin.version)
          #expect(!ring.hasOneDue && ring.takeDue() == nil)
        }
        verified += try #require(ring.keep(Self.pin(version))).map(\.pin.version)
      }
      let kept = Self.versions(ring.close())
      #expect(kept.count == 3)
      #expect(verified.count == Set(verified).count)
      #expect(Set(verified).union(kept) == Set(1...40))
    }
  }

  /// What waits to be read again would hold space beside the pins that were asked for.
  @Test func nothingIsHeldBesideTheKeptPins() throws {
    let ring = PinRing<ModelPin>(capacity: 2)
    weak var oldest: ModelEngine?
    do {
      let engine = ModelEngine()
      oldest = engine
      let pin = ModelPin(engine: engine, state: ModelVersion(number: 1, rows: []))
      #expect(ring.keep(KeptPin(pin: pin, rows: [])) != nil)
    }
    #expect(ring.keep(Self.pin(2)) != nil)
    #expect(oldest != nil)
    #expect(ring.keep(Self.pin(3)) != nil)
    #expect(oldest == nil)
  }

  /// A writer that is between its commit and its pin when the others let go.
  @Test func aClosedRingKeepsNothing() {
    let ring = PinRing<ModelPin>(capacity: 2)
    Self.fill(ring, 1...2)
    #expect(ring.keep(Self.pin(3))?.count == 1)
    #expect(Self.versions(ring.close()) == [2, 3])
    #expect(ring.keep(Self.pin(4)) == nil)
    #expect(!ring.hasOneDue && ring.close().isEmpty)
  }
}
