"""The package `compileboard` in a user's own process."""
