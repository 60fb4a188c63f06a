// What strands share: locks, conditions, channels, atomic words, by their address in a run.

/// What the scheduler knows of a lock, condition, channel or word.
final class Resource {
  enum Kind: String {
    case mutex, condition, channel, atomic
    /// A word that is waited for.
    case word
  }

  let kind: Kind
  let name: String
  /// In the order in which strands have come to them.
  let number: Int
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
  }
}
