// Predicates as text, each beside the objects that it has to find.
import Foundation
import RealmSwift
import TestSupport
import Testing

enum BoardKind: String, PersistableEnum { case a, b, c }
class BoardProject: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var items: List<BoardTask>
  @Persisted var itemSet: MutableSet<BoardTask>
  @Persisted var owner: BoardOwner?
  @Persisted var quota: Int?
}
class BoardTask: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var isComplete = false
  @Persisted var assignee: String?
  @Persisted var priority = 0
  @Persisted var progressMinutes = 0
  @Persisted var labels: MutableSet<String>
  @Persisted var ratings: List<Int>
  @Persisted var due: Date?
  @Persisted var kind = BoardKind.a
  @Persisted var weight: Double = 0
  @Persisted var info: Map<String, String>
  @Persisted var any: AnyRealmValue
  @Persisted var oid: ObjectId
  @Persisted var uuid: UUID
  @Persisted var dec: Decimal128
  @Persisted var data: Data?
  @Persisted(originProperty: "items") var project: LinkingObjects<BoardProject>
}
class BoardOwner: Object {
  @Persisted(primaryKey: true) var id = ""
  @Persisted var age = 0
  @Persisted var home: BoardHome?
  @Persisted(originProperty: "owner") var projects: LinkingObjects<BoardProject>
}
class BoardHome: EmbeddedObject {
  @Persisted var city = ""
  @Persisted var zips: List<Int>
}
let boardClasses: [ObjectBase.Type] = [
  BoardProject.self, BoardTask.self, BoardOwner.self, BoardHome.self,
]
func boardRealm() throws -> Realm {
  let r = try memoryRealm(boardClasses)
  try r.write {
    let names = [
      "Wash car", "wash dog", "Étude", "etude", "zebra", "", "a*b", "x?y", "it's", "line\nbreak",
    ]
    for i in 0..<10 {
      r.create(
        BoardTask.self,
        value: [
          "id": i, "name": names[i], "isComplete": i % 2 == 0,
          "assignee": i % 3 == 0 ? nil : (i % 3 == 1 ? "Ali" : "Jamie"), "priority": i,
          "progressMinutes": i * 10, "labels": i < 5 ? ["red", "l\(i)"] : [],
          "ratings": Array(0..<i), "due": Date(timeIntervalSince1970: Double(i) * 100),
          "kind": i < 3 ? "a" : "b", "weight": Double(i) + 0.5,
          "info": ["k": "v\(i)", "n\(i)": "x"], "any": i % 2 == 0 ? i as Any : "s\(i)" as Any,
          "dec": i, "data": i == 0 ? nil : Data([UInt8(i), 9]),
        ] as [String: Any?])
    }
    for p in 0..<3 {
      r.create(
        BoardProject.self,
        value: [
          "id": p, "name": "P\(p)",
          "items": Array(r.objects(BoardTask.self).filter("id BETWEEN {%d, %d}", p * 3, p * 3 + 2)),
          "itemSet": Array(r.objects(BoardTask.self).filter("id == %d", p)),
          "owner": p == 2
            ? NSNull()
            : [
              "id": "o\(p)", "age": 20 + p,
              "home": ["city": "C\(p)", "zips": [p, 5]] as [String: Any],
            ] as [String: Any], "quota": p == 1 ? nil : p,
        ] as [String: Any?])
    }
    r.create(BoardProject.self, value: ["id": 9, "name": "empty"] as [String: Any])
  }
  return r
}

@Suite(.ownThreads) struct AsUsersPredicateTests {
  @Test func valuesAndTexts() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    func finds(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(tasks.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds("isComplete = true && priority > 5", ids: [6, 8])
    finds("isComplete == YES AND priority > 5", ids: [6, 8])
    finds("isComplete == 1 && priority >= 6", ids: [6, 8])
    finds("isComplete == NO", ids: [1, 3, 5, 7, 9])
    finds("NOT isComplete == true", ids: [1, 3, 5, 7, 9])
    finds("!(isComplete == true)", ids: [1, 3, 5, 7, 9])
    finds("progressMinutes > 1 AND assignee == 'Ali'", ids: [1, 4, 7])
    finds("priority > 5", ids: [6, 7, 8, 9])
    finds("assignee == nil", ids: [0, 3, 6, 9])
    finds("assignee = null AND id > 3", ids: [6, 9])
    finds("assignee == %@", NSNull(), ids: [0, 3, 6, 9])
    finds("assignee != nil", ids: [1, 2, 4, 5, 7, 8])
    finds("assignee == NULL", ids: [0, 3, 6, 9])
    finds("assignee IN {'Ali', 'Jamie'}", ids: [1, 2, 4, 5, 7, 8])
    finds("assignee IN %@", ["Ali"], ids: [1, 4, 7])
    finds("NOT assignee IN %@", ["Ali", "Jamie"], ids: [0, 3, 6, 9])
    finds("NOT (assignee IN %@)", ["Ali"], ids: [0, 2, 3, 5, 6, 8, 9])
    finds("id IN %@", [1, 5], ids: [1, 5])
    finds("id IN %@", Set([1]), ids: [1])
    finds("id IN {1, 2, 77}", ids: [1, 2])
    finds("id IN %@", NSArray(array: [3, 4]), ids: [3, 4])
    finds("id IN %@", [Int](), ids: [])
    finds("priority BETWEEN {3, 5}", ids: [3, 4, 5])
    finds("priority BETWEEN %@", [3, 5], ids: [3, 4, 5])
    finds("priority BETWEEN %@", 3...5, ids: [3, 4, 5])
    finds("weight BETWEEN %@", 1.5...2.5, ids: [1, 2])
    finds(
      "due BETWEEN %@", Date(timeIntervalSince1970: 100)...Date(timeIntervalSince1970: 300),
      ids: [1, 2, 3])
    finds("weight BETWEEN {1.5, 2.5}", ids: [1, 2])
    finds(
      "due BETWEEN {%@, %@}", Date(timeIntervalSince1970: 100), Date(timeIntervalSince1970: 300),
      ids: [1, 2, 3])
    finds("name BEGINSWITH 'wash'", ids: [1])
    finds("name BEGINSWITH[c] 'wash'", ids: [0, 1])
    finds("name beginswith[cd] 'ETU'", ids: [2, 3])
    finds("name CONTAINS[c] 'CAR'", ids: [0])
    finds("name contains %@", "a", ids: [0, 1, 4, 6, 9])
    finds("name ENDSWITH 'g'", ids: [1])
    finds("name LIKE 'w*'", ids: [1])
    finds("name LIKE[c] 'w*'", ids: [0, 1])
    finds("name LIKE '?tude'", ids: [2, 3])
    finds("name ==[c] 'ZEBRA'", ids: [4])
    finds("name ==[d] 'Etude'", ids: [2])
    finds("name =[cd] 'etude'", ids: [2, 3])
    finds("name !=[c] 'ZEBRA' AND id > 3", ids: [5, 6, 7, 8, 9])
    finds("name == ''", ids: [5])

  }

  @Test func aggregatesLinksAndQuantifiers() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self), projects = realm.objects(BoardProject.self)
    func finds(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(tasks.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    func findsProjects(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(projects.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id))
          == ids, sourceLocation: sourceLocation)
    }
    finds("name == 'it\\'s'", ids: [8])
    finds("name == \"it's\"", ids: [8])
    finds("name == %@", "it's", ids: [8])
    finds("name CONTAINS %@", "\n", ids: [9])
    finds("name CONTAINS '?'", ids: [7])
    finds("name > 'w' AND name < 'zz'", ids: [1, 4, 7])

    findsProjects("items.@count > 2", ids: [0, 1, 2])
    findsProjects("items.@count == 0", ids: [9])
    findsProjects("items.@max.priority >= 5", ids: [1, 2])
    findsProjects("items.@min.priority == 3", ids: [1])
    findsProjects("items.@avg.priority > 5", ids: [2])
    findsProjects("items.@sum.progressMinutes > 100", ids: [1, 2])
    findsProjects("items.@sum.progressMinutes == 0", ids: [9])
    findsProjects("items.@max.priority == nil", ids: [9])
    findsProjects("items.@avg.weight BETWEEN {1, 2}", ids: [0])
    findsProjects("ALL items.isComplete == true", ids: [9])
    findsProjects("ANY items.isComplete == true", ids: [0, 1, 2])
    findsProjects("NONE items.isComplete == true", ids: [9])
    findsProjects("SOME items.name == 'zebra'", ids: [1])
    findsProjects("ANY items.priority > 6", ids: [2])
    findsProjects("ANY items.assignee == nil", ids: [0, 1, 2])
    findsProjects("ALL items.priority < 3", ids: [0, 9])
    findsProjects("ANY items.name CONTAINS[c] 'WASH'", ids: [0])
    findsProjects("ANY items.priority BETWEEN {3,3}", ids: [1])
    findsProjects("ANY items.priority IN {3, 7}", ids: [1, 2])
    findsProjects("NOT ANY items.priority IN {3, 7}", ids: [0, 9])
    findsProjects(
      "SUBQUERY(items, $t, $t.isComplete == false AND $t.priority > 2).@count > 0",
      ids: [1, 2])
    findsProjects("SUBQUERY(items, $x, $x.assignee == %@).@count == %d", "Ali", 1, ids: [0, 1, 2])
    findsProjects("SUBQUERY(items, $t, ANY $t.labels == 'red').@count == 3", ids: [0])
    findsProjects("SUBQUERY(items, $t, $t.ratings.@sum > 10).@count > 1", ids: [2])
    findsProjects(
      "SUBQUERY(items, $t, $t.priority > 2 && $t.priority < 5).@count == 2 AND name = 'P1'",
      ids: [1])
    findsProjects("owner.age > 20", ids: [1])
    findsProjects("owner.home.city == 'C0'", ids: [0])
    findsProjects("owner == nil", ids: [2, 9])
    findsProjects("owner != nil AND owner.age >= 20", ids: [0, 1])
    findsProjects("owner.age == nil", ids: [2, 9])
    findsProjects("ANY owner.home.zips == 5", ids: [0, 1])
    findsProjects("owner.home.zips.@count == 2", ids: [0, 1])
    findsProjects("quota == nil", ids: [1, 9])
    findsProjects("quota > 0", ids: [2])
    findsProjects("quota == id", ids: [0, 2])
    findsProjects("%K == %@", "owner.id", "o1", ids: [1])
    findsProjects("%K > %d", "owner.age", 20, ids: [1])
    findsProjects("ANY %K.%K == %@", "items", "name", "zebra", ids: [1])
    findsProjects("%K.@count == 3", "items", ids: [0, 1, 2])

  }

  @Test func setsOfTexts() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    func finds(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(tasks.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds("ANY labels == 'red' AND id > 2", ids: [3, 4])
    finds("'red' IN labels", ids: [0, 1, 2, 3, 4])
    finds("%@ IN labels", "l1", ids: [1])
    finds("labels.@count == 2", ids: [0, 1, 2, 3, 4])
    finds("ANY labels BEGINSWITH 'l' AND id < 2", ids: [0, 1])

  }

  @Test func listsMapsAndLinkingObjects() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    func finds(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(tasks.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds("ratings.@count == 3", ids: [3])
    finds("ratings.@sum > 30", ids: [9])
    finds("ratings.@max == 5", ids: [6])
    finds("ANY ratings > 6", ids: [8, 9])
    finds("ALL ratings < 2", ids: [0, 1, 2])
    finds("ratings.@avg >= 4", ids: [9])
    finds("NONE ratings == 0", ids: [0])
    finds("ratings[0] == 0 AND ratings[SIZE] < 3", ids: [1, 2])
    finds("ANY project.name == 'P1'", ids: [3, 4, 5])
    finds("project.@count == 0", ids: [9])
    finds("ANY project.owner.age == 20", ids: [0, 1, 2])
    finds("SUBQUERY(project, $p, $p.name == 'P0').@count == 1", ids: [0, 1, 2])
    finds("kind == 'a'", ids: [0, 1, 2])
    finds("kind IN %@", ["a"], ids: [0, 1, 2])
    finds("kind == %@", BoardKind.a, ids: [0, 1, 2])
    finds(
      "due > %@ AND due <= %@", Date(timeIntervalSince1970: 100), Date(timeIntervalSince1970: 300),
      ids: [2, 3])
    finds("due == %@", NSDate(timeIntervalSince1970: 0), ids: [0])
    finds("info['k'] == 'v3'", ids: [3])
    finds("ANY info.@allKeys == 'n4'", ids: [4])
    finds("ANY info.@allValues == 'v5'", ids: [5])
    finds("info[%@] == %@", "k", "v6", ids: [6])
    finds("info.@count == 2 AND id < 2", ids: [0, 1])
    finds("info['none'] == nil AND id == 0", ids: [0])
    finds("info['k'] CONTAINS 'v' AND id == 1", ids: [1])
    finds("ANY info == 'v7'", ids: [7])

  }

  @Test func otherTypesAndNumbers() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    func finds(
      _ format: String, _ arguments: Any..., ids: [Int],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        Array(tasks.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds("%K == 's1'", "any", ids: [1])
    finds("%K == 4", "any", ids: [4])
    finds("%K BEGINSWITH 's'", "any", ids: [1, 3, 5, 7, 9])
    finds("%K > 4", "any", ids: [6, 8])
    finds("%K == nil", "any", ids: [])
    finds("oid == %@", tasks[2].oid, ids: [2])
    finds("uuid == %@", tasks[2].uuid, ids: [2])
    finds("uuid IN %@", [tasks[1].uuid, tasks[2].uuid], ids: [1, 2])
    finds("dec > 7.5", ids: [8, 9])
    finds("dec == %@", Decimal128(3), ids: [3])
    finds("weight == 3.5", ids: [3])
    finds("weight > %f", 8.0, ids: [8, 9])
    finds("id == %i", 4, ids: [4])
    finds("id == %ld", 4, ids: [4])
    finds("id == %lu", 4, ids: [4])
    finds("id == %@", 4, ids: [4])
    finds("id == %@", NSNumber(value: 4), ids: [4])
    finds("data == nil", ids: [0])
    finds("data == %@", Data([3, 9]), ids: [3])
    finds("data BEGINSWITH %@", Data([3]), ids: [3])
    finds("id == -1 OR id == +1", ids: [1])
    finds("id < 1.5", ids: [0, 1])
    finds("5 < id AND id<7", ids: [6])
    finds("id=3||id=4", ids: [3, 4])
    finds("id != 3 AND id <> 4 AND id < 6", ids: [0, 1, 2, 5])
    finds("id >= 3 AND id =< 4", ids: [3, 4])
    finds("id => 8", ids: [8, 9])
    finds("TRUEPREDICATE", ids: Array(0..<10))
    finds("FALSEPREDICATE", ids: [])
    finds("TRUEPREDICATE AND id = 1", ids: [1])
    finds("priority == progressMinutes", ids: [0])
    finds("priority < progressMinutes AND id < 3", ids: [1, 2])
    finds("name CONTAINS assignee", ids: [])
    finds("(id == 1 OR id == 2) AND (name CONTAINS 'dog')", ids: [1])
    finds("((id == 1))", ids: [1])
    finds("SELF.id == 1", ids: [1])
    finds("self.id == 1", ids: [1])
    finds("SELF == %@", tasks[3], ids: [3])
    finds("SELF IN %@", [tasks[3], tasks[4]], ids: [3, 4])
  }

  @Test func predicatesInParts() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    let a = NSPredicate(format: "id > %d", 3), b = NSPredicate(format: "isComplete = true")
    #expect(
      tasks.filter(NSCompoundPredicate(andPredicateWithSubpredicates: [a, b])).map(\.id) == [
        4, 6, 8,
      ])
    #expect(tasks.filter(NSCompoundPredicate(type: .or, subpredicates: [a, b])).count == 8)
    #expect(tasks.filter(NSCompoundPredicate(notPredicateWithSubpredicate: a)).count == 4)
    #expect(tasks.filter(NSCompoundPredicate(andPredicateWithSubpredicates: [])).count == 10)
    #expect(tasks.filter(NSPredicate(value: false)).count == 0)
    #expect(tasks.filter("id > 3").filter(b).filter("name != %@", "x").map(\.id) == [4, 6, 8])
    #expect(tasks.filter("id == %@ OR name == %@", 1, "zebra").map(\.id) == [1, 4])
    #expect(tasks.filter("assignee == %@", Optional<String>.none as Any).count == 4)
    let s: String? = "Ali"
    #expect(tasks.filter("assignee == %@", s as Any).count == 3)
    #expect(tasks.filter("assignee == %@", s!).count == 3)
    #expect(tasks.filter(NSPredicate(format: "id == %d AND name == %@", 1, "wash dog")).count == 1)
    #expect(
      tasks.filter("name CONTAINS[cd] %@ OR assignee CONTAINS[cd] %@", "WASH", "ali").map(\.id) == [
        0, 1, 4, 7,
      ])
  }

}
