// swift-format-ignore-file
// Around the code of docs/quick-writes.md, which takes the place of the lines with numbers.
import Foundation
// code 1
// code 2
class Dog: Object, ObjectKeyIdentifiable {
  @Persisted var name: String
}

class Person: Object, ObjectKeyIdentifiable {
  @Persisted var dogs: List<Dog>
  @Persisted var prices: Map<String, Int>
}

class Employee: Object {
  @Persisted var name: String
  @Persisted var dogs: List<Dog>
}

class Company: Object {
  @Persisted var employees: List<Employee>
  @Persisted var dogs: List<Dog>
}

@MainActor
func writeExplicitly(_ shownCompany: Company) throws {
// code 3
}

// code 4

@MainActor
func writeSilently(_ realm: Realm, _ liveList: List<Dog>) throws {
  @ObservedRealmObject var items = liveList
// code 5
}
