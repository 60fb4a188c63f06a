// What Swift's observation knows of a value that is shown: something that was read, and that says
// once that it has changed.
internal import Observation

/// Tells those who have read a value that there is a new one.
///
/// Used in its Realm's place only.
final class RedrawSignal: Observable {
  private let registrar = ObservationRegistrar()
  private let probe: Probe
  /// Of this signal alone: whoever keeps it in a set asks the probe for its hash.
  private let keyPath: KeyPath<RedrawSignal, Bool>

  init() {
    let probe = Probe()
    self.probe = probe
    keyPath = \RedrawSignal.[probe]
  }

  /// Notes that the value was read.
  ///
  /// - Returns: whether somebody wants to know when it changes.
  @discardableResult
  func wasRead() -> Bool {
    probe.isAsked = false
    registrar.access(self, keyPath: keyPath)
    return probe.isAsked
  }

  /// Tells all who have read the value so far; the new one can be read already.
  func send() {
    registrar.willSet(self, keyPath: keyPath)
    registrar.didSet(self, keyPath: keyPath)
  }

  /// Only to be named by a key path.
  private subscript(probe: Probe) -> Bool { false }
}

/// Notices that it is put into a set, as key paths are where reading is followed.
private final class Probe: Hashable {
  // Unchecked exclusivity: touched in its Realm's place only, for a moment.
  @exclusivity(unchecked) var isAsked = false

  static func == (left: Probe, right: Probe) -> Bool { left === right }

  func hash(into hasher: inout Hasher) {
    isAsked = true
    hasher.combine(ObjectIdentifier(self))
  }
}
