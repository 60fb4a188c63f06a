// What is done to the record and the space journal: places that are in use are called free or dead,
// free ones taken, parts and logs are exchanged, versions and lengths get other values. The next
// writer believes in it, and must not harm what it does not own, nor itself.
internal import Platform
internal import Storage

/// Random changes of what a file says of itself; a seed stands for a file.
struct JournalMutations {
  private(set) var notes: [String] = []
  private var random: RandomGenerator

  init(seed: UInt64) { random = RandomGenerator(seed: seed) }

  mutating func make(_ file: inout SealedFile) {
    for _ in 0..<(1 << (random.next() % 3)) {
      switch random.next() % 8 {
      case 0, 1: changeRecord(&file)
      case 2, 3: change(&file, kind: 3) { try $0.changedPart($1, $2) }
      case 4: change(&file, kind: 2) { try $0.changedDeltas($1, $2) }
      case 5: change(&file, kind: 4) { try $0.changedList($1, $2) }
      case 6: changeBytes(&file)
      default: changeDeltas(&file)
      }
    }
  }

  /// Blocks that lie in others, so that whoever gives up one of them gives away bytes of the other.
  mutating func nest(_ file: inout SealedFile) {
    for _ in 0..<(2 << (random.next() % 4)) {
      // Bytes of long values mean nothing to anybody; those of others have to fit together.
      let kind: UInt8 = random.next() % 4 == 0 ? 0x11 : 0x12
      guard let outer = file.byKind[kind]?.randomElement(using: &random) else { return }
      let innerKind = file.byKind.keys.filter { $0 >= 0x10 }.sorted().randomElement(using: &random)!
      let inner = file.byKind[innerKind]!.randomElement(using: &random)!
      let room = (file.blocks[outer].bytes.count - file.blocks[inner].bytes.count) / 16
      guard room > 2 else { continue }
      let position = 16 + Int(random.next() % UInt64(room - 1)) * 16
      if file.nest(inner, in: outer, at: position) {
        notes.append(
          "block \(file.blocks[inner].offset) kind \(innerKind) at \(position) of block "
            + "\(file.blocks[outer].offset)")
      }
    }
  }

  // MARK: - Values

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values.randomElement(using: &random)!
  }

  private mutating func odd(near old: UInt64) -> UInt64 {
    pick([
      0, 1, old &+ 1, old &- 1, old &* 2, old / 2, .max, .max >> 1, 1 << 47, 1 << 44,
      old ^ (1 << (random.next() % 64)), random.next() % 4096, old &+ 16, old &+ 4096,
      old &- 4096,
    ])
  }

  private mutating func version(near old: Version) -> Version {
    Version(odd(near: old.rawValue) & (1 << 47 - 1))
  }

  /// A place that is in use, all of it or a part, or any other one.
  private mutating func run(_ file: SealedFile) -> Run {
    let block = file.blocks.randomElement(using: &random)!
    let length = block.length + file.overhead
    switch random.next() % 6 {
    case 0:
      return Run(offset: random.next() % (1 << 24) * 16, length: (random.next() % 300 + 1) * 16)
    case 1: return Run(offset: UInt64(file.bytes.count) - 16, length: 1 << 20)
    case 2: return Run(offset: 24_576, length: UInt64(file.bytes.count) - 24_576)
    case 3:
      // From within a block on, over its end.
      let skipped = Int(random.next() % UInt64(length / 16)) * 16
      return Run(
        offset: UInt64(block.offset + skipped), length: UInt64(length) + random.next() % 64 * 16)
    default: return Run(offset: UInt64(block.offset), length: UInt64(length))
    }
  }

  private mutating func reference(_ file: SealedFile) -> BlockReference {
    let kind = file.byKind.keys.sorted().randomElement(using: &random)!
    let block = file.blocks[file.byKind[kind]!.randomElement(using: &random)!]
    return pick([
      BlockReference(stored: block.reference), BlockReference(stored: block.reference), .none,
      BlockReference(anyAt: UInt64(block.offset) &+ 16), BlockReference(anyAt: 8192),
      BlockReference(anyAt: 1 << 40), BlockReference(stored: block.reference | 1 << 63),
    ])
  }

  /// Some of the runs, or with one more; each byte once, so that they can be coded.
  private mutating func changed(_ runs: [Run], _ file: SealedFile) -> [Run] {
    var runs = runs
    if random.next() % 3 == 0, !runs.isEmpty {
      let index = Int(random.next() % UInt64(runs.count))
      if random.next() % 2 == 0 {
        runs.remove(at: index)
      } else {
        runs[index].length += (random.next() % 100 + 1) * 16
      }
    } else {
      for _ in 0...(random.next() % 4) { runs.append(run(file)) }
    }
    return Self.disjoint(runs)
  }

  private static func disjoint(_ runs: [Run]) -> [Run] {
    var end: UInt64 = 0
    return runs.sorted { $0.offset < $1.offset }.filter { run in
      guard run.offset >= end else { return false }
      end = run.end
      return true
    }
  }

  // MARK: - The record

  private mutating func changeRecord(_ file: inout SealedFile) {
    guard var record = file.record else { return }
    let field: String
    switch random.next() % 9 {
    case 0:
      record.root = reference(file)
      field = "root \(record.root)"
    case 1:
      record.durableVersion = version(near: record.durableVersion)
      field = "durable \(record.durableVersion)"
    case 2, 3:
      record.fileLength = odd(near: record.fileLength)
      field = "length \(record.fileLength)"
    case 4:
      record.spaceCheckpoint = reference(file)
      field = "list \(record.spaceCheckpoint)"
    case 5:
      record.spaceLog = reference(file)
      field = "log \(record.spaceLog)"
    case 6:
      record.commits = odd(near: record.commits)
      field = "commits \(record.commits)"
    case 7:
      record.extents = []
      field = "no extents"
    default:
      record.deltas = (0..<(random.next() % 200)).map { _ in UInt8(random.next() & 255) }
      field = "deltas of \(record.deltas.count) random bytes"
    }
    notes.append("record: \(field)")
    file.record = record
  }

  private mutating func changeDeltas(_ file: inout SealedFile) {
    guard var record = file.record, let deltas = try? changedDeltas(record.deltas, file) else {
      return
    }
    record.deltas = deltas
    file.record = record
  }

  // MARK: - Blocks

  private mutating func change(
    _ file: inout SealedFile, kind: UInt8,
    _ body: (inout JournalMutations, [UInt8], SealedFile) throws -> [UInt8]
  ) {
    guard let number = file.byKind[kind]?.randomElement(using: &random) else { return }
    notes.append("block \(file.blocks[number].offset) kind \(kind)")
    guard let content = try? body(&self, file.journal(number), file) else { return }
    if !file.setJournal(number, content) { notes.append("no room for \(content.count) bytes") }
  }

  private mutating func changeBytes(_ file: inout SealedFile) {
    let kinds = [2, 3, 4].filter { file.byKind[$0] != nil } as [UInt8]
    guard let kind = kinds.randomElement(using: &random) else { return }
    let number = file.byKind[kind]!.randomElement(using: &random)!
    let offset = 16 + Int(random.next() % UInt64(file.blocks[number].bytes.count - 16))
    let byte = UInt8(pick([0, 1, 0x7f, 0x80, 0xff, random.next() & 255]))
    notes.append("block \(file.blocks[number].offset) kind \(kind): byte \(offset) is \(byte)")
    file.change(number) { $0[offset] = byte }
  }

  private mutating func changedDeltas(_ bytes: [UInt8], _ file: SealedFile) throws -> [UInt8] {
    var deltas = try SpaceDelta.decodeAll(bytes)
    if deltas.isEmpty {
      deltas = [SpaceDelta(version: file.record!.version, taken: [], dead: [])]
    }
    let index = Int(random.next() % UInt64(deltas.count))
    switch random.next() % 5 {
    case 0: deltas[index].version = version(near: deltas[index].version)
    case 1: deltas[index].taken = changed(deltas[index].taken, file)
    case 2: deltas.remove(at: index)
    default: deltas[index].dead = changed(deltas[index].dead, file)
    }
    notes.append("deltas \(deltas.indices.contains(index) ? "\(deltas[index])" : "one fewer")")
    var changed: [UInt8] = []
    for delta in deltas { delta.append(to: &changed) }
    return changed
  }

  private mutating func changedPart(_ bytes: [UInt8], _ file: SealedFile) throws -> [UInt8] {
    var part = try SpaceCheckpoint(decoding: bytes)
    switch random.next() % 5 {
    case 0: part.fileLength = odd(near: part.fileLength) & (1 << 44 - 16)
    case 1:
      var entries = part.kept
      for run in changed([], file) {
        entries.append(.init(run: run, death: version(near: file.record!.version)))
      }
      let runs = Self.disjoint(entries.map(\.run))
      part.kept = runs.map { run in entries.first { $0.run == run }! }
    default: part.free = changed(part.free, file)
    }
    notes.append("a part of length \(part.fileLength), free \(part.free.suffix(5))")
    return part.encoded()
  }

  private mutating func changedList(_ bytes: [UInt8], _ file: SealedFile) throws -> [UInt8] {
    var list = try SpacePartList(decoding: bytes)
    let index = Int(random.next() % UInt64(list.parts.count))
    switch random.next() % 5 {
    case 0: list.oldestLog = odd(near: list.oldestLog) & (1 << 44 - 16)
    case 1: list.parts[index].version = version(near: list.parts[index].version)
    case 2: list.parts[index].offset = reference(file).offset
    case 3:
      if list.parts.count > 1, index > 0 {
        list.parts.remove(at: index)
      } else {
        list.parts[index].offset = 0
      }
    default:
      let start = random.next() % UInt64(file.bytes.count / 16) * 16
      list.parts.append(
        .init(start: start, version: list.parts[index].version, offset: list.parts[index].offset))
      list.parts.sort { $0.start < $1.start }
      var starts: Set<UInt64> = []
      list.parts = list.parts.filter { starts.insert($0.start).inserted }
    }
    notes.append("\(list)")
    return list.encoded()
  }
}
