// The module `Realm`, for sources that import it beside RealmSwift: in the vendor's package it is
// the Objective-C interface. Here are the names of it that sources in Swift use and that have a
// meaning without an Objective-C runtime; all of them are other names of what RealmSwift has.
internal import Foundation
public import RealmSwift

/// An error of opening, writing or copying a Realm: `Realm.Error`.
public typealias RLMError = RealmSwift.Realm.Error

/// The domain of these errors as `NSError`.
public let RLMErrorDomain = RealmSwift.Realm.Error.errorDomain

/// The superclass of everything that a Realm can hold.
public typealias RLMObjectBase = ObjectBase

/// What keeps an observer alive.
public typealias RLMNotificationToken = NotificationToken

/// What cancels an opening with a callback.
public typealias RLMAsyncOpenTask = RealmSwift.Realm.AsyncOpenTask

/// The number of an asynchronous write.
public typealias RLMAsyncTransactionId = RealmSwift.AsyncTransactionId

/// The type of a property's values.
public typealias RLMPropertyType = PropertyType

/// Identifies an object.
public typealias RLMObjectId = ObjectId

/// A decimal number.
public typealias RLMDecimal128 = Decimal128

/// Receives what the module has to say.
public typealias RLMLogger = Logger

/// How much a logger lets through.
public typealias RLMLogLevel = LogLevel

/// A change of a file from one form of its classes to another.
public typealias RLMMigration = Migration

/// Brings the objects of a file to a newer form of their classes.
public typealias RLMMigrationBlock = MigrationBlock

/// Asked whether to compact a file; gets its bytes and the used ones among them.
public typealias RLMShouldCompactOnLaunchBlock =
  @Sendable (_ totalBytes: Int, _ bytesUsed: Int) -> Bool

/// The path of a file beside the one that a Realm has unless its configuration says otherwise.
///
/// - Parameter fileName: the file's name in that folder.
public func RLMRealmPathForFile(_ fileName: String) -> String {
  let folder =
    RealmSwift.Realm.Configuration.defaultFileURL?.deletingLastPathComponent()
    ?? URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
  return folder.appendingPathComponent(fileName).path
}
