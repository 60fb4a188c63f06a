// A file taken apart into blocks, altered, and put together again with every checksum and tag
// right: what a hostile program can write, or somebody who knows the key of an encrypted file.
internal import Platform
internal import Storage

/// The blocks of a file's newest version and of its space journal.
struct SealedFile {
  struct Block {
    let offset: Int
    /// Length of the place that it has in the file.
    let length: Int
    var bytes: [UInt8]
    var isChanged = false
    /// As its parent has it.
    let reference: UInt64
  }

  private(set) var bytes: [UInt8]
  private(set) var blocks: [Block] = []
  /// Numbers of blocks by kind.
  private(set) var byKind: [UInt8: [Int]] = [:]
  private var numbers: [Int: Int] = [:]
  private let salt: UInt64
  private let cipher: FileCipher?
  private let homes: [UInt64]
  /// What the newest record says; sealed with the blocks.
  var record: CommitRecord?
  var overhead: Int { cipher == nil ? 0 : FileCipher.overhead }

  /// - Parameter hasParts: take the parts of the space checkpoint apart, too.
  init(_ bytes: [UInt8], key: [UInt8]?, hasParts: Bool = false) throws {
    self.bytes = bytes
    let header = try bytes.withUnsafeBytes { try FileHeader.read(from: $0, path: "sample") }
    salt = header.salt
    homes = header.homes
    cipher = try FileCipher.make(header, key: key, path: "sample")
    record = Self.newest(bytes, homes, salt, cipher)?.record
    guard let record else { return }
    visit(record.root.stored, hasChain: false)
    visit(record.spaceCheckpoint.stored, hasChain: true)
    visit(record.spaceLog.stored, hasChain: true)
    guard hasParts, let list = numbers[Int(record.spaceCheckpoint.offset)],
      let parts = try? SpacePartList(decoding: journal(list)).parts
    else { return }
    for part in parts where part.offset > 0 {
      visit(BlockReference(offset: part.offset, BirthTag(part.version)).stored, hasChain: true)
    }
  }

  // MARK: - The space journal

  /// Bytes of a journal block before what it says: the block before it, and how much it says.
  private static let journalHead = 16 + 12

  /// What a block of the space journal says.
  func journal(_ number: Int) -> [UInt8] {
    let bytes = blocks[number].bytes
    guard bytes.count >= Self.journalHead else { return [] }
    let used = bytes.withUnsafeBytes { Int($0.value(UInt32.self, at: 24)) }
    return Array(bytes[Self.journalHead..<min(bytes.count, Self.journalHead + used)])
  }

  /// Lets it say something else, where there is room for it.
  mutating func setJournal(_ number: Int, _ content: [UInt8]) -> Bool {
    guard Self.journalHead + content.count <= blocks[number].bytes.count else { return false }
    change(number) { bytes in
      bytes.replaceSubrange(Self.journalHead..<Self.journalHead + content.count, with: content)
      bytes.withUnsafeMutableBytes { $0.store(UInt32(content.count), at: 24) }
    }
    return true
  }

  // MARK: - Blocks in blocks

  /// Puts a sound copy of a block into the bytes of another one, and lets the first parent that
  /// refers to the original refer to the copy.
  ///
  /// - Returns: false where there is no room, no parent, or the inner block would not be plain.
  mutating func nest(_ inner: Int, in outer: Int, at position: Int) -> Bool {
    let copy = blocks[inner]
    guard cipher == nil, inner != outer, position % 16 == 0,
      position + copy.bytes.count <= blocks[outer].bytes.count
    else { return false }
    for parent in blocks.indices where blocks[parent].bytes[4] & 0x80 != 0 && parent != outer {
      let bytes = blocks[parent].bytes
      let count = min(Int(bytes[14]) | Int(bytes[15]) << 8, (bytes.count - 16) / 8)
      let index = (0..<count).first { index in
        bytes.withUnsafeBytes { $0.value(UInt64.self, at: 16 + index * 8) } == copy.reference
      }
      guard let index else { continue }
      let place = blocks[outer].offset + position
      var sealed = copy.bytes
      sealed.withUnsafeMutableBytes { bytes in
        let start = bytes.baseAddress!
        let checksum = BlockHeader.expectedChecksum(
          start, length: bytes.count, at: UInt64(place), salt: salt)
        BlockHeader.setChecksum(start, checksum)
      }
      change(outer) { $0.replaceSubrange(position..<position + sealed.count, with: sealed) }
      let reference = copy.reference - UInt64(copy.offset) + UInt64(place)
      change(parent) { bytes in
        bytes.withUnsafeMutableBytes { $0.store(reference, at: 16 + index * 8) }
      }
      return true
    }
    return false
  }

  // MARK: - Sealing

  private static func newest(
    _ bytes: [UInt8], _ homes: [UInt64], _ salt: UInt64, _ cipher: FileCipher?
  ) -> (home: UInt64, record: CommitRecord)? {
    homes.compactMap { home in
      bytes.withUnsafeBytes { file in
        CommitRecord.decode(
          UnsafeRawBufferPointer(rebasing: file[Int(home)..<Int(home) + CommitRecord.lengthMax]),
          salt: salt, home: home, cipher
        ).map { (home, $0) }
      }
    }.max { $0.1.version < $1.1.version }
  }

  private mutating func visit(_ stored: UInt64, hasChain: Bool) {
    let reference = BlockReference(stored: stored)
    guard !reference.isNone, let offset = Int(exactly: reference.offset), numbers[offset] == nil,
      let plain = plain(offset)
    else { return }
    numbers[offset] = blocks.count
    let (kind, count) = plain.withUnsafeBytes {
      (BlockHeader.kind($0.baseAddress!), BlockHeader.count($0.baseAddress!))
    }
    byKind[kind.rawValue, default: []].append(blocks.count)
    blocks.append(Block(offset: offset, length: plain.count, bytes: plain, reference: stored))
    let children = hasChain ? 1 : kind.isNode ? count : 0
    for index in 0..<children {
      visit(plain.withUnsafeBytes { $0.value(UInt64.self, at: 16 + index * 8) }, hasChain: hasChain)
    }
  }

  /// A block as it is in a file of this header; nil when there is none.
  func plain(_ offset: Int, in file: [UInt8]? = nil) -> [UInt8]? {
    let file = file ?? bytes
    guard offset >= 8192, offset + 64 <= file.count else { return nil }
    return file.withUnsafeBytes { file in
      let start = file.baseAddress! + offset
      let length =
        cipher == nil ? BlockHeader.blockLength(start) : FileCipher.length(ofSealed: start)
      guard length >= 16, offset + length + overhead <= file.count else { return nil }
      guard let cipher else { return [UInt8](UnsafeRawBufferPointer(start: start, count: length)) }
      var isSound = false
      let plain = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        isSound = cipher.open(start, length, at: UInt64(offset), to: buffer.baseAddress!)
        count = length
      }
      return isSound ? plain : nil
    }
  }

  mutating func change(_ number: Int, _ body: (inout [UInt8]) -> Void) {
    body(&blocks[number].bytes)
    blocks[number].isChanged = true
  }

  /// The file with all changes, sealed.
  func sealed() -> [UInt8] {
    var file = bytes
    for block in blocks where block.isChanged { seal(block, in: &file) }
    sealRecord(&file)
    return file
  }

  private func seal(_ block: Block, in file: inout [UInt8]) {
    var plain = block.bytes
    let stated = plain.withUnsafeBytes { BlockHeader.blockLength($0.baseAddress!) }
    // As long as it says, where the file has so much; else what is behind it stays.
    if cipher != nil {
      let length = max(16, min(stated, file.count - block.offset - overhead))
      while plain.count < length { plain.append(0) }
      file.withUnsafeMutableBytes { file in
        let start = file.baseAddress! + block.offset
        // Never over what comes next: a longer one is sealed as it is, and says that it is longer.
        let used = min(length, block.length)
        (start + overhead).copyMemory(from: plain, byteCount: used)
        cipher!.seal(start + overhead, used, at: UInt64(block.offset))
      }
    } else {
      file.withUnsafeMutableBytes { file in
        let start = file.baseAddress! + block.offset
        start.copyMemory(from: plain, byteCount: block.length)
        guard stated >= 16, block.offset + stated <= file.count else { return }
        BlockHeader.setChecksum(
          start,
          BlockHeader.expectedChecksum(start, length: stated, at: UInt64(block.offset), salt: salt))
      }
    }
  }

  /// The newest record proves by a hash what its commit wrote.
  private func sealRecord(_ file: inout [UInt8]) {
    guard let home = Self.newest(file, homes, salt, cipher)?.home, var record else { return }
    record.contentHash = file.withUnsafeBytes { file in
      record.extents.isEmpty
        ? 0
        : CommitRecord.contentHash(
          record.extents.map { extent in
            CommitRecord.hash(
              UnsafeRawBufferPointer(
                rebasing: file[Int(extent.offset)..<Int(extent.offset + extent.length)]),
              at: extent.offset)
          })
    }
    guard let encoded = record.encoded(salt: salt, home: home, cipher) else { return }
    file.replaceSubrange(Int(home)..<Int(home) + encoded.count, with: encoded)
  }
}
