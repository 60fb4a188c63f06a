// A process that changes the first group of a file, while a test that has the file open too looks
// on.
//
//   EditingProcess FILE
//
// It reads one change a line from its input, makes each in a transaction of its own, and prints a
// line once that is acknowledged. It ends with its input.
import Foundation
import RealmSwift

let configuration = Realm.Configuration(
  fileURL: URL(fileURLWithPath: CommandLine.arguments[1]), objectTypes: editedClasses)
let realm = try Realm(configuration: configuration)
while let line = readLine() {
  let edit = try Edit(line: line)
  try realm.write { edit.apply(to: realm.objects(ItemGroup.self)[0]) }
  print("done")
  fflush(nil)
}
