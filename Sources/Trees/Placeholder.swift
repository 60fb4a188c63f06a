// Made by the layer's first file.
