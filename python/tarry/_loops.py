"""Loops with a body: scan, while_loop and associative_scan, for carries and xs that are arrays, or tuples, lists and dicts of them."""

from . import _tarry


_DEEPEST = 200


def _leaves(tree, depth=0):
    """The arrays of nested tuples, lists and dicts, in order."""
    if tree is None:
        return []
    if depth > _DEEPEST:
        raise _tarry._wrong("InvalidValue", "loop", f"lists are nested more than {_DEEPEST} deep; one that contains itself is so")
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in _leaves(tree[key], depth + 1)]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in _leaves(part, depth + 1)]
    return [tree if isinstance(tree, _tarry.Array) else _tarry.asarray(tree)]


def _like(tree, leaves):
    """The same nesting with other arrays, which an iterator gives."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        made = {key: _like(tree[key], leaves) for key in sorted(tree)}
        return {key: made[key] for key in tree}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_like(part, leaves) for part in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_like(part, leaves) for part in tree)
    return next(leaves)


def scan(f, init, xs=None, length=None, *, axis=0, reverse=False):
    """Goes along an axis with values that are carried from level to level: carry, y = f(carry, x).

    f is recorded once, with arrays that stand for the values of any level. Where its operations are elementwise, with
    arrays from outside that broadcast, the whole is one kernel, with a thread for each element of the other axes and the
    carries in registers. An f may also mix elements, by a sum, a slice or a product; then carries keep their shapes.
    Small vectors and matrices stay in registers; an f that mixes more than a few elements is copied for each level. init, xs, carries and ys are arrays, or tuples, lists and dicts of them; xs is
    None where there is only a length, a y may be None.

    Returns the last carry, and the ys of all levels along the axis.
    """
    given, nesting = init, []

    def body(carries, at):
        step = f(_like(given, iter(carries)), _like(xs, iter(at)))
        if not isinstance(step, tuple) or len(step) != 2:
            raise TypeError("the function of scan returns a carry and a y, as in (carry, y)")
        nesting[:] = step
        return _leaves(step[0]), _leaves(step[1])

    carries, ys = _tarry._scan(body, _leaves(init), _leaves(xs), length, axis, reverse)
    return _like(nesting[0], iter(carries)), _like(nesting[1], iter(ys))


def while_loop(cond_fun, body_fun, init_val, *, limit=2**31 - 1):
    """Repeats state = body_fun(state) while cond_fun(state), element by element; elementwise functions make one kernel.

    Both are recorded once, with arrays that stand for the state of any round. An element whose condition is false keeps
    its state from then on. Where one of them mixes many elements, as the norm of a long vector does, the loop
    runs at once, several rounds at a time, until no element has a round left. The state is an array, or a tuple, list or dict of them; limit
    bounds the rounds.

    Returns the state at the end.
    """

    def body(state):
        return _leaves(body_fun(_like(init_val, iter(state))))

    def condition(state):
        return cond_fun(_like(init_val, iter(state)))

    return _like(init_val, iter(_tarry._while_loop(condition, body, _leaves(init_val), limit)))


def associative_scan(fn, elems, reverse=False, axis=0):
    """Running combinations along an axis: element k of the result is what the elements 0..k combine to.

    fn(a, b) combines two neighbours, the earlier one first: elementwise operations, recorded with arrays in which many
    neighbours stand side by side. It has to be associative, and need not be commutative. elems, a, b and what fn returns are arrays, or tuples, lists
    and dicts of them. reverse goes from the last element to the first. The order depends on the extent alone.

    Returns the running combinations, in the shape of elems.
    """

    def combine(a, b):
        return _leaves(fn(_like(elems, iter(a)), _like(elems, iter(b))))

    return _like(elems, iter(_tarry._associative_scan(combine, _leaves(elems), axis, reverse)))
