// The operations of strands on what they share, each behind a point.
internal import CRaceHunt

extension Run {
  /// The run and strand of the calling thread; nil outside of explorations.
  @inline(__always)
  static var current: (run: Run, strand: Strand)? {
    guard let worker = Worker.current, let run = worker.run, let strand = worker.strand
    else { return nil }
    return (run, strand)
  }

  /// As `current`; what a thread that is not under control does with an object of a run is noted
  /// there.
  @inline(never)
  static func current(
    _ home: UInt64, _ text: String, _ file: StaticString, _ line: UInt
  ) -> (run: Run, strand: Strand)? {
    if let current { return current }
    if Worker.current == nil {
      ActiveRuns.noteOutsider(home, "\(text) \(Place(file: file, line: line).text)")
    }
    return nil
  }

  /// The run in which something with this address is made, 0 for none.
  static func home(_ address: UInt) -> UInt64 {
    guard race_hunt_is_exploring() != 0, let worker = Worker.current, let run = worker.run
    else { return 0 }
    // What a global has is older than the next run.
    if worker.strand?.globals.isEmpty == false { return 0 }
    run.noteBirth(address)
    return run.identity
  }

  /// The memory may become another resource.
  static func forget(_ address: UInt) {
    if race_hunt_is_exploring() != 0 { Worker.current?.run?.forget(address) }
  }

  /// The memory becomes something new.
  static func renew(_ address: UInt) {
    forget(address)
    _ = home(address)
  }

  static func address(_ object: AnyObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  /// What the run knows of an object; made when it is first asked for.
  func part<Part: AnyObject>(_ object: AnyObject, _ make: () -> Part) -> Part {
    part(at: Self.address(object), make)
  }

  /// What the run knows of what is at an address; made when it is first asked for.
  func part<Part: AnyObject>(at address: UInt, _ make: () -> Part) -> Part {
    if let known = parts[address] as? Part { return known }
    let made = make()
    parts[address] = made
    return made
  }

  // MARK: - Steps

  /// A step on what strands share; others may come before it.
  ///
  /// - Parameter value: for the table, as it is once they have.
  func step(
    _ strand: Strand, _ kind: EventKind, on resource: Resource,
    value: @autoclosure () -> Int? = nil, at place: Place?
  ) {
    point(.accesses(resource, writes: kind != .loads))
    record(strand, kind, resource.number, value: value(), at: place)
  }

  /// Stands in line for as long as something is in the way; false when the time ran out before.
  @discardableResult
  func wait(
    _ strand: Strand, inLineFor resource: Resource, until deadline: UInt64? = nil,
    while isBlocked: () -> Bool
  ) -> Bool {
    while isBlocked() {
      resource.waiters.append(strand)
      guard block(strand, for: .turn(resource), until: deadline) else { return false }
    }
    return true
  }

  // MARK: - Locks

  func lock(_ strand: Strand, _ address: UInt, name: String?, at place: Place?) {
    let mutex = resource(address, .mutex, name: name)
    if mutex.owner === strand {
      stop(.deadlock, "deadlock: \(strand.name) locks \(mutex.name), which it has locked")
    }
    point(.locks(mutex))
    acquire(mutex, strand, place)
  }

  /// As `lock`, in so much time; false when it has not got it.
  func lock(
    _ strand: Strand, _ address: UInt, name: String?, at place: Place?, nanoseconds: UInt64
  ) -> Bool {
    let mutex = resource(address, .mutex, name: name)
    noteTry(mutex, strand)
    // Others may go first although it is locked: the time may run out.
    point(.accesses(mutex, writes: true))
    readsTime(strand)
    let deadline = now &+ nanoseconds
    if mutex.owner != nil { record(strand, .waitsForLock, mutex.number, at: place) }
    while mutex.owner != nil {
      mutex.waiters.append(strand)
      guard block(strand, for: .mutex(mutex), until: deadline) else {
        record(strand, .timesOut, mutex.number, at: place)
        return false
      }
    }
    take(mutex, strand, place)
    return true
  }

  /// False when another one has it.
  func tryLock(_ strand: Strand, _ address: UInt, name: String?, at place: Place?) -> Bool {
    let mutex = resource(address, .mutex, name: name)
    noteTry(mutex, strand)
    point(.accesses(mutex, writes: true))
    guard mutex.owner == nil else {
      record(strand, .waitsForLock, mutex.number, value: 0, at: place)
      return false
    }
    acquire(mutex, strand, place)
    return true
  }

  /// As `lock`, once its condition is a number, too.
  ///
  /// - Returns: false when the time ran out, or at once when it only tries.
  func lock(
    _ strand: Strand, _ address: UInt, name: String?, whenCondition wanted: Int, at place: Place?,
    nanoseconds: UInt64?, tries: Bool, _ condition: () -> Int
  ) -> Bool {
    let mutex = resource(address, .mutex, name: name)
    if tries || nanoseconds != nil {
      noteTry(mutex, strand)
    } else if mutex.owner === strand {
      stop(.deadlock, "deadlock: \(strand.name) locks \(mutex.name), which it has locked")
    }
    point(.accesses(mutex, writes: true))
    if nanoseconds != nil { readsTime(strand) }
    let deadline = nanoseconds.map { now &+ $0 }
    func isBlocked() -> Bool { mutex.owner != nil || condition() != wanted }
    if isBlocked() {
      record(strand, .waitsForLock, mutex.number, value: tries ? 0 : nil, at: place)
      if tries { return false }
    }
    while isBlocked() {
      mutex.waiters.append(strand)
      guard block(strand, for: .lockCondition(mutex, wanted: wanted), until: deadline) else {
        record(strand, .timesOut, mutex.number, at: place)
        return false
      }
    }
    take(mutex, strand, place)
    return true
  }

  /// Who locks it from now on passes a point once it has it: the step that comes here changes that.
  func noteTry(_ mutex: Resource, _ strand: Strand) {
    if mutex.isTried { return }
    mutex.isTried = true
    strand.changed.append(mutex.number)
  }

  private func acquire(_ mutex: Resource, _ strand: Strand, _ place: Place?) {
    if mutex.owner != nil { record(strand, .waitsForLock, mutex.number, at: place) }
    while mutex.owner != nil {
      mutex.waiters.append(strand)
      block(strand, for: .mutex(mutex))
    }
    take(mutex, strand, place)
  }

  private func take(_ mutex: Resource, _ strand: Strand, _ place: Place?) {
    mutex.owner = strand
    strand.held.append(mutex.number)
    record(strand, .locks, mutex.number, at: place)
    // Who only tries has to find it locked, too, although there may be no point until it is given
    // back.
    if mutex.isTried { point(.holds(mutex)) }
  }

  /// False, and a failure, when the strand has not locked it.
  @discardableResult
  func unlock(_ strand: Strand, _ address: UInt, name: String?, at place: Place?) -> Bool {
    let mutex = resource(address, .mutex, name: name)
    guard mutex.owner === strand else {
      violate(.check, "\(strand.name) unlocks \(mutex.name), which it has not locked", at: place)
      return false
    }
    record(strand, .unlocks, mutex.number, at: place)
    release(mutex, of: strand)
    return true
  }

  private func release(_ mutex: Resource, of strand: Strand) {
    mutex.owner = nil
    strand.held.removeAll { $0 == mutex.number }
    strand.released.append(mutex.number)
    wakeAll(mutex)
  }

  func wakeAll(_ resource: Resource) {
    for waiter in resource.waiters { waiter.state = .ready }
    resource.waiters.removeAll(keepingCapacity: true)
  }

  // MARK: - Locks of Swift's runtime

  /// Called before and after what a strand does with such a lock; false when it is to wait for one
  /// that no strand has.
  ///
  /// They are no points. The runtime holds one while it calls a program's cancellation handler,
  /// whose points may come before steps of strands that need the same lock.
  func useRuntimeLock(_ strand: Strand, _ address: UInt, _ step: Int32) -> Bool {
    switch step {
    case Int32(RACE_HUNT_HAS): runtimeLocks += 1
    case Int32(RACE_HUNT_GIVES_BACK):
      runtimeLocks -= 1
      if let lock = resources[address], lock.kind == .runtimeLock { wakeAll(lock) }
    default:
      guard runtimeLocks > 0 else { return false }
      let lock = resource(address, .runtimeLock, name: nil)
      record(strand, .waitsForLock, lock.number)
      lock.waiters.append(strand)
      // What it does next was known before, and is not its wait.
      let pending = strand.pending
      strand.pending = .unknown
      block(strand, for: .mutex(lock))
      strand.pending = pending
    }
    return true
  }

  // MARK: - Calls of Swift's runtime

  /// Called before a task cancels, looks whether it is cancelled, or passes a value to a stream.
  func beforeCall(_ strand: Strand, _ kind: Int32, _ name: String, at place: Place) {
    // No object is at these addresses.
    let shared =
      switch Int(kind) {
      case RACE_HUNT_STREAMS: resource(2, .streams, name: "streams")
      case RACE_HUNT_NOTIFIES: resource(3, .notifications, name: "notifications")
      default: resource(1, .cancellation, name: "cancellation")
      }
    point(.accesses(shared, writes: kind != Int32(RACE_HUNT_ASKS)))
    record(strand, .calls, text: "calls \(name)", at: place)
  }

  // MARK: - Conditions

  /// False when the time ran out.
  func wait(
    _ strand: Strand, _ address: UInt, name: String?, mutex mutexAddress: UInt,
    nanoseconds: UInt64?, at place: Place?
  ) -> Bool {
    let condition = resource(address, .condition, name: name)
    let mutex = resource(mutexAddress, .mutex, name: nil)
    point(.accesses(condition, writes: true))
    guard mutex.owner === strand else {
      let text =
        "\(strand.name) waits for \(condition.name) and has not locked \(mutex.name), which it "
        + "waits with"
      violate(.check, text, at: place)
      // Nobody knows what it would do: in a loop it may do that without end.
      stop(.check, text)
      return false
    }
    record(strand, .waits, condition.number, at: place)
    release(mutex, of: strand)
    if nanoseconds != nil { readsTime(strand) }
    if happensForNothing() {
      point(.locks(mutex))
      record(strand, .wakesForNothing, condition.number, at: place)
      acquire(mutex, strand, place)
      return true
    }
    condition.waiters.append(strand)
    // Once it is woken it comes no further than to the lock.
    strand.pending = .locks(mutex)
    let isNotified = block(
      strand, for: .condition(condition), until: nanoseconds.map { now &+ $0 })
    record(strand, isNotified ? .wakesUp : .timesOut, condition.number, at: place)
    acquire(mutex, strand, place)
    return isNotified
  }

  func notify(_ strand: Strand, _ address: UInt, name: String?, all: Bool, at place: Place?) {
    let condition = resource(address, .condition, name: name)
    point(.accesses(condition, writes: true))
    record(strand, all ? .notifiesAll : .notifiesOne, condition.number, at: place)
    if condition.waiters.isEmpty {
      condition.unheardNotifications.append(events.count)
    } else if all {
      wakeAll(condition)
    } else {
      condition.waiters.remove(at: chosenWaiter(of: condition)).state = .ready
    }
  }

  // MARK: - Words

  /// The same one for a word in each map of its memory.
  private func resource(ofWord address: UInt) -> Resource {
    guard let shared = sharedWords.last(where: { $0.map.contains(address) }) else {
      return resource(address, .word, name: nil)
    }
    // No address is as high.
    let key = 1 << 63 | shared.memory << 26 | (address - shared.map.lowerBound)
    return resource(key, .word, name: nil)
  }

  func waitForWord(
    _ strand: Strand, _ address: UInt, _ nanoseconds: UInt64, unless hasChanged: () -> Bool
  ) {
    let word = resource(ofWord: address)
    point(.accesses(word, writes: false))
    if hasChanged() { return }
    record(strand, .waits, word.number)
    readsTime(strand)
    word.waiters.append(strand)
    let isWoken = block(strand, for: .condition(word), until: now &+ nanoseconds)
    record(strand, isWoken ? .wakesUp : .timesOut, word.number)
  }

  func wakeWord(_ strand: Strand, _ address: UInt) {
    let word = resource(ofWord: address)
    point(.accesses(word, writes: true))
    record(strand, .notifiesAll, word.number)
    wakeAll(word)
  }

  // MARK: - Threads and time

  func start(
    _ strand: Strand, name: String?, stackSize: Int = 0, at place: Place?,
    _ body: @escaping () throws -> Void
  ) -> Strand {
    let started = addThread(name, body)
    started.stackSize = stackSize
    record(strand, .starts, started.number, at: place)
    return started
  }

  func join(_ strand: Strand, _ other: Strand, at place: Place?) {
    point(.joins(other))
    while !other.hasEnded {
      other.joiners.append(strand)
      block(strand, for: .end(other))
    }
    if !other.isJoined {
      other.isJoined = true
      joined += 1
    }
    record(strand, .joins, other.number, at: place)
  }

  /// Ends the thread in the middle of what it does; does not come back.
  ///
  /// Its functions are left as they are, and the thread of the machine with them: another one goes
  /// on.
  func exit(_ strand: Strand, _ call: String) {
    guard strand.kind == .thread, let worker = strand.worker else {
      return stop(
        .check, "\(strand.name) calls \(call), but its thread is not one that it has started")
    }
    strand.destroyValues()
    strand.leaveRealLocks()
    strand.realLocks = []
    guard let other = pool.take() else { return stop(.noThread) }
    strand.finishBody(self)
    strand.worker = nil
    worker.strand = nil
    other.work = .rest(self)
    other.grant()
    race_hunt_leave()
  }

  func sleep(_ strand: Strand, nanoseconds: UInt64, at place: Place?) {
    // Whoever makes a global sleeps alone, and the time is taken back.
    if !strand.globals.isEmpty { return setTime(now &+ nanoseconds) }
    countPoint()
    record(strand, .sleeps, at: place)
    readsTime(strand)
    // It goes on to no step that others could be in the way of: a lock that it has is its own.
    strand.pending = .begins
    block(strand, for: .time, until: now &+ nanoseconds)
    record(strand, .wakesUp, at: place)
  }

  // MARK: - Channels

  /// Blocks while the channel is full, or empty; `isBlocked` is asked again after each change.
  func passChannel(
    _ strand: Strand, _ address: UInt, name: String?, _ operation: EventKind, at place: Place?,
    while isBlocked: () -> Bool
  ) {
    let channel = resource(address, .channel, name: name)
    point(.accesses(channel, writes: true))
    while isBlocked() {
      channel.waiters.append(strand)
      block(strand, for: .channel(channel, sends: operation == .sends))
    }
    record(strand, operation, channel.number, at: place)
    wakeAll(channel)
  }
}
