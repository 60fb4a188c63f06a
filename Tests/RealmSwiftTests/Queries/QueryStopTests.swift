// What queries stop with: conditions that cannot be read or have no meaning for a class.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct QueryStopTests {
  @Test func formatsThatCannotBeRead() async {
    let noComparison = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age 3") }
    expectStop(
      noComparison,
      "Unable to parse the format string \"age 3\": found '3' at position 4, expected a comparison")
    let tooFew = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age == %@ AND name == %@", 1) }
    expectStop(tooFew, "1 arguments for 2 placeholders")
    let apart = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let ages: [Any] = [1, 2, 3]
      _ = try memoryRealm().objects(Person.self).filter("age IN %@", ages)
    }
    expectStop(apart, "there are 3 arguments for 1 placeholders: Swift takes an array of")
    let open = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("name == 'x") }
    expectStop(open, "a text has no closing '")
    let bracket = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("(age == 1") }
    expectStop(bracket, "found the end at position 9, expected ')'")
    let matches = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("name MATCHES 'x.*'") }
    expectStop(matches, "MATCHES is not supported")
  }

  @Test func theLastPositionThatThereIsIsOutOfBounds() async {
    let last = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try memoryRealm()
      try realm.write { realm.create(Dog.self) }
      _ = realm.objects(Dog.self).filter("age >= 0")[.max]
    }
    expectStop(last, "is out of bounds (must be less than 1).")
  }

  @Test func positionsAndRangesWithoutAMeaning() async {
    for format in ["age[-1] == 1", "friends[-2].age == 1"] {
      let managed = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [format = format as String] in _ = try memoryRealm().objects(Dog.self).filter(format) }
      expectStop(managed, "Cannot pass a negative value for 'index'.")
      let plain = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [format = format as String] in _ = NSPredicate(format: format).evaluate(with: Dog()) }
      expectStop(plain, "Cannot pass a negative value for 'index'.")
    }
    let range = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age IN %@", 0..<Int.max) }
    expectStop(range, "IN takes at most 16777216 values of a range")
    let typed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).where { $0.age.in(Int.min...Int.max) } }
    expectStop(typed, "IN takes at most 16777216 values of a range")
    let endless = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age IN %@", 18...) }
    expectStop(endless, "IN takes at most 16777216 values of a range")
    let typedEndless = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).where { $0.age.in(18...) } }
    expectStop(typedEndless, "IN takes at most 16777216 values of a range")
    let halfOpen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age BETWEEN %@", 5..<7) }
    expectStop(halfOpen, "BETWEEN needs two values in their order, or a closed range")
  }

  @Test func bracesAndNamesInTheWrongPlace() async {
    let formats = [
      ("age == {}", "several values in braces can only stand behind IN and BETWEEN"),
      ("age > {3, 4}", "several values in braces can only stand behind IN and BETWEEN"),
      ("name CONTAINS {'a', 'b'}", "several values in braces can only stand behind IN"),
      ("name LIKE %@ OR name LIKE {%@}", "several values in braces can only stand behind IN"),
      ("{'a', 'b'} IN name", "several values in braces cannot stand in front of a comparison"),
      ("# == 1", "a name is missing behind '#'"), ("$ == 1", "a name is missing behind '$'"),
      ("(age == 1) == 2", "expected ')'"),
    ]
    for (format, words) in formats {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [format = format as String] in
        _ = try memoryRealm().objects(Dog.self).filter(format, "a", "b")
      }
      expectStop(result, words)
    }
  }

  @Test func mapsThatAreNotThere() async {
    let formats = [
      ("pets.name['a'] == 'x'", "only maps have values for keys."),
      ("ANY pets.name.@allKeys == 'a'", "only maps have keys."),
      ("id.@allValues == 1", "only maps have values."),
    ]
    for (format, words) in formats {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [format = format as String] in
        _ = try memoryRealm([Shelf.self, Pet.self, Keeper.self]).objects(Shelf.self).filter(format)
      }
      expectStop(result, words)
    }
  }

  @Test func unknownProperties() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("wings == 2") }
    expectStop(result, "Property 'wings' not found in object of type 'Dog'")
    let sort = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).sorted(byKeyPath: "wings") }
    expectStop(sort, "Cannot sort on key path 'wings': property 'Dog.wings' does not exist.")
    let distinct = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).distinct(by: ["wings"]) }
    expectStop(
      distinct, "Cannot distinct on key path 'wings': property 'Dog.wings' does not exist.")
    let sum = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let sum: Int = try memoryRealm().objects(Dog.self).sum(ofProperty: "wings")
      print(sum)
    }
    expectStop(sum, "Property 'wings' not found in object of type 'Dog'")
    let empty = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let keepers = try memoryRealm([Keeper.self, Pet.self]).objects(Keeper.self)
      let sum: Int = keepers.sum(ofProperty: "favourite..age")
      print(sum)
    }
    expectStop(empty, "Property '' not found in object of type 'Pet'")
  }

  @Test func typesThatDoNotFit() async {
    let value = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age == 'x'") }
    expectStop(
      value,
      "Expected object of type int for property 'age' on object of type 'Dog', but received: x")
    let text = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age CONTAINS 'x'") }
    expectStop(text, "Operator 'CONTAINS' not supported for type 'int'")
    let columns = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm().objects(Dog.self).filter("age == name") }
    expectStop(columns, "Property type mismatch between 'age' (int) and 'name' (string).")
    let sum = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let sum: Int = try memoryRealm().objects(Dog.self).sum(ofProperty: "name")
      print(sum)
    }
    expectStop(sum, "Cannot use '@sum' on property 'Dog.name' of type 'string'.")
  }

  @Test func pathsOfCollections() async {
    let noQuantifier = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm([Keeper.self, Pet.self]).objects(Keeper.self).filter("pets.age == 1")
    }
    expectStop(
      noQuantifier, "Key paths that include a collection property must use aggregate operations")
    let noCollection = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm([Keeper.self, Pet.self]).objects(Pet.self).where { $0.age.avg > 1 }
    }
    expectStop(
      noCollection,
      "Invalid keypath 'age.@avg': Property 'Pet.age' is not a link or collection and can only "
        + "appear at the end of a keypath.")
    let two = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let query = Query<Keeper>._constructForTesting()
      _ = query.pets.age == query.pets.id
    }
    expectStop(two, "Comparing two collection columns is not permitted.")
    let subquery = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = (Query<Keeper>._constructForTesting().name == "x").count }
    expectStop(subquery, "Subqueries must contain a keypath starting with a collection.")
  }

  @Test func unmanagedCollectionsAndClosures() async {
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Keeper().pets.where { $0.age > 1 } }
    expectStop(unmanaged, "This method may only be called on managed collections.")
    let closure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).filter(NSPredicate { _, _ in true })
    }
    expectStop(closure, "Predicates made of closures cannot be used")
  }
}
