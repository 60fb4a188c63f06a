// One open Realm in one confinement: what all `Realm` values, objects and collections of a file on
// one thread share. It stands on one version, or on a running write transaction. A frozen one
// stands on one version for ever, is used by any thread and never changes after `init`.
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
  /// Names the Realm's place: for those who wait for its transactions, and in lists of live
  /// versions.
  let place: PlaceNote
  let isFrozen: Bool
  let tables: TableSlots

  // Unchecked exclusivity, below: only the confining thread touches these, in short accesses that
  // run no foreign code; in a frozen Realm they never change.

  /// The version that the Realm stands on.
  ///
  /// Nil after `invalidate`, until the next use; never nil in a frozen Realm.
  @exclusivity(unchecked) var snapshot: Snapshot? {
    didSet { unmanagedSnapshot = snapshot.map { .passUnretained($0) } }
  }
  /// The same, for questions that should not count references.
  @exclusivity(unchecked) private(set) var unmanagedSnapshot: Unmanaged<Snapshot>?
  /// The running write transaction.
  @exclusivity(unchecked) var writing: Writing? {
    didSet {
      transactionInsertion = nil
      passingQueries = nil
      group = writing.map { .passUnretained($0.group) }
    }
  }
  /// The objects of `writing`.
  ///
  /// Unmanaged, since every change of a property needs it.
  @exclusivity(unchecked) private(set) var group: Unmanaged<GroupTransaction>?
  /// What adds objects in the running transaction.
  @exclusivity(unchecked) var transactionInsertion: LinkInsertion?
  /// How often the Realm was invalidated: an object of an earlier time stays invalid.
  var epoch: UInt32 = 0
  /// The frozen Realm of the current version.
  ///
  /// It pins nothing that `snapshot` does not.
  @exclusivity(unchecked) var frozenTwin: ConfinedRealm? {
    didSet {
      if !shownForms.isEmpty {
        shownForms = []
        shownRound &+= 1
      }
    }
  }
  /// The same for what the library itself keeps of the version: no client has it, so that none can
  /// end it.
  @exclusivity(unchecked) var hiddenTwin: ConfinedRealm?
  /// Values are frozen into `hiddenTwin` now.
  @exclusivity(unchecked) var freezesHidden = false
  /// What property wrappers show of the current version; they keep nothing of it themselves.
  @exclusivity(unchecked) var shownForms: [AnyObject] = []
  /// How often `shownForms` was let go.
  @exclusivity(unchecked) private(set) var shownRound: UInt64 = 0
  /// Finds out whether somebody follows what is read; a new one for each who does.
  @exclusivity(unchecked) var spareSignal: RedrawSignal?
  /// A frozen Realm was invalidated: its values may not be used any more.
  let isClosed = Atomic(false)
  /// The class asked for last: bulk work asks for one many times.
  @exclusivity(unchecked) private var lastTable: (type: ObjectIdentifier, table: TablePointer)?
  /// How other threads reach the Realm; nil when it is frozen, and on a thread that runs no loop.
  @exclusivity(unchecked) var mailbox: RealmMailbox?
  /// What the client has said about following newer versions; nil: where something drives the
  /// Realm.
  @exclusivity(unchecked) var chosenAutorefresh: Bool?
  /// Asynchronous writes; nil before the first.
  @exclusivity(unchecked) var asynchronousWrites: AsynchronousWrites?
  /// Who observes the Realm and its values; nil before the first.
  @exclusivity(unchecked) var observers: RealmObservers?
  /// Results whose lists of elements follow the Realm; nil before the first.
  @exclusivity(unchecked) private(set) var heldQueries: HeldQueries?
  /// What the transaction that is being committed has changed, if that was noted.
  @exclusivity(unchecked) var ownChanges: OwnChanges?
  /// Where transactions have looked for links.
  @exclusivity(unchecked) var carriedLinkSearches = CarriedLinkSearches()
  /// How often something of a live Realm was asked for that no link leads to: results, linking
  /// objects, objects by their keys.
  @exclusivity(unchecked) private(set) var lookups: UInt64 = 0
  /// How often an object was made or frozen: who reads one without that reads its own values only.
  @exclusivity(unchecked) private(set) var objectsMade: UInt64 = 0
  /// What queries find in the running transaction; nil before the first one that finds something.
  @exclusivity(unchecked) var passingQueries: PassingQueries?
  /// What trackers of the Realm know together.
  private(set) lazy var elementSharing = ElementSharing()
  /// Where the cache knows the Realm; nil of frozen ones and those of migrations.
  @exclusivity(unchecked) var openFile: RealmCache.OpenFile?
  /// References that were made in the running transaction, while clients hold them.
  @exclusivity(unchecked) var unsettledReferences: [WeakBox<PendingReference>] = []
  /// What the Realm has stood on while it stands on nothing, until it is used again.
  @exclusivity(unchecked) var versionBefore: Version?
  /// Nothing was done with the Realm since it was opened: it may still begin on another version.
  @exclusivity(unchecked) var isUntouched = true
  /// Results come in to be observed; those whose owner was deleted are empty.
  @exclusivity(unchecked) var takesEmptied = false
  /// A transaction that is about to begin, while observers are told of the version that it builds
  /// on.
  @exclusivity(unchecked) var held: WriteTransaction?

  /// A write transaction and the tables seen through it.
  struct Writing {
    let transaction: WriteTransaction
    let group: GroupTransaction
    /// What was recorded of the transaction before `group`.
    var earlierChanges = ChangeSet()
    /// Whether `group` has all changes of the transaction.
    var isWhole = false
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
  ///
  /// - Parameter classes: the classes, and where the version keeps them; nil: as the live one has
  ///   them.
  init(freezing live: ConfinedRealm, at snapshot: Snapshot, classes: SchemaBindings? = nil) {
    let classes = classes ?? live.classes
    store = live.store
    history = live.history
    configuration = live.configuration
    schema = live.schema
    self.classes = classes
    confinement = .anywhere
    self.snapshot = snapshot
    unmanagedSnapshot = .passUnretained(snapshot)
    place = live.place
    snapshot.note(frozenBy: place)
    isFrozen = true
    tables = TableSlots(count: 2 * classes.bindings.count)
  }

  deinit {
    if isFrozen { return }
    RealmCache.forget(self)
    if let mailbox { store.listeners.remove(mailbox) }
    // Only of a Realm that clients can open again.
    if let writing, openFile != nil {
      LeftTransactions.leave(writing, of: self)
    } else {
      asynchronousWrites?.abandon()
    }
  }

  var bindings: [TableBinding] { classes.bindings }

  // MARK: - Checks

  /// Stops unless the Realm may be used here.
  @inline(__always)
  func check() {
    confinement.check()
    if isFrozen { checkNotClosed() }
  }

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
    waitForVersionBefore()
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
    noteLookup()
    return requireLinkedTable(of: type)
  }

  /// The same without noting a lookup: for the class that a link leads to.
  @inline(__always)
  func requireLinkedTable(of type: ObjectBase.Type) -> TablePointer {
    // A frozen Realm may be used by several threads at once: it remembers nothing, `lastTable`
    // stays nil.
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
  /// - Parameter binding: of this Realm or of another one of the file, which may hold other
  ///   classes.
  func table(_ binding: TableBinding) -> TablePointer {
    let binding = classes.own(binding)
    let isForeign = binding.isForeign
    if let table = isForeign ? tables.foreign(binding.index) : tables[binding.index] {
      return table
    }
    var state = TableState(realm: self, binding: binding)
    if isFrozen {
      state.reader = makeReader(binding)
      state.isStale = false
    }
    let table =
      isForeign ? tables.installForeign(state) : tables.install(state, at: binding.index)
    // A change through one makes the other's accessors stale. In a frozen Realm there are none.
    // A foreign class has no others, though another class may have its name in Swift.
    if !isFrozen, !isForeign, binding.schema.isDynamic,
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
  func table(atIndex index: Int) -> TablePointer {
    if let table = tables[index] { return table }
    // Dynamic forms lie behind the classes.
    return table(
      index < bindings.count
        ? bindings[index] : classes.dynamicBinding(of: bindings[index - bindings.count]))
  }

  /// A reader of the table at the Realm's version, the running transaction's changes included.
  @inline(__always)
  func reader(of table: TablePointer) -> TableReader? {
    if _slowPath(table.pointee.isStale) { renewReader(of: table) }
    return table.pointee.reader
  }

  @inline(never)
  func renewReader(of table: TablePointer) {
    if let group {
      // After each change in a transaction: nothing is counted on the way.
      table.pointee.reader = table.pointee.unmanagedTable?._withUnsafeGuaranteedRef { stored in
        group._withUnsafeGuaranteedRef { $0.reader(stored) }
      }
    } else {
      table.pointee.reader = makeReader(table.pointee.binding)
    }
    table.pointee.isStale = false
  }

  private func makeReader(_ binding: TableBinding) -> TableReader? {
    guard let table = binding.table else { return nil }
    if let group { return group._withUnsafeGuaranteedRef { $0.reader(table) } }
    let snapshot = currentSnapshot()
    return TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
  }

  /// A reader of the table at the version that the running transaction began on.
  ///
  /// Nil outside of one, and in a migration, whose tables are not those of that version.
  func readerBeforeTransaction(of table: StoredTable) -> TableReader? {
    guard !isFrozen, group != nil, openFile != nil, let snapshot else { return nil }
    return TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
  }

  // MARK: - Versions

  /// Makes every cached location of the Realm's accessors stale.
  func bumpAll() {
    tables.forEach { table in
      table.pointee.bump()
      table.pointee.frozenForm = nil
      table.pointee.hiddenForm = nil
    }
  }

  /// Notes that something is asked for that no link leads to.
  @inline(__always)
  func noteLookup() {
    // Frozen Realms are used by many threads.
    if isFrozen { return }
    lookups &+= 1
    // Now and then: results are asked far more often than loops are started.
    if _slowPath(mailbox == nil), lookups & 15 == 0 { lookForLoop() }
  }

  /// Notes that an object is made, or read from a frozen Realm.
  @inline(__always)
  func noteObject() {
    if !isFrozen { objectsMade &+= 1 }
  }

  /// Lets the elements that a query has found follow the Realm.
  func hold(_ query: any HeldQuery) {
    let held = heldQueries ?? HeldQueries()
    heldQueries = held
    held.add(query)
  }

  /// Lets sections of a query's elements follow the Realm, if these do.
  func hold(_ sections: HeldSections, of query: any HeldQuery) {
    heldQueries?.add(sections, of: query)
  }

  func move(to newSnapshot: Snapshot?) {
    isUntouched = false
    let old = heldQueries?.isEmpty == false ? snapshot : nil
    defer {
      if let old, let newSnapshot, old.version < newSnapshot.version {
        heldQueries?.didMove(self, from: old, to: newSnapshot, by: ownChanges)
      }
      ownChanges = nil
    }
    snapshot = newSnapshot
    newSnapshot?.note(standing: place)
    frozenTwin = nil
    hiddenTwin = nil
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
    if let complaint = adopted.complaint(for: configuration) { misuse(.schema, complaint) }
    let isForeignSame = rebindForeign(to: adopted)
    if !isForeignSame || !adopted.hasSamePlaces(as: classes) {
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
    isUntouched = false
    // Mostly nothing has happened; and what is durable cannot be lost.
    if let snapshot, snapshot.version == store.newestVersion { return false }
    // What a failed sync or write has taken back is no version to stand on.
    stepBackIfLost()
    // The Realm may be ahead: its own commits show here before they are durable.
    if let snapshot, snapshot.version >= store.newestVersion { return false }
    waitForVersionBefore()
    let newest = try store.pinNewest()
    if let snapshot, snapshot.version >= newest.version { return false }
    move(to: newest)
    return true
  }

  /// Lets go of the version; ends a running transaction; all objects are invalid from now on.
  func invalidate() {
    check()
    if isFrozen { return closeFrozen() }
    if let writing {
      self.writing = nil
      bumpAll()
      writing.transaction.cancel()
      noteRollBack(of: writing)
      // While what was there before the transaction can still be frozen.
      settleReferences()
    }
    asynchronousWrites?.invalidate()
    versionBefore = snapshot?.version
    letGo()
  }

  /// Waits until the version is durable that the Realm has stood on: what it has shown it must show
  /// again.
  ///
  /// That version may be one of its own that is not durable yet, or of others: a transaction begins
  /// on such, and the Realm stays there when it is cancelled.
  private func waitForVersionBefore() {
    guard let version = versionBefore else { return }
    versionBefore = nil
    // One that cannot become durable is lost: then an older one is the newest.
    try? store.waitForDurability(version)
  }

  /// All objects are invalid from now on; the next use starts on the newest version.
  private func letGo() {
    epoch &+= 1
    tables.forEach { $0.pointee.epoch = epoch }
    move(to: nil)
    letGoOfHeld()
    observers?.wasInvalidated()
  }

  /// Lets go of a transaction that is only held while observers are told; a new one begins for the
  /// one who told them.
  func letGoOfHeld() {
    held?.cancel()
    held = nil
  }

  /// Whether the Realm's version was taken back by a failed write or sync.
  var isLost: Bool {
    unmanagedSnapshot?._withUnsafeGuaranteedRef { store.isLost($0.version) } ?? false
  }

  /// Lets go of a version that a failed write or sync has taken back.
  ///
  /// Not inside of a transaction: whoever has it open goes on to its end, where its commit fails.
  func stepBackIfLost() {
    guard writing == nil, held == nil else { return }
    stepBack(from: snapshot?.version)
  }

  /// The same for a version that the Realm has left for a transaction that is about to begin, which
  /// does not build on it if it was taken back.
  func stepBack(from known: Version?) {
    guard let known, store.isLost(known) else { return }
    letGo()
    Logger.shared.log(
      .warn,
      "'\(configuration.place)': version \(known.rawValue) could not be stored. The Realm of the "
        + "\(confinement.description) starts anew on an older one: its objects and collections are "
        + "invalid, and observers of its content are over.")
  }
}

@available(*, unavailable)
extension ConfinedRealm: Sendable {}
