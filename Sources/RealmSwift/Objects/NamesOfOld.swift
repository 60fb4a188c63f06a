// What older client code names and this version does not have: it does not compile, and the
// compiler names what to write instead. Functions that classes override stand in ObjectBase.swift.

/// Objects that are only sent to a server.
@available(*, unavailable, message: "There is no synchronisation. Use 'Object'.")
nonisolated open class AsymmetricObject: ObjectBase {
  /// It holds nothing.
  override open class func shouldIncludeInDefaultSchema() -> Bool { false }
}
