// Which thread is running: the token that confinement checks compare, and a text for messages.
// The import is public because the token is inlined into the layers above.
public import CShim
internal import Glibc

/// Identity of a thread.
///
/// Never reused, unlike the kernel's numbers.
@frozen @usableFromInline
package struct ThreadToken: Hashable, Sendable {
  @usableFromInline package let rawValue: UInt64

  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The calling thread's token; its raw value is never 0.
  ///
  /// Code after an `await` may run on another thread: read it again there.
  /// - Complexity: one thread-local load.
  @inlinable @inline(__always)
  package static var current: ThreadToken { ThreadToken(rawValue: shim_thread_token()) }

  /// Whether this is the calling thread's token: the form for checks that run on every access.
  /// - Complexity: one thread-local load and one compare.
  @inlinable @inline(__always)
  package var isCurrent: Bool { rawValue == shim_thread_token_or_zero() }
}

/// The kernel's number of a thread: cheap to note, turned into words when somebody asks.
package struct ThreadNumber: Sendable {
  let rawValue: UInt64

  /// The calling thread's number.
  package static var current: ThreadNumber { ThreadNumber(rawValue: shim_thread_identifier()) }

  /// As in `thread 'reader-3' (41207)`.
  package var description: String {
    let path = "/proc/self/task/\(rawValue)/comm"
    guard let file = fopen(path, "r") else { return "thread (\(rawValue)), which has ended" }
    defer { fclose(file) }
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
      guard fgets(buffer.baseAddress, Int32(buffer.count), file) != nil else { return "" }
      return String(cString: buffer.baseAddress!).split(separator: "\n").first.map(String.init)
        ?? ""
    }
    let kind = rawValue == UInt64(getpid()) ? "main thread" : "thread"
    return name.isEmpty ? "\(kind) (\(rawValue))" : "\(kind) '\(name)' (\(rawValue))"
  }
}

/// Names the calling thread for a message, as in `thread 'reader-3' (41207)`.
package func currentThreadDescription() -> String { ThreadNumber.current.description }
