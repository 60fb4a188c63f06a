// The forms that the class of the migration tests has over time.
import RealmSwift

/// What the forms of a class have in common: no Realm gets them by default, as they have one name.
class CatForm: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The forms that one class has over time.
enum CatForms {
  enum First {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
      @Persisted var age: Int
      @Persisted var nick: String?
      @Persisted var weight: Double?
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>
    }
  }

  enum Added {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
      @Persisted var age: Int
      @Persisted var nick: String?
      @Persisted var weight: Double?
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>
      @Persisted var lives = 9
      @Persisted var color: String
      @Persisted var owner: String?
    }
  }

  enum Removed {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
    }
  }

  enum Retyped {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
      @Persisted var age: String
      @Persisted var nick: String
      @Persisted var weight: Double
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>
    }
  }

  enum Optionals {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String?
      @Persisted var age: Int?
      @Persisted var nick: String
      @Persisted var weight: Double
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>
    }
  }

  enum OtherKey {
    class Cat: CatForm {
      @Persisted var id: Int
      @Persisted(primaryKey: true) var name: String
      @Persisted var age: Int
      @Persisted var nick: String?
      @Persisted var weight: Double?
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>
    }
  }

  enum Renamed {
    class Cat: CatForm {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var title: String?
      @Persisted var years: Int
      @Persisted var nick: String?
      @Persisted var weight: Double?
      @Persisted var friend: Cat?
      @Persisted var scores: List<Int>

      override class func propertiesMapping() -> [String: String] { ["years": "stored_years"] }
    }
  }
}
