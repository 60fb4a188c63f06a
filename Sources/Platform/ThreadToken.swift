// Which thread is running: the token that confinement checks compare, and a text for messages.
internal import Glibc

#if CONTROLLED_SCHEDULING
  internal import RaceHunt
#endif

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

/// Spreads threads over slots: the address of the stack is as good as a number of the thread.
package var hashOfThread: UInt {
  #if CONTROLLED_SCHEDULING
    // Which stack a thread of an exploration is on differs from run to run.
    if let number = Control.threadNumber { return UInt(number) }
  #endif
  return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { memory in
    (UInt(bitPattern: memory.baseAddress!) >> 16) &* 0x9e37_79b9_7f4a_7c15 >> 40
  }
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
  guard let kept = firstLine(of: "/proc/\(folder)/task/\(thread)/comm") else {
    return "thread (\(thread)), which has ended"
  }
  let kind = thread == process ? "main thread" : "thread"
  let name = folder == "self" ? ThreadNames.whole(kept, of: thread) : kept
  return name.isEmpty ? "\(kind) (\(thread))" : "\(kind) '\(name)' (\(thread))"
}

/// Names of threads that are longer than the 15 bytes which the kernel keeps.
package enum ThreadNames {
  private static let bytesOfKernel = 15
  /// Names of threads that have ended go when there are so many.
  private static let namesMax = 1_024
  private static let names = Monitor<[UInt64: String]>([:])

  /// Notes the calling thread's name, if the kernel has cut it.
  package static func note(_ name: String) {
    guard name.utf8.count > bytesOfKernel else { return }
    let thread = ThreadNumber.current.rawValue
    names.withLock { names in
      if names.count >= namesMax {
        names = names.filter { access("/proc/self/task/\($0.key)", F_OK) == 0 }
      }
      if names.count < namesMax { names[thread] = name }
    }
  }

  /// Forgets the calling thread, which ends.
  static func forget(_ name: String) {
    guard name.utf8.count > bytesOfKernel else { return }
    let thread = ThreadNumber.current.rawValue
    names.withLock { $0[thread] = nil }
  }

  /// The name without its end, as the kernel takes it.
  static func cut(_ name: String) -> String {
    var cut = name
    while cut.utf8.count > bytesOfKernel { cut.removeLast() }
    return cut
  }

  /// The whole name of a thread that has a name in the kernel.
  fileprivate static func whole(_ name: String, of thread: UInt64) -> String {
    // The kernel's number may be another thread's by now.
    let whole = names.withLock { $0[thread] }
    guard let whole, !name.isEmpty, whole.utf8.starts(with: name.utf8) else { return name }
    return whole
  }
}

/// Names another process, as in `process 'server' (41200)`, and says whether it was stopped.
package func describeProcess(_ process: UInt64) -> String {
  guard process > 0, let name = firstLine(of: "/proc/\(process)/comm") else {
    return process > 0 ? "process (\(process))" : "another process"
  }
  return "process '\(name)' (\(process))" + (isStopped(process) ? ", which is stopped" : "")
}

/// Whether a signal or a debugger has stopped a process.
private func isStopped(_ process: UInt64) -> Bool {
  guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
  defer { fclose(file) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
    guard fgets(buffer.baseAddress, Int32(buffer.count), file) != nil else { return false }
    // The state is the field behind the name, which is in parentheses and may have any character.
    let text = String(cString: buffer.baseAddress!)
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first.map { "tT".contains($0) } ?? false
  }
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
