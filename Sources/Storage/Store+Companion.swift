// What a layer above keeps once a store: this layer does not know its type.
internal import Platform

/// What a layer above keeps for a store, and what it has to be told.
package protocol StoreCompanion: AnyObject, Sendable {
  /// Idle work is about to make a version with the content of the one before.
  ///
  /// Called under the write lock, before anyone can see the version.
  func willTidy(from base: Version, to version: Version)
}

extension Store {
  /// What the layer above keeps for this store; made at the first call.
  ///
  /// - Precondition: all callers ask for the same class.
  package func companion<Companion: StoreCompanion>(_ make: () -> Companion) -> Companion {
    companion.withLock { companion in
      if let companion { return unsafeDowncast(companion, to: Companion.self) }
      let made = make()
      companion = made
      return made
    }
  }

  /// Lets the layer above know of a version that changes nothing.
  func announceTidying(_ transaction: WriteTransaction) {
    guard let known = companion.withLock({ $0 }) else { return }
    let (base, version) = (transaction.base.version, transaction.version)
    transaction.willBecomeVisible = { known.willTidy(from: base, to: version) }
  }
}
