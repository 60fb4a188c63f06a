// A process for tests to kill. It commits numbered transactions with full durability, or none, and
// prints each number once it is acknowledged; or it reads and pins versions, checks them and prints
// their numbers; or it takes the write lock and keeps it, alone or with a forked child that only
// waits. Each transaction writes the number to several leaves, so that half of one would show.
//
//   CommittingProcess FILE [COUNT | read | watch | hold | fork | compact] [memory]
//   CommittingProcess FILE record RECORDING COUNT never|always plain|encrypted ENTRIES
//                                                                   see RecordedCommits.swift
//
// With `memory` nothing is synced. `watch` opens the file read-only, again and again.
import Glibc
import Storage

/// Leaves that hold the number.
let leafCount = 5
let path = CommandLine.arguments[1]
let mode = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "\(Int.max)"
var options = StoreOptions(path: path)
if CommandLine.arguments.last == "memory" { options.durability = .memory }
if mode == "compact" { options.shouldCompact = { _, _ in true } }
if mode == "record" {
  try commitRecorded(CommandLine.arguments)
  exit(0)
}
if mode == "watch" { try watchForEver(options) }
let store = try Store.open(options)
switch mode {
case "read": try readForEver()
case "compact":
  show(0)
  while true { pause() }
case "hold":
  let transaction = try store.beginWrite()
  show(0)
  while true { pause() }
  withExtendedLifetime(transaction) {}
case "fork":
  let transaction = try store.beginWrite()
  let child = fork()
  if child != 0 { show(UInt64(child)) } else { closeSockets() }
  while true { pause() }
  withExtendedLifetime(transaction) {}
default: for _ in 0..<Int(mode)! { show(try commitNext()) }
}

/// Foundation hears by one of them that a child has ended.
func closeSockets() {
  for descriptor: Int32 in 3..<256 {
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { close(descriptor) }
  }
}

func show(_ number: UInt64) {
  let line = "\(number)\n"
  _ = line.withCString { write(1, $0, strlen($0)) }
}

/// Adds one to the number in all leaves.
func commitNext() throws -> UInt64 {
  let transaction = try store.beginWrite()
  let editor = transaction.editor
  var root = transaction.root
  if root.isNone {
    root = editor.allocate(
      kind: BlockKind(rawValue: 0xa0), count: leafCount, payloadBytes: leafCount * 8)
    for index in 0..<leafCount {
      let leaf = editor.allocate(
        kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 8 + index * 1000)
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
  }
  root = editor.mutable(root)
  var number: UInt64 = 0
  for index in 0..<leafCount {
    let leaf = editor.mutable(BlockHeader.reference(editor.pointer(root), index))
    BlockHeader.setReference(editor.pointer(root), index, leaf)
    let payload = editor.pointer(leaf) + BlockHeader.length
    number = payload.load(as: UInt64.self) + 1
    payload.storeBytes(of: number, as: UInt64.self)
  }
  transaction.root = root
  _ = try transaction.commit()
  return number
}

/// The number of a version; ends the process when its leaves differ.
func number(_ snapshot: Snapshot) -> UInt64 {
  if snapshot.root.isNone { return 0 }
  let root = snapshot.reader.pointer(snapshot.root)
  let numbers = (0..<leafCount).map { index in
    BlockHeader.payload(snapshot.reader.pointer(BlockHeader.reference(root, index)))
      .load(as: UInt64.self)
  }
  guard Set(numbers).count == 1 else { fatalError("version \(snapshot.version): \(numbers)") }
  return numbers[0]
}

/// Pins every new version and keeps some of them.
func readForEver() throws {
  var random = SystemRandomNumberGenerator()
  var pins: [(snapshot: Snapshot, number: UInt64)] = []
  var newest: UInt64 = 0
  while true {
    let snapshot = try store.pinNewest()
    let found = number(snapshot)
    guard found >= newest else { fatalError("number \(found) after \(newest)") }
    for pin in pins where number(pin.snapshot) != pin.number {
      fatalError("version \(pin.snapshot.version) has changed")
    }
    if found > newest {
      newest = found
      show(found)
      pins.append((snapshot, found))
      if pins.count > 5 { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
    }
    // A reader that looks about a thousand times a second: nothing wakes it.
    usleep(1000)
  }
}

/// Opens the file only for reading, and verifies that the version it shows stays what it is, by
/// what the file has.
func watchForEver(_ options: StoreOptions) throws -> Never {
  var options = options
  options.isReadOnly = true
  var newest: UInt64 = 0
  while true {
    let store = try Store.open(options)
    let snapshot = try store.pinNewest()
    let found = number(snapshot)
    guard found >= newest else { fatalError("number \(found) after \(newest)") }
    newest = found
    for _ in 0..<10 {
      var walk = VerifyingWalk()
      let isWhole = walk.advance(on: snapshot, while: { _ in true }) { fatalError("\($0)") }
      guard isWhole, number(snapshot) == found else { fatalError("version \(snapshot.version)") }
      usleep(500)
    }
    show(found)
  }
}
