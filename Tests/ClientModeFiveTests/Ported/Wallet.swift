// A wallet as it was written for Apple's systems; `@objc dynamic var` in a comment stays.
import Foundation
import RealmSwift

enum Mood: Int, PersistableEnum { case calm, wild }

private enum Keys { static let id = "identifier" }

typealias Model = Object

class BaseModel: Model {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var identifier: String = UUID().uuidString
  @Persisted internal var updated = Date.distantPast  // trailing
  @Persisted var revision = 0
}

/// Money.
final class Wallet: BaseModel {
  override class func _realmObjectName() -> String? { "StoredWallet" }

  @Persisted var balance: Double = 0
  @Persisted(indexed: true) var name: String = "\("a" + (true ? "}" : "{"))"
  @Persisted internal var raw = #"a " { b"#
  @Persisted var multi = """
    class X: Object { @objc dynamic var y = 0 }
    """
  @Persisted var long: String =
    "abc"
    + "def"
  @Persisted(indexed: true)
  var joined: Int = 3
  @Persisted private(set) var locked = true
  @Persisted var first = 0
  @Persisted var second: Int = 1
  @Persisted var third: String? = nil
  @Persisted var made: String = { () -> String in
    return "a, b: c"
  }()
  @Persisted var mood: Mood = .calm
  @Persisted var seen: Int = 0 {
    didSet { changes += 1 }
  }
  var title: String { return name + "!" }
  var shout: String {
    get { name }
    set { name = newValue }
  }
  @Persisted var data: Data?
  @Persisted var owner: Owner?
  var scratch = 0
  var changes = 0
  static let names = List<String>()
  static var shared = 1
  @Persisted var rank: Int?
  @Persisted var limit: Int? = 5
  @Persisted var score: Double?
  @Persisted private var hidden: Bool?
  @Persisted var tags: MutableSet<String>
  @Persisted var notes: RealmSwift.List<String>
  @Persisted var counts: Map<String, Int?>
  @Persisted var coins: List<Coin>
  let text = "let x = List<String>() @objc dynamic var"

  required init() {
    super.init()
    rank = 3
  }

  convenience init(name: String, rank: Int?) {
    self.init()
    self.name = name
    self.rank = rank
    if let limit = limit { seen = limit }
  }

  func hide() -> Bool {
    let local = List<String>()
    hidden = true
    return hidden! && local.isEmpty
  }
}

final class Coin: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var value = 0
  @Persisted(originProperty: "coins") var wallets: LinkingObjects<Wallet>
}

enum People {
  class Person: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id = 0
    @Persisted var wallets: List<Wallet>
  }
}

extension People.Person {
  var count: Int { wallets.count }
}

class Owner: People.Person {
  @Persisted(originProperty: "owner") private var owned: LinkingObjects<Wallet>
  var names: [String] { owned.map { $0.name } }
}

/// No model: nothing of it changes.
class Account {
  dynamic var name = ""
  let list = List<Wallet>()
  let rank = 4
  init() {}
}

func total(_ wallets: [Wallet], _ account: Account) -> Int {
  wallets.reduce(0) { $0 + ($1.limit ?? 0) } + account.list.count
}
