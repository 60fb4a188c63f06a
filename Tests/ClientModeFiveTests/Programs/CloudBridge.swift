// A bridge to records of a cloud: objects by schema and name, both ways.
import Foundation
import RealmSwift

struct RecordID: Hashable {
  var name: String
  var zone: String
}

final class Record {
  let id: RecordID
  let type: String
  var fields: [String: Any] = [:]
  init(_ id: RecordID, _ type: String) {
    self.id = id
    self.type = type
  }
  subscript(key: String) -> Any? {
    get { fields[key] }
    set { fields[key] = newValue }
  }
}

protocol Recordable {
  static var recordType: String { get }
  var recordID: RecordID { get }
  var record: Record { get }
  static func parse(_ record: Record, realm: Realm) -> Self?
  var isDeleted: Bool { get set }
}

extension Recordable where Self: Object {
  static var recordType: String { className() }
  var recordID: RecordID {
    guard let sharedSchema = Self.sharedSchema() else {
      fatalError("No schema settled. Go to Realm Community to seek more help.")
    }
    guard let primaryKeyProperty = sharedSchema.primaryKeyProperty else {
      fatalError("You should set a primary key on your Realm object")
    }
    switch primaryKeyProperty.type {
    case .string:
      guard let key = self[primaryKeyProperty.name] as? String else { fatalError() }
      return RecordID(name: key, zone: Self.recordType)
    case .int:
      guard let key = self[primaryKeyProperty.name] as? Int else { fatalError() }
      return RecordID(name: "\(key)", zone: Self.recordType)
    default: fatalError("Primary key should be String or Int")
    }
  }
  var record: Record {
    let r = Record(recordID, Self.recordType)
    let properties = objectSchema.properties
    for prop in properties {
      let item = self[prop.name]
      if prop.isArray {
        switch prop.type {
        case .int:
          guard let list = item as? List<Int>, !list.isEmpty else { break }
          r[prop.name] = Array(list)
        case .string:
          guard let list = item as? List<String>, !list.isEmpty else { break }
          r[prop.name] = Array(list)
        case .bool:
          guard let list = item as? List<Bool>, !list.isEmpty else { break }
          r[prop.name] = Array(list)
        case .object:
          guard let objectName = prop.objectClassName else { break }
          if let list = self.value(forKey: prop.name) as? List<CKTag>, !list.isEmpty {
            r[prop.name] = list.map { "\(objectName)/\($0.name)" } as [String]
          }
          let dynamic = dynamicList(prop.name)
          r[prop.name + "Count"] = dynamic.count
        default: break
        }
        continue
      }
      switch prop.type {
      case .int, .string, .bool, .date, .float, .double, .data: r[prop.name] = item
      case .object: if let owner = item as? Recordable & Object { r[prop.name] = owner.recordID }
      case .linkingObjects, .any, .objectId, .decimal128, .UUID: continue
      @unknown default: continue
      }
    }
    return r
  }
  static func parse(_ record: Record, realm: Realm) -> Self? {
    let o = Self()
    for prop in o.objectSchema.properties {
      var recordValue: Any?
      if prop.isArray {
        switch prop.type {
        case .int:
          guard let value = record[prop.name] as? [Int] else { break }
          let list = List<Int>()
          list.append(objectsIn: value)
          recordValue = list
        case .string:
          guard let value = record[prop.name] as? [String] else { break }
          let list = List<String>()
          list.append(objectsIn: value)
          recordValue = list
        default: break
        }
        if let recordValue { o.setValue(recordValue, forKey: prop.name) }
        continue
      }
      switch prop.type {
      case .int: recordValue = record[prop.name] as? Int
      case .string: recordValue = record[prop.name] as? String
      case .bool: recordValue = record[prop.name] as? Bool
      case .date: recordValue = record[prop.name] as? Date
      case .float: recordValue = record[prop.name] as? Float
      case .double: recordValue = record[prop.name] as? Double
      case .data: recordValue = record[prop.name] as? Data
      case .object:
        if let id = record[prop.name] as? RecordID, let ownerType = prop.objectClassName {
          recordValue = realm.dynamicObject(ofType: ownerType, forPrimaryKey: id.name)
          if let dynamic = recordValue as? DynamicObject, ownerType == "CKTag" {
            recordValue = realm.object(
              ofType: CKTag.self, forPrimaryKey: dynamic["name"] as! String)
          }
        }
      default: break
      }
      if recordValue != nil || (recordValue == nil && prop.isOptional) {
        o.setValue(recordValue, forKey: prop.name)
      }
    }
    return o
  }
}

final class CKTag: Object, Recordable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var name: String
  @Persisted var isDeleted = false
}

final class CKNote: Object, Recordable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id: Int
  @Persisted var title = ""
  @Persisted var text: String?
  @Persisted var stars: List<Int>
  @Persisted var words: List<String>
  @Persisted var tags: List<CKTag>
  @Persisted var tag: CKTag?
  @Persisted var at: Date?
  @Persisted var ratio: Double = 0.5
  @Persisted var small: Float = 0.25
  @Persisted var blob: Data = Data()
  @Persisted var isDeleted: Bool = false
}

protocol Syncable: AnyObject {
  func registerLocalDatabase()
  var pipe: (([Record], [RecordID]) -> Void)? { get set }
}

final class SyncObject<T> where T: Object & Recordable {
  var notificationToken: NotificationToken?
  var pipeToEngine: ((_ recordsToStore: [Record], _ recordIDsToDelete: [RecordID]) -> ())?
  let realmConfiguration: Realm.Configuration
  init(realmConfiguration: Realm.Configuration = .defaultConfiguration, type: T.Type) {
    self.realmConfiguration = realmConfiguration
  }
  func registerLocalDatabase() throws {
    let realm = try Realm(configuration: realmConfiguration)
    notificationToken = realm.objects(T.self).observe({ [weak self] (changes) in
      guard let self = self else { return }
      switch changes {
      case .initial(_): break
      case .update(let collection, _, let insertions, let modifications):
        let recordsToStore = (insertions + modifications).filter { $0 < collection.count }.map {
          collection[$0]
        }.filter { !$0.isDeleted }.map { $0.record }
        let recordIDsToDelete = modifications.filter { $0 < collection.count }.map {
          collection[$0]
        }.filter { $0.isDeleted }.map { $0.recordID }
        guard recordsToStore.count > 0 || recordIDsToDelete.count > 0 else { return }
        self.pipeToEngine?(recordsToStore, recordIDsToDelete)
      case .error(_): break
      }
    })
  }
  func add(record: Record) throws {
    let realm = try Realm(configuration: realmConfiguration)
    guard let object = T.parse(record, realm: realm) else { return }
    realm.beginWrite()
    realm.add(object, update: .modified)
    if let token = notificationToken {
      try realm.commitWrite(withoutNotifying: [token])
    } else {
      try realm.commitWrite()
    }
  }
  func cleanUp() throws {
    let realm = try Realm(configuration: realmConfiguration)
    let objects = realm.objects(T.self).filter { $0.isDeleted }
    var tokens: [NotificationToken] = []
    self.notificationToken.flatMap { tokens = [$0] }
    realm.writeAsync({ objects.forEach { realm.delete($0) } }, onComplete: nil)
    _ = tokens
  }
}
