// What is on the screen, and what each key does to it. Nothing here writes by `realm.write`: the
// bindings do.
import Foundation
import Observation
import RealmSwift

/// The items of a group, one of which is selected.
@MainActor
final class Screen {
  @ObservedRealmObject var group: ItemGroup
  @ObservedResults(Item.self) var found
  private var selection = 0
  private var size = TerminalSize()
  /// What is being typed, and what becomes of it.
  private var entry: (prompt: String, text: String, done: (String) -> Void)?

  init(group: ItemGroup) { _group = ObservedRealmObject(wrappedValue: group) }

  private var isSearching: Bool { !$found.searchText.isEmpty }

  /// The items on the screen: those of the group, in its order, that are searched for.
  private var items: [Item] {
    // The binding counts a change of an item as one of the list; the group alone would not.
    let items = $group.items.wrappedValue
    if !isSearching { return Array(items) }
    let ids = Set(found.map(\._id))
    return items.filter { ids.contains($0._id) }
  }

  /// Draws the screen, and once more when something that was drawn has changed.
  func draw(in size: TerminalSize) {
    self.size = size
    draw()
  }

  private func draw() {
    let lines = withObservationTracking(lines) {
      // The change is there already; drawing waits for the next turn, so that many changes are one.
      DispatchQueue.main.async { self.draw() }
    }
    let shown = size.columns == 0 ? lines : lines.map { String($0.prefix(size.columns)) }
    print("\u{1b}[2J\u{1b}[H" + shown.joined(separator: "\n"), terminator: "")
    fflush(nil)
  }

  /// The lines to draw; all that they show is read here.
  private func lines() -> [String] {
    let items = items
    selection = max(0, min(selection, items.count - 1))
    var lines = ["\(items.count) items\(isSearching ? " with '\($found.searchText)'" : "")"]
    for position in visible(of: items.count) {
      let item = items[position]
      lines.append(
        (position == selection ? "> " : "  ") + (item.isFavorite ? "* " : "  ")
          + printable(item.name))
    }
    lines.append(
      entry.map { "\($0.prompt): \($0.text)" }
        ?? "a add  r rename  d delete  f favourite  u up  / search  j k select  q quit")
    return lines
  }

  /// The positions for which there are lines; the selected one is among them.
  private func visible(of count: Int) -> Range<Int> {
    let lines = size.lines == 0 ? count : max(1, size.lines - 2)
    let first = max(0, min(selection - lines / 2, count - lines))
    return first..<min(count, first + lines)
  }

  /// Other programs may give items any name.
  private func printable(_ name: String) -> String {
    String(
      name.map {
        $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "?" : $0
      })
  }

  /// Takes a key; false ends the program.
  func press(_ key: String) -> Bool {
    if entry != nil {
      type(key)
      return true
    }
    let items = items
    let item = items.indices.contains(selection) ? items[selection] : nil
    switch key {
    case "q": return false
    case "j", "\u{1b}[B": selection = min(selection + 1, max(items.count - 1, 0))
    case "k", "\u{1b}[A": selection = max(selection - 1, 0)
    case "a":
      ask("name") { [self] in if !$0.isEmpty { $group.items.append(Item(name: $0)) } }
    case "/":
      ask("search") { [self] in $found.searchText($0, on: \.name) }
    case "r":
      item.map { item in
        ask("new name") { if !$0.isEmpty { item.bind(\.name).wrappedValue = $0 } }
      }
    case "f": item?.bind(\.isFavorite).wrappedValue.toggle()
    case "d": item.map { $found.remove($0) }
    case "u" where selection > 0 && !isSearching:
      $group.items.move(fromOffsets: [selection], toOffset: selection - 1)
      selection -= 1
    default: break
    }
    return true
  }

  private func ask(_ prompt: String, _ done: @escaping (String) -> Void) {
    entry = (prompt, "", done)
  }

  private func type(_ key: String) {
    switch key {
    case "\r", "\n", "\r\n":
      let finished = entry
      entry = nil
      finished.map { $0.done($0.text) }
    case "\u{1b}": entry = nil
    case "\u{7f}", "\u{8}": _ = entry?.text.popLast()
    case _ where key.unicodeScalars.first.map { $0.value < 32 } ?? true: break
    default: entry?.text += key
    }
  }
}
