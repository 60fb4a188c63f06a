// The checkers themselves: pure judgements on what was observed, without threads, engines or
// clocks, so that each can be shown a good and a bad history. All return nil when nothing is wrong.

/// I1: what was read in a snapshot is read again, bit for bit.
package enum SnapshotStabilityCheck {
  /// `again` is nil when the object was not found the second time.
  package static func compare(
    first: Row, again: Row?, version: UInt64, place: String
  ) -> Violation? {
    guard let again else {
      return Violation(
        .snapshotStability, "An object vanished from a snapshot that had shown it.",
        witness: ["\(place), version \(version): object \(first.id) was read, then not found"])
    }
    guard let difference = first.difference(from: again) else { return nil }
    return Violation(
      .snapshotStability, "A snapshot showed the same object in two states.",
      witness: [
        "\(place), version \(version), object \(first.id): first and second read have "
          + difference
      ])
  }

  /// The whole table, added up twice.
  package static func compare(
    first: TableTotal, again: TableTotal, version: UInt64, place: String
  ) -> Violation? {
    guard first != again else { return nil }
    return Violation(
      .snapshotStability, "A snapshot added up to something else the second time.",
      witness: ["\(place), version \(version): first \(first), then \(again)"])
  }
}

/// I2: a snapshot holds whole transactions, and those up to its version only.
package enum AtomicityCheck {
  /// A row's content is what the transaction of its stamp writes.
  package static func content(
    _ row: Row, key: Int, model: ContentModel, version: UInt64
  ) -> Violation? {
    guard row.id == key else {
      return Violation(
        .atomicity, "A look-up gave another object than the one asked for.",
        witness: ["version \(version): object \(key) asked for, object \(row.id) given"])
    }
    guard let defect = model.defect(in: row) else { return nil }
    return Violation(
      .atomicity, "An object mixes the content of two transactions, or holds what nobody wrote.",
      witness: ["version \(version), object \(row.id), stamp \(row.stamp): \(defect)"])
  }

  package static func missing(_ key: Int, version: UInt64) -> Violation {
    Violation(
      .atomicity, "An object that no transaction deletes was not found.",
      witness: ["version \(version): object \(key) is missing"])
  }

  /// Nothing in a snapshot is newer than the newest transaction it was committed with.
  package static func notNewer(
    _ row: Row, thanTransaction newest: Int, version: UInt64
  ) -> Violation? {
    guard row.stamp > newest else { return nil }
    return Violation(
      .atomicity, "A snapshot shows part of a transaction that was committed after it.",
      witness: [
        "version \(version) was committed by transaction \(newest)",
        "its object \(row.id) was written by transaction \(row.stamp)",
      ])
  }

  /// Every object of a transaction that the snapshot shows part of, or was committed after, carries
  /// that transaction or a later one.
  package static func member(
    _ row: Row, ofTransaction transaction: Int, seenIn evidence: String, version: UInt64
  ) -> Violation? {
    guard row.stamp < transaction else { return nil }
    return Violation(
      .atomicity, "A snapshot shows only part of a transaction.",
      witness: [
        "version \(version): \(evidence)",
        "transaction \(transaction) also wrote object \(row.id), which shows transaction "
          + "\(row.stamp) there",
      ])
  }

  package static func total(
    _ total: TableTotal, model: ContentModel, objects: Int? = nil, version: UInt64
  ) -> Violation? {
    let objects = objects ?? model.objects
    if total.count != objects {
      return count(total.count, expected: objects, version: version)
    }
    let balance = objects * ContentModel.initialBalance
    guard total.balance != balance else { return nil }
    return Violation(
      .atomicity, "A snapshot shows part of a transfer: the table's total changed.",
      witness: [
        "version \(version): the balances add up to \(total.balance), "
          + "expected \(balance)"
      ])
  }

  package static func count(_ count: Int, expected: Int, version: UInt64) -> Violation {
    Violation(
      .atomicity, "A snapshot has more or fewer objects than were ever committed.",
      witness: ["version \(version): \(count) objects, expected \(expected)"])
  }

  /// The last transaction that a snapshot shows is the one that made its version.
  package static func newest(
    _ total: TableTotal, transaction: Int?, version: UInt64
  ) -> Violation? {
    guard let transaction, total.newestStamp != transaction else { return nil }
    return Violation(
      .atomicity, "A snapshot ends with another transaction than the one that made it.",
      witness: [
        "version \(version) was committed by transaction \(transaction), the last that it shows "
          + "is \(total.newestStamp)"
      ])
  }

  /// A kept object and a fresh look-up in one snapshot are the same.
  package static func held(_ held: Row, lookup: Row, version: UInt64) -> Violation? {
    guard let difference = held.difference(from: lookup) else { return nil }
    return Violation(
      .atomicity, "A kept object and a look-up in the same snapshot show two versions.",
      witness: [
        "version \(version), object \(lookup.id): kept object and look-up have \(difference)"
      ])
  }
}

/// I3: one reader's versions never go back.
package struct MonotonicVersionCheck: Sendable {
  private var last: UInt64 = 0

  package init() {}

  package mutating func observe(_ version: UInt64, place: String) -> Violation? {
    defer { last = max(last, version) }
    guard version < last else { return nil }
    return Violation(
      .monotonicVersions, "A reader went back to an older version.",
      witness: ["\(place): version \(version) after version \(last)"])
  }
}

/// I3: a version number names one state.
///
/// Remembers a digest of the versions seen last, by anyone.
package struct VersionDigestCheck: Sendable {
  private struct Seen: Sendable {
    var version: UInt64 = 0
    var digest: UInt64 = 0
    var place = ""
  }

  private var slots: [Seen]

  package init(slots: Int = 4096) {
    self.slots = Array(repeating: Seen(), count: slots)
  }

  /// Two commits were given the same number.
  package static func sharedNumber(
    _ version: UInt64, transactions first: Int, _ second: Int
  ) -> Violation {
    Violation(
      .monotonicVersions, "One version number names two states.",
      witness: ["version \(version) was committed by transaction \(first) and by \(second)"])
  }

  package mutating func observe(version: UInt64, digest: UInt64, place: String) -> Violation? {
    let slot = Int(version % UInt64(slots.count))
    if slots[slot].version != version {
      slots[slot] = Seen(version: version, digest: digest, place: place)
      return nil
    }
    guard slots[slot].digest != digest else { return nil }
    return Violation(
      .monotonicVersions, "One version number names two states.",
      witness: [
        "version \(version) as seen by \(slots[slot].place) and by \(place) differ: digests "
          + "\(String(slots[slot].digest, radix: 16)) and \(String(digest, radix: 16))"
      ])
  }
}

/// I4: an acknowledged write is seen by its Realm and by all that look later.
package enum ReadYourWritesCheck {
  /// The writer's own read of an object that it has just committed.
  package static func own(_ row: Row?, key: Int, transaction: Int, version: UInt64) -> Violation? {
    if let row, row.stamp == transaction { return nil }
    let seen = row.map { "transaction \($0.stamp)" } ?? "no object"
    return Violation(
      .readYourWrites, "A Realm does not see what it has just committed.",
      witness: [
        "version \(version), object \(key): written by transaction \(transaction), "
          + "shows \(seen)"
      ])
  }

  /// A version reached after `acknowledged` had been returned to its writer.
  package static func reached(
    _ version: UInt64, acknowledged: UInt64, place: String
  ) -> Violation? {
    guard version < acknowledged else { return nil }
    return Violation(
      .readYourWrites, "A Realm does not see a write that had returned before it looked.",
      witness: [
        "\(place): at version \(version), though version \(acknowledged) had been "
          + "acknowledged"
      ])
  }

  /// An object of a transaction that had returned before the snapshot was taken.
  package static func contains(
    _ row: Row, acknowledged transaction: Int, version: UInt64, place: String
  ) -> Violation? {
    guard row.stamp < transaction else { return nil }
    return Violation(
      .readYourWrites, "A Realm does not show the content of a write that had returned.",
      witness: [
        "\(place), version \(version), object \(row.id): shows transaction \(row.stamp), "
          + "though transaction \(transaction) wrote it and had been acknowledged"
      ])
  }
}

/// I10: what the engine's own walk of the file found.
package enum SpaceAccountingCheck {
  package static func judge(_ findings: [String], place: String) -> Violation? {
    guard let first = findings.first else { return nil }
    return Violation(
      .spaceAccounting, "The blocks of the file do not add up.",
      witness: [place + ": " + first]
        + (findings.count > 1 ? ["and \(findings.count - 1) more findings"] : []))
  }
}

/// I7: the table after a run is what its transactions give, one after the other.
package struct ReplayCheck: Sendable {
  private var stamps: [Int]
  private var balances: [Int]
  private let model: ContentModel

  /// Replays transactions 1...transactions.
  package init(model: ContentModel, transactions: Int) {
    self.model = model
    stamps = Array(repeating: 0, count: model.objects)
    balances = Array(repeating: ContentModel.initialBalance, count: model.objects)
    guard transactions > 0 else { return }
    for transaction in 1...transactions {
      let batch = model.batch(of: transaction)
      for position in 0..<batch.count {
        let key = batch.key(position)
        stamps[key] = transaction
        balances[key] += batch.amount(position)
      }
    }
  }

  package func judge(_ row: Row?, key: Int, version: UInt64) -> Violation? {
    guard let row else {
      return Violation(
        .serialOrder, "An object is missing at the end.",
        witness: ["version \(version): object \(key) is missing"])
    }
    if row.stamp != stamps[key] {
      return Violation(
        .serialOrder, "An update was lost, or one was kept that was never committed.",
        witness: [
          "version \(version), object \(key): shows transaction \(row.stamp), expected "
            + "\(stamps[key])"
        ])
    }
    guard row.balance != balances[key] else { return nil }
    return Violation(
      .serialOrder, "An update was lost: a balance is not the sum of its changes.",
      witness: [
        "version \(version), object \(key): balance \(row.balance), expected "
          + "\(balances[key])"
      ])
  }
}
