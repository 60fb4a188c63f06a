// A list that is edited on a terminal. It draws itself anew when something that it shows has
// changed: by a key, or by another process that writes to the same file.
//
//     list-editor FILE                   edits
//     list-editor FILE --add NAME        adds an item, as another process; and so on:
//     list-editor FILE --rename NAME TO
//     list-editor FILE --delete NAME
import Dispatch
import Foundation
import RealmSwift

guard CommandLine.arguments.count > 1 else {
  print("usage: list-editor FILE [--add NAME | --rename NAME TO | --delete NAME]")
  exit(0)
}
Realm.Configuration.defaultConfiguration.fileURL = URL(fileURLWithPath: CommandLine.arguments[1])
let realm = try Realm()
let group =
  try realm.objects(ItemGroup.self).first ?? realm.write { realm.create(ItemGroup.self) }

let words = CommandLine.arguments.dropFirst(2).map { $0 }
if words.count > 1 {
  let item = group.items.first { $0.name == words[1] }
  switch words[0] {
  case "--rename" where words.count > 2: item?.bind(\.name).wrappedValue = words[2]
  case "--delete": if let item { try realm.write { realm.delete(item) } }
  default: group.bind(\.items).append(Item(name: words[1]))
  }
  exit(0)
}

let screen = Screen(group: group)

// Keys come one by one, and are not echoed.
var terminal = termios()
tcgetattr(0, &terminal)
let original = terminal
terminal.c_lflag &= ~tcflag_t(ICANON | ECHO)
tcsetattr(0, TCSANOW, &terminal)

let keys = DispatchSource.makeReadSource(fileDescriptor: 0, queue: .main)
keys.setEventHandler {
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = read(0, &bytes, bytes.count)
  let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  let goesOn = count > 0 && MainActor.assumeIsolated { text.allSatisfy { screen.press($0) } }
  if goesOn { return MainActor.assumeIsolated { screen.draw() } }
  var original = original
  tcsetattr(0, TCSANOW, &original)
  exit(0)
}
keys.resume()
screen.draw()
dispatchMain()
