// Where a Realm may be used: for now the thread that opened it, or anywhere when it is frozen. Queues
// and actors become further cases here; nothing else in the module compares threads.
internal import Platform

/// The owner of a confined Realm and the check for it.
struct Confinement: Sendable {
  /// Matches no thread: frozen values may be used anywhere.
  ///
  /// Tokens are never 0.
  static let anywhereToken: UInt64 = 0

  /// The owning thread's token; accessors compare it on their fast path.
  let token: UInt64
  /// The owner for messages; nil when anyone may use it.
  private let thread: ThreadNumber?

  /// Confined to the calling thread.
  static func currentThread() -> Confinement {
    Confinement(token: ThreadToken.current.rawValue, thread: .current)
  }

  /// Not confined.
  static let anywhere = Confinement(token: anywhereToken, thread: nil)

  /// Whether the caller may use what is confined here.
  @inline(__always)
  var isHere: Bool { token == Self.anywhereToken || token == ThreadToken.current.rawValue }

  /// Stops unless the caller may use what is confined here.
  @inline(__always)
  func check() {
    if _slowPath(!isHere) { stop() }
  }

  @inline(never)
  private func stop() -> Never {
    let owner = thread?.description ?? "every thread"
    let offender = currentThreadDescription()
    misuse(
      .confinement,
      "Realm accessed from incorrect thread. It belongs to the \(owner) and was used on the "
        + "\(offender). Open a Realm there, or pass a frozen value.",
      owner: owner, offender: offender)
  }
}
