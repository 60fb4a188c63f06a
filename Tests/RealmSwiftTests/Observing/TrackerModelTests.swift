// Random changes, followed by random observers: what a tracker tells, applied to the observer's
// copy, gives what a new look at the same collection shows. With recorded changes and with compared
// versions, several commits at once.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@testable import RealmSwift

/// Objects as text, so that copies can be compared.
enum TrackerImages {
  /// All of an object, and of what it links to over some links.
  static func deep(_ object: ObjectBase, links: Int = 4) -> String {
    switch object {
    case let hound as Hound:
      "H\(hound._key.rawValue)(\(hound.name) \(hound.age) \(hound.weight ?? -1) "
        + "\(link(hound.friend, links)))"
    case let kennel as Kennel:
      "K\(kennel._key.rawValue)(\(kennel.name) \(link(kennel.guardian, links)) "
        + "\(link(kennel.mainBox, links)) \(all(kennel.hounds) { link($0, links) }) "
        + "\(all(kennel.boxes) { link($0, links) }) \(Array(kennel.numbers)) "
        + "\(all(kennel.houndSet) { link($0, links) }) \(Array(kennel.numberSet)) "
        + "\(entries(kennel.houndMap) { link($0, links) }) "
        + "\(entries(kennel.numberMap) { "\($0)" }))"
    case let box as Box:
      "B\(box._key.rawValue)(\(box.size) \(link(box.tenant, links)) \(link(box.inner, links)))"
    default: "?"
    }
  }

  /// Collections of a Realm map lazily: here nothing may be read later.
  static func all<Collection: RealmCollection>(
    _ collection: Collection, _ image: (Collection.Element) -> String
  ) -> [String] {
    var images: [String] = []
    for element in collection { images.append(image(element)) }
    return images
  }

  static func link(_ object: ObjectBase?, _ links: Int) -> String {
    guard let object else { return "-" }
    return links == 0 ? "\(object._key.rawValue)" : deep(object, links: links - 1)
  }

  static func entries<Value>(
    _ map: Map<String, Value>, _ image: (Value) -> String
  ) -> [String] {
    var images: [String] = []
    for entry in map { images.append("\(entry.key): \(image(entry.value))") }
    return images.sorted()
  }

  /// An object by its key.
  static func key(_ object: ObjectBase?) -> String {
    object.map { "\($0._key.rawValue)" } ?? "-"
  }
}

/// An observer with its own copy of what it observes.
struct Follower {
  let name: String
  /// Of a collection.
  var tracker: CollectionTracker?
  /// What has to change so that there may be something to tell.
  let watched: Watched
  /// Takes a step and checks; false when there is nothing more to follow.
  ///
  /// Nil in place of a step says that it does not concern the observer.
  let advance: (VersionStep?, _ isCompared: Bool) -> Bool
  /// Makes a further tracker of the same, which says as text what it tells.
  var makeAnother: (() -> (VersionStep) -> String)?
  /// The object that has what is followed.
  var owner: () -> ObjectBase? = { nil }

  static func collection<Collection: RealmCollection>(
    _ name: String, _ keyPaths: [String]?, isSorted: Bool = false,
    owner: ObjectBase? = nil,
    _ image: @escaping (Collection.Element) -> String, _ make: @escaping () -> Collection
  ) -> Follower {
    let observed = make()
    let tracker = CollectionTracker.make(observed, keyPaths: keyPaths)
    var copy = TrackerImages.all(observed, image)
    return Follower(
      name: "\(name) \(keyPaths as Any)", tracker: tracker, watched: tracker.watched
    ) { step, isCompared in
      let change = step.flatMap { tracker.advance($0) } ?? CollectionChange()
      let isOver = owner?.isInvalidated ?? false
      let truth = isOver ? [] : TrackerImages.all(make(), image)
      if !isOver {
        let shown = TrackerImages.all(observed, image)
        #expect(shown == truth, "\(name): the observed collection")
      }
      let old = copy
      let place = "\(name) \(keyPaths as Any): \(change)"
      for positions in [change.deletions, change.insertions, change.modifications] {
        #expect(positions == Array(Set(positions)).sorted(), "\(place)")
      }
      guard change.deletions.allSatisfy({ copy.indices.contains($0) }),
        (change.insertions + change.modifications).allSatisfy({ truth.indices.contains($0) })
      else {
        Issue.record("\(place) of \(old.count) that became \(truth.count)")
        return false
      }
      for position in change.deletions.reversed() { copy.remove(at: position) }
      for position in change.insertions {
        guard position <= copy.count else {
          Issue.record("\(place) of \(old.count) that became \(truth.count)")
          return false
        }
        copy.insert(truth[position], at: position)
      }
      let inserted = Set(change.insertions)
      for position in change.modifications {
        #expect(!inserted.contains(position), "\(place)")
        guard copy.indices.contains(position) else { break }
        if isCompared {
          #expect(copy[position] != truth[position], "\(place) tells what is the same")
        }
        copy[position] = truth[position]
      }
      if copy != truth { Issue.record("\(place)\nold \(old)\nnew \(truth)\ngot \(copy)") }
      if !isSorted {
        let gone = Set(change.deletions.map { old[$0] })
        if isCompared, old.count == Set(old).count {
          #expect(gone.isDisjoint(with: truth), "\(place) moves what stays")
        }
      }
      copy = truth
      return !isOver
    } makeAnother: {
      let another = CollectionTracker.make(make(), keyPaths: keyPaths)
      return { "\(another.advance($0) as Any)" }
    } owner: {
      owner
    }
  }

  static func map<Value>(
    _ name: String, _ keyPaths: [String]?, _ owner: ObjectBase, _ map: Map<String, Value>,
    _ image: @escaping (Value) -> String
  ) -> Follower {
    let tracker = MapTracker(map.cell!, keyPaths: keyPaths)
    func images() -> [String: String] {
      var images: [String: String] = [:]
      for entry in map { images[entry.key] = image(entry.value) }
      return images
    }
    var copy = images()
    return Follower(name: name, watched: tracker.watched) { step, isCompared in
      let change = step.flatMap { tracker.advance($0) } ?? MapChange()
      let truth = owner.isInvalidated ? [:] : images()
      for key in change.deletions {
        let old = copy.removeValue(forKey: key)
        #expect(old != nil, "\(name) \(change)")
      }
      for key in change.insertions {
        let old = copy.updateValue(truth[key] ?? "", forKey: key)
        #expect(old == nil, "\(name) \(change)")
      }
      for key in change.modifications {
        let old = copy.updateValue(truth[key] ?? "", forKey: key)
        #expect(old != nil, "\(name) \(change)")
        if isCompared { #expect(old != truth[key], "\(name) \(change)") }
      }
      #expect(copy == truth, "\(name) \(keyPaths as Any) \(change)")
      copy = truth
      return !owner.isInvalidated
    } makeAnother: {
      let another = MapTracker(map.cell!, keyPaths: keyPaths)
      return { "\(another.advance($0) as Any)" }
    } owner: {
      owner
    }
  }

  /// - Parameter properties: the image of each property that is watched.
  static func object(
    _ name: String, _ keyPaths: [String]?, _ object: ObjectBase,
    _ properties: [(String, () -> String)]
  ) -> Follower {
    let tracker = ObjectTracker(object, keyPaths: keyPaths)
    let schema = object._table!.pointee.binding.schema
    var copy = properties.map { $0.1() }
    return Follower(name: name, watched: tracker.watched) { step, isCompared in
      let change = step.flatMap { tracker.advance($0) }
      if object.isInvalidated {
        #expect(change == .deleted)
        return false
      }
      var told: Set<String> = []
      if case .changed(let positions) = change {
        #expect(!positions.isEmpty && positions == positions.sorted())
        told = Set(positions.map { schema.properties[$0].name })
      }
      for (index, (property, image)) in properties.enumerated() {
        let now = image()
        if now != copy[index] { #expect(told.contains(property), "\(name): \(property)") }
        copy[index] = now
      }
      return true
    } makeAnother: {
      let another = ObjectTracker(object, keyPaths: keyPaths)
      return { "\(another.advance($0) as Any)" }
    } owner: {
      object
    }
  }
}

/// Changes of kennels, hounds and boxes.
struct KennelChanges {
  let realm: Realm
  var random: RandomGenerator

  mutating func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  mutating func hound() -> Hound? {
    let hounds = realm.objects(Hound.self)
    return hounds.isEmpty ? nil : hounds[number(hounds.count)]
  }

  mutating func kennel() -> Kennel? {
    let kennels = realm.objects(Kennel.self)
    return kennels.isEmpty ? nil : kennels[number(kennels.count)]
  }

  mutating func change() {
    switch number(16) {
    case 0, 1:
      if realm.objects(Hound.self).count < 12 {
        realm.add(Hound("name \(number(5))", number(9)))
      }
    case 2: if let hound = hound(), number(2) == 0 { realm.delete(hound) }
    case 3, 4: hound()?.age = number(9)
    case 5:
      hound()?.name = "name \(number(5))"
      hound()?.weight = number(3) == 0 ? nil : Double(number(4))
    case 6: hound()?.friend = number(4) == 0 ? nil : hound()
    case 7:
      let id = number(6)
      if realm.object(ofType: Kennel.self, forPrimaryKey: id) == nil { realm.add(Kennel(id)) }
    case 8 where number(4) == 0: if let kennel = kennel() { realm.delete(kennel) }
    case 9 where number(12) == 0:
      if number(2) == 0 { realm.delete(realm.objects(Hound.self)) } else { realm.deleteAll() }
    default: if let kennel = kennel() { change(kennel) }
    }
  }

  private mutating func change(_ kennel: Kennel) {
    let hounds = kennel.hounds
    switch number(20) {
    case 0: kennel.guardian = number(4) == 0 ? nil : hound()
    case 1: kennel.name = "kennel \(number(4))"
    case 2, 3: if let hound = hound() { hounds.append(hound) }
    case 4: if let hound = hound() { hounds.insert(hound, at: number(hounds.count + 1)) }
    case 5: if !hounds.isEmpty { hounds.remove(at: number(hounds.count)) }
    case 6: if !hounds.isEmpty { hounds.move(from: number(hounds.count), to: number(hounds.count)) }
    case 7:
      if let hound = hound(), !hounds.isEmpty { hounds[number(hounds.count)] = hound }
    case 8: if hounds.count > 6 || number(8) == 0 { hounds.removeAll() }
    case 9: if let hound = hound() { kennel.houndSet.insert(hound) }
    case 10:
      if let hound = kennel.houndSet.first { kennel.houndSet.remove(hound) }
      if number(6) == 0 { kennel.houndSet.removeAll() }
    case 11: kennel.houndMap["key \(number(5))"] = number(5) == 0 ? .some(nil) : hound()
    case 12:
      kennel.houndMap.removeObject(for: "key \(number(5))")
      kennel.numberMap.removeObject(for: "key \(number(5))")
    case 13: kennel.numberMap["key \(number(5))"] = number(6)
    case 14:
      kennel.numbers.insert(number(9), at: number(kennel.numbers.count + 1))
      kennel.numberSet.insert(number(9))
    case 15:
      if !kennel.numbers.isEmpty { kennel.numbers.remove(at: number(kennel.numbers.count)) }
      kennel.numberSet.remove(number(9))
    case 16:
      if !kennel.numbers.isEmpty { kennel.numbers[number(kennel.numbers.count)] = number(9) }
    case 17:
      let box = Box(number(9))
      if number(2) == 0 { box.inner = Box(number(9)) }
      box.tenant = hound()
      if number(2) == 0 { kennel.mainBox = box } else { kennel.boxes.append(box) }
    case 18:
      kennel.mainBox?.size = number(9)
      kennel.boxes.first?.tenant = hound()
      kennel.boxes.last?.inner?.size = number(9)
    default:
      if !kennel.boxes.isEmpty { kennel.boxes.remove(at: number(kennel.boxes.count)) }
      if number(3) == 0 { kennel.mainBox = nil }
    }
  }

  // MARK: - Followers

  /// A query's name, whether its order is one by values, and how it is made of all objects.
  private typealias FollowedQuery<Element: RealmCollectionValue> = (
    String, Bool, @Sendable (Results<Element>) -> Results<Element>
  )

  /// Queries on hounds, each with whether its order is one by values.
  private static let houndQueries: [FollowedQuery<Hound>] = [
    ("all", false, { $0 }),
    ("old", false, { $0.filter("age > 3") }),
    ("friend is old", false, { $0.filter("friend.age > 3") }),
    ("friend's friend", false, { $0.filter("friend.friend.age < 5 OR name == 'name 1'") }),
    ("in a kennel", false, { $0.filter("ANY kennels.id < 3") }),
    ("admired", false, { $0.filter("admirers.@count > 0") }),
    ("not guarding", false, { $0.filter("NOT ANY guarded.name == 'kennel 1'") }),
    ("sorted", true, { $0.sorted(byKeyPath: "age") }),
    ("sorted down", true, { $0.filter("age < 7").sorted(byKeyPath: "age", ascending: false) }),
    ("sorted twice", true, { $0.sorted(byKeyPath: "age").sorted(byKeyPath: "name") }),
    ("sorted by friend", true, { $0.sorted(byKeyPath: "friend.age", ascending: false) }),
    (
      "sorted by weight", true,
      { $0.sorted(by: [SortDescriptor(keyPath: "weight"), SortDescriptor(keyPath: "name")]) }
    ),
    ("distinct", true, { $0.distinct(by: ["age"]) }),
    ("sorted, distinct", true, { $0.sorted(byKeyPath: "name").distinct(by: ["age"]) }),
    ("distinct, sorted", true, { $0.distinct(by: ["name"]).sorted(byKeyPath: "age") }),
    (
      "sorted, distinct, sorted", true,
      {
        $0.filter("age < 7").sorted(byKeyPath: "weight", ascending: false)
          .distinct(by: ["friend.age", "age"]).sorted(byKeyPath: "name")
      }
    ),
    ("distinct twice", true, { $0.distinct(by: ["name", "age"]).distinct(by: ["age"]) }),
    (
      "distinct thrice", true,
      {
        $0.sorted(byKeyPath: "weight").distinct(by: ["name", "age"]).sorted(byKeyPath: "name")
          .distinct(by: ["age"]).sorted(byKeyPath: "age", ascending: false)
          .distinct(by: ["friend.name"])
      }
    ),
  ]

  /// Orders of hounds and choices among them, for lists, sets and linking objects.
  private static let houndOrders: [FollowedQuery<Hound>] = [
    ("filtered", false, { $0.filter("age > 3") }),
    ("by friend", false, { $0.filter("friend.age > 3 OR name == 'name 1'") }),
    ("sorted", true, { $0.sorted(byKeyPath: "age") }),
    ("filtered, sorted", true, { $0.filter("age < 7").sorted(byKeyPath: "name") }),
    ("sorted by friend", true, { $0.sorted(byKeyPath: "friend.age", ascending: false) }),
    ("distinct", true, { $0.distinct(by: ["age"]) }),
    ("sorted, distinct", true, { $0.sorted(byKeyPath: "name").distinct(by: ["friend.name"]) }),
    ("distinct, sorted", true, { $0.distinct(by: ["name"]).sorted(byKeyPath: "age") }),
    (
      "distinct twice", true,
      {
        $0.distinct(by: ["name", "age"]).sorted(byKeyPath: "age", ascending: false)
          .distinct(by: ["name"])
      }
    ),
  ]

  private static let kennelOrders: [FollowedQuery<Kennel>] = [
    ("filtered", false, { $0.filter("id > 1") }),
    ("by hounds", false, { $0.filter("ANY hounds.age > 5") }),
    ("sorted", true, { $0.filter("id > 1").sorted(byKeyPath: "name") }),
    ("sorted by guardian", true, { $0.sorted(byKeyPath: "guardian.age", ascending: false) }),
    ("distinct", true, { $0.distinct(by: ["name"]) }),
    ("sorted, distinct", true, { $0.sorted(byKeyPath: "id").distinct(by: ["guardian.age"]) }),
  ]

  private static let kennelQueries: [FollowedQuery<Kennel>] = [
    ("all", false, { $0 }),
    ("with old hounds", false, { $0.filter("ANY hounds.age > 5") }),
    ("with hounds", false, { $0.filter("hounds.@count > 2") }),
    ("by subquery", false, { $0.filter("SUBQUERY(hounds, $h, $h.age > 3).@count > 1") }),
    ("by guardian", false, { $0.filter("guardian.friend.age < 5") }),
    ("by sum", false, { $0.filter("hounds.@sum.age > 9 OR numbers.@max > 6") }),
    ("sorted by guardian", true, { $0.sorted(byKeyPath: "guardian.age") }),
    ("by map", false, { $0.filter("ANY houndMap.@allValues.age > 3") }),
  ]

  mutating func follower() -> Follower? {
    let realm = realm
    switch number(10) {
    case 0, 1, 2: return houndsFollower()
    case 3, 4:
      let (name, isSorted, query) = Self.kennelQueries[number(Self.kennelQueries.count)]
      let (keyPaths, image) = kennelImage()
      return .collection("kennels \(name)", keyPaths, isSorted: isSorted, image) {
        query(realm.objects(Kennel.self))
      }
    case 5: return hound().map { linkingFollower($0) }
    default: return kennel().map { follower($0) }
    }
  }

  private mutating func kennelImage() -> ([String]?, (Kennel) -> String) {
    switch number(5) {
    case 0: return ([], { TrackerImages.key($0) })
    case 1: return (["name"], { "\(TrackerImages.key($0)) \($0.name)" })
    case 2:
      return (
        ["hounds.age"],
        { kennel in
          "\(TrackerImages.key(kennel))"
            + "\(TrackerImages.all(kennel.hounds) { "\(TrackerImages.key($0)) \($0.age)" })"
        }
      )
    default: return (nil, { TrackerImages.deep($0) })
    }
  }

  private mutating func houndImage() -> ([String]?, (Hound) -> String) {
    switch number(6) {
    case 0: return ([], { TrackerImages.key($0) })
    case 1:
      return (
        ["friend.age", "name"],
        {
          "\(TrackerImages.key($0)) \($0.name) \(TrackerImages.key($0.friend)) "
            + "\($0.friend?.age ?? -1)"
        }
      )
    case 2:
      return (
        ["admirers.name"],
        { hound in
          "\(TrackerImages.key(hound)) "
            + "\(TrackerImages.all(hound.admirers) { "\(TrackerImages.key($0)) \($0.name)" })"
        }
      )
    case 3:
      return (
        ["friend.*"],
        { "\(TrackerImages.key($0)) \(TrackerImages.link($0.friend, 1))" }
      )
    default: return (nil, { TrackerImages.deep($0) })
    }
  }

  private mutating func houndsFollower() -> Follower {
    let realm = realm
    let (name, isSorted, query) = Self.houndQueries[number(Self.houndQueries.count)]
    let (keyPaths, image) = houndImage()
    if number(4) == 0 {
      return .collection("any \(name)", keyPaths, isSorted: isSorted, image) {
        AnyRealmCollection(query(realm.objects(Hound.self)))
      }
    }
    return .collection("hounds \(name)", keyPaths, isSorted: isSorted, image) {
      query(realm.objects(Hound.self))
    }
  }

  private mutating func linkingFollower(_ hound: Hound) -> Follower {
    let (keyPaths, image) = kennelImage()
    switch number(4) {
    case 0:
      return .collection("guarded", keyPaths, owner: hound, image) { hound.guarded }
    case 1:
      let (name, _, query) = Self.kennelOrders[number(Self.kennelOrders.count)]
      return .collection("\(name) kennels", keyPaths, isSorted: true, owner: hound, image) {
        query(hound.kennels.filter("TRUEPREDICATE"))
      }
    case 2:
      let (keyPaths, image) = houndImage()
      return .collection("admirers", keyPaths, owner: hound, image) { hound.admirers }
    default: return .collection("kennels", keyPaths, owner: hound, image) { hound.kennels }
    }
  }

  private mutating func follower(_ kennel: Kennel) -> Follower {
    let (keyPaths, image) = houndImage()
    switch number(13) {
    case 0, 1:
      return .collection("list", keyPaths, isSorted: true, owner: kennel, image) { kennel.hounds }
    case 2, 3:
      let (name, _, query) = Self.houndOrders[number(Self.houndOrders.count)]
      if number(4) == 0 {
        return .collection("\(name) set", keyPaths, isSorted: true, owner: kennel, image) {
          query(kennel.houndSet.filter("TRUEPREDICATE"))
        }
      }
      return .collection("\(name) list", keyPaths, isSorted: true, owner: kennel, image) {
        query(kennel.hounds.filter("TRUEPREDICATE"))
      }
    case 4: return .collection("set", keyPaths, owner: kennel, image) { kennel.houndSet }
    case 5:
      return .collection("numbers", nil, isSorted: true, owner: kennel, { "\($0)" }) {
        kennel.numbers
      }
    case 6:
      return .collection("number set", [], owner: kennel, { "\($0)" }) { kennel.numberSet }
    case 7:
      return .collection("filtered numbers", nil, isSorted: true, owner: kennel, { "\($0)" }) {
        kennel.numbers.filter("SELF > 3")
      }
    case 8:
      return .collection("sorted numbers", nil, isSorted: true, owner: kennel, { "\($0)" }) {
        kennel.numbers.sorted(ascending: false)
      }
    case 9:
      return .collection(
        "boxes", nil, isSorted: true, owner: kennel, { TrackerImages.deep($0) }, { kennel.boxes })
    case 10:
      return .map("map", nil, kennel, kennel.houndMap) { TrackerImages.link($0, 5) }
    case 11: return .map("number map", nil, kennel, kennel.numberMap) { "\($0)" }
    default:
      return .object(
        "kennel", number(2) == 0 ? nil : ["*"], kennel,
        [
          ("name", { kennel.name }), ("guardian", { TrackerImages.key(kennel.guardian) }),
          ("hounds", { "\(TrackerImages.all(kennel.hounds) { TrackerImages.key($0) })" }),
          ("numbers", { "\(Array(kennel.numbers))" }),
          ("houndMap", { "\(TrackerImages.entries(kennel.houndMap) { TrackerImages.key($0) })" }),
        ])
    }
  }

  mutating func pathFollower() -> Follower? {
    guard let kennel = kennel() else { return nil }
    return .object(
      "kennel's paths", ["guardian.friend.age", "hounds.name", "mainBox.size"], kennel,
      [
        (
          "guardian",
          {
            "\(TrackerImages.key(kennel.guardian)) \(TrackerImages.key(kennel.guardian?.friend)) "
              + "\(kennel.guardian?.friend?.age ?? -1)"
          }
        ),
        (
          "hounds",
          {
            "\(TrackerImages.all(kennel.hounds) { "\(TrackerImages.key($0)) \($0.name)" })"
          }
        ),
        ("mainBox", { "\(TrackerImages.key(kennel.mainBox)) \(kennel.mainBox?.size ?? -1)" }),
      ])
  }
}

@Suite(.ownThreads) struct TrackerModelTests {
  @Test(arguments: seedsInTurn(1...12))
  func whatIsToldLeadsToTheTruth(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let realm = try memoryRealm(kennelClasses)
      var changes = KennelChanges(realm: realm, random: random)
      var followers: [Int: Follower] = [:]
      var index = WatchIndex<Int>()
      var passed = 0
      func follow(_ follower: Follower?) {
        guard let follower else { return }
        let number = (followers.keys.max() ?? -1) + 1
        followers[number] = follower
        index.add(number, follower.watched, realm.confined)
      }
      var reader: ChangeHistory.Reader?
      let history = realm.confined.history
      for step in 0..<60 {
        // Nobody records for some steps: then the versions are compared.
        if step % 12 == 0 {
          reader =
            step % 24 == 0
            ? history.register(standingOn: realm.confined.currentSnapshot().version) : nil
        }
        while followers.count < 30, let follower = changes.follower() { follow(follower) }
        while followers.count < 33, let follower = changes.pathFollower() { follow(follower) }
        let old = realm.confined.frozen()
        for _ in 0...changes.number(3) {
          realm.beginWrite()
          for _ in 0..<changes.number(12) { changes.change() }
          if changes.number(6) == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
        }
        let versions = (
          old.currentSnapshot().version, realm.confined.currentSnapshot().version
        )
        let isRecorded = history.changes(after: versions.0, through: versions.1) != nil
        #expect(isRecorded == (reader != nil || versions.0 == versions.1))
        let taken = VersionStep(from: old, to: realm.confined)
        // Who is passed over has nothing to be told, and can be told the next step.
        let concerned = index.concerned(by: taken)
        #expect(concerned.count == Set(concerned).count)
        passed += followers.count - concerned.count
        var ended = followers.keys.sorted().filter { number in
          !followers[number]!.advance(concerned.contains(number) ? taken : nil, !isRecorded)
        }
        if changes.number(8) == 0 { ended += followers.keys.min().map { [$0] } ?? [] }
        for number in Set(ended) {
          index.remove(followers.removeValue(forKey: number)!.watched) { $0 == number }
        }
        #expect(index.members.count == followers.count)
        reader?.stand(on: versions.1)
      }
      #expect(passed > 0)
    }
  }
}
