// The seam of the object model's rows: links, lists, maps, sets, keys of text, changes of the
// schema. As in Engines/Engine.swift, each call is a loop of its own, so that the seam costs
// nothing.
import Foundation

/// Sizes of the model's content.
struct ModelSize: Sendable {
  /// Children in all; every tenth as many owners.
  let children: Int
  /// Elements of the long list, keys of the map, elements of the set, objects with a key of text.
  let elements: Int

  var owners: Int { children / Self.childrenOfOwner }
  static let childrenOfOwner = 10
}

/// One engine with its file of the model.
protocol ModelDriver: AnyObject {
  /// Inserts the owners, each with its children in a list, in one transaction.
  func insertOwners() throws
  /// Finds the objects that the next calls are about, and keeps them in the engine's own form.
  func hold(children: [Int], owners: [Int]) throws
  /// Follows the link of each held child to its owner; the sum of the owners' ages.
  func followLinks() throws -> Int
  /// Goes through the children that link to each held owner; the sum of their values.
  func readBacklinks() throws -> Int
  /// Goes through the list of each held owner; the sum of the children's values.
  func readLists() throws -> Int
  /// Lets go of them.
  func release()

  /// Appends numbers to the long list in one call.
  func appendBulk(_ values: [Int]) throws
  /// Appends them one by one, in one transaction.
  func appendEach(_ values: [Int]) throws
  /// How many elements can be put into the middle in a reasonable time.
  var middleInserts: Int { get }
  /// Inserts in the middle, in one transaction.
  func insertInMiddle(_ values: [Int]) throws
  /// Removes as many from there, in one transaction.
  func removeFromMiddle(_ count: Int) throws
  /// The sum of the long list, in order.
  func sumInOrder() throws -> Int
  /// The sum of what is at positions of the long list.
  func sumAt(_ positions: [Int]) throws -> Int

  /// Puts entries "key-n" to n in the map, in one transaction.
  func insertMap(_ count: Int) throws
  /// The sum of the values of keys.
  func lookUpMap(_ keys: [String]) throws -> Int
  /// Puts numbers in the set, in one transaction.
  func insertSet(_ values: [Int]) throws
  /// How many of the numbers the set has.
  func countInSet(_ values: [Int]) throws -> Int

  /// Inserts objects whose key is a text, in one transaction.
  func insertTextKeys(_ keys: [String]) throws
  /// The sum of the values of the objects of these keys.
  func lookUpTextKeys(_ keys: [String]) throws -> Int
  /// Inserts objects whose key is a UUID, in one transaction.
  func insertIdentifiers(_ keys: [UUID]) throws
  /// The sum of the values of the objects of these keys.
  func lookUpIdentifiers(_ keys: [UUID]) throws -> Int

  /// Deletes children by key, in one transaction.
  func deleteChildren(_ keys: [Int]) throws
  /// Deletes all children, in one transaction.
  func deleteAllChildren() throws
  func childCount() throws -> Int
  /// Writes a copy of the file without free space.
  func writeCopy(to path: String) throws
}

/// What rows of the model measure on: an engine's file, filled.
enum ModelContent {
  static func mapKey(_ number: Int) -> String { "key-\(number)" }
  static func textKey(_ number: Int) -> String { "object-\(mixed(UInt64(number)))" }
  static func identifier(_ number: Int) -> UUID {
    let (first, second) = (mixed(UInt64(number)), mixed(UInt64(number) ^ 0x1d))
    return withUnsafeBytes(of: (first, second)) { $0.load(as: UUID.self) }
  }
  static func value(_ number: Int) -> Int { Int(mixed(UInt64(number) ^ 0x5e7) % 1_000_000) }
  static func age(_ owner: Int) -> Int { owner % 100 }
}
