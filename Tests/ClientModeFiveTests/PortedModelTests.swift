// `scripts/port-models`: models of the older style become ones that compile here, are stored, and
// are left alone by a second run. What it does not change it names with the reason.
import Foundation
import RealmSwift
import Testing

@Suite struct PortedModelTests {
  // MARK: - Whole sources

  /// The sources of `OldModels` become those of `Ported`, which are compiled with these tests.
  @Test func oldModelsBecomeTheOnesOfToday() throws {
    let folder = try PortedFolder()
    for name in ["Wallet"] {
      try folder.add("\(name).swift", Data(contentsOf: beside("OldModels/\(name).swift.old")))
    }
    let shown = try folder.port()
    #expect(shown.status == 0, "\(shown.output)")
    #expect(
      try folder.read("Wallet.swift") == text(of: "OldModels/Wallet.swift.old"),
      "showing changes nothing")
    let written = try folder.port("--write")
    #expect(written.status == 0 && !written.output.contains("left:"), "\(written.output)")
    #expect(try folder.read("Wallet.swift") == text(of: "Ported/Wallet.swift"))
    let again = try folder.port("--write")
    #expect(again.output.contains("0 changed"), "\(again.output)")
    #expect(try folder.read("Wallet.swift") == text(of: "Ported/Wallet.swift"))
  }

  @Test func portedModelsAreStored() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "ported",
      objectTypes: [BaseModel.self, Wallet.self, Coin.self, People.Person.self, Owner.self])
    let realm = try Realm(configuration: configuration)
    let schema = try #require(realm.schema["StoredWallet"])
    #expect(schema.primaryKeyProperty?.name == "identifier")
    #expect(schema.properties.filter(\.isIndexed).map(\.name) == ["identifier", "name", "joined"])
    let stored = Set(schema.properties.map(\.name))
    #expect(stored.isDisjoint(with: ["scratch", "changes", "title", "shout", "text"]))
    #expect(
      stored.isSuperset(of: [
        "identifier", "updated", "revision", "balance", "raw", "multi", "long", "locked", "first",
        "second", "third", "made", "mood", "seen", "data", "owner", "rank", "limit", "score",
        "hidden", "tags", "notes", "counts", "coins",
      ]))
    try realm.write {
      let owner = Owner(value: ["id": 1])
      let wallet = Wallet(name: "Purse", rank: nil)
      wallet.coins.append(Coin(value: ["value": 2]))
      wallet.owner = owner
      wallet.mood = .wild
      wallet.notes.append("n")
      wallet.tags.insert("t")
      wallet.counts["c"] = 3
      owner.wallets.append(wallet)
      realm.add(owner)
    }
    let wallet = try #require(realm.objects(Wallet.self).first)
    #expect(wallet.rank == nil && wallet.limit == 5 && wallet.seen == 5 && wallet.mood == .wild)
    #expect(wallet.coins.first?.wallets.first == wallet && wallet.owner?.names == ["Purse"])
    #expect(wallet.notes.count == 1 && wallet.tags.count == 1 && wallet.counts["c"] == 3)
    #expect(wallet.raw == #"a " { b"# && wallet.long == "abcdef" && wallet.made == "a, b: c")
    #expect(total([wallet], Account()) == 5)
    try realm.write { #expect(wallet.hide()) }
  }

  // MARK: - One form each

  /// A member of a class as it was, and as it becomes.
  @Test(arguments: [
    ("@objc dynamic var a = 0", "@Persisted var a = 0"),
    ("@objc dynamic var a: Int", "@Persisted var a: Int"),
    ("dynamic var a = \"\"", "@Persisted var a = \"\""),
    ("@objc public dynamic var a = 0", "@Persisted public var a = 0"),
    ("public dynamic var a = 0", "@Persisted public var a = 0"),
    ("@objc dynamic private(set) var a = 0", "@Persisted private(set) var a = 0"),
    ("@objc /* why */ dynamic var a = 0", "@Persisted /* why */ var a = 0"),
    ("@objc dynamic\n  var a = 0", "@Persisted\n  var a = 0"),
    ("@objc\n  dynamic\n  var a = 0", "@Persisted\n  var a = 0"),
    (
      "@available(*, deprecated) @objc dynamic var a = 0",
      "@available(*, deprecated) @Persisted var a = 0"
    ),
    ("@objc dynamic var `class` = 0", "@Persisted var `class` = 0"),
    ("@objc dynamic var a, b: Int", "@Persisted var a: Int\n  @Persisted var b: Int"),
    (
      "@objc dynamic var a = Date(), b = [1, 2].count",
      "@Persisted var a = Date()\n  @Persisted var b = [1, 2].count"
    ),
    (
      "@objc dynamic var a = max(1, 2) { didSet { print(a, oldValue) } }",
      "@Persisted var a = max(1, 2) { didSet { print(a, oldValue) } }"
    ),
    ("@objc dynamic var a: Int { 3 }", "var a: Int { 3 }"),
    ("@objc static var a = 3", "static var a = 3"),
    (
      "@objc dynamic var a: Dog? = nil; @objc dynamic var b: Dog!",
      "@Persisted var a: Dog? = nil; @Persisted var b: Dog!"
    ),
    ("let a = List<Int>()", "@Persisted var a: List<Int>"),
    (
      "let a = List<Int>(), b = Map<String, Int?>()",
      "@Persisted var a: List<Int>\n  @Persisted var b: Map<String, Int?>"
    ),
    ("let a = List<Int?>() // all", "@Persisted var a: List<Int?> // all"),
    (
      "public private(set) var a: List<Dog> = List()",
      "@Persisted public private(set) var a: List<Dog>"
    ),
    ("let a : Map<String, Dog?> = .init()", "@Persisted var a: Map<String, Dog?>"),
    ("let a = Map<String, AnyRealmValue>()", "@Persisted var a: Map<String, AnyRealmValue>"),
    ("@objc let a = MutableSet<UUID>()", "@Persisted var a: MutableSet<UUID>"),
    ("let a = RealmOptional<Int8>()", "@Persisted var a: Int8?"),
    ("let a = RealmOptional<Double>(1.5)", "@Persisted var a: Double? = 1.5"),
    ("var a = RealmProperty<Decimal128?>()", "@Persisted var a: Decimal128?"),
    ("let a = RealmProperty<AnyRealmValue>()", "@Persisted var a: AnyRealmValue"),
    (
      "let a = LinkingObjects(fromType: Dog.self, property: \"b\")",
      "@Persisted(originProperty: \"b\") var a: LinkingObjects<Dog>"
    ),
    (
      "private let a = LinkingObjects(\n    fromType: A.Dog.self,\n    property: #keyPath(Dog.b))",
      "@Persisted(originProperty: \"b\") private var a: LinkingObjects<A.Dog>"
    ),
    (
      "let a: LinkingObjects<Dog> = LinkingObjects(fromType: Dog.self, property: \"b\")",
      "@Persisted(originProperty: \"b\") var a: LinkingObjects<Dog>"
    ),
    ("override init() { super.init() }", "required init() { super.init() }"),
    ("required override init() { super.init() }", "required init() { super.init() }"),
    ("public override init() { super.init() }", "public required init() { super.init() }"),
    ("@objc dynamic var 🐈 = 0", "@Persisted var 🐈 = 0"),
    ("@objc(a:) func f(a: Int) {}", "func f(a: Int) {}"),
    (
      "@objc public convenience init(a: Int) { self.init() }",
      "public convenience init(a: Int) { self.init() }"
    ),
    (
      "#if DEBUG\n  @objc dynamic var a = 0\n  #endif",
      "#if DEBUG\n  @Persisted var a = 0\n  #endif"
    ),
  ])
  func aMember(old: String, new: String) throws {
    let folder = try PortedFolder()
    func source(_ member: String) -> String {
      "import Foundation\nimport RealmSwift\n\nclass Cat: Object {\n  \(member)\n}\n"
    }
    try folder.add("A.swift", Data(source(old).utf8))
    let result = try folder.port("--write")
    #expect(result.status == 0 && !result.output.contains("left:"), "\(result.output)")
    #expect(try folder.read("A.swift") == source(new))
  }

  /// What stays, to the letter, and a word of what is said of it.
  @Test(
    arguments: [
      ("class Cat: Object { @objc dynamic weak var a: Cat? }", "cannot be weak"),
      ("class Cat: Object { @objc dynamic lazy var a = 0 }", "lazy"),
      ("class Cat: Object { @objc dynamic var a = NSDate() }", "write Date"),
      ("class Cat: Object { @objc dynamic var a: CGFloat = 0 }", "write Double"),
      ("class Cat: Object { @objc dynamic var a: [String] = [] }", "write List"),
      ("class Cat: Object { @Persisted var b: Int; @objc dynamic var a = 0 }", "not stored where"),
      ("class Cat: Object { @Persisted var b: Int; let a = List<Int>() }", "not stored where"),
      ("class Cat: Object { init(a: Int) { super.init() } }", "needs 'required init()"),
      (
        "class Cat: Object { override class func primaryKey() -> String? { Keys.a } }",
        "still counts"
      ),
      ("class Cat: Model { @objc dynamic var a = 0 }", "not told by these sources"),
      ("class Cat: Model { let a = List<Int>() }", "not told by these sources"),
      ("class Cat: RLMObject {}", "derive it from 'Object'"),
      ("class Cat: Object { let a: List<Int> }", "not made where it is declared"),
      ("class Cat: Object { let a = List<Int>(), b = RealmOptional<Int>() }", "write one a line"),
      (
        "extension Cat { override class func primaryKey() -> String? { Keys.a } }\nclass Cat: Object {}",
        "into the class"
      ),
      ("class Cat: Object { let a = RealmOptional<Int>() }\nfunc f(c: Cat) { g(c.a) }", "stays a"),
      ("import Realm\nfunc f() { print(RLMRealmPathForFile(\"a\")) }", "name the product 'Realm'"),
      ("import Realm.Private", "remove the import"),
      ("class Cat: NSObject { dynamic var a = 0; let b = List<Int>() }", nil),
      ("struct Cat { let a = List<Int>(); dynamic var b = 0 }", nil),
      ("class Object {}\nclass Cat: Object { dynamic var a = 0 }", nil),
      ("class Cat: Object { @Persisted var a: Int; var b = 3; required init() {} }", nil),
      ("func f() { let a = List<Int>(); class B { dynamic var c = 0 } }", nil),
    ] as [(String, String?)])
  func whatStays(body: String, said: String?) throws {
    let folder = try PortedFolder()
    let source = Data("import Foundation\nimport RealmSwift\n\(body)\n".utf8)
    try folder.add("A.swift", source)
    let result = try folder.port("--write")
    #expect(result.status == 0, "\(result.output)")
    #expect(try folder.data("A.swift") == source, "\(result.output)")
    if let said {
      #expect(result.output.contains("left: ") && result.output.contains(said), "\(result.output)")
    } else {
      #expect(!result.output.contains("left: "), "\(result.output)")
    }
  }

  /// What the product `Realm` has can stay; only other names are to be written otherwise.
  @Test func theProductRealmIsKnown() throws {
    let names = try text(of: "../../Sources/Realm/ObjectiveCNames.swift")
      .matches(of: #/public (?:typealias|let|func) (RLM\w+)/#).map { String($0.1) }
    try #require(names.count > 10)
    let folder = try PortedFolder()
    try folder.add(
      "A.swift", Data("import Realm\nlet a = (\(names.joined(separator: ", ")))\n".utf8))
    let there = try folder.port().output
    #expect(there.contains("name the product 'Realm'") && !there.contains("has no"), "\(there)")
    try folder.add("A.swift", Data("import Realm\nlet a: (RLMError, RLMRealm)\n".utf8))
    let missing = try folder.port().output
    #expect(missing.contains("stays for RLMError:"), "\(missing)")
    #expect(missing.contains("the product 'Realm' has no RLMRealm;"), "\(missing)")
  }

  @Test func lineEndsByteOrderMarkAndRightsStay() throws {
    let folder = try PortedFolder()
    let old =
      "\u{FEFF}import RealmSwift\r\nclass Cat: Object {\r\n\t@objc\r\n\tdynamic var a = 0, b = 1"
      + "\r\n\toverride static func primaryKey() -> String? {\r\n\t\treturn \"a\"\r\n\t}\r\n}"
    try folder.add("A.swift", Data(old.utf8))
    let file = folder.folder.appendingPathComponent("A.swift").path
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
    #expect(try folder.port("--write").status == 0)
    #expect(
      try folder.data("A.swift")
        == Data(
          ("\u{FEFF}import RealmSwift\r\nclass Cat: Object {\r\n\t@Persisted(primaryKey: true) var a = 0"
            + "\r\n\t@Persisted var b = 1\r\n}").utf8))
    let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(rights == 0o640)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.folder.path) == ["A.swift"])
  }

  /// A source that cannot be read is named and stays; the others are ported.
  @Test func sourcesThatCannotBeReadAreNamed() throws {
    let folder = try PortedFolder()
    let model = "import RealmSwift\nclass Cat: Object { @objc dynamic var a = 0 }"
    let broken: [String: Data] = [
      "Brace.swift": Data((model + "\nfunc f() {").utf8),
      "Comment.swift": Data((model + "\n/* open").utf8),
      "Text.swift": Data((model + "\nlet a = \"open").utf8),
      "Condition.swift": Data((model + "\n#if DEBUG\n").utf8),
      "Bytes.swift": Data(model.utf8) + [0x2F, 0x2F, 0xFF, 0xFE],
    ]
    for (name, content) in broken { try folder.add(name, content) }
    try folder.add("Good.swift", Data(model.utf8))
    let result = try folder.port("--write")
    #expect(result.status == 1)
    for (name, content) in broken {
      #expect(result.output.contains("\(name): not read: "), "\(result.output)")
      #expect(try folder.data(name) == content)
    }
    #expect(try folder.read("Good.swift").contains("@Persisted var a = 0"))
  }

  /// A superclass, an enumeration and functions of a class in other sources.
  @Test func sourcesAreReadTogether() throws {
    let folder = try PortedFolder()
    try folder.add("A.swift", Data("import RealmSwift\nclass Base: Object {}\n".utf8))
    try folder.add(
      "B.swift",
      Data(
        "class Cat: Base {\n  @objc dynamic var id = 0\n  @objc dynamic var kind = Kind.a\n}\n".utf8
      ))
    try folder.add(
      "C.swift",
      Data(
        "extension Cat {\n  override static func primaryKey() -> String? { \"id\" }\n  var x: Int { 1 }\n}\n"
          .utf8))
    try folder.add(
      "D.swift", Data("import RealmSwift\n@objc enum Kind: Int, RealmEnum { case a }\n".utf8))
    #expect(try folder.port("--write").status == 0)
    #expect(
      try folder.read("B.swift")
        == "import RealmSwift\n\nclass Cat: Base {\n  @Persisted(primaryKey: true) var id = 0\n  @Persisted var kind = Kind.a\n}\n"
    )
    #expect(try folder.read("C.swift") == "extension Cat {\n  var x: Int { 1 }\n}\n")
    #expect(
      try folder.read("D.swift")
        == "import RealmSwift\nenum Kind: Int, PersistableEnum { case a }\n")
  }

  @Test func wrongCallsAreRefused() throws {
    let folder = try PortedFolder()
    #expect(try folder.run([]).status == 64)
    #expect(try folder.run(["--overwrite", folder.folder.path]).status == 64)
    #expect(try folder.run([folder.folder.path + "/none"]).status == 64)
    #expect(try folder.run(["--help"]).output.contains("scripts/port-models FOLDER"))
  }
}
