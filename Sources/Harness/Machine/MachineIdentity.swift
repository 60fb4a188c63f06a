// Which machine this is, so that times are not compared across two that look alike.
internal import Foundation
internal import Platform

/// The identity of the machine, or of its container.
package enum MachineIdentity {
  /// A hash of the system's own identity, which is nobody's business; nil where there is none.
  ///
  /// Containers without a machine identity are known by the boot of the machine: what ran before a
  /// restart counts as another one then.
  package static func here(root: String = "") -> String? {
    for path in ["/etc/machine-id", "/proc/sys/kernel/random/boot_id"] {
      let text = textOfFile(root + path)?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      // An image may say that the first start is still to come.
      if text.isEmpty || text == "uninitialized" { continue }
      let bytes = Array("realm-bench \(text)".utf8)
      let hash = bytes.withUnsafeBytes { hash64($0.baseAddress!, count: $0.count, seed: 0) }
      let digits = String(hash, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return nil
  }
}
