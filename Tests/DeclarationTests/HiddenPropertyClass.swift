// A subclass in another file than its superclass can have a property of the same name.
import RealmSwift

class HidingSubclass: PrivateBase {
  @Persisted private var value: String
}
