// Random changes of links and collections, deletes and rollbacks, beside plain Swift values;
// reopened.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// What a kennel has to hold; hounds are known by their numbers.
private struct Expected: Equatable {
  var guardian: Int?
  var box: Int?
  var hounds: [Int] = []
  var houndSet: Set<Int> = []
  var houndMap: [String: Int?] = [:]
  var numbers: [Int] = []
  var numberSet: Set<Int> = []
  var boxes: [Int] = []
}

private struct Model: Equatable {
  var kennels: [Int: Expected] = [:]
  var hounds: Set<Int> = []
  var nextHound = 0

  func check(_ realm: Realm) {
    #expect(Set(realm.objects(Hound.self).map(\.age)) == hounds)
    #expect(realm.objects(Kennel.self).count == kennels.count)
    for (id, expected) in kennels {
      guard let kennel = realm.object(ofType: Kennel.self, forPrimaryKey: id) else {
        Issue.record("kennel \(id) is missing")
        continue
      }
      var found = Expected()
      found.guardian = kennel.guardian?.age
      found.box = kennel.mainBox?.size
      found.hounds = kennel.hounds.map(\.age)
      found.houndSet = Set(kennel.houndSet.map(\.age))
      for entry in kennel.houndMap { found.houndMap[entry.key] = .some(entry.value?.age) }
      found.numbers = Array(kennel.numbers)
      found.numberSet = Set(kennel.numberSet)
      found.boxes = kennel.boxes.map(\.size)
      #expect(found == expected)
    }
    for hound in realm.objects(Hound.self) {
      let links = kennels.flatMap { id, kennel in
        kennel.hounds.filter { $0 == hound.age }.map { _ in id }
      }
      #expect(hound.kennels.map(\.id).sorted() == links.sorted())
    }
  }

  mutating func change(_ realm: Realm, _ random: inout RandomGenerator) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let id = number(6)
    guard var expected = kennels[id],
      let kennel = realm.object(ofType: Kennel.self, forPrimaryKey: id)
    else {
      realm.add(Kennel(id))
      kennels[id] = Expected()
      return
    }
    defer { if kennels[id] != nil { kennels[id] = expected } }
    let known = hounds.isEmpty ? nil : hounds.sorted()[number(hounds.count)]
    func object(_ age: Int) -> Hound { realm.objects(Hound.self).first { $0.age == age }! }
    switch number(20) {
    case 0, 1, 2:
      hounds.insert(nextHound)
      expected.hounds.append(nextHound)
      kennel.hounds.append(Hound("", nextHound))
      nextHound += 1
    case 3:
      expected.guardian = known
      kennel.guardian = known.map { object($0) }
    case 4, 5:
      guard let known else { return }
      let place = number(expected.hounds.count + 1)
      expected.hounds.insert(known, at: place)
      kennel.hounds.insert(object(known), at: place)
    case 6:
      guard let known else { return }
      expected.houndSet.insert(known)
      kennel.houndSet.insert(object(known))
    case 7:
      guard let known else { return }
      expected.houndMap["key \(known % 5)"] = .some(known)
      kennel.houndMap["key \(known % 5)"] = object(known)
    case 8:
      if expected.hounds.isEmpty { return }
      let (from, to) = (number(expected.hounds.count), number(expected.hounds.count))
      expected.hounds.insert(expected.hounds.remove(at: from), at: to)
      kennel.hounds.move(from: from, to: to)
    case 9:
      if expected.hounds.isEmpty { return }
      let start = number(expected.hounds.count)
      let range = start..<min(start + 3, expected.hounds.count)
      expected.hounds.removeSubrange(range)
      kennel.hounds.removeSubrange(range)
    case 10, 11:
      guard let known else { return }
      realm.delete(object(known))
      hounds.remove(known)
      for other in Array(kennels.keys) { kennels[other]!.forget(known) }
      expected.forget(known)
    case 12:
      let added = (0..<number(300)).map { _ in number(1000) }
      expected.numbers.append(contentsOf: added)
      kennel.numbers.append(objectsIn: added)
    case 13:
      let cut = number(expected.numbers.count + 1)
      expected.numbers.removeFirst(cut)
      kennel.numbers.removeFirst(cut)
    case 14:
      let value = number(50)
      if expected.numberSet.remove(value) == nil { expected.numberSet.insert(value) }
      if kennel.numberSet.contains(value) {
        kennel.numberSet.remove(value)
      } else {
        kennel.numberSet.insert(value)
      }
    case 15:
      let size = number(100)
      expected.box = size % 4 == 0 ? nil : size
      kennel.mainBox = size % 4 == 0 ? nil : Box(size)
    case 16:
      let size = number(100)
      expected.boxes.append(size)
      kennel.boxes.append(Box(size))
    case 17:
      if expected.boxes.isEmpty { return }
      let place = number(expected.boxes.count)
      expected.boxes.remove(at: place)
      kennel.boxes.remove(at: place)
    case 18:
      expected.houndMap["key 1"] = nil
      kennel.houndMap["key 1"] = nil
      expected.houndSet = []
      kennel.houndSet.removeAll()
    default:
      if number(3) > 0 { return }
      kennels[id] = nil
      realm.delete(kennel)
    }
  }
}

extension Expected {
  /// A hound was deleted.
  mutating func forget(_ hound: Int) {
    if guardian == hound { guardian = nil }
    hounds.removeAll { $0 == hound }
    houndSet.remove(hound)
    for (key, value) in houndMap where value == hound { houndMap[key] = .some(nil) }
  }
}

@Suite(.ownThreads) struct CollectionModelTests {
  @Test func followsPlainValues() async {
    await withSeeds(4) { random in
      let folder = TemporaryFolder()
      let configuration = folder.configuration("model.realm", kennelClasses)
      var realm: Realm? = try Realm(configuration: configuration)
      var model = Model()
      for step in 0..<60 {
        let before = model
        let open = realm!
        open.beginWrite()
        for _ in 0..<Int(random.next() % 30) { model.change(open, &random) }
        if random.next() % 4 == 0 {
          open.cancelWrite()
          model = before
        } else {
          let frozen = open.freeze()
          try open.commitWrite()
          if step % 5 == 0 { before.check(frozen) }
        }
        model.check(open)
        if step % 10 == 0 { _ = try open.checkInvariants() }
        if step % 20 == 19 {
          realm = nil
          realm = try Realm(configuration: configuration)
          model.check(realm!)
        }
      }
    }
  }
}
