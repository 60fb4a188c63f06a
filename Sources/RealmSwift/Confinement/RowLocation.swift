// The one name of Trees that this layer needs: where a row is. ObjectStore's readers hand it out.
internal import Trees

typealias RowLocation = Trees.RowLocation
