// An object that a thread has used last, found again without a lock or a look-up, and not kept
// alive.

/// What the calling thread has remembered, one object a thread.
///
/// Of the object only its memory is kept, until the thread remembers another one or ends.
package enum RememberedObject {
  /// Remembers an object, in the place of the one before.
  package static func set(_ object: AnyObject) {
    shim_remember(Unmanaged.passUnretained(object).toOpaque())
  }

  /// The remembered object, unless there is none or its last strong reference is gone.
  ///
  /// - Precondition: every `set` of the process is given objects of this class.
  /// - Complexity: one thread-local load and one retain.
  @inline(__always)
  package static func find<Value: AnyObject>(_: Value.Type) -> Value? {
    guard let address = shim_remembered() else { return nil }
    // The memory is there: this thread keeps it.
    return retainIfAlive(Unmanaged<Value>.fromOpaque(address))
  }
}
