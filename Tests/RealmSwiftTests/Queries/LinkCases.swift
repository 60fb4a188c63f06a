// Conditions on links and collections in three forms that have to mean the same; see
// QueryCases.swift.
import Foundation
import Platform
import RealmSwift
import Testing

/// Has links of every kind.
class Keeper: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var pets: List<Pet>
  @Persisted var favourite: Pet?
  @Persisted var boss: Keeper?
  @Persisted var numbers: List<Int>
  @Persisted var fractions: List<Double>
  @Persisted var words: List<String?>
  @Persisted(originProperty: "boss") var team: LinkingObjects<Keeper>
}

/// Is linked to.
class Pet: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var weight: Double?
  @Persisted var friends: List<Pet>
  @Persisted(originProperty: "pets") var keepers: LinkingObjects<Keeper>
}

extension Realm {
  /// Fills the Realm with keepers and pets that are linked at random.
  func addKeepers(_ count: Int, _ random: inout RandomGenerator) throws {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let names = ["Ann", "ann", "Bo", "Rex", "Zoë", ""]
    try write {
      var pets: [Pet] = []
      for id in 0..<count {
        let pet = Pet(
          value: ["id": id, "name": names[number(names.count)], "age": number(6)] as [String: Any])
        if number(3) > 0 { pet.weight = Double(number(5)) / 2 }
        add(pet)
        pets.append(pet)
      }
      var keepers: [Keeper] = []
      for id in 0..<count {
        let keeper = Keeper(value: ["id": id, "name": names[number(names.count)]])
        add(keeper)
        for _ in 0..<number(4) { keeper.pets.append(pets[number(count)]) }
        if number(3) > 0 { keeper.favourite = pets[number(count)] }
        if id > 0, number(3) > 0 { keeper.boss = keepers[number(min(id, 9))] }
        for _ in 0..<number(4) { keeper.numbers.append(number(7) - 3) }
        for _ in 0..<number(3) { keeper.fractions.append(Double(number(7)) / 2) }
        for _ in 0..<number(3) {
          keeper.words.append(number(4) == 0 ? nil : names[number(names.count)])
        }
        keepers.append(keeper)
      }
      for pet in pets { for _ in 0..<number(3) { pet.friends.append(pets[number(count)]) } }
      for pet in pets where number(6) == 0 { delete(pet) }
    }
  }
}

extension QueryCase where Row == Keeper {
  static let links: [QueryCase<Keeper>] = [
    QueryCase("favourite == nil", [], { $0.favourite == nil }, { $0.favourite == nil }),
    QueryCase("favourite != nil", [], { $0.favourite != nil }, { $0.favourite != nil }),
    QueryCase(
      "favourite.age > 2", [], { $0.favourite.age > 2 },
      { ($0.favourite?.age).map { $0 > 2 } ?? false }),
    QueryCase(
      "favourite.age != 2", [], { $0.favourite.age != 2 }, { $0.favourite?.age != 2 }),
    QueryCase(
      "NOT favourite.age > 2", [], { !($0.favourite.age > 2) },
      { !(($0.favourite?.age).map { $0 > 2 } ?? false) }),
    QueryCase(
      "favourite.weight == nil", [], { $0.favourite.weight == nil },
      { $0.favourite?.weight == nil }),
    QueryCase(
      "boss.boss.name BEGINSWITH[c] 'a'", [],
      { $0.boss.boss.name.starts(with: "a", options: .caseInsensitive) },
      { ["Ann", "ann"].contains($0.boss?.boss?.name) }),
    QueryCase(
      "boss.name == name", [], { $0.boss.name == $0.name }, { $0.boss?.name == $0.name }),
    QueryCase(
      "boss.favourite.name IN {'Rex', 'Bo'}", [], { $0.boss.favourite.name.in(["Rex", "Bo"]) },
      { ["Rex", "Bo"].contains($0.boss?.favourite?.name) }),
  ]

  static let lists: [QueryCase<Keeper>] = [
    QueryCase(
      "ANY pets.age == 3", [], { $0.pets.age == 3 }, { $0.pets.contains { $0.age == 3 } }),
    QueryCase(
      "ANY pets.age > 3", [], { $0.pets.age > 3 }, { $0.pets.contains { $0.age > 3 } }),
    QueryCase(
      "SOME pets.name CONTAINS[c] 'N'", [],
      { $0.pets.name.contains("N", options: .caseInsensitive) },
      { $0.pets.contains { $0.name.lowercased().contains("n") } }),
    QueryCase(
      "NONE pets.age > 3", [], { !($0.pets.age > 3) }, { !$0.pets.contains { $0.age > 3 } }),
    QueryCase(
      "ANY pets.weight == nil", [], { $0.pets.weight == nil },
      { $0.pets.contains { $0.weight == nil } }),
    QueryCase(
      "ANY boss.pets.age == 1", [], { $0.boss.pets.age == 1 },
      { $0.boss?.pets.contains { $0.age == 1 } ?? false }),
    QueryCase(
      "ANY pets.friends.age == 5", [], { $0.pets.friends.age == 5 },
      { $0.pets.contains { $0.friends.contains { $0.age == 5 } } }),
    QueryCase("pets.@count == 2", [], { $0.pets.count == 2 }, { $0.pets.count == 2 }),
    QueryCase("pets.@count > %@", [1], { $0.pets.count > 1 }, { $0.pets.count > 1 }),
    QueryCase(
      "pets.@max.age == 5", [], { $0.pets.age.max == 5 }, { $0.pets.map(\.age).max() == 5 }),
    QueryCase(
      "pets.@min.age < 2", [], { $0.pets.age.min < 2 },
      { ($0.pets.map(\.age).min()).map { $0 < 2 } ?? false }),
    QueryCase(
      "pets.@sum.age == 6", [], { $0.pets.age.sum == 6 },
      { $0.pets.map(\.age).reduce(0, +) == 6 }),
    QueryCase(
      "pets.@avg.age >= 2.5", [], { $0.pets.age.avg >= 2.5 },
      { !$0.pets.isEmpty && Double($0.pets.map(\.age).reduce(0, +)) / Double($0.pets.count) >= 2.5 }
    ),
    QueryCase(
      "pets.age.@avg == nil", [], { $0.pets.age.avg == nil }, { $0.pets.isEmpty }),
    QueryCase(
      "SUBQUERY(pets, $pet, $pet.age > 2 AND $pet.name == 'Ann').@count > 0", [],
      { ($0.pets.age > 2 && $0.pets.name == "Ann").count > 0 },
      { $0.pets.contains { $0.age > 2 && $0.name == "Ann" } }),
    QueryCase(
      "SUBQUERY(pets, $p, $p.age > 2).@count == 2", [], { ($0.pets.age > 2).count == 2 },
      { $0.pets.filter { $0.age > 2 }.count == 2 }),
    QueryCase(
      "SUBQUERY(pets, $p, ANY $p.friends.age > 4).@count >= 1", [],
      { ($0.pets.friends.age > 4).count >= 1 },
      { $0.pets.contains { $0.friends.contains { $0.age > 4 } } }),
    QueryCase(
      "boss.pets.@count == 0", [], { $0.boss.pets.count == 0 }, { $0.boss?.pets.count == 0 }),
  ]

  static let values: [QueryCase<Keeper>] = [
    QueryCase("2 IN numbers", [], { $0.numbers.contains(2) }, { $0.numbers.contains(2) }),
    QueryCase("ANY numbers == 2", [], { $0.numbers == 2 }, { $0.numbers.contains(2) }),
    QueryCase("ANY numbers > 1", [], { $0.numbers > 1 }, { $0.numbers.contains { $0 > 1 } }),
    QueryCase(
      "ANY numbers != 2", [], { $0.numbers != 2 }, { $0.numbers.contains { $0 != 2 } }),
    QueryCase(
      "ANY numbers IN {1, 3}", [], { $0.numbers.containsAny(in: [1, 3]) },
      { $0.numbers.contains { $0 == 1 || $0 == 3 } }),
    QueryCase("numbers.@count == 3", [], { $0.numbers.count == 3 }, { $0.numbers.count == 3 }),
    QueryCase(
      "numbers.@sum > 0", [], { $0.numbers.sum > 0 }, { Array($0.numbers).reduce(0, +) > 0 }),
    QueryCase(
      "numbers.@min >= -1 AND numbers.@max <= 2", [], { $0.numbers.contains(-1...2) },
      { !$0.numbers.isEmpty && $0.numbers.allSatisfy { (-1...2) ~= $0 } }),
    QueryCase(
      "fractions.@avg < 1.5", [], { $0.fractions.avg < 1.5 },
      {
        !$0.fractions.isEmpty
          && Array($0.fractions).reduce(0, +) / Double($0.fractions.count) < 1.5
      }),
    QueryCase("'Bo' IN words", [], { $0.words.contains("Bo") }, { $0.words.contains("Bo") }),
    QueryCase("ANY words == nil", [], { $0.words == nil }, { $0.words.contains { $0 == nil } }),
  ]

  static let backlinks: [QueryCase<Keeper>] = [
    QueryCase("team.@count > 1", [], { $0.team.count > 1 }, { $0.team.count > 1 }),
    QueryCase("team.@count == 0", [], { $0.team.count == 0 }, { $0.team.isEmpty }),
    QueryCase(
      "ANY team.name == 'Ann'", [], { $0.team.name == "Ann" },
      { $0.team.contains { $0.name == "Ann" } }),
    QueryCase(
      "ANY favourite.keepers.id > 50", [], { $0.favourite.keepers.id > 50 },
      { $0.favourite?.keepers.contains { $0.id > 50 } ?? false }),
    QueryCase(
      "SUBQUERY(team, $k, $k.pets.@count > 1).@count > 0", [],
      { ($0.team.name != "x" && $0.team.pets.count > 1).count > 0 },
      { $0.team.contains { $0.pets.count > 1 } }),
  ]

  static let withoutNilAverages = links + lists + values + backlinks
}
