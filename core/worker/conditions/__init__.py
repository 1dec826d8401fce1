"""What a job asks to hold while its calls are made: threads, configuration, stance, caches, and other inputs."""
