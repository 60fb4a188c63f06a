// The property wrapper of an object that a screen makes itself.

/// Keeps an object or a collection that a screen makes itself, and gives bindings that change it.
///
///     @StateRealmObject var newItem = Item()
///
/// At first it belongs to no Realm: bindings just change it. Once it was added to one, it is shown
/// and changed as ``ObservedRealmObject`` does.
@propertyWrapper
public struct StateRealmObject<T: ThreadConfined> {
  private let shown: ShownValue<T>

  /// Keeps a value.
  public init(wrappedValue: T) { shown = ShownValue(wrappedValue) }

  /// Keeps an empty list.
  public init<Value>() where T == List<Value> { shown = ShownValue(List()) }

  /// Keeps an empty set.
  public init<Value>() where T == MutableSet<Value> { shown = ShownValue(MutableSet()) }

  /// Keeps an empty map.
  public init<Key, Value>() where T == Map<Key, Value> { shown = ShownValue(Map()) }

  /// Keeps a new object.
  public init() where T: ObjectBase { shown = ShownValue(T()) }

  /// The value as it is shown: frozen, unless it belongs to no Realm.
  @MainActor
  public var wrappedValue: T {
    get { shown.show() }
    nonmutating set { shown.replace(newValue) }
  }

  /// A binding to the value; its members are bindings to the properties.
  @MainActor
  public var projectedValue: Binding<T> { Binding(ShownLocation(shown)) }

  /// The token of the wrapper's observation, for `write(withoutNotifying:)`.
  ///
  /// Stops where the value cannot be observed, as `observe` does.
  @MainActor
  public var notificationToken: NotificationToken { shown.requireToken() }
}

@available(*, unavailable)
extension StateRealmObject: Sendable {}
