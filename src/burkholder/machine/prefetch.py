"""Ask for memory before it is needed: a sparse stream says which cells its next rows touch."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic
from numba.np.arrayobj import make_array

# called with the arguments of the compiled code, which its own type does not know
intrinsic: Any = numba_intrinsic


def _prefetch(level: int, text: str) -> Any:
    def hint(typingctx, array, i):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            view = make_array(sig.args[0])(context, builder, value=args[0])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            place = builder.bitcast(builder.gep(view.data, [args[1]]), byte)
            builder.call(function, [place, number(0), number(level), number(1)])  # to read; how close; data
            return context.get_dummy_value()

        return types.none(array, types.intp), codegen

    hint.__doc__ = text
    return intrinsic(hint)


# Hints: i may lie outside the array, nothing is read or written.
prefetch = _prefetch(3, "Bring the cache line of array[i] as close as it can be: for streams.")
# Scattered lines asked into the first level would hold the few slots it has for lines on their way: 1.8 against
# 2.4 ns an entry for a state of 4 MB.
prefetch_near = _prefetch(2, "Bring the cache line of array[i] to the second level: for scattered cells.")
