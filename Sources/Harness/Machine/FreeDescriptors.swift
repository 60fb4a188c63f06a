// Whether a process can be started by Foundation, which ends this one (an illegal instruction)
// where it finds no descriptor for the run loop that is to notice the other one's end.
internal import Glibc
internal import Platform

/// File descriptors that nobody uses.
enum FreeDescriptors {
  /// More than a start takes: pipes for three streams, a run loop, and what tells of the end.
  private static let needed = 30

  /// Finds out whether there are enough to start a process; to be called before its pipes are made.
  ///
  /// - Throws: `SystemError` when there are not.
  static func check(toStart executable: String) throws(SystemError) {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<needed {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 {
        throw SystemError(call: "open descriptors to start", path: executable, code: errno)
      }
      opened.append(descriptor)
    }
  }
}
