// The models, migrations and storage of a wallet.
import Foundation
import RealmSwift

enum TxKind: String, PersistableEnum, Codable { case incoming, outgoing, contract }

enum TxState: Int, PersistableEnum {
  case pending = -1, failed, done
  var isFinal: Bool { self != .pending }
}

struct Amount: Codable, Equatable {
  var value: Decimal
  var symbol: String
}

extension Amount: FailableCustomPersistable {
  typealias PersistedType = String
  init?(persistedValue: String) {
    let p = persistedValue.split(separator: " ")
    guard p.count == 2, let v = Decimal(string: String(p[0])) else { return nil }
    self.init(value: v, symbol: String(p[1]))
  }
  var persistableValue: String { "\(value) \(symbol)" }
}

struct ServerURL: CustomPersistable {
  typealias PersistedType = String
  var url: URL
  init(persistedValue: String) { url = URL(string: persistedValue) ?? URL(fileURLWithPath: "/") }
  init(_ url: URL) { self.url = url }
  var persistableValue: String { url.absoluteString }
}

class LocalizedOperation: EmbeddedObject, Codable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var from: String
  @Persisted var to: String
  @Persisted var contract: String?
  @Persisted var decimals: Int
  enum CodingKeys: String, CodingKey { case from, to, contract, decimals }
}

class Transaction: Object, Codable, ObjectKeyIdentifiable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var primaryKey: String
  @Persisted(indexed: true) var blockNumber: Int
  @Persisted var chainId: Int = 1
  @Persisted var from: String
  @Persisted var value: String = "0"
  @Persisted var gas: Int64?
  @Persisted var nonce: Int
  @Persisted var date: Date
  @Persisted var kind: TxKind = .incoming
  @Persisted var state: TxState = .pending
  @Persisted var amount: Amount = Amount(value: 0, symbol: "ETH")
  @Persisted var operations: List<LocalizedOperation>
  @Persisted var memo: Map<String, String>
  @Persisted var tags: MutableSet<String>
  @Persisted var fiat: Decimal128?
  @Persisted var raw: AnyRealmValue
  convenience init(
    hash: String, blockNumber: Int, from: String, date: Date = Date(timeIntervalSince1970: 0),
    kind: TxKind = .incoming, state: TxState = .done
  ) {
    self.init()
    primaryKey = "\(hash)-\(chainId)"
    self.blockNumber = blockNumber
    self.from = from
    self.date = date
    self.kind = kind
    self.state = state
  }
  private enum CodingKeys: String, CodingKey {
    case primaryKey, blockNumber, chainId, from, value, gas, nonce, date, kind, operations, memo,
      tags
  }
  override static func indexedProperties() -> [String] { ["from"] }
  static func compoundKey(_ id: String, _ chain: Int) -> String { "\(id)-\(chain)" }
}

class TokenObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id: String = ""
  @Persisted var contract: String = ""
  @Persisted var balances: List<String>
  @Persisted var isDisabled: Bool = false
  @Persisted(originProperty: "tokens") var wallets: LinkingObjects<WalletObject>
  @Persisted private var _sortIndex: Int?
  var sortIndex: Int? {
    get { _sortIndex }
    set { _sortIndex = newValue }
  }
  var isERC20: Bool { !contract.isEmpty }
  override func isEqual(_ object: Any?) -> Bool {
    guard let o = object as? TokenObject else { return false }
    return o.contract == contract
  }
}

class WalletObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var address: UUID = UUID()
  @Persisted var name: String?
  @Persisted var tokens: List<TokenObject>
  @Persisted var server: ServerURL?
  @Persisted var created = Date()
}

struct WalletMigration {
  static let schemaVersion: UInt64 = 5
  static func configuration(for file: URL, key: Data? = nil) -> Realm.Configuration {
    var config = Realm.Configuration(
      fileURL: file, encryptionKey: key, schemaVersion: schemaVersion)
    config.objectTypes = [
      Transaction.self, LocalizedOperation.self, TokenObject.self, WalletObject.self,
    ]
    config.migrationBlock = { migration, oldSchemaVersion in
      if oldSchemaVersion < 2 {
        migration.enumerateObjects(ofType: TokenObject.className()) { oldObject, newObject in
          guard let oldObject = oldObject, let newObject = newObject else { return }
          if let value = (oldObject["contract"] as? String)?.lowercased() {
            newObject["contract"] = value
          }
        }
      }
      if oldSchemaVersion < 3 { migration.deleteData(forType: Transaction.className()) }
      if oldSchemaVersion < 4 {
        migration.enumerateObjects(ofType: "TokenObject") { old, new in
          if let old, old["isDisabled"] as? Bool == true, let new { migration.delete(new) }
        }
      }
    }
    config.shouldCompactOnLaunch = { totalBytes, usedBytes in
      (totalBytes > 100 * 1024 * 1024) && Double(usedBytes) / Double(totalBytes) < 0.5
    }
    return config
  }
}

enum WalletFilter {
  case all, erc20, text(String), between(Date, Date)
  var predicate: NSPredicate {
    switch self {
    case .all: return NSPredicate(value: true)
    case .erc20:
      return NSPredicate(format: "contract != %@ AND isDisabled == %@", "", NSNumber(value: false))
    case .text(let t):
      return NSCompoundPredicate(
        orPredicateWithSubpredicates: ["contract", "id"].map {
          NSPredicate(format: "%K CONTAINS[cd] %@", $0, t)
        })
    case .between(let a, let b):
      return NSPredicate(format: "date >= %@ && date < %@", a as NSDate, b as NSDate)
    }
  }
}

final class TransactionsStorage {
  let realm: Realm
  private var token: NotificationToken?
  var onChange: (([Transaction]) -> Void)?
  init(realm: Realm) { self.realm = realm }
  var objects: Results<Transaction> {
    realm.objects(Transaction.self).sorted(byKeyPath: "date", ascending: false).filter(
      "chainId = %d AND primaryKey != ''", 1)
  }
  var count: Int { objects.count }
  var completed: [Transaction] {
    objects.where { $0.state == .done && $0.blockNumber > 0 }.map { $0 }
  }
  var latest: Transaction? {
    objects.filter("state = %d", TxState.done.rawValue).sorted(byKeyPath: "blockNumber").last
  }
  func transactions(for values: [TxKind]) -> [Transaction] {
    Array(objects.filter("kind IN %@", values.map { $0.rawValue }))
  }
  func nonce() -> Int? {
    objects.filter(NSPredicate(format: "from ==[c] %@", "0xABC")).max(ofProperty: "nonce")
  }
  func add(_ items: [Transaction]) { try! realm.write { realm.add(items, update: .all) } }
  func update(state: TxState, for t: Transaction) -> Transaction {
    try? realm.write {
      t.state = state
      t.memo["note"] = "x"
      t.tags.insert("done")
      t.operations.append(LocalizedOperation(value: ["from": "a", "to": "b", "decimals": 18]))
    }
    return t
  }
  func start() {
    token = objects.observe(on: nil) { [weak self] change in
      switch change {
      case .initial(let r), .update(let r, deletions: _, insertions: _, modifications: _):
        self?.onChange?(Array(r))
      case .error: break
      }
    }
  }
  func sum() -> Int { objects.sum(ofProperty: "blockNumber") }
  func removeAll() { try! realm.write { realm.delete(realm.objects(Transaction.self)) } }
  deinit { token?.invalidate() }
}
