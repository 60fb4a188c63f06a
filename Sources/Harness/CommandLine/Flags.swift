// The parser of flags: exactly the known ones, each at most once unless it may repeat, values as
// `--flag value` or `--flag=value`. Refuses everything else before anything starts.

/// A flag that a verb knows.
package struct FlagDefinition: Sendable {
  package let name: String
  /// How the value is shown in help; nil for a switch.
  package let value: String?
  /// Whether the value is a path, which is what help then calls it.
  package var isPath: Bool { ["FILE", "DIR", "FOLDER"].contains(value) }
  package let isRepeatable: Bool
  package let help: String

  package init(_ name: String, _ value: String? = nil, isRepeatable: Bool = false, _ help: String) {
    self.name = name
    self.value = value
    self.isRepeatable = isRepeatable
    self.help = help
  }
}

/// What a command line holds, by flag.
package struct FlagValues: Sendable {
  package private(set) var positional: [String] = []
  private var values: [String: [String]] = [:]

  /// Reads `arguments`.
  ///
  /// - Parameters:
  ///   - refused: flags that exist elsewhere, each with the reason why not here.
  ///   - used: those of the known ones that mean something here, where not all do.
  package init(
    _ arguments: [String], known: [FlagDefinition], refused: [String: String] = [:],
    used: Set<String>? = nil
  ) throws(UsageError) {
    let byName = Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0) })
    let names = Set(byName.keys)
    var rest = ForeignFlags.writtenOut(arguments, known: names)[...]
    var isPastFlags = false
    while let argument = rest.popFirst() {
      if isPastFlags || !argument.hasPrefix("-") || argument == "-" {
        positional.append(argument)
        continue
      }
      if argument == "--" {
        isPastFlags = true
        continue
      }
      let (name, attached) = Self.split(argument)
      guard argument.hasPrefix("--"), let flag = byName[name] else {
        if argument.hasPrefix("--"), let reason = refused[name] {
          throw UsageError("--\(name): \(reason)")
        }
        throw Self.unknown(argument, name, known: names.union(refused.keys), used)
      }
      if values[name] != nil && !flag.isRepeatable {
        throw UsageError("--\(name) is given twice")
      }
      let value = try Self.value(of: flag, attached: attached, rest: &rest)
      values[name, default: []].append(
        flag.isPath ? try LiteralPath.path(value, of: "--" + name) : value)
    }
  }

  /// The words of a command line without some flags and their values, for a process that does a
  /// part of what is asked for.
  ///
  /// - Parameters:
  ///   - dropped: names of flags, without hyphens.
  ///   - known: the flags that the words were read with.
  package static func words(
    _ arguments: [String], without dropped: Set<String>, known: [FlagDefinition]
  ) -> [String] {
    let byName = Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0) })
    var rest = ForeignFlags.writtenOut(arguments, known: Set(byName.keys))[...]
    var kept: [String] = []
    while let word = rest.popFirst() {
      if word == "--" { return kept + [word] + rest }
      let (name, attached) = split(word)
      guard word.hasPrefix("--"), let flag = byName[name] else {
        kept.append(word)
        continue
      }
      let value = flag.value != nil && attached == nil ? rest.popFirst() : nil
      if !dropped.contains(name) { kept += [word] + (value.map { [$0] } ?? []) }
    }
    return kept
  }

  private static func split(_ argument: String) -> (name: String, attached: String?) {
    let bare = argument.hasPrefix("--") ? argument.dropFirst(2) : argument.dropFirst(1)
    guard let equals = bare.firstIndex(of: "=") else { return (String(bare), nil) }
    return (String(bare[..<equals]), String(bare[bare.index(after: equals)...]))
  }

  private static func value(
    of flag: FlagDefinition, attached: String?, rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let form = flag.value else {
      if let attached { throw UsageError("--\(flag.name) takes no value, but has '\(attached)'") }
      return ""
    }
    if let attached {
      if attached.isEmpty { throw UsageError("--\(flag.name) needs a value: \(form)") }
      return attached
    }
    // Flags are a value of one that takes flags.
    guard let next = rest.first, !next.isEmpty, next != "--",
      !next.hasPrefix("--") || form == "FLAGS"
    else {
      throw UsageError("--\(flag.name) needs a value: \(form)")
    }
    rest.removeFirst()
    return next
  }

  private static func unknown(
    _ argument: String, _ name: String, known: Set<String>, _ used: Set<String>?
  ) -> UsageError {
    if argument.hasPrefix("-") && !argument.hasPrefix("--") && known.contains(name) {
      return UsageError("unknown flag '\(argument)'; did you mean '--\(name)'?")
    }
    if let answer = ForeignFlags.answer(name, known: known, used: used) {
      return UsageError("unknown flag '\(argument)'; \(answer)")
    }
    // Where some of them mean something, another one would be refused in its turn.
    let nearest =
      nearestName(name, in: (used ?? known).sorted()).map { "; did you mean '--\($0)'?" }
      ?? nearestName(name, in: known.sorted())
      .flatMap { ForeignFlags.substitute($0, used: used ?? []) }.map { "; here it is \($0)" }
    return UsageError(
      "unknown flag '\(argument)'" + (nearest ?? "; see '\(Tool.current.name)' for help"))
  }

  /// The words that are no flags, each as a path.
  package func paths(_ verb: String) throws(UsageError) -> [String] {
    var paths: [String] = []
    for word in positional { paths.append(try LiteralPath.path(word, of: verb)) }
    return paths
  }

  /// The flags that were given, in a fixed order.
  package var names: [String] { values.keys.sorted() }
  package func has(_ name: String) -> Bool { values[name] != nil }
  package func first(_ name: String) -> String? { values[name]?.first }
  package func all(_ name: String) -> [String] { values[name] ?? [] }

  /// The value as one of the cases of an enumeration.
  package func choice<Choice: CaseIterable & RawRepresentable>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws(UsageError) -> Choice? where Choice.RawValue == String {
    guard let text = first(name) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    let nearest = nearestName(text, in: names).map { "; did you mean '\($0)'?" } ?? ""
    throw UsageError(
      "--\(name): '\(text)' is not one of \(names.joined(separator: ", "))\(nearest)")
  }

  /// Refuses flags that contradict each other.
  package func refuse(_ name: String, with other: String, because reason: String)
    throws(UsageError)
  {
    if has(name) && has(other) {
      throw UsageError("--\(name) and --\(other) contradict each other: \(reason)")
    }
  }

  /// Refuses a flag that means nothing without another.
  package func refuse(_ name: String, without other: String) throws(UsageError) {
    if has(name) && !has(other) { throw UsageError("--\(name) means nothing without --\(other)") }
  }
}
