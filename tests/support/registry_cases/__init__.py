"""Cases of torch's registry of graph breaks: code that raises a break by id, or the reason why there is none.

Each `.txt` file has cases in the form of Python: a comment with the id and torch's name for it, then the file of a
model. "raises" marks code that ends with an error, of Dynamo or of eager. The others are in `common_breaks`.

Cases and reasons are those of torch 2.13, whose registry Compileboard ships: in other versions the same code may raise
another id, or none.
"""

import re
from pathlib import Path

from tests.support.common_breaks import BREAKS

HEAD = "import torch\n\n"
INPUTS = "\ninputs = (torch.randn(4, 8),)\n"
CASE = re.compile(r"^# (GB\d{4})( raises)?: .*\n((?:(?!# GB).*\n)+)", re.M)


def _file(code: str) -> str:
    return f"{HEAD}{code}" + ("" if "\ninputs = " in code else INPUTS)


_FOUND = [found for path in sorted(Path(__file__).parent.glob("*.txt")) for found in CASE.findall(path.read_text())]
CASES = {registry_id: _file(code) for registry_id, _, code in _FOUND} | {key: code for key, (code, _) in BREAKS.items()}
# Cases that end with an error.
RAISE = frozenset(registry_id for registry_id, raises, _ in _FOUND if raises)
# Kinds that torch counts, but logs as another break or as none.
UNREPORTED = frozenset(("GB0003", "GB0039", "GB0066", "GB0150", "GB4636", "GB5458", "GB7000"))
# What is offered for the breaks of a case, by rule, and the outcome of its trial; nothing for the others.
# `disable` leaves one break, by design, and `eager_only` is about printed text.
OFFERED = {
    "GB0034": {"disable": "partly"},
    "GB0066": {"remove_break": "repaired"},
    "GB0099": {"undisable": "repaired"},
    "GB0105": {"setting": "repaired"},
    "GB0231": {"setting": "repaired"},
    "GB0263": {"setting": "repaired"},
    "GB0269": {"disable": "repaired"},
    "GB0275": {"disable": "partly"},
    "GB0293": {"setting": "repaired"},
    "GB0296": {"print_op": "repaired", "eager_only": "partly"},
    "GB0359": {"allow_in_graph": "repaired"},
    "GB2533": {"remove_break": "repaired"},
    "GB7000": {"remove_break": "repaired"},
    "GB8335": {"disable": "partly"},
}

# Reason → ids without a case.
WITHOUT = {
    "named in the registry, but not in the source of torch 2.13": """
        GB0009 GB0023 GB0029 GB0032 GB0038 GB0048 GB0054 GB0057 GB0063 GB0070 GB0075 GB0077 GB0095 GB0096 GB0114 GB0132
        GB0133 GB0136 GB0141 GB0143 GB0151 GB0154 GB0160 GB0176 GB0187 GB0191 GB0192 GB0195 GB0197 GB0218 GB0230 GB0259
        GB0261 GB0270 GB0272 GB0282 GB0287 GB0288 GB0328 GB0348 GB0355 GB0357 GB0362 GB0364 GB0365 GB0366 GB0368 GB0369
        GB0371 GB0459 GB1275 GB1501 GB1739 GB2669 GB3343 GB3840 GB4026 GB4240 GB5380 GB5565 GB5696 GB6025 GB7230 GB7425
        GB7906 GB7968 GB8315 GB8435 GB8887 GB9198 GB9528 GB9672
    """,
    "of the bytecode of another Python: before 3.11, or from 3.12 on": (
        "GB0024 GB0061 GB0076 GB0079 GB0089 GB0295 GB1752 GB6276 GB6604 GB9898"
    ),
    "needs a GPU: streams, events, Triton's launches": "GB0146 GB0216 GB0276 GB0283 GB0361 GB3326",
    "needs NumPy or torch.distributed to be missing": "GB0106 GB0210 GB0232",
    "needs FSDP, ExecuTorch or a class of TorchScript in C++": "GB0053 GB0265 GB0266 GB0267 GB0327 GB6017",
    "of opaque types, which libraries register; GB0363 and GB2078 are their cases": "GB7685 GB8656 GB8843 GB9567",
    "raised by torch.export only": "GB0173 GB0244 GB0353 GB4778",
    "of modules as constants, with inline_inbuilt_nn_modules = False": """
        GB0031 GB0073 GB0074 GB0153 GB0161 GB0188 GB0202 GB0211 GB0281 GB1177
    """,
    "of a higher-order operator called with arguments that its public function does not pass": """
        GB0303 GB0305 GB0307 GB0318 GB0329 GB0332 GB0333 GB0334 GB0337 GB0338 GB0341 GB0343 GB0344 GB0349 GB0356
    """,
    "a check before it stops the same code: another id, or an error of Dynamo": """
        GB0000 GB0035 GB0042 GB0044 GB0049 GB0092 GB0094 GB0111 GB0113 GB0121 GB0137 GB0162 GB0178 GB0182 GB0213
        GB0217 GB0224 GB0254 GB0255 GB0278 GB0289 GB0319 GB0320 GB0321 GB0322 GB0323 GB0324 GB0340 GB0350 GB0352 GB0358
        GB0360 GB0374 GB2544 GB3006 GB3775 GB3934 GB4197 GB4608 GB5849 GB6210 GB6270 GB7286 GB7489 GB7596 GB0755 GB7510
        GB9548
    """,
    "torch 2.13 traces the code that its text describes": """
        GB0004 GB0010 GB0062 GB0064 GB0068 GB0072 GB0097 GB0103 GB0116 GB0149 GB0167 GB0174 GB0175 GB0179 GB0189 GB0193
        GB0194 GB0199 GB0201 GB0214 GB0227 GB0271 GB0279 GB0347 GB0351 GB0367 GB0370 GB0871 GB1297 GB1381 GB2483 GB2977
        GB4393 GB4749 GB4841 GB6053 GB6890 GB7299 GB9522 GB9741
    """,
    "leaves autograd's mode off in torch 2.13, after a call that returned the method of a context": "GB0274",
    "raised by what a backend does, not by the code that is traced": "GB0219",
    "eager never ends": "GB0339",
    "eager raises before Dynamo is asked, or Python has no such code": "GB0084 GB0159 GB0183 GB0186 GB0234 GB0280",
    "guards a state of Dynamo's own objects: no code was found that reaches it": """
        GB0012 GB0018 GB0020 GB0021 GB0022 GB0027 GB0028 GB0047 GB0052 GB0065 GB0071 GB0080 GB0081 GB0086 GB0093 GB0115
        GB0118 GB0120 GB0122 GB0131 GB0138 GB0168 GB0169 GB0177 GB0184 GB0196 GB0205 GB0215 GB0228 GB0229 GB0252 GB0781
        GB1140 GB1380 GB1724 GB2922 GB4413 GB5904 GB6999 GB7502
    """,
}
REASONS = {registry_id: reason for reason, ids in WITHOUT.items() for registry_id in ids.split()}

# Torch's hints, followed: what is replaced in a case, by what. The hint's break is then gone, and results are eager's.
FOLLOWED: dict[str, list[tuple[str, str]]] = {
    "GB0040": [("x.view(-1),", "x.view(-1).clone(),")],
    "GB0058": [("y.real = torch.ones(4, 8)", "y.real.copy_(torch.ones(4, 8))")],
    "GB0078": [("def model", "inner = lambda t: t.sin()\ndef model"), ("(lambda t: t.sin())", "(inner)")],
    "GB0083": [("model = torch", "torch._dynamo.config.compiled_autograd = True\nmodel = torch")],
    "GB0102": [("class", "torch._dynamo.config._autograd_backward_strict_mode_banned_ops = []\nclass")],
    "GB0110": [('**{"from": 0.0, "to": 1.0}', "0.0, 1.0")],
    "GB0119": [("        pass", "        super().__init__()")],
    "GB0144": [
        ("    def jvp(ctx, tangent):\n        return tangent * 2\n", "    def unused(ctx):\n        return ctx\n")
    ],
    "GB0145": [("def vjp", "def backward")],
    "GB0198": [('def model(x):\n    SCALES["b"] = 3', 'SCALES["b"] = 3\ndef model(x):')],
    "GB0221": [("return steps()", "yield 2")],
    "GB0222": [("{torch.ones(8)}", "{torch.ones(8): 1}")],
    "GB0223": [("torch.compile(dynamic=False)(scaled)", "scaled")],
    "GB0226": [("Parameter()", "Parameter(torch.empty(0))")],
    "GB0233": [("torch.strided).to_padded_tensor(0)", "torch.jagged).values()")],
    "GB0238": [("def model", "config = Config()\ndef model"), ("(x, Config())", "(x, config)")],
    "GB0243": [("size = Size()", "size = 3")],
    "GB0245": [("nested_tensor(x,", "nested_tensor([x, x + 1],")],
    "GB0246": [(".long())", ".long(), num_classes=2)")],
    "GB0256": [("__getattr__ = Answer()", "def __getattr__(self, name):\n        return 2")],
    "GB0257": [(", total=False", "")],
    "GB0291": [
        ("", "import logging, torch\ntorch._dynamo.config.ignore_logging_functions.add(logging.Logger.warning)\n")
    ],
    "GB1042": [
        (
            "def model(x):\n    weight = torch.ones(8).requires_grad_()",
            "weight = torch.ones(8, requires_grad=True)\ndef model(x):",
        ),
    ],
    "GB1220": [("def model", "torch._dynamo.allow_c_slot(array)\ndef model")],
    "GB2520": [("@torch.compiler.assume_constant_result\n", "")],
    "GB4297": [("    torch._dynamo.skip_frame()\n", "")],
    "GB6663": [("iter([weight])", "[weight]")],
    "GB7054": [("inputs=[y]", "inputs=[weight]")],
    "GB8985": [("return y", "return y.detach()")],
    "GB9158": [("{y}", "{3}")],
}
