// From the bytes of a fuzzer to the bytes of a file, and back for the corpus. A file is mostly
// zeros and its parts have fixed places, so the input is a list of segments: mutations then change
// the parts and not where everything behind them lies.
//
//   u8 flags (FuzzedFile.Flags), then with `.raw` the file itself, else u32 length of the file and
//   segments to the end: u32 offset, u16 length, bytes
internal import Platform
internal import Storage

/// The file that an input stands for.
package struct FuzzedFile {
  package struct Flags: OptionSet {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Both headers get the checksum that they need.
    package static let sealsHeaders = Flags(rawValue: 1)
    /// The commit records do, and their content hashes.
    package static let sealsRecords = Flags(rawValue: 2)
    /// All blocks do that the newest record reaches.
    package static let sealsBlocks = Flags(rawValue: 4)
    /// The rest of the input is the file.
    package static let raw = Flags(rawValue: 16)
  }

  static let lengthMax = 1 << 20

  package let flags: Flags
  package private(set) var bytes: [UInt8]

  package init(input: UnsafeRawBufferPointer) {
    flags = Flags(rawValue: input.first ?? 0)
    if flags.contains(.raw) || input.count < 5 {
      bytes = [UInt8](input.dropFirst())
    } else {
      let length = input.value(UInt32.self, at: 1)
      bytes = [UInt8](repeating: 0, count: min(Int(length), Self.lengthMax))
      place(input)
    }
    seal()
  }

  private mutating func place(_ input: UnsafeRawBufferPointer) {
    var position = 5
    while position + 6 <= input.count {
      let offset = Int(input.value(UInt32.self, at: position))
      let length = Int(input.value(UInt16.self, at: position + 4))
      position += 6
      let used = max(0, min(length, input.count - position, bytes.count - offset))
      if used > 0 {
        bytes.replaceSubrange(offset..<offset + used, with: input[position..<position + used])
      }
      position += length
    }
  }

  /// An input that stands for a file.
  package static func input(_ file: [UInt8], _ flags: Flags) -> [UInt8] {
    if flags.contains(.raw) { return [flags.rawValue] + file }
    var input = [flags.rawValue]
    input.append(little: UInt32(file.count))
    // Pieces of 256 bytes that are not zero, so that a mutation hits one of them alone.
    for start in stride(from: 0, to: file.count, by: 256) {
      let piece = file[start..<min(start + 256, file.count)]
      guard let last = piece.lastIndex(where: { $0 != 0 }) else { continue }
      input.append(little: UInt32(start))
      input.append(little: UInt16(last + 1 - start))
      input += file[start...last]
    }
    return input
  }
}

extension [UInt8] {
  fileprivate mutating func append<Value: FixedWidthInteger>(little value: Value) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }
}

// MARK: - Checksums

extension FuzzedFile {
  private static let homes = [8192, 12288, 16384, 20480]

  private mutating func seal() {
    let flags = flags
    bytes.withUnsafeMutableBytes { file in
      if flags.contains(.sealsHeaders) { Self.sealHeaders(file) }
      guard file.count >= 24_576 else { return }
      let read = UnsafeRawBufferPointer(file)
      let isSecondNewer = read.value(UInt64.self, at: 4096 + 56) > read.value(UInt64.self, at: 56)
      let salt = read.value(UInt64.self, at: isSecondNewer ? 4096 + 48 : 48)
      let newest = Self.homes.max {
        read.value(UInt64.self, at: $0 + 24) < read.value(UInt64.self, at: $1 + 24)
      }!
      if flags.contains(.sealsBlocks) {
        // Root, space checkpoint, space log.
        for field in [32, 56, 64] {
          Self.sealBlocks(
            file, BlockReference(stored: read.value(UInt64.self, at: newest + field)).offset, salt,
            hasChain: field > 32)
        }
      }
      if flags.contains(.sealsRecords) {
        for home in Self.homes { Self.sealRecord(file, home, salt) }
      }
    }
  }

  private static func sealHeaders(_ file: UnsafeMutableRawBufferPointer) {
    for copy in [0, 4096] where file.count >= copy + 256 {
      file.store(hash64(file.baseAddress! + copy, count: 248, seed: 0), at: copy + 248)
    }
  }

  /// Seals the blocks of a tree or chain, as far as they lie in the file; each once.
  private static func sealBlocks(
    _ file: UnsafeMutableRawBufferPointer, _ root: UInt64, _ salt: UInt64, hasChain: Bool
  ) {
    var waiting = [root]
    var seen: Set<UInt64> = []
    while let offset = waiting.popLast() {
      guard offset >= 8192, offset < UInt64(file.count) - 16,
        seen.insert(offset).inserted
      else { continue }
      let block = file.baseAddress! + Int(offset)
      let length = BlockHeader.blockLength(block)
      guard length >= 16, Int(offset) + length <= file.count else { continue }
      if hasChain, length >= 24 { waiting.append(BlockHeader.reference(block, 0).offset) }
      if !hasChain, BlockHeader.kind(block).isNode,
        BlockHeader.count(block) * 8 <= length - BlockHeader.length
      {
        for index in 0..<BlockHeader.count(block) {
          waiting.append(BlockHeader.reference(block, index).offset)
        }
      }
      let checksum = BlockHeader.expectedChecksum(
        block, length: length, at: offset, salt: salt)
      BlockHeader.setChecksum(block, checksum)
    }
  }

  /// Seals one record, with the hash of what its extents hold now.
  private static func sealRecord(_ file: UnsafeMutableRawBufferPointer, _ home: Int, _ salt: UInt64)
  {
    let read = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(file)[home..<home + 1024])
    let length = Int(read.value(UInt32.self, at: 16))
    guard length >= 96, length <= 1024 else { return }
    var position = 96
    func number() -> UInt64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while position < length, shift < 64 {
        let byte = read[position]
        position += 1
        value |= UInt64(byte & 127) << shift
        if byte < 128 { break }
        shift += 7
      }
      return value
    }
    var content: UInt64 = 0
    var previous: UInt64 = 0
    for _ in 0..<min(read.value(UInt32.self, at: 88), 1024) {
      let coded = number()
      let units = number()
      let step = UInt64(bitPattern: Int64(bitPattern: coded >> 1) ^ -Int64(bitPattern: coded & 1))
      let offset = (previous / 16 &+ step) &* 16
      previous = offset
      guard units < 1 << 20, offset < UInt64(file.count),
        offset + units * 16 <= UInt64(file.count)
      else { break }
      let hash = hash64(file.baseAddress! + Int(offset), count: Int(units) * 16, seed: offset)
      let mixed = (content ^ hash) &* 0x9e37_79b9_7f4a_7c15
      content = mixed ^ mixed >> 29
    }
    file.store(content, at: home + 80)
    let checksum = hash64(
      file.baseAddress! + home + 16, count: length - 16, seed: salt ^ UInt64(home))
    file.store(checksum, at: home + 8)
  }
}
