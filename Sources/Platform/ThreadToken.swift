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
  package var description: String { describeThread(rawValue, of: "self", UInt64(getpid())) }
}

private func describeThread(_ thread: UInt64, of folder: String, _ process: UInt64) -> String {
  guard let name = firstLine(of: "/proc/\(folder)/task/\(thread)/comm") else {
    return "thread (\(thread)), which has ended"
  }
  let kind = thread == process ? "main thread" : "thread"
  return name.isEmpty ? "\(kind) (\(thread))" : "\(kind) '\(name)' (\(thread))"
}

/// Names a thread of another process, as in `process 'server' (41200), thread 'reader-3' (41207)`.
package func describeThread(_ thread: UInt64, ofProcess process: UInt64) -> String {
  guard process > 0, let name = firstLine(of: "/proc/\(process)/comm") else {
    return process > 0 ? "process (\(process))" : "another process"
  }
  let thread = thread == 0 ? "unknown thread" : describeThread(thread, of: "\(process)", process)
  return "process '\(name)' (\(process)), \(thread)"
}

/// Nil when there is no such file.
private func firstLine(of path: String) -> String? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
    guard fgets(buffer.baseAddress, Int32(buffer.count), file) != nil else { return "" }
    return String(cString: buffer.baseAddress!).split(separator: "\n").first.map(String.init) ?? ""
  }
}

/// Names the calling thread for a message, as in `thread 'reader-3' (41207)`.
package func currentThreadDescription() -> String { ThreadNumber.current.description }
