// Threads of POSIX for explored programs, by their names in C. Outside of an exploration they are
// the system's.
internal import CRaceHunt
public import Glibc
internal import Synchronization

/// What a thread of POSIX runs.
public typealias PosixBody =
  @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

extension Strand {
  /// By what the program knows the thread; 0 is none.
  fileprivate var posixNumber: pthread_t { pthread_t(number + 1) }
}

extension Run {
  fileprivate func strand(_ thread: pthread_t) -> Strand? {
    thread > 0 && thread <= pthread_t(strands.count) ? strands[Int(thread) - 1] : nil
  }

  /// The thread that the program names; one that there is not is a failure.
  func strand(_ thread: pthread_t, _ call: String, _ place: Place) -> Strand? {
    if let strand = strand(thread) { return strand }
    violate(.check, "\(call) is given a thread that there is not", at: place)
    return nil
  }

  /// Whether a thread was joined or detached before, which is a failure.
  fileprivate func isGone(_ other: Strand, _ deed: String, _ place: Place) -> Bool {
    guard other.isJoined || other.isGivenUp else { return false }
    violate(
      .check, "\(deed) \(other.name), which was \(other.isJoined ? "joined" : "detached")",
      at: place)
    return true
  }
}

/// Starts a thread.
@discardableResult
public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t>, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ body: @escaping PosixBody, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard let (run, strand) = Run.current else {
    return Glibc.pthread_create(thread, attributes, body, argument)
  }
  var (detached, stackSize) = (Int32(PTHREAD_CREATE_JOINABLE), 0)
  if let attributes {
    pthread_attr_getdetachstate(attributes, &detached)
    pthread_attr_getstacksize(attributes, &stackSize)
  }
  let place = Place(call: race_hunt_caller())
  let started = run.start(strand, name: nil, stackSize: stackSize, at: place) {
    Run.current?.strand.result = body(argument)
  }
  started.isGivenUp = detached == Int32(PTHREAD_CREATE_DETACHED)
  thread.pointee = started.posixNumber
  run.pointBehindStart()
  return 0
}

/// Waits for the end of a thread, and takes what it has returned.
///
/// A thread that was joined or detached before is a failure: its number may be another one's.
@discardableResult
public func pthread_join(
  _ thread: pthread_t, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_join(thread, result) }
  let place = Place(call: race_hunt_caller())
  guard let other = run.strand(thread, "pthread_join", place) else { return ESRCH }
  if other === strand { return EDEADLK }
  if run.isGone(other, "\(strand.name) joins", place) { return EINVAL }
  run.join(strand, other, at: place)
  result?.pointee = other.result
  return 0
}

/// Nobody will join the thread.
@discardableResult
public func pthread_detach(_ thread: pthread_t) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_detach(thread) }
  let place = Place(call: race_hunt_caller())
  guard let other = run.strand(thread, "pthread_detach", place) else { return ESRCH }
  run.point(.unknown)
  if run.isGone(other, "\(strand.name) detaches", place) { return EINVAL }
  other.isGivenUp = true
  return 0
}

/// Ends the calling thread where it is: what its functions hold is not given back.
public func pthread_exit(_ result: UnsafeMutableRawPointer?) -> Never {
  guard let (run, strand) = Run.current else { Glibc.pthread_exit(result) }
  strand.result = result
  run.exit(strand, "pthread_exit")
  fatalError("a thread goes on behind its end")
}

/// The calling thread: in an explored program a small number.
public func pthread_self() -> pthread_t {
  Run.current?.strand.posixNumber ?? Glibc.pthread_self()
}

/// Ends another thread: not in explored programs, where it is a failure.
@discardableResult
public func pthread_cancel(_ thread: pthread_t) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_cancel(thread) }
  run.violate(
    .check,
    "\(strand.name) calls pthread_cancel, which is not explored: have the thread look at a word",
    at: Place(call: race_hunt_caller()))
  return ENOSYS
}

// MARK: - Once

/// Whether something that is done once is done.
private final class Once {
  enum Progress { case isToDo, isDoing, isDone }

  let resource: Resource
  var progress = Progress.isToDo
  init(_ resource: Resource) { self.resource = resource }
}

/// Calls `body`, unless it was called for `control` before; who comes meanwhile waits.
///
/// What is static is new in each schedule, as all state of the program is.
@discardableResult
public func pthread_once(
  _ control: UnsafeMutablePointer<pthread_once_t>, _ body: @escaping @convention(c) () -> Void
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_once(control, body) }
  let address = UInt(bitPattern: control)
  let place = Place(call: race_hunt_caller())
  // Other memory may become another one. The system writes 2 where it is done, too.
  let isStatic = race_hunt_is_static(control) != 0
  if !isStatic && control.pointee == 0, (run.parts[address] as? Once)?.progress == .isDone {
    run.forget(address)
  }
  let once = run.part(at: address) { Once(run.resource(address, .once, name: nil)) }
  run.point(.accesses(once.resource, writes: once.progress != .isDone))
  run.wait(strand, inLineFor: once.resource) {
    let isBlocked = once.progress == .isDoing
    if isBlocked { run.record(strand, .waits, once.resource.number, at: place) }
    return isBlocked
  }
  if once.progress == .isDone {
    run.record(strand, .passes, once.resource.number, at: place)
    return 0
  }
  once.progress = .isDoing
  run.record(strand, .enters, once.resource.number, at: place)
  body()
  once.progress = .isDone
  if !isStatic { control.pointee = 2 }
  run.record(strand, .leaves, once.resource.number, at: place)
  strand.changed.append(once.resource.number)
  run.wakeAll(once.resource)
  return 0
}

// MARK: - Values by thread

/// What is done with the values of a key at the end of a thread.
private let destructors = Synchronization.Mutex<
  [pthread_key_t: @convention(c) (UnsafeMutableRawPointer?) -> Void]
>([:])

/// Makes a key by which each thread has a value of its own.
@discardableResult
public func pthread_key_create(
  _ key: UnsafeMutablePointer<pthread_key_t>,
  _ destructor: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> Int32 {
  let answer = Glibc.pthread_key_create(key, destructor)
  if answer == 0 {
    destructors.withLock { $0[key.pointee] = destructor }
    // There are few of them, and the next schedule makes its own, unless it is a global's.
    if let (run, strand) = Run.current, strand.globals.isEmpty { run.keys.insert(key.pointee) }
  }
  return answer
}

extension Run {
  /// Gives back the keys that the program has made.
  func deleteKeys() {
    for key in keys { pthread_key_delete(key) }
    keys = []
  }
}

/// Gives a key up; nothing is done with its values.
@discardableResult
public func pthread_key_delete(_ key: pthread_key_t) -> Int32 {
  destructors.withLock { $0[key] = nil }
  if let (run, _) = Run.current {
    run.keys.remove(key)
    // Another key may get its number.
    for strand in run.strands { strand.values[key] = nil }
  }
  return Glibc.pthread_key_delete(key)
}

extension Strand {
  /// Called by a thread that ends, behind all else that it does.
  func destroyValues() {
    // A destructor may set values again, and is then called again; as often as the system does it.
    for _ in 0..<4 where !values.isEmpty {
      let ended = values.sorted { $0.key < $1.key }
      values = [:]
      for (key, value) in ended {
        if let destructor = destructors.withLock({ $0[key] }) { destructor(value) }
      }
    }
  }
}

/// Sets what the calling thread has for the key: in an explored program the one of the schedule,
/// whichever thread of the machine it is on.
@discardableResult
public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 {
  guard let (_, strand) = Run.current else { return Glibc.pthread_setspecific(key, value) }
  strand.values[key] = UnsafeMutableRawPointer(mutating: value)
  return 0
}

/// What the calling thread has for the key.
@discardableResult
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? {
  guard let (_, strand) = Run.current else { return Glibc.pthread_getspecific(key) }
  return strand.values[key]
}
