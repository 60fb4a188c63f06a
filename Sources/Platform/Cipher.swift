// Encryption by OpenSSL's libcrypto: AES-256 in GCM, and keys derived by HKDF with SHA-256.
// What is encrypted, and with which nonces, is Storage's to say.

/// Encrypts and authenticates bytes under one key.
///
/// Safe to use from many threads.
package final class Cipher: Sendable {
  package static let keyLength = 32
  package static let nonceLength = 12
  package static let tagLength = 16

  /// A context with the key, for one thread at a time.
  private struct Context: @unchecked Sendable {
    // @unchecked: whoever takes it out of the pool is its only user.
    let pointer: UnsafeMutableRawPointer
  }

  private let sealing: Pool
  private let opening: Pool

  /// Contexts that nobody uses now.
  ///
  /// Expanding the key takes as long as a small block, so contexts are kept.
  private final class Pool: Sendable {
    private let free = Monitor<[Context]>([])
    private let key: [UInt8]
    private let isSealing: Bool

    init(key: [UInt8], isSealing: Bool) {
      self.key = key
      self.isSealing = isSealing
    }

    deinit { free.withLock { $0 }.forEach { shim_cipher_free($0.pointer) } }

    func take() -> Context { free.withLock { $0.popLast() } ?? makeContext() }

    func giveBack(_ context: Context) { free.withLock { $0.append(context) } }

    private func makeContext() -> Context {
      guard let pointer = shim_cipher_make(key, isSealing ? 1 : 0) else {
        preconditionFailure("no memory for a cipher")
      }
      return Context(pointer: pointer)
    }
  }

  /// - Precondition: the key has 32 bytes.
  package init(key: [UInt8]) {
    precondition(key.count == Self.keyLength, "a key of \(key.count) bytes")
    sealing = Pool(key: key, isSealing: true)
    opening = Pool(key: key, isSealing: false)
  }

  /// Encrypts bytes in place and writes their tag.
  ///
  /// - Parameters:
  ///   - nonce: 12 bytes that this key was never used with.
  ///   - associated: bytes that are authenticated, not encrypted.
  ///   - tag: gets 16 bytes.
  package func seal(
    _ bytes: UnsafeMutableRawBufferPointer, nonce: UnsafeRawPointer,
    associated: UnsafeRawBufferPointer, tag: UnsafeMutableRawPointer
  ) {
    let context = sealing.take()
    defer { sealing.giveBack(context) }
    // Nothing here depends on the bytes: a failure is one of the library or of its use.
    precondition(
      shim_cipher_seal(
        context.pointer, nonce, associated.baseAddress, associated.count, bytes.baseAddress!,
        bytes.count, tag) == 1,
      "libcrypto cannot encrypt")
  }

  /// Decrypts bytes to another place of the same length, or to the same.
  ///
  /// - Returns: false when they are not what was sealed; then what `target` holds means nothing.
  package func open(
    _ bytes: UnsafeRawBufferPointer, nonce: UnsafeRawPointer, associated: UnsafeRawBufferPointer,
    tag: UnsafeRawPointer, to target: UnsafeMutableRawPointer
  ) -> Bool {
    let context = opening.take()
    defer { opening.giveBack(context) }
    return shim_cipher_open(
      context.pointer, nonce, associated.baseAddress, associated.count, bytes.baseAddress!,
      bytes.count, tag, target) == 1
  }
}

/// A key of 32 bytes for one purpose, by HKDF with SHA-256 (RFC 5869).
package func derivedKey(_ secret: [UInt8], salt: [UInt8], purpose: String) -> [UInt8] {
  authenticationCode(
    Array(purpose.utf8) + [1], key: authenticationCode(secret, key: salt))
}

/// HMAC with SHA-256: 32 bytes.
package func authenticationCode(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: 32) { code, count in
    let isDone = shim_authentication_code(
      key, key.count, bytes, bytes.count, code.baseAddress!)
    precondition(isDone == 1, "libcrypto cannot compute a hash")
    count = 32
  }
}
