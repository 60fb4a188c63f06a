// One actor of a chain, with a session of its own: takes what the actor before hands over, checks
// it, and hands something on. Everything that it does with its session is checked as a thread's
// session is.
internal import Platform

/// How an actor hands an object to the next one.
package enum LetterKind: Int, CaseIterable, Sendable {
  /// A reference, resolved on arrival.
  case reference
  /// A frozen copy of everything.
  case frozen
  /// The key and the plain values.
  case values
}

/// What goes from one actor to the next.
package struct Letter<Parcel: Sendable>: Sendable {
  let kind: LetterKind
  /// What the sender has read.
  let row: Row
  /// The version on which the sender stood.
  let version: UInt64
  let parcel: Parcel?
  /// When it left.
  var sent: UInt64 = 0
}

/// An actor of a chain.
package actor HopActor<Driver: ActorEngine> {
  private let shared: RunShared<Driver>
  private let place: String
  private let clock = MonotonicClock()
  private var session: Driver.Session!
  private var watch: SessionWatch<Driver>
  private var random: RandomGenerator
  private var row = Row()
  private var letters = 0
  private(set) var ledger = InvariantLedger()

  init(_ shared: RunShared<Driver>, chain: Int, position: Int) async throws {
    self.shared = shared
    place = "actor \(position) of chain \(chain)"
    watch = SessionWatch(shared)
    random = shared.random(thread: chain * 1_000 + position)
    let acknowledged = watch.acknowledged()
    session = try await shared.driver.openSession(for: self)
    try watch.moved(
      session, since: acknowledged, place: "\(place), opened", readingWith: &random,
      readsObject: true, &ledger)
  }

  /// Takes a letter and writes the next one; nanoseconds of the hop, if there was one.
  func pass(_ letter: Letter<Driver.Parcel>?) throws -> (Letter<Driver.Parcel>, hop: UInt64) {
    var hop: UInt64 = 0
    if let letter {
      hop = clock.nanoseconds() - letter.sent
      try read(letter)
    }
    if letters & 3 == 0 { try refresh() }
    letters += 1
    var next = try write(LetterKind.allCases[letters % LetterKind.allCases.count])
    next.sent = clock.nanoseconds()
    return (next, hop)
  }

  private func refresh() throws {
    let acknowledged = watch.acknowledged()
    _ = session.refresh()
    try watch.moved(
      session, since: acknowledged, place: place, readingWith: &random, readsObject: true,
      &ledger)
  }

  // MARK: - Letters

  private func write(_ kind: LetterKind) throws -> Letter<Driver.Parcel> {
    let key = Int(random.next(upperBound: UInt64(shared.plan.model.objects)))
    guard session.read(key, into: &row) else {
      throw AtomicityCheck.missing(key, version: session.version)
    }
    return Letter(
      kind: kind, row: row, version: session.version,
      parcel: kind == .values ? nil : session.parcel(key, isFrozen: kind == .frozen))
  }

  private func read(_ letter: Letter<Driver.Parcel>) throws {
    let key = letter.row.id
    switch letter.kind {
    case .reference:
      let isFound = letter.parcel.map { session.open($0, into: &row) } ?? false
      guard shared.plan.checks(.references) else { break }
      ledger.count(.references)
      if let violation = LetterCheck.reference(
        isFound ? row : nil, letter.row, sentAt: letter.version, version: session.version,
        place: place)
      {
        throw violation
      }
    case .frozen:
      let isFound = letter.parcel.map { session.open($0, into: &row) } ?? false
      guard shared.plan.checks(.snapshotStability) else { break }
      ledger.count(.snapshotStability)
      if !isFound || row.digest != letter.row.digest {
        throw Violation(
          .snapshotStability, "A frozen object has changed on its way to another actor.",
          witness: [
            "\(place): object \(key) of version \(letter.version) was written by transaction "
              + "\(letter.row.stamp) and shows \(isFound ? "\(row.stamp)" : "nothing")"
          ])
      }
    case .values:
      // The receiver may stand on an older version until it refreshes.
      guard shared.plan.checks(.monotonicVersions), session.version >= letter.version,
        session.read(key, .account, into: &row)
      else { break }
      ledger.count(.monotonicVersions)
      if row.stamp < letter.row.stamp {
        throw Violation(
          .monotonicVersions, "An object is older than in an earlier version.",
          witness: [
            "\(place), version \(session.version): object \(key) was written by transaction "
              + "\(row.stamp), in version \(letter.version) by \(letter.row.stamp)"
          ])
      }
    }
    // A resolved reference has brought the session to its version.
    try watch.observe(session, place: place, &ledger)
  }

  // MARK: - Writing

  /// Commits a batch with an asynchronous write; nanoseconds until it has returned.
  ///
  /// - Throws: also `RunControl.GivenUp`, when the run was over before it could begin.
  func commit(_ lockWait: LockWait, isScheduled: Bool) async throws -> UInt64 {
    var transaction = 0
    let model = shared.plan.model
    let start = clock.nanoseconds()
    lockWait.begin(HopFigure.write.rawValue, since: start)
    defer { lockWait.end() }
    try await session.writeAsynchronously(self) {
      try lockWait.end(shared.control, isScheduled: isScheduled)
      transaction = shared.versions.nextTransaction()
      try ReadersWriter<Driver>.rewrite(session, model.batch(of: transaction), model)
    }
    let took = clock.nanoseconds() - start
    let batch = model.batch(of: transaction)
    try watch.committed(
      session, transaction, key: batch.key(Int(random.next(upperBound: UInt64(batch.count)))),
      place: place, &ledger)
    return took
  }
}

/// I9: what a reference resolves to.
package enum LetterCheck {
  package static func reference(
    _ found: Row?, _ sent: Row, sentAt: UInt64, version: UInt64, place: String
  ) -> Violation? {
    guard let found else {
      return Violation(
        .references, "A reference to an object that is there has resolved to nothing.",
        witness: ["\(place), version \(version): object \(sent.id) of version \(sentAt)"])
    }
    if found.id != sent.id {
      return Violation(
        .references, "A reference has resolved to another object.",
        witness: ["\(place): object \(found.id) instead of \(sent.id)"])
    }
    if let violation = ReferenceCheck.version(version, reference: sentAt, place: place) {
      return violation
    }
    if found.stamp < sent.stamp {
      return Violation(
        .references, "A reference has resolved to an older version of its object.",
        witness: [
          "\(place), version \(version): object \(found.id) was written by transaction "
            + "\(found.stamp), in version \(sentAt) by \(sent.stamp)"
        ])
    }
    return nil
  }
}
