// Values inside of values inside of values: dictionaries and arrays from which objects are made,
// and objects in encoded form, as deep as they come.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private class Deep: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var next: Deep?
  @Persisted var list: List<Deep>
  @Persisted var named: Map<String, Deep?>
  @Persisted var part: DeepPart?
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class DeepPart: EmbeddedObject, Codable {
  @Persisted var number: Int
  @Persisted var part: DeepPart?
}

@Suite(.ownThreads) struct DeepValuesTests {
  /// Values for an object, inside of which are those for the next one.
  private static func nested(_ count: Int, _ put: ([String: Any]) -> (String, Any)) -> [String: Any]
  {
    (1..<count).reduce(["id": 0]) { inner, id in
      let (name, value) = put(inner)
      return ["id": id, name: value]
    }
  }

  /// How values are put into those of the next object.
  private static let forms: [@Sendable ([String: Any]) -> (String, Any)] = [
    { ("next", $0) }, { ("next", $0 as NSDictionary) }, { ("list", [$0]) },
    { ("list", [["id": $0["id"]! as! Int + 1_000_000], $0]) }, { ("named", ["rest": $0]) },
  ]

  @Test(arguments: forms.indices)
  func objectsAreCreated(_ form: Int) throws {
    let realm = try memoryRealm([Deep.self, DeepPart.self])
    let count = 3_000
    let values = Self.nested(count, Self.forms[form])
    // What updates is read before the first object is changed, by calls inside of calls.
    let short = Self.nested(450, Self.forms[form])
    try realm.write {
      realm.create(Deep.self, value: values)
      realm.create(Deep.self, value: short, update: .modified)
      realm.create(Deep.self, value: short, update: .all)
    }
    #expect(realm.objects(Deep.self).count { $0.id < count } == count)
    let first = try #require(realm.object(ofType: Deep.self, forPrimaryKey: count - 1))
    let second = first.next ?? first.list.last ?? first.named["rest"]!
    #expect(second?.id == count - 2)
  }

  @Test func embeddedObjectsAreCreated() throws {
    let realm = try memoryRealm([Deep.self, DeepPart.self])
    let part = (1..<3_000).reduce(["number": 0]) { ["number": $1, "part": $0] as [String: Any] }
    try realm.write { realm.create(Deep.self, value: ["part": part]) }
    #expect(realm.objects(Deep.self)[0].part?.part?.number == 2_998)
  }

  @Test(arguments: forms.indices)
  func objectsWithoutARealmAreMade(_ form: Int) throws {
    let values = Self.nested(NestedValues.depthMax, Self.forms[form])
    let deep = Deep(value: values)
    let inner = deep.next ?? deep.list.last ?? deep.named["rest"]!
    #expect(inner?.id == NestedValues.depthMax - 2)
    deep.setValue(values, forKey: "next")
    #expect(deep.next?.id == NestedValues.depthMax - 1)
  }

  @Test func whatIsTooDeepIsAMistakeInWords() async {
    let tooDeep = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Deep(value: DeepValuesTests.nested(NestedValues.depthMax + 2) { ("next", $0) })
    }
    expectStop(
      tooDeep,
      "Values for an object that belongs to no Realm can be at most 1000 deep inside of each other."
    )
    let noRoom = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      onSmallStack { _ = Deep(value: DeepValuesTests.nested(990) { ("list", [$0]) }) }
    }
    expectStop(noRoom, "do not fit on the stack of this thread")
    let mixed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var value: Any = 1
      for _ in 0..<20_000 { value = [value] }
      _ = Deep(value: ["any": value])
    }
    expectStop(mixed, "Collections inside of a mixed value can be nested at most 100 deep.")
  }

  @Test(arguments: [100, 400, 500, 5_000])
  func encodedMixedValuesOnASmallStack(_ count: Int) {
    onSmallStack {
      let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
      do {
        _ = try JSONDecoder().decode(AnyRealmValue.self, from: Data(text.utf8))
        #expect(count < 5_000)
      } catch is DecodingError {
        #expect(count > 100)
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test func encodedFormsOnASmallStack() {
    onSmallStack {
      let circle = Deep()
      circle.next = circle
      #expect(throws: EncodingError.self) { _ = try JSONEncoder().encode(circle) }
      circle.next = nil
      let plain = #","list":[],"named":{},"any":null"#
      for count in [10, 300] {
        let text =
          String(repeating: #"{"id":1\#(plain),"next":"#, count: count) + "null"
          + String(repeating: "}", count: count)
        do {
          let decoded = try JSONDecoder().decode(Deep.self, from: Data(text.utf8))
          #expect(decoded.next?.next?.id == 1)
        } catch is DecodingError {
          #expect(count == 300)
        } catch {
          Issue.record(error)
        }
      }
    }
  }
}
