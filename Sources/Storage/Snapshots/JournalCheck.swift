// The space journal of the newest version, read beside its writers. No pin keeps the journal: the
// second commit after a version may write over what that version's journal was. So a failure counts
// only where the homes show afterwards that nothing was written since.
internal import Platform

/// What a reading of the space journal came to.
package enum JournalCheck: Sendable {
  /// So many blocks and bytes were read, verified, and fit together.
  case sound(blocks: Int, bytes: UInt64)
  case damaged(StorageError)
  /// Others commit so fast that nothing can be said of it.
  case inMotion
}

extension Store {
  /// Reads the journal of the newest version by calls, as the file has it now, and replays it.
  ///
  /// - Parameter again: asked, and may wait, after each try that others have made vain.
  /// - Complexity: O(journal), a few parts in a thousand of the file.
  package func checkJournal(again: () -> Bool) throws(StorageError) -> JournalCheck {
    repeat {
      // The version is durable, and its record complete.
      let snapshot = try pinNewest()
      let search = recordSearch
      // Else somebody is in the middle of a commit.
      guard let found = try search.records().first, found.record.version == snapshot.version else {
        continue
      }
      do throws(StorageError) {
        return try readJournal(found.record, snapshot.mapping)
      } catch {
        // With no newer record than that of a durable version none of its journal is free.
        if try search.records().first?.record.version == snapshot.version {
          return .damaged(error)
        }
      }
    } while again()
    return .inMotion
  }

  private func readJournal(
    _ record: CommitRecord, _ mapping: ReadMapping
  ) throws(StorageError) -> JournalCheck {
    var length = try Store.converting { () throws(SystemError) in try file.length() }
    length -= length % UInt64(FileHeader.pageLength)
    let (journal, _) = try replaySpace(
      record, fileLength: length, by: StoredBlockReading(mapping))
    return .sound(blocks: journal.blocks.count, bytes: journal.bytes)
  }
}
