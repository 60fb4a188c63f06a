// Classes that several tests store, and where their files go.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// The object of the benchmarks.
class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var payload: Data
}

/// No primary key; values to start with.
class Dog: Object {
  @Persisted var name = "Rex"
  @Persisted var age = 3
  @Persisted(indexed: true) var weight: Int?
}

/// Every type of this slice.
class Sample: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var optionalBool: Bool?
  @Persisted var optionalInt: Int?
  @Persisted var optionalInt8: Int8?
  @Persisted var optionalInt16: Int16?
  @Persisted var optionalInt32: Int32?
  @Persisted var optionalInt64: Int64?
  @Persisted var optionalFloat: Float?
  @Persisted var optionalDouble: Double?
  @Persisted var optionalString: String?
  @Persisted var optionalData: Data?
  @Persisted var optionalDate: Date?
}

/// A key that may be nil.
class Badge: Object {
  @Persisted(primaryKey: true) var code: String?
  @Persisted var level: Int
}

/// A numeric key that may be nil.
class Ticket: Object {
  @Persisted(primaryKey: true) var number: Int?
  @Persisted var title: String
}

/// Inherits properties and adds some that are not stored.
class Employee: Person {
  @Persisted var salary: Int
  var note = "not stored"
  lazy var later = [1, 2, 3]
}

/// Other names in the file.
class Renamed: Object {
  @Persisted var swiftName: Int
  @Persisted var plain: Int

  override class func propertiesMapping() -> [String: String] { ["swiftName": "stored_name"] }
  override class func _realmObjectName() -> String? { "StoredRenamed" }
}

enum Zoo {
  class Animal: Object {
    @Persisted var legs: Int
  }
}

/// A Realm of its own in memory.
func memoryConfiguration(_ types: [ObjectBase.Type] = [Person.self, Dog.self, Sample.self])
  -> Realm.Configuration
{
  Realm.Configuration(
    inMemoryIdentifier: "test-\(UUID().uuidString)", objectTypes: types)
}

/// A Realm of its own in memory.
func memoryRealm(_ types: [ObjectBase.Type] = [Person.self, Dog.self, Sample.self]) throws -> Realm
{
  try Realm(configuration: memoryConfiguration(types))
}

extension TemporaryFolder {
  /// A configuration of a file in the folder.
  func configuration(
    _ name: String = "test.realm",
    _ types: [ObjectBase.Type] = [Person.self, Dog.self, Sample.self]
  ) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: file(name)), objectTypes: types)
  }
}

/// Starts a thread that has to be joined.
func startThread(_ name: String = "other", _ body: @escaping @Sendable () -> Void)
  -> Platform.Thread
{
  Platform.Thread.start(name: name, body)
}

/// Runs a body on a thread with as little stack as foreign threads have at least, and waits for it.
func onSmallStack(_ body: @escaping @Sendable () -> Void) {
  Platform.Thread.start(name: "small", stackBytes: 512 << 10, body).joinInTime()
}

/// Runs a body on a thread of its own and waits for it.
func onThread(_ name: String = "other", _ body: @escaping @Sendable () -> Void) {
  startThread(name, body).joinInTime()
}

/// The code of the error that a body throws; nil when it throws none, or one of another type.
func errorCode(_ body: () throws -> Void) -> Realm.Error.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? Realm.Error)?.code
  }
}

/// Checks what a stopped process has printed.
func expectStop(
  _ result: ExitTest.Result?, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
) {
  let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  #expect(text.contains(message), sourceLocation: sourceLocation)
}

/// Carries a value that the compiler thinks confined to another thread, to prove that using it
/// there is caught, or that a frozen one may go there.
struct Carried<Value>: @unchecked Sendable {
  // @unchecked: that is what the tests are about.
  let value: Value
  init(_ value: Value) { self.value = value }
}
