// Semaphores of explored programs, whichever library's: a count that is waited for.

/// What a run knows of a semaphore.
final class SemaphoreState {
  let resource: Resource
  private(set) var value: Int
  /// Whether a signal is for one that waits, so that who comes later cannot take it: Dispatch's.
  private let servesWaiters: Bool
  /// How many wait, and how many of them were signalled and have not gone on.
  private var (waiting, served) = (0, 0)

  init(_ resource: Resource, _ value: Int, servesWaiters: Bool = false) {
    self.resource = resource
    self.value = value
    self.servesWaiters = servesWaiters
  }

  /// Waits until the count is above 0, and takes one; false when the time ran out before.
  ///
  /// - Parameter nanoseconds: how long to wait; nil for as long as it takes.
  func take(
    _ run: Run, _ strand: Strand, in nanoseconds: @autoclosure () -> UInt64?, at place: Place
  ) -> Bool {
    run.point(.accesses(resource, writes: true))
    let deadline = nanoseconds().map { run.now &+ $0 }
    if deadline != nil { run.readsTime(strand) }
    if servesWaiters && value == 0 { return waitToBeServed(run, strand, deadline, place) }
    let isInTime = run.wait(strand, inLineFor: resource, until: deadline) {
      if value == 0 { run.record(strand, .waits, resource.number, at: place) }
      return value == 0
    }
    if isInTime {
      takeOne(run, strand, place)
    } else {
      run.record(strand, .timesOut, resource.number, at: place)
    }
    return isInTime
  }

  private func waitToBeServed(
    _ run: Run, _ strand: Strand, _ deadline: UInt64?, _ place: Place
  ) -> Bool {
    waiting += 1
    let isInTime = run.wait(strand, inLineFor: resource, until: deadline) {
      if served == 0 { run.record(strand, .waits, resource.number, at: place) }
      return served == 0
    }
    // When all who wait were signalled, so was who is late.
    let isServed = isInTime || served == waiting
    waiting -= 1
    if isServed { served -= 1 }
    run.record(
      strand, isServed ? .passes : .timesOut, resource.number, value: isServed ? value : nil,
      at: place)
    return isServed
  }

  private func takeOne(_ run: Run, _ strand: Strand, _ place: Place) {
    value -= 1
    run.record(strand, .passes, resource.number, value: value, at: place)
  }

  /// Takes one if the count is above 0.
  func tryTake(_ run: Run, _ strand: Strand, at place: Place) -> Bool {
    run.point(.accesses(resource, writes: true))
    if value == 0 {
      run.record(strand, .waitsForLock, resource.number, value: 0, at: place)
      return false
    }
    takeOne(run, strand, place)
    return true
  }

  /// Adds one to the count; how many were waiting.
  func give(_ run: Run, _ strand: Strand, at place: Place) -> Int {
    run.point(.accesses(resource, writes: true))
    if servesWaiters && waiting > served {
      served += 1
      run.record(strand, .signals, resource.number, value: value, at: place)
      run.wakeAll(resource)
      return 1
    }
    value += 1
    run.record(strand, .signals, resource.number, value: value, at: place)
    let waiters = resource.waiters.count
    run.wakeAll(resource)
    return waiters
  }
}
