// Read-write locks of POSIX for explored programs, by their names in C. Outside of an exploration
// they are the system's.
public import CRaceHunt
public import Glibc

/// Who has a read-write lock.
///
/// Readers come in while others read, as the system has it, unless the lock prefers writers.
private final class Holders {
  let resource: Resource
  /// Whether readers wait while somebody waits to write, also who reads already.
  let prefersWriters: Bool
  var writer: Strand?
  var readers: [Strand] = []
  var waitingWriters = 0

  init(_ resource: Resource, prefersWriters: Bool) {
    self.resource = resource
    self.prefersWriters = prefersWriters
  }

  func isBlocked(writes: Bool) -> Bool {
    if writes { return writer != nil || !readers.isEmpty }
    return writer != nil || prefersWriters && waitingWriters > 0
  }

  /// Also for the sentence of a deadlock.
  func noteOwner() { resource.owner = writer ?? readers.first }
}

extension Run {
  private func holders(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Holders {
    let address = UInt(bitPattern: lock)
    return part(at: address) {
      // There the system keeps the kind; of the others it is only said that they prefer somebody.
      let kind = Int(lock.pointee.__data.__flags)
      return Holders(
        resource(address, .readWriteLock, name: nil),
        prefersWriters: kind == Int(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    }
  }

  /// As for a lock of the system, which answers so to one that has it.
  fileprivate func lock(
    _ strand: Strand, _ lock: UnsafeMutablePointer<pthread_rwlock_t>, writes: Bool,
    until nanoseconds: UInt64? = nil, tries: Bool = false, at place: Place
  ) -> Int32 {
    noteLock(lock)
    let holders = holders(lock)
    let resource = holders.resource
    if holders.writer === strand {
      return tries ? EBUSY : EDEADLK
    }
    if tries || nanoseconds != nil { noteTry(resource, strand) }
    // Who waits to write is seen by readers where that counts, and then has to come to wait.
    point(
      writes && !tries && nanoseconds == nil && !holders.prefersWriters
        ? .locks(resource) : .accesses(resource, writes: true))
    if nanoseconds != nil { readsTime(strand) }
    let deadline = nanoseconds.map { now &+ $0 }
    while holders.isBlocked(writes: writes) {
      record(strand, .waitsForLock, resource.number, value: tries ? 0 : nil, at: place)
      if tries { return EBUSY }
      resource.waiters.append(strand)
      if writes { holders.waitingWriters += 1 }
      let isInTime = block(strand, for: .mutex(resource), until: deadline)
      if writes { holders.waitingWriters -= 1 }
      if !isInTime {
        record(strand, .timesOut, resource.number, at: place)
        // Readers may have waited for it.
        if holders.prefersWriters { wakeAll(resource) }
        return ETIMEDOUT
      }
    }
    if writes { holders.writer = strand } else { holders.readers.append(strand) }
    holders.noteOwner()
    record(strand, writes ? .locks : .locksToRead, resource.number, at: place)
    if resource.isTried { point(.holds(resource)) }
    return 0
  }

  fileprivate func unlock(
    _ strand: Strand, _ lock: UnsafeMutablePointer<pthread_rwlock_t>, at place: Place
  ) {
    let holders = holders(lock)
    let resource = holders.resource
    if holders.writer === strand {
      holders.writer = nil
    } else if let reader = holders.readers.firstIndex(where: { $0 === strand }) {
      holders.readers.remove(at: reader)
    } else {
      return violate(
        .check, "\(strand.name) unlocks \(resource.name), which it has not locked", at: place)
    }
    holders.noteOwner()
    record(strand, .unlocks, resource.number, at: place)
    strand.released.append(resource.number)
    strand.changed.append(resource.number)
    wakeAll(resource)
  }
}

/// Makes a lock that nobody has.
@discardableResult
public func pthread_rwlock_init(
  _ lock: UnsafeMutablePointer<pthread_rwlock_t>,
  _ attributes: UnsafePointer<pthread_rwlockattr_t>?
) -> Int32 {
  Run.renew(UInt(bitPattern: lock))
  return Glibc.pthread_rwlock_init(lock, attributes)
}

/// The memory of a lock may become something else.
@discardableResult
public func pthread_rwlock_destroy(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  Run.forget(UInt(bitPattern: lock))
  return Glibc.pthread_rwlock_destroy(lock)
}

/// Waits until nobody writes, and reads.
@discardableResult
public func pthread_rwlock_rdlock(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_rwlock_rdlock(lock) }
  return run.lock(strand, lock, writes: false, at: Place(call: race_hunt_caller()))
}

/// Waits until nobody reads or writes, and writes.
@discardableResult
public func pthread_rwlock_wrlock(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_rwlock_wrlock(lock) }
  return run.lock(strand, lock, writes: true, at: Place(call: race_hunt_caller()))
}

/// Reads if nobody writes.
@discardableResult
public func pthread_rwlock_tryrdlock(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_rwlock_tryrdlock(lock) }
  return run.lock(strand, lock, writes: false, tries: true, at: Place(call: race_hunt_caller()))
}

/// Writes if nobody reads or writes.
@discardableResult
public func pthread_rwlock_trywrlock(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_rwlock_trywrlock(lock) }
  return run.lock(strand, lock, writes: true, tries: true, at: Place(call: race_hunt_caller()))
}

/// As `pthread_rwlock_rdlock`, until a time of the calendar.
@discardableResult
public func pthread_rwlock_timedrdlock(
  _ lock: UnsafeMutablePointer<pthread_rwlock_t>, _ time: UnsafePointer<timespec>
) -> Int32 {
  guard let (run, strand) = Run.current else {
    return Glibc.pthread_rwlock_timedrdlock(lock, time)
  }
  if !time.pointee.isTime { return EINVAL }
  return run.lock(
    strand, lock, writes: false, until: Run.left(until: time.pointee, CLOCK_REALTIME),
    at: Place(call: race_hunt_caller()))
}

/// As `pthread_rwlock_wrlock`, until a time of the calendar.
@discardableResult
public func pthread_rwlock_timedwrlock(
  _ lock: UnsafeMutablePointer<pthread_rwlock_t>, _ time: UnsafePointer<timespec>
) -> Int32 {
  guard let (run, strand) = Run.current else {
    return Glibc.pthread_rwlock_timedwrlock(lock, time)
  }
  if !time.pointee.isTime { return EINVAL }
  return run.lock(
    strand, lock, writes: true, until: Run.left(until: time.pointee, CLOCK_REALTIME),
    at: Place(call: race_hunt_caller()))
}

/// Ends reading or writing.
@discardableResult
public func pthread_rwlock_unlock(_ lock: UnsafeMutablePointer<pthread_rwlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_rwlock_unlock(lock) }
  run.unlock(strand, lock, at: Place(call: race_hunt_caller()))
  return 0
}
