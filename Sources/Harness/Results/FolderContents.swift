// What a folder holds, judged by the lists in it: files that runs have written, which --overwrite
// may replace, and all else, which nobody but the user may touch.
internal import Foundation
internal import Platform

/// The contents of a folder that results are to go to.
struct FolderContents {
  /// Files of runs, relative to the folder.
  private(set) var files: [String] = []
  /// Folders that these are in, the outer ones first.
  private(set) var folders: [String] = []
  /// Everything else, in words.
  private(set) var foreign: [String] = []
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
    try visit("", list, listFolder: "")
  }

  /// - Parameters:
  ///   - folder: where to look, empty or with '/' at its end.
  ///   - listFolder: the folder that the list stands in, in the same form.
  private mutating func visit(
    _ folder: String, _ list: FileList?, listFolder: String
  ) throws(SystemError) {
    for entry in try FileCalls.names(in: root + "/" + folder) {
      let name = folder + entry
      let listed = String(name.dropFirst(listFolder.count))
      if name == excluded { continue }
      switch try FileCalls.kind(root + "/" + name) {
      case .file(let bytes):
        if let objection = list?.objection(to: listed, at: root + "/" + name, bytes: bytes)
          ?? (list == nil ? "'\(listed)'" : nil)
        {
          foreign.append(listFolder.isEmpty ? objection : "\(objection) in '\(listFolder)'")
        } else {
          files.append(name)
        }
      case .folder: try visitFolder(name, listed, list, listFolder: listFolder)
      case let kind?: foreign.append("'\(name)', which is \(kind.words)")
      case nil: continue
      }
    }
  }

  private mutating func visitFolder(
    _ name: String, _ listed: String, _ list: FileList?, listFolder: String
  ) throws(SystemError) {
    let isUnfinished = listFolder.isEmpty && listed.hasPrefix(KnownNames.unfinished)
    if isUnfinished || list?.coversPart(listed) ?? false {
      let own = FileList(of: root + "/" + name)
      let isEmpty = try FileCalls.names(in: root + "/" + name).isEmpty
      if own == nil && !isEmpty {
        foreign.append("the folder '\(name)', which holds no results")
      } else {
        folders.append(name)
        try visit(name + "/", own, listFolder: name + "/")
      }
    } else if list != nil && KnownNames.folders.contains(listed) {
      folders.append(name)
      try visit(name + "/", list, listFolder: listFolder)
    } else {
      foreign.append("the folder '\(name)'")
    }
  }

  /// What there is besides results, in words: the first few.
  var foreignWords: String {
    let more = foreign.count > 3 ? " and \(foreign.count - 3) more" : ""
    return foreign.prefix(3).joined(separator: ", ") + more
  }
}
