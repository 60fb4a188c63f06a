// The forms that the classes of the evolving model have over time, and how one becomes the next.
// All forms of a class have one name in the file, so no Realm gets them by default.
import Foundation
import RealmSwift

class EvolvingObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class EvolvingPart: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The classes of one form.
struct EvolvingForm: Sendable {
  let types: [ObjectBase.Type]
  /// New names by class, with the names that the properties had in the form before.
  var renames: [String: [String: String]] = [:]
  /// Properties of `Node` whose values are made from the old ones.
  var conversions: [String: @Sendable (EvolvingContent) -> EvolvingContent] = [:]
  /// The nodes that have a node in the list of their children.
  let parents: @Sendable (Realm, Int) -> [Int]

  /// Each is followed by the next, the last one by the first.
  static let all = [
    EvolvingForm(
      types: [FirstForm.Node.self, FirstForm.Part.self],
      parents: { realm, id in
        realm.object(ofType: FirstForm.Node.self, forPrimaryKey: id)!.parents.map(\.id)
      }),
    EvolvingForm(
      types: [SecondForm.Node.self, SecondForm.Part.self],
      renames: ["Node": ["children": "kids"], "Part": ["length": "size"]],
      conversions: [
        "count": { if case .int(let value) = $0 { .text("\(value)") } else { .text("") } }
      ],
      parents: { realm, id in
        realm.object(ofType: SecondForm.Node.self, forPrimaryKey: id)!.parents.map(\.id)
      }),
    EvolvingForm(
      types: [ThirdForm.Node.self, ThirdForm.Part.self],
      renames: ["Node": ["kids": "children"], "Part": ["size": "length"]],
      conversions: [
        "count": { if case .text(let text) = $0 { .int(Int(text) ?? 0) } else { .int(0) } }
      ],
      parents: { realm, id in
        realm.object(ofType: ThirdForm.Node.self, forPrimaryKey: id)!.parents.map(\.id)
      }),
  ]
}

enum FirstForm {
  class Node: EvolvingObject {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var count: Int
    @Persisted(indexed: true) var level: Int
    @Persisted var score: Double?
    @Persisted var share: Float
    @Persisted var flag: Bool
    @Persisted var moment: Date?
    @Persisted var blob: Data
    @Persisted(indexed: true) var key: ObjectId?
    @Persisted var tag: UUID?
    @Persisted var price: Decimal128
    @Persisted var friend: Node?
    @Persisted var kids: List<Node>
    @Persisted var crowd: MutableSet<Node>
    @Persisted var rooms: Map<String, Node?>
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var spares: Map<String, Part?>
    @Persisted var ints: List<Int>
    @Persisted var texts: List<String?>
    @Persisted var numbers: MutableSet<Int>
    @Persisted var words: MutableSet<String>
    @Persisted var table: Map<String, Double>
    @Persisted var notes: Map<String, String?>
    @Persisted var mixed: AnyRealmValue
    @Persisted var mixedList: List<AnyRealmValue>
    @Persisted var mixedMap: Map<String, AnyRealmValue>
    @Persisted(originProperty: "kids") var parents: LinkingObjects<Node>
  }

  class Part: EvolvingPart {
    @Persisted var size: Int
    @Persisted var label: String?
    @Persisted var owner: Node?
    @Persisted var inner: Part?
    @Persisted var marks: List<Int>
  }
}

enum SecondForm {
  class Node: EvolvingObject {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var lives = 9
    @Persisted(indexed: true) var name: String
    @Persisted var count: String
    @Persisted var level: Int
    @Persisted var score = 0.5
    @Persisted var share: Float?
    @Persisted var moment: Date?
    @Persisted var blob: Data?
    @Persisted var key: ObjectId?
    @Persisted var tag: UUID?
    @Persisted var price: Decimal128
    @Persisted var friend: Node?
    @Persisted var children: List<Node>
    @Persisted var crowd: MutableSet<Node>
    @Persisted var rooms: List<Node>
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var ints: List<Int>
    @Persisted var words: List<String>
    @Persisted var table: Map<String, Double>
    @Persisted var notes: Map<String, String?>
    @Persisted var mixed: AnyRealmValue
    @Persisted var mixedList: List<AnyRealmValue>
    @Persisted(originProperty: "children") var parents: LinkingObjects<Node>
  }

  class Part: EvolvingPart {
    @Persisted var length: Int
    @Persisted var color = "red"
    @Persisted var owner: Node?
    @Persisted var inner: Part?
    @Persisted var marks: List<Int>
  }
}

enum ThirdForm {
  class Node: EvolvingObject {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String?
    @Persisted(indexed: true) var count: Int
    @Persisted(indexed: true) var level: Int
    @Persisted var score: Double
    @Persisted var flag = true
    @Persisted var blob: Data
    @Persisted var key: ObjectId?
    @Persisted var price: Decimal128?
    @Persisted var friend: Part?
    @Persisted var kids: List<Node>
    @Persisted var crowd: MutableSet<Node>
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var spares: Map<String, Part?>
    @Persisted var texts: List<String?>
    @Persisted var numbers: MutableSet<Int>
    @Persisted(indexed: true) var mixed: AnyRealmValue
    @Persisted var mixedMap: Map<String, AnyRealmValue>
    @Persisted(originProperty: "kids") var parents: LinkingObjects<Node>
  }

  class Part: EvolvingPart {
    @Persisted var size: Int
    @Persisted var label: String?
    @Persisted var inner: Part?
    @Persisted var extra: Map<String, Int>
  }
}
