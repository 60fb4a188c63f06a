// Syncs and written bytes of another engine, counted where its library calls the system: see
// Sources/CCountedCalls.
#if PEERS
  internal import CCountedCalls
  internal import Foundation

  /// A count of one engine's calls on its own files.
  final class CountedCalls: Sendable {
    private let number: Int32

    /// Counts from now on, on files whose path begins with this one.
    init(_ path: String) throws {
      number = counted_calls_begin(path)
      if number < 0 { throw EngineFailure("'\(path)' is too long, or too many files are open") }
    }

    var counts: (syncs: UInt64, bytes: UInt64) {
      var (syncs, bytes): (UInt64, UInt64) = (0, 0)
      counted_calls_read(number, &syncs, &bytes)
      return (syncs, bytes)
    }

    /// After a file was made: a tool that counts nothing would print zeros as if they were counted.
    func check(_ durability: DurabilityClass) throws {
      let counts = counts
      guard counts.bytes > 0, durability == .memory || counts.syncs > 0 else {
        throw EngineFailure(
          "the calls of the engine's library cannot be counted in this build of the tool; was it "
            + "linked statically?")
      }
    }

    func end() { counted_calls_end(number) }
  }

  extension Row {
    /// Sets the payload, in the memory that it has if that fits.
    @inline(__always)
    mutating func setPayload(_ bytes: UnsafeRawBufferPointer) {
      if payload.count != bytes.count { payload = Data(count: bytes.count) }
      if bytes.isEmpty { return }
      payload.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }
  }
#endif
