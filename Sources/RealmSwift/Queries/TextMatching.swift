// Parts, patterns and folding of texts in UTF-8.
internal import Foundation

/// Comparisons of texts by their bytes.
enum TextMatching {
  /// Whether bytes have others in them.
  static func contains(
    _ value: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer
  ) -> Bool {
    guard let first = part.first else { return true }
    guard value.count >= part.count else { return false }
    for start in 0...(value.count - part.count) where value[start] == first {
      if (1..<part.count).allSatisfy({ value[start + $0] == part[$0] }) { return true }
    }
    return false
  }

  /// Whether a text fits a pattern: `*` is any text, `?` one character.
  ///
  /// - Complexity: O(text x pattern) at worst.
  static func isLike(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    var wanted = 0
    // Where to go on when what followed the last star did not fit.
    var retry: (position: Int, wanted: Int)?
    while position < text.count {
      if wanted < pattern.count, pattern[wanted] == star {
        wanted += 1
        retry = (position, wanted)
      } else if wanted < pattern.count, pattern[wanted] == questionMark {
        wanted += 1
        position = next(text, position)
      } else if wanted < pattern.count, pattern[wanted] == text[position] {
        wanted += 1
        position += 1
      } else if let last = retry {
        position = next(text, last.position)
        wanted = last.wanted
        retry = (position, wanted)
      } else {
        return false
      }
    }
    return pattern[wanted...].allSatisfy { $0 == star }
  }

  private static let star = UInt8(ascii: "*")
  private static let questionMark = UInt8(ascii: "?")

  /// The position of the next character.
  private static func next(_ text: UnsafeRawBufferPointer, _ position: Int) -> Int {
    var position = position + 1
    while position < text.count, text[position] & 0xc0 == 0x80 { position += 1 }
    return position
  }

  /// The text without what the options say makes no difference.
  static func folded(_ text: UnsafeRawBufferPointer, _ options: StringOptions) -> [UInt8] {
    if text.allSatisfy({ $0 < 0x80 }) {
      guard options.contains(.caseInsensitive) else { return Array(text) }
      return text.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
    }
    var string = String(decoding: text, as: UTF8.self)
    if options.contains(.diacriticInsensitive) { string = withoutMarks(string) }
    if options.contains(.caseInsensitive) {
      // Up and down: letters that differ in one direction only become the same.
      string = string.uppercased().lowercased()
    }
    return Array(string.utf8)
  }

  /// The text without the marks that letters can carry.
  private static func withoutMarks(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for character in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where character.properties.generalCategory != .nonspacingMark {
      result.append(character)
    }
    return String(result).precomposedStringWithCanonicalMapping
  }
}
