// Made by the layer's first test.
