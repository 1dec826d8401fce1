"""AOTAutograd's metadata of a graph, in torch's form."""

from core.analysis.backend import GraphInput, GraphMetadata, GraphOutput, graph_metadata
from core.report import FxNode
from core.views.fx_graph import GraphInputs

TEXT = """ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
                                              mutates_data=True,
                                              mutates_metadata=True,
                                              requires_grad=False,
                                              keep_input_mutations=True),
                               InputAliasInfo(is_leaf=True,
                                              mutates_data=False,
                                              mutates_metadata=False,
                                              requires_grad=True,
                                              keep_input_mutations=True)],
                    output_info=[OutputAliasInfo(output_type=<OutputType.non_alias: 1>,
                                                raw_type=<class 'torch.FunctionalTensor'>,
                                                base_idx=None,
                                                requires_grad=True,
                                                view_meta_sequence=None),
                                 OutputAliasInfo(output_type=<OutputType.alias_of_input: 2>,
                                                raw_type=<class 'torch.FunctionalTensor'>,
                                                base_idx=1,
                                                requires_grad=False,
                                                view_meta_sequence=None)],
                    num_intermediate_bases=0,
                    traced_tangents=[FakeTensor(..., size=(4, 1), requires_grad=True)],
                    static_input_indices=[1],
                    bw_donated_idxs=[4, 5])"""
METADATA = GraphMetadata(
    (GraphInput("data and metadata", False, False), GraphInput("", True, True)),
    (GraphOutput("non_alias", None, True), GraphOutput("alias_of_input", 1, False)),
    2,
)


def test_the_metadata_say_what_is_mutated_aliased_and_donated() -> None:
    assert graph_metadata(TEXT) == METADATA
    assert graph_metadata("something else") == GraphMetadata((), (), 0)


def test_inputs_and_results_are_named_in_words() -> None:
    shown = GraphInputs(METADATA, [FxNode("arg0_1", "placeholder", "arg0_1", "", (), None, 1).name])
    assert shown.title == "1 of 2 inputs mutated; 1 of 2 results aliased; the backward may reuse 2 saved values."
    assert shown.input_rows == [
        {"input": "arg0_1", "mutated": "data and metadata", "gradient": "", "address": ""},
        {"input": "1", "mutated": "", "gradient": "required", "address": "static"},
    ]
    assert shown.output_rows == [
        {"result": "0", "is": "a new tensor", "of": "", "gradient": "required"},
        {"result": "1", "is": "a view of an input", "of": "1", "gradient": ""},
    ]
    assert GraphInputs(GraphMetadata((), (), 0), []).title == "0 of 0 inputs mutated; 0 of 0 results aliased."
