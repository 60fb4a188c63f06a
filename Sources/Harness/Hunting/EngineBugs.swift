// Bugs planted in the engine that are about the order of things, and the program that shows each.
internal import Platform

/// A planted bug of the engine that a hunt finds.
struct EngineBug {
  /// The name of a `PlantedBug`.
  let name: String
  /// The program whose schedules show it.
  let program: String

  /// As a table has it.
  var title: String { "\(program) with \(name)" }

  /// All that this build can look for: it needs the bugs, and the scheduler under the engine.
  static var all: [EngineBug] {
    #if PLANTED_BUGS && CONTROLLED_SCHEDULING
      pairs.map { EngineBug(name: $0.0.rawValue, program: $0.1) }
    #else
      []
    #endif
  }

  #if PLANTED_BUGS && CONTROLLED_SCHEDULING
    private static let pairs: [(PlantedBug, String)] = [
      // Who writes, and what is seen.
      (.unfairLock, "store-queue"), (.strictQueue, "store-queue"), (.lostWakeUp, "store-queue"),
      (.publishLate, "store"), (.staleSnapshot, "store"), (.loseCommit, "store"),
      (.lateRetain, "store-pins"), (.changeUnderPin, "store-pins"), (.reuseEarly, "store-pins"),
      (.pinNotCounted, "store-foreign-pins"), (.truncateUnderForeignPin, "store-space"),
      (.staleCut, "store-space"), (.handOverSkips, "store-space"),
      (.decryptedKept, "store-space"), (.cutForgetsHeld, "store-readers"),
      (.unseenReaderForgotten, "store-readers"),
      (.deadPinsKept, "store-process-kill"),
      // What is durable when.
      (.earlyCompletion, "store-groups"), (.groupSplit, "store-power-cut"),
      (.overwriteDurableHome, "store-groups"), (.reuseBeforeSync, "store-groups"),
      (.logNotSynced, "store-groups"), (.logReusedEarly, "store-groups"),
      (.logEndedBeforeSync, "store-groups"), (.foreignLogKept, "store-groups"),
      (.reuseVouched, "store-groups"), (.publishBeforeSync, "store-groups"),
      (.carriedLost, "store-groups"), (.unsyncedShown, "store-kill"),
      (.failedSyncForgotten, "store-two-processes-failed-sync"),
      (.failedSyncNotRewritten, "store-two-processes-failed-sync"),
      (.folderNotSynced, "store-power-cut"), (.copyNotSynced, "store-compaction"),
      (.nameNotSynced, "store-compaction"),
      // Realms of threads and actors.
      (.freezeNewest, "realm"), (.resolveBehind, "realm"), (.lostTransaction, "realm-actors"),
      (.stolenTransaction, "realm-actors"), (.doubleCompletion, "realm-actors"),
      (.tellAfterEnd, "realm-actors"), (.loseMergedCommit, "realm-actors"),
      (.dropDeletion, "realm-actors"), (.shiftPosition, "realm-actors"),
      // All together.
      (.loseCommit, "realm-mixed"), (.staleSnapshot, "realm-mixed"), (.freezeNewest, "realm-mixed"),
      (.resolveTwice, "realm-mixed"), (.tellAfterEnd, "realm-mixed"),
      (.earlyCompletion, "realm-queues"), (.doubleCompletion, "realm-queues"),
      (.tellAfterEnd, "realm-queues"), (.loseMergedCommit, "realm-queues"),
      (.dropDeletion, "realm-queues"), (.shiftPosition, "realm-queues"),
    ]
  #endif
}
