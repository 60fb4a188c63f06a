// References that are made in a running transaction. What the transaction has made has no frozen
// form before it is committed; so the live value waits in its place, and becomes a frozen one when
// the transaction ends.
internal import Platform

/// A value of a running transaction, on its way to other places.
final class PendingReference: @unchecked Sendable {
  // @unchecked: the live value is only used in its Realm's place, elsewhere it is at most let go; a
  // frozen one may be used anywhere.
  private enum Content {
    /// The transaction runs.
    case live(any ThreadConfined)
    /// It was committed, or the value was there before it.
    case frozen(any ThreadConfined)
    /// The value was deleted, or rolled back.
    case gone
  }

  private let content: Monitor<Carried<Content>>

  /// - Parameter value: belongs to a Realm that is in a transaction, in the place of the caller.
  init(_ value: any ThreadConfined, of realm: ConfinedRealm) {
    content = Monitor(Carried(.live(value)))
    let box = WeakBox<PendingReference>()
    box.value = self
    realm.unsettledReferences.append(box)
  }

  /// The transaction has ended; called in the Realm's place.
  fileprivate func settle() {
    guard case .live(let value) = content.withLock({ $0 }).value else { return }
    let settled = Carried<Content>(value.isInvalidated ? .gone : .frozen(value.hiddenForm()))
    content.withLock { $0 = settled }
  }

  /// The live value in a Realm; nil when it is not there, or not to be seen there yet.
  func value<Value: ThreadConfined>(_: Value.Type, in target: ConfinedRealm) -> Value? {
    switch content.withLock({ $0 }).value {
    case .live(let value):
      guard value.realm?.confined === target, !value.isInvalidated else { return nil }
      return value as? Value
    case .frozen(let value): return (value as? Value).flatMap { target.live($0) }
    case .gone: return nil
    }
  }

  /// The same for an object.
  func object(in target: ConfinedRealm) -> ObjectBase? {
    switch content.withLock({ $0 }).value {
    case .live(let value):
      guard value.realm?.confined === target, !value.isInvalidated else { return nil }
      return value as? ObjectBase
    case .frozen(let value):
      guard let object = value as? ObjectBase, let source = object._realm,
        target.advance(toThatOf: source)
      else { return nil }
      return target.receiving { object.thaw() }
    case .gone: return nil
    }
  }

  /// What a wrapper keeps of the value.
  enum Standing<Value> {
    case live(Value)
    case frozen(Value)
    case gone
  }

  /// The value where the caller runs; there is none of a transaction that runs elsewhere.
  func standing<Value: ThreadConfined>(_: Value.Type) -> Standing<Value>? {
    switch content.withLock({ $0 }).value {
    case .live(let value):
      // Its Realm never changes, so that this may be asked anywhere.
      guard let realm = value.realm?.confined, realm.confinement.isHere else { return nil }
      return value.isInvalidated ? .gone : (value as? Value).map { .live($0) }
    case .frozen(let value): return (value as? Value).map { .frozen($0) }
    case .gone: return .gone
    }
  }
}

extension ConfinedRealm {
  /// The transaction has ended: what was referred to in it is what the Realm shows now.
  func settleReferences() {
    if unsettledReferences.isEmpty { return }
    let references = unsettledReferences
    unsettledReferences = []
    for reference in references { reference.value?.settle() }
  }
}
