"""What Compileboard promises in seconds and bytes, measured: `make bench`."""
