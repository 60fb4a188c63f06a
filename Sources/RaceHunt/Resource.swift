// What strands share: locks, conditions, channels, atomic words, by their address in a run.

/// What the scheduler knows of a lock, condition, channel or word.
final class Resource {
  /// The number of the clock, where numbers of resources are.
  static let time = -2
  /// The number of all words that are known only by the lines of code that access them.
  static let codeWords = -3

  /// The key of the jobs of all tasks, actors and queues.
  static let jobsKey: UInt64 = 0

  enum Kind: String {
    case mutex, condition, channel, atomic, semaphore, group, queue, barrier
    /// Which iterations have been taken.
    case iterations
    /// What is done once.
    case once
    case operation
    case operationQueue = "operation queue"
    case timer
    /// What is merged until somebody is told of it.
    case event
    case readWriteLock = "read-write lock"
    /// A word that is waited for.
    case word
    /// A line of code whose accesses have no resource of their own.
    case code
    case runtimeLock = "lock of Swift's runtime"
    /// Who is cancelled, and how much it matters: one for all tasks and groups.
    case cancellation
    /// What lies in streams: one for all of them.
    case streams
    /// Who hears of notifications: one for all of their centers.
    case notifications
    /// A global or static property that is made when it is first used.
    case global
    /// Something of the program's own, of which it tells by `point`.
    case object
  }

  let kind: Kind
  let name: String
  /// In the order in which strands have come to them.
  let number: Int
  /// By what it is known again in another schedule: who has made it, as the how manyth; of what was
  /// made elsewhere its name.
  let key: UInt64
  /// How often each strand has been chosen to do something with it.
  var steps: [Int32] = []
  /// Whether one of these steps was more than a look: else their order does not matter.
  var isChanged = false
  /// Numbers of the locks that all of these steps were made with; nil before the first one.
  private var guards: [Int]?
  /// Whether somebody has tried to lock it without waiting for it to the end.
  var isTried = false
  /// Who has the mutex.
  var owner: Strand?
  /// Who waits, first come first.
  var waiters: [Strand] = []
  /// The steps of notifications that nobody was waiting for.
  var unheardNotifications: [Int] = []

  init(kind: Kind, name: String, number: Int, birth: UInt64?) {
    self.kind = kind
    self.name = name
    self.number = number
    key = birth ?? Self.key(name)
  }

  /// FNV-1a: hashes of the standard library differ between processes.
  private static func key(_ name: String) -> UInt64 {
    name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// Whether one lock was always held: then the orders of the steps are those of its lockings.
  var isGuarded: Bool { guards?.isEmpty == false }

  /// - Parameter held: the numbers of the locks that the strand has.
  func countStep(of strand: Int, changes: Bool, holding held: [Int]) {
    while steps.count <= strand { steps.append(0) }
    steps[strand] += 1
    if changes { isChanged = true }
    if guards == nil {
      guards = held
    } else if isGuarded {
      guards?.removeAll { !held.contains($0) }
    }
  }
}
