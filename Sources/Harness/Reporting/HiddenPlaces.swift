// What a page leaves out so that it can be shown to anybody: where things lie on the machine that
// measured them.

/// Takes places out of texts.
enum HiddenPlaces {
  /// A command without the folders of the paths in it.
  static func command(_ command: String) -> String {
    words(command).map { word in
      let bare = word.hasPrefix("'") ? word.dropFirst() : word[...]
      // `2000/s` and `2/4` are no paths, and a plan by its name alone names no place.
      let isPath =
        ["/", "./", "../", "~"].contains { bare.hasPrefix($0) }
        || (bare.contains("/") && (bare.hasSuffix(".json") || bare.hasSuffix(".json'")))
      guard isPath, let last = bare.split(separator: "/").last else { return word }
      return (word.hasPrefix("'") ? "'" : "") + last
    }.joined(separator: " ")
  }

  /// The words of a command; what is quoted stays whole.
  private static func words(_ command: String) -> [String] {
    var words: [String] = []
    var isQuoted = false
    var word = ""
    for letter in command {
      if letter == "'" { isQuoted.toggle() }
      if letter == " " && !isQuoted {
        words.append(word)
        word = ""
      } else {
        word.append(letter)
      }
    }
    return words + [word]
  }

  /// A text that names results folders, naming them by what the page calls them.
  static func text(_ text: String, _ names: [(folder: String, name: String)]) -> String {
    // The longest first: one may lie in another.
    names.sorted { $0.folder.count > $1.folder.count }.reduce(text) {
      $0.replacing("'\($1.folder)'", with: $1.name)
    }
  }
}
