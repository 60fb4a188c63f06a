// What atomic words of numbers and truth values can do as one step.
public import CRaceHunt
public import Synchronization

extension Atomic where Value: FixedWidthInteger {
  /// One step of the processor where it has one for words of this size.
  @inlinable @inline(__always)
  func change(
    _ operation: EventKind, _ operand: Value, _ ordering: AtomicUpdateOrdering,
    _ file: StaticString, _ line: UInt,
    _ step: (UnsafeMutableRawPointer, Int, race_hunt_bits, Int32) -> race_hunt_bits,
    _ result: (Value, Value) -> Value
  ) -> (oldValue: Value, newValue: Value) {
    if Self.size > 8 {
      return replace(operation, ordering, file, line) { result($0, operand) }
    }
    let isExplored = passesPoint(file, line)
    let old = Self.value(
      step(UnsafeMutableRawPointer(word._address), Self.size, Self.bits(operand), ordering.order))
    let new = result(old, operand)
    if isExplored { note(operation, Self.bits(new), file, line) }
    return (old, new)
  }

  @inlinable @inline(__always)
  func replace(
    _ operation: EventKind, _ ordering: AtomicUpdateOrdering, _ file: StaticString, _ line: UInt,
    _ result: (Value) -> Value
  ) -> (oldValue: Value, newValue: Value) {
    let (old, new) = update(operation, ordering, file, line) { Self.bits(result(Self.value($0))) }
    return (Self.value(old), Self.value(new))
  }

  /// Adds, without regard to overflow.
  @discardableResult @inlinable
  public func wrappingAdd(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    change(.adds, operand, ordering, file, line, race_hunt_add) { $0 &+ $1 }
  }

  /// Subtracts, without regard to overflow.
  @discardableResult @inlinable
  public func wrappingSubtract(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    change(.subtracts, 0 &- operand, ordering, file, line, race_hunt_add) { $0 &+ $1 }
  }

  /// Adds; stops on overflow.
  @discardableResult @inlinable
  public func add(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(.adds, ordering, file, line) { $0 + operand }
  }

  /// Subtracts; stops on overflow.
  @discardableResult @inlinable
  public func subtract(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(.subtracts, ordering, file, line) { $0 - operand }
  }

  /// Keeps the bits that the operand has.
  @discardableResult @inlinable
  public func bitwiseAnd(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    change(.changes, operand, ordering, file, line, race_hunt_and) { $0 & $1 }
  }

  /// Sets the bits that the operand has.
  @discardableResult @inlinable
  public func bitwiseOr(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    change(.changes, operand, ordering, file, line, race_hunt_or) { $0 | $1 }
  }

  /// Turns the bits that the operand has.
  @discardableResult @inlinable
  public func bitwiseXor(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    change(.changes, operand, ordering, file, line, race_hunt_xor) { $0 ^ $1 }
  }

  /// Lowers the value to the operand, if it is more.
  @discardableResult @inlinable
  public func min(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(.changes, ordering, file, line) { Swift.min($0, operand) }
  }

  /// Raises the value to the operand, if it is less.
  @discardableResult @inlinable
  public func max(
    _ operand: Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Value, newValue: Value) {
    replace(.changes, ordering, file, line) { Swift.max($0, operand) }
  }
}

extension Atomic where Value == Bool {
  @inlinable @inline(__always)
  func replace(
    _ ordering: AtomicUpdateOrdering, _ file: StaticString, _ line: UInt, _ result: (Bool) -> Bool
  ) -> (oldValue: Bool, newValue: Bool) {
    let (old, new) = update(.changes, ordering, file, line) {
      Self.bits(result(Self.value($0)))
    }
    return (Self.value(old), Self.value(new))
  }

  /// Keeps true only if the operand is.
  @discardableResult @inlinable
  public func logicalAnd(
    _ operand: Bool, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Bool, newValue: Bool) { replace(ordering, file, line) { $0 && operand } }

  /// Makes it true if the operand is.
  @discardableResult @inlinable
  public func logicalOr(
    _ operand: Bool, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Bool, newValue: Bool) { replace(ordering, file, line) { $0 || operand } }

  /// Turns it if the operand is true.
  @discardableResult @inlinable
  public func logicalXor(
    _ operand: Bool, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (oldValue: Bool, newValue: Bool) { replace(ordering, file, line) { $0 != operand } }
}

/// An object that is made when it is first asked for: `Synchronization.AtomicLazyReference`.
public final class AtomicLazyReference<Instance: AnyObject> {
  private let reference: Atomic<Unmanaged<Instance>?>

  /// Makes one without an object; the name stands in tables of schedules.
  public init(name: String? = nil) { reference = Atomic(nil, name: name) }

  deinit { unobserved(reference)?.release() }

  /// Sets the object if there is none yet; the one that is there then.
  public func storeIfNil(
    _ desired: consuming Instance, file: StaticString = #fileID, line: UInt = #line
  ) -> Instance {
    let mine = Unmanaged.passRetained(desired)
    let (isExchanged, original) = reference.compareExchange(
      expected: nil, desired: mine, ordering: .acquiringAndReleasing, file: file, line: line)
    guard !isExchanged, let original else { return mine.takeUnretainedValue() }
    mine.release()
    return original.takeUnretainedValue()
  }

  /// The object, if there is one.
  public func load(file: StaticString = #fileID, line: UInt = #line) -> Instance? {
    reference.load(ordering: .acquiring, file: file, line: line)?.takeUnretainedValue()
  }
}

/// The value without a point: nobody else can reach it.
private func unobserved<Instance: AnyObject>(
  _ reference: Atomic<Unmanaged<Instance>?>
) -> Unmanaged<Instance>? {
  Atomic<Unmanaged<Instance>?>.value(race_hunt_load(reference.word._address, 8, 5))
}

// @unchecked: the reference is accessed by atomic operations only, and never changes once set.
extension AtomicLazyReference: @unchecked Sendable where Instance: Sendable {}
