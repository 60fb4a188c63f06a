// References that carry confined values to other places. Inside they are frozen values: immutable,
// so any thread may hold them, and made live again in the Realm that resolves them; see
// ValueReference.swift.

/// Carries a confined value to another thread, queue or actor.
///
/// Make it where the value may be used, resolve it once with `Realm.resolve` where it shall be used
/// next. The file keeps the value's version until the reference is resolved or released.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  @usableFromInline let reference: _ValueReference

  /// A reference to a value.
  ///
  /// Stops when the value belongs to no Realm, was deleted or invalidated, or may not be used here.
  @inlinable
  public init(to threadConfined: Confined) { reference = threadConfined._makeReference() }

  /// Whether the reference was resolved already.
  public var isInvalidated: Bool { reference.isTaken }
}

extension Realm {
  /// The live value of a reference in this Realm; nil when it was deleted, or is of another file.
  ///
  /// Moves the Realm to the reference's version at least. Stops when the reference was resolved
  /// before.
  @inlinable
  public func resolve<Confined: ThreadConfined>(
    _ reference: ThreadSafeReference<Confined>
  ) -> Confined? { Confined._resolve(reference.reference, in: self) }
}
