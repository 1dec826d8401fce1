"""Facts and helpers that every room shares, without torch: errors, files, JSON, numbers in words, machine facts."""
