"""numba's bookkeeping between its passes, with the same answers in less time; in force only while a loop is compiled.

numba works out after every pass which variables live where, looks for the variables of every instruction by walking all of it,
and asks at every piece whether modules, settings and declarations have changed. While a loop is compiled they do not, and
nobody asks for the lifetimes before the last pass. It works out what a call means at every look at it, several times a piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from typing import Any

from llvmlite.ir._utils import NameScope
from numba.core import base, byteflow, config, event, ir, lowering, ssa, transforms, typeinfer, types
from numba.core.compiler import Flags
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.typing.npydecl import NumpyRulesArrayOperator
from numba.core.untyped_passes import InlineClosureLikes
from numba.np.ufunc.dufunc import DUFunc
from numba.stencils.stencil import StencilFunc
from numpy import ufunc

_FLAGS_HASH = hash(Flags())


# what a caller is compiled to says nothing of what it calls
_OF_CALLER = frozenset({"no_compile", "no_cpython_wrapper", "no_cfunc_wrapper", "forceinline", "dbg_optnone"})


def _said(flags: Any) -> dict[str, Any]:
    return {name: value for name, value in flags._values.items() if value != flags.options[name].default and name not in _OF_CALLER}


def _same_flags(flags: Any, other: Any) -> bool:
    return _said(flags) == _said(other) if isinstance(other, Flags) else NotImplemented


def _variables(instruction: Any, value: Any) -> list[Any]:
    """The variables in a value of an instruction, in the order of the walk."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is dict or kind is list or kind is tuple:
        found: list[Any] = []
        for part in value.values() if kind is dict else value:
            part_kind = type(part)
            if part_kind is ir.Var:
                found.append(part)
            elif part_kind not in _BARE:
                found.extend(_variables(instruction, part))
        return found
    if kind in _BARE:
        return []
    return _walked(instruction, value)


_walked: Any = ir.Inst._rec_list_vars
_BARE = frozenset({str, int, float, bool, type(None), ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg})


def _processed(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Blocks in order, and the ends of variables where they are asked for; what lives at the start of a block is for generators."""
    function = processor.func_ir
    if function.is_generator:
        _processed_by_numba(processor, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime, function.generator_info = VariableLifetime(function.blocks), None
    flags = ConfigStack.top_or_none()
    if emit_dels and (flags is None or flags.nrt):  # where nothing is counted, no end of a life has to be known
        processor._insert_var_dels(extend_lifetimes=extend_lifetimes)


_processed_by_numba: Any = PostProcessor.run


def _run_pass(manager: Any, index: int, compiler_pass: Any, state: Any) -> None:
    """A pass, without events, timers and checks of the passes themselves."""
    compiler_pass.analysis = manager._analysis
    mutated = compiler_pass.run_initialization(state)
    mutated |= compiler_pass.run_pass(state)
    mutated |= compiler_pass.run_finalizer(state)
    if mutated and _pass_registry.get(type(compiler_pass)).mutates_CFG:
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)


def _install_new(context: Any) -> None:
    """What was declared since, from registries that are known; their modules were imported at the start."""
    for registry in list(context._registries):
        context.install_registry(registry)


_ANSWERS: dict[Any, Any] = {}  # of a function for types and flags; also the flags themselves, so that no other has their id


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature of a call: asked for at every look at an expression, answered once a piece."""
    if kws:
        return _call_type_found(function, context, args, kws)
    flags = ConfigStack.top_or_none()
    key = function, tuple(args), id(flags)
    if key not in _ANSWERS:
        _ANSWERS[key] = _call_type_found(function, context, args, kws), flags
    return _ANSWERS[key][0]


_call_type_found: Any = BaseFunction.get_call_type


def _for_arrays(template: Any, args: Any, kws: Any) -> Any:
    """What an operator does with arrays; numpy's table of types need not be searched for numbers."""
    bare = [kind.type if isinstance(kind, types.Optional) else kind for kind in args]
    return _for_arrays_found(template, args, kws) if any(isinstance(kind, types.ArrayCompatible) for kind in bare) else None


_for_arrays_found: Any = NumpyRulesArrayOperator.generic


_has_loc: Any = cache(base._has_loc)  # whether what generates code wants to know of which line: read from its signature


def forget() -> None:
    """What was answered holds for one loop: new functions may be declared before the next."""
    _ANSWERS.clear()
    _has_loc.cache_clear()


def _expressions(state: Any) -> Iterator[tuple[str, Any]]:
    """What the variables of a function are computed by."""
    for block in state.func_ir.blocks.values():
        for part in block.body:
            if isinstance(part, ir.Assign):
                yield part.target.name, part.value


def _closures_inlined(inlining: Any, state: Any) -> bool:
    """Functions within functions become part of them; where there are none, and no lists, nothing is looked for."""
    for _, value in _expressions(state):
        inner = isinstance(value, ir.Expr) and value.op in ("make_function", "build_list")
        if inner or (isinstance(value, (ir.Global, ir.FreeVar)) and (value.value is reduce or isinstance(value.value, StencilFunc))):
            return bool(_closures_inlined_by_numba(inlining, state))
    return False


def _arrays_rewritten(rewriting: Any, state: Any) -> bool:
    """Expressions of whole arrays become loops; where there are none, and no names of fields, nothing is looked for."""
    kinds = state.typemap
    for name, value in _expressions(state):
        if isinstance(kinds[name], types.StringLiteral):
            return bool(_arrays_rewritten_by_numba(rewriting, state))
        if isinstance(value, ir.Expr):
            whole = value.op in ("unary", "binop", "inplace_binop", "arrayexpr") and isinstance(kinds[name], types.Buffer)
            each = value.op == "call" and isinstance(getattr(kinds[value.func.name], "typing_key", None), (ufunc, DUFunc))
            if whole or each or value.op == "build_list":
                return bool(_arrays_rewritten_by_numba(rewriting, state))
    return False


_closures_inlined_by_numba: Any = InlineClosureLikes.run_pass
_arrays_rewritten_by_numba: Any = NopythonRewrites.run_pass


def _nothing(*_: Any, **__: Any) -> None:
    """What was done at the start, or tells of what is done."""


class _NoWords:
    """What would be added to an error, at every instruction and every variable: errors say where they are without it."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


_NO_WORDS = _NoWords()


def _wordless(*_: Any, **__: Any) -> _NoWords:
    return _NO_WORDS


def _fresh_name(scope: Any, name: str) -> str:
    """A name nobody has in this scope: numba's own, found without asking for each anew."""
    used, times, base = scope._useset, scope._basenamemap, name
    while name in used:
        times[base] += 1
        name = f"{base}.{times[base]}"
    return name


# (owner, name, what stands there while a loop is compiled)
REPLACED: list[tuple[Any, str, Any]] = [
    (Flags, "__eq__", _same_flags),
    (Flags, "__hash__", lambda flags: _FLAGS_HASH),
    (ir.Inst, "_rec_list_vars", _variables),
    (PostProcessor, "run", _processed),
    (PassManager, "_runPass", _run_pass),
    (InlineClosureLikes, "run_pass", _closures_inlined),
    (NopythonRewrites, "run_pass", _arrays_rewritten),
    (CPUContext, "load_additional_registries", _install_new),
    (config, "reload_config", _nothing),
    (BaseFunction, "get_call_type", _call_type),
    (NumpyRulesArrayOperator, "generic", _for_arrays),
    (base, "_has_loc", _has_loc),
    (event, "start_event", _nothing),
    (event, "end_event", _nothing),
    (typeinfer, "new_error_context", _wordless),
    (lowering, "new_error_context", _wordless),
    (byteflow._logger, "debug", _nothing),
    (ssa._logger, "debug", _nothing),
    (NameScope, "deduplicate", _fresh_name),
]
