// A plain file with the calls that the physical limits are made of.
import Foundation
import Glibc

/// An open file whose pages were all written before.
final class RawFile: @unchecked Sendable {
  // @unchecked: a descriptor and constants; positional calls may come from all threads.
  static let pageBytes = 4096
  let path: String
  let pages: Int
  private let descriptor: Int32
  private let page = UnsafeMutableRawPointer.allocate(byteCount: pageBytes, alignment: pageBytes)

  /// Makes a file of about `bytes`, or an empty one.
  init(_ path: String, bytes: Int) throws {
    self.path = path
    pages = max(1, bytes / Self.pageBytes)
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    page.initializeMemory(as: UInt8.self, repeating: 0x5a, count: Self.pageBytes)
    guard descriptor >= 0 else { throw PeerError("\(path): cannot be made") }
    if bytes > 0 {
      let chunk = [UInt8](repeating: 0xa5, count: 1 << 20)
      try chunk.withUnsafeBytes { chunk in
        for offset in stride(from: 0, to: pages * Self.pageBytes, by: chunk.count) {
          let count = min(chunk.count, pages * Self.pageBytes - offset)
          try write(UnsafeRawBufferPointer(rebasing: chunk[..<count]), at: offset)
        }
      }
    }
    try synchronize()
  }

  deinit {
    close(descriptor)
    page.deallocate()
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    guard pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count else {
      throw PeerError("\(path): write failed")
    }
  }

  /// Writes one page.
  func writePage(_ number: Int) throws {
    try write(
      UnsafeRawBufferPointer(start: page, count: Self.pageBytes), at: number * Self.pageBytes)
  }

  func synchronize() throws {
    guard fdatasync(descriptor) == 0 else { throw PeerError("\(path): sync failed") }
  }

  func remove() { unlink(path) }
}
