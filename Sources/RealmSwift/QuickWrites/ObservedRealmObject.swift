// The property wrapper of an object, or a collection, that is shown and edited.

/// Shows an object or a collection of a Realm, and gives bindings that change it.
///
///     @ObservedRealmObject var item: Item
///
///     print(item.name)              // frozen to the version that is shown
///     $item.name.wrappedValue = ""  // a write of its own
///     $item.delete()
///
/// Reading it inside of `withObservationTracking` has the closure called, once, when the value has
/// changed. It belongs to the main actor. See docs/quick-writes.md.
@propertyWrapper
public struct ObservedRealmObject<ObjectType: ThreadConfined> {
  /// What `$` gives: bindings to the object's properties, and changes of a collection.
  @MainActor
  @dynamicMemberLookup
  public struct Wrapper {
    let shown: ShownValue<ObjectType>

    /// The value as it is shown.
    public var wrappedValue: ObjectType {
      get { shown.show() }
      nonmutating set { shown.replace(newValue) }
    }

    /// The token of the wrapper's observation, for `write(withoutNotifying:)`: who has read the
    /// wrapper is not told of that write.
    ///
    /// Stops where the value cannot be observed, as `observe` does.
    public var notificationToken: NotificationToken { shown.requireToken() }

    /// A binding to a property.
    public subscript<Subject>(
      dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>
    ) -> Binding<Subject> {
      Binding(PropertyLocation(ShownLocation(shown), keyPath))
    }
  }

  private let shown: ShownValue<ObjectType>

  /// Shows a value: managed, frozen or of no Realm.
  public init(wrappedValue: ObjectType) { shown = ShownValue(wrappedValue) }

  /// The value as it is shown: frozen, unless it belongs to no Realm.
  ///
  /// After it was deleted: its last form.
  @MainActor
  public var wrappedValue: ObjectType {
    get { shown.show() }
    nonmutating set { shown.replace(newValue) }
  }

  /// Bindings to the properties.
  @MainActor
  public var projectedValue: Wrapper { Wrapper(shown: shown) }
}

@available(*, unavailable)
extension ObservedRealmObject: Sendable {}

extension ObservedRealmObject.Wrapper where ObjectType: ObjectBase {
  /// Deletes the object from its Realm; one that belongs to none stays what it is.
  public func delete() {
    shown.willDelete()
    deleteQuickly(shown.live)
  }
}

extension ObservedRealmObject.Wrapper where ObjectType: ProjectionObservable {
  /// Deletes the object that is shown from its Realm.
  public func delete() {
    shown.willDelete()
    deleteQuickly(shown.live.rootObject)
  }
}

extension ObservedRealmObject.Wrapper {
  /// The value was changed; if it belongs to no Realm, nobody else can tell of it.
  public func _didWrite() { shown.didWrite() }
}

extension ObservedRealmObject.Wrapper: BoundCollection where ObjectType: RealmCollection {
  /// What is in the collection.
  public typealias Element = ObjectType.Element
  /// The collection to change.
  public var _boundValue: ObjectType? { shown.live }
}

extension ObservedRealmObject.Wrapper: BoundMap where ObjectType: RealmKeyedCollection {
  /// The map to change.
  public var _boundMap: ObjectType? { shown.live }
}
