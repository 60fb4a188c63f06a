// A Realm beside plain Swift values: random transactions over classes with every kind of property,
// whose forms change on the way; reopened, rolled back, frozen. REALM_EVOLVING_TRANSACTIONS makes
// it long.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct EvolvingModelTests {
  /// A frozen Realm, and what it has to hold for ever.
  private struct Kept {
    let realm: Realm
    let model: EvolvingModel
    let form: EvolvingForm
  }

  private struct RolledBack: Error {}

  @Test func everyVersionEqualsItsModel() async {
    let transactions =
      ProcessInfo.processInfo.environment["REALM_EVOLVING_TRANSACTIONS"].flatMap { Int($0) } ?? 60
    await withSeeds(3) { random in
      try EvolvingModelTests.run(transactions, &random)
    }
  }

  private static func run(_ transactions: Int, _ random: inout RandomGenerator) throws {
    let folder = TemporaryFolder()
    var model = EvolvingModel()
    var version = 0
    var kept: [Kept] = []
    var realm: Realm? = try open(folder, version, nil)
    for step in 0..<transactions {
      let form = EvolvingForm.all[version % EvolvingForm.all.count]
      try transact(realm!, &model, &random)
      if step % 10 == 0 { model.check(realm!, form) }
      if step % 15 == 0 { model.checkQueries(realm!, &random) }
      if Int.random(in: 0..<25, using: &random) == 0 {
        kept.append(Kept(realm: realm!.freeze(), model: model, form: form))
        if kept.count > 3 {
          let old = kept.remove(at: Int.random(in: 0..<3, using: &random))
          old.model.check(old.realm, old.form)
        }
      }
      switch Int.random(in: 0..<40, using: &random) {
      case 0, 1:
        realm = nil
        realm = try open(folder, version, nil)
        model.check(realm!, form)
      case 2, 3:
        let schema = realm!.schema
        realm = nil
        version += 1
        let next = EvolvingForm.all[version % EvolvingForm.all.count]
        realm = try open(folder, version, next)
        model.migrate(from: schema, to: realm!.schema, next)
        model.check(realm!, next)
        #expect(try realm!.checkInvariants().findings == [])
      default: break
      }
    }
    for old in kept { old.model.check(old.realm, old.form) }
    #expect(try realm!.checkInvariants().findings == [])
  }

  private static func transact(
    _ realm: Realm, _ model: inout EvolvingModel, _ random: inout RandomGenerator
  ) throws {
    var changed = model
    let isKept = Int.random(in: 0..<8, using: &random) > 0
    do {
      try realm.write {
        for _ in 0...Int.random(in: 0..<6, using: &random) { changed.change(realm, &random) }
        if !isKept { throw RolledBack() }
      }
      model = changed
    } catch is RolledBack {}
  }

  /// Opens the file with a form of the classes; `next`: the form is new to it.
  private static func open(
    _ folder: TemporaryFolder, _ version: Int, _ next: EvolvingForm?
  ) throws -> Realm {
    let form = EvolvingForm.all[version % EvolvingForm.all.count]
    var configuration = folder.configuration("evolving.realm", form.types)
    configuration.schemaVersion = UInt64(version)
    configuration.migrationBlock = { migration, _ in
      guard let next else { return }
      for (className, names) in next.renames {
        for (new, old) in names { migration.renameProperty(onType: className, from: old, to: new) }
      }
      migration.enumerateObjects(ofType: "Node") { old, new in
        for (name, convert) in next.conversions {
          let content = convert(EvolvingContent(old![name]))
          if case .text(let text) = content { new![name] = text }
          if case .int(let int) = content { new![name] = int }
        }
      }
    }
    return try Realm(configuration: configuration)
  }
}
