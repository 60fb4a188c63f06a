// Threads of explored programs. Outside of an exploration they are the system's.
internal import Glibc

/// A thread of a program, to be joined once.
public struct Thread: Sendable {
  // @unchecked: a strand is touched only by the holder of the baton; a pthread_t is a number.
  private enum Handle: @unchecked Sendable {
    case strand(Strand)
    case system(pthread_t)
  }

  private let handle: Handle

  /// Starts a thread; an error that `body` throws is a failure of the schedule.
  ///
  /// The name stands in tables of schedules.
  public static func start(
    name: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () throws -> Void
  ) -> Thread {
    if let (run, strand) = Run.current {
      let place = Place(file: file, line: line)
      return Thread(handle: .strand(run.start(strand, name: name, at: place, body)))
    }
    final class Start {
      let body: @Sendable () throws -> Void
      init(body: @escaping @Sendable () throws -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(body: body))
    let failure = pthread_create(
      &thread, nil,
      { context in
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        do { try start.body() } catch { Stress.note("\(error)") }
        return nil
      }, start.toOpaque())
    precondition(failure == 0, "cannot start a thread: errno \(failure)")
    return Thread(handle: .system(thread))
  }

  /// Waits for its end.
  public func join(file: StaticString = #fileID, line: UInt = #line) {
    switch handle {
    case .system(let thread): pthread_join(thread, nil)
    case .strand(let other):
      guard let (run, strand) = Run.current else {
        fatalError("a thread of an exploration is joined outside of it")
      }
      run.join(strand, other, at: Place(file: file, line: line))
    }
  }

  /// Has nobody wait for the end of a thread of the system.
  func detach() {
    guard case .system(let thread) = handle else { fatalError("threads of a schedule are joined") }
    pthread_detach(thread)
  }

  /// Lets others go first: a loop that waits for another thread has to call it.
  public static func yield(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      sched_yield()
      return
    }
    run.record(strand, .yields, at: Place(file: file, line: line))
    run.point(isYield: true)
  }

  /// Sleeps; in an explored program in virtual time, which passes when nobody can go on.
  public static func sleep(
    for duration: Duration, file: StaticString = #fileID, line: UInt = #line
  ) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds =
      UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds / 1_000_000_000))
    guard let (run, strand) = Run.current else {
      usleep(UInt32(truncatingIfNeeded: nanoseconds / 1_000))
      return
    }
    run.sleep(strand, nanoseconds: nanoseconds, at: Place(file: file, line: line))
  }
}

/// Fails the schedule, with this sentence, unless the condition holds; the schedule goes on.
public func check(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if condition { return }
  if let run = Worker.current?.run {
    run.violate(.check, message(), at: Place(file: file, line: line))
  } else {
    Stress.note(message())
  }
}

/// Writes a line into the table of the schedule; no point.
public func note(
  _ text: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  guard let (run, strand) = Run.current else { return }
  run.record(strand, .notes, text: text(), at: Place(file: file, line: line))
}

/// A number below `bound` that follows from the seed of the schedule.
public func random(below bound: Int) -> Int {
  guard let run = Worker.current?.run else { return Int.random(in: 0..<bound) }
  return run.random.next(below: bound)
}
