// Bugs planted on purpose, to prove that tests and checkers find them. They work only with the
// trait PlantedBugs: in a normal build `isActive` is a constant and nothing is left of them. One
// bug is active at a time, named by the environment variable REALM_PLANTED_BUG or by a test. What
// each one does, and which test finds it: PlantedBug+Facts.swift.
#if PLANTED_BUGS
  internal import Glibc
#endif

/// One way in which the engine can be broken.
@frozen @usableFromInline
package enum PlantedBug: String, Sendable {
  // Found by the invariants of a running load.
  case changeUnderPin = "change-under-pin"
  case dropChange = "drop-change"
  case staleSnapshot = "stale-snapshot"
  case publishLate = "publish-late"
  case leakBlock = "leak-block"
  case loseCommit = "lose-commit"
  case earlyCompletion = "early-completion"
  case doubleCompletion = "double-completion"
  case lostWakeUp = "lost-wake-up"
  case freezeNewest = "freeze-newest"
  case frozenWritable = "frozen-writable"
  case resolveTwice = "resolve-twice"
  case resolveBehind = "resolve-behind"
  case queueUnchecked = "queue-unchecked"
  // What observers are told.
  case dropDeletion = "drop-deletion"
  case shiftPosition = "shift-position"
  case staleRank = "stale-rank"
  case loseMergedCommit = "lose-merged-commit"
  case tellAfterEnd = "tell-after-end"
  // What queries find.
  case unsignedSort = "unsigned-sort"
  case shortPrefixSort = "short-prefix-sort"
  case tiesLost = "ties-lost"
  case heldMoveMissed = "held-move-missed"
  // The ways that queries go.
  case indexRangeShort = "index-range-short"
  case stalePlan = "stale-plan"
  case candidateSkipped = "candidate-skipped"
  case backlinkMissed = "backlink-missed"
  // Commit and durability.
  case publishBeforeSync = "publish-before-sync"
  case headerBeforeData = "header-before-data"
  case recordBeforeData = "record-before-data"
  case folderNotSynced = "folder-not-synced"
  case groupSplit = "group-split"
  case carriedLost = "carried-lost"
  case overwriteDurableHome = "overwrite-durable-home"
  case tornRecordLeft = "torn-record-left"
  case ignoredShortWrite = "ignored-short-write"
  case unfairLock = "unfair-lock"
  case strictQueue = "strict-queue"
  case lateRetain = "late-retain"
  // Blocks and space.
  case staleChecksum = "stale-checksum"
  case launderedDamage = "laundered-damage"
  case tagIgnored = "tag-ignored"
  case reuseEarly = "reuse-early"
  case reuseBeforeSync = "reuse-before-sync"
  case reuseVouched = "reuse-vouched"
  case deadMergeLost = "dead-merge-lost"
  case freeSpaceLost = "free-space-lost"
  case rollbackSpaceLost = "rollback-space-lost"
  case journalDeathsLost = "journal-deaths-lost"
  case partTooShort = "part-too-short"
  case logDroppedEarly = "log-dropped-early"
  case handOverSkips = "hand-over-skips"
  case cutForgetsHeld = "cut-forgets-held"
  case unseenReaderForgotten = "unseen-reader-forgotten"
  case truncateLiveBlock = "truncate-live-block"
  // The commit log.
  case logNotSynced = "log-not-synced"
  case logReusedEarly = "log-reused-early"
  case inPlaceNotNoted = "in-place-not-noted"
  case logRepeatedFromItsStart = "log-repeated-from-its-start"
  case largeCommitLogged = "large-commit-logged"
  case largeCommitNotNoted = "large-commit-not-noted"
  case passedOverAdopted = "passed-over-adopted"
  case foreignLogKept = "foreign-log-kept"
  case logEndedBeforeSync = "log-ended-before-sync"
  // Recovery.
  case wrongHome = "wrong-home"
  case incompleteRecord = "incomplete-record"
  case unsyncedShown = "unsynced-shown"
  case failedSyncNotRewritten = "failed-sync-not-rewritten"
  // Copies and encryption.
  case copyNotSynced = "copy-not-synced"
  case nameNotSynced = "name-not-synced"
  case nonceRepeated = "nonce-repeated"
  case decryptedKept = "decrypted-kept"
  // Processes.
  case failedSyncForgotten = "failed-sync-forgotten"
  case pinNotCounted = "pin-not-counted"
  case deadPinsKept = "dead-pins-kept"
  case truncateUnderForeignPin = "truncate-under-foreign-pin"
  case staleCut = "stale-cut"
  case mapNotForgotten = "map-not-forgotten"
  case foreignLockFile = "foreign-lock-file"
  case staleBoot = "stale-boot"
  // Actors.
  case stolenTransaction = "stolen-transaction"
  case lostTransaction = "lost-transaction"
}

#if !PLANTED_BUGS
  extension PlantedBug {
    /// Whether this bug is active: never in this build.
    @inlinable @inline(__always) package var isActive: Bool { false }
  }
#else
  extension PlantedBug: CaseIterable {
    private static let all = allCases
    private static let active = Atomic<Int>(initial)
    private static let calls = Atomic<Int>(0)

    private static var initial: Int {
      guard let name = getenv("REALM_PLANTED_BUG").map({ String(cString: $0) }), !name.isEmpty
      else { return -1 }
      guard let index = all.firstIndex(where: { $0.rawValue == name }) else {
        fatalError("REALM_PLANTED_BUG names no bug: '\(name)'")
      }
      return index
    }

    /// The bug that is active now.
    package static var current: PlantedBug? {
      // No step of an exploration: nobody changes it there.
      let index = active.peek()
      return index < 0 ? nil : all[index]
    }

    /// Makes this the active bug.
    package func plant() {
      Self.active.store(Self.all.firstIndex(of: self)!, ordering: .sequentiallyConsistent)
    }

    /// Makes the engine whole again.
    package static func removeAll() { active.store(-1, ordering: .sequentiallyConsistent) }

    /// Makes so many the number of the calls of `strikes` until now; for a program of an
    /// exploration, whose runs must not depend on those before.
    package static func setCalls(_ count: Int) { calls.store(count, ordering: .relaxed) }

    /// Whether this bug is active.
    package var isActive: Bool { Self.current == self }

    /// True at every `count`th call while this bug is active.
    package func strikes(everyCalls count: Int) -> Bool {
      guard isActive else { return false }
      return Self.calls.add(1, ordering: .relaxed).newValue % count == 0
    }
  }
#endif
