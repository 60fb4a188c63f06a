// Sources that import the module `Realm` beside RealmSwift: `Realm` still means the structure.
import Foundation
import Realm
import RealmSwift

import class Realm.RLMObjectBase
import func Realm.RLMRealmPathForFile
import class RealmSwift.Object

class Page: RealmSwift.Object {
  @Persisted(primaryKey: true) var number: Int
}

extension Realm {
  var pages: Results<Page> { objects(Page.self) }
  static func scratch() throws -> Realm { try Realm(configuration: .init(inMemoryIdentifier: "s")) }
}

extension Realm.Configuration {
  static var shared: Realm.Configuration { Realm.Configuration.defaultConfiguration }
}

func open() -> String {
  do {
    _ = try Realm(configuration: .init(objectTypes: [Page.self]))
    _ = try Realm(fileURL: URL(fileURLWithPath: RLMRealmPathForFile("pages.realm")))
    _ = try RealmSwift.Realm()
    return ""
  } catch let error as RLMError where error.code == .fail || error.code == .schemaMismatch {
    return error.localizedDescription
  } catch RLMError.fileNotFound {
    return "not there"
  } catch Realm.Error.fileAccess {
    return "no access"
  } catch {
    let code: RLMError.Code? = RLMError.Code(rawValue: (error as NSError).code)
    return (error as NSError).domain == RLMErrorDomain ? "\(code as Any)" : "other"
  }
}

func names(of object: RLMObjectBase, _ token: RLMNotificationToken, _ type: RLMPropertyType)
  -> [String]
{
  let migrate: RLMMigrationBlock = { _, _ in }
  let compact: RLMShouldCompactOnLaunchBlock = { _, _ in false }
  _ = Realm.Configuration(migrationBlock: migrate, shouldCompactOnLaunch: compact)
  let id: RLMObjectId = .generate()
  let number: RLMDecimal128 = 1
  _ = (id, number, token, type)
  return (Page.sharedSchema()?.properties ?? []).map(\.name) + [Swift.type(of: object).className()]
}
