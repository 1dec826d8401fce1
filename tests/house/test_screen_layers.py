"""Who of the screen may import whom, and what each part may do, as docs/architecture.md says."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import core
from pages.menu import PAGES
from tests.support.imports import FILES, dotted, imported, imports, in_a_circle, nodes_of, offending, tops
from tests.support.places import ROOT

# What each part of pages may import of pages, beside itself; the scripts are those of the menu.
SCREEN_LAYERS = {
    "menu": set(),
    "gate": {"menu"},
    "look": set(),
    "components": set(),
    "components/boxes": {"components/exchange"},
    "components/code": {"components/exchange", "look"},
    "components/comments": {"components/exchange"},
    "components/contract": {"components/exchange"},
    "components/drawer": {"components/exchange"},
    "components/flame": {"components/exchange", "look"},
    "components/graph": {"components/exchange", "look"},
    "components/history": {"components/exchange"},
    "components/keys": {"components/exchange"},
    "components/menu": {"components/exchange"},
    "components/exchange": set(),
    "components/palette": {"components/exchange"},
    "components/progress": {"components/exchange", "look"},
    "components/upload": {"components/exchange"},
    "session": {"menu", "gate", "look", "components/boxes", "components/code", "components/keys", "components/menu"},
    "parts": set(),
    "parts/backends": {
        *("menu", "gate", "look", "session", "components/code", "components/contract"),
        *("parts/code", "parts/graphs", "parts/run"),
    },
    "parts/code": {"look", "session", "components/code", "components/drawer"},
    "parts/comments": {"menu", "gate", "look", "session", "components/comments"},
    "parts/dynamo": {
        *("menu", "gate", "look", "session", "components/code", "components/boxes"),
        *("parts/code", "parts/run"),
    },
    "parts/run": {
        *("menu", "gate", "look", "session", "parts/code", "parts/sweep"),
        *("components/boxes", "components/code", "components/progress", "components/upload"),
    },
    "parts/learn": {"menu", "gate", "look", "session", "components/code", "parts/run"},
    "parts/graphs": {
        *("menu", "look", "session", "components/code", "components/graph", "components/boxes"),
        *("parts/code", "parts/kernels"),
    },
    "parts/kernels": {"menu", "look", "session", "components/code", "parts/code"},
    "parts/kernel": {"gate", "look", "session", "components/code", "parts/code", "parts/kernels"},
    "parts/compare": {
        *("menu", "gate", "look", "session", "components/graph"),
        *("parts/code", "parts/comments", "parts/graphs", "parts/run"),
    },
    "parts/performance": {"menu", "look", "session", "components/flame", "components/upload"},
    "parts/accelerator": {
        *("menu", "look", "session", "components/code"),
        *("parts/code", "parts/graphs", "parts/run"),
    },
    "parts/palette": {
        *("menu", "look", "session", "components/keys", "components/palette", "parts/run"),
    },
    "parts/sweep": {"menu", "gate", "look", "session"},
    "parts/aotinductor": {
        *("menu", "look", "session", "components/code", "components/boxes", "parts/code", "parts/run"),
    },
    "scripts": {
        *("menu", "gate", "look", "session", "parts/backends", "parts/code", "parts/comments"),
        *("parts/run", "parts/dynamo", "parts/graphs", "parts/kernels", "parts/kernel", "parts/compare"),
        *("parts/performance", "parts/accelerator", "parts/sweep", "parts/aotinductor", "parts/learn"),
    },
    "app": {"menu", "look", "session", "components/history", "parts/comments", "parts/palette"},
    "dashboard": {"gate", "session", "components/graph", "components/exchange"},
}
SECTIONS = {page.section.lower() for page in PAGES.values()}
MOST_FILES = 24
# The face of core: jobs, runs and reports, the report's types, numbers as text; and a view for each family of pages.
PUBLIC = {"core", "core.base", "core.report"}
# A colour is a value and no function of core.
VALUES = "core.views.colours"
MOST_NAMES, MOST_NAMES_OF_CORE, MOST_OF_THE_FACE = 150, 52, 80
SCREEN = [name for name in FILES if not name.startswith("core/")]


def private(name: str) -> set[str]:
    """Return the modules of core that a file of the screen imports and may not."""
    modules = {module for module in imported(name) if module.split(".")[0] == "core"}
    return {module for module in modules - PUBLIC if not f"{module}.".startswith("core.views.")}


def test_pages_import_the_public_api_alone() -> None:
    assert offending(SCREEN, private) == {}


def test_pages_need_few_names_of_core() -> None:
    names = {(module, one) for name in SCREEN for module, taken in imports(name) for one in taken if module in PUBLIC}
    views = [
        (module, taken) for name in SCREEN for module, taken in imports(name) if f"{module}.".startswith("core.views.")
    ]
    names |= {(module, one) for module, taken in views for one in taken if module != VALUES}
    assert len({name for name in names if name[0] == "core"}) <= MOST_NAMES_OF_CORE
    assert len(core.__all__) <= MOST_OF_THE_FACE
    assert len(names) <= MOST_NAMES


def test_pages_take_words_alone_from_the_base() -> None:
    taken = {one for name in SCREEN for module, names in imports(name) if module == "core.base" for one in names}
    assert taken == {"words"}


def place(name: str) -> str:
    """The part of the screen that a file, or a module's path, belongs to."""
    folders = name.removeprefix("pages/").removesuffix(".py").split("/")
    if folders[0] in SECTIONS:
        return "scripts"
    return "/".join(folders[:2]) if folders[0] in ("components", "parts") and folders[1] != "__init__" else folders[0]


def screen_imports(name: str) -> set[str]:
    """The parts of the screen that a file imports beside its own; `from pages.look import text` is one of them."""
    found = {f"{module}.{one}" for module, taken in imports(name) for one in taken}
    return {place(module.replace(".", "/")) for module in found if module.startswith("pages.")} - {place(name)}


def test_the_server_starts_without_what_only_pages_need() -> None:
    code = "import sys, dashboard; sys.exit(bool({'torch', 'pandas', 'pyarrow', 'pygments'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_page_without_a_table_and_a_plain_table_import_no_pandas(empty_home: Path) -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('pages/app.py', default_timeout=60).run()\n"
        "print({button.label for button in app.button} & {'Compile'}, len(app.exception))\n"
        "print(sys.modules.keys() & {'pandas', 'pyarrow'})\n"
        "from pages.session.tables import arrow_table\n"
        "print(len(arrow_table([{'name': 'mm', 'calls': 3}])), 'pandas' in sys.modules)"
    )
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support" / "torchless")}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines() == ["{'Compile'} 0", "set()", "1 False"]


# Imports pandas slowly in one thread, and makes a figure in another.
CHART_DURING_IMPORT = """
import sys, threading, time
from pages.look.charts import go
class Slow:
    def find_spec(self, name, *_):
        if name == "pandas.core.api":
            began.set()
            time.sleep(1.0)
began = threading.Event()
sys.meta_path.insert(0, Slow())
threading.Thread(target=lambda: __import__("pandas"), daemon=True).start()
print(began.wait(60), hasattr(sys.modules["pandas"], "Series"))
print(go.Figure().add_bar(x=["mm"], y=[1.0]).data[0].y)
"""


def test_a_chart_is_drawn_while_another_thread_imports_pandas() -> None:
    command = [sys.executable, "-c", CHART_DURING_IMPORT]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("True False\n(1.0,)\n", "")


def test_only_one_module_imports_plotly() -> None:
    """Plotly fails beside a thread that imports pandas, unless it is imported after pandas."""
    assert {name for name in SCREEN for module, _ in imports(name) if module.startswith("plotly")} == {
        "pages/look/charts.py"
    }


def test_a_part_of_the_screen_imports_only_those_below_it() -> None:
    assert offending(SCREEN, lambda name: screen_imports(name) - SCREEN_LAYERS[place(name)]) == {}


def test_the_layers_of_the_screen_are_those_that_there_are() -> None:
    used = {place(name): set[str]() for name in SCREEN}
    for name in SCREEN:
        used[place(name)] |= screen_imports(name)
    assert used == SCREEN_LAYERS


def test_no_part_of_the_screen_imports_itself_in_a_circle() -> None:
    assert in_a_circle(SCREEN_LAYERS) == set()


def test_what_only_looks_knows_no_streamlit() -> None:
    looks = [name for name in SCREEN if place(name) == "look"]
    assert offending(looks, lambda name: tops(name) & {"streamlit"}) == {}


# Where a visitor's session, the URL and the caches may be read: below `session`, and by a component under its own key.
KEPT = {"st.session_state", "st.query_params", "st.cache_data", "st.cache_resource"}
MAY_READ = {
    "session": KEPT,
    "components/exchange": {"st.session_state"},
    "components/graph": {"st.session_state"},
}


def test_the_session_the_url_and_the_caches_are_read_in_one_place_alone() -> None:
    assert offending(SCREEN, lambda name: (dotted(name) & KEPT) - MAY_READ.get(place(name), set())) == {}


def test_there_is_one_way_to_another_page() -> None:
    pages = (name for name in SCREEN if name != "pages/session/url.py")
    assert offending(pages, lambda name: dotted(name) & {"st.switch_page"}) == {}


def test_the_menu_alone_names_scripts_of_pages() -> None:
    scripts = {page.script for page in PAGES.values()}
    texts = {name: {node.value for node in nodes_of(name) if isinstance(node, ast.Constant)} for name in SCREEN}
    assert offending(SCREEN, lambda name: texts[name] & scripts) == {}


def test_no_folder_of_the_screen_holds_more_than_one_can_look_through() -> None:
    folders = Counter(path.parent for path in (ROOT / "pages").rglob("*") if path.suffix in (".py", ".js", ".css"))
    assert {folder: count for folder, count in folders.items() if count > MOST_FILES} == {}


# What the parts and scripts of pages do not do: what may fail goes through `pages/session/actions.py`.
TRIES = [name for name in SCREEN if place(name).startswith(("parts", "scripts"))]


def lines_of(name: str, *kinds: type[ast.stmt]) -> list[int]:
    """Where such statements stand in a file."""
    return [node.lineno for node in nodes_of(name) if isinstance(node, kinds)]


def test_no_part_of_a_page_catches_errors() -> None:
    assert offending(TRIES, lambda name: lines_of(name, ast.Try)) == {}


def test_a_script_of_a_page_reads_from_top_to_bottom() -> None:
    scripts = [name for name in SCREEN if place(name) == "scripts"]
    assert offending(scripts, lambda name: lines_of(name, ast.FunctionDef, ast.ClassDef)) == {}


def picked_rows(name: str) -> list[int]:
    """Where a file reads `….selection.rows`."""
    rows = (node for node in nodes_of(name) if isinstance(node, ast.Attribute) and node.attr == "rows")
    return [node.lineno for node in rows if isinstance(node.value, ast.Attribute) and node.value.attr == "selection"]


def test_tables_show_what_was_picked_in_one_way() -> None:
    assert offending(TRIES, picked_rows) == {}


# What changes the store: a page asks an action for it, which asks who is there.
CHANGES = {
    "annotate",
    "set_audience",
    "set_preview",
    "set_sweep_audience",
    "tag",
    "pin",
    "submit",
    "start_tool",
    "add_log",
    "add_path",
    "follow_path",
    "delete",
    "forget",
    "cancel",
}
ACTIONS = "pages/session/actions.py"


def past_the_actions(name: str) -> set[str]:
    """The calls of a file that change the store themselves."""
    calls = [node for node in nodes_of(name) if isinstance(node, ast.Attribute) and node.attr in CHANGES]
    past = {ast.unparse(call) for call in calls if ast.unparse(call.value) != "actions"}
    return (past - {"ThreadPoolExecutor(1).submit", "task.cancel"}) | (set(imported(name)) & {"core.runs.tools.tasks"})


@pytest.mark.promise("users")
def test_pages_change_the_store_through_actions_alone() -> None:
    """Pages change the store through actions only, and these check who the visitor is."""
    assert offending((name for name in SCREEN if name != ACTIONS), past_the_actions) == {}


# Files that open runs by the store: the door that asks who is there, actions that ask, and what follows an opened run.
OPENERS = {"pages/session/server.py", ACTIONS, "pages/session/shown.py", "pages/session/runs.py"}


def past_the_door(name: str) -> list[int]:
    """Where a file opens a run by the store itself."""
    calls = (node for node in nodes_of(name) if isinstance(node, ast.Attribute) and node.attr in ("open", "find"))
    return [node.lineno for node in calls if ast.unparse(node.value).endswith("store")]


@pytest.mark.promise("people")
def test_pages_open_what_a_visitor_names_by_one_function() -> None:
    """Pages open a run that a visitor names through one function, which checks its audience."""
    assert offending((name for name in SCREEN if name not in OPENERS), past_the_door) == {}
    named = (ROOT / "pages/session/shown.py").read_text(encoding="utf-8").partition("def open_shown")[2]
    assert "server.open_run(run_id)" in named.partition("\n\n\n")[0]


PRESSES = "pages/session/url.py"


def values_of_buttons(name: str) -> list[int]:
    """Where a file uses what `st.button` returns, which another rerun may lose."""
    alone = {node.value for node in nodes_of(name) if isinstance(node, ast.Expr)}
    calls = (node for node in nodes_of(name) if isinstance(node, ast.Call) and node not in alone)
    return [call.lineno for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "button"]


def test_a_click_is_a_callback_or_stored_until_its_button_is_drawn() -> None:
    assert offending((name for name in SCREEN if name != PRESSES), values_of_buttons) == {}


TRIGGER = re.compile(r'setTriggerValue\("(\w+)"')


def ignored_triggers(name: str) -> list[int]:
    """Return the lines whose callback ignores a trigger that the component's script sends."""
    scripts = (ROOT / name).parent.rglob("*.js")
    reported = {f"on_{event}_change" for path in scripts for event in TRIGGER.findall(path.read_text(encoding="utf-8"))}
    keywords = (node for node in nodes_of(name) if isinstance(node, ast.keyword) and node.arg in reported)
    return [node.lineno for node in keywords if ast.unparse(node.value) in ("_nothing", "_ignore", "lambda: None")]


def test_a_click_in_a_component_is_handled_before_the_page_runs() -> None:
    components = [name for name in SCREEN if name.startswith("pages/components/")]
    assert sum(TRIGGER.search(path.read_text()) is not None for path in (ROOT / "pages/components").rglob("*.js")) > 5
    assert offending(components, ignored_triggers) == {}


# Pages that draw themselves: forms, graphs, lessons, and lists whose rows have actions. The other pages draw blocks.
MOST_BY_HAND = 8


def test_pages_draw_blocks_but_for_a_few() -> None:
    calls = {page.name: [*map(called, nodes_of(f"pages/{page.script}"))] for page in PAGES.values()}
    by_hand = {name for name, names in calls.items() if "draw" not in names}
    assert by_hand == {page.name for page in PAGES.values() if page.by_hand}
    assert len(by_hand) <= MOST_BY_HAND


def called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
