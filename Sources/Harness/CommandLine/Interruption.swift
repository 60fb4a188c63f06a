// How a user ends a verb before its time: Ctrl-C, SIGTERM, the end of the terminal and of the time
// allowed are one and the same, for the process itself and for those that it has started.
internal import CProcess
internal import Foundation
internal import Glibc
internal import Platform

/// Whether the user wants the run to end early.
package protocol Interruption: Sendable {
  func isRequested() -> Bool
}

/// Every signal that would end the process, and by which a user may ask for that.
///
/// The first one asks the verb to stop, and to keep what there is. A second one, when that takes
/// long, ends the process at once. So does not a second SIGHUP: shell and kernel both send one when
/// a terminal is closed; nor a second SIGXCPU, which comes once a second. Whoever ignored one from
/// the start (`nohup`, a job in the background of a script) is not stopped by it.
package final class SignalInterruption: Interruption {
  /// Signals within this time are one wish, sent to a process and to its group.
  private static let oneWishNanoseconds: UInt64 = 300_000_000

  private let isAsked = Monitor(false)
  /// Nobody takes the signals, which are looked for instead: the system had no thread to give.
  private let isAlone: Bool

  /// Blocks the signals for this thread and every thread started after; another one takes them.
  package init() {
    let signals = Self.signals
    Self.hold()
    let isAsked = isAsked
    let thread = Thread.startIfPossible(name: "signals") { Self.take(signals, isAsked) }
    isAlone = thread == nil
    thread?.detach()
  }

  /// Keeps the signals for whoever looks for them first, from this moment on.
  ///
  /// A verb needs a moment until it does; without this they would end the process as if nobody had
  /// been there to hear them.
  static func hold() {
    var blocked = signals
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
  }

  package func isRequested() -> Bool {
    if isAlone { lookForSignal() }
    return isAsked.withLock { $0 } || Parent.isGone
  }

  private func lookForSignal() {
    var wanted = Self.signals
    var noTime = timespec()
    if sigtimedwait(&wanted, nil, &noTime) > 0 { isAsked.withLock { $0 = true } }
  }

  private static func take(_ signals: sigset_t, _ isAsked: Monitor<Bool>) {
    let clock = MonotonicClock()
    var first: UInt64?
    while true {
      var wanted = signals
      let number = sigwaitinfo(&wanted, nil)
      guard number > 0 else { continue }
      let now = clock.nanoseconds()
      let comesAgain = [SIGHUP, SIGXCPU].contains(number)
      if let first, !comesAgain, now - first > oneWishNanoseconds { end(by: number) }
      first = first ?? now
      isAsked.withLock { $0 = true }
    }
  }

  /// Ends the process as the signal would have without us, and programs that would outlive it.
  private static func end(by number: Int32) {
    StartedProcess.endForeign()
    signal(number, SIG_DFL)
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, number)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(number)
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    // By this one a parent tells its children, whatever they ignore.
    sigaddset(&signals, SIGTERM)
    // A blocked signal comes though it is ignored.
    for number in [SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM]
    where !isIgnored(number) {
      sigaddset(&signals, number)
    }
    return signals
  }

  /// Lets SIGQUIT end a verb that looks for no signals as any other one does.
  ///
  /// Swift's own handler would print where each thread is, as after a crash.
  static func makeQuitUsual() {
    if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN, which is a cast that Swift does not import.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

/// The process of this tool that has started this one, if one has.
///
/// A child has a group of its own, so no signal of a terminal reaches it: it is told by its parent,
/// and ends by itself when that is gone.
enum Parent {
  private static let variable = "REALM_BENCH_PARENT"

  /// Taken out of the environment, so that it goes to no process further down.
  private static let identifier: pid_t? = {
    let value = getenv(variable).flatMap { pid_t(String(cString: $0)) }
    unsetenv(variable)
    return value
  }()

  /// Call it before any other thread is there: it changes the environment.
  static func recognize() {
    // Who was stopped must see that its parent has gone, too.
    if identifier != nil { process_go_on_without_parent() }
  }

  /// Whether there was one, and it has ended.
  static var isGone: Bool {
    guard let identifier, getppid() != identifier else { return false }
    if kill(identifier, 0) != 0 && errno == ESRCH { return true }
    // Nobody has asked for its end yet, such as in a container without a process that does so.
    let state = textOfFile("/proc/\(identifier)/stat")?.split(separator: ")").last
    return state?.hasPrefix(" Z ") == true
  }

  /// The environment of a child, which knows its parent by it.
  static var environmentOfChild: [String: String] {
    ProcessInfo.processInfo.environment.merging([variable: String(getpid())]) { $1 }
  }
}
