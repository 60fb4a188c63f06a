// Names that are too long for what has to stand beside them: a file that can be made, and whose
// lock or parts cannot, would end the verb after it has begun.
internal import Foundation
internal import Glibc
internal import Platform

/// Refuses places for files whose names would not fit.
enum NameLength {
  /// What the kernel takes as a path, with the zero at its end.
  private static let pathBytesMax = Int(PATH_MAX) - 1
  /// What file systems take as one name where they do not say so.
  private static let usualNameBytesMax = 255

  /// Refuses a path that is too long itself, or with what is made of it.
  ///
  /// - Parameters:
  ///   - longestEnd: the longest that is written behind its name.
  ///   - room: bytes of what is made below it.
  static func refuse(
    _ path: String, flag: String, longestEnd: String = "", room: Int = 0
  ) throws(UsageError) {
    let folder = Platform.folder(of: path)
    let said = pathconf(folder, Int32(_PC_NAME_MAX))
    let nameBytesMax = said > 0 ? min(said, usualNameBytesMax) : usualNameBytesMax
    let names = path.utf8.split(separator: UInt8(ascii: "/")).map(\.count)
    let end = longestEnd.utf8.count
    if let last = names.last, last + end > nameBytesMax {
      throw UsageError(
        "\(flag): the name is too long: it has \(last) bytes, and with what stands beside it may "
          + "have \(nameBytesMax - end); give a shorter one")
    }
    if let long = names.first(where: { $0 > usualNameBytesMax }) {
      throw UsageError(
        "\(flag): a name in the path is too long: it has \(long) bytes, and may have "
          + "\(usualNameBytesMax); give another path")
    }
    let isWhole = path.utf8.first == UInt8(ascii: "/")
    let whole =
      (isWhole ? 0 : FileManager.default.currentDirectoryPath.utf8.count + 1) + path.utf8.count
    if whole + end + room > pathBytesMax {
      throw UsageError(
        "\(flag): the path is too long: it has \(whole) bytes, and with what stands there may have "
          + "\(pathBytesMax - end - room); give a shorter one")
    }
  }
}
