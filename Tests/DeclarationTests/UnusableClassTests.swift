// A class of the program that cannot be stored is an error of the Realms that would hold it. It
// names the class and what to change; no other Realm minds.
import Foundation
import RealmSwift
import TestSupport
import Testing

/// A class, what it is listed with, and the words of the error.
struct Refusal: CustomTestStringConvertible, Sendable {
  let types: [ObjectBase.Type]
  let words: [String]
  var testDescription: String { "\(types[0])" }

  init(_ types: ObjectBase.Type..., words: String...) {
    self.types = types
    self.words = words
  }

  static let all = [
    Refusal(
      RequiredLink.self, Goal.self,
      words: "DeclarationTests.RequiredLink", "Object property 'goal' must be marked as optional."),
    Refusal(
      OptionalList.self, Goal.self,
      words: "DeclarationTests.OptionalList",
      "List<Goal> property 'goals' must not be marked as optional."),
    Refusal(
      OptionalSet.self, Goal.self,
      words: "DeclarationTests.OptionalSet",
      "MutableSet<Goal> property 'goals' must not be marked as optional."),
    Refusal(
      RequiredMap.self, Goal.self,
      words: "DeclarationTests.RequiredMap",
      "Map<String, Goal> property 'goals' must be marked as optional."),
    Refusal(
      TwoKeys.self,
      words: "DeclarationTests.TwoKeys",
      "Properties 'first' and 'second' are both marked as the primary key of 'TwoKeys'"),
    Refusal(
      MissingKey.self,
      words: "DeclarationTests.MissingKey",
      "Primary key property 'key' does not exist on object 'MissingKey'"),
    Refusal(
      DoubleKey.self,
      words: "Property 'DoubleKey.id' of type 'double' cannot be made the primary key."),
    Refusal(DataIndex.self, words: "Property 'DataIndex.data' of type 'data' cannot be indexed."),
    Refusal(
      NoOrigin.self, Goal.self,
      words: "DeclarationTests.NoOrigin",
      "LinkingObjects<Goal> property 'goals' must set the origin property name with "
        + "@Persisted(originProperty:"),
    Refusal(
      WrongOrigin.self, Goal.self,
      words: "Property 'Goal.nothing' declared as origin of linking objects property "
        + "'WrongOrigin.goals' does not exist"),
    Refusal(
      SameColumn.self,
      words: "Properties 'first' and 'second' of 'SameColumn' are both stored as 'c'. Change "
        + "`propertiesMapping()`."),
    Refusal(
      NamelessColumn.self,
      words: "Property 'first' of 'NamelessColumn' has an empty stored name. Change "
        + "`propertiesMapping()`."),
    Refusal(
      Nameless.self,
      words: "DeclarationTests.Nameless", "Its stored name is empty. Change `_realmObjectName()`."),
    Refusal(
      CaselessEnum.self,
      words: "Property 'CaselessEnum.choice' is of the enum 'Nothing', which has no cases."),
    Refusal(
      LinksToGeneric.self,
      words: "Property 'LinksToGeneric.goal' of type 'object' has unknown object type"),
    Refusal(
      HidingSubclass.self,
      words: "Properties 'value' and 'value' of 'HidingSubclass' are both stored as 'value'."),
    Refusal(
      FirstHouse.Twin.self, SecondHouse.Twin.self,
      words: "Classes 'DeclarationTests.FirstHouse.Twin' and 'DeclarationTests.SecondHouse.Twin' "
        + "are both stored as 'Twin'. Pick one by `objectTypes`, or rename one by "
        + "`_realmObjectName()`."),
    Refusal(
      OwnerOfKeyed.self, KeyedInside.self,
      words: "Embedded object type 'KeyedInside' cannot have a primary key."),
  ]
}

@Suite(.ownThreads) struct UnusableClassTests {
  @Test(arguments: Refusal.all) func listedClassesAreRefused(_ refusal: Refusal) throws {
    let error = #expect(throws: Realm.Error.self) { _ = try memoryRealm(refusal.types) }
    #expect(error?.code == .fail)
    for words in refusal.words {
      #expect(error?.localizedDescription.contains(words) == true, "\(words)")
    }
    // The same answer again, and others go on.
    #expect(throws: Realm.Error.self) { _ = try memoryRealm(refusal.types) }
    let realm = try memoryRealm([Goal.self])
    try realm.write { realm.add(Goal()) }
    #expect(realm.objects(Goal.self).count == 1)
  }

  @Test func allFormsOfOpeningThrow() async throws {
    let configuration = memoryConfiguration([TwoKeys.self])
    let words = "are both marked as the primary key of 'TwoKeys'"
    let opened = await #expect(throws: Realm.Error.self) {
      _ = try await openOnMainActor(configuration)
    }
    #expect(opened?.localizedDescription.contains(words) == true)
    let text = await withCheckedContinuation { continuation in
      Realm.asyncOpen(configuration: configuration) { result in
        if case .failure(let error) = result {
          continuation.resume(returning: error.localizedDescription)
        } else {
          continuation.resume(returning: "opened")
        }
      }
    }
    #expect(text.contains(words))
    let migrated = #expect(throws: Realm.Error.self) {
      try Realm.performMigration(for: configuration)
    }
    #expect(migrated?.localizedDescription.contains(words) == true)
  }

  /// Every unusable class is in the default list: one error names them all, and Realms with lists
  /// of their own work before and after it.
  @Test func theDefaultListNamesAll() async {
    await #expect(processExitsWith: .success) {
      DefaultList.names = Set(
        Refusal.all.flatMap { $0.types.map { String(describing: $0) } })
      let realm = try memoryRealm([Goal.self])
      var text = ""
      do {
        _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "all"))
      } catch let error as Realm.Error {
        text = error.localizedDescription
      }
      for refusal in Refusal.all {
        for words in refusal.words where !text.contains(words) {
          fatalError("'\(words)' is missing in: \(text)")
        }
      }
      precondition(text.contains("`objectTypes`"), text)
      precondition(text.contains("`shouldIncludeInDefaultSchema()`"), text)
      try realm.write { realm.add(Goal()) }
      let one = try memoryRealm([Goal.self, FirstHouse.Twin.self])
      precondition(one.isEmpty)
    }
  }

  /// Who uses an object of such a class without a Realm is told the same.
  @Test func unmanagedUseStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = TwoKeys().objectSchema
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Class 'DeclarationTests.TwoKeys' cannot be stored: "))
    #expect(text.contains("are both marked as the primary key of 'TwoKeys'"))
  }
}

@MainActor
private func openOnMainActor(_ configuration: Realm.Configuration) async throws {
  _ = try await Realm.open(configuration: configuration)
}

func memoryConfiguration(_ types: [ObjectBase.Type]) -> Realm.Configuration {
  Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: types)
}

func memoryRealm(_ types: [ObjectBase.Type]) throws -> Realm {
  try Realm(configuration: memoryConfiguration(types))
}
