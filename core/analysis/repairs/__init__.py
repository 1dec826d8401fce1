"""Repairs of graph breaks and recompiles: edits of the recorded user file, and Dynamo settings.

A rule is a pure function of a file and arguments, such as a line, a name or a dtype; `RULES` has the rules by
name. A repair's id is the rule's name with its arguments, so that the repair can be recreated from the file.
Written code is text of the file or of the rule. From an id, code gets only numbers, dtypes, and names that
occur in the file.
"""
