// References that do not keep an object alive and do not slow down those that do. Swift's `weak`
// gives an object a side table, after which each retain and release of it takes several times as
// long. Unlike `Unmanaged.retain()`, it is a call that the optimiser knows nothing about: it
// happens where it is written, before any store that follows.

/// The object, unless its last strong reference is gone.
///
/// - Precondition: the object's memory is not freed yet: its `deinit` has not returned, or an
///   `unowned` reference to it lives.
package func retainIfAlive<Value: AnyObject>(_ reference: Unmanaged<Value>) -> Value? {
  guard let retained = shim_try_retain(reference.toOpaque()) else { return nil }
  return Unmanaged<Value>.fromOpaque(retained).takeRetainedValue()
}

/// A reference that does not keep its object, for a closure that may outlive it.
package final class LaterReference<Value: AnyObject & Sendable>: Sendable {
  /// Keeps the memory of the object, not the object.
  private unowned let memory: Value
  private let reference: Unmanaged<Value>

  package init(_ object: Value) {
    memory = object
    reference = .passUnretained(object)
  }

  /// The object, unless its last strong reference is gone.
  package var object: Value? { retainIfAlive(reference) }
}
