// The programs beside this file at work: what they store, find, are told, migrate and copy.
import Foundation
import RealmSwift
import Testing

@Suite struct ProgramTests {
  /// A configuration of its own for each test, as unit tests of programs make them.
  private func memory(_ types: [ObjectBase.Type], _ name: String = #function) -> Realm.Configuration
  {
    Realm.Configuration(inMemoryIdentifier: "program-\(name)", objectTypes: types)
  }

  // MARK: - Wallet

  @Test func walletStoresAndFinds() throws {
    let realm = try Realm(
      configuration: memory([
        Transaction.self, LocalizedOperation.self, TokenObject.self, WalletObject.self,
      ]))
    let storage = TransactionsStorage(realm: realm)
    let hour = Date(timeIntervalSince1970: 3_600)
    storage.add([
      Transaction(hash: "a", blockNumber: 5, from: "0xabc"),
      Transaction(hash: "b", blockNumber: 7, from: "0xABC", date: hour, kind: .outgoing),
      Transaction(hash: "c", blockNumber: 9, from: "0xdef", kind: .contract, state: .pending),
    ])
    #expect(storage.count == 3 && storage.completed.count == 2 && storage.sum() == 21)
    #expect(storage.latest?.primaryKey == "b-1")
    #expect(storage.transactions(for: [.incoming, .contract]).count == 2)
    #expect(storage.nonce() == 0)
    let updated = storage.update(state: .failed, for: try #require(storage.latest))
    #expect(
      updated.state == .failed && updated.memo["note"] == "x" && updated.tags.contains("done"))
    #expect(updated.operations.first?.decimals == 18)
    let copy = try JSONDecoder().decode(
      Transaction.self, from: JSONEncoder().encode(Transaction(value: updated)))
    #expect(copy.primaryKey == "b-1" && copy.kind == .outgoing && copy.operations.count == 1)
    try realm.write {
      let wallet = WalletObject()
      wallet.server = ServerURL(URL(string: "https://example.com")!)
      let token = TokenObject(value: ["id": "t", "contract": "0xT"])
      token.sortIndex = 3
      wallet.tokens.append(token)
      realm.add(wallet)
    }
    let token = try #require(realm.objects(TokenObject.self).first)
    #expect(token.wallets.first?.server?.url.host == "example.com" && token.sortIndex == 3)
    for (filter, count) in [
      (WalletFilter.all, 1), (.erc20, 1), (.text("0xt"), 1), (.text("nothing"), 0),
    ] {
      #expect(realm.objects(TokenObject.self).filter(filter.predicate).count == count)
    }
    let times = WalletFilter.between(hour, hour.addingTimeInterval(1)).predicate
    #expect(realm.objects(Transaction.self).filter(times).map(\.blockNumber) == [7])
    storage.removeAll()
    #expect(storage.count == 0)
  }

  @Test func walletMigrates() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("wallet-\(UUID().uuidString).realm")
    var old = WalletMigration.configuration(for: file)
    old.schemaVersion = 1
    old.migrationBlock = nil
    defer { _ = try? Realm.deleteFiles(for: old) }
    try autoreleasepool {
      let realm = try Realm(configuration: old)
      try realm.write {
        realm.add(Transaction(hash: "a", blockNumber: 1, from: "x"))
        realm.add(TokenObject(value: ["id": "1", "contract": "ABC"]))
        realm.add(
          TokenObject(value: ["id": "2", "contract": "D", "isDisabled": true] as [String: Any]))
      }
      realm.invalidate()
    }
    let realm = try Realm(configuration: WalletMigration.configuration(for: file))
    #expect(realm.objects(Transaction.self).isEmpty)
    #expect(realm.objects(TokenObject.self).map(\.contract) == ["abc"])
  }

  // MARK: - Mail

  @Test func mailThreadsAreKept() throws {
    let manager = MailManager(name: "program-mail")
    let realm = manager.getRealm()
    let message = Message(value: ["uid": "m1", "subject": "Hello", "size": 200] as [String: Any])
    message.from.append(Recipient(email: "ann@example.com", name: "Ann"))
    message.attachments.append(Attachment(value: ["uuid": "f", "size": 12] as [String: Any]))
    message.body = Body(value: ["value": "text", "subBody": [["value": "s"]]] as [String: Any])
    let thread = MailThread(value: ["uid": "t1"])
    thread.messages.append(message)
    let inbox = Folder(value: ["_id": "in"])
    try realm.write { realm.add(inbox) }
    manager.saveThreads(result: [thread], parent: inbox, using: realm)
    #expect(inbox.unreadCount == 1 && inbox.threads.count == 1)
    #expect(manager.search("ann@", in: inbox).count == 1)
    #expect(
      manager.search("hell", in: inbox).count == 1 && manager.search("zzz", in: inbox).isEmpty)
    #expect(manager.unread(realm).count == 1 && manager.big(realm).count == 1)
    #expect(manager.orphans(realm).isEmpty && manager.sections(inbox).allKeys == ["new"])
    let stored = try #require(inbox.threads.first)
    #expect(stored.messages.first?.thread == stored && stored.folders.first == inbox)
    #expect(stored.messages.first?.attachments.first?.parent?.uid == "m1")
    let again = Message(value: ["uid": "m1"])
    manager.keepCacheAttributes(for: again, using: realm)
    #expect(again.body?.subBody.first?.value == "s" && again.attachments.first?.size == 12)
    try realm.write { stored.recompute() }
    #expect(stored.subject == "Hello")
    manager.execute { other in #expect(other.objects(Message.self).count == 1) }
    let frozen = stored.freezeIfNeeded()
    #expect(frozen.isFrozen && frozen.thawIfNeeded()?.uid == "t1")
    try realm.write { #expect(realm.getOrCreate(Folder.self, key: "out")._id == "out") }
    manager.saveThreads(result: [], parent: inbox, using: realm)
    #expect(realm.objects(MailThread.self).isEmpty)
  }

  // MARK: - Repositories

  @Test func repositoriesStoreDomainValues() throws {
    let configuration = memory([RMUser.self, RMPost.self])
    let realm = try Realm(configuration: configuration)
    let users = Repository<UserModel>(configuration: configuration)
    let post = PostModel(uid: "p", title: "T", created: Date(timeIntervalSince1970: 1))
    let ann = UserModel(uid: "1", name: "Ann", posts: [post])
    try users.save(ann)
    try AnyRepository(users).save(UserModel(uid: "2", name: "Bob"))
    #expect(try users.queryAll().map(\.name) == ["Ann", "Bob"])
    let found = try users.query(
      with: NSPredicate(format: "ANY posts.title == %@", "T"),
      sortDescriptors: [.init(keyPath: "name")])
    #expect(found == [ann])
    let copy = try #require(realm.object(ofType: RMPost.self, forPrimaryKey: "p")).detached()
    #expect(copy.realm == nil && copy.title == "T" && copy.uid == "p")
    try users.delete(ann)
    #expect(try users.queryAll().count == 1)
    let storage = try RealmStorageContext(configuration: configuration)
    try storage.create(RMUser.self) { $0.name = "Cy" }
    let sorted = storage.fetch(RMUser.self, sorted: Sorted(key: "name", ascending: false))
    #expect(sorted.map(\.name) == ["Cy", "Bob"])
    #expect(storage.fetch(RMUser.self, predicate: NSPredicate(format: "name == 'Bob'")).count == 1)
    #expect(realm.objects(RMUser.self).get(offset: 1, limit: 5).count == 1)
    #expect(RealmStored(RMUser.self, configuration: configuration).wrappedValue.count == 2)
    let done = DispatchSemaphore(value: 0)
    realm.writeAsyncCopy(try #require(sorted.first)) { _, user in
      user?.name = "Dan"
      done.signal()
    }
    waitFor(done)
    try storage.deleteAll(RMUser.self)
    #expect(realm.objects(RMUser.self).isEmpty)
  }

  // MARK: - Bridges

  @Test func recordsBothWays() throws {
    let configuration = memory([CKNote.self, CKTag.self])
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let tag = realm.create(CKTag.self, value: ["name": "work"])
      realm.create(
        CKNote.self,
        value: [
          "id": 7, "title": "A", "stars": [1, 2], "words": ["w"], "tags": [tag], "tag": tag,
          "at": Date(timeIntervalSince1970: 5),
        ] as [String: Any])
    }
    let note = try #require(realm.objects(CKNote.self).first)
    let record = note.record
    #expect(record.id == RecordID(name: "7", zone: "CKNote") && record.type == "CKNote")
    #expect(record["stars"] as? [Int] == [1, 2] && record["words"] as? [String] == ["w"])
    #expect(record["tagsCount"] as? Int == 1 && record["tags"] as? [String] == ["CKTag/work"])
    #expect((record["tag"] as? RecordID)?.name == "work")
    let parsed = try #require(CKNote.parse(record, realm: realm))
    #expect(parsed.title == "A" && Array(parsed.stars) == [1, 2] && parsed.tag?.name == "work")
    #expect(parsed.at == Date(timeIntervalSince1970: 5) && parsed.small == 0.25)
    record["id"] = 8
    try SyncObject(realmConfiguration: configuration, type: CKNote.self).add(record: record)
    #expect(realm.objects(CKNote.self).count == 2)
  }

  @Test func observablesTell() throws {
    let configuration = memory([RMUser.self, RMPost.self])
    let queue = DispatchQueue(label: "observables")
    let told = DispatchSemaphore(value: 0)
    let names = LockedNames()
    var disposables: [Disposable] = []
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      let users = realm.objects(RMUser.self)
      disposables.append(
        users.rx(synchronousStart: false, on: queue).map { $0.map(\.name).joined() }.subscribe {
          guard case .next(let name) = $0 else { return }
          names.append(name)
          told.signal()
        })
    }
    waitFor(told)
    queue.sync {
      RealmSink(configuration: configuration).add(update: .modified)([
        RMUser(value: ["uid": "1", "name": "Ann"])
      ])
    }
    waitFor(told)
    #expect(names.values == ["", "Ann"])
    queue.sync { disposables.forEach { $0.dispose() } }
  }

  // MARK: - Habits

  @Test func habitsAreFoundAndGrouped() throws {
    let realm = try Realm(
      configuration: memory([Habit.self, HabitGroup.self, Reminder.self]))
    let store = HabitStore(realm: realm)
    let day = Date(timeIntervalSince1970: 86_400)
    let id = ObjectId.generate()
    let run = try store.upsert([
      "_id": id, "name": "Run", "order": 2, "streak": Streak.long,
      "reminder": ["hour": 7, "days": [Weekday.monday]], "settings": ["goal": 3],
      "counts": ["total": 2],
    ])
    let read = try store.upsert(["name": "Read", "order": 1, "reminder": ["hour": 20]])
    try realm.write {
      run.toggle(on: day)
      read.toggle(on: day)
      read.toggle(on: day)
      realm.add(HabitGroup(title: "All", habits: [run, read]))
    }
    #expect(store.active.map(\.name) == ["Read", "Run"])
    #expect(store.done(on: day).map(\.name) == ["Run"] && store.early().map(\.name) == ["Run"])
    #expect(store.withSetting("goal", .int(3)).count == 1 && store.popular().map(\.name) == ["Run"])
    #expect(store.byName.allKeys.count == 2 && store.grouped.allKeys == ["long", "none"])
    #expect(store.find { $0.name == "Read" }?.streak == Streak.none)
    let row = try #require(realm.objects(HabitRow.self).first { $0.name == "Run" })
    #expect(row.hour == 7 && row.completions.count == 1)
    let group = try #require(run.groups.first)
    try store.move(group.habits, from: 0, to: 1)
    #expect(group.habits.map(\.name) == ["Read", "Run"])
    #expect(try store.upsert(["_id": id, "color": NSNull()]).color == nil && run.name == "Run")
  }

  @MainActor @Test func habitsAreShownAndWritten() async throws {
    let configuration = memory([Habit.self, HabitGroup.self, Reminder.self])
    let realm = try await Realm(configuration: configuration)
    let model = HabitViewModel(store: HabitStore(realm: realm))
    let loads = AsyncStream<Int> { stream in
      model.reload = { _, _, _ in stream.yield(model.rows.count) }
    }
    var counts = loads.makeAsyncIterator()
    #expect(await counts.next() == 0)
    try await model.add("Run")
    #expect(await counts.next() == 1)
    let writer = try await HabitWriter(configuration)
    try await writer.rename(model.rows[0]._id, "Walk")
    #expect(await writer.names() == ["Walk"])
    #expect(await counts.next() == 1)
    #expect(model.rows.first?.name == "Walk")
    model.delete(at: [0])
    #expect(await counts.next() == 0)
    await writer.close()
  }
}

/// Names that several threads add to.
private final class LockedNames: @unchecked Sendable {
  // @unchecked: all access is under the lock.
  private let lock = NSLock()
  private var names: [String] = []

  var values: [String] { lock.withLock { names } }
  func append(_ name: String) { lock.withLock { names.append(name) } }
}
