// A habit tracker: embedded objects, dictionaries, projections, a view model and an actor.
import Foundation
import RealmSwift

enum Weekday: Int, PersistableEnum { case monday = 1, tuesday, wednesday }

enum Streak: String, PersistableEnum { case none, short, long }

class Reminder: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var hour = 8
  @Persisted var minute = 0
  @Persisted var days: List<Weekday>
}

class Habit: Object, ObjectKeyIdentifiable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var color: String? = "red"
  @Persisted var completions: List<Date>
  @Persisted var reminder: Reminder?
  @Persisted var settings: Map<String, AnyRealmValue>
  @Persisted var counts: Map<String, Int>
  @Persisted var order: Double = 0
  @Persisted var streak: Streak = .none
  @Persisted var archived: Bool = false
  @Persisted(originProperty: "habits") var groups: LinkingObjects<HabitGroup>
  func toggle(on day: Date) {
    if let index = completions.firstIndex(of: day) {
      completions.remove(at: index)
    } else {
      completions.append(day)
    }
  }
}

class HabitGroup: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id = UUID()
  @Persisted var title = ""
  @Persisted var habits: RealmSwift.List<Habit>
  convenience init(title: String, habits: [Habit] = []) {
    self.init()
    self.title = title
    self.habits.append(objectsIn: habits)
  }
}

final class HabitRow: Projection<Habit> {
  @Projected(\Habit.name) var name
  @Projected(\Habit.reminder?.hour) var hour
  @Projected(\Habit.completions) var completions
}

protocol Persistence {
  associatedtype Item: Object
  var realm: Realm { get }
  func all() -> Results<Item>
}

extension Persistence {
  func all() -> Results<Item> { realm.objects(Item.self) }
  func find(_ predicate: (Query<Item>) -> Query<Bool>) -> Item? {
    all().where { predicate($0) }.first
  }
  func upsert(_ values: [String: Any]) throws -> Item {
    try realm.write { realm.create(Item.self, value: values, update: .modified) }
  }
  func move(_ list: RealmSwift.List<Item>, from: Int, to: Int) throws {
    try realm.write { list.move(from: from, to: to) }
  }
}

struct HabitStore: Persistence {
  typealias Item = Habit
  let realm: Realm
  var active: Results<Habit> { all().where { !$0.archived }.sorted(by: \.order) }
  var grouped: SectionedResults<String, Habit> {
    all().sectioned(by: \.streak.rawValue, ascending: true)
  }
  var byName: SectionedResults<Streak, Habit> { all().sectioned(by: \.streak) }
  func done(on day: Date) -> Results<Habit> { all().where { $0.completions.contains(day) } }
  func withSetting(_ key: String, _ v: AnyRealmValue) -> Results<Habit> {
    all().where { $0.settings[key] == v }
  }
  func popular() -> Results<Habit> {
    all().where { $0.completions.count >= 2 || $0.counts["total"] > 1 }
  }
  func early() -> Results<Habit> {
    all().where { $0.reminder.hour < 9 && $0.reminder.days.contains(.monday) }
  }
}

extension Habit { var streakName: String { "\(streak)" } }
@MainActor final class HabitViewModel {
  let store: HabitStore
  private(set) var rows: [Habit] = []
  private var token: NotificationToken?
  var reload: (([Int], [Int], [Int]) -> Void)?
  init(store: HabitStore) {
    self.store = store
    token = store.active.observe { [weak self] change in
      guard let self else { return }
      switch change {
      case .initial(let r):
        self.rows = Array(r)
        self.reload?([], Array(r.indices), [])
      case .update(let r, let deletions, let insertions, let modifications):
        self.rows = Array(r)
        self.reload?(deletions, insertions, modifications)
      case .error(let error): fatalError("\(error)")
      }
    }
  }
  func delete(at offsets: IndexSet) {
    let doomed = offsets.map { rows[$0] }
    try! store.realm.write { store.realm.delete(doomed) }
  }
  func add(_ name: String) async throws {
    let realm = store.realm
    try await realm.asyncWrite {
      let h = Habit()
      h.name = name
      h.order = Double(rows.count)
      realm.add(h)
    }
  }
}

actor HabitWriter {
  private var realm: Realm!
  init(_ c: Realm.Configuration) async throws {
    realm = try await Realm(configuration: c, actor: self)
  }
  func rename(_ id: ObjectId, _ name: String) async throws {
    try await realm.asyncWrite {
      realm.create(
        Habit.self, value: ["_id": id, "name": name] as [String: Any], update: .modified)
    }
  }
  func names() -> [String] { realm.objects(Habit.self).map(\.name) }
  func close() { realm = nil }
}
