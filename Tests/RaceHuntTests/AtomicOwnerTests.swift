// Words whose value owns something.
import RaceHunt
import Synchronization
import TestSupport
import Testing

private final class Owned: Sendable {
  let ends: @Sendable () -> Void
  init(_ ends: @escaping @Sendable () -> Void) { self.ends = ends }
  deinit { ends() }
}

/// Owns an object as long as it is encoded.
private struct Owner: AtomicRepresentable {
  let object: Owned
  typealias AtomicRepresentation = Unmanaged<Owned>.AtomicRepresentation

  static func encodeAtomicRepresentation(_ value: consuming Owner) -> AtomicRepresentation {
    Unmanaged.encodeAtomicRepresentation(Unmanaged.passRetained(value.object))
  }

  static func decodeAtomicRepresentation(
    _ representation: consuming AtomicRepresentation
  ) -> Owner {
    Owner(object: Unmanaged.decodeAtomicRepresentation(representation).takeRetainedValue())
  }
}

@Suite(.ownThreads) struct AtomicOwnerTests {
  @Test func whatAValueOwnsIsGivenBackWithTheWord() {
    let ended = RaceHunt.Atomic(0)
    do {
      let word = RaceHunt.Atomic(Owner(object: Owned { ended.add(1) }))
      _ = word.exchange(Owner(object: Owned { ended.add(1) }))
      #expect(ended.load() == 1)
    }
    #expect(ended.load() == 2)
  }
}
