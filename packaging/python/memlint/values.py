# SPDX-License-Identifier: Apache-2.0
"""Numbers that a program asks its tensors for, where its inputs alone decide them: whether a mask is all ones.

Fake tensors have no numbers. But what was made of the example's inputs and of constants can be computed again, on the
CPU, when it is asked for: each such tensor is noted with the call that made it, and nothing is computed before. Random
numbers are taken to be the least and the largest that they can be, and the answer is known where both give the same: a
layer that is dropped with probability 0 never is. Which places topk and argmax choose of what is not known is taken to
be spread evenly, as routers of experts are trained to; what was asked on those grounds is no certainty."""

from __future__ import annotations

import weakref

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

ASKED = {f"aten.{op}.default" for op in ("item", "_local_scalar_dense", "is_nonzero", "equal")}
UNIFORM = {
    "aten.rand.default": torch.ops.aten.zeros.default,
    "aten.rand_like.default": torch.ops.aten.zeros_like.default,
}
BOUNDS = (0, 1 - 2**-24)  # of torch.rand
CHOOSE = {  # which result has the places, and which argument says along what dimension
    "aten.topk.default": (1, 2),
    "aten.max.dim": (1, 1),
    "aten.argmax.default": (0, 1),
}


class Made:
    """A tensor that can be computed: a call, and the number of its result; of an input the tensor itself."""

    def __init__(self, func, args=(), kwargs=None, nth=0, value=None):
        self.func, self.args, self.kwargs, self.nth, self.value = func, args, kwargs or {}, nth, value
        of = [a for a in pytree.tree_leaves((args, self.kwargs)) if isinstance(a, Made)]
        self.random = str(func) in UNIFORM or any(a.random for a in of)
        self.spread = any(a.spread for a in of)  # what it is hangs on places that were taken to be spread evenly
        self.storage = None

    def get(self, bound):
        value = self.value
        if value is None:
            value = computed(self.func, self.args, self.kwargs, bound)
        if not self.random:
            self.value = value
        return value[self.nth] if isinstance(value, (list, tuple)) else value


def computed(func, args, kwargs, bound):
    def plain(a):
        if isinstance(a, Made):
            return a.get(bound).cpu()
        if isinstance(a, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return a.node.hint
        return torch.device("cpu") if isinstance(a, torch.device) else a

    with _disable_current_modes(), torch.no_grad(), torch.autocast("cpu", enabled=False):
        args, kwargs = pytree.tree_map(plain, (args, kwargs))
        if str(func) in UNIFORM:
            return UNIFORM[str(func)](*args, **kwargs) + bound
        return func(*args, **kwargs)


def tensors_of(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def hint(size):
    return size.node.hint if isinstance(size, torch.SymInt) else size


def evenly(places, among):
    """As many places as a tensor has, of 0 to among - 1, one after the other along its last dimension."""
    shape = [hint(n) for n in places.shape]
    count = 1
    for n in shape:
        count *= n
    with _disable_current_modes():
        made = Made(None, value=(torch.arange(count) % among).view(shape))
    made.spread = True
    return made


class Values:
    def __init__(self):
        self.made: dict = {}  # by id of a tensor
        self.spread = False  # something was answered by what is spread evenly

    def keep(self, t, made):
        if id(t) not in self.made:
            weakref.finalize(t, self.made.pop, id(t), None).atexit = False
        self.made[id(t)], made.storage = made, t.untyped_storage()._cdata

    def put(self, fake, real):
        """fake stands for an input, whose numbers count where it has some."""
        if type(real) is torch.Tensor and not real.is_meta:
            self.keep(fake, Made(None, value=real))

    def source(self, t):
        """How t was made, None unknown. A tensor that is not fake is what it is."""
        return Made(None, value=t) if type(t) is torch.Tensor and not t.is_meta else self.made.get(id(t))

    def answer(self, func, args, kwargs):
        """What the program asks for; None where it asks for nothing, or that is not known."""
        if str(func) not in ASKED or not all(map(self.source, tensors_of((args, kwargs)))):
            return None
        args, kwargs = pytree.tree_map_only(torch.Tensor, self.source, (args, kwargs))
        low, high = (computed(func, args, kwargs, bound) for bound in BOUNDS)
        if low != high:
            return None
        self.spread |= Made(func, args, kwargs).spread
        return low

    def count(self, t):
        """How many elements of what is known are not zero: the same share at every size; None where that can't be
        said."""
        source = self.source(t)
        if source is None:
            return None
        low, high = (len(computed(torch.ops.aten.nonzero.default, (source,), {}, bound)) for bound in BOUNDS)
        total, size = source.get(0).numel(), t.numel()
        if low != high:
            return None
        self.spread |= source.spread
        return size // (total // low) if low and total % low == 0 else size * low // total if low else 0

    def run(self, func, args, kwargs):
        """The call, on fake tensors; what nonzero or an index by a mask makes has the size that is known of it."""
        if str(func) == "aten.nonzero.default":
            n = self.count(args[0])
            if n is not None:
                return torch.empty((n, args[0].dim()), dtype=torch.long, device=args[0].device)
        if str(func) == "aten.index.Tensor":
            masks = [t is not None and t.dtype is torch.bool for t in args[1]]
            found = [self.count(t) if mask else 0 for t, mask in zip(args[1], masks)]
            if any(masks) and None not in found:
                places = []
                for t, mask, n in zip(args[1], masks, found):
                    places += [torch.empty(n, dtype=torch.long, device=t.device)] * t.dim() if mask else [t]
                return func(args[0], places)
        return func(*args, **kwargs)

    def noted(self, func, args, kwargs, out):
        """out is what func made."""
        if torch._C._functorch.maybe_current_level() is not None:  # under vmap tensors have no storage
            return
        results = tensors_of(out)
        if func._schema.is_mutable:
            written = {t.untyped_storage()._cdata for t in results}
            for key in [k for k, made in self.made.items() if made.storage in written]:
                del self.made[key]
            return
        known = all(map(self.source, tensors_of((args, kwargs))))
        if str(func) in CHOOSE and not known and args[0].dim():
            nth, at = CHOOSE[str(func)]
            dim = args[at] if len(args) > at and args[at] is not None else -1
            self.keep(results[nth], evenly(results[nth], hint(args[0].shape[dim])))
            return
        random = torch.Tag.nondeterministic_seeded in func.tags and str(func) not in UNIFORM
        if random or "empty" in func._schema.name or not known:
            return
        args, kwargs = pytree.tree_map_only(torch.Tensor, self.source, (args, kwargs))
        for nth, t in enumerate(results):
            if id(t) not in self.made:
                self.keep(t, Made(func, args, kwargs, nth))
