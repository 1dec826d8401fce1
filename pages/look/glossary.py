"""Glossary of torch's terms, for the help that opens beside a title."""

from core.views.glossary import GLOSSARY

__all__ = ["GLOSSARY"]
