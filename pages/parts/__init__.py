"""Sections of pages about the shown run, one folder per part of the menu."""
