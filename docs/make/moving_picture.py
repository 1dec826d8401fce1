"""Animation of the README: five ops join into one kernel launch, and the kernel is opened.

`python -m docs.make.moving_picture` records it again.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from PIL import Image
from playwright.sync_api import Page

from benchmarks.homes import temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from core import CompileJob, LocalEngine, Model, Runner, Store
from docs.make.screenshots import DRAWN_MS, SHOTS

SIZE = (1200, 720)
STILL_MS, END_MS = 1_800, 3_500
QUALITY = 60
Picture = tuple[Image.Image, int]


def main() -> None:
    """Compile sine and cosine, record the fusion and an opened kernel, and save the animation."""
    with temporary_home() as home:
        run = _compile(Store(home))
        with dashboard(home) as server, browser_page(*SIZE) as page:
            _open(page, f"{server.url}/fusion?run={run}&frame=0")
            pictures = [*_fusion(page), _kernel(page)]
    images, durations = zip(*pictures, strict=True)
    path = SHOTS / "fusion.webp"
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=list(durations), loop=0, quality=QUALITY, method=6
    )
    print(f"{path}: {len(images)} pictures, {path.stat().st_size:,} bytes")


def _compile(store: Store) -> str:
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    run = runner.wait(runner.submit(CompileJob(Model("sample", "sin_cos"))))
    engine.close()
    return run.id


def _open(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(SETTLED, timeout=60_000)
    page.wait_for_timeout(DRAWN_MS)


def _fusion(page: Page) -> Iterator[Picture]:
    """Yield each step from the ops to the launches."""
    slider = page.get_by_role("slider", name="Step")
    yield _picture(page), STILL_MS
    for _ in range(int(slider.get_attribute("max") or 0)):
        slider.press("ArrowRight")
        page.wait_for_timeout(DRAWN_MS)
        yield _picture(page), STILL_MS


def _kernel(page: Page) -> Picture:
    """Open a kernel's drawer with its code, and return the picture and its milliseconds."""
    page.locator("g.hull").first.click(position={"x": 60, "y": 30})
    page.wait_for_selector(SETTLED)
    page.wait_for_timeout(2 * DRAWN_MS)
    return _picture(page), END_MS


def _picture(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


if __name__ == "__main__":
    main()
