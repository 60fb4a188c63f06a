// Alters blocks of a real file, puts every checksum right, and does with it what a client does,
// each time in a process of its own. A file may give an error, the documented stop for damage, or
// pass; a signal, another stop, a time-out or memory without need is a failure, which is printed
// with its seed.
//
//   SealedAttack FOLDER FIRST-SEED COUNT [encrypted] [journal | nested] [long] [only]
//
// With `journal` the space journal and the commit record are altered, else what they lead to. With
// `nested` blocks are put into others. With `long` the file is written to four times, with all of
// it read after each.
//
// With `only` the attack of the first seed runs in this process, for a debugger.
import Glibc

let arguments = CommandLine.arguments
guard arguments.count >= 4, let first = UInt64(arguments[2]), let count = UInt64(arguments[3])
else {
  print("usage: SealedAttack FOLDER FIRST-SEED COUNT [encrypted] [journal | nested] [long] [only]")
  exit(64)
}
// A stop prints a line, no picture of the stack; the runtime looks at this before `main`.
if getenv("SWIFT_BACKTRACE") == nil {
  setenv("SWIFT_BACKTRACE", "enable=no", 1)
  execv("/proc/self/exe", CommandLine.unsafeArgv)
}
let attack = try Attack(
  folder: arguments[1], key: arguments.contains("encrypted") ? (0..<64).map { $0 } : nil,
  isLimited: !arguments.contains("only"), isOfJournal: arguments.contains("journal"),
  isNested: arguments.contains("nested"),
  rounds: arguments.contains("long") ? 4 : 1)
var failures = 0
if !attack.isLimited {
  print(attack.run(first, "\(attack.folder)/attacked.realm"))
} else {
  failures = attack.runAll(first..<first + count)
}
exit(failures == 0 ? 0 : 1)
