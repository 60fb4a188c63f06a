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
  private var overhead: Int { cipher == nil ? 0 : FileCipher.overhead }

  init(_ bytes: [UInt8], key: [UInt8]?) throws {
    self.bytes = bytes
    let header = try bytes.withUnsafeBytes { try FileHeader.read(from: $0, path: "sample") }
    salt = header.salt
    homes = header.homes
    cipher = try FileCipher.make(header, key: key, path: "sample")
    guard let record = Self.newest(bytes, homes, salt, cipher)?.record else { return }
    visit(record.root.stored, hasChain: false)
    visit(record.spaceCheckpoint.stored, hasChain: true)
    visit(record.spaceLog.stored, hasChain: true)
  }

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
    let offset = Int(reference.offset)
    guard !reference.isNone, numbers[offset] == nil, let plain = plain(offset) else { return }
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
    guard var (home, record) = Self.newest(file, homes, salt, cipher), !record.extents.isEmpty
    else { return }
    record.contentHash = file.withUnsafeBytes { file in
      CommitRecord.contentHash(
        record.extents.map { extent in
          CommitRecord.hash(
            UnsafeRawBufferPointer(
              rebasing: file[Int(extent.offset)..<Int(extent.offset + extent.length)]),
            at: extent.offset)
        })
    }
    guard let encoded = record.encoded(salt: salt, home: home, cipher) else { return }
    file.replaceSubrange(Int(home)..<Int(home) + encoded.count, with: encoded)
    home = 0
  }
}
