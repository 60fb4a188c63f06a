// Made by the first test that needs support.
