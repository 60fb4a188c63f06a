// The actor of the programs: has a Realm of its own and reports to the model what it sees there.
package import RealmSwift

/// What the programs write to.
package final class Journal: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var count: Int
  @Persisted var digest: Int

  override package class func shouldIncludeInDefaultSchema() -> Bool { false }

  var state: JournalState { JournalState(count: count, digest: digest) }

  func append(_ entry: Int) {
    var state = state
    state.append(entry)
    count = state.count
    digest = state.digest
  }
}

/// Owns a Realm.
package actor JournalActor {
  private struct Refused: Error {}

  private let number: Int
  private var realm: Realm!
  private var journal: Journal!

  package init(_ number: Int, _ configuration: Realm.Configuration) async throws {
    self.number = number
    realm = try await Realm.open(configuration: configuration)
    // It would come between the steps, at no certain time.
    realm.stopIdleWork()
    try realm.write {
      journal = realm.create(Journal.self, value: ["id": 0], update: .modified)
    }
  }

  private var place: ScheduleModel.Place { .actor(number) }

  package func newestState() -> JournalState {
    realm.refresh()
    return journal.state
  }

  // MARK: - Steps

  func visit() {}

  func write(_ entry: Int, _ ending: ScheduleModel.Ending, _ model: ScheduleModel) async {
    model.request(entry, ending, isCancelled: Task.isCancelled)
    do {
      try await realm.asyncWrite { try run(entry, ending, model, Task.isCancelled) }
      model.finish(entry, .done, sees: realm.isInWriteTransaction ? nil : journal.state)
    } catch is CancellationError {
      model.finish(entry, .cancelled, sees: nil)
    } catch is Refused {
      model.finish(entry, .refused, sees: nil)
    } catch {
      model.violate("\(entry) has failed: \(error)")
      model.finish(entry, .failed, sees: nil)
    }
  }

  /// The block of a write.
  private func run(
    _ entry: Int, _ ending: ScheduleModel.Ending, _ model: ScheduleModel, _ isCancelled: Bool
  ) throws {
    model.begin(
      entry, sees: journal.state, isCancelled: isCancelled, isWriting: realm.isInWriteTransaction)
    journal.append(entry)
    switch ending {
    case .commits: model.end(entry, changes: [entry])
    case .commitsInside:
      try realm.commitWrite()
      model.end(entry, changes: [entry])
    case .fails:
      model.end(entry, changes: [])
      throw Refused()
    case .cancels:
      realm.cancelWrite()
      model.end(entry, changes: [])
    case .cancelsAndBegins:
      realm.cancelWrite()
      realm.beginWrite()
      journal.append(-entry)
      model.end(entry, changes: [-entry])
    }
  }

  func writeBlock(_ entry: Int, _ model: ScheduleModel) -> AsyncTransactionId {
    model.request(entry, .commits, isCancelled: false)
    return realm.writeAsync {
      do { try self.run(entry, .commits, model, false) } catch { model.violate("\(error)") }
    } onComplete: { error in
      if let error { model.violate("\(entry) has failed: \(error)") }
      model.complete(entry)
    }
  }

  func cancel(_ identifier: AsyncTransactionId, _ entry: Int, _ model: ScheduleModel) throws {
    model.drop(entry)
    try realm.cancelAsyncWrite(identifier)
  }

  func writeSlowly(_ entry: Int, suspensions: Int, _ model: ScheduleModel) async throws {
    // Another task of the actor may be in the middle of its own.
    model.request(entry, .commits, isCancelled: false)
    realm.beginWrite()
    model.begin(
      entry, sees: journal.state, isCancelled: false, isWriting: realm.isInWriteTransaction)
    for number in 0..<suspensions {
      await Task.yield()
      model.goOn(entry, isWriting: realm.isInWriteTransaction)
      journal.append(entry + number)
    }
    try realm.commitWrite()
    model.end(entry, changes: (0..<suspensions).map { entry + $0 })
    model.finish(entry, .done, sees: journal.state)
  }

  func refresh(_ model: ScheduleModel) async {
    let least = model.visibleCount
    let wasCancelled = Task.isCancelled
    let before = realm.isInWriteTransaction ? 0 : journal.state.count
    let hasMoved = await realm.asyncRefresh()
    if realm.isInWriteTransaction { return }
    if hasMoved && wasCancelled { model.violate("a cancelled task has refreshed") }
    // Without news, or cancelled, it stays at least where it was.
    model.read(journal.state, least: Task.isCancelled ? before : least, by: place)
  }

  func makeReference() -> (ThreadSafeReference<Journal>, least: Int)? {
    // Frozen is the version before the transaction.
    if realm.isInWriteTransaction { return nil }
    return (ThreadSafeReference(to: journal), journal.count)
  }

  func resolve(
    _ reference: ThreadSafeReference<Journal>, least: Int, inWrite entry: Int?,
    _ model: ScheduleModel
  ) async {
    guard let entry else {
      if realm.isInWriteTransaction { return }
      guard let resolved = realm.resolve(reference) else {
        return model.violate("a reference is lost")
      }
      return model.read(resolved.state, least: least, by: place)
    }
    model.request(entry, .commits, isCancelled: Task.isCancelled)
    do {
      try await realm.asyncWrite {
        guard let resolved = realm.resolve(reference) else {
          return model.violate("a reference is lost")
        }
        model.begin(
          entry, sees: resolved.state, isCancelled: Task.isCancelled,
          isWriting: realm.isInWriteTransaction)
        resolved.append(entry)
        model.end(entry, changes: [entry])
      }
      model.finish(entry, .done, sees: realm.isInWriteTransaction ? nil : journal.state)
    } catch is CancellationError {
      model.finish(entry, .cancelled, sees: nil)
    } catch {
      model.violate("\(entry) has failed: \(error)")
    }
  }

  /// Observes the object here on another actor.
  func observe(
    _ observer: Int, on other: JournalActor, _ model: ScheduleModel
  ) async -> NotificationToken? {
    // Observing inside of a transaction stops, and a cancelled task observes nothing.
    if realm.isInWriteTransaction || Task.isCancelled { return nil }
    let known = journal.state
    model.observe(observer, knows: known)
    return await journal.observe(on: other) { (actor, change: ObjectChange<Journal>) in
      guard case .change(let journal, _) = change else {
        return model.notify(observer, nil, isWriting: false)
      }
      model.notify(observer, journal.state, isWriting: journal.realm!.isInWriteTransaction)
    }
  }

  /// Brings the Realm up to date and reports what it shows.
  package func audit(_ model: ScheduleModel) {
    if realm.isInWriteTransaction { model.violate("\(place) is left in a transaction") }
    realm.refresh()
    model.read(journal.state, least: model.committed.count, by: place)
  }
}
