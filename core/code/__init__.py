"""Generated code and compiler output: definitions, calls, loops, resources, locations, differences."""
