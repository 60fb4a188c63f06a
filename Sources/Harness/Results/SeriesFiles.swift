// samples.csv and growth.csv while a run goes on: each interval's rows are in the files when the
// next one begins, so that a run that is killed leaves them behind, and a long one needs no memory
// for them.
internal import Foundation

/// Appends to the two files of a results folder; used on the coordinator's thread.
package final class SeriesFiles {
  private let tables: ResultTables
  private let samples: FileHandle
  private let growth: FileHandle
  /// The first failure; nothing is written after it.
  package private(set) var failure: (any Error)?

  /// Makes both files with their headers.
  package init(_ folder: ResultsFolder, _ tables: ResultTables) throws {
    self.tables = tables
    samples = try Self.begin("samples.csv", ResultSchema.sampleColumns, folder)
    growth = try Self.begin("growth.csv", ResultSchema.growthColumns, folder)
  }

  private static func begin(
    _ name: String, _ columns: [String], _ folder: ResultsFolder
  ) throws -> FileHandle {
    try folder.write(CSVTable(columns: columns).text, to: name)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/" + name))
    try file.seekToEnd()
    return file
  }

  /// Adds the rows of one interval; of no interval, samples alone.
  package func append(_ samples: [Sample], _ point: GrowthPoint?) {
    guard failure == nil else { return }
    do {
      let rows = samples.map { CSVTable.line(tables.sampleRow($0)) }.joined()
      try self.samples.write(contentsOf: Data(rows.utf8))
      guard let point else { return }
      try growth.write(contentsOf: Data(CSVTable.line(tables.growthRow(point)).utf8))
    } catch {
      failure = error
    }
  }

  /// Closes the files; throws the first failure of all.
  package func end() throws {
    try samples.close()
    try growth.close()
    if let failure { throw failure }
  }
}
