// Ours: objects of nine properties through the public API.
import Foundation
import RealmSwift

final class WideObject: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var note: String
  @Persisted var count: Int
  @Persisted var rank: Int
  @Persisted var score: Double
  @Persisted var isActive: Bool
  @Persisted var date: Date
  @Persisted var payload: Data

  convenience init(_ values: WideValues) {
    self.init()
    id = values.id
    set(values)
  }

  func set(_ values: WideValues) {
    name = values.name
    note = values.note
    count = values.count
    rank = values.rank
    score = values.score
    isActive = values.isActive
    date = values.date
    payload = values.payload
  }

  var values: WideValues {
    var values = WideValues(id, seed: 0)
    values.name = name
    values.note = note
    values.count = count
    values.rank = rank
    values.score = score
    values.isActive = isActive
    values.date = date
    values.payload = payload
    return values
  }
}

final class RealmWide: WideDriver {
  private let realm: Realm
  private let path: String
  private var made: [WideObject] = []
  private var dictionaries: [[String: Any]] = []

  init(folder: String, durability: Durability) throws {
    path = folder + "/wide.realm"
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [WideObject.self])
    configuration.durability = durability == .full ? .full : .memory
    realm = try Realm(configuration: configuration)
  }

  func prepare(_ change: WideChange, _ objects: [WideValues]) {
    made = []
    dictionaries = []
    switch change {
    case .insert, .upsertNone, .upsertSome, .upsertAll: made = objects.map { WideObject($0) }
    case .create: dictionaries = objects.map(Self.dictionary)
    default: break
    }
  }

  private static func dictionary(_ values: WideValues) -> [String: Any] {
    [
      "id": values.id, "name": values.name, "note": values.note, "count": values.count,
      "rank": values.rank, "score": values.score, "isActive": values.isActive,
      "date": values.date, "payload": values.payload,
    ]
  }

  func run(_ change: WideChange, _ objects: [WideValues]) throws {
    try realm.write {
      switch change {
      case .whole, .wholeNear: for values in objects { find(values.id).set(values) }
      case .byName: for values in objects { setByName(find(values.id), values) }
      case .number: for values in objects { find(values.id).count = values.count }
      case .text: for values in objects { find(values.id).name = values.name }
      case .numberWhere: range(objects).setValue(objects[0].count, forKey: "count")
      case .insert: for object in made { realm.add(object) }
      case .create: for values in dictionaries { realm.create(WideObject.self, value: values) }
      case .upsertNone, .upsertSome, .upsertAll:
        for object in made { realm.add(object, update: .modified) }
      case .delete: for values in objects { realm.delete(find(values.id)) }
      case .deleteWhere: realm.delete(range(objects))
      }
    }
  }

  private func find(_ id: Int) -> WideObject {
    realm.object(ofType: WideObject.self, forPrimaryKey: id)!
  }

  private func range(_ objects: [WideValues]) -> RealmSwift.Results<WideObject> {
    let (first, last) = (objects.first!.id, objects.last!.id)
    return realm.objects(WideObject.self).where { $0.id >= first && $0.id <= last }
  }

  private func setByName(_ object: WideObject, _ values: WideValues) {
    object.setValue(values.name, forKey: "name")
    object.setValue(values.note, forKey: "note")
    object.setValue(values.count, forKey: "count")
    object.setValue(values.rank, forKey: "rank")
    object.setValue(values.score, forKey: "score")
    object.setValue(values.isActive, forKey: "isActive")
    object.setValue(values.date, forKey: "date")
    object.setValue(values.payload, forKey: "payload")
  }

  func values(_ id: Int) -> WideValues? {
    realm.object(ofType: WideObject.self, forPrimaryKey: id)?.values
  }

  func count() -> Int { realm.objects(WideObject.self).count }

  /// The file is closed with the Realm, which goes with this.
  func close() { realm.invalidate() }
}
