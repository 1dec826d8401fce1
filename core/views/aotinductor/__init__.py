"""AOTInductor in a run: the export, the package with its runs, times and sizes, and a job that makes a package."""

from core.views.aotinductor.package import PackageRunView, PackageView
from core.views.aotinductor.run import AotInductorView, PackageRequest

__all__ = ["AotInductorView", "PackageRequest", "PackageRunView", "PackageView"]
