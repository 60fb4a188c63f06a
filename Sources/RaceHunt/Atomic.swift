// A word for explored programs. Outside of an exploration it is the standard library's.
internal import Synchronization

/// What fits into an atomic word.
public protocol AtomicValue: Sendable, Equatable {
  /// The value that these bits stand for.
  init(atomicBits: UInt64)
  /// The bits that stand for the value.
  var atomicBits: UInt64 { get }
}

extension Int: AtomicValue {
  /// The value that these bits stand for.
  public init(atomicBits: UInt64) { self.init(truncatingIfNeeded: atomicBits) }
  /// The bits that stand for the value.
  public var atomicBits: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension UInt64: AtomicValue {
  /// The value that these bits stand for.
  public init(atomicBits: UInt64) { self = atomicBits }
  /// The bits that stand for the value.
  public var atomicBits: UInt64 { self }
}

extension Bool: AtomicValue {
  /// The value that these bits stand for.
  public init(atomicBits: UInt64) { self = atomicBits != 0 }
  /// The bits that stand for the value.
  public var atomicBits: UInt64 { self ? 1 : 0 }
}

/// A word that threads read and write without locks.
///
/// In an explored program each access is a point. Explored are the orders of accesses (sequential
/// consistency), not what weaker orders would allow: all accesses have the strongest one.
public final class Atomic<Value: AtomicValue>: Sendable {
  private let word: Synchronization.Atomic<UInt64>
  private let name: String?

  /// Makes a word; the name stands in tables of schedules.
  public init(_ value: Value, name: String? = nil) {
    word = .init(value.atomicBits)
    self.name = name
  }

  deinit { Worker.current?.run?.forget(address) }

  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Passes a point and does the step, which says what is to be noted.
  private func step<Result>(
    _ file: StaticString, _ line: UInt, _ body: () -> (Result, Operation, UInt64)
  ) -> Result {
    guard let (run, strand) = Run.current else { return body().0 }
    let place = Place(file: file, line: line)
    let resource = run.word(strand, address, name: name, at: place)
    let (result, operation, bits) = body()
    run.record(
      strand, operation, resource.number, value: Int(truncatingIfNeeded: bits), at: place)
    return result
  }

  /// The value.
  public func load(file: StaticString = #fileID, line: UInt = #line) -> Value {
    step(file, line) {
      let bits = word.load(ordering: .sequentiallyConsistent)
      return (Value(atomicBits: bits), .loads, bits)
    }
  }

  /// Sets the value.
  public func store(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
    step(file, line) {
      word.store(value.atomicBits, ordering: .sequentiallyConsistent)
      return ((), .stores, value.atomicBits)
    }
  }

  /// Sets the value and returns the one before.
  public func exchange(
    _ value: Value, file: StaticString = #fileID, line: UInt = #line
  ) -> Value {
    step(file, line) {
      let old = word.exchange(value.atomicBits, ordering: .sequentiallyConsistent)
      return (Value(atomicBits: old), .exchanges, value.atomicBits)
    }
  }

  /// Sets the value if it is `expected`; says whether it was, and what it was.
  public func compareExchange(
    expected: Value, desired: Value, file: StaticString = #fileID, line: UInt = #line
  ) -> (exchanged: Bool, original: Value) {
    step(file, line) {
      let result = word.compareExchange(
        expected: expected.atomicBits, desired: desired.atomicBits,
        ordering: .sequentiallyConsistent)
      return (
        (result.exchanged, Value(atomicBits: result.original)),
        result.exchanged ? .comparesAndExchanges : .failsToExchange,
        result.exchanged ? desired.atomicBits : result.original
      )
    }
  }
}

extension Atomic where Value == Int {
  /// Adds, as one step, and returns the value before.
  @discardableResult
  public func add(_ operand: Int, file: StaticString = #fileID, line: UInt = #line) -> Int {
    step(file, line) {
      let result = word.wrappingAdd(operand.atomicBits, ordering: .sequentiallyConsistent)
      return (Int(atomicBits: result.oldValue), .adds, result.newValue)
    }
  }
}
