// Random conditions in three forms that have to mean the same: type-safe, text, and plain Swift;
// and the objects that they are asked about, whose properties have indexes or lie behind links.
import Foundation
import Platform
import RealmSwift

/// Has an index on a property of each sort, and links.
final class PlanItem: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var number: Int
  @Persisted var plain: Int
  @Persisted(indexed: true) var optNumber: Int?
  @Persisted(indexed: true) var flag: Bool
  @Persisted(indexed: true) var date: Date
  @Persisted(indexed: true) var text: String
  @Persisted(indexed: true) var optText: String?
  @Persisted var fraction: Double
  @Persisted var owner: Holder?
  @Persisted var holders: List<Holder>
}

/// Is linked to.
final class Holder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var age: Int
  @Persisted var rank: Int?
  @Persisted var name: String
  @Persisted var boss: Holder?
  @Persisted(originProperty: "owner") var items: LinkingObjects<PlanItem>
}

/// One condition.
struct Condition {
  let format: String
  let arguments: [Any]
  let typed: (Query<PlanItem>) -> Query<Bool>
  let plain: (PlanItem) -> Bool

  static func && (left: Condition, right: Condition) -> Condition {
    Condition(
      format: "(\(left.format) AND \(right.format))", arguments: left.arguments + right.arguments,
      typed: { left.typed($0) && right.typed($0) }, plain: { left.plain($0) && right.plain($0) })
  }

  static func || (left: Condition, right: Condition) -> Condition {
    Condition(
      format: "(\(left.format) OR \(right.format))", arguments: left.arguments + right.arguments,
      typed: { left.typed($0) || right.typed($0) }, plain: { left.plain($0) || right.plain($0) })
  }

  static prefix func ! (condition: Condition) -> Condition {
    Condition(
      format: "NOT (\(condition.format))", arguments: condition.arguments,
      typed: { !condition.typed($0) }, plain: { !condition.plain($0) })
  }
}

extension RandomGenerator {
  mutating func number(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Texts that share their first bytes, that end in zeros, and that are shorter or longer than what
/// an index holds.
let texts = [
  "", "a", "a\0", "ab", "abc", "abcde", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghj",
  "abcdeZZZZ", "abcdf", "abd", "b", "B", "Äb", "\0", "\0\0\0\0\0\0\0\0\0", "zz",
]

extension PlanItem {
  static func random(_ id: Int, _ holders: [Holder], _ random: inout RandomGenerator) -> PlanItem {
    let item = PlanItem()
    item.id = id
    item.change(holders, &random)
    return item
  }

  func change(_ all: [Holder], _ random: inout RandomGenerator) {
    number = random.number(12) == 0 ? [Int.min, .max][random.number(2)] : random.number(20) - 5
    plain = random.number(6)
    optNumber =
      random.number(3) == 0 ? nil : random.number(9) == 0 ? Int.min : random.number(10) - 4
    flag = random.number(2) == 0
    date = Date(timeIntervalSinceReferenceDate: Double(random.number(30) - 10) / 2)
    text = texts[random.number(texts.count)]
    optText = random.number(3) == 0 ? nil : texts[random.number(texts.count)]
    fraction = [0.0, -0.0, .nan, .infinity, 1.5, -2][random.number(6)]
    owner = random.number(4) == 0 || all.isEmpty ? nil : all[random.number(all.count)]
    holders.removeAll()
    if !all.isEmpty {
      for _ in 0..<random.number(3) { holders.append(all[random.number(all.count)]) }
    }
  }
}

/// Bytes of a text: what order and equality look at.
private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

private func isLess(_ left: String, _ right: String) -> Bool {
  left.utf8.lexicographicallyPrecedes(right.utf8)
}

extension Condition {
  /// A condition of some depth.
  static func random(
    _ depth: Int, _ holders: [Holder], _ random: inout RandomGenerator
  ) -> Condition {
    if depth > 0 {
      switch random.number(6) {
      case 0, 1, 2:
        return Condition.random(depth - 1, holders, &random)
          && Condition.random(depth - 1, holders, &random)
      case 3, 4:
        return Condition.random(depth - 1, holders, &random)
          || Condition.random(depth - 1, holders, &random)
      default: return !Condition.random(depth - 1, holders, &random)
      }
    }
    switch random.number(4) {
    case 0: return numbers(&random)
    case 1: return values(&random)
    case 2: return strings(&random)
    default: return links(holders, &random)
    }
  }

  private static func numbers(_ random: inout RandomGenerator) -> Condition {
    let value = random.number(10) == 0 ? [Int.min, .max][random.number(2)] : random.number(22) - 6
    let other = value > 100 ? value : value + random.number(5)
    switch random.number(11) {
    case 0:
      return Condition(
        format: "number == %@", arguments: [value], typed: { $0.number == value },
        plain: { $0.number == value })
    case 1:
      return Condition(
        format: "number != %@", arguments: [value], typed: { $0.number != value },
        plain: { $0.number != value })
    case 2:
      return Condition(
        format: "number < %@", arguments: [value], typed: { $0.number < value },
        plain: { $0.number < value })
    case 3:
      return Condition(
        format: "number >= %@", arguments: [value], typed: { $0.number >= value },
        plain: { $0.number >= value })
    case 4:
      return Condition(
        format: "number BETWEEN {%@, %@}", arguments: [value, other],
        typed: { $0.number.contains(value...other) }, plain: { (value...other) ~= $0.number })
    case 5:
      let list = [value, other, 3, 3]
      return Condition(
        format: "number IN %@", arguments: [list], typed: { $0.number.in(list) },
        plain: { list.contains($0.number) })
    case 6:
      return Condition(
        format: "optNumber < %@", arguments: [value], typed: { $0.optNumber < value },
        plain: { $0.optNumber.map { $0 < value } ?? false })
    case 7:
      return Condition(
        format: "optNumber == nil", arguments: [], typed: { $0.optNumber == nil },
        plain: { $0.optNumber == nil })
    case 8:
      return Condition(
        format: "optNumber != %@", arguments: [value], typed: { $0.optNumber != value },
        plain: { $0.optNumber != value })
    case 9:
      return Condition(
        format: "plain > %@", arguments: [value], typed: { $0.plain > value },
        plain: { $0.plain > value })
    default:
      return Condition(
        format: "id < %@", arguments: [other], typed: { $0.id < other }, plain: { $0.id < other })
    }
  }

  private static func values(_ random: inout RandomGenerator) -> Condition {
    let date = Date(timeIntervalSinceReferenceDate: Double(random.number(30) - 10) / 2)
    let later = date.addingTimeInterval(Double(random.number(4)))
    let id = random.number(400)
    switch random.number(8) {
    case 0:
      return Condition(
        format: "flag == true", arguments: [], typed: { $0.flag == true }, plain: { $0.flag })
    case 1:
      return Condition(
        format: "date < %@", arguments: [date], typed: { $0.date < date },
        plain: { $0.date < date })
    case 2:
      return Condition(
        format: "date > %@ AND date <= %@", arguments: [date, later],
        typed: { $0.date > date && $0.date <= later },
        plain: { $0.date > date && $0.date <= later })
    case 3:
      return Condition(
        format: "date == %@", arguments: [date], typed: { $0.date == date },
        plain: { $0.date == date })
    case 4:
      return Condition(
        format: "id == %@", arguments: [id], typed: { $0.id == id }, plain: { $0.id == id })
    case 5:
      let list = [id, id / 2, id + 1, -1]
      return Condition(
        format: "id IN %@", arguments: [list], typed: { $0.id.in(list) },
        plain: { list.contains($0.id) })
    case 6:
      return Condition(
        format: "fraction >= %@", arguments: [0.0], typed: { $0.fraction >= 0.0 },
        plain: { $0.fraction >= 0 })
    default:
      return Condition(
        format: "number == plain", arguments: [], typed: { $0.number == $0.plain },
        plain: { $0.number == $0.plain })
    }
  }

  private static func strings(_ random: inout RandomGenerator) -> Condition {
    let value = texts[random.number(texts.count)]
    let other = texts[random.number(texts.count)]
    switch random.number(10) {
    case 0:
      return Condition(
        format: "text == %@", arguments: [value], typed: { $0.text == value },
        plain: { bytes($0.text) == bytes(value) })
    case 1:
      return Condition(
        format: "text BEGINSWITH %@", arguments: [value], typed: { $0.text.starts(with: value) },
        plain: { bytes($0.text).starts(with: bytes(value)) })
    case 2:
      return Condition(
        format: "text < %@", arguments: [value], typed: { $0.text < value },
        plain: { isLess($0.text, value) })
    case 3:
      return Condition(
        format: "text >= %@", arguments: [value], typed: { $0.text >= value },
        plain: { !isLess($0.text, value) })
    case 4:
      let list = [value, other]
      return Condition(
        format: "text IN %@", arguments: [list], typed: { $0.text.in(list) },
        plain: { item in list.contains { bytes($0) == bytes(item.text) } })
    case 5:
      return Condition(
        format: "optText == nil", arguments: [], typed: { $0.optText == nil },
        plain: { $0.optText == nil })
    case 6:
      return Condition(
        format: "optText == %@", arguments: [value], typed: { $0.optText == value },
        plain: { $0.optText.map { bytes($0) == bytes(value) } ?? false })
    case 7:
      return Condition(
        format: "optText BEGINSWITH %@", arguments: [value],
        typed: { $0.optText.starts(with: value) },
        plain: { $0.optText.map { bytes($0).starts(with: bytes(value)) } ?? false })
    case 8:
      return Condition(
        format: "text LIKE %@", arguments: ["ab*"], typed: { $0.text.like("ab*") },
        plain: { $0.text.utf8.starts(with: "ab".utf8) })
    default:
      return Condition(
        format: "text ==[c] %@", arguments: ["b"],
        typed: { $0.text.equals("b", options: .caseInsensitive) },
        plain: { $0.text == "b" || $0.text == "B" })
    }
  }

  private static func links(
    _ holders: [Holder], _ random: inout RandomGenerator
  ) -> Condition {
    let value = random.number(12)
    guard !holders.isEmpty else { return numbers(&random) }
    let holder = holders[random.number(holders.count)]
    // Objects are known by their keys: a condition outlives the version that the objects are of.
    let id = holder.id
    switch random.number(14) {
    case 0:
      return Condition(
        format: "owner == %@", arguments: [holder], typed: { $0.owner == holder },
        plain: { $0.owner?.id == id })
    case 1:
      return Condition(
        format: "owner != %@", arguments: [holder], typed: { $0.owner != holder },
        plain: { $0.owner?.id != id })
    case 2:
      return Condition(
        format: "owner == nil", arguments: [], typed: { $0.owner == nil },
        plain: { $0.owner == nil })
    case 3:
      return Condition(
        format: "owner.age > %@", arguments: [value], typed: { $0.owner.age > value },
        plain: { $0.owner.map { $0.age > value } ?? false })
    case 4:
      return Condition(
        format: "owner.age == %@", arguments: [value], typed: { $0.owner.age == value },
        plain: { $0.owner.map { $0.age == value } ?? false })
    case 5:
      return Condition(
        format: "owner.age != %@", arguments: [value], typed: { $0.owner.age != value },
        plain: { $0.owner?.age != value })
    case 6:
      return Condition(
        format: "owner.rank == nil", arguments: [], typed: { $0.owner.rank == nil },
        plain: { $0.owner?.rank == nil })
    case 7:
      return Condition(
        format: "owner.boss.age < %@", arguments: [value], typed: { $0.owner.boss.age < value },
        plain: { $0.owner?.boss.map { $0.age < value } ?? false })
    case 8:
      return Condition(
        format: "owner.boss == %@", arguments: [holder], typed: { $0.owner.boss == holder },
        plain: { $0.owner?.boss?.id == id })
    case 9:
      return Condition(
        format: "ANY holders.age > %@", arguments: [value], typed: { $0.holders.age > value },
        plain: { $0.holders.contains { $0.age > value } })
    case 10:
      return Condition(
        format: "ANY holders == %@", arguments: [holder], typed: { $0.holders.contains(holder) },
        plain: { $0.holders.contains { $0.id == id } })
    case 11:
      return Condition(
        format: "holders.@count > 1", arguments: [], typed: { $0.holders.count > 1 },
        plain: { $0.holders.count > 1 })
    case 12:
      return Condition(
        format: "owner.items.@count > %@", arguments: [value],
        typed: { $0.owner.items.count > value },
        plain: { $0.owner.map { $0.items.count > value } ?? false })
    default:
      return Condition(
        format: "owner.name BEGINSWITH %@", arguments: ["a"],
        typed: { $0.owner.name.starts(with: "a") },
        plain: { $0.owner.map { $0.name.hasPrefix("a") } ?? false })
    }
  }
}
