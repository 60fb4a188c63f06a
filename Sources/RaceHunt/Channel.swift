// A queue between threads of explored programs.

/// Values on their way from senders to receivers, first in, first out.
public final class Channel<Element: Sendable>: @unchecked Sendable {
  // @unchecked: `state` has its own lock outside of explorations; inside only the holder of the
  // baton runs.
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  @exclusivity(unchecked) private var controlled = State()
  private let state = Mutex(State())
  private let hasChanged = Condition()
  private let capacity: Int
  private let name: String?

  /// Makes a channel for so many values; senders wait while it is full.
  public init(capacity: Int = .max, name: String? = nil) {
    precondition(capacity > 0, "a channel holds one value or more, not \(capacity)")
    self.capacity = capacity
    self.name = name
    _ = Run.home(address)
  }

  deinit { Run.forget(address) }

  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Sends a value, after waiting for room; false, and nothing sent, when the channel is closed.
  @discardableResult
  public func send(
    _ element: Element, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    guard let (run, strand) = Run.current else {
      state.lock()
      defer { state.unlock() }
      while !state.value.isClosed && state.value.elements.count >= capacity {
        hasChanged.wait(state)
      }
      if state.value.isClosed { return false }
      state.value.elements.append(element)
      hasChanged.notifyAll()
      return true
    }
    run.passChannel(
      strand, address, name: name, .sends, at: Place(file: file, line: line)
    ) { !controlled.isClosed && controlled.elements.count >= capacity }
    if controlled.isClosed { return false }
    controlled.elements.append(element)
    return true
  }

  /// The next value, after waiting for one; nil when the channel is closed and empty.
  public func receive(file: StaticString = #fileID, line: UInt = #line) -> Element? {
    guard let (run, strand) = Run.current else {
      state.lock()
      defer { state.unlock() }
      while !state.value.isClosed && state.value.elements.isEmpty { hasChanged.wait(state) }
      hasChanged.notifyAll()
      return state.value.elements.isEmpty ? nil : state.value.elements.removeFirst()
    }
    run.passChannel(
      strand, address, name: name, .receives, at: Place(file: file, line: line)
    ) { !controlled.isClosed && controlled.elements.isEmpty }
    return controlled.elements.isEmpty ? nil : controlled.elements.removeFirst()
  }

  /// No more values come.
  public func close(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      state.withLock { $0.isClosed = true }
      hasChanged.notifyAll()
      return
    }
    run.passChannel(
      strand, address, name: name, .closes, at: Place(file: file, line: line)
    ) { false }
    controlled.isClosed = true
  }
}
