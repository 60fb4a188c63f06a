// The file header: what the file is and where its commit records are. Kept twice, in the first two
// pages of 4 KB; the sound one with the higher sequence number counts. Layout, little-endian:
//
//   0  8 bytes magic            40  u64 file identifier, second half   80  u32 homes
//   8  u32 format version       48  u64 salt of all checksums          84  u32 length of a home
//  12  u32 header length        56  u64 sequence                       88  u64 x 8 places of the homes
//  16  u64 incompatible flags   64  u64 flags (FileHeader.Flags)      152  u64 durable mark
//  24  u64 read-only flags      72  u64 boot identifier               160  32 bytes key check
//  32  u64 file identifier, first half                                192  u64 identifier of the log
// 248  u64 checksum of bytes 0..<248
//
// After the headers come the record homes, then the data. docs/file-format.md tells the whole.
internal import Platform

/// The fixed facts about a file.
package struct FileHeader: Equatable, Sendable {
  package struct Flags: OptionSet, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    /// The file is written without syncs since the boot that the header names.
    package static let unsynced = Flags(rawValue: 1)
    /// Blocks never share a page with older ones.
    ///
    /// Reserved; not written by this version.
    package static let pageSafe = Flags(rawValue: 2)
    /// The file got its name by a rename that a power cut may undo.
    ///
    /// Who opens it syncs the folder before anything else.
    package static let nameUnsynced = Flags(rawValue: 4)
  }

  static let pageLength = 4096
  static let encodedLength = 256
  /// The newest format version, which is written: 2 knows rows that a bytes column has removed, 3
  /// the births of blocks in references to them, 4 indexes that sort long bytes by a hash.
  static let formatVersion: UInt32 = 4
  /// The oldest format version that is read.
  private static let formatVersionMin: UInt32 = 1
  static let magic: [UInt8] = [0x89, 0x4f, 0x42, 0x4a, 0x44, 0x42, 0x0a, 0x1a]
  /// Places of the record homes in a new file, in pages.
  static let homePages = [2, 3, 4, 5]
  /// Where data begins.
  static let dataStart: UInt64 = 6 * 4096
  /// Offsets of the two copies.
  static let copies: [UInt64] = [0, 4096]

  package var identifier: (high: UInt64, low: UInt64) { (identifierHigh, identifierLow) }
  var identifierHigh: UInt64
  var identifierLow: UInt64
  package var salt: UInt64
  var sequence: UInt64 = 1
  var flags: Flags = []
  /// The format version that the file states; an older one is raised before the first write.
  private(set) var version = formatVersion
  var bootIdentifier: UInt64 = 0
  package var homes: [UInt64] = homePages.map { UInt64($0 * pageLength) }
  /// A version known to be durable when the file was last closed; 0 for none.
  ///
  /// An opening that cannot find it has found damage.
  var durableMark: UInt64 = 0

  /// The commit log, beside the file, without which it may not be read after the boot that the
  /// header names; 0 for none.
  var logIdentifier: UInt64 = 0

  /// Whether a log has to be repeated after a restart.
  var isLogged: Bool { logIdentifier != 0 }

  /// Whether the boot that the header names is this one, so that the page cache has all that was
  /// written since.
  func isOf(_ boot: UInt64) -> Bool { boot != 0 && bootIdentifier == boot }

  /// Of an encrypted file: tells whether a key fits.
  var keyCheck: [UInt8]?

  /// The incompatible flag of encrypted files.
  private static let encrypted: UInt64 = 1
  /// The incompatible flag of files with a log.
  private static let logged: UInt64 = 2
  private static let keyCheckRange = 160..<192

  init(identifierHigh: UInt64, identifierLow: UInt64, salt: UInt64) {
    self.identifierHigh = identifierHigh
    self.identifierLow = identifierLow
    self.salt = salt
  }

  /// The header of a file that is about to be made, and what encrypts it.
  static func makeNew(key: [UInt8]?) -> (FileHeader, FileCipher?) {
    var header = FileHeader(
      identifierHigh: systemRandom(), identifierLow: systemRandom(), salt: systemRandom())
    let cipher = key.map { FileCipher(key: $0, header: header) }
    header.keyCheck = cipher?.check
    return (header, cipher)
  }

  /// Whether what writes to the file has to raise its format version first.
  var isOlder: Bool { version < Self.formatVersion }

  /// States the newest format version.
  mutating func raise() { version = Self.formatVersion }

  /// Names the state that the header describes, never by 0: a copy of the file that was made at
  /// another time has another one.
  var generation: UInt64 {
    encoded().withUnsafeBytes { hash64($0.baseAddress!, count: $0.count, seed: 0) } | 1
  }

  /// Always states the newest format version.
  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.encodedLength)
    bytes.withUnsafeMutableBytes { buffer in
      buffer.copyBytes(from: Self.magic)
      buffer.store(Self.formatVersion, at: 8)
      buffer.store(UInt32(Self.encodedLength), at: 12)
      buffer.store(identifierHigh, at: 32)
      buffer.store(identifierLow, at: 40)
      buffer.store(salt, at: 48)
      buffer.store(sequence, at: 56)
      buffer.store(flags.rawValue, at: 64)
      buffer.store(bootIdentifier, at: 72)
      buffer.store(UInt32(homes.count), at: 80)
      buffer.store(UInt32(Self.pageLength), at: 84)
      for (index, home) in homes.enumerated() { buffer.store(home, at: 88 + 8 * index) }
      buffer.store(durableMark, at: 152)
      buffer.store(
        (keyCheck == nil ? 0 : Self.encrypted) | (isLogged ? Self.logged : 0), at: 16)
      buffer.store(logIdentifier, at: 192)
      if let keyCheck {
        UnsafeMutableRawBufferPointer(rebasing: buffer[Self.keyCheckRange]).copyBytes(
          from: keyCheck)
      }
      buffer.store(hash64(buffer.baseAddress!, count: 248, seed: 0), at: 248)
    }
    return bytes
  }

  /// What one copy says.
  ///
  /// Nil: the copy is not sound.
  private static func decode(_ buffer: UnsafeRawBufferPointer) -> FileHeader? {
    guard buffer.count >= encodedLength, buffer.prefix(8).elementsEqual(magic),
      buffer.value(UInt64.self, at: 248) == hash64(buffer.baseAddress!, count: 248, seed: 0)
    else { return nil }
    let homeCount = Int(buffer.value(UInt32.self, at: 80))
    guard homeCount >= 3, homeCount <= 8, buffer.value(UInt32.self, at: 84) == UInt32(pageLength)
    else { return nil }
    var header = FileHeader(
      identifierHigh: buffer.value(UInt64.self, at: 32),
      identifierLow: buffer.value(UInt64.self, at: 40), salt: buffer.value(UInt64.self, at: 48))
    header.version = buffer.value(UInt32.self, at: 8)
    header.sequence = buffer.value(UInt64.self, at: 56)
    header.flags = Flags(rawValue: buffer.value(UInt64.self, at: 64))
    header.bootIdentifier = buffer.value(UInt64.self, at: 72)
    header.homes = (0..<homeCount).map { buffer.value(UInt64.self, at: 88 + 8 * $0) }
    header.durableMark = buffer.value(UInt64.self, at: 152)
    let incompatible = buffer.value(UInt64.self, at: 16)
    if incompatible & encrypted != 0 { header.keyCheck = [UInt8](buffer[keyCheckRange]) }
    if incompatible & logged != 0 { header.logIdentifier = buffer.value(UInt64.self, at: 192) }
    guard header.homes.allSatisfy({ $0 % 4096 == 0 && $0 >= 8192 && $0 < dataStart }),
      Set(header.homes).count == homeCount, header.sequence < 1 << 63
    else { return nil }
    return header
  }

  /// Reads the header of a file from its first two pages.
  ///
  /// - Throws: `notADatabase` for foreign or damaged bytes, `unsupportedFormat` for another format.
  package static func read(from pages: UnsafeRawBufferPointer, path: String) throws(StorageError)
    -> FileHeader
  {
    guard pages.count >= 64 else {
      throw .notADatabase(path: path, reason: "it is only \(pages.count) bytes long")
    }
    // The vendor's files carry this mark behind two root references.
    if pages[16..<20].elementsEqual([0x54, 0x2d, 0x44, 0x42]) {
      throw .unsupportedFormat(
        path: path, reason: "it was written by the vendor's database, whose format is another one")
    }
    var newest: FileHeader?
    for offset in copies where pages.count >= Int(offset) + encodedLength {
      let copy = UnsafeRawBufferPointer(rebasing: pages[Int(offset)...])
      if copy.prefix(8).elementsEqual(magic), hasOwnChecksum(copy) {
        let version = copy.value(UInt32.self, at: 8)
        guard formatVersionMin...formatVersion ~= version,
          copy.value(UInt64.self, at: 16) & ~(encrypted | logged) == 0
        else {
          throw .unsupportedFormat(
            path: path, reason: "format \(version), flags \(copy.value(UInt64.self, at: 16))")
        }
      }
      if let header = decode(copy), header.sequence > newest?.sequence ?? 0 { newest = header }
    }
    if let newest { return newest }
    if pages.allSatisfy({ $0 == 0 }) {
      throw .notADatabase(
        path: path,
        reason: "it begins with nothing but zeros: what it held is lost, or it never was one. "
          + "Restore a backup, or remove it to begin anew")
    }
    let known = copies.contains { offset in
      pages.count >= Int(offset) + 8 && pages[Int(offset)..<Int(offset) + 8].elementsEqual(magic)
    }
    throw .notADatabase(
      path: path,
      reason: known ? "both copies of its header are damaged" : "its first bytes are not ours")
  }

  private static func hasOwnChecksum(_ copy: UnsafeRawBufferPointer) -> Bool {
    copy.count >= encodedLength
      && copy.value(UInt64.self, at: 248) == hash64(copy.baseAddress!, count: 248, seed: 0)
  }
}

/// Little-endian integers at byte offsets: the one pair of helpers for everything on disk.
extension UnsafeRawBufferPointer {
  package func value<Value: FixedWidthInteger>(_: Value.Type, at offset: Int) -> Value {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  package func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
