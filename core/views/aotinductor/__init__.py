"""AOTInductor in a run: export, package, package runs, and the job that makes a package."""

from core.views.aotinductor.package import PackageRunView, PackageView
from core.views.aotinductor.run import AotInductorView, PackageRequest

__all__ = ["AotInductorView", "PackageRequest", "PackageRunView", "PackageView"]
