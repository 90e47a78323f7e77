"""`wherry layout`: where the members of a type lie, its holes, and an order of members without them.

members.py says what is known of a type, rules.py how compilers lay out members, advice.py which order is smaller: pure.
dwarf.py reads types from programs, picture.py and text.py show them, command.py is the command line.
"""
