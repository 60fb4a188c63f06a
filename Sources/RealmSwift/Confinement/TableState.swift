// What all accessors of one class in one confined Realm share: the generation word that tells
// whether a cached row location is still good, and the reader of the table. Raw memory owned by
// ConfinedRealm, because reading a property must not touch reference counts; an accessor keeps the
// Realm alive and with it this memory.
internal import ObjectStore
internal import Platform

/// The state of one class in one confined Realm.
struct TableState {
  /// Grows with each refresh, begin, rollback, change of the table, invalidation and close.
  ///
  /// Never 0.
  var generation: UInt64 = 1
  /// Token of the thread that may use it without being asked more; see `Confinement.token`.
  ///
  /// Never 0, so that it differs from that of a thread that has none yet. In a frozen Realm no
  /// thread's.
  private let owner: UInt64
  /// Reads the table as of the Realm's version; only good unless `isStale`.
  ///
  /// Nil: the file has no such table, which only happens read-only.
  var reader: TableReader?
  var isStale: Bool
  /// The Realm's `epoch`.
  var epoch: UInt32
  // Both live as long as the Realm, which owns this memory. Unmanaged, because handing out an
  // accessor must not count references.
  private let unmanagedRealm: Unmanaged<ConfinedRealm>
  private var unmanagedBinding: Unmanaged<TableBinding>
  /// The table itself; owned by `binding`.
  private(set) var unmanagedTable: Unmanaged<StoredTable>?
  /// The properties of the class; owned by `binding`.
  private(set) var unmanagedSchema: Unmanaged<ClassSchema>
  /// What makes an instance an accessor; owned by `binding`.
  private(set) var attachments: UnsafeBufferPointer<TableBinding.Attachment>
  /// What accessors are copied from; nil when each has to be initialized.
  ///
  /// Owned by `binding`.
  private(set) var image: ObjectImage?
  /// The table that the links of each column lead to, once one was followed.
  private(set) var targets: LinkTargets
  let objectClass: ObjectBase.Type
  let keyForm: ClassSchema.KeyForm
  let isEmbedded: Bool
  /// The state of the other accessors of the table, dynamic or not, once there are any.
  var twin: TablePointer?
  /// The same class in the Realm's frozen twin, while rows are where that has them.
  ///
  /// Ends with the Realm's version and when a transaction begins.
  var frozenForm: TablePointer?
  /// The same in the hidden twin.
  var hiddenForm: TablePointer?

  /// Which objects were added by transactions that were rolled back.
  private(set) var rollBacks = RollBacks()

  /// Of a foreign class: the next such of the Realm.
  fileprivate var nextForeign: TablePointer?

  /// Position of the class among the Realm's.
  let index: Int

  init(realm: ConfinedRealm, binding: TableBinding) {
    index = binding.index
    let token = realm.confinement.token
    owner = token == Confinement.anywhereToken ? Confinement.elsewhereToken : token
    isStale = true
    epoch = realm.epoch
    unmanagedRealm = .passUnretained(realm)
    unmanagedBinding = .passUnretained(binding)
    unmanagedTable = binding.table.map { .passUnretained($0) }
    unmanagedSchema = .passUnretained(binding.schema)
    attachments = UnsafeBufferPointer(binding.attachments)
    image = binding.image
    targets = LinkTargets(count: binding.table?.schema.columns.count ?? 0)
    objectClass = binding.schema.objectClass
    keyForm = binding.schema.keyForm
    isEmbedded = binding.schema.isEmbedded
  }

  /// Whether the calling thread is the one that may use it; other places have to be asked.
  @inline(__always)
  var isOwnerHere: Bool { ThreadToken(rawValue: owner).isCurrent }

  @inline(__always)
  var realm: ConfinedRealm { unmanagedRealm._withUnsafeGuaranteedRef { $0 } }

  /// Runs `body` on the Realm, without counting a reference.
  @inline(__always)
  func withRealm<Result>(_ body: (ConfinedRealm) -> Result) -> Result {
    unmanagedRealm._withUnsafeGuaranteedRef(body)
  }

  @inline(__always)
  var binding: TableBinding { unmanagedBinding._withUnsafeGuaranteedRef { $0 } }

  /// Whether this is the state of the class that another state stands for, in whatever Realm.
  @inline(__always)
  func hasBinding(of other: TablePointer) -> Bool {
    unmanagedBinding.toOpaque() == other.pointee.unmanagedBinding.toOpaque()
  }

  /// Where the linking objects of a property come from; see `TableBinding.origins`.
  @inline(__always)
  func origin(of property: Int) -> LinkOrigin? {
    unmanagedBinding._withUnsafeGuaranteedRef { $0.origins[property] }
  }

  /// Makes every cached row location of the class stale.
  mutating func bump() {
    generation &+= 1
    isStale = true
    if let twin {
      twin.pointee.generation &+= 1
      twin.pointee.isStale = true
    }
  }

  /// Notes that the objects from a key on, which a transaction has added, are gone for good.
  ///
  /// After the roll-back has made all locations stale.
  mutating func noteRollBack(from firstKey: ObjectKey) {
    rollBacks.add(firstKey, generation: generation)
    // What comes from now on is of another generation.
    bump()
  }

  /// Goes on with another binding of the same class, which has to live as long as the Realm.
  mutating func rebind(_ binding: TableBinding) {
    unmanagedBinding = .passUnretained(binding)
    unmanagedTable = binding.table.map { .passUnretained($0) }
    unmanagedSchema = .passUnretained(binding.schema)
    attachments = UnsafeBufferPointer(binding.attachments)
    image = binding.image
    targets.deallocate()
    targets = LinkTargets(count: binding.table?.schema.columns.count ?? 0)
    bump()
  }
}

/// The tables that the links of a table's columns lead to, made known when first needed.
///
/// In a frozen Realm, which many threads use, each may tell the same.
struct LinkTargets {
  private let targets: UnsafeMutablePointer<Atomic<UInt>>

  init(count: Int) {
    targets = .allocate(capacity: count)
    for column in 0..<count { (targets + column).initialize(to: Atomic(0)) }
  }

  func deallocate() { targets.deallocate() }

  subscript(column: Int) -> TablePointer? {
    // Acquiring and releasing: who finds a table here has to see what it was made with.
    @inline(__always)
    get { TablePointer(bitPattern: targets[column].load(ordering: .acquiring)) }
    nonmutating set { targets[column].store(UInt(bitPattern: newValue), ordering: .releasing) }
  }
}

typealias TablePointer = UnsafeMutablePointer<TableState>

/// The table states of a Realm by position of the class, made when first needed.
///
/// A frozen Realm is used by many threads: whoever comes first installs the state.
struct TableSlots: ~Copyable, @unchecked Sendable {
  // @unchecked: the memory is allocated once and only accessed as atomics.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>
  private let count: Int
  /// The last one of the foreign classes, which lead to each other; 0 while there is none.
  private let lastForeign = Atomic<UInt>(0)

  init(count: Int) {
    self.count = count
    slots = .allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    forEach { table in
      table.pointee.targets.deallocate()
      table.deinitialize(count: 1)
      table.deallocate()
    }
    slots.deinitialize(count: count)
    slots.deallocate()
  }

  /// The state at a position that may be another Realm's; nil when there is none.
  @inline(__always)
  func find(_ index: Int) -> TablePointer? { index < count ? self[index] : nil }

  subscript(index: Int) -> TablePointer? {
    // Acquiring: pairs with the exchange in `install`.
    TablePointer(bitPattern: slots[index].load(ordering: .acquiring))
  }

  /// Puts a state in unless another thread was faster; returns the one that is in.
  func install(_ state: TableState, at index: Int) -> TablePointer {
    let table = TablePointer.allocate(capacity: 1)
    table.initialize(to: state)
    let (isInstalled, other) = slots[index].compareExchange(
      expected: 0, desired: UInt(bitPattern: table), ordering: .acquiringAndReleasing)
    if isInstalled { return table }
    table.pointee.targets.deallocate()
    table.deinitialize(count: 1)
    table.deallocate()
    return TablePointer(bitPattern: other)!
  }

  /// The state of a foreign class by the index of its binding; nil when there is none yet.
  func foreign(_ index: Int) -> TablePointer? {
    foreign(index, from: lastForeign.load(ordering: .acquiring))
  }

  private func foreign(_ index: Int, from last: UInt) -> TablePointer? {
    var next = TablePointer(bitPattern: last)
    while let table = next, table.pointee.index != index { next = table.pointee.nextForeign }
    return next
  }

  /// Puts in the state of a foreign class unless another thread was faster; returns the one that is
  /// in.
  func installForeign(_ state: TableState) -> TablePointer {
    let table = TablePointer.allocate(capacity: 1)
    table.initialize(to: state)
    while true {
      let last = lastForeign.load(ordering: .acquiring)
      if let other = foreign(state.index, from: last) {
        table.pointee.targets.deallocate()
        table.deinitialize(count: 1)
        table.deallocate()
        return other
      }
      table.pointee.nextForeign = TablePointer(bitPattern: last)
      let (isInstalled, _) = lastForeign.compareExchange(
        expected: last, desired: UInt(bitPattern: table), ordering: .acquiringAndReleasing)
      if isInstalled { return table }
    }
  }

  /// Whether no state was put in.
  var isEmpty: Bool {
    (0..<count).allSatisfy { self[$0] == nil } && lastForeign.peek() == 0
  }

  func forEach(_ body: (TablePointer) -> Void) {
    for index in 0..<count { if let table = self[index] { body(table) } }
    forEachForeign(body)
  }

  func forEachForeign(_ body: (TablePointer) -> Void) {
    // Of a live Realm, to which one thread adds some, or at the end of a frozen one.
    var next = TablePointer(bitPattern: lastForeign.peek())
    while let table = next {
      // Taken first: the body may end the state.
      next = table.pointee.nextForeign
      body(table)
    }
  }
}

/// A class of a Realm and the table that holds its objects.
final class TableBinding: @unchecked Sendable {
  // @unchecked: the memory behind `attachments` and `image` is written in `init` only, `origins`
  // before the binding is shared.
  let schema: ClassSchema
  /// Position among the Realm's classes; behind them come their dynamic forms, and from
  /// `firstForeign` on stored classes that the Realm does not hold, by the keys of their tables.
  let index: Int
  /// Nil: the file has no such table, which only happens read-only.
  let table: StoredTable?
  /// The table's column of each property; -1 of one that has none, that is of linking objects and
  /// of what the file lacks.
  let columns: [Int]
  /// Position of the property that identifies objects; nil while the table has no such key, as in a
  /// migration that changes it.
  let primaryKey: Int?
  let primaryKeyColumn: Int?
  let attachments: UnsafeMutableBufferPointer<Attachment>
  /// What accessors are copied from; nil when instances have fields that only initializers can
  /// make.
  let image: ObjectImage?
  /// By position of the property: where linking objects come from; nil for others, and where the
  /// other class has no such property.
  ///
  /// Written once, before others know the binding.
  fileprivate(set) var origins: [LinkOrigin?] = []

  /// What to do with one property to make an instance an accessor.
  struct Attachment {
    let offset: Int
    let column: Int32
    /// Bytes of the wrapper in its managed form, where copying bytes is enough.
    let image: UnsafeMutableRawBufferPointer?
    let attach: @Sendable (UnsafeMutableRawPointer, Int32) -> Void
    /// Writes the unmanaged value into a row; nil for the primary key and what has no column.
    let store: (@Sendable (UnsafeMutableRawPointer, inout _RowWriter, Int) -> Void)?
    /// Tells a collection that it lives in a column of the object from now on; nil for other
    /// values.
    let becomeManaged: (@Sendable (UnsafeRawPointer, ObjectBase, Int32) -> Void)?
  }

  static var firstForeign: Int { 1 << 32 }
  /// Whether the Realm does not hold the class.
  var isForeign: Bool { index >= Self.firstForeign }

  init(schema: ClassSchema, index: Int, table: StoredTable?) {
    self.schema = schema
    self.index = index
    self.table = table
    var columns: [Int] = []
    for (position, property) in schema.properties.enumerated() {
      if property.isComputed {
        columns.append(-1)
      } else if let table {
        // Never another one, where the values of another property are.
        columns.append(table.columnIndex(named: property.columnName) ?? -1)
      } else {
        columns.append(position)
      }
    }
    self.columns = columns
    let key = schema.primaryKey
    primaryKey =
      table == nil || table!.primaryKeyColumn == key.map { columns[$0] } ? key : nil
    primaryKeyColumn = primaryKey.map { columns[$0] }
    // Dynamic accessors have no properties of their own.
    attachments = .allocate(capacity: schema.isDynamic ? 0 : columns.count)
    for (position, property) in schema.properties.enumerated() where !schema.isDynamic {
      // A property without a column is known by its position.
      let column = Int32(property.isComputed ? position : columns[position])
      let codec = property.codec
      (attachments.baseAddress! + position).initialize(
        to: Attachment(
          offset: property.offset, column: column, image: codec.managedImage(column),
          attach: codec.attach,
          store: position == primaryKey || property.isComputed ? nil : codec.store,
          becomeManaged: codec.collection == .none ? nil : codec.becomeManaged))
    }
    image = schema.accessorImage?.copy()
    if let image { ObjectBase.attach(at: image.address, UnsafeBufferPointer(attachments)) }
  }

  deinit {
    image?.deallocate()
    for attachment in attachments { attachment.image?.deallocate() }
    attachments.deinitialize()
    attachments.deallocate()
  }
}

extension TableBinding {
  /// Finds out where linking objects come from.
  ///
  /// - Parameter binding: the class of a name, in the form that this class has: dynamic or not.
  func findOrigins(_ binding: (PropertyDescription) -> TableBinding?) {
    origins = schema.properties.map { property in
      guard let name = property.originProperty, let other = binding(property),
        let position = other.schema.index(ofProperty: name)
      else { return nil }
      return LinkOrigin(index: other.index, column: other.columns[position], property: position)
    }
  }
}
