"""Options in the source of a configuration module: comments, environment variables, lines, uses."""

from pathlib import Path

from core.code.torch_source import ConfigSource, ConfigUse, config_sources, config_uses

SOURCE = """
import os

def _tristate(default):
    return os.environ.get("TORCH_TRISTATE", default)

# First line.
# Second line: with a colon.
one = os.environ.get("TORCH_ONE", "0") == "1"
two: bool = Config(env_name_force="TORCH_TWO", env_name_default=["TORCH_TWO_OLD"], default=False)  # beside
three = _tristate(None)

class base:
    # Of all devices.
    arch = None

class cuda(base):
    version: str | None = os.environ["CUDA_VERSION"]

if one:
    four = "A_TEXT_ALONE"
"""


def test_options_have_their_comment_their_variables_and_their_line() -> None:
    assert config_sources(SOURCE) == {
        "one": ConfigSource(9, "First line.\nSecond line: with a colon.", ("TORCH_ONE",)),
        "two": ConfigSource(10, "beside", ("TORCH_TWO", "TORCH_TWO_OLD")),
        "three": ConfigSource(11, "", ("TORCH_TRISTATE",)),
        "base.arch": ConfigSource(15, "Of all devices.", ()),
        "cuda.arch": ConfigSource(15, "Of all devices.", ()),
        "cuda.version": ConfigSource(18, "", ("CUDA_VERSION",)),
        "four": ConfigSource(21, "", ()),
    }


def test_uses_are_the_lines_that_read_an_option_of_that_module(tmp_path: Path) -> None:
    files = {
        "_inductor/scheduler.py": (
            "if config.epilogue_fusion:\n    # config.epilogue_fusion\n    x = config.epilogue_fusion_first\n"
        ),
        "_dynamo/utils.py": "a = config.epilogue_fusion\nb = torch._inductor.config.epilogue_fusion\n",
        "_functorch/aot.py": "c = inductor_config.epilogue_fusion or config.other\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert config_uses(tmp_path, "inductor", "epilogue_fusion") == (
        ConfigUse("_inductor/scheduler.py", 1, "if config.epilogue_fusion:"),
        ConfigUse("_dynamo/utils.py", 2, "b = torch._inductor.config.epilogue_fusion"),
        ConfigUse("_functorch/aot.py", 1, "c = inductor_config.epilogue_fusion or config.other"),
    )
