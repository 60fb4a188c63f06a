// What strands share: locks, conditions, channels, atomic words, by their address in a run.

/// What the scheduler knows of a lock, condition, channel or word.
final class Resource {
  /// The number of the clock, where numbers of resources are.
  static let time = -2
  /// The number of all words that are known only by the lines of code that access them.
  static let codeWords = -3

  enum Kind: String {
    case mutex, condition, channel, atomic, semaphore, group, queue
    /// A word that is waited for.
    case word
    /// A line of code whose accesses have no resource of their own.
    case code
    case runtimeLock = "lock of Swift's runtime"
  }

  let kind: Kind
  let name: String
  /// In the order in which strands have come to them.
  let number: Int
  /// By what it is known again in another schedule: its name.
  let key: UInt64
  /// How often each strand has been chosen to do something with it.
  var steps: [Int32] = []
  /// Who has the mutex.
  var owner: Strand?
  /// Who waits, first come first.
  var waiters: [Strand] = []
  /// The step of the last notification that nobody was waiting for.
  var unheardNotification: Int?

  init(kind: Kind, name: String, number: Int) {
    self.kind = kind
    self.name = name
    self.number = number
    // FNV-1a: hashes of the standard library differ between processes.
    key = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  func countStep(of strand: Int) {
    while steps.count <= strand { steps.append(0) }
    steps[strand] += 1
  }
}
