"""The language of expressions: text to tree (`parser`) and tree to text (`render`).

Read in this order: `tree` (what comes out), `tokens`, `parser` (connectives), `predicates` and `operands` (between two
connectives), `canonical`, `literals`, `times`, `patterns`.
"""
