// Whether the stack of the process is large enough: where it ends, the kernel ends the process, and
// nobody can say a word any more.
internal import Glibc

/// The limit of the stack (`ulimit -s`).
enum StackLimit {
  /// With less some verbs do not come to their end, in a debug build.
  private static let neededBytes: rlim_t = 256 << 10

  /// What is said where there is too little.
  static var objection: String? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0,
      limit.rlim_cur < neededBytes
    else { return nil }
    return "the stack may have \(limit.rlim_cur >> 10) KiB, and the tool needs at least "
      + "\(neededBytes >> 10); raise the limit, such as by 'ulimit -s 8192'"
  }
}
