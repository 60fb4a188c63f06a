// Values that only pass through other threads.

/// A value on its way through other threads, or through a lock, to where it may be used.
struct Carried<Value>: @unchecked Sendable {
  // @unchecked: whoever passes it on only holds it; it is used where it was made for (a mailbox
  // runs its jobs in the Realm's place), or never changes.
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// Lets a closure refer to what holds it, without keeping it alive.
final class WeakBox<Object: AnyObject> {
  weak var value: Object?
}
