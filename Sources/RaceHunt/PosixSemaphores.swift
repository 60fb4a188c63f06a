// Semaphores, barriers and spin locks of POSIX for explored programs, by their names in C. Outside
// of an exploration they are the system's.
public import CRaceHunt
public import Glibc

extension Run {
  fileprivate func semaphore(_ semaphore: UnsafeMutablePointer<sem_t>) -> SemaphoreState {
    let address = UInt(bitPattern: semaphore)
    return part(at: address) {
      // Of one that was made outside of the exploration the system knows it.
      var value: Int32 = 0
      Glibc.sem_getvalue(semaphore, &value)
      return SemaphoreState(resource(address, .semaphore, name: nil), Int(value))
    }
  }
}

/// Makes a semaphore that lets so many pass.
@discardableResult
public func sem_init(
  _ semaphore: UnsafeMutablePointer<sem_t>, _ isShared: Int32, _ value: UInt32
) -> Int32 {
  Run.renew(UInt(bitPattern: semaphore))
  return Glibc.sem_init(semaphore, isShared, value)
}

/// The memory of a semaphore may become something else.
@discardableResult
public func sem_destroy(_ semaphore: UnsafeMutablePointer<sem_t>) -> Int32 {
  Run.forget(UInt(bitPattern: semaphore))
  return Glibc.sem_destroy(semaphore)
}

/// Waits until the count is above 0, and takes one.
@discardableResult
public func sem_wait(_ semaphore: UnsafeMutablePointer<sem_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sem_wait(semaphore) }
  _ = run.semaphore(semaphore).take(run, strand, in: nil, at: Place(call: race_hunt_caller()))
  return 0
}

/// Takes one if the count is above 0; -1 otherwise.
@discardableResult
public func sem_trywait(_ semaphore: UnsafeMutablePointer<sem_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sem_trywait(semaphore) }
  let state = run.semaphore(semaphore)
  if state.tryTake(run, strand, at: Place(call: race_hunt_caller())) { return 0 }
  errno = EAGAIN
  return -1
}

/// As `sem_wait`, until a time of the calendar; -1 when it has come.
@discardableResult
public func sem_timedwait(
  _ semaphore: UnsafeMutablePointer<sem_t>, _ time: UnsafePointer<timespec>
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sem_timedwait(semaphore, time) }
  guard time.pointee.isTime else {
    errno = EINVAL
    return -1
  }
  let left = Run.left(until: time.pointee, CLOCK_REALTIME)
  let state = run.semaphore(semaphore)
  if state.take(run, strand, in: left, at: Place(call: race_hunt_caller())) { return 0 }
  errno = ETIMEDOUT
  return -1
}

/// Adds one to the count.
@discardableResult
public func sem_post(_ semaphore: UnsafeMutablePointer<sem_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sem_post(semaphore) }
  _ = run.semaphore(semaphore).give(run, strand, at: Place(call: race_hunt_caller()))
  return 0
}

/// The count.
@discardableResult
public func sem_getvalue(
  _ semaphore: UnsafeMutablePointer<sem_t>, _ value: UnsafeMutablePointer<Int32>
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sem_getvalue(semaphore, value) }
  let state = run.semaphore(semaphore)
  let place = Place(call: race_hunt_caller())
  run.step(strand, .loads, on: state.resource, value: state.value, at: place)
  value.pointee = Int32(state.value)
  return 0
}

// MARK: - Barriers

/// Threads that wait for each other.
private final class Barrier {
  let resource: Resource
  let count: Int
  var waiting = 0
  /// How often all have come.
  var rounds = 0

  init(_ resource: Resource, count: Int) {
    self.resource = resource
    self.count = count
  }
}

extension Run {
  fileprivate func barrier(_ barrier: UnsafeMutablePointer<pthread_barrier_t>) -> Barrier {
    let address = UInt(bitPattern: barrier)
    return part(at: address) {
      // There the system keeps the count.
      let count = UnsafeRawPointer(barrier).load(fromByteOffset: 8, as: UInt32.self)
      return Barrier(resource(address, .barrier, name: nil), count: Int(count))
    }
  }
}

/// Makes a barrier for so many threads.
@discardableResult
public func pthread_barrier_init(
  _ barrier: UnsafeMutablePointer<pthread_barrier_t>,
  _ attributes: UnsafePointer<pthread_barrierattr_t>?, _ count: UInt32
) -> Int32 {
  Run.renew(UInt(bitPattern: barrier))
  return Glibc.pthread_barrier_init(barrier, attributes, count)
}

/// The memory of a barrier may become something else.
@discardableResult
public func pthread_barrier_destroy(_ barrier: UnsafeMutablePointer<pthread_barrier_t>) -> Int32 {
  let address = UInt(bitPattern: barrier)
  if let (run, strand) = Run.current, let state = run.parts[address] as? Barrier,
    state.waiting > 0
  {
    run.violate(
      .check, "\(strand.name) destroys \(state.resource.name), which threads wait for",
      at: Place(call: race_hunt_caller()))
  }
  Run.forget(address)
  return Glibc.pthread_barrier_destroy(barrier)
}

/// Waits until as many threads have come as the barrier is for; one of them is told apart.
@discardableResult
public func pthread_barrier_wait(_ barrier: UnsafeMutablePointer<pthread_barrier_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_barrier_wait(barrier) }
  let place = Place(call: race_hunt_caller())
  let state = run.barrier(barrier)
  run.point(.accesses(state.resource, writes: true))
  state.waiting += 1
  if state.waiting >= state.count {
    state.waiting = 0
    state.rounds += 1
    run.record(strand, .passes, state.resource.number, at: place)
    run.wakeAll(state.resource)
    return PTHREAD_BARRIER_SERIAL_THREAD
  }
  let round = state.rounds
  run.record(strand, .waits, state.resource.number, at: place)
  run.wait(strand, inLineFor: state.resource) { state.rounds == round }
  run.record(strand, .wakesUp, state.resource.number, at: place)
  return 0
}

// MARK: - Spin locks

/// Makes a spin lock that nobody has: in an explored program a mutex.
@discardableResult
public func pthread_spin_init(
  _ lock: UnsafeMutablePointer<pthread_spinlock_t>, _ isShared: Int32
) -> Int32 {
  Run.renew(UInt(bitPattern: lock))
  return Glibc.pthread_spin_init(lock, isShared)
}

/// The memory of a spin lock may become something else.
@discardableResult
public func pthread_spin_destroy(_ lock: UnsafeMutablePointer<pthread_spinlock_t>) -> Int32 {
  Run.forget(UInt(bitPattern: lock))
  return Glibc.pthread_spin_destroy(lock)
}

/// Waits for the lock and takes it.
@discardableResult
public func pthread_spin_lock(_ lock: UnsafeMutablePointer<pthread_spinlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_spin_lock(lock) }
  run.noteLock(lock)
  run.lock(strand, UInt(bitPattern: lock), name: nil, at: Place(call: race_hunt_caller()))
  return 0
}

/// Takes the lock if nobody has it.
@discardableResult
public func pthread_spin_trylock(_ lock: UnsafeMutablePointer<pthread_spinlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_spin_trylock(lock) }
  run.noteLock(lock)
  let place = Place(call: race_hunt_caller())
  return run.tryLock(strand, UInt(bitPattern: lock), name: nil, at: place) ? 0 : EBUSY
}

/// Gives the lock up.
@discardableResult
public func pthread_spin_unlock(_ lock: UnsafeMutablePointer<pthread_spinlock_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_spin_unlock(lock) }
  run.unlock(strand, UInt(bitPattern: lock), name: nil, at: Place(call: race_hunt_caller()))
  return 0
}
