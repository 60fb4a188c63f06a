// Semaphores of explored programs, whichever library's: a count that is waited for.

/// What a run knows of a semaphore.
final class SemaphoreState {
  let resource: Resource
  private(set) var value: Int

  init(_ resource: Resource, _ value: Int) {
    self.resource = resource
    self.value = value
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
    value += 1
    run.record(strand, .signals, resource.number, value: value, at: place)
    let waiters = resource.waiters.count
    run.wakeAll(resource)
    return waiters
  }
}
