// Texts as a file tells them apart: by their bytes. Swift calls texts equal that look alike, such
// as an accented letter in one piece and in two. In a file those are two values, and so they have
// to be wherever values of a Realm are kept by text in memory.

/// A text that equals another one of the same bytes only.
@usableFromInline
struct StoredText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  @usableFromInline
  static func == (left: StoredText, right: StoredText) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    text._withBytes { hasher.combine(bytes: $0) }
  }

  /// Whether it comes first in a file.
  func precedes(_ other: StoredText) -> Bool {
    text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }
}
