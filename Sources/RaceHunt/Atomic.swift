// A word for explored programs, with the names of the module Synchronization.
public import CRaceHunt
public import Synchronization

/// A word that threads read and write without locks: `Synchronization.Atomic`, by its names.
///
/// In an explored program each access is a point. Explored are the orders of accesses (sequential
/// consistency), not what weaker orders would allow. Outside of explorations each access is the
/// processor's, with the order that is asked for.
public final class Atomic<Value: AtomicRepresentable> {
  @usableFromInline let word: _Cell<Value.AtomicRepresentation>
  private let name: String?
  private let home: UInt64

  /// Makes a word; the name stands in tables of schedules.
  public init(_ initialValue: consuming Value, name: String? = nil) {
    word = _Cell(Value.encodeAtomicRepresentation(initialValue))
    self.name = name
    home = Run.home(UInt(bitPattern: word._address))
  }

  deinit {
    Run.forget(address)
    // What the value owns is given back with it.
    _ = Self.value(race_hunt_load(word._address, Self.size, AtomicLoadOrdering.acquiring.order))
  }

  private var address: UInt { UInt(bitPattern: word._address) }

  @inlinable @inline(__always)
  static var size: Int { MemoryLayout<Value.AtomicRepresentation>.size }

  @inlinable @inline(__always)
  static func bits(_ value: consuming Value) -> race_hunt_bits {
    let representation = Value.encodeAtomicRepresentation(value)
    var bits = race_hunt_bits(low: 0, high: 0)
    withUnsafeMutableBytes(of: &bits) {
      $0.storeBytes(of: representation, as: Value.AtomicRepresentation.self)
    }
    return bits
  }

  @inlinable @inline(__always)
  static func value(_ bits: race_hunt_bits) -> Value {
    withUnsafeBytes(of: bits) {
      Value.decodeAtomicRepresentation($0.loadUnaligned(as: Value.AtomicRepresentation.self))
    }
  }

  /// Whether the calling thread is in an explored program; passes a point if so.
  ///
  /// - Parameter writes: whether the order of the step and of a load matters.
  @inlinable @inline(__always)
  func passesPoint(_ file: StaticString, _ line: UInt, writes: Bool = true) -> Bool {
    race_hunt_is_exploring() != 0 && passPoint(file, line, writes)
  }

  @usableFromInline
  func passPoint(_ file: StaticString, _ line: UInt, _ writes: Bool) -> Bool {
    guard
      let (run, _) = Run.current(home, "another thread uses an Atomic at", file, line)
    else { return false }
    run.point(.accesses(run.resource(address, .atomic, name: name), writes: writes))
    return true
  }

  @usableFromInline
  func note(_ operation: EventKind, _ bits: race_hunt_bits, _ file: StaticString, _ line: UInt) {
    guard let (run, strand) = Run.current else { return }
    if !operation.isLook { run.changeCount += 1 }
    let word = run.resource(address, .atomic, name: name)
    var value = Int(truncatingIfNeeded: bits.low)
    if Value.self is any SignedInteger.Type && Self.size < 8 {
      let unused = 64 - Self.size * 8
      value = (value << unused) >> unused
    }
    if value != 0 && Value.self is any Pointer.Type {
      value = run.pointerNumber(UInt(bitPattern: value))
    }
    run.record(strand, operation, word.number, value: value, at: Place(file: file, line: line))
  }

  /// The value.
  @inlinable
  public func load(
    ordering: AtomicLoadOrdering = .sequentiallyConsistent, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Value {
    let isExplored = passesPoint(file, line, writes: false)
    let bits = race_hunt_load(word._address, Self.size, ordering.order)
    if isExplored { note(.loads, bits, file, line) }
    return Self.value(bits)
  }

  /// Sets the value.
  @inlinable
  public func store(
    _ desired: consuming Value, ordering: AtomicStoreOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    let isExplored = passesPoint(file, line)
    let bits = Self.bits(desired)
    race_hunt_store(word._address, Self.size, bits, ordering.order)
    if isExplored { note(.stores, bits, file, line) }
  }

  /// Sets the value and returns the one before.
  @inlinable
  public func exchange(
    _ desired: consuming Value, ordering: AtomicUpdateOrdering = .sequentiallyConsistent,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Value {
    let bits = Self.bits(desired)
    return Self.value(update(.exchanges, ordering, file, line) { _ in bits }.old)
  }

  /// Sets the value if it is `expected`; says whether it was, and what it was.
  @inlinable
  public func compareExchange(
    expected: consuming Value, desired: consuming Value,
    ordering: AtomicUpdateOrdering = .sequentiallyConsistent, file: StaticString = #fileID,
    line: UInt = #line
  ) -> (exchanged: Bool, original: Value) {
    replace(expected, desired, ordering, isWeak: false, file, line)
  }

  @inlinable @inline(__always)
  func replace(
    _ expected: consuming Value, _ desired: consuming Value, _ ordering: AtomicUpdateOrdering,
    isWeak: Bool, _ file: StaticString, _ line: UInt
  ) -> (exchanged: Bool, original: Value) {
    let isExplored = passesPoint(file, line)
    let (expected, desired) = (Self.bits(expected), Self.bits(desired))
    if isWeak && isExplored {
      let was = race_hunt_load(word._address, Self.size, AtomicLoadOrdering.acquiring.order)
      if was.low == expected.low && was.high == expected.high && failsForNothing() {
        note(.failsForNothing, was, file, line)
        return (false, Self.value(was))
      }
    }
    let was = race_hunt_compare_exchange(
      word._address, Self.size, expected, desired, ordering.order)
    let isExchanged = was.low == expected.low && was.high == expected.high
    if isExplored {
      note(
        isExchanged ? .comparesAndExchanges : .failsToExchange, isExchanged ? desired : was, file,
        line)
    }
    return (isExchanged, Self.value(was))
  }

  /// As with one ordering, which is the stronger of both here.
  @inlinable
  public func compareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (exchanged: Bool, original: Value) {
    compareExchange(
      expected: expected, desired: desired, ordering: successOrdering.joined(failureOrdering),
      file: file, line: line)
  }

  @usableFromInline
  func failsForNothing() -> Bool { Run.current?.run.happensForNothing() ?? false }

  /// As `compareExchange`, and may fail for nothing.
  @inlinable
  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value,
    ordering: AtomicUpdateOrdering = .sequentiallyConsistent, file: StaticString = #fileID,
    line: UInt = #line
  ) -> (exchanged: Bool, original: Value) {
    replace(expected, desired, ordering, isWeak: true, file, line)
  }

  /// As with one ordering, which is the stronger of both here.
  @inlinable
  public func weakCompareExchange(
    expected: consuming Value, desired: consuming Value,
    successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (exchanged: Bool, original: Value) {
    weakCompareExchange(
      expected: expected, desired: desired, ordering: successOrdering.joined(failureOrdering),
      file: file, line: line)
  }

  /// Replaces the value by what `change` makes of it, as one step.
  @inlinable @inline(__always)
  func update(
    _ operation: EventKind, _ ordering: AtomicUpdateOrdering, _ file: StaticString, _ line: UInt,
    _ change: (race_hunt_bits) -> race_hunt_bits
  ) -> (old: race_hunt_bits, new: race_hunt_bits) {
    let isExplored = passesPoint(file, line)
    var old = race_hunt_load(word._address, Self.size, AtomicLoadOrdering.relaxed.order)
    while true {
      let new = change(old)
      let was = race_hunt_compare_exchange(word._address, Self.size, old, new, ordering.order)
      if was.low == old.low && was.high == old.high {
        if isExplored { note(operation, new, file, line) }
        return (old, new)
      }
      old = was
    }
  }
}

// @unchecked: the word is accessed by atomic operations only.
extension Atomic: @unchecked Sendable where Value: Sendable {}

extension AtomicLoadOrdering {
  /// The compiler's number of the order.
  @inlinable @inline(__always)
  var order: Int32 { self == .relaxed ? 0 : self == .acquiring ? 2 : 5 }
}

extension AtomicStoreOrdering {
  /// The compiler's number of the order.
  @inlinable @inline(__always)
  var order: Int32 { self == .relaxed ? 0 : self == .releasing ? 3 : 5 }
}

extension AtomicUpdateOrdering {
  /// The compiler's number of the order.
  @inlinable @inline(__always)
  var order: Int32 {
    self == .relaxed
      ? 0 : self == .acquiring ? 2 : self == .releasing ? 3 : self == .acquiringAndReleasing ? 4 : 5
  }

  /// An order that is as strong as both.
  @inlinable @inline(__always)
  func joined(_ failure: AtomicLoadOrdering) -> AtomicUpdateOrdering {
    if failure == .sequentiallyConsistent || self == .sequentiallyConsistent {
      return .sequentiallyConsistent
    }
    if failure == .relaxed { return self }
    return self == .relaxed || self == .acquiring ? .acquiring : .acquiringAndReleasing
  }
}

/// A fence between accesses: no point, as the orders of explored programs are the strongest.
@inlinable
public func atomicMemoryFence(ordering: AtomicUpdateOrdering) {
  race_hunt_fence(ordering.order)
}

/// Values that are addresses: tables of schedules number them, as addresses differ from run to run.
private protocol Pointer {}
extension UnsafePointer: Pointer {}
extension UnsafeMutablePointer: Pointer {}
extension UnsafeRawPointer: Pointer {}
extension UnsafeMutableRawPointer: Pointer {}
extension OpaquePointer: Pointer {}
extension Unmanaged: Pointer {}
extension ObjectIdentifier: Pointer {}
extension Optional: Pointer where Wrapped: Pointer {}
