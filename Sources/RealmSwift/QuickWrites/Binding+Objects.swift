// Bindings of objects: to their properties, and to the object as a whole.

extension ThreadConfined where Self: ObjectBase {
  /// A connection to a property of the object, by which it is read and written.
  ///
  /// It writes by itself; see ``Binding``.
  public func bind<Value>(
    _ keyPath: ReferenceWritableKeyPath<Self, Value>
  ) -> Binding<Value> {
    Binding(PropertyLocation(ObjectLocation(self), keyPath))
  }
}

extension ProjectionObservable {
  /// A connection to a projected property, by which it is read and written.
  ///
  /// It writes by itself; see ``Binding``.
  public func bind<Value>(
    _ keyPath: ReferenceWritableKeyPath<Self, Value>
  ) -> Binding<Value> {
    Binding(PropertyLocation(ObjectLocation(self), keyPath))
  }
}

extension Binding where Value: ThreadConfined {
  /// A connection to a property of the object, which writes by itself.
  public subscript<Member>(
    dynamicMember keyPath: ReferenceWritableKeyPath<Value, Member>
  ) -> Binding<Member> {
    Binding<Member>(PropertyLocation(location, keyPath))
  }
}

extension Binding where Value: ObjectBase & ThreadConfined {
  /// Deletes the object from its Realm.
  ///
  /// One that belongs to no Realm stays what it is.
  @MainActor
  public func delete() {
    location.willDelete()
    guard let object = location.read() else { return logDeleted(Value.self) }
    deleteQuickly(object)
  }
}

extension Binding where Value: ProjectionObservable {
  /// Deletes the object that the projection shows from its Realm.
  ///
  /// One that belongs to no Realm stays what it is.
  @MainActor
  public func delete() {
    location.willDelete()
    guard let projection = location.read() else { return logDeleted(Value.self) }
    deleteQuickly(projection.rootObject)
  }
}

/// Deletes an object, wherever it belongs; nothing when it belongs to no Realm.
func deleteQuickly<Value: ObjectBase & ThreadConfined>(_ object: Value) {
  quickWrite(to: object) { $0.realm?.delete($0) }
}
