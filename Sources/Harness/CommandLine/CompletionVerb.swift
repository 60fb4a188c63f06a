// `realm-bench completion`: completion for shells and the man page, made from the tables that the
// parser and help are made from, so that they cannot say anything else.
internal import Foundation

/// The verb `completion`.
package enum CompletionVerb: VerbDescription {
  package static let name = "completion"
  package static let arguments = "bash|zsh|fish|man"
  package static let summary = "completion for a shell, or the man page"
  package static let words = ["bash", "zsh", "fish", "man"]
  package static let usage = """
    realm-bench completion bash|zsh|fish|man

    Prints a completion script for a shell, or the man page as troff.

      source <(realm-bench completion bash)
      realm-bench completion zsh > ~/.zfunc/_realm-bench
      realm-bench completion fish > ~/.config/fish/completions/realm-bench.fish
      realm-bench completion man > realm-bench.1 && man ./realm-bench.1
    """
  package static let flags: [FlagDefinition] = [.init("help", nil, "show this")]

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    guard values.positional.count == 1, let shell = values.positional.first else {
      throw UsageError("completion needs one of \(words.joined(separator: ", "))")
    }
    switch shell {
    case "bash": console.printRaw(ofThisTool(bash()))
    case "zsh": console.printRaw(ofThisTool(zsh()))
    case "fish": console.printRaw(ofThisTool(fish()))
    case "man": console.printRaw(ofThisTool(manPage()))
    default:
      let nearest = nearestName(shell, in: words).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "completion: '\(shell)' is not one of \(words.joined(separator: ", "))\(nearest)")
    }
    return .success
  }

  /// A script or page with the names of the program that runs.
  private static func ofThisTool(_ text: String) -> String {
    let name = Tool.current.name
    if name == "realm-bench" { return text }
    let word = String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    return Tool.named(text.replacing("_realm_bench", with: "_" + word))
      .replacing("realm\\-bench", with: name.replacing("-", with: "\\-"))
      .replacing("REALM-BENCH", with: name.uppercased())
  }

  /// The values that a flag can have, where these are words.
  private static func choices(_ flag: FlagDefinition) -> [String] {
    guard let value = flag.value, value.contains("|") else { return [] }
    return value.split(separator: "|").map(String.init)
  }

  private static func flagWords(_ verb: any VerbDescription.Type) -> [String] {
    verb.flags.map { "--" + $0.name }
  }

  // MARK: - Bash

  private static func bash() -> String {
    var text = """
      # Completion of realm-bench for bash; made by 'realm-bench completion bash'.
      _realm_bench() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local verb=${COMP_WORDS[1]}
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\((Verbs.all.map { $0.name } + ["help"]).joined(separator: " "))" -- "$current"))
          return
        fi
        case "$verb $previous" in

      """
    for verb in Verbs.all {
      for flag in verb.flags where !choices(flag).isEmpty {
        text +=
          "    '\(verb.name) --\(flag.name)') COMPREPLY=($(compgen -W "
          + "\"\(choices(flag).joined(separator: " "))\" -- \"$current\")); return ;;\n"
      }
    }
    text += "  esac\n  case \"$verb\" in\n"
    for verb in Verbs.all {
      let flags = flagWords(verb).joined(separator: " ")
      text += "    \(verb.name))\n"
      text += "      case \"$current\" in\n"
      text += "        -*) COMPREPLY=($(compgen -W \"\(flags)\" -- \"$current\")); return ;;\n"
      text += "      esac\n"
      if !verb.words.isEmpty {
        text += "      if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
        text +=
          "        COMPREPLY=($(compgen -W \"\(verb.words.joined(separator: " "))\" -- \"$current\"))\n"
        text += "      fi\n"
      }
      text += "      ;;\n"
    }
    // What is no flag and no known word is a path: bash's own completion of files goes on then.
    text += "  esac\n}\ncomplete -o default -F _realm_bench realm-bench\n"
    return text
  }

  // MARK: - Zsh

  /// Quoted for a specification of `_arguments`.
  private static func zshText(_ text: String) -> String {
    text.replacing("'", with: "'\\''").replacing("[", with: "\\[").replacing("]", with: "\\]")
      .replacing(":", with: "\\:")
  }

  private static func zsh() -> String {
    var text = """
      #compdef realm-bench
      # Completion of realm-bench for zsh; made by 'realm-bench completion zsh'.
      _realm_bench() {
        local -a verbs
        verbs=(

      """
    for verb in Verbs.all { text += "    '\(verb.name):\(zshText(verb.summary))'\n" }
    text += "  )\n  if (( CURRENT == 2 )); then\n    _describe 'verb' verbs\n    return\n  fi\n"
    text += "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n"
    for verb in Verbs.all {
      text += "    \(verb.name))\n      _arguments \\\n"
      for flag in verb.flags {
        let repeats = flag.isRepeatable ? "*" : ""
        var value = ""
        if let form = flag.value {
          value = ":\(zshText(form)):"
          value +=
            choices(flag).isEmpty
            ? (["FILE", "DIR"].contains(form) ? "_files" : "")
            : "(\(choices(flag).joined(separator: " ")))"
        }
        text += "        '\(repeats)--\(flag.name)[\(zshText(flag.help))]\(value)' \\\n"
      }
      text +=
        verb.words.isEmpty
        ? "        '*:file:_files'\n"
        : "        '1:\(verb.name):(\(verb.words.joined(separator: " ")))' '*:file:_files'\n"
      text += "      ;;\n"
    }
    text += "  esac\n}\n"
    // Loaded by the function path it completes at once; sourced it registers itself.
    text += "if [ \"$funcstack[1]\" = \"_realm-bench\" ]; then\n  _realm_bench \"$@\"\n"
    text += "else\n  compdef _realm_bench realm-bench\nfi\n"
    return text
  }

  // MARK: - Fish

  private static func fishText(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
  }

  private static func fish() -> String {
    var text = "# Completion of realm-bench for fish; made by 'realm-bench completion fish'.\n"
    for verb in Verbs.all {
      text +=
        "complete -c realm-bench -n __fish_use_subcommand -f -a \(verb.name) "
        + "-d '\(fishText(verb.summary))'\n"
      let condition = "-n '__fish_seen_subcommand_from \(verb.name)'"
      if !verb.words.isEmpty {
        text += "complete -c realm-bench \(condition) -a '\(verb.words.joined(separator: " "))'\n"
      }
      for flag in verb.flags {
        let words = choices(flag)
        let value =
          flag.value == nil
          ? "" : words.isEmpty ? " -r" : " -x -a '\(words.joined(separator: " "))'"
        text +=
          "complete -c realm-bench \(condition) -l \(flag.name)\(value) "
          + "-d '\(fishText(flag.help))'\n"
      }
    }
    return text
  }

  // MARK: - Man page

  /// Text that troff leaves as it is.
  private static func troff(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }
      .joined(separator: "\n")
  }

  private static func manPage() -> String {
    var text = ".TH REALM\\-BENCH 1 \"\" \"realm\\-bench \(ResultSchema.toolVersion)\"\n.SH NAME\n"
    text += "realm\\-bench \\- measure, stress and check the object database\n.SH SYNOPSIS\n"
    for verb in Verbs.all {
      text += ".B realm\\-bench \(troff(verb.name))\n\(troff(verb.arguments))\n.br\n"
    }
    text += ".SH DESCRIPTION\n.nf\n\(troff(Help.overview)).fi\n.SH VERBS\n"
    for verb in Verbs.all {
      text += ".SS \(troff(verb.name))\n.nf\n\(troff(verb.usage))\n.fi\n"
      for flag in verb.flags {
        text += ".TP\n.B \\-\\-\(troff(flag.name))"
        text += (flag.value.map { " \(troff($0))" } ?? "") + "\n\(troff(flag.help))\n"
      }
    }
    text += ".SH WORKLOADS\n"
    for workload in WorkloadKind.allCases {
      text += ".SS \(troff(workload.rawValue))\n.nf\n\(troff(workload.facts.help))\n.fi\n"
    }
    text += ".SH EXIT STATUS\n.nf\n\(troff(Help.exitCodes))\n.fi\n"
    return text
  }
}
