// The query behind @ObservedResults and @ObservedSectionedResults: its settings, and what it finds.
internal import Foundation

/// A query whose result is shown; it is made anew when its settings change.
final class ObservedQuery<Element: RealmFetchable, Found: ThreadConfined> {
  /// What may be set while the wrapper is there.
  struct Settings {
    var filter: NSPredicate?
    var `where`: ((Query<Element>) -> Query<Bool>)?
    var sortDescriptors: [SortDescriptor] = []
    var searchText = ""
    /// Nil while nothing is searched for.
    var search: NSPredicate?
  }

  private let configuration: Realm.Configuration?
  private let keyPaths: [String]?
  /// Makes what is shown of the results.
  private let arrange: (Results<Element>, [SortDescriptor]) -> Found
  private var shown: ShownValue<Found>?
  var settings: Settings {
    didSet { shown.map { $0.replace(find()) } }
  }

  init(
    _ configuration: Realm.Configuration?, _ settings: Settings, keyPaths: [String]?,
    arrange: @escaping (Results<Element>, [SortDescriptor]) -> Found
  ) {
    self.configuration = configuration
    self.settings = settings
    self.keyPaths = keyPaths
    self.arrange = arrange
  }

  /// Which objects are shown: one of both, or all.
  func choose(_ filter: NSPredicate?, _ condition: ((Query<Element>) -> Query<Bool>)?) {
    var settings = settings
    (settings.filter, settings.where) = (filter, condition)
    self.settings = settings
  }

  /// Shows only objects with a text in a property; all, when the text is empty.
  func search(_ text: String, path: String) {
    var settings = settings
    settings.searchText = text
    settings.search =
      text.isEmpty ? nil : NSPredicate(format: "%K CONTAINS[cd] %@", path, text)
    self.settings = settings
  }

  /// What was found; looked for when it is first used, and after the Realm was invalidated.
  func require() -> ShownValue<Found> {
    if let shown {
      if shown.live.isInvalidated { shown.replace(find()) }
      return shown
    }
    let shown = ShownValue(find(), keyPaths: keyPaths)
    self.shown = shown
    return shown
  }

  private func find() -> Found {
    let realm: Realm
    do { realm = try Realm(configuration: configuration ?? .defaultConfiguration) } catch {
      misuse(.storage, "The Realm of observed results cannot be opened: \(error)")
    }
    var results = realm.objects(Element.self)
    if let filter = settings.filter { results = results.filter(filter) }
    if let condition = settings.where { results = results.where(condition) }
    if let search = settings.search { results = results.filter(search) }
    return arrange(results, settings.sortDescriptors)
  }
}
