"""A change of the code for each row of docs/seeds.md that breaks what the row asks for: file, old text, new text."""

CHANGES = {
    "S0.1": (
        "core/views/backend/run.py",
        "    executions = sum(row.ran.calls for row in rows if row.ran)",
        "    executions = 0",
    ),
    "S0.5": (
        "core/worker/capture.py",
        '    yield _capture("symbolic_trace", TRACED, inputs, expected, lambda: _traced(inputs.model("traced")))\n',
        "",
    ),
    "S0.16": (
        "core/views/progress.py",
        "return NOT_COMPARED if self.script.entries or self.unseen else NOTHING",
        "return NOT_COMPARED",
    ),
    "S0.10": (
        "core/analysis/backend.py",
        'use = "used" if executions and use in ("", "unknown") else use',
        'use = ""',
    ),
    "S0.6": (
        "core/accelerator/backends/registry.py",
        'tell("Program", self.told, ("node", "run by", "op", "why torch"), rows)',
        "rows.clear()",
    ),
    "S0.11": ("core/accelerator/backend.py", 'return sum(PASSES.values()) if names == ["all"] else 0', "return 0"),
    "S1.1": (
        "core/views/memory.py",
        "return f\"Compiled takes {factor}× {'less' if ratio > 1 else 'more'} memory: {peaks}.\"",
        "return f\"Compiled takes {factor}× {'less' if ratio < 1 else 'more'} memory: {peaks}.\"",
    ),
    "S1.3": (
        "core/worker/cross_compilation/generate.py",
        "            record_binaries(file.read())\n",
        "            file.read()\n",
    ),
    "S1.4": (
        "core/sweep/presets/modes.py",
        "if backend.runs and backend.stops == stage], 30)}.",
        "if backend.runs], 30)}.",
    ),
    "S1.5": (
        "core/worker/script.py",
        'if name != "backend" and value is not None and value != DEFAULTS.get(name)',
        'if name not in ("backend", "dynamic") and value is not None and value != DEFAULTS.get(name)',
    ),
    "S1.8": ("core/sweep/presets/modes.py", "same=_code_key(row) == _code_key(default),", "same=False,"),
    "S1.9": (
        "core/worker/bisection.py",
        "        if trial.wanted:\n            return _smallest",
        "        if False:\n            return _smallest",
    ),
    "S1.20": ("core/worker/load.py", 'return f". Did you mean: \'{owner}.{wanted}\'?" if owner else ""', 'return ""'),
    "S1.14": (
        "core/runs/doctor.py",
        "    path = cpp_compiler()\n    if path is None:",
        "    path = None\n    if path is None:",
    ),
    "S1.16": (
        "core/views/backend/run.py",
        'f"runs, up to {backend.stops}" if backend.runs else',
        '"runs" if backend.runs else',
    ),
    "S1.7": (
        "core/analysis/repairs/calls.py",
        "(*edits, *more), doubt=doubt) if edits else None",
        "(*edits, *more), doubt=doubt) if not edits else None",
    ),
    "S1.19": (
        "core/views/kernels/kernel.py",
        "library = [kernel for kernel in products if kernel.extern]",
        "library: list[Kernel] = []",
    ),
    "S2.1": (
        "core/views/tour.py",
        "facts.append(f\"{fmt.count(len(made), 'generated kernel')}{written}, {of_library}\")",
        "facts.clear()",
    ),
    "S2.3": ("core/views/glossary.toml", "[guard]", "[check]"),
    "S2.4": (
        "core/worker/neighbours/stage.py",
        '    Runtime("TorchScript, scripted", "torch.jit.script(model)", _scripted),\n',
        "",
    ),
    "S2.7": (
        "core/analysis/dynamo/costs.py",
        'kind = f" ({count(len(resuming), \'resume function\')})" if resuming else ""',
        'kind = ""',
    ),
    "S2.10": ("core/sweep/presets/sizes.py", "    elif crossing.slow is None:", "    elif crossing.fast is not None:"),
    "S2.11": ("core/views/exercises.py", "solved = sum(view.solved for view in views)", "solved = len(views)"),
    "S2.13": ("pages/run/targets.py", "This page compares the code for two targets", "This page compares two targets"),
    "S3.5": (
        "core/views/glossary.py",
        'return fmt.count(total.count if total else 0, "time") if landmark.phase else NOT_TIMED',
        "return NOT_TIMED",
    ),
    "S3.8": (
        "core/worker/recorders/scheduler.py",
        "return [type(data if data is not None and not snode.is_extern() else snode.node).__name__]",
        "return []",
    ),
    "S3.9": (
        "core/worker/recorders/passes.py",
        "                patterns[key] = patterns.get(key, 0) + 1\n",
        "",
    ),
    "S3.11": ("core/worker/run.py", "watching_debug_files(job.debug_files),", "watching_debug_files(False),"),
    "S3.15": ("core/worker/user_kernels.py", "emit(NoteRecord(text=INTERPRETED.format(name, more)))", "pass"),
    "S3.18": (
        "core/worker/cross_compilation/kernels.py",
        "for rung, content in binary.asm.items() if isinstance(content, (str, bytes))",
        "for rung, content in ()",
    ),
    "S4.5": (
        "core/sweep/presets/modes.py",
        'return {0: "nothing", 1: "once", 2: "twice"}',
        'return {0: "nothing", 2: "once", 1: "twice"}',
    ),
    "S4.8": (
        "core/worker/recorders/guards.py",
        "        self._measure_families(families)\n        self._measure_filters(guards)\n",
        "        self.copy_us = self.copy_us or len(families)\n        return\n",
    ),
    "S4.13": (
        "core/worker/script.py",
        "stance, self._compiles = eval_frame._stance.stance, False",
        'stance, self._compiles = "default", False',
    ),
    "S4.15": (
        "core/trace/parsers/worker.py",
        "draft.keep(record, LogText(record.compile_id, counts, draft.payload(record)))",
        "draft.payload(record)",
    ),
    "S4.16": ("core/worker/config.py", 'return getattr(entry, "alias", None) or ""', 'return ""'),
    "S4.17": ("core/worker/config.py", "    near = nearest(name, names)\n", "    near: list[str] = []\n"),
    "S4.20": ("core/worker/aoti/stage.py", "(dim.most is None or size <= dim.most)", "True"),
    "S4.21": ("core/analysis/findings/answers.py", "skips = max(counted, len(reasons))", "skips = 0"),
    "S4.23": (
        "core/accelerator/backends/aot.py",
        '        tell_text(f"{direction}, decompositions: {name}", level)\n',
        "        calls(level)\n",
    ),
    "S4.24": ("core/trace/parsers/table.py", 'if any(stage.startswith("aot_") for stage in stages):', "if not stages:"),
    "S4.25": ("core/views/neighbours.py", "same = sum(_is_same(function) for function in self.functions)", "same = 0"),
    "X1": (
        "core/worker/script.py",
        "number = code if isinstance(code, int) else 0 if code is None else 1",
        "number = 1",
    ),
    "X12": (
        "core/views/progress.py",
        "fmt.count(len(stages), 'graph stage')",
        "fmt.count(1, 'graph stage')",
    ),
}
