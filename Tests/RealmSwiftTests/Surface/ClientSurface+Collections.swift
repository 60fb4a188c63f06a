// Client code that only has to compile: collections; see ClientSurface.swift.
import Foundation
import RealmSwift

extension ClientSurface {
  static func objects<C: RealmCollection>(_ c: C) where C.Element == Animal {
    _ = c.realm
    _ = c.isInvalidated
    _ = c.count
    _ = c.first
    _ = c.last
    _ = c.description
    _ = c[0]
    _ = c.objects(at: IndexSet([1]))
    _ = c.index(of: c[0])
    _ = c.index(matching: NSPredicate(format: "age > 1"))
    _ = c.index(matching: "age > %@", 1)
    _ = c.index(matching: { $0.age > 1 })
    _ = c.filter("age > 1")
    _ = c.filter(NSPredicate(format: "age > %d", 1))
    _ = c.where { $0.age > 1 }
    _ = c.sorted(byKeyPath: "age", ascending: false)
    _ = c.sorted(byKeyPath: "age")
    _ = c.sorted(by: [SortDescriptor(keyPath: "age")])
    _ = c.sorted(by: \.age)
    _ = c.sorted(by: \.age, ascending: false)
    _ = c.distinct(by: ["age"])
    _ = c.distinct(by: [\Animal.age])
    let a: Int? = c.min(ofProperty: "age")
    let b: Int? = c.max(ofProperty: "age")
    let s: Int = c.sum(ofProperty: "age")
    let v: Double? = c.average(ofProperty: "age")
    _ = (a, b, s, v)
    let a2: Int? = c.min(of: \.age)
    let b2: Int? = c.max(of: \.age)
    let s2: Int = c.sum(of: \.age)
    let v2: Double? = c.average(of: \.age)
    _ = (a2, b2, s2, v2)
    _ = c.value(forKey: "age")
    _ = c.value(forKeyPath: "@sum.age")
    c.setValue(1, forKey: "age")
    _ = c.isFrozen
    _ = c.freeze()
    _ = c.thaw()
    for x in c { _ = x }
    _ = c.map { $0 }
    _ = c.filter { $0.age > 1 }
    _ = Array(c)
    let any = AnyRealmCollection(c)
    _ = any.count
    _ = any.where { $0.age > 1 }
    _ = c == c
  }
  static func numbers<C: RealmCollection>(_ c: C) where C.Element == Int {
    _ = c.sorted()
    _ = c.sorted(ascending: false)
    _ = c.distinct()
    _ = c.min()
    _ = c.max()
    let s: Int = c.sum()
    let v: Double? = c.average()
    _ = (s, v)
    _ = c.where { $0 > 1 }
  }
  static func collections(_ p: Owner, _ realm: Realm, _ d: Animal) throws {
    let l = List<Animal>()
    l.append(d)
    l.append(objectsIn: [d])
    l.append(objectsIn: realm.objects(Animal.self))
    l.insert(d, at: 0)
    l.insert(contentsOf: [d], at: 0)
    l.remove(at: 0)
    l.removeAll()
    l.removeFirst()
    l.removeFirst(2)
    l.removeLast()
    l.removeLast(2)
    l.removeSubrange(0..<1)
    l.removeSubrange(0...1)
    l.remove(atOffsets: IndexSet([1]))
    l.replace(index: 0, object: d)
    l.replaceSubrange(0..<1, with: [d])
    l.move(from: 0, to: 1)
    l.move(fromOffsets: IndexSet([0]), toOffset: 1)
    l.swapAt(0, 1)
    l[0] = d
    _ = p.ints.sorted()
    let su: Int = p.ints.sum()
    let av: Double? = p.ints.average()
    _ = (su, av, p.ints.min(), p.ints.max(), p.optInts.min(), p.optInts.sum(), p.ints.distinct())
    let avd: Double? = p.optInts.average()
    _ = avd
    let s = MutableSet<Int>()
    _ = s.contains(1)
    _ = s.isSubset(of: s)
    _ = s.intersects(s)
    s.insert(1)
    s.insert(objectsIn: [1])
    s.remove(1)
    s.removeAll()
    s.formIntersection(s)
    s.subtract(s)
    s.formUnion(s)
    let s4: Int = s.sum()
    _ = s4
    _ = s.sorted()
    let m = p.map
    _ = m.keys
    _ = m.values
    _ = m.count
    _ = m["a"]
    m["a"] = 1
    m["a"] = nil
    _ = m["b", default: 1]
    m["b", default: 1] += 1
    m.updateValue(1, forKey: "a")
    m.removeObject(for: "a")
    m.removeAll()
    m.merge(m, uniquingKeysWith: { a, _ in a })
    m.merge(["a": 1]) { $1 }
    m.merge([("a", 1)]) { $1 }
    for e in m {
      _ = e.key
      _ = e.value
    }
    for (k, v) in m.asKeyValueSequence() { _ = (k, v) }
    _ = m.filter { $0.value > 1 }
    _ = m.filter("SELF > 1")
    _ = m.filter(NSPredicate(format: "self > 1"))
    _ = m.where { $0 > 1 }
    _ = m.contains(where: { $0 == "a" && $1 == 2 })
    _ = m.sorted()
    _ = m.sorted(ascending: true)
    _ = p.dogMap.sorted(byKeyPath: "age")
    _ = p.dogMap.sorted(byKeyPath: "age", ascending: false)
    _ = p.dogMap.sorted(by: [SortDescriptor(keyPath: "age")])
    _ = p.dogMap.sorted(by: \.age)
    let ms: Int = m.sum()
    let ma: Double? = m.average()
    _ = (ms, ma, m.min(), m.max())
    _ = m.value(forKey: "a")
    m.setValue(1, forKey: "a")
    _ = m.freeze()
    _ = m.thaw()
    _ = m.isFrozen
    _ = m.description
    _ = m.isInvalidated
    _ = m.realm
    _ = m == m
    let dms: Int = p.dogMap.sum(ofProperty: "age")
    _ = dms
    realm.delete(p.dogMap)
    realm.delete(p.dogs)
    realm.delete(realm.objects(Animal.self))
    realm.delete([d])
    realm.delete(d)
    let pr: ProjectedCollection<String> = p.dogs.projectTo.name
    _ = pr.first
    _ = pr.count
    _ = pr[0]
    let lo: LinkingObjects<Owner> = d.owners
    _ = lo.count
    _ = lo.first?.name
    _ = LinkingObjects(fromType: Owner.self, property: "dogs")
    realm.delete(p.dogs.filter("age > 1"))
    for (i, x) in p.dogs.enumerated() { _ = (i, x) }
    _ = p.dogs.first(where: { $0.age > 1 })
    _ = p.dogs.contains(d)
    _ = p.dogs.index(of: d)
    _ = p.dogs.firstIndex(of: d)
    _ = p.dogs.isEmpty
    _ = p.dogs.elementsEqual(p.dogs)
    _ = p.dogs.reversed()
    _ = p.dogs.prefix(2)
    _ = p.dogs.map(\.name)
    _ = p.dogs.reduce(0) { $0 + $1.age }
    let sec = realm.objects(Animal.self).sectioned(by: \.name)
    _ = sec.allKeys
    _ = sec[0].key
    _ = sec[0].count
    _ = sec[0][0].name
    _ = sec[IndexPath(item: 0, section: 0)]
    _ = sec.count
    for se in sec {
      for o in se { _ = o.name }
      _ = se.id
    }
    _ = realm.objects(Animal.self).sectioned(by: \.name, ascending: false)
    _ = realm.objects(Animal.self).sectioned(
      by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "name")])
    _ = realm.objects(Animal.self).sectioned(
      by: \.name, sortDescriptors: [SortDescriptor(keyPath: "name")])
    _ = p.dogs.sectioned(sortDescriptors: [SortDescriptor(keyPath: \Animal.name)]) { $0.name }
    _ = p.dogs.sectioned(by: { $0.name }, ascending: true)
    _ = sec.freeze()
    _ = sec.thaw()
    _ = sec[0].freeze()
  }
}
