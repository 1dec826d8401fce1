"""A graph as it is looked at: the groups that are open at first, parts, and texts."""

from dataclasses import replace

from core.graph.fx import fx_model
from core.graph.model import TOP, Edge, Fact, GraphModel, Group, Node, Overlay
from core.report import FxNode
from core.views.graph import GraphView
from tests.support.reports.fx_nodes import fx

ROOT = "L['self']"


def layers(path: str, kind: str, count: int, last: str) -> list[FxNode]:
    """Layers of a class, of ten ops each; the first reads the value `last`."""
    nodes: list[FxNode] = []
    for layer in range(count):
        for number in range(10):
            name = f"{kind}{layer}_{number}"
            nodes.append(fx(name, [last], f"{path}.layers.{layer}", kind))
            last = name
    return nodes


def opened(view: GraphView) -> list[str]:
    return [view.model.groups[level.group].label for level in view.opened()]


def test_a_model_opens_as_its_layers() -> None:
    nodes = [fx("x", op="placeholder", target="x")]
    nodes += [fx(f"op{number}", [nodes[-1].name], f"{ROOT}.model", "Model") for number in range(3)]
    nodes += layers(f"{ROOT}.model", "Layer", 8, nodes[-1].name)
    nodes.append(fx("loss", [nodes[-1].name], ROOT, "Causal"))
    view = GraphView(fx_model(nodes))

    assert opened(view) == ["model"]
    inside = {view.model.groups[item.group].label for item in view.opened()[0].items if item.group != TOP}
    assert inside == {"ops", "Layer"}


def test_an_encoder_and_a_decoder_open_both_as_their_layers() -> None:
    nodes = [fx("x", op="placeholder", target="x")]
    for part, kind in (("encoder", "Encoder"), ("decoder", "Decoder")):
        nodes.append(fx(f"{part}_add", [nodes[-1].name], f"{ROOT}.{part}", kind))
        nodes += [fx(f"{part}_norm{number}", [nodes[-1].name], f"{ROOT}.{part}.norm", "LayerNorm") for number in (0, 1)]
        nodes += layers(f"{ROOT}.{part}", f"{kind}Layer", 4, nodes[-1].name)
    assert opened(GraphView(fx_model(nodes))) == ["encoder", "decoder"]


def test_layers_that_are_nearly_all_launches_open_as_their_first() -> None:
    nodes = tuple(Node(f"n:{number}", "mul", "", "pointwise", TOP) for number in range(98))
    groups = [Group("m:layers", "Layer", "× 3", "stack", TOP, 0, 96, 96)]
    for layer in range(3):
        inside = 32 * layer, 32 * layer + 32, 32
        groups.append(Group(f"m:{layer}", f"layers.{layer}", "", "module", 0, *inside))
        groups.append(Group(f"g:op{layer}", f"mul of {layer}", "", "launch", len(groups) - 1, *inside))
    placed = tuple(replace(node, group=2 + at // 32 * 2 if at < 96 else TOP) for at, node in enumerate(nodes))
    launched = GraphView(GraphModel(placed, (), tuple(groups)))
    assert opened(launched) == ["Layer", "layers.0", "mul of 0"]


def test_launches_that_take_most_time_are_open_and_a_large_one_that_takes_none_is_folded() -> None:
    sizes, seconds = (52, 62, 67, 2), (0.001, 0.9, 0.09, 0.009)
    starts = [sum(sizes[:at]) for at in range(5)]
    groups = tuple(
        Group(f"g:op{at}", f"K{at}", "", "launch", TOP, starts[at], starts[at + 1], size)
        for at, size in enumerate(sizes)
    )
    owner = [at for at, size in enumerate(sizes) for _ in range(size)]
    nodes = tuple(Node(f"n:{number}", "mul", "", "pointwise", group) for number, group in enumerate(owner))
    values = tuple(seconds[group] / sizes[group] for group in owner)
    time = Overlay("time", "time (measured)", "number", "s", values, "sum")
    assert opened(GraphView(GraphModel(nodes, (), groups, (time,)))) == ["K1"]
    assert opened(GraphView(GraphModel(nodes, (), groups))) == ["K2"]


def chain(length: int) -> GraphView:
    nodes = tuple(Node(f"n:{number}", f"op{number}", "", "other", 0) for number in range(length))
    facts = (Fact("parameters", 12_600_000, "count"), Fact("share of time", 0.25, "share"), Fact("time", 0.002, "s"))
    group = Group("m:a", "layer", "", "module", TOP, 0, length, length, facts)
    return GraphView(GraphModel(nodes, tuple(Edge(n, n + 1) for n in range(length - 1)), (group,)), {"k": "fused"})


def test_a_part_has_a_title_and_the_numbers_of_the_whole() -> None:
    whole = chain(5)
    around, between = whole.around("n:2", 1), whole.between("n:3", "n:4")

    assert around is not None
    assert between is not None
    assert (around[1], around[0].numbers_in(whole)) == ("1 hop around op2", [1, 2, 3])
    assert (between[1], between[0].numbers_in(whole)) == ("op3 to op4", [3, 4])
    assert between[0].kernel_names == whole.kernel_names


def test_a_large_part_is_cut_and_says_so() -> None:
    part = chain(900).around("n:450", 400)
    assert part is not None
    assert (part[1], part[0].size()) == ("400 hops around op450, the nearest 400 nodes", 400)


def test_there_is_no_part_of_what_the_graph_does_not_have() -> None:
    assert chain(2).around("n:9", 1) is None
    assert chain(2).between("n:0", "n:9") is None


def test_the_facts_of_a_group_are_texts() -> None:
    assert chain(2).group_facts(0) == (("parameters", "12.6 M"), ("share of time", "25.0 %"), ("time", "2.00 ms"))


def test_the_digest_follows_the_names_of_kernels_and_the_colours() -> None:
    view = chain(2)
    unnamed = GraphView(view.model)
    digests = {view.digest(), view.digest({"k": "#123456"}), unnamed.digest(), unnamed.digest({"k": "#123456"})}
    assert len(digests) == 4
    assert chain(2).digest() == view.digest()


def test_a_layer_lists_its_first_launches() -> None:
    nodes = tuple(Node(f"n:{number}", "mm", "", "matmul", number + 1) for number in range(14))
    layer = Group("m:head", "head", "", "module", -1, 0, 14, 14)
    launched = tuple(
        Group(f"g:{number}", f"mm {number}", f"{number} ms", "library", 0, number, number + 1, 1)
        for number in range(14)
    )
    view = GraphView(GraphModel(nodes, (), (layer, *launched)))

    assert view.launches_in(0) == [*(f"mm {number}: {number} ms" for number in range(12)), "2 more"]
    assert view.launches_in(3) == ["mm 2: 2 ms"]
