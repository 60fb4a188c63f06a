// The random model of RandomModelTests on a simulated disk: the power goes at random operations,
// and what then opens is the model of one version, not older than the newest acknowledged one, in
// every cell, collection, link and index. REALM_MODEL_CRASHES is the number of histories (10
// without).
import Foundation
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ModelCrashTests {
  private struct Entry {
    let version: Version
    let model: ObjectModel
    /// Operations of the disk when the commit had returned.
    let acknowledged: Int
  }

  private static let path = "/data/model.realm"
  private static let histories = Int(
    ProcessInfo.processInfo.environment["REALM_MODEL_CRASHES"] ?? "10")!

  @Test func whatACrashLeavesIsOneOfTheModels() async {
    await withSeeds(Self.histories, first: 71) { random in
      let disk = SimulatedDisk()
      let history = try Self.makeHistory(disk, &random)
      let first = history[0].acknowledged
      let count = disk.operationCount
      for _ in 0..<40 {
        let cut = Int.random(in: first...count, using: &random)
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        let store = try Store.open(StoreOptions(path: Self.path, fileSystem: image))
        try Self.check(store, history, cut: cut, "cut after \(cut) of \(count), \(kind)")
      }
    }
  }

  /// 30 commits of random changes, some with changes of the schema, and now and then a new opening.
  private static func makeHistory(
    _ disk: SimulatedDisk, _ random: inout RandomGenerator
  ) throws -> [Entry] {
    let options = StoreOptions(path: path, fileSystem: disk)
    var opened: Store? = try Store.open(options)
    var model = ObjectModel()
    let (schemas, embedded) = RandomModelTests.schemas(&random)
    var history = [
      Entry(
        version: try #require(opened).pinNewest().version, model: model,
        acknowledged: disk.operationCount)
    ]
    for step in 0..<30 {
      if step == 17 {
        opened = nil
        opened = try Store.open(options)
      }
      let transaction = try #require(opened).beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      var changes = RandomChanges(group: group, model: model, embedded: embedded, random: random)
      if group.schema.tables.isEmpty { changes.createTables(schemas) }
      for _ in 0..<Int.random(in: 1...40, using: &random) { changes.change() }
      if step % 5 == 4 { changes.changeSchema() }
      random = changes.random
      transaction.root = group.finish()
      let version = try transaction.commit().version
      model = changes.model
      if version == history.last?.version { continue }
      history.append(Entry(version: version, model: model, acknowledged: disk.operationCount))
    }
    return history
  }

  private static func check(
    _ store: Store, _ history: [Entry], cut: Int, _ context: String
  ) throws {
    #expect(try store.checkInvariants().findings == [], "\(context)")
    let snapshot = try store.pinNewest()
    let acknowledged = try #require(history.last { $0.acknowledged <= cut })
    #expect(snapshot.version >= acknowledged.version, "\(context): an acknowledged commit is lost")
    guard let entry = history.last(where: { $0.version <= snapshot.version }) else {
      Issue.record("\(context): version \(snapshot.version) was never committed")
      return
    }
    if snapshot.root.isNone {
      #expect(entry.model.tables.isEmpty, "\(context)")
    } else {
      ModelComparison(snapshot, entry.model).run()
    }
  }
}
