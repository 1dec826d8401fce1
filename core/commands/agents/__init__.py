"""Tools of coding agents over the Model Context Protocol."""
