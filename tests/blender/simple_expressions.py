"""A model of Blender's evaluator of simple expressions, for arrays: what comes out, and whether it counts as an error.

Blender's own (blenlib/intern/expr_pylike_eval.cc) computes in double precision and then asks the processor whether a
number was divided by 0 or an operation was invalid: one that makes what is not a number out of numbers, or compares
what is not a number with anything but ``==`` and ``!=``. What is not chosen is not evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

Array = np.ndarray

_OPERATIONS = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide}
_COMPARISONS = {ast.Lt: np.less, ast.Gt: np.greater, ast.Eq: np.equal}
_FUNCTIONS = {"sqrt": np.sqrt, "atan2": np.arctan2, "abs": np.abs, "ceil": np.ceil, "cos": np.cos, "sin": np.sin}
_FUNCTIONS["acos"] = np.arccos
_PICKED = {"min": np.minimum, "max": np.maximum}


class Model:
    """An expression, evaluated for arrays of its variables."""

    def __init__(self, expression: str) -> None:
        self._body = ast.parse(expression, mode="eval").body
        self.failed: Array = np.zeros(0, bool)

    def __call__(self, variables: Mapping[str, Array]) -> Array:
        """What comes out; ``failed`` says where Blender would call the driver invalid."""
        self._variables = variables
        self.failed = np.zeros(len(next(iter(variables.values()))), bool)
        with np.errstate(all="ignore"):
            return self._value(self._body, np.ones(len(self.failed), bool))

    def _value(self, node: ast.AST, active: Array) -> Array:
        match node:
            case ast.Constant(value=number):
                return np.full(len(active), float(number))
            case ast.Name(id=name):
                return self._variables[name].astype(float)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, active)
            case ast.BinOp(left=left, op=operator, right=right):
                parts = [self._value(left, active), self._value(right, active)]
                if isinstance(operator, ast.Div):
                    self.failed |= active & (parts[1] == 0.0)
                return self._checked(_OPERATIONS[type(operator)](*parts), parts, active)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                parts = [self._value(left, active), self._value(right, active)]
                if not isinstance(operator, ast.Eq):
                    self.failed |= active & (np.isnan(parts[0]) | np.isnan(parts[1]))
                return _COMPARISONS[type(operator)](*parts).astype(float)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                chosen = self._value(test, active) != 0.0
                return np.where(chosen, self._value(body, active & chosen), self._value(otherwise, active & ~chosen))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._called(name, [self._value(each, active) for each in arguments], active)
        raise ValueError(f"not simple: {ast.dump(node)}")

    def _called(self, name: str, parts: list[Array], active: Array) -> Array:
        if name in _PICKED:
            self.failed |= active & np.any(np.isnan(parts), axis=0)
            return _PICKED[name](*parts)
        return self._checked(_FUNCTIONS[name](*parts), parts, active)

    def _checked(self, result: Array, parts: list[Array], active: Array) -> Array:
        self.failed |= active & np.isnan(result) & ~np.any(np.isnan(parts), axis=0)
        return result
