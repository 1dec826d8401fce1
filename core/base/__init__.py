"""What every room shares and that knows no torch: errors, files, JSON, numbers in words, machine facts."""
