// The models and the manager of a mail client.
import Foundation
import RealmSwift

class Recipient: EmbeddedObject, Codable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var email: String
  @Persisted var name: String
  convenience init(email: String, name: String) {
    self.init()
    self.email = email
    self.name = name
  }
  enum CodingKeys: String, CodingKey { case email, name }
  required init() { super.init() }
}

class Attachment: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var uuid: String?
  @Persisted var size: Int64
  @Persisted var isInline = false
  @Persisted(originProperty: "attachments") var parents: LinkingObjects<Message>
  var parent: Message? { parents.first }
}

class Folder: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var _id: String
  @Persisted var path: String
  @Persisted var unreadCount = 0
  @Persisted var children: MutableSet<Folder>
  @Persisted var threads: List<MailThread>
  @Persisted(originProperty: "children") var parentLink: LinkingObjects<Folder>
  var parent: Folder? { parentLink.first }
  var listChildren: AnyRealmCollection<Folder>? {
    children.isEmpty ? nil : AnyRealmCollection(children)
  }
}

class MailThread: Object, Identifiable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var uid: String
  @Persisted var messages: List<Message>
  @Persisted var subject: String?
  @Persisted var date: Date
  @Persisted var flagged: Bool
  @Persisted(originProperty: "threads") var folders: LinkingObjects<Folder>
  var id: String { uid }
  func recompute() {
    flagged = messages.contains { $0.flagged }
    date = messages.max(of: \.date) ?? date
    subject = messages.first?.subject
  }
}

class Message: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var uid: String
  @Persisted var subject: String?
  @Persisted(indexed: true) var date: Date
  @Persisted var from: List<Recipient>
  @Persisted var attachments: List<Attachment>
  @Persisted var flagged = false
  @Persisted var seen = false
  @Persisted var size: Int?
  @Persisted var body: Body?
  @Persisted(originProperty: "messages") var threads: LinkingObjects<MailThread>
  @Persisted var fromSearch: Bool = false
  var thread: MailThread? { threads.first }
}

class Body: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var value: String?
  @Persisted var type: String?
  @Persisted var subBody: List<SubBody>
}

class SubBody: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var value: String?
}

final class MailManager {
  let configuration: Realm.Configuration
  private let backgroundQueue = DispatchQueue(label: "realm.background")
  init(name: String) {
    configuration = Realm.Configuration(
      inMemoryIdentifier: name, deleteRealmIfMigrationNeeded: true,
      objectTypes: [
        Folder.self, MailThread.self, Message.self, Recipient.self, Attachment.self, Body.self,
        SubBody.self,
      ])
  }
  func getRealm() -> Realm {
    do {
      let realm = try Realm(configuration: configuration)
      realm.refresh()
      return realm
    } catch let error as NSError { fatalError(error.localizedDescription) }
  }
  func execute(_ block: @escaping (Realm) -> Void) {
    backgroundQueue.sync {
      autoreleasepool {
        let realm = try! Realm(configuration: configuration, queue: nil)
        block(realm)
      }
    }
  }
  func saveThreads(result: [MailThread], parent: Folder, using realm: Realm) {
    let toDelete = Set(parent.threads).subtracting(Set(result))
    try? realm.safeWrite {
      realm.add(result, update: .modified)
      parent.threads.append(objectsIn: result.filter { !parent.threads.contains($0) })
      realm.delete(toDelete)
      parent.unreadCount = parent.threads.where { $0.messages.seen == false }.count
    }
  }
  func keepCacheAttributes(for message: Message, using realm: Realm) {
    guard let saved = realm.object(ofType: Message.self, forPrimaryKey: message.uid) else { return }
    if let body = saved.body { message.body = Body(value: body) }
    message.attachments.append(objectsIn: saved.attachments.map { Attachment(value: $0) })
  }
  func search(_ term: String, in folder: Folder) -> Results<MailThread> {
    folder.threads.filter(
      "ANY messages.subject CONTAINS[cd] %@ OR SUBQUERY(messages, $m, ANY $m.from.email CONTAINS[c] %@).@count > 0",
      term, term
    ).sorted(by: [
      RealmSwift.SortDescriptor(keyPath: "flagged", ascending: false),
      RealmSwift.SortDescriptor(keyPath: \MailThread.date, ascending: false),
    ])
  }
  func unread(_ realm: Realm) -> Results<Message> {
    realm.objects(Message.self).filter(
      NSPredicate(
        format: "seen == NO AND date > %@ AND NOT (subject BEGINSWITH[c] %@)",
        Date.distantPast as NSDate, "spam"))
  }
  func big(_ realm: Realm) -> Results<Message> {
    realm.objects(Message.self).where {
      ($0.attachments.size.sum > 10 || $0.size > 100)
        && !$0.subject.contains("x", options: [.caseInsensitive, .diacriticInsensitive])
    }
  }
  func orphans(_ realm: Realm) -> [Message] {
    realm.objects(Message.self).filter("threads.@count == 0").freezeIfNeeded().map { $0 }
  }
  func sections(_ folder: Folder) -> SectionedResults<String, MailThread> {
    folder.threads.sectioned(
      by: { String($0.date.timeIntervalSince1970 > 100 ? "new" : "old") },
      sortDescriptors: [.init(keyPath: "date", ascending: false)])
  }
  func watch(_ thread: MailThread, _ block: @escaping ([String]) -> Void) -> NotificationToken {
    thread.observe(keyPaths: [\MailThread.subject, \.flagged]) {
      (change: ObjectChange<MailThread>) in
      guard case .change(_, let p) = change else { return }
      block(p.map(\.name))
    }
  }
}

extension Results { func freezeIfNeeded() -> Results<Element> { isFrozen ? self : freeze() } }

extension Object {
  func freezeIfNeeded() -> Self { realm == nil || isFrozen ? self : freeze() }
  func thawIfNeeded() -> Self? { isFrozen ? thaw() : self }
}

extension Realm {
  func getOrCreate<Model: Object, K>(_ model: Model.Type, key: K) -> Model {
    object(ofType: model, forPrimaryKey: key)
      ?? create(model, value: [model.sharedSchema()!.primaryKeyProperty!.name: key])
  }
}
