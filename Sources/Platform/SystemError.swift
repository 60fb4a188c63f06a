// What a failed system call says. Storage turns it into a StorageError once.
internal import Glibc

/// A failed system call: its name, the file it was about, and errno.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  package let call: String
  package let path: String
  package let code: Int32

  package init(call: String, path: String, code: Int32) {
    self.call = call
    self.path = path
    self.code = code
  }

  /// errno of an input/output error.
  package static let inputOutput: Int32 = EIO
  /// errno of a file that would get too long.
  package static let fileTooLarge: Int32 = EFBIG

  /// No file descriptor is left for what wakes the main queue.
  package static func noDescriptor(_ path: String) -> SystemError {
    SystemError(call: "eventfd", path: path, code: EMFILE)
  }

  /// The text of errno, as strerror gives it.
  package var reason: String { String(cString: strerror(code)) }

  package var description: String {
    "\(call) on '\(path)' failed: \(reason) (errno \(code))\(remedy)"
  }

  /// What to do about limits of the system.
  private var remedy: String {
    switch code {
    case EMFILE: ". Close files, or raise the limit of the process (ulimit -n, RLIMIT_NOFILE)"
    case ENFILE: ". Raise the limit of the machine (fs.file-max)"
    default: ""
    }
  }

  /// The disk is full, or the file may not be longer.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  package var isMisaligned: Bool { code == EINVAL }
  package var isMissing: Bool { code == ENOENT }
  package var isPermission: Bool { code == EACCES || code == EPERM || code == EROFS }
  /// The path is a symbolic link, which was not to be followed, or one too many of them.
  package var isLink: Bool { code == ELOOP }
  /// What opening answers for a pipe, a socket or a device.
  package var isNoRegularFile: Bool { (code == EINVAL || code == ENXIO) && call == "open" }
  /// Nothing can ever be opened at the path: a file stands for a folder, it is too long, or is no
  /// file.
  package var isUnusablePath: Bool {
    code == ENOTDIR || code == ENAMETOOLONG || isLink || isNoRegularFile
  }
  package var isDirectory: Bool { code == EISDIR }
  package var alreadyExists: Bool { code == EEXIST }
}
