// Screens as one writes them with SwiftUI, without its import. The same in Swift 6 mode.
import Foundation
import RealmSwift
import Testing

struct EmailRow {
  @ObservedRealmObject var email: Email

  @MainActor var text: String { email.subject }
  @MainActor func markAsRead() { $email.read.wrappedValue = true }
}

struct TextInput {
  @Binding var text: String

  func type(_ more: String) { text += more }
}

@MainActor
final class DogScreen {
  @ObservedResults(Dog.self, sortDescriptor: SortDescriptor(keyPath: "name")) var dogs
  @ObservedRealmObject var person: Person
  @StateRealmObject var draft = Dog()

  init(person: Person) { _person = ObservedRealmObject(wrappedValue: person) }

  func save() {
    TextInput(text: $draft.name).type("Rex")
    $person.dogs.append(draft)
  }

  var delete: (IndexSet) -> Void { $dogs.remove }
}

@MainActor
@Suite(.serialized) struct QuickWriteProgramTests {
  @Test func screensWrite() throws {
    let folder = FileManager.default.temporaryDirectory
    let configuration = Realm.Configuration(
      fileURL: folder.appendingPathComponent("quick-\(UUID().uuidString).realm"),
      objectTypes: [Person.self, Dog.self, Email.self])
    defer { _ = try? Realm.deleteFiles(for: configuration) }
    let realm = try Realm(configuration: configuration)
    let person = Person(name: "Ann")
    let email = Email()
    try realm.write {
      realm.add(person)
      realm.add(email)
    }
    let row = EmailRow(email: email)
    row.markAsRead()
    #expect(email.read && row.text.isEmpty)
    let screen = DogScreen(person: person)
    screen.save()
    #expect(person.dogs.map(\.name) == ["Rex"] && screen.person.dogs.count == 1)
  }
}
