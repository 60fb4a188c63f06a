// Bugs planted on purpose, to prove that the checkers find them. Compiled only with the trait
// PlantedBugs; a normal build contains none of this. One bug is active at a time, named by the
// environment variable REALM_PLANTED_BUG or by a test.
#if PLANTED_BUGS
  internal import Glibc
  internal import Synchronization

  /// One way in which the engine can be broken.
  package enum PlantedBug: String, CaseIterable, Sendable {
    /// Leaves are changed where they are, although pins still see them. Breaks I1.
    case changeUnderPin = "change-under-pin"
    /// Now and then one change of a transaction is dropped. Breaks I2.
    case dropChange = "drop-change"
    /// Now and then a reader is given the version before the newest. Breaks I3.
    case staleSnapshot = "stale-snapshot"
    /// A commit becomes visible to others only with the next one. Breaks I4.
    case publishLate = "publish-late"
    /// Now and then a freed block is forgotten. Breaks I10.
    case leakBlock = "leak-block"

    /// The invariant that it breaks.
    package var invariant: String {
      switch self {
      case .changeUnderPin: return "I1"
      case .dropChange: return "I2"
      case .staleSnapshot: return "I3"
      case .publishLate: return "I4"
      case .leakBlock: return "I10"
      }
    }

    private static let active = Atomic<Int>(initial)
    private static let calls = Atomic<Int>(0)

    private static var initial: Int {
      guard let name = getenv("REALM_PLANTED_BUG") else { return -1 }
      return allCases.firstIndex { $0.rawValue == String(cString: name) } ?? -1
    }

    /// Makes this the active bug.
    package func plant() {
      Self.active.store(Self.allCases.firstIndex(of: self)!, ordering: .sequentiallyConsistent)
    }

    /// Makes the engine whole again.
    package static func removeAll() { active.store(-1, ordering: .sequentiallyConsistent) }

    /// Whether this bug is active.
    package var isActive: Bool {
      let index = Self.active.load(ordering: .relaxed)
      return index >= 0 && Self.allCases[index] == self
    }

    /// True at every `count`th call while this bug is active.
    package func strikes(everyCalls count: Int) -> Bool {
      guard isActive else { return false }
      return Self.calls.add(1, ordering: .relaxed).newValue % count == 0
    }
  }
#endif
