"""AOTInductor in a run: export, package, package runs, and the job that makes a package."""
