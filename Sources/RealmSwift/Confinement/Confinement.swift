// Where a Realm may be used: on a thread, on a serial dispatch queue, in an actor, or anywhere when
// it is frozen. The main thread, the main actor and the main queue are one place. Nothing else in
// the module compares threads; how code gets to run in such a place is in Scheduler.swift.
internal import Dispatch
internal import Platform

/// The owner of a confined Realm and the check for it.
struct Confinement: Sendable {
  /// Matches no thread: frozen values may be used anywhere.
  ///
  /// Tokens are never 0.
  static let anywhereToken: UInt64 = 0
  /// Matches no thread: the owner is not one, so that each use asks where it runs.
  static let elsewhereToken = UInt64.max

  enum Owner: Sendable {
    case anyone
    case thread(ThreadNumber)
    case main
    case queue(DispatchQueue, QueueMark)
    case actor(ActorOwner)
  }

  /// The same for two confinements to one place, different for any other two that exist at a time.
  enum Identity: Hashable, Sendable {
    case anyone
    case thread(UInt64)
    case main
    case queue(UInt)
    case actor(UInt)
  }

  /// The owning thread's token; accessors compare it on their fast path.
  ///
  /// Of the main place: the main thread's token, since that thread runs nothing else.
  let token: UInt64
  let owner: Owner

  private init(_ token: UInt64, _ owner: Owner) {
    self.token = token
    self.owner = owner
  }

  // MARK: - Places

  /// Not confined.
  static let anywhere = Confinement(anywhereToken, .anyone)

  /// The main thread, the main actor and the main queue.
  static let main = Confinement(ThreadToken.main.rawValue, .main)

  /// The main place if that is where the caller runs, else the calling thread.
  static func current() -> Confinement {
    if isMain { return main }
    return Confinement(ThreadToken.current.rawValue, .thread(.current))
  }

  /// A serial queue.
  ///
  /// Stops when the queue is not serial, or the caller does not run on it.
  init(_ queue: DispatchQueue) {
    Self.requireSerial(queue)
    if queue.isMain {
      self = .main
    } else {
      self.init(Self.elsewhereToken, .queue(queue, QueueMarks.mark(of: queue)))
    }
    if !isHere { misuse(.confinement, "Realm opened from incorrect dispatch queue.") }
    // Nobody can tell, so it is tried, once a queue.
    if case .queue(_, let mark) = owner, queue.isSerial == nil, mark.isFirstUse,
      queue.runsAnotherBlock(within: 50_000_000)
    {
      Self.refuse(queue)
    }
  }

  /// Stops when a queue is concurrent.
  static func requireSerial(_ queue: DispatchQueue) {
    if !queue.isMain, queue.isSerial == false { refuse(queue) }
  }

  private static func refuse(_ queue: DispatchQueue) -> Never {
    misuse(
      .confinement,
      "Invalid queue '\(queue.label)': Realms can only be confined to serial queues or the main "
        + "queue.")
  }

  /// An actor.
  init(_ actor: any Actor) {
    let owner = ActorOwner(actor)
    if owner.executor == .main {
      self = .main
    } else {
      self.init(Self.elsewhereToken, .actor(owner))
    }
  }

  var identity: Identity {
    switch owner {
    case .anyone: .anyone
    case .thread: .thread(token)
    case .main: .main
    case .queue(let queue, _): .queue(UInt(bitPattern: ObjectIdentifier(queue)))
    case .actor(let owner): .actor(owner.address)
    }
  }

  // MARK: - Checks

  /// Whether the caller runs on the main thread, in the main actor or on the main queue.
  ///
  /// In a program with an asynchronous `main` the main thread is gone after the first suspension,
  /// and others run the main actor's jobs and the main queue's blocks.
  static var isMain: Bool {
    isMainThread || ExecutorIdentity.main.isCurrent || QueueMark.main.isHere
  }

  /// Whether the caller may use what is confined here.
  @inline(__always)
  var isHere: Bool {
    token == Self.anywhereToken || token == ThreadToken.current.rawValue || isPlaceHere
  }

  /// The same for owners that are no thread.
  private var isPlaceHere: Bool {
    switch owner {
    case .anyone: true
    case .thread: false
    case .main: Self.isMain
    case .queue(_, let mark): mark.isHere || PlantedBug.queueUnchecked.isActive
    case .actor(let owner): owner.executor.isCurrent
    }
  }

  /// Whether this is the queue whose block runs, as far as its label tells, and not one that only
  /// gets the blocks of that.
  var isInnermostQueue: Bool {
    guard case .queue(let queue, _) = owner, let label = currentQueueLabel else { return false }
    return queue.label == label
  }

  /// Whether a Realm that is opened now would belong here.
  ///
  /// - Parameter queue: the one to confine it to; nil for the place where the caller runs.
  func isPlaceHere(for queue: DispatchQueue?) -> Bool {
    switch owner {
    case .anyone, .actor: false
    case .thread: queue == nil && token == ThreadToken.current.rawValue && !Self.isMain
    case .main: (queue == nil || queue!.isMain) && Self.isMain
    case .queue(let own, let mark): own === queue && mark.isHere
    }
  }

  /// Stops unless the caller may use what is confined here.
  ///
  /// - Complexity: one comparison for threads, some nanoseconds for queues and actors.
  @inline(__always)
  func check() {
    if _slowPath(!isHere) { stop() }
  }

  @inline(never)
  func stop(_ advice: String = "Open a Realm there, or pass a frozen value.") -> Never {
    let offender = Self.placeDescription
    misuse(
      .confinement,
      "Realm accessed from incorrect thread. It belongs to the \(description) and was used on the "
        + "\(offender). \(advice)",
      owner: description, offender: offender)
  }

  // MARK: - Texts

  /// The owner, as in `queue 'label'`.
  var description: String {
    switch owner {
    case .anyone: "every thread"
    case .thread(let number): number.description
    case .main: "main thread"
    case .queue(let queue, _): Self.name(of: queue)
    case .actor(let owner): "actor \(owner.typeName)"
    }
  }

  fileprivate static func name(of queue: DispatchQueue) -> String { "queue '\(queue.label)'" }

  /// The owner in one word.
  var note: PlaceNote {
    switch owner {
    case .anyone: .nobody
    case .thread(let number): PlaceNote(number)
    case .main: Self.mainNote
    case .queue(_, let mark): mark.note
    case .actor: PlaceNote(name: description)
    }
  }

  private static let mainNote = PlaceNote(name: main.description)

  /// Where the caller runs.
  static var placeDescription: String {
    if isMain { return "main thread" }
    if let executor = ExecutorIdentity.current { return "actor \(ActorOwner.name(of: executor))" }
    if let label = currentQueueLabel { return "queue '\(label)'" }
    return currentThreadDescription()
  }
}

/// An actor to which Realms are confined.
///
/// It does not keep the actor alive, which may have the Realm in one of its properties.
final class ActorOwner: Sendable {
  let executor: ExecutorIdentity
  private let type: any Actor.Type
  /// Keeps the actor's memory, so that no other actor ever has its address.
  let reference: ActorReference
  let address: UInt

  init(_ actor: any Actor) {
    executor = ExecutorIdentity(actor.unownedExecutor)
    type = Swift.type(of: actor)
    reference = ActorReference(actor)
    address = UInt(bitPattern: Unmanaged.passUnretained(actor as AnyObject).toOpaque())
  }

  /// Made when it is asked for: that takes microseconds.
  var typeName: String { String(describing: type) }

  /// The type of the actor, or of the executor that it brings, by which code runs now.
  static func name(of executor: ExecutorIdentity) -> String {
    // What runs now keeps its actor, or the executor that the actor has chosen.
    let object = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: executor.address)!)
    return object._withUnsafeGuaranteedRef { String(describing: Swift.type(of: $0)) }
  }
}

/// The marks of the queues to which Realms are confined.
enum QueueMarks {
  private struct Entry: Sendable {
    /// Keeps the memory of the queue, not the queue: no other one ever has its address.
    unowned let memory: DispatchQueue
    let reference: Reference
    let mark: QueueMark
  }

  // @unchecked: an address, to what `memory` keeps; it is only followed through `retainIfAlive`.
  private struct Reference: @unchecked Sendable {
    let queue: Unmanaged<DispatchQueue>
  }

  private static let entries = Monitor<[ObjectIdentifier: Entry]>([:])

  /// The queue's mark, the same for as long as the queue lives.
  static func mark(of queue: DispatchQueue) -> QueueMark {
    let identifier = ObjectIdentifier(queue)
    return entries.withLock { entries in
      if let entry = entries[identifier] { return entry.mark }
      if entries.count >= 64 {
        entries = entries.filter { retainIfAlive($0.value.reference.queue) != nil }
      }
      let mark = QueueMark(queue, PlaceNote(name: Confinement.name(of: queue)))
      entries[identifier] = Entry(
        memory: queue, reference: Reference(queue: .passUnretained(queue)), mark: mark)
      return mark
    }
  }
}
