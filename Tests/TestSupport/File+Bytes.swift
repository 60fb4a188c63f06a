// Reading and writing arrays, for tests.
package import Platform

extension File {
  /// Writes all of `bytes`.
  package func write(bytes: [UInt8], at offset: UInt64) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  /// Up to `count` bytes; fewer only at the end of the file.
  package func read(_ count: Int, at offset: UInt64) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let received = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    bytes.removeLast(count - received)
    return bytes
  }
}

extension FileMapping {
  /// One byte of the map.
  ///
  /// The map lives until it is read, unlike with `base.load` as its last use.
  package func byte(at offset: Int) -> UInt8 {
    withExtendedLifetime(self) { base.load(fromByteOffset: offset, as: UInt8.self) }
  }

  /// Writes one byte of the map.
  package func setByte(_ byte: UInt8, at offset: Int) {
    withExtendedLifetime(self) { base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self) }
  }
}
