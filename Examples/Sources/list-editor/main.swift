// A list that is edited on a terminal. It draws itself anew when something that it shows has
// changed: by a key, or by another process that writes to the same file.
//
//     list-editor FILE                   edits
//     list-editor FILE --add NAME        adds an item, as another process; and so on:
//     list-editor FILE --rename NAME TO
//     list-editor FILE --delete NAME
import Foundation
import RealmSwift

let usage = "usage: list-editor FILE [--add NAME | --rename NAME TO | --delete NAME]"

func stop(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}

guard CommandLine.arguments.count > 1 else {
  print(usage)
  exit(0)
}
let path = CommandLine.arguments[1]
Realm.Configuration.defaultConfiguration.fileURL = URL(fileURLWithPath: path)

/// The only group of the file, which is made when the file is.
func openGroup() -> ItemGroup {
  do {
    let realm = try Realm()
    return try realm.objects(ItemGroup.self).first
      ?? realm.write { realm.create(ItemGroup.self) }
  } catch {
    stop("\(path) cannot be edited: \(error.localizedDescription)")
  }
}
let group = openGroup()

@MainActor
func item(_ name: String) -> Item {
  guard let item = group.items.first(where: { $0.name == name }) else {
    stop("There is no item '\(name)' in \(path).")
  }
  return item
}

switch CommandLine.arguments.dropFirst(2).map({ $0 }) {
case []:
  guard isatty(STDIN_FILENO) != 0 else { stop("Keys are read from a terminal.\n\(usage)") }
  let screen = Screen(group: group)
  Terminal.run {
    screen.press($0)
  } draw: {
    screen.draw(in: $0)
  }
case let words where words.count == 2 && words[0] == "--add":
  group.bind(\.items).append(Item(name: words[1]))
case let words where words.count == 3 && words[0] == "--rename":
  item(words[1]).bind(\.name).wrappedValue = words[2]
case let words where words.count == 2 && words[0] == "--delete":
  @ObservedRealmObject var shown = item(words[1])
  $shown.delete()
default: stop(usage)
}
