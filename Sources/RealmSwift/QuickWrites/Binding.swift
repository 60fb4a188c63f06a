// The two-way connection to a value. Where SwiftUI is, its own Binding takes this name. The other
// files of the folder use only `location` and `init(_:)` of this one.
#if !canImport(SwiftUI)

  /// A connection to a value that is kept elsewhere, by which it can be read and changed.
  ///
  /// A binding to a property of a Realm's object writes by itself: into the write transaction that
  /// is open, or else in one of its own. See docs/quick-writes.md.
  @propertyWrapper
  @dynamicMemberLookup
  public struct Binding<Value> {
    /// What is behind the binding.
    let location: BindingLocation<Value>

    init(_ location: BindingLocation<Value>) { self.location = location }

    /// A connection by two closures.
    ///
    /// Closures that are made in an actor may only be called there: using the binding elsewhere
    /// stops.
    /// - Parameters:
    ///   - get: gives the value.
    ///   - set: takes the new value.
    @preconcurrency
    public init(
      @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
      @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {
      self.init(ClosureLocation(get: get, set: set))
    }

    /// The same connection.
    public init(projectedValue: Binding<Value>) { self = projectedValue }

    /// A value that never changes.
    public static func constant(_ value: Value) -> Binding<Value> {
      Binding(ConstantLocation(value))
    }

    /// The value.
    ///
    /// Reading it inside of `withObservationTracking` has the closure called when it changes.
    public var wrappedValue: Value {
      get {
        location.register(isWay: false)
        return location.show()
      }
      nonmutating set { location.write(newValue) }
    }

    /// The binding itself, which `$` gives.
    public var projectedValue: Binding<Value> { self }

    /// A connection to a part of the value.
    public subscript<Member>(
      dynamicMember keyPath: WritableKeyPath<Value, Member>
    ) -> Binding<Member> {
      Binding<Member>(MemberLocation(location, keyPath))
    }
  }

  // @unchecked: all parts of a location are immutable. Closures are Sendable, objects and
  // collections of a Realm stop where they may not be used, and the values that are carried are
  // Sendable. What belongs to no Realm is guarded by nobody: as of the object itself, the client
  // sees to it that one place has it.
  extension Binding: @unchecked Sendable where Value: Sendable {}

  // MARK: - Optionals

  extension Binding {
    /// A connection to the optional of a value.
    ///
    /// Setting it to nil changes nothing.
    public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
      self.init(OptionalLocation(base.location))
    }

    /// A connection to what is inside of an optional; nil when that is nil now.
    ///
    /// Should the optional become nil later, the last value stays.
    public init?(_ base: Binding<Value?>) {
      guard let value = base.location.readable() else { return nil }
      self.init(UnwrappedLocation(base.location, value))
    }

    /// A connection to a value without its type.
    ///
    /// Setting it to a value of another type changes nothing.
    public init<Base: Hashable>(_ base: Binding<Base>) where Value == AnyHashable {
      self.init(HashableLocation(base.location))
    }
  }

  extension Binding: Identifiable where Value: Identifiable {
    /// The identity of the value.
    public var id: Value.ID { wrappedValue.id }
  }
#endif
