// What a layer above keeps once a store: this layer does not know its type.
internal import Platform

extension Store {
  /// What the layer above keeps for this store; made at the first call.
  ///
  /// - Precondition: all callers ask for the same class.
  package func companion<Companion: AnyObject & Sendable>(_ make: () -> Companion) -> Companion {
    companion.withLock { companion in
      if let companion { return unsafeDowncast(companion, to: Companion.self) }
      let made = make()
      companion = made
      return made
    }
  }
}
