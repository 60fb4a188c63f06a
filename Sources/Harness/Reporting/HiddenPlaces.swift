// What a page leaves out so that it can be shown to anybody: where things lie on the machine that
// measured them, and the name of its host.
internal import Foundation

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

  /// What is said of a run, without the folders of the paths in it and the name of its host.
  ///
  /// - Parameter run: whose own folders are known, also where a space in one would end a path.
  static func sentence(_ text: String, of run: MeasuredRun) -> String {
    let document = run.document
    var text = text
    for folder in [run.folder, document.settings.output] where folder.hasPrefix("/") {
      text = text.replacing(folder + "/", with: "").replacing(folder, with: "the folder of the run")
    }
    let known = [
      document.settings.path, document.realmFile,
      document.realmFile.map { ($0 as NSString).deletingLastPathComponent },
    ]
    for path in known.compactMap(\.self).sorted(by: { $0.count > $1.count })
    where path.hasPrefix("/") && path.count > 1 {
      text = text.replacing(path, with: (path as NSString).lastPathComponent)
    }
    let host = document.environment.hostName
    if !["", "localhost"].contains(host) { text = text.replacing(host, with: "the host") }
    return pathsAsNames(text)
  }

  /// Each path that begins with `/` or `~/` as its last part.
  private static func pathsAsNames(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let letter = rest.first {
      let isBeginning = result.last.map { " '\"(=:,".contains($0) } ?? true
      guard isBeginning, letter == "/" || rest.hasPrefix("~/") else {
        result.append(letter)
        rest.removeFirst()
        continue
      }
      // What is quoted ends with the quote, all else with what no path of a sentence has.
      let quote = result.last.flatMap { "'\"".contains($0) ? $0 : nil }
      let path = rest.prefix { letter in
        quote.map { letter != $0 } ?? !" '\"),;".contains(letter)
      }
      result += path.split(separator: "/").last ?? path
      rest = rest.dropFirst(path.count)
    }
    return result
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
