// What a folder holds, judged by the lists in it: files that runs have written, which --overwrite
// may replace, and all else, which nobody but the user may touch.
internal import Foundation
internal import Platform
internal import Storage

/// The contents of a folder that results are to go to.
struct FolderContents {
  /// Files of runs, relative to the folder.
  private(set) var files: [String] = []
  /// Folders that these are in, the outer ones first.
  private(set) var folders: [String] = []
  /// Everything else, with what is said of it.
  private(set) var foreign: [(name: String, words: String)] = []
  /// Whether there are results of a run that came to its end.
  private(set) var isComplete = false

  private let root: String
  /// A folder that is not looked at.
  private let excluded: String?

  /// Of a folder that is not looked into.
  init() {
    root = ""
    excluded = nil
  }

  /// Looks at all that there is.
  init(of folder: String, excluding excluded: String? = nil) throws(SystemError) {
    root = folder
    self.excluded = excluded
    let list = FileList(of: folder)
    isComplete = list?.isComplete ?? false
    try visit("", list, listFolder: "", listed: "")
  }

  /// - Parameters:
  ///   - folder: where to look, empty or with '/' at its end.
  ///   - listFolder: the folder that the list stands in, in the same form.
  ///   - listed: the first one as seen from that. Not cut off from it: an entry that begins with an
  ///     accent would take part of the folder's name along.
  private mutating func visit(
    _ folder: String, _ list: FileList?, listFolder: String, listed start: String
  ) throws(SystemError) {
    for entry in try FileCalls.names(in: root + "/" + folder) {
      let (name, listed) = (folder + entry, start + entry)
      if name == excluded { continue }
      switch try FileCalls.kind(root + "/" + name) {
      case .file(let bytes):
        let objection: String? =
          if let list {
            list.objection(to: listed, at: root + "/" + name, bytes: bytes)
          } else { "'\(listed)'" }
        if let objection {
          add(name, listFolder.isEmpty ? objection : "\(objection) in '\(listFolder)'")
        } else if listed == KnownNames.realmFile, Self.isOpen(root + "/" + name) {
          add(name, "'\(name)', which is open")
        } else {
          files.append(name)
        }
      case .folder: try visitFolder(name, listed, list, listFolder: listFolder)
      case let kind?: add(name, "'\(name)', which is \(kind.words)")
      // A name that is no UTF-8 text: what is shown of it leads to nothing.
      case nil: add(name, "'\(name)'")
      }
    }
  }

  private mutating func visitFolder(
    _ name: String, _ listed: String, _ list: FileList?, listFolder: String
  ) throws(SystemError) {
    let isUnfinished = listFolder.isEmpty && listed.hasPrefix(KnownNames.unfinished)
    if isUnfinished || list?.coversPart(listed) ?? false {
      let own = FileList(of: root + "/" + name)
      if FolderLock.isTaken(root + "/" + name) {
        // A part of a run whose own process is gone.
        add(name, "the folder '\(name)', to which a run is writing")
      } else if own != nil {
        folders.append(name)
        try visit(name + "/", own, listFolder: name + "/", listed: "")
      } else if try !visitEmpty(name) {
        add(name, "the folder '\(name)', which holds no results")
      }
    } else if list != nil && KnownNames.folders.contains(listed) {
      folders.append(name)
      try visit(name + "/", list, listFolder: listFolder, listed: listed + "/")
    } else {
      add(name, "the folder '\(name)'")
    }
  }

  /// Takes a folder in which there is nothing but such folders; false when there is more.
  ///
  /// That is what a process leaves that is killed while it removes results.
  private mutating func visitEmpty(_ name: String) throws(SystemError) -> Bool {
    let before = folders
    folders.append(name)
    for entry in try FileCalls.names(in: root + "/" + name) {
      if case .folder? = try FileCalls.kind("\(root)/\(name)/\(entry)"),
        try visitEmpty(name + "/" + entry)
      {
        continue
      }
      folders = before
      return false
    }
    return true
  }

  private mutating func add(_ name: String, _ words: String) { foreign.append((name, words)) }

  /// Whether somebody has a Realm file open, who would go on with a file that no path leads to.
  private static func isOpen(_ path: String) -> Bool {
    (try? Store.isOpenAnywhere(path: path, fileSystem: LinuxFileSystem())) ?? false
  }

  /// Removes files of runs, and lists after what they list.
  ///
  /// So a process that is killed meanwhile leaves nothing of which nobody knows whose it is.
  func removeFiles(where isWanted: (String) -> Bool = { _ in true }) throws(SystemError) {
    func isList(_ name: String) -> Bool {
      FileList.markers.contains { name == $0 || name.hasSuffix("/" + $0) }
    }
    let wanted = files.filter(isWanted)
    // Those of parts before the one of all parts.
    let lists = wanted.filter(isList).sorted { $0.count > $1.count }
    for name in wanted.filter({ !isList($0) }) + lists { try FileCalls.remove(root + "/" + name) }
    for name in folders.reversed() where isWanted(name) {
      FileCalls.removeIfEmpty(root + "/" + name)
    }
  }

  /// What stands in the folder itself, of files of runs.
  var topNames: [String] {
    Set((files + folders).map(Self.topName)).sorted()
  }

  /// The first part of a name.
  static func topName(of name: String) -> String {
    String(Substring(name.utf8.prefix { $0 != UInt8(ascii: "/") }))
  }

  /// What there is besides results, in words: the first few.
  var foreignWords: String {
    let more = foreign.count > 3 ? " and \(foreign.count - 3) more" : ""
    return foreign.prefix(3).map(\.words).joined(separator: ", ") + more
  }
}
