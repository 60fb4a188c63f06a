// Limits of the system for a process that a test has started, which ends with the test.
internal import Glibc

/// Makes the process that of a user without rights, for whom limits hold.
package func becomeNobody() {
  if getuid() == 0 {
    precondition(setgid(65534) == 0 && setuid(65534) == 0, "cannot become nobody: errno \(errno)")
  }
}

/// Sets a limit, as far as the system allows it.
package func setLimit(_ kind: UInt32, _ value: UInt64) {
  var limit = rlimit()
  precondition(getrlimit(__rlimit_resource_t(kind), &limit) == 0)
  limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
  precondition(setrlimit(__rlimit_resource_t(kind), &limit) == 0, "no limit: errno \(errno)")
}

/// The process may start no thread and no other process any more.
package func forbidThreads() {
  // Swift sees no name for this limit.
  setLimit(6, 0)
}
