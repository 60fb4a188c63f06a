// One open Realm in one confinement: what all `Realm` values, objects and collections of a file on one
// thread share. It stands on one version, or on a running write transaction. A frozen one stands on one
// version for ever, is used by any thread and never changes after `init`.
//
// The generation words in the table states are bumped whenever what a cached row location points to
// may have moved: refresh, begin, rollback, a change of the table, invalidation.
internal import ObjectStore
internal import Platform
internal import Storage

/// The part of a Realm that is bound to one place, or frozen.
@usableFromInline
package final class ConfinedRealm {
  let store: Store
  /// What the newest commits of this process changed.
  let history: ChangeHistory
  let configuration: Realm.Configuration
  let schema: RealmSchema
  /// The classes, and where the Realm's version keeps them.
  @exclusivity(unchecked) private(set) var classes: SchemaBindings
  /// Earlier forms of `classes`, which accessors that were made then may still point to.
  @exclusivity(unchecked) private var earlierClasses: [SchemaBindings] = []
  let confinement: Confinement
  /// Names the Realm's place: for those who wait for its transactions, and in lists of live versions.
  let place: PlaceNote
  let isFrozen: Bool
  let tables: TableSlots

  // Unchecked exclusivity, below: only the confining thread touches these, in short accesses that run no
  // foreign code; in a frozen Realm they never change.

  /// The version that the Realm stands on.
  ///
  /// Nil after `invalidate`, until the next use; never nil in a frozen Realm.
  @exclusivity(unchecked) private(set) var snapshot: Snapshot? {
    didSet { unmanagedSnapshot = snapshot.map { .passUnretained($0) } }
  }
  /// The same, for questions that should not count references.
  @exclusivity(unchecked) private var unmanagedSnapshot: Unmanaged<Snapshot>?
  /// The running write transaction.
  @exclusivity(unchecked) private(set) var writing: Writing? {
    didSet {
      idleInsertion = nil
      group = writing.map { .passUnretained($0.group) }
    }
  }
  /// The objects of `writing`.
  ///
  /// Unmanaged, since every change of a property needs it.
  @exclusivity(unchecked) private var group: Unmanaged<GroupTransaction>?
  /// What has added objects in the running transaction, while it is not in use.
  @exclusivity(unchecked) var idleInsertion: LinkInsertion?
  /// How often the Realm was invalidated: an object of an earlier time stays invalid.
  private(set) var epoch: UInt32 = 0
  /// The frozen Realm of the current version.
  ///
  /// It pins nothing that `snapshot` does not.
  @exclusivity(unchecked) private var frozenTwin: ConfinedRealm?
  /// A frozen Realm was invalidated: its values may not be used any more.
  private let isClosed = Atomic(false)
  /// The class asked for last: bulk work asks for one many times.
  @exclusivity(unchecked) private var lastTable: (type: ObjectIdentifier, table: TablePointer)?
  /// How other threads reach the Realm; nil when it is frozen, and on a thread that runs no loop.
  @exclusivity(unchecked) private var mailbox: RealmMailbox?
  /// What the client has said about following newer versions; nil: where something drives the Realm.
  @exclusivity(unchecked) private var chosenAutorefresh: Bool?
  /// Asynchronous writes; nil before the first.
  @exclusivity(unchecked) private(set) var asynchronousWrites: AsynchronousWrites?
  /// Who observes the Realm and its values; nil before the first.
  @exclusivity(unchecked) var observers: RealmObservers?
  /// Where the cache knows the Realm; nil of frozen ones and those of migrations.
  @exclusivity(unchecked) var openFile: RealmCache.OpenFile?
  /// A transaction that is about to begin, while observers are told of the version that it builds on.
  @exclusivity(unchecked) var held: WriteTransaction?

  /// A write transaction and the tables seen through it.
  struct Writing {
    let transaction: WriteTransaction
    let group: GroupTransaction
    /// What was recorded of the transaction before `group`.
    var earlierChanges = ChangeSet()
  }

  init(
    store: Store, configuration: Realm.Configuration, schema: RealmSchema, classes: SchemaBindings,
    confinement: Confinement, snapshot: Snapshot
  ) {
    self.store = store
    history = ChangeHistory.of(store)
    self.configuration = configuration
    self.schema = schema
    self.classes = classes
    self.confinement = confinement
    self.snapshot = snapshot
    unmanagedSnapshot = .passUnretained(snapshot)
    place = confinement.note
    snapshot.note(standing: place)
    isFrozen = false
    // Behind the classes come their dynamic forms.
    tables = TableSlots(count: 2 * classes.bindings.count)
    if let scheduler = Scheduler(confinement) { installMailbox(scheduler) }
  }

  /// The frozen form of a live Realm.
  private init(freezing live: ConfinedRealm, at snapshot: Snapshot) {
    store = live.store
    history = live.history
    configuration = live.configuration
    schema = live.schema
    classes = live.classes
    confinement = .anywhere
    self.snapshot = snapshot
    unmanagedSnapshot = .passUnretained(snapshot)
    place = live.place
    snapshot.note(frozenBy: place)
    isFrozen = true
    tables = TableSlots(count: 2 * live.bindings.count)
  }

  deinit {
    if isFrozen { return }
    RealmCache.forget(self)
    if let mailbox { store.listeners.remove(mailbox) }
    asynchronousWrites?.abandon()
  }

  var bindings: [TableBinding] { classes.bindings }

  // MARK: - Checks

  /// Stops unless the Realm may be used here.
  @inline(__always)
  func check() {
    confinement.check()
    if isFrozen { checkNotClosed() }
  }

  /// Stops when a frozen Realm was invalidated.
  @inline(__always)
  func checkNotClosed() {
    // Relaxed: the caller that invalidates and the one that reads have to agree by other means.
    if _slowPath(isClosed.load(ordering: .relaxed)) {
      misuse(.invalidated, "The frozen Realm was invalidated; its values cannot be used any more.")
    }
  }

  var isInvalidatedFrozen: Bool { isClosed.load(ordering: .relaxed) }

  /// The running transaction; stops without one.
  func requireWriting() -> GroupTransaction {
    check()
    if isFrozen {
      misuse(.frozen, "Can't perform transactions on a frozen Realm")
    }
    guard let runningGroup else {
      misuse(
        .transaction,
        "Cannot modify managed objects outside of a write transaction. Call it inside "
          + "`write { }`, or after `beginWrite()`.")
    }
    return runningGroup
  }

  /// What the running write transaction changes; nil outside of one.
  @inline(__always)
  var runningGroup: GroupTransaction? { group?._withUnsafeGuaranteedRef { $0 } }

  // MARK: - Reading

  /// The version that the Realm stands on; after an invalidation the newest one.
  func currentSnapshot() -> Snapshot {
    if let snapshot { return snapshot }
    do throws(StorageError) {
      let newest = try store.pinNewest()
      snapshot = newest
      newest.note(standing: place)
      adoptSchema(of: newest)
      noteStanding()
      return newest
    } catch {
      misuse(.storage, "The Realm cannot be read: \(error)")
    }
  }

  /// The shared state of a class's accessors; stops when the Realm does not hold the class.
  @inline(__always)
  func requireTable(of type: ObjectBase.Type) -> TablePointer {
    // A frozen Realm may be used by several threads at once: it remembers nothing, `lastTable` stays nil.
    if let lastTable, lastTable.type == ObjectIdentifier(type) { return lastTable.table }
    return findTable(of: type)
  }

  @inline(never)
  private func findTable(of type: ObjectBase.Type) -> TablePointer {
    let identifier = ObjectIdentifier(type)
    guard let binding = classes.binding(of: type) else {
      misuse(
        .schema,
        "Object type '\(type.className())' is not managed by the Realm. If using a custom "
          + "`objectTypes` array in your configuration, add `\(type.className())` to it.")
    }
    let table = table(binding)
    if !isFrozen { lastTable = (identifier, table) }
    return table
  }

  /// The shared state of a class's accessors.
  ///
  /// Its reader may be stale: see `reader(of:)`.
  ///
  /// - Parameter binding: of this Realm or of another one of the file, which may hold other classes.
  func table(_ binding: TableBinding) -> TablePointer {
    let binding = classes.own(binding)
    if let table = tables[binding.index] { return table }
    var state = TableState(realm: self, binding: binding)
    if isFrozen {
      state.reader = makeReader(binding)
      state.isStale = false
    }
    let table = tables.install(state, at: binding.index)
    // A change through one makes the other's accessors stale. In a frozen Realm there are none.
    if !isFrozen, binding.schema.isDynamic,
      let main = classes.binding(named: binding.schema.name), main !== binding
    {
      table.pointee.twin = self.table(main)
      self.table(main).pointee.twin = table
    }
    return table
  }

  /// The shared state of the accessors of a class that is known by the state of another Realm.
  ///
  /// - Complexity: two comparisons when both Realms were made of the same, as frozen ones are.
  @inline(__always)
  func table(like other: TablePointer) -> TablePointer {
    if let table = tables.find(other.pointee.index), table.pointee.hasBinding(of: other) {
      return table
    }
    return table(other.pointee.binding)
  }

  /// The shared state of the accessors of a class that is known by its position.
  func table(atIndex index: Int) -> TablePointer { tables[index] ?? table(bindings[index]) }

  /// A reader of the table at the Realm's version, the running transaction's changes included.
  @inline(__always)
  func reader(of table: TablePointer) -> TableReader? {
    if _slowPath(table.pointee.isStale) { renewReader(of: table) }
    return table.pointee.reader
  }

  @inline(never)
  func renewReader(of table: TablePointer) {
    table.pointee.reader = makeReader(table.pointee.binding)
    table.pointee.isStale = false
  }

  private func makeReader(_ binding: TableBinding) -> TableReader? {
    guard let table = binding.table else { return nil }
    if let group { return group._withUnsafeGuaranteedRef { $0.reader(table) } }
    let snapshot = currentSnapshot()
    return TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
  }

  // MARK: - Versions

  /// Makes every cached location of the Realm's accessors stale.
  private func bumpAll() {
    tables.forEach { table in
      table.pointee.bump()
      table.pointee.frozenForm = nil
    }
  }

  func move(to newSnapshot: Snapshot?) {
    snapshot = newSnapshot
    newSnapshot?.note(standing: place)
    frozenTwin = nil
    bumpAll()
    if let newSnapshot { adoptSchema(of: newSnapshot) }
    noteStanding()
  }

  /// Binds the classes to the tables of a version that has another schema than the one before.
  ///
  /// Stops when they no longer fit: another process has migrated the file.
  /// - Complexity: O(1) while the schema stays.
  private func adoptSchema(of snapshot: Snapshot) {
    let stored = StoredSchema.loadOrStop(
      snapshot.reader, root: snapshot.root, reusing: classes.stored)
    if _fastPath(stored === classes.stored) { return }
    let adopted = classes.adopting(stored)
    let differences = adopted.differences
    guard differences.isEmpty || configuration.readOnly else {
      misuse(
        .schema,
        "The classes in '\(configuration.place)' have changed since the Realm was opened:\n"
          + differences.map { "- \($0)" }.joined(separator: "\n")
          + "\nClose every Realm of the file and open it with the new classes.")
    }
    if !adopted.hasSamePlaces(as: classes) {
      epoch &+= 1
      tables.forEach { $0.pointee.epoch = epoch }
    }
    earlierClasses.append(classes)
    classes = adopted
    for binding in adopted.bindings {
      tables[binding.index]?.pointee.rebind(binding)
      let dynamic = adopted.bindings.count + binding.index
      tables[dynamic]?.pointee.rebind(adopted.dynamicBinding(of: binding))
    }
  }

  /// Advances to the newest version; false when there is nothing newer.
  func refresh() throws(StorageError) -> Bool {
    check()
    if isFrozen || writing != nil { return false }
    let hasAdvanced = try advance()
    // Also what is owed for the Realm's own commits.
    if hasAdvanced { observers?.didAdvance() } else { observers?.deliver() }
    return hasAdvanced
  }

  private func advance() throws(StorageError) -> Bool {
    // Mostly nothing has happened; and what is durable cannot be lost.
    if let snapshot, snapshot.version == store.newestVersion { return false }
    // What a failed sync or write has taken back is no version to stand on.
    stepBackIfLost()
    // The Realm may be ahead: its own commits show here before they are durable.
    if let snapshot, snapshot.version >= store.newestVersion { return false }
    let newest = try store.pinNewest()
    if let snapshot, snapshot.version >= newest.version { return false }
    move(to: newest)
    return true
  }

  /// The frozen Realm of the current version; inside a transaction of the version it began on.
  func frozen() -> ConfinedRealm {
    check()
    if isFrozen { return self }
    if let frozenTwin {
      if !frozenTwin.isInvalidatedFrozen { return frozenTwin }
      tables.forEach { $0.pointee.frozenForm = nil }
    }
    let twin = frozenApart()
    frozenTwin = twin
    return twin
  }

  /// A frozen Realm of the current version that no client has, so that none can invalidate it.
  func frozenApart() -> ConfinedRealm {
    var base = currentSnapshot().settled
    if PlantedBug.freezeNewest.isActive { base = (try? store.pinNewest()) ?? base }
    return ConfinedRealm(freezing: self, at: base)
  }

  /// Lets go of the version; ends a running transaction; all objects are invalid from now on.
  func invalidate() {
    check()
    if isFrozen {
      isClosed.store(true, ordering: .relaxed)
      return
    }
    if let writing {
      self.writing = nil
      writing.transaction.cancel()
    }
    asynchronousWrites?.invalidate()
    letGo()
  }

  /// All objects are invalid from now on; the next use starts on the newest version.
  private func letGo() {
    epoch &+= 1
    tables.forEach { $0.pointee.epoch = epoch }
    move(to: nil)
    held?.cancel()
    held = nil
    observers?.wasInvalidated()
  }

  /// Whether the Realm's version was taken back by a failed write or sync.
  var isLost: Bool {
    unmanagedSnapshot?._withUnsafeGuaranteedRef { store.isLost($0.version) } ?? false
  }

  /// Whether rows are where a frozen Realm has them: both read one snapshot, unchanged.
  @inline(__always)
  func showsVersion(of frozen: ConfinedRealm) -> Bool {
    group == nil && unmanagedSnapshot?.toOpaque() == frozen.unmanagedSnapshot?.toOpaque()
  }

  /// Lets go of a version that a failed write or sync has taken back.
  func stepBackIfLost() {
    guard let snapshot, store.isLost(snapshot.version) else { return }
    let lost = writing
    if let lost {
      writing = nil
      lost.transaction.cancel()
    }
    letGo()
    guard lost != nil else { return }
    // What waited for the end of the transaction goes on.
    asynchronousWrites?.didEndTransaction()
    observers?.didEndTransaction()
  }

  // MARK: - Transactions

  /// Stops when no transaction may be begun.
  func requireWritable() {
    check()
    if isFrozen && !PlantedBug.frozenWritable.isActive {
      misuse(.frozen, "Can't perform transactions on a frozen Realm")
    }
    if configuration.readOnly {
      misuse(.transaction, "Can't perform transactions on read-only Realms.")
    }
  }

  /// Waits for the write lock and moves to the newest version.
  func beginWrite() throws(StorageError) {
    requireWritable()
    while true {
      try tellObserversBeforeWriting()
      if writing != nil {
        misuse(.transaction, "The Realm is already in a write transaction")
      }
      // A callback writes, in the transaction that is held for the one who told it.
      if let held { return didBegin(held) }
      let known = snapshot?.version
      // Who waits pins nothing.
      snapshot = nil
      frozenTwin = nil
      // Stale from here on: should the lock fail, the next read starts on the newest version.
      bumpAll()
      let transaction = try store.beginWrite(by: place)
      if try tellObservers(ofBaseOf: transaction, known) { return didBegin(transaction) }
    }
  }

  /// Continues in a transaction that was just begun.
  func didBegin(_ transaction: WriteTransaction) {
    held = nil
    move(to: transaction.base)
    writing = Writing(
      transaction: transaction,
      group: GroupTransaction(
        transaction.editor, root: transaction.root, schema: classes.stored,
        isRecorded: history.isObserved))
  }

  /// Ends the transaction and makes its changes a version, durable on return.
  ///
  /// - Parameter skipped: whose observers are not told of it.
  func commitWrite(withoutNotifying skipped: [NotificationToken] = []) throws(StorageError) {
    let writing = endWriting("Can't commit a non-existing write transaction")
    defer { asynchronousWrites?.didEndTransaction() }
    writing.transaction.root = writing.group.finish()
    keepChanges(of: writing)
    do throws(StorageError) {
      // Its own version is no news to the Realm.
      mailbox?.note(standing: writing.transaction.version)
      move(to: try writing.transaction.commit())
    } catch {
      // Everything is rolled back, and the Realm stays on the version it began on, if that is still one.
      noteStanding()
      stepBackIfLost()
      observers?.didEndTransaction()
      throw error
    }
    observers?.didCommit(writing.transaction, skipped: skipped)
  }

  /// Ends the transaction and makes its changes a version, which becomes durable later.
  ///
  /// - Parameters:
  ///   - awaitsMore: another commit is about to follow.
  ///   - completion: called once on any thread, unless this function throws.
  func commitAsynchronously(
    awaitsMore: Bool, _ completion: @escaping @Sendable (StorageError?) -> Void
  ) throws(StorageError) {
    let writing = endWriting("Can't commit a non-existing write transaction")
    writing.transaction.root = writing.group.finish()
    keepChanges(of: writing)
    do throws(StorageError) {
      mailbox?.note(standing: writing.transaction.version)
      move(
        to: try writing.transaction.commitAsynchronously(awaitsMore: awaitsMore, completion))
    } catch {
      noteStanding()
      observers?.didEndTransaction()
      throw error
    }
    observers?.didCommit(writing.transaction, skipped: [])
  }

  /// Ends the transaction and drops its changes.
  ///
  /// The Realm stays on the version it began on.
  func cancelWrite() {
    let writing = endWriting("Can't cancel a non-existing write transaction")
    writing.transaction.cancel()
    asynchronousWrites?.didEndTransaction()
    observers?.didEndTransaction()
  }

  /// The running transaction, with all changes so far below its root; it goes on from there.
  func settledTransaction() -> WriteTransaction {
    _ = requireWriting()
    let writing = writing!
    let transaction = writing.transaction
    transaction.root = writing.group.finish()
    var earlier = writing.earlierChanges
    earlier.merge(writing.group.recordedChanges())
    self.writing = Writing(
      transaction: transaction,
      group: GroupTransaction(
        transaction.editor, root: transaction.root, schema: classes.stored,
        isRecorded: writing.group.isRecorded),
      earlierChanges: earlier)
    bumpAll()
    return transaction
  }

  /// Makes the Realm one of a migration: it writes in a transaction that is the migration's to end.
  func continueWriting(_ writing: Writing) { self.writing = writing }

  /// Ends the use of the migration's transaction, and all objects that were got in it.
  func endMigration() {
    writing = nil
    epoch &+= 1
    tables.forEach { $0.pointee.epoch = epoch }
    bumpAll()
  }

  private func endWriting(_ message: String) -> Writing {
    check()
    guard let writing else { misuse(.transaction, message) }
    self.writing = nil
    bumpAll()
    return writing
  }

  // MARK: - Reached from elsewhere

  /// How other threads reach the Realm; nil on a thread that runs no loop now.
  func findMailbox() -> RealmMailbox? {
    if let mailbox { return mailbox }
    // The loop may have been started since the Realm was opened.
    guard !isFrozen, let scheduler = Scheduler(confinement) else { return nil }
    installMailbox(scheduler)
    return mailbox
  }

  private func installMailbox(_ scheduler: Scheduler) {
    let mailbox = RealmMailbox(scheduler, self)
    self.mailbox = mailbox
    noteStanding()
    store.addListener(mailbox)
    // What was published before anybody listened.
    mailbox.versionWasPublished(store.newestVersion)
  }

  func noteStanding() {
    guard let mailbox else { return }
    let listens = followsVersions || observers?.observesRealm == true
    mailbox.note(standing: listens ? snapshot?.version : nil)
  }

  private var followsVersions: Bool { chosenAutorefresh ?? (mailbox != nil) }

  /// Whether the Realm moves to newer versions by itself.
  var autorefresh: Bool {
    get {
      check()
      if isFrozen { return false }
      return chosenAutorefresh ?? (findMailbox() != nil)
    }
    set {
      check()
      if isFrozen {
        if newValue { misuse(.frozen, "Auto-refresh cannot be enabled for frozen Realms.") }
        return
      }
      chosenAutorefresh = newValue
      let mailbox = findMailbox()
      noteStanding()
      // What was published while it did not follow.
      if newValue { mailbox?.versionWasPublished(store.newestVersion) }
    }
  }

  /// Follows to the newest version, at the start of a job in the Realm's place.
  func refreshByItself() {
    guard followsVersions else {
      observers?.newerVersionWasPublished()
      return
    }
    // An error is met again, and told, by whoever uses the Realm next.
    _ = try? refresh()
  }

  /// The Realm's asynchronous writes; nil on a thread that runs no loop now.
  func findAsynchronousWrites() -> AsynchronousWrites? {
    if let asynchronousWrites { return asynchronousWrites }
    guard let mailbox = findMailbox() else { return nil }
    let writes = AsynchronousWrites(self, mailbox)
    asynchronousWrites = writes
    return writes
  }
}

@available(*, unavailable)
extension ConfinedRealm: Sendable {}
