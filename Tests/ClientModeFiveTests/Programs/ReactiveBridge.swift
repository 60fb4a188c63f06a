// A bridge to a reactive library: collections, objects and Realms as observables, and sinks that
// write.
import Foundation
import Realm
import RealmSwift

protocol Disposable { func dispose() }

final class BlockDisposable: Disposable {
  private var block: (() -> Void)?
  init(_ block: @escaping () -> Void) { self.block = block }
  func dispose() {
    block?()
    block = nil
  }
}

enum Event<E> { case next(E), error(Error), completed }

final class Observer<E> {
  let on: (Event<E>) -> Void
  init(_ on: @escaping (Event<E>) -> Void) { self.on = on }
  func onNext(_ e: E) { on(.next(e)) }
  func onError(_ e: Error) { on(.error(e)) }
  func onCompleted() { on(.completed) }
}

final class Observable<E> {
  private let subscribeBlock: (Observer<E>) -> Disposable
  init(_ block: @escaping (Observer<E>) -> Disposable) { subscribeBlock = block }
  static func create(_ block: @escaping (Observer<E>) -> Disposable) -> Observable<E> {
    Observable(block)
  }
  func subscribe(_ on: @escaping (Event<E>) -> Void) -> Disposable { subscribeBlock(Observer(on)) }
  func map<T>(_ f: @escaping (E) -> T) -> Observable<T> {
    Observable<T> { o in
      self.subscribe { e in
        switch e {
        case .next(let v): o.onNext(f(v))
        case .error(let x): o.onError(x)
        case .completed: o.onCompleted()
        }
      }
    }
  }
}

enum RxRealmError: Error { case objectDeleted, unknown }

protocol NotificationEmitter: AnyObject {
  associatedtype ElementType: RealmCollectionValue
  func observe(
    keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken
  func toArray() -> [ElementType]
  func toAnyCollection() -> AnyRealmCollection<ElementType>
}

extension List: NotificationEmitter {
  func toAnyCollection() -> AnyRealmCollection<Element> { AnyRealmCollection<Element>(self) }
  typealias ElementType = Element
  func toArray() -> [Element] { Array(self) }
}

struct RealmChangeset {
  let deleted: [Int]
  let inserted: [Int]
  let updated: [Int]
}

extension RealmCollection {
  func rx(synchronousStart: Bool = true, keyPaths: [String]? = nil, on queue: DispatchQueue? = nil)
    -> Observable<Self>
  {
    Observable.create { observer in
      if synchronousStart { observer.onNext(self) }
      let token = self.observe(keyPaths: keyPaths, on: queue) { changeset in
        let value: Self
        switch changeset {
        case let .initial(latestValue):
          guard !synchronousStart else { return }
          value = latestValue
        case let .update(latestValue, _, _, _): value = latestValue
        case let .error(error):
          observer.onError(error)
          return
        }
        observer.onNext(value)
      }
      return BlockDisposable { token.invalidate() }
    }
  }
  func rxChangeset() -> Observable<(AnyRealmCollection<Element>, RealmChangeset?)> {
    Observable.create { observer in
      let token = self.toAny().observe(on: nil) { changeset in
        switch changeset {
        case let .initial(value): observer.onNext((value, nil))
        case let .update(value, deletes, inserts, updates):
          observer.onNext(
            (value, RealmChangeset(deleted: deletes, inserted: inserts, updated: updates)))
        case let .error(error): observer.onError(error)
        }
      }
      return BlockDisposable { token.invalidate() }
    }
  }
  private func toAny() -> AnyRealmCollection<Element> { AnyRealmCollection(self) }
}

extension Object {
  static func rx<O: Object>(from object: O, properties: [String]? = nil) -> Observable<O> {
    guard let realm = object.realm else {
      return Observable { o in
        o.onError(RxRealmError.unknown)
        return BlockDisposable {}
      }
    }
    if let primaryKeyName = O.primaryKey() ?? O.sharedSchema()?.primaryKeyProperty?.name,
      let primaryKey = object.value(forKey: primaryKeyName)
    {
      _ = realm.object(ofType: O.self, forPrimaryKey: primaryKey)
    }
    return Observable { observer in
      let token = object.observe(keyPaths: properties) { (change: ObjectChange<O>) in
        switch change {
        case let .change(_, changedProperties):
          if let properties = properties,
            !changedProperties.contains(where: { properties.contains($0.name) })
          {
            return
          }
          observer.onNext(object)
        case .deleted: observer.onError(RxRealmError.objectDeleted)
        case let .error(error): observer.onError(error)
        }
      }
      return BlockDisposable { token.invalidate() }
    }
  }
}

extension Realm {
  static func rxNotifications(of realm: Realm) -> Observable<(Realm, Realm.Notification)> {
    Observable { observer in
      let token = realm.observe { (notification: Realm.Notification, realm: Realm) in
        observer.onNext((realm, notification))
      }
      return BlockDisposable { token.invalidate() }
    }
  }
}

final class RealmSink {
  var realm: Realm?
  var configuration: Realm.Configuration?
  init(realm: Realm) { self.realm = realm }
  init(configuration: Realm.Configuration) { self.configuration = configuration }
  func add<S: Sequence>(update: Realm.UpdatePolicy, onError: ((S?, Error) -> Void)? = nil) -> (S) ->
    Void where S.Iterator.Element: Object
  {
    return { elements in
      do {
        let realm =
          try self.realm ?? Realm(configuration: self.configuration ?? .defaultConfiguration)
        try realm.write { realm.add(elements, update: update) }
      } catch { onError?(elements, error) }
    }
  }
  func delete<O: Object>() -> (O) -> Void { { o in try? o.realm?.write { o.realm?.delete(o) } } }
}
