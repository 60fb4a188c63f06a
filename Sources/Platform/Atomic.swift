// Every atomic access of the engine goes through this type, as every lock, wait and thread start
// goes through Synchronization.swift: the two files are where the controlled scheduler fits in.
// Without its trait each call is the standard module's.
public import Synchronization

#if CONTROLLED_SCHEDULING
  public import RaceHunt
#endif

/// When a load becomes visible, relative to other memory.
@frozen @usableFromInline
package enum LoadOrdering { case relaxed, acquiring, sequentiallyConsistent }

/// When a store becomes visible, relative to other memory.
@frozen @usableFromInline
package enum StoreOrdering { case relaxed, releasing, sequentiallyConsistent }

/// When a load together with a store becomes visible, relative to other memory.
@frozen @usableFromInline
package enum UpdateOrdering {
  case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent
}

/// What fits into an atomic word.
@usableFromInline
package protocol AtomicWord {
  init(atomicBits: UInt64)
  var atomicBits: UInt64 { get }
}

extension UInt64: AtomicWord {
  @inlinable package init(atomicBits: UInt64) { self = atomicBits }
  @inlinable package var atomicBits: UInt64 { self }
}

extension Int: AtomicWord {
  @inlinable package init(atomicBits: UInt64) { self.init(truncatingIfNeeded: atomicBits) }
  @inlinable package var atomicBits: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension UInt: AtomicWord {
  @inlinable package init(atomicBits: UInt64) { self.init(atomicBits) }
  @inlinable package var atomicBits: UInt64 { UInt64(self) }
}

extension Bool: AtomicWord {
  @inlinable package init(atomicBits: UInt64) { self = atomicBits != 0 }
  @inlinable package var atomicBits: UInt64 { self ? 1 : 0 }
}

/// A word that threads, or processes that share its memory, read and write without locks.
@frozen @usableFromInline
package struct Atomic<Value: AtomicWord>: ~Copyable {
  @usableFromInline let word: Synchronization.Atomic<UInt64>

  @inlinable package init(_ value: Value) { word = Synchronization.Atomic(value.atomicBits) }

  @inlinable @inline(__always)
  package func load(ordering: LoadOrdering) -> Value {
    #if CONTROLLED_SCHEDULING
      Control.touch()
    #endif
    return switch ordering {
    case .relaxed: Value(atomicBits: word.load(ordering: .relaxed))
    case .acquiring: Value(atomicBits: word.load(ordering: .acquiring))
    case .sequentiallyConsistent: Value(atomicBits: word.load(ordering: .sequentiallyConsistent))
    }
  }

  /// A relaxed load that is no step of an explored schedule.
  ///
  /// For looks at words that no thread of an exploration changes, and at many words whose result
  /// changes only how much work is done.
  @inlinable @inline(__always)
  package func peek() -> Value { Value(atomicBits: word.load(ordering: .relaxed)) }

  @inlinable @inline(__always)
  package func store(_ value: Value, ordering: StoreOrdering) {
    #if CONTROLLED_SCHEDULING
      Control.touch()
    #endif
    let bits = value.atomicBits
    switch ordering {
    case .relaxed: word.store(bits, ordering: .relaxed)
    case .releasing: word.store(bits, ordering: .releasing)
    case .sequentiallyConsistent: word.store(bits, ordering: .sequentiallyConsistent)
    }
  }

  /// Stores a value and returns the one before.
  @inlinable @inline(__always)
  package func exchange(_ value: Value, ordering: UpdateOrdering) -> Value {
    #if CONTROLLED_SCHEDULING
      Control.touch()
    #endif
    let bits = value.atomicBits
    let old =
      switch ordering {
      case .relaxed: word.exchange(bits, ordering: .relaxed)
      case .acquiring: word.exchange(bits, ordering: .acquiring)
      case .releasing: word.exchange(bits, ordering: .releasing)
      case .acquiringAndReleasing: word.exchange(bits, ordering: .acquiringAndReleasing)
      case .sequentiallyConsistent: word.exchange(bits, ordering: .sequentiallyConsistent)
      }
    return Value(atomicBits: old)
  }

  /// Stores `desired` if the value is `expected`.
  ///
  /// - Returns: whether it was, and what it was.
  @inlinable @inline(__always)
  package func compareExchange(
    expected: Value, desired: Value, ordering: UpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    #if CONTROLLED_SCHEDULING
      Control.touch()
    #endif
    let (old, new) = (expected.atomicBits, desired.atomicBits)
    let result =
      switch ordering {
      case .relaxed: word.compareExchange(expected: old, desired: new, ordering: .relaxed)
      case .acquiring: word.compareExchange(expected: old, desired: new, ordering: .acquiring)
      case .releasing: word.compareExchange(expected: old, desired: new, ordering: .releasing)
      case .acquiringAndReleasing:
        word.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
      case .sequentiallyConsistent:
        word.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent)
      }
    return (result.exchanged, Value(atomicBits: result.original))
  }
}

// @unchecked: its only field is Sendable under the same condition.
extension Atomic: @unchecked Sendable where Value: Sendable {}

extension Atomic where Value: FixedWidthInteger & AtomicWord {
  /// Replaces the value by what `change` makes of it.
  @inlinable @inline(__always)
  func update(
    _ ordering: UpdateOrdering, _ change: (Value) -> Value
  ) -> (oldValue: Value, newValue: Value) {
    var old = load(ordering: .relaxed)
    while true {
      let new = change(old)
      let result = compareExchange(expected: old, desired: new, ordering: ordering)
      if result.exchanged { return (old, new) }
      old = result.original
    }
  }

  /// Adds; stops on overflow.
  @discardableResult @inlinable @inline(__always)
  package func add(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { $0 + operand }
  }

  /// Adds, and begins anew at the least value on overflow.
  ///
  /// For memory that others can write to, whose content must stop nobody.
  @discardableResult @inlinable @inline(__always)
  package func addWrapping(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { $0 &+ operand }
  }

  /// Subtracts; stops on overflow.
  @discardableResult @inlinable @inline(__always)
  package func subtract(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { $0 - operand }
  }

  @discardableResult @inlinable @inline(__always)
  package func bitwiseOr(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { $0 | operand }
  }

  @discardableResult @inlinable @inline(__always)
  package func bitwiseAnd(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { $0 & operand }
  }

  /// Raises the value to the operand, if it is less.
  @discardableResult @inlinable @inline(__always)
  package func max(
    _ operand: Value, ordering: UpdateOrdering
  ) -> (oldValue: Value, newValue: Value) {
    update(ordering) { Swift.max($0, operand) }
  }
}
