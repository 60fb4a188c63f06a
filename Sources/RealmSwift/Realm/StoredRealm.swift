// A file opened with the classes that are stored in it, for tools that know none of them.
internal import Foundation
internal import ObjectStore
internal import Storage

extension Realm {
  /// Opens a file for reading, at its newest version, with the classes as they are stored.
  ///
  /// Its objects are dynamic ones. Linking objects are not known: only Swift classes declare them.
  /// The file may be in use, also by this process.
  /// - Parameter encryptionKey: the 64 bytes of an encrypted file's key.
  /// - Throws: `Realm.Error`.
  package static func opened(
    asStored path: String, encryptionKey: [UInt8]? = nil
  ) throws -> Realm {
    var configuration = Configuration(
      fileURL: URL(fileURLWithPath: path), readOnly: true, objectTypes: [])
    configuration.encryptionKey = encryptionKey.map { Data($0) }
    RootStructure.register()
    let opening = try RealmOpening(configuration)
    do throws(StorageError) {
      let store = try openedStore(&configuration)
      let snapshot = try store.pinNewest()
      let stored = try StoredSchema.load(snapshot.reader, root: snapshot.root)
      return Realm(
        ConfinedRealm(
          store: store, configuration: configuration, schema: opening.schema,
          classes: SchemaBindings(stored.tables.map { .dynamic($0.schema) }, stored),
          confinement: .current(), snapshot: snapshot))
    } catch {
      throw Realm.Error(error)
    }
  }

  /// One file has one way of use in a process, so the others are tried where it is open already.
  private static func openedStore(_ configuration: inout Configuration) throws(StorageError)
    -> Store
  {
    do throws(StorageError) {
      return try Store.open(configuration.storeOptions)
    } catch {
      guard case .alreadyOpen = error else { throw error }
    }
    configuration.readOnly = false
    do throws(StorageError) {
      return try Store.open(configuration.storeOptions)
    } catch {
      guard case .alreadyOpen = error else { throw error }
    }
    configuration.durability = .memory
    return try Store.open(configuration.storeOptions)
  }

  /// The names of the classes, in the order in which they are stored.
  package var storedClassNames: [String] { confined.bindings.map(\.schema.name) }
}
