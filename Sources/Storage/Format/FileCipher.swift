// How an encrypted file looks. Blocks and commit records are sealed one by one with AES-256-GCM,
// each bound to its place; the header stays readable and says by a check value which key fits.
// Layouts, little-endian:
//
//   sealed block                              sealed record
//    0  12 bytes nonce                         0  u64 mark
//   12  u16 length of the block in units       8  u32 length of the record
//   14  u16 zero                              12  12 bytes nonce
//   16  16 bytes tag                          24  16 bytes tag
//   32  the block, encrypted                  40  the record, encrypted
//
// In memory a block lies where its sealed form begins in the file, so the same reference leads to
// both; the
// 32 bytes behind it are unused. A block's own checksum is 0: the tag stands for it.
//
// A nonce is a random number of 64 bits, drawn when the file is opened and after 2^32 nonces, and a
// counter. Numbers that the file itself kept would repeat in a copy of the file that is written to
// independently, which has the same key.
internal import Platform

/// Seals and opens what is written to one encrypted file.
package final class FileCipher: Sendable {
  /// Bytes that a block takes in the file besides its own.
  package static let overhead = 32
  static let keyLength = 64
  static let recordMark: UInt64 = 0x6465_6c61_6573_2e31
  static let recordOverhead = 40
  private static let tagOffset = 16
  private static let lengthOffset = 12

  /// Says in the header which key fits.
  let check: [UInt8]
  private let cipher: Cipher
  private let nonces = Monitor(Nonces())

  private struct Nonces {
    var epoch = PlantedBug.nonceRepeated.isActive ? 0 : systemRandom()
    var counter: UInt32 = 0

    mutating func next() -> (UInt64, UInt32) {
      defer {
        counter &+= 1
        if counter == 0 { epoch = systemRandom() }
      }
      return (epoch, counter)
    }
  }

  /// - Precondition: the key has 64 bytes.
  init(key: [UInt8], header: FileHeader) {
    precondition(key.count == Self.keyLength, "an encryption key of \(key.count) bytes")
    var salt = [UInt8](repeating: 0, count: 24)
    salt.withUnsafeMutableBytes {
      $0.store(header.identifierHigh, at: 0)
      $0.store(header.identifierLow, at: 8)
      $0.store(header.salt, at: 16)
    }
    cipher = Cipher(key: derivedKey(key, salt: salt, purpose: "realm blocks"))
    check = derivedKey(key, salt: salt, purpose: "realm key check")
  }

  /// The cipher for a file with this header; nil when it is not encrypted.
  ///
  /// - Throws: `notADatabase` when the key does not fit.
  package static func make(
    _ header: FileHeader, key: [UInt8]?, path: String
  ) throws(StorageError) -> FileCipher? {
    guard let expected = header.keyCheck else {
      if key == nil { return nil }
      throw .notADatabase(path: path, reason: "it is not encrypted, but a key was given")
    }
    guard let key else {
      throw .notADatabase(path: path, reason: "it is encrypted, and no key was given")
    }
    let cipher = FileCipher(key: key, header: header)
    guard cipher.check == expected else {
      throw .notADatabase(path: path, reason: "it is encrypted with another key")
    }
    return cipher
  }

  private func writeNonce(to target: UnsafeMutableRawPointer) {
    let (epoch, counter) = nonces.withLock { $0.next() }
    target.storeBytes(of: epoch.littleEndian, as: UInt64.self)
    target.storeBytes(of: counter.littleEndian, toByteOffset: 8, as: UInt32.self)
  }

  /// What a tag vouches for besides the encrypted bytes: their place and length.
  private static func associated(_ offset: UInt64, _ length: Int) -> (UInt64, UInt64) {
    (offset.littleEndian, UInt64(length).littleEndian)
  }

  // MARK: - Blocks

  /// Encrypts a block in place.
  ///
  /// The 32 bytes in front of it, where its place in the file begins, get the rest.
  package func seal(_ block: UnsafeMutableRawPointer, _ length: Int, at offset: UInt64) {
    let start = block - Self.overhead
    start.storeBytes(of: 0, toByteOffset: Self.lengthOffset, as: UInt32.self)
    start.storeBytes(
      of: UInt16(length / BlockHeader.unit).littleEndian, toByteOffset: Self.lengthOffset,
      as: UInt16.self)
    writeNonce(to: start)
    withUnsafeBytes(of: Self.associated(offset, length)) { associated in
      cipher.seal(
        UnsafeMutableRawBufferPointer(start: block, count: length), nonce: start,
        associated: associated, tag: start + Self.tagOffset)
    }
  }

  /// Length of the block that is sealed here, without the overhead.
  package static func length(ofSealed start: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: start.load(fromByteOffset: lengthOffset, as: UInt16.self)))
      * BlockHeader.unit
  }

  /// Decrypts a block.
  ///
  /// - Returns: whether it is what was sealed at this place with this length.
  package func open(
    _ start: UnsafeRawPointer, _ length: Int, at offset: UInt64,
    to target: UnsafeMutableRawPointer
  ) -> Bool {
    let isSound = withUnsafeBytes(of: Self.associated(offset, length)) { associated in
      cipher.open(
        UnsafeRawBufferPointer(start: start + Self.overhead, count: length), nonce: start,
        associated: associated, tag: start + Self.tagOffset, to: target)
    }
    return isSound && BlockHeader.blockLength(target) == length
  }

  // MARK: - Records

  /// The sealed form of an encoded record.
  func seal(_ record: [UInt8], home: UInt64) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: Self.recordOverhead)
    sealed += record
    sealed.withUnsafeMutableBytes { buffer in
      buffer.store(Self.recordMark, at: 0)
      buffer.store(UInt32(record.count), at: 8)
      let start = buffer.baseAddress!
      writeNonce(to: start + 12)
      withUnsafeBytes(of: Self.associated(home, record.count)) { associated in
        cipher.seal(
          UnsafeMutableRawBufferPointer(rebasing: buffer[Self.recordOverhead...]),
          nonce: start + 12, associated: associated, tag: start + 24)
      }
    }
    return sealed
  }

  /// The encoded record at the start of a home; nil when there is no sound one.
  func open(_ home: UnsafeRawBufferPointer, at offset: UInt64) -> [UInt8]? {
    guard home.count >= Self.recordOverhead,
      home.value(UInt64.self, at: 0) == Self.recordMark
    else { return nil }
    let length = Int(home.value(UInt32.self, at: 8))
    guard length > 0, length <= home.count - Self.recordOverhead else { return nil }
    let start = home.baseAddress!
    var isSound = false
    let record = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      isSound = withUnsafeBytes(of: Self.associated(offset, length)) { associated in
        cipher.open(
          UnsafeRawBufferPointer(start: start + Self.recordOverhead, count: length),
          nonce: start + 12, associated: associated, tag: start + 24, to: buffer.baseAddress!)
      }
      count = length
    }
    return isSound ? record : nil
  }
}

extension CommitRecord {
  /// The bytes for a home, sealed where the file is encrypted; nil when they are too long for it.
  package func encoded(salt: UInt64, home: UInt64, _ cipher: FileCipher?) -> [UInt8]? {
    guard let bytes = encoded(salt: salt, home: home) else { return nil }
    guard let cipher else { return bytes }
    guard bytes.count + FileCipher.recordOverhead <= Self.lengthMax else { return nil }
    return cipher.seal(bytes, home: home)
  }

  /// The record at the start of a home, or nil when there is no sound one.
  package static func decode(
    _ buffer: UnsafeRawBufferPointer, salt: UInt64, home: UInt64, _ cipher: FileCipher?
  ) -> CommitRecord? {
    guard let cipher else { return decode(buffer, salt: salt, home: home) }
    return cipher.open(buffer, at: home)?.withUnsafeBytes {
      decode($0, salt: salt, home: home)
    }
  }
}
