// What is done to blocks: header fields, counts, references, lengths and keys get other values,
// content moves within a block and between blocks, and places get the content that they had before.
internal import Platform
internal import Storage

/// Random changes of a file; a seed stands for a file.
struct Mutations {
  private(set) var notes: [String] = []
  private var random: RandomGenerator

  init(seed: UInt64) { random = RandomGenerator(seed: seed) }

  private static let kinds: [UInt8] = [
    2, 3, 16, 17, 18, 19, 20, 0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
    0x9b,
    0x9c, 0x20, 0xa0,
  ]

  /// - Parameter former: the file as it was after earlier transactions.
  mutating func make(_ file: inout SealedFile, former: [[UInt8]]) {
    for _ in 0..<(1 << (random.next() % 3)) {
      // Every kind of block as often as the others, however few there are.
      let kind = file.byKind.keys.sorted().randomElement(using: &random)!
      let number = file.byKind[kind]!.randomElement(using: &random)!
      if random.next() % 12 == 0 {
        rollBack(&file, former)
      } else if random.next() % 12 == 0 {
        exchange(&file, number)
      } else {
        alter(&file, number)
      }
    }
  }

  private mutating func note(_ file: SealedFile, _ number: Int, _ text: String) {
    notes.append(
      "block \(file.blocks[number].offset) kind \(file.blocks[number].bytes[4]): \(text)")
  }

  private mutating func pick(_ values: [UInt64]) -> UInt64 { values.randomElement(using: &random)! }

  private mutating func odd(near old: UInt64, bits: UInt64) -> UInt64 {
    let mask: UInt64 = bits == 64 ? .max : 1 << bits - 1
    return pick([
      0, 1, mask, mask >> 1, mask - 1, old &+ 1, old &- 1, old &* 2,
      old ^ (1 << (random.next() % bits)),
      random.next(), random.next() % 300, old &+ random.next() % 16, 1 << (random.next() % bits),
      0 &- (random.next() % 300),
    ]) & mask
  }

  private mutating func alter(_ file: inout SealedFile, _ number: Int) {
    let bytes = file.blocks[number].bytes
    func value(_ offset: Int, _ length: Int) -> UInt64 {
      (0..<length).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64($1 * 8) }
    }
    var changes: [(offset: Int, length: Int, value: UInt64)] = []
    switch random.next() % 16 {
    case 0: changes = [(4, 1, UInt64(Self.kinds.randomElement(using: &random)!))]
    case 1: changes = [(5, 1, odd(near: value(5, 1), bits: 8))]
    case 2: changes = [(6, 2, odd(near: value(6, 2), bits: 16))]
    case 3: changes = [(8, 6, odd(near: value(8, 6), bits: 48))]
    case 4, 5: changes = [(14, 2, odd(near: value(14, 2), bits: 16))]
    case 6...8: changes = [reference(file, number)].compactMap(\.self)
    default:
      guard bytes.count > 16 else { return }
      let length = [1, 2, 4, 8].randomElement(using: &random)!
      for _ in 0..<(random.next() % 4 == 0 ? 5 : 1) {
        // Ends of blocks, where their numbers are, as often as all else.
        let units = (bytes.count - 16) / length
        let unit =
          switch random.next() % 3 {
          case 0: units - 1 - Int(random.next() % UInt64(min(units, 8)))
          case 1: Int(random.next() % UInt64(min(units, 8)))
          default: Int(random.next() % UInt64(units))
          }
        let offset = 16 + unit * length
        changes.append((offset, length, odd(near: value(offset, length), bits: UInt64(length * 8))))
      }
    }
    for change in changes {
      note(
        file, number,
        "\(change.length) bytes at \(change.offset): \(value(change.offset, change.length)) to "
          + "\(change.value)")
      file.change(number) { bytes in
        for index in 0..<change.length {
          bytes[change.offset + index] = UInt8(
            truncatingIfNeeded: change.value >> UInt64(index * 8))
        }
      }
    }
  }

  /// A child becomes another block, its own ancestor, nothing, or what is no place.
  private mutating func reference(
    _ file: SealedFile, _ number: Int
  ) -> (offset: Int, length: Int, value: UInt64)? {
    let block = file.blocks[number]
    let count = Int(block.bytes[14]) | Int(block.bytes[15]) << 8
    guard block.bytes[4] & 0x80 != 0, count > 0, 16 + count * 8 <= block.bytes.count else {
      return nil
    }
    let offset = 16 + Int(random.next() % UInt64(count)) * 8
    let old = block.bytes.withUnsafeBytes { $0.value(UInt64.self, at: offset) }
    let kind = file.byKind.keys.sorted().randomElement(using: &random)!
    let any = file.byKind[kind]!.randomElement(using: &random)!
    let sibling = 16 + Int(random.next() % UInt64(count)) * 8
    let value = pick([
      file.blocks[any].reference, file.blocks[any].reference, block.reference,
      file.blocks[0].reference, block.bytes.withUnsafeBytes { $0.value(UInt64.self, at: sibling) },
      0, old | 1 << 63, 1 << 63 | random.next() % 100, old & ~0xf, old &+ 16,
      odd(near: old, bits: 64),
      UInt64(file.bytes.count - 16) | old & 0x7fff_f000_0000_000f,
    ])
    return (offset, 8, value)
  }

  /// A block gets the content of another one of its kind, without its birth, or of any.
  private mutating func exchange(_ file: inout SealedFile, _ number: Int) {
    let kind = file.blocks[number].bytes[4]
    let from =
      random.next() % 3 == 0
      ? Int(random.next() % UInt64(file.blocks.count))
      : file.byKind[kind, default: [number]].randomElement(using: &random)!
    let other = file.blocks[from].bytes
    note(file, number, "content of block \(file.blocks[from].offset)")
    put(&file, number, other)
  }

  /// A page, or one block, gets the content that it had after an earlier transaction.
  private mutating func rollBack(_ file: inout SealedFile, _ former: [[UInt8]]) {
    let state = former.randomElement(using: &random)!
    let first = Int(random.next() % UInt64(file.blocks.count))
    let page = file.blocks[first].offset / 4096
    let isPage = random.next() % 2 == 0
    for number in file.blocks.indices
    where number == first || isPage && file.blocks[number].offset / 4096 == page {
      guard let old = file.plain(file.blocks[number].offset, in: state),
        old.dropFirst(4) != file.blocks[number].bytes.dropFirst(4)
      else { continue }
      note(file, number, "content that was there before")
      put(&file, number, old)
    }
  }

  private func put(_ file: inout SealedFile, _ number: Int, _ content: [UInt8]) {
    file.change(number) { bytes in
      let birth = bytes[8..<14]
      for index in 0..<min(bytes.count, content.count) { bytes[index] = content[index] }
      bytes.replaceSubrange(8..<14, with: birth)
    }
  }
}
