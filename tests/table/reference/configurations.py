"""What configurations answer: programs whose answers of PyFlink are in ``configurations.json``.

``record_configurations.py`` writes it. Each is evaluated with ``Configuration`` and ``c``,
a new one.
"""

from __future__ import annotations

_LISTS = [
    "",
    " ",
    "a",
    "a;b",
    "a; b ;c",
    "a;;b",
    ";a",
    "a;",
    "'a;b';c",
    '"a;b";c',
    "[]",
    "[ ]",
    "[a]",
    "[a, b]",
    "[a,b]",
    "['a', \"b\"]",
    "['it''s', b]",
    "[a b, c]",
    "['a,b', c]",
    "[1, 2.5, true, null]",
    "[yes, no, 0x10, 1e3]",
    "[[a, b], c]",
    "[{a: b}]",
    '["a\\n", b]',
    "['']",
    "[a, , b]",
    "[a, b",
    "a, b",
    "a,b",
    "- a\n- b",
    "- a\n- 'b;c'\n- 3",
    "- a",
    "-a",
    "- 'it''s'\n- \"x y\"",
    " [a, b] ",
    "[2020-01-01, 12:30]",
    "[file:///a#b, /c/d.jar]",
    "[a;b, c]",
    "{a: b}",
    "a: b",
    "# a",
    "[a] b",
    "[~, ~x]",
    "[*a]",
    "[007, 1_000]",
    "[.5, +1]",
]

#: Values and what is asked of them.
_SET = {
    "string": ["'a'", "''", "'1'", "'true'", "'1.5'", "'TRUE'", "'x y'", "' 1 '", "'1e3'", "'ä'"],
    "integer": ["1", "-5", "2147483647", "0"],
    "boolean": ["True", "False"],
    "float": ["1.5", "1e10", "-0.25", "float('inf')", "100.0", "1e-7"],
    "bytearray": ["bytearray(b'ab')", "bytearray(b'\\x00\\xff')", "bytearray()"],
}
_ASKED = {
    "string": "'default'",
    "integer": "7",
    "boolean": "True",
    "float": "2.5",
    "bytearray": "bytearray(b'z')",
}

PROGRAMS = [
    *(f"Configuration.parse_list_value({text!r})" for text in _LISTS),
    *(
        f"c.set_{kind}('k', {value}).get_{asked}('k', {default})"
        for kind, values in _SET.items()
        for value in values
        for asked, default in _ASKED.items()
    ),
    *(f"c.get_{asked}('k', {default})" for asked, default in _ASKED.items()),
    *(
        f"{made}(c.set_{kind}('k', {value}))"
        for kind, values in _SET.items()
        for value in values
        for made in ("str", "dict_of", "added_to", "copied", "taken", "prefixed", "key_set")
    ),
    "c.get_string('k', None)",
    "c.contains_key('k')",
    "c.set_string('k', 'v').contains_key('k')",
    "c.remove_config('k')",
    "c.set_string('k', 'v').remove_config('k')",
    "Configuration.from_dict({'a': '1', 'b': 'x'}).get_integer('a', 0)",
    "Configuration.from_dict({'a': 'true'}).get_boolean('a', False)",
    "added_to(Configuration.from_dict({'a': '1', 'b': 'true', 'c': '1.5'}))",
    "c.set_string('k', 'v') == Configuration.from_dict({'k': 'v'})",
    "c.set_string('k', '1') == Configuration().set_integer('k', 1)",
    "c.set_integer('k', 'a')",
    "c.set_integer('k', 1.5)",
    "c.set_integer('k', '3').get_integer('k', 0)",
    "c.set_boolean('k', 1)",
    "c.set_boolean('k', 'true')",
    "c.set_float('k', 1).get_float('k', 0.0)",
    "c.set_float('k', 'a')",
    "c.set_string('k', 1)",
    "c.set_string('k', None)",
    "c.set_bytearray('k', b'ab').get_bytearray('k', bytearray())",
    "c.set_integer('k', 1 << 40).get_integer('k', 0)",
    "added_to(c.set_string('b', 'x').set_integer('a', 1).set_boolean('d', True))",
]


def added_to(configuration):
    """Return what a dict has that settings are put into, with its types."""
    found = {"old": 1, "k": "old"}
    configuration.add_all_to_dict(found)
    return {name: [type(value).__name__, str(value)] for name, value in sorted(found.items())}


def names_of(configuration_class):
    return {
        "Configuration": configuration_class,
        "added_to": added_to,
        "dict_of": lambda c: dict(sorted(c.to_dict().items())),
        "copied": lambda c: str(configuration_class(c)),
        "taken": lambda c: str(configuration_class().set_string("k", "old").add_all(c)),
        "prefixed": lambda c: str(configuration_class().add_all(c, "p.")),
        "key_set": lambda c: sorted(c.key_set()),
    }


def answer(program, configuration_class):
    """Return the type and text of what a program evaluates to; an error where it fails."""
    names = names_of(configuration_class)
    try:
        found = eval(program, {**names, "c": configuration_class()})
    except Exception:
        return "error"
    if isinstance(found, bytearray):
        found = bytes(found)
    shown = str(found) if isinstance(found, configuration_class) else repr(found)
    kind = "Configuration" if isinstance(found, configuration_class) else type(found).__name__
    return f"{kind} {shown}"
