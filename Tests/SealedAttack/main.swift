// Alters blocks of a real file, puts every checksum right, and does with it what a client does,
// each time in a process of its own. A file may give an error, the documented stop for damage, or
// pass; a signal, another stop, a time-out or memory without need is a failure, which is printed
// with its seed.
//
//   SealedAttack FOLDER FIRST-SEED COUNT [encrypted] [only]
//
// With `only` the attack of the first seed runs in this process, for a debugger.
import Glibc

let arguments = CommandLine.arguments
guard arguments.count >= 4, let first = UInt64(arguments[2]), let count = UInt64(arguments[3])
else {
  print("usage: SealedAttack FOLDER FIRST-SEED COUNT [encrypted] [only]")
  exit(64)
}
// A stop prints a line, no picture of the stack; the runtime looks at this before `main`.
if getenv("SWIFT_BACKTRACE") == nil {
  setenv("SWIFT_BACKTRACE", "enable=no", 1)
  execv("/proc/self/exe", CommandLine.unsafeArgv)
}
let attack = try Attack(
  folder: arguments[1], key: arguments.contains("encrypted") ? (0..<64).map { $0 } : nil,
  isLimited: !arguments.contains("only"))
var failures = 0
if !attack.isLimited {
  print(attack.run(first, "\(attack.folder)/attacked.realm"))
} else {
  failures = attack.runAll(first..<first + count)
}
exit(failures == 0 ? 0 : 1)
