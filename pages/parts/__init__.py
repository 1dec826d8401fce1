"""Sections of a page, a folder for each part of the menu; they know the shown run."""
