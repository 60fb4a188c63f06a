// What each planted bug does and what finds it: `realm-bench list bugs` shows it,
// scripts/planted-bugs proves it and writes the table.
#if PLANTED_BUGS
  extension PlantedBug {
    /// What the bug does, in which layer, and the tests of which at least one finds it.
    package struct Facts: Sendable {
      package let layer: String
      package let summary: String
      /// A filter of `swift test`.
      package let finder: String
    }

    /// The invariant of a running load that it breaks; nil when tests of the engine find it.
    package var invariant: String? {
      switch self {
      case .changeUnderPin: "I1"
      case .dropChange: "I2"
      case .staleSnapshot: "I3"
      case .publishLate: "I4"
      case .leakBlock: "I10"
      case .loseCommit: "I7"
      case .freezeNewest, .frozenWritable: "I5"
      case .earlyCompletion: "I6"
      case .resolveTwice, .resolveBehind: "I9"
      case .queueUnchecked: "I11"
      case .doubleCompletion, .lostWakeUp: "I12"
      case .dropDeletion, .shiftPosition, .loseMergedCommit, .tellAfterEnd: "I8"
      default: nil
      }
    }

    /// The workload whose load finds it.
    package var workload: String {
      switch self {
      case .loseCommit: "transfer"
      case .earlyCompletion, .doubleCompletion, .lostWakeUp: "grouped-commit"
      case .freezeNewest, .frozenWritable: "freeze-cache"
      case .resolveTwice, .resolveBehind: "reference-handoff"
      case .queueUnchecked: "queue-confined"
      case .dropDeletion, .shiftPosition, .loseMergedCommit, .tellAfterEnd: "notify-storm"
      default: "readers-writer"
      }
    }

    /// Whether its checker looks only when the load has ended.
    package var isFoundAtTheEnd: Bool { self == .frozenWritable || self == .queueUnchecked }

    package var facts: Facts {
      switch self {
      case .changeUnderPin:
        load("Storage/Commit", "changes leaves where they are although pins still see them")
      case .dropChange: load("ObjectStore", "drops one change of a transaction now and then")
      case .staleSnapshot:
        load("Storage/Snapshots", "gives a reader the version before the newest now and then")
      case .publishLate: load("Storage/Commit", "shows a commit to others only with the next one")
      case .leakBlock: load("Storage/Space", "forgets a freed block now and then")
      case .loseCommit:
        load("Storage/Commit", "rolls a commit back now and then and says it is done")
      case .earlyCompletion:
        load("Storage/Commit", "completes an asynchronous commit without waiting for its sync")
      case .doubleCompletion:
        load("RealmSwift/Threads", "calls a completion twice now and then")
      case .lostWakeUp:
        load("Storage/Commit", "forgets now and then to offer the write lock")
      case .freezeNewest:
        load("RealmSwift/Confinement", "freezes the newest version instead of the Realm's own")
      case .frozenWritable:
        load("RealmSwift/Confinement", "lets a frozen Realm begin a transaction")
      case .resolveTwice:
        load("RealmSwift/Threads", "keeps a reference that was resolved")
      case .resolveBehind:
        load("RealmSwift/Threads", "resolves a reference in a Realm that is older than it")
      case .queueUnchecked:
        load("RealmSwift/Confinement", "lets a queue's Realm be used everywhere")
      case .dropDeletion:
        load("RealmSwift/Observing", "leaves a deletion out of what is told now and then")
      case .shiftPosition:
        load("RealmSwift/Observing", "tells the second of several deletions one position too high")
      case .loseMergedCommit:
        load("ObjectStore/Changes", "leaves a commit out of several that are told at once")
      case .staleRank:
        Facts(
          layer: "RealmSwift/Observing",
          summary:
            "keeps a list's positions in an observed query when elements before them come or go",
          finder: "TrackerModelTests/whatIsToldLeadsToTheTruth")
      case .unsignedSort:
        Facts(
          layer: "RealmSwift/Queries",
          summary: "sorts numbers by their bits, so that negative ones come behind all others",
          finder: "SortTests/sortsLikePlainSwift")
      case .shortPrefixSort:
        Facts(
          layer: "RealmSwift/Queries",
          summary: "sorts texts by their first bytes only",
          finder: "SortTests/sortsLikePlainSwift")
      case .tiesLost:
        Facts(
          layer: "RealmSwift/Queries",
          summary: "drops elements that are equal to the last of the first ones by the first path",
          finder: "SortTests/firstElementsAreThoseOfTheWholeOrder")
      case .heldMoveMissed:
        Facts(
          layer: "RealmSwift/Queries",
          summary: "leaves an element of held results where it was when its value moves it",
          finder: "HeldResultsTests/heldResultsEqualFreshOnes")
      case .indexRangeShort:
        Facts(
          layer: "RealmSwift/Queries", summary: "ends a range of an index one value too early",
          finder: "QueryPlanTests/everyWayFindsTheSame")
      case .stalePlan:
        Facts(
          layer: "RealmSwift/Queries", summary: "goes by an index that a column no longer has",
          finder: "QueryPlanTests/everyWayFindsTheSame")
      case .candidateSkipped:
        Facts(
          layer: "RealmSwift/Queries",
          summary: "passes over the object behind the last one found when a search goes on",
          finder: "QueryPlanTests/everyWayFindsTheSame")
      case .backlinkMissed:
        Facts(
          layer: "RealmSwift/Queries", summary: "forgets one of several objects that are linked to",
          finder: "QueryPlanTests/everyWayFindsTheSame")
      case .tellAfterEnd:
        load("RealmSwift/Observing", "goes on to call an observer whose token was invalidated")
      case .publishBeforeSync, .headerBeforeData, .recordBeforeData, .folderNotSynced, .groupSplit,
        .carriedLost, .overwriteDurableHome, .tornRecordLeft, .ignoredShortWrite, .unfairLock,
        .strictQueue,
        .lateRetain:
        commitFacts
      case .staleChecksum, .launderedDamage, .tagIgnored, .reuseEarly, .reuseBeforeSync,
        .reuseVouched, .deadMergeLost, .freeSpaceLost, .rollbackSpaceLost, .journalDeathsLost,
        .partTooShort, .logDroppedEarly, .handOverSkips, .cutForgetsHeld, .unseenReaderForgotten,
        .truncateLiveBlock:
        spaceFacts
      case .logNotSynced, .logReusedEarly, .inPlaceNotNoted, .logRepeatedFromItsStart,
        .largeCommitLogged, .largeCommitNotNoted, .passedOverAdopted, .foreignLogKept,
        .logEndedBeforeSync:
        logFacts
      case .copyNotSynced, .nameNotSynced, .nonceRepeated, .decryptedKept: fileFacts
      case .stolenTransaction:
        Facts(
          layer: "RealmSwift/Threads",
          summary: "runs the block of a cancelled task in another task's transaction",
          finder: "ActorScheduleTests/cancelledAtEachPoint")
      case .lostTransaction:
        Facts(
          layer: "RealmSwift/Threads",
          summary: "rolls back what is open over a suspension when another task wants to write",
          finder: "ActorScheduleTests/programsAreSerial")
      default: recoveryFacts
      }
    }

    private func load(_ layer: String, _ summary: String) -> Facts {
      Facts(layer: layer, summary: summary, finder: "PlantedBugTests/theLoadIsSound")
    }

    private var logFacts: Facts {
      let layer = "Storage/Log"
      let finder = "CrashLogTests"
      return switch self {
      case .logNotSynced:
        Facts(layer: layer, summary: "does not sync the entries of the commit log", finder: finder)
      case .logReusedEarly:
        Facts(
          layer: layer,
          summary: "writes over entries of the log before the file has what they repeat",
          finder: finder)
      case .inPlaceNotNoted:
        Facts(
          layer: layer, summary: "does not tell the log that a sync of the file has overtaken it",
          finder: finder)
      case .logRepeatedFromItsStart:
        Facts(
          layer: layer, summary: "repeats entries after a crash that do not count any more",
          finder: finder)
      case .largeCommitLogged:
        Facts(
          layer: layer, summary: "puts a record into the log whose blocks are not there",
          finder: finder)
      case .largeCommitNotNoted:
        Facts(
          layer: layer,
          summary: "repeats the log over a large commit whose record came to the disk by itself",
          finder: "ProvenByLogTests/largeCommitsAreNotWrittenOver")
      case .passedOverAdopted:
        Facts(
          layer: layer,
          summary: "goes on from a record of before a restart that opening passed over",
          finder: "LeftByOthersTests/aSurvivorEndsTheLog")
      case .foreignLogKept:
        Facts(
          layer: layer, summary: "writes after another process without ending its log",
          finder: finder)
      default:
        Facts(
          layer: layer, summary: "ends the use of a log before the file has what it repeats",
          finder: finder)
      }
    }

    private var fileFacts: Facts {
      switch self {
      case .copyNotSynced:
        Facts(
          layer: "Storage/Copying", summary: "gives a copy its name before it is synced",
          finder: "CrashCopyTests/cutsOfACompaction")
      case .nameNotSynced:
        Facts(
          layer: "Storage/Recovery",
          summary: "commits to a compacted file whose name a power cut may take",
          finder: "CrashCopyTests/killsOfACompaction")
      case .nonceRepeated:
        Facts(
          layer: "Storage/Format", summary: "begins with the same nonce at each opening",
          finder: "EncryptionTests/noncesDoNotRepeat")
      default:
        Facts(
          layer: "Storage/Snapshots",
          summary: "keeps decrypted blocks whose place another process has reused",
          finder: "EncryptionTests/processesSeeWhatOthersWrite")
      }
    }

    private var commitFacts: Facts {
      switch self {
      case .publishBeforeSync:
        Facts(
          layer: "Storage/Commit", summary: "shows a group's last version before its sync",
          finder: "CrashProcessTests/crashesDuringASync")
      case .headerBeforeData:
        Facts(
          layer: "Storage/Recovery", summary: "names a new file before what it holds is synced",
          finder: "CrashTests/everyCutOfAShortHistory")
      case .recordBeforeData:
        Facts(
          layer: "Storage/Commit",
          summary: "writes the record of a large commit before its blocks are synced",
          finder: "CrashTests/syncsOfLargeCommits")
      case .folderNotSynced:
        Facts(
          layer: "Storage/Recovery", summary: "does not sync the folder of a new file",
          finder: "CrashTests/killsWhileTheFileIsMade")
      case .groupSplit:
        Facts(
          layer: "Storage/Commit", summary: "lets a group's record vouch for its last commit alone",
          finder: "CrashTests/sixtyFourUnsyncedCommits")
      case .carriedLost:
        Facts(
          layer: "Storage/Commit",
          summary: "lets a record vouch for nothing of the group that is still in its sync",
          finder: "CrashProcessTests/crashesDuringASync")
      case .overwriteDurableHome:
        Facts(
          layer: "Storage/Commit", summary: "opens a group in the home of the durable record",
          finder: "CrashTests/everyCutOfAShortHistory")
      case .tornRecordLeft:
        Facts(
          layer: "Storage/Commit",
          summary: "leaves a record that was written half way instead of the group's one before",
          finder: "CrashProcessTests/aTornRecordIsPutBack")
      case .ignoredShortWrite:
        Facts(
          layer: "Platform", summary: "takes a short write for a whole one",
          finder: "LinuxFileSystemTests/shortWritesGoOn")
      case .lateRetain:
        Facts(
          layer: "Storage/Snapshots",
          summary: "retains the newest snapshot after the announcement is withdrawn",
          finder: "StoreConcurrencyTests/theNewestSnapshotIsAliveWhenTaken")
      case .strictQueue:
        Facts(
          layer: "Storage/Commit",
          summary: "keeps the lock for an asynchronous waiter that does not come to take it",
          finder: "StoreConcurrencyTests/anOfferKeepsNobodyFromWriting")
      default:
        Facts(
          layer: "Storage/Commit", summary: "serves the thread that came last first",
          finder: "StoreConcurrencyTests/theWriteLockIsFair")
      }
    }

    private var spaceFacts: Facts {
      switch self {
      case .staleChecksum:
        Facts(
          layer: "Storage/Blocks", summary: "computes a block's checksum before its birth is set",
          finder: "StoreModelTests/everyVersionKeepsItsContent")
      case .launderedDamage:
        Facts(
          layer: "Storage/Blocks", summary: "copies a block without verifying its checksum",
          finder: "DamagedCopyTests")
      case .tagIgnored:
        Facts(
          layer: "Storage/Blocks",
          summary: "takes a block that was there before for the one it wants",
          finder: "StaleBlockTests")
      case .reuseEarly:
        Facts(
          layer: "Storage/Space",
          summary: "reuses what died when only the pin on the version of its birth is left",
          finder: "StoreModelTests/everyVersionKeepsItsContent")
      case .reuseBeforeSync:
        Facts(
          layer: "Storage/Space", summary: "reuses what died in a commit that is not durable",
          finder: "CrashProcessTests/crashesDuringASync")
      case .reuseVouched:
        Facts(
          layer: "Storage/Space",
          summary: "reuses bytes for which the newest durable record still vouches",
          finder: "CrashProcessTests/crashesDuringASync")
      case .deadMergeLost:
        Facts(
          layer: "Storage/Space",
          summary: "forgets the dead blocks that an older pin takes over from a released one",
          finder: "StoreModelTests/everyVersionKeepsItsContent")
      case .freeSpaceLost:
        Facts(
          layer: "Storage/Space", summary: "forgets what a commit leaves of the run it took",
          finder: "StoreModelTests/everyVersionKeepsItsContent")
      case .rollbackSpaceLost:
        Facts(
          layer: "Storage/Commit", summary: "forgets the space of a commit that fails",
          finder: "OpeningErrorTests/aFullDiskInACommit")
      case .journalDeathsLost:
        Facts(
          layer: "Storage/Space", summary: "notes no dead runs in the space journal",
          finder: "StoreModelTests/everyVersionKeepsItsContent")
      case .partTooShort:
        Facts(
          layer: "Storage/Space",
          summary: "leaves the last free run out of a part of the space journal",
          finder: "SpaceJournalTests")
      case .logDroppedEarly:
        Facts(
          layer: "Storage/Space",
          summary: "gives up a log block that a part of the space journal needs",
          finder: "SpaceJournalTests")
      case .handOverSkips:
        Facts(
          layer: "Storage/Recovery",
          summary: "passes over the first commit of another process when it takes over",
          finder: "SpaceJournalTests")
      case .cutForgetsHeld:
        Facts(
          layer: "Storage/Recovery",
          summary: "forgets what died together with what another process has cut off",
          finder: "SharedSpaceTests/aHeldVersionStaysWhatItWasWhenTheFileIsCutBehindIt")
      case .unseenReaderForgotten:
        Facts(
          layer: "Storage/Recovery",
          summary: "forgets what has died since it last looked for readers without a lock file",
          finder: "ReaderWithoutLockFileTests/versionsStayWhatTheyWereBetweenTwoLooks")
      default:
        Facts(
          layer: "Storage/Space", summary: "cuts the file one page into its last live block",
          finder: "StoreModelTests/fileShrinksAfterPinsGo")
      }
    }

    private var recoveryFacts: Facts {
      switch self {
      case .wrongHome:
        Facts(
          layer: "Storage/Recovery", summary: "takes the home with the oldest complete record",
          finder: "CrashTests/everyCutOfAShortHistory")
      case .incompleteRecord:
        Facts(
          layer: "Storage/Recovery", summary: "takes a record for complete without a look",
          finder: "CrashTests/everyCutOfAShortHistory")
      case .unsyncedShown:
        Facts(
          layer: "Storage/Recovery", summary: "shows what a killed process left without a sync",
          finder: "CrashTests/killsAtAnyOperation")
      case .failedSyncNotRewritten:
        Facts(
          layer: "Storage/Recovery",
          summary: "syncs but does not write again what a failed sync has left",
          finder: "CrashProcessTests/aFailedSyncWithASecondProcess")
      case .failedSyncForgotten:
        Facts(
          layer: "Storage/Coordination",
          summary: "lets a second process build on what a failed sync has left",
          finder: "CrashProcessTests/aFailedSyncWithASecondProcess")
      case .pinNotCounted:
        Facts(
          layer: "Storage/Coordination", summary: "publishes pins without counting the change",
          finder: "CoordinationPinTests/pinsAreSeenOnceAndInOrder")
      case .deadPinsKept:
        Facts(
          layer: "Storage/Coordination", summary: "never looks for pins of dead processes",
          finder: "CoordinationPinTests/pinsOfTheDeadGo")
      case .truncateUnderForeignPin:
        Facts(
          layer: "Storage/Coordination",
          summary: "reuses and cuts what only another process has pinned",
          finder: "CrashProcessTests/pinsOfAnotherProcessHold")
      case .staleCut:
        Facts(
          layer: "Storage/Commit",
          summary: "cuts the file to what an older record than another process's newest names",
          finder: "CrashProcessTests/filesCanBeOpenedAfterEachCut")
      case .mapNotForgotten:
        Facts(
          layer: "Storage/Commit",
          summary: "stores through a map to pages that another process may have cut off",
          finder: "OverwriteMapTests/pagesOfAnotherProcessAreForgotten")
      case .foreignLockFile:
        Facts(
          layer: "Storage/Coordination", summary: "trusts the lock file of another Realm file",
          finder: "CoordinationOpeningTests/staleFilesAreRebuilt")
      default:
        Facts(
          layer: "Storage/Coordination", summary: "trusts the durable head of an earlier boot",
          finder: "CoordinationOpeningTests/staleFilesAreRebuilt")
      }
    }
  }
#endif
