"""Which characters Swift's words are made of: letters of all scripts, what combines with them, and pictures."""

_PICTURES = r"\U00010000-\U000EFFFD"
PART = rf"[\w\u0300-\u036f\u1dc0-\u1dff\u200d\u20d0-\u20ff\ufe00-\ufe0f{_PICTURES}]"
WORD = rf"(?:[^\W\d]|[{_PICTURES}]){PART}*"
