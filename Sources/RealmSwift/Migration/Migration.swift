/// Brings the objects of a file to a newer form of their classes.
///
/// Gets the migration and the schema version of the file.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) ->
  Void

/// A migration.
public final class Migration {
}
