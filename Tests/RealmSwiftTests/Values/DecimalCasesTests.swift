// Decimal128 against Python's decimal module: scripts/decimal-cases has computed some thousand
// results.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct DecimalCasesTests {
  /// One line of decimal-cases.csv.
  private struct Case {
    let operation: String
    let left: String
    let right: String
    let expected: String
  }

  private func cases() throws -> [Case] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("decimal-cases.csv")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").map { line in
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      return Case(
        operation: fields[0], left: fields[1], right: fields[2], expected: fields[3])
    }
  }

  @Test func everyOperation() throws {
    var counts: [String: Int] = [:]
    for item in try cases() where item.operation != "read" && item.operation != "double" {
      let left = try Decimal128(string: item.left)
      let right = try Decimal128(string: item.right)
      let result: String
      switch item.operation {
      case "add": result = (left + right).stringValue
      case "subtract": result = (left - right).stringValue
      case "multiply": result = (left * right).stringValue
      case "divide": result = (left / right).stringValue
      case "compare": result = order(left, right)
      default: result = "unknown operation"
      }
      #expect(result == item.expected, "\(item.operation) \(item.left) \(item.right)")
      counts[item.operation, default: 0] += 1
    }
    #expect(counts.count == 5 && counts.values.allSatisfy { $0 > 1000 }, "\(counts)")
  }

  private func order(_ left: Decimal128, _ right: Decimal128) -> String {
    let facts = [left < right, left == right, left > right, left <= right, left >= right]
    switch facts {
    case [true, false, false, true, false]: return "-1"
    case [false, true, false, true, true]:
      return left.hashValue == right.hashValue ? "0" : "equal, but other hash values"
    case [false, false, true, false, true]: return "1"
    case [false, false, false, false, false]: return "none"
    default: return "contradiction: \(facts)"
    }
  }

  @Test func readingAndEncoding() throws {
    var count = 0
    for item in try cases() where item.operation == "read" {
      count += 1
      if item.expected == "error" {
        #expect(throws: Realm.Error.self, "\(item.left)") { try Decimal128(string: item.left) }
        continue
      }
      let number = try Decimal128(string: item.left)
      #expect(number.stringValue == item.expected, "\(item.left)")
      let bits = number._withBytes { bytes in
        bytes.reversed().map { String(format: "%02x", $0) }.joined()
      }
      #expect(bits == item.right, "\(item.left)")
      let copy = number._withBytes { Decimal128(_bytes: $0) }
      #expect(copy.stringValue == item.expected, "\(item.left)")
    }
    #expect(count > 250)
  }

  @Test func nearestDouble() throws {
    var count = 0
    for item in try cases() where item.operation == "double" {
      count += 1
      let number = try Decimal128(string: item.left)
      #expect(number.doubleValue == Double(item.expected), "\(item.left)")
    }
    #expect(count == 200)
  }
}
