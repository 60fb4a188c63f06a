// Encryption against published vectors, and that nothing but what was sealed opens.
internal import Platform
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CipherTests {
  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)!
    }
  }

  private static func seal(
    _ plain: [UInt8], _ cipher: Cipher, nonce: [UInt8], associated: [UInt8]
  ) -> (bytes: [UInt8], tag: [UInt8]) {
    var bytes = plain
    var tag = [UInt8](repeating: 0, count: Cipher.tagLength)
    bytes.withUnsafeMutableBytes { buffer in
      nonce.withUnsafeBytes { nonce in
        associated.withUnsafeBytes { associated in
          tag.withUnsafeMutableBytes { tag in
            cipher.seal(
              buffer, nonce: nonce.baseAddress!, associated: associated, tag: tag.baseAddress!)
          }
        }
      }
    }
    return (bytes, tag)
  }

  private static func open(
    _ sealed: (bytes: [UInt8], tag: [UInt8]), _ cipher: Cipher, nonce: [UInt8],
    associated: [UInt8]
  ) -> [UInt8]? {
    var plain = [UInt8](repeating: 0, count: sealed.bytes.count)
    let isSound = plain.withUnsafeMutableBytes { plain in
      sealed.bytes.withUnsafeBytes { bytes in
        nonce.withUnsafeBytes { nonce in
          associated.withUnsafeBytes { associated in
            sealed.tag.withUnsafeBytes { tag in
              cipher.open(
                bytes, nonce: nonce.baseAddress!, associated: associated, tag: tag.baseAddress!,
                to: plain.baseAddress!)
            }
          }
        }
      }
    }
    return isSound ? plain : nil
  }

  private static let key = bytes(
    "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
  private static let nonce = bytes("cafebabefacedbaddecaf888")
  private static let associated = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
  private static let plain = bytes(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")

  /// Test case 16 of the specification of GCM.
  @Test func sealsAsTheSpecificationSays() {
    let cipher = Cipher(key: Self.key)
    // Twice: the second time with the context of the first.
    for _ in 0..<2 {
      let sealed = Self.seal(
        Self.plain, cipher, nonce: Self.nonce, associated: Self.associated)
      #expect(
        sealed.bytes
          == Self.bytes(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
              + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"))
      #expect(sealed.tag == Self.bytes("76fc6ece0f4e1768cddf8853bb2d551b"))
      #expect(
        Self.open(sealed, cipher, nonce: Self.nonce, associated: Self.associated) == Self.plain)
    }
  }

  @Test func nothingElseOpens() {
    let cipher = Cipher(key: Self.key)
    let sealed = Self.seal(Self.plain, cipher, nonce: Self.nonce, associated: Self.associated)
    func opens(
      bytes: [UInt8]? = nil, tag: [UInt8]? = nil, nonce: [UInt8] = CipherTests.nonce,
      associated: [UInt8] = CipherTests.associated, cipher: Cipher? = nil
    ) -> Bool {
      Self.open(
        (bytes ?? sealed.bytes, tag ?? sealed.tag), cipher ?? Cipher(key: Self.key), nonce: nonce,
        associated: associated) != nil
    }
    func changed(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
      var bytes = bytes
      bytes[index] ^= 1
      return bytes
    }
    #expect(opens())
    for index in sealed.bytes.indices { #expect(!opens(bytes: changed(sealed.bytes, index))) }
    for index in sealed.tag.indices { #expect(!opens(tag: changed(sealed.tag, index))) }
    #expect(!opens(nonce: changed(Self.nonce, 3)))
    #expect(!opens(associated: changed(Self.associated, 0)))
    #expect(!opens(cipher: Cipher(key: changed(Self.key, 31))))
    #expect(opens())
  }

  /// Test case 3 of RFC 5869, whose output begins with these 32 bytes.
  @Test func derivesKeysAsTheStandardSays() {
    #expect(
      derivedKey([UInt8](repeating: 0x0b, count: 22), salt: [], purpose: "")
        == Self.bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
  }
}
