"""Pieces of compiled loops: translated once each, optimised and turned into machine code only as part of their loop.

numba treats every function it compiles as if it were called by itself: it is optimised, turned into machine code and given two
wrappers, and the same again, with all it calls, inside its caller. For pieces that are inlined all of that but the last is
for nobody. Here a piece stays what it was translated to until its loop is optimised, as a whole and once.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite.binding import Linkage
from numba import extending
from numba.core import ir
from numba.core.analysis import dead_branch_prune
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import find_const, guard
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from burkholder.machine.bookkeeping import REPLACED, forget
from burkholder.machine.lowering import SHORTER
from burkholder.machine.processor import PLAIN

F = TypeVar("F", bound=Callable[..., Any])


class _Unfinished(JITCodeLibrary):
    """Code that waits to be linked into a loop, by itself: neither optimised nor loaded, and without what it calls."""

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def add_linking_library(self, library: Any) -> None:
        library._ensure_finalized()
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module, self._finalized = self._final_module, True


def _add_with_all_it_calls(loop: Any, library: Any) -> None:
    """Pieces are linked where their loop is finished, each of them once, however many call it; so are those of a user's own loop."""
    waiting = [library]
    while waiting:
        part = waiting.pop()
        if part not in loop._linking_libraries:
            part._ensure_finalized()
            loop._reload_init.update(part._reload_init)
            loop._linking_libraries.append(part)
            if isinstance(part, _Unfinished):
                waiting.extend(part._linking_libraries)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """The last pass, into such a library."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        return _lowered_as_part(self, state)


_lowered = NativeLowering.run_pass


def _lowered_as_part(lowering: NativeLowering, state: Any) -> bool:
    state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
    state.flags.no_compile = state.flags.no_cfunc_wrapper = True
    _lowered(lowering, state)
    # callers find a piece by what would be its entry from Python: any built-in that is not found twice
    state["cr"] = state["cr"]._replace(cfunc=[].append)
    state.targetctx.insert_user_function(state["cr"].cfunc, state["cr"].fndesc, [state.library])
    state.reload_init.extend(state.library._reload_init)
    return True


def _lowered_in_loop(lowering: NativeLowering, state: Any) -> bool:
    """numba's own functions are parts as well, where Python cannot call them."""
    part = state.flags.no_cpython_wrapper and not state.flags.no_compile and state.library is None
    return _lowered_as_part(lowering, state) if part else _lowered(lowering, state)


class _PartCompiler(CompilerBase):
    """numba's own passes but for the last."""

    needless: frozenset[str] = frozenset()

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        kept = [(kind, name) for kind, name in pipeline.passes if kind.__name__ not in self.needless]
        kept.insert([kind for kind, _ in kept].index(NopythonTypeInference), (_Known, "known fields"))
        pipeline.passes = [(_PartLowering if kind is NativeLowering else kind, name) for kind, name in kept]
        pipeline.finalize()
        return [pipeline]


class _PieceCompiler(_PartCompiler):
    """Without the passes for what no piece contains: closures, `with`, exceptions, expressions of whole arrays."""

    needless = frozenset(
        {
            "WithLifting",
            "InlineClosureLikes",
            "InlineOverloads",
            "GenericRewrites",
            "NopythonRewrites",
            "DeadBranchPrune",
            "ReconstructSSA",
            "PreLowerStripPhis",
        }
    )


@register_pass(mutates_CFG=True, analysis_only=False)
class _Known(FunctionPass):
    """Fields of records that are known by the types of the arguments become constants, and branches that they rule out go."""

    _name = "known_fields"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        told = {at: kind.known for at, kind in enumerate(state.args) if getattr(kind, "known", None)}
        if not told:
            return False
        function, values = state.func_ir, {}
        for block in function.blocks.values():
            for assign in block.find_insts(ir.Assign):
                value, name = assign.value, assign.target.name
                if len(function._definitions[name]) > 1:
                    continue
                if isinstance(value, ir.Arg) and value.index in told:
                    values[name] = told[value.index]
                elif isinstance(value, ir.Expr) and value.op in ("getattr", "getitem", "static_getitem") and value.value.name in values:
                    key = value.attr if value.op == "getattr" else guard(find_const, function, value.index)
                    inside = values[value.value.name]
                    if key is not None and (key in inside if isinstance(inside, dict) else isinstance(inside, tuple)):
                        assign.value = ir.Const(inside[key], assign.loc)
                        function._definitions[name] = [assign.value]
                        values[name] = inside[key]
        dead_branch_prune(function, state.args)
        return True


def _laid_out(library: Any, module: Any) -> None:
    """Functions are not optimised one by one before they are optimised together."""
    module.data_layout = library._codegen._data_layout


_IN_LOOP: list[tuple[Any, str, Any]] = [
    (NativeLowering, "run_pass", _lowered_in_loop),
    (CPUCodeLibrary, "_optimize_functions", _laid_out),
    *REPLACED,
    *SHORTER,
]


class _LoopCompiler(Compiler):
    """numba's own, with everything the loop calls as parts; numba's lock lets nobody else compile meanwhile.

    The search for garbage is put off: what is made while compiling is kept to its end anyway.
    """

    def compile_extra(self, func: Any) -> Any:
        searching = gc.isenabled()
        gc.disable()
        others = [(owner, name, getattr(owner, name)) for owner, name, _ in _IN_LOOP]
        try:
            for owner, name, ours in _IN_LOOP:
                setattr(owner, name, ours)
            return super().compile_extra(func)
        finally:
            for owner, name, before in others:
                setattr(owner, name, before)
            forget()
            if searching:
                gc.enable()


LOOP: dict[str, Any] = {} if PLAIN else {"pipeline_class": _LoopCompiler, "no_cfunc_wrapper": True}
PART: dict[str, Any] = {} if PLAIN else {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}
SIMPLE: dict[str, Any] = {} if PLAIN else {**PART, "pipeline_class": _PieceCompiler}
_PIECE: dict[str, Any] = {} if PLAIN else {**SIMPLE, "forceinline": True, "_nrt": False}


def inlined(function: F) -> F:
    """A piece of an `uncounted` loop, inlined wherever it is called; in Python it stays the function it is.

    It takes numbers, vectors and places, creates no arrays and raises nothing.
    """
    return _registered(function, _PIECE)


if not PLAIN:
    CPUCodeLibrary.add_linking_library = _add_with_all_it_calls  # type: ignore[method-assign]


def register_jitable(function: Any = None, **options: Any) -> Any:
    """A function that compiled loops may call; in Python it stays what it is. Flags not given are those of its caller."""
    return _registered(function, {**PART, **options}) if function else lambda f: register_jitable(f, **options)


def _registered(function: F, options: dict[str, Any]) -> F:
    registered: F = extending.register_jitable(**options)(function) if options else extending.register_jitable(function)
    return registered


def overload(function: Callable[..., Any], **options: Any) -> Callable[[F], F]:
    """What compiled loops do instead of calling this function, chosen by the types of its arguments."""
    known: Any = PART
    return extending.overload(function, jit_options=known, **options)
