# SPDX-License-Identifier: Apache-2.0
"""A model's forward pass, run on fake tensors, as the calls that it makes: what memlint.export writes down.

Every call of an operator arrives at a dispatch mode before autograd, autocast and decomposition have seen it, so it is
what the program wrote: linear, not a transpose and a product; add_, where it writes in place. No memory is taken and no
kernel runs, whatever the model's size, and parameters may be on the meta device. Tensors of the model and its inputs
are taken to be on a CUDA device, which need not be there; what the program makes elsewhere is not counted.

The pass runs several times. The first run has gradients on, and gives the calls, their modules, lines and variables.
The second has them off, so that nothing but Python and the frames of C++ holds a tensor: it dies when its last name
goes. The others are under autocast and of the model in bfloat16: types that differ there follow the precision.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import linecache
import os
import re
import sys
import weakref
from collections.abc import Mapping
from typing import Any, Callable

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, GuardOnDataDependentSymNode, ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _pop_mode_temporarily

from .values import Values

TORCH = os.path.dirname(torch.__file__) + os.sep
OWN = os.path.dirname(sys._getframe().f_code.co_filename) + os.sep  # as frames call it
# Where tensors are taken to be. Fake CUDA tensors of older versions end the process where no driver is; the CPU stands
# for the device there, and what the program makes on the CPU is counted, too.
VERSION = tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2])
DEVICE = "cuda" if VERSION >= (2, 11) or torch.cuda.is_available() else "cpu"
FULL = 1 << 62  # a slice's end that was not given is larger


@dataclasses.dataclass
class Call:
    op: Any
    text: str  # the arguments, as torch.fx prints them
    reads: list  # names of tensors
    sizes: list  # expressions, which the text calls $0, $1, ...
    outs: list = dataclasses.field(default_factory=list)
    like: list = dataclasses.field(default_factory=list)  # of results: type and sizes
    path: list = dataclasses.field(default_factory=list)  # modules around it
    classes: list = dataclasses.field(default_factory=list)
    stack: str = ""
    grad: bool = True
    autocast: bool = True
    in_loss: bool = False
    anew: int = 0  # a view of what was written, on nodes of its own down to that: the first of them 1, others 2
    region: int = 0  # the checkpoint that it is under
    holds: list = dataclasses.field(default_factory=list)  # tensors that the function of the checkpoint has
    reentrant: bool = False


@dataclasses.dataclass
class Program:
    calls: list
    held: dict  # by precision, per call and result the last call during which Python holds it; len(calls): longer
    names: dict  # of tensors: the variable
    inputs: list  # name, type, sizes
    outputs: list
    constants: dict
    symbols: dict  # name of an open dimension: how sizes call it
    variants: list  # the precisions that run the same calls
    unsure: str
    asked: list  # lines that ask for values of the inputs


@dataclasses.dataclass
class Root:
    """What views show, whether or not Python still has it: its name now, and how often it was written."""

    name: str
    like: tuple  # type and sizes
    version: int = 0


@dataclasses.dataclass
class Shown:
    """A tensor that shows a root: all of it, or through the calls that made the view, each with the result's number."""

    root: Root
    chain: tuple = ()
    version: int = 0


class Tensors:
    """Names of tensors by identity. What writes in place gives a tensor another one."""

    def __init__(self):
        self.name, self.shown, self.taken, self.live = {}, {}, {}, {}

    def fresh(self, stem):
        n = self.taken[stem] = self.taken.get(stem, -1) + 1
        name = f"{stem}_{n}" if n else stem
        return self.fresh(stem) if n and name in self.taken else name

    def put(self, t, name, died, shown=None):
        """shown: of a tensor that is new; by itself it is a root."""
        key = id(t)
        self.taken.setdefault(name, 0)
        if key in self.name:
            died(self.name[key])
        else:
            self.shown[key] = shown or Shown(Root(name, (t.dtype, list(t.shape))))
            self.live[key] = weakref.ref(t)
            weakref.finalize(t, self.drop, key, died).atexit = False
        self.name[key] = name
        if not self.shown[key].chain and not shown:
            self.shown[key].root.name = name

    def drop(self, key, died):
        del self.shown[key], self.live[key]
        died(self.name.pop(key))

    def of(self, t):
        return self.name.get(id(t))

    def alike(self, t):
        """A tensor that is known and shows the same, None if there is none."""
        for known in (ref() for ref in self.live.values()):
            if known is not None and shares(known, t) and known.shape == t.shape and known.stride() == t.stride():
                return known

    def beside(self, tensors):
        """The names of others that show what these do."""
        keys = {id(t) for t in tensors} & set(self.shown)
        roots = {id(self.shown[k].root) for k in keys}
        return {self.name[k] for k, s in self.shown.items() if k not in keys and id(s.root) in roots}


def shares(a, b):
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def has_autocast(func):
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "AutocastCUDA")


def on_device(t):
    return t.device.type == DEVICE


def tensors_of(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def leaves_of(tree, path=(), within=()):
    """The tensors in lists, tuples, mappings and attributes of objects, each with its keys."""
    if isinstance(tree, torch.Tensor):
        return [(path, tree)]
    if id(tree) in within:
        return []
    if isinstance(tree, Mapping):
        items = tree.items()
    elif isinstance(tree, (list, tuple)):
        items = zip(getattr(tree, "_fields", range(len(tree))), tree)
    elif hasattr(tree, "__dict__") and not isinstance(tree, (type, torch.nn.Module)) and not callable(tree):
        items = vars(tree).items()
    else:
        return []
    return [leaf for k, v in items for leaf in leaves_of(v, (*path, k), (*within, id(tree)))]


def inputs_of(given):
    """The leaves, each tensor once, whatever it is given for: labels may be the inputs."""
    return list({id(t): (path, t) for path, t in reversed(leaves_of(given))}.values())[::-1]


def held_by(tree):
    """The tensors that arguments and functions have: their own arguments, bound ones, and those of their closures."""
    found, todo = [], pytree.tree_leaves(tree)
    while todo:
        f = todo.pop()
        if isinstance(f, torch.Tensor):
            found.append(f)
        elif isinstance(f, functools.partial):
            todo += pytree.tree_leaves((f.func, f.args, f.keywords))
        elif inspect.isfunction(f):
            todo += [c.cell_contents for c in f.__closure__ or () if isinstance(c.cell_contents, torch.Tensor)]
    return found


def writes(func):
    args = func._schema.arguments
    return bool(args) and args[0].alias_info is not None and args[0].alias_info.is_write


def short(path):
    mark = f"-packages{os.sep}"
    return "site-packages/" + path.rsplit(mark, 1)[1] if mark in path else os.path.basename(path)


# What shows another tensor and is none of its views.
APART = {"aten.detach.default"}
# Composites that autocast casts to the lower type; those that it casts otherwise leave fp32 as it is. Source:
# AT_FORALL_LOWER_PRECISION_FP in aten/src/ATen/autocast_mode.h.
LOWERED = {"aten::chain_matmul", "aten::linalg_multi_dot"}
BROUGHT = "memlint.copy_to_device.default"  # an operator of the program's table
# What may return its argument.
SAME = {f"aten.{op}" for op in ("to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as.default")}
SAME |= {f"aten.{op}.default" for op in ("contiguous", "_to_copy")}
DROPOUT = re.compile(r"aten\.(feature_)?(alpha_)?dropout_?\.")
# What makes no tensor of its own, or is asked of tensors alone.
QUIET = re.compile(r"aten\.(sym_\w+|size|stride|is_\w+|lift|lift_fresh|_local_scalar_dense|item)\.|prim\.|profiler\.")


class Recorder(SchemaCheckMode):
    # PyTorch lets modes of its own alone see calls before autograd. This is none of schemas: it takes the place of that
    # one and replaces its hooks.
    def __init__(self, model, rows, lines):
        TorchDispatchMode.__init__(self, _dispatch_key=torch._C.DispatchKey.PreDispatch)
        self.rows, self.lines = rows, lines  # lines: stacks and names of variables are wanted
        self.calls: list = []
        self.like: list = []  # the calls of a run with gradients, where this one has them off
        self.tensors = Tensors()
        self.constants: dict = {}
        self.names: dict = {}
        self.last: dict = {}  # per name the last call during which it is held
        self.paths = {id(m): name for name, m in reversed(list(model.named_modules(remove_duplicate=False)))}
        self.modules: list = []
        self.regions: list = []
        self.holds: list = []  # per region the names of tensors that its function has; whether it is reentrant; ids
        self.functions: list = []
        self.unsure: set = set()
        self.values = Values()
        self.asked: set = set()  # where the program asks for values of its inputs
        self.under_autocast = self.done = self.mapped = self.in_loss = self.subscript = False

    def died(self, name):
        if not self.done:
            self.last[name] = len(self.calls) - 1

    def put(self, t, stem):
        name = self.tensors.fresh(stem)
        self.tensors.put(t, name, self.died)
        return name

    def text(self, a, call):
        if isinstance(a, torch.Tensor):
            return self.tensor_text(a, call)
        if isinstance(a, (list, tuple)):
            return "[" + ", ".join(self.text(v, call) for v in a) + "]"
        if isinstance(a, torch.SymInt):
            call.sizes.append(str(a).replace(", ", ","))
            return f"${len(call.sizes) - 1}"
        if isinstance(a, (torch.SymFloat, torch.SymBool)):
            return str(a.node.hint)
        if isinstance(a, complex):
            return f"{a.imag}j"
        return str(a)

    def tensor_text(self, a, call):
        if not on_device(a):
            if a.dim() == 0:  # a kernel takes it as a number
                return "0." if a.is_floating_point() else "0"
            name = self.copied(a)
        else:
            name = self.tensors.of(a)
            if name is None and self.mapped:
                name = self.put_mapped(a)
            elif name is None:
                name = self.put_unseen(a)
            name = self.anew(a, name)
        call.reads.append(name)
        return "%" + name

    def leaf(self, a):
        """The program asks for its gradient."""
        if not on_device(a) or isinstance(a, torch.nn.Parameter):
            return
        if self.regions:
            self.unsure.add("tensors made under a checkpoint whose gradient is asked for")
        c = self.call(torch.ops.aten.requires_grad_.default, (a,))
        self.calls.append(c)
        c.outs.append(self.put(a, "requires_grad"))
        c.like.append((a.dtype, list(a.shape)))

    def put_unseen(self, a):
        """What no operator made: the .data of a tensor, or what the program brought along."""
        base = self.tensors.alike(a)
        if base is None:
            name = self.put(a, "constant")
            self.constants[name] = a
            return name
        c = self.call(torch.ops.aten.detach.default, (base,))
        self.calls.append(c)
        c.outs.append(self.tensors.fresh("detach"))
        c.like.append((a.dtype, list(a.shape)))
        self.tensors.put(a, c.outs[0], self.died, self.view(base, a, c, 0))
        return c.outs[0]

    def put_mapped(self, a):
        """What a function made under vmap, which is not seen: made before the checkpoint that reads it first."""
        name = self.put(a, "mapped")
        made, at = self.empty(a, name), len(self.calls)
        if self.regions:
            region = self.holds[self.regions[0] - 1]
            region[0].extend([name] * (id(a) in region[2]))
            made = dataclasses.replace(made, region=0, holds=[], reentrant=False)
            while at and self.calls[at - 1].region == self.regions[0]:
                at -= 1
        self.calls.insert(at, made)
        self.last.update({n: last + 1 for n, last in self.last.items() if last >= at})
        return name

    def anew(self, a, name):
        """A view of what was written since is made anew from that, as autograd does."""
        shown = self.tensors.shown[id(a)]
        if shown.version == shown.root.version:
            return name
        name = shown.root.name
        for made, nth in shown.chain:
            c = dataclasses.replace(made, reads=[name, *made.reads[1:]], outs=[], **self.region())
            c.text = made.text.replace("%" + made.reads[0], "%" + name, 1)
            c.anew = 1 if name == shown.root.name else 2
            for o in made.outs:
                c.outs.append(self.tensors.fresh(re.sub(r"_\d+$", "", o)))
                self.last[c.outs[-1]] = -1
            name = c.outs[nth]
            self.calls.append(c)
        if shown.chain:
            self.tensors.put(a, name, self.died)
            shown.version = shown.root.version
        return name

    def empty(self, like, *outs):
        """A call that makes such a tensor of nothing."""
        call = self.call(torch.ops.aten.empty.memory_format, ())
        call.text = f"({self.text(list(like.shape), call)}), kwargs = {{dtype: {like.dtype}}}"
        call.outs.extend(outs)
        call.like.extend([(like.dtype, list(like.shape))] * len(outs))
        return call

    def brought(self, like, *outs):
        """A call that copies such a tensor from elsewhere."""
        call = self.empty(like, *outs)
        call.op = BROUGHT
        return call

    def region(self):
        """The fields of a call that say which checkpoint it is under: a call of none amid others ends theirs."""
        number = self.regions[0] if self.regions else 0
        holds, reentrant, _ = self.holds[number - 1] if number else ([], False, None)
        return {"region": number, "holds": holds, "reentrant": reentrant}

    @contextlib.contextmanager
    def cast(self, func, args):
        """Under autocast an operator with a kernel there casts its arguments, and its parts see nothing of autocast."""
        if not (torch.is_autocast_enabled(DEVICE) and self.under_autocast) or not has_autocast(func):
            yield
            return
        types = {t.dtype for t in tensors_of(args) if t.is_floating_point()}
        if func._schema.name in LOWERED or types - {torch.float32}:
            raise NotImplementedError(f"{func} under autocast")
        torch.set_autocast_enabled(DEVICE, False)
        try:
            yield
        finally:
            torch.set_autocast_enabled(DEVICE, True)

    def copied(self, a):
        """A copy of what is not on the device, for the call that reads it there."""
        name = self.tensors.fresh("copy")
        self.last[name] = -1
        self.calls.append(self.brought(a, name))
        return name

    def call(self, func, args, kwargs=None):
        c = Call(func, "", [], [], **self.region())
        text = ", ".join(self.text(a, c) for a in args)
        named = ", ".join(f"{k}: {self.text(v, c)}" for k, v in (kwargs or {}).items())
        c.text = f"({text}), kwargs = {{{named}}}"
        c.grad = torch.is_grad_enabled()
        c.autocast = not self.under_autocast or torch.is_autocast_enabled(DEVICE)
        c.in_loss = self.in_loss
        c.path = [self.paths.get(id(m), "") for m in self.modules]
        c.classes = [f"{type(m).__module__}.{type(m).__qualname__}" for m in self.modules]
        if self.lines:
            c.stack = self.frames()
        for t in tensors_of((args, kwargs)):
            self.made_by(t)
        if self.functions:
            self.unsure_of(self.functions[-1])
        return c

    def unsure_of(self, function):
        self.unsure.add(f"what the autograd.Function {function} keeps for its backward")

    def made_by(self, t):
        """A function's apply may have been bound to a name before it was watched: its results tell of it."""
        function = getattr(type(t.grad_fn), "_forward_cls", None)
        if function is not None:
            self.unsure_of(function.__name__)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        answer = self.values.answer(func, args, kwargs)
        if answer is not None:
            self.asked.update(self.frames().splitlines()[-2:-1] if self.lines else ())
            return answer
        out = self.see(func, args, kwargs)
        self.values.noted(func, args, kwargs, out)
        return out

    def see(self, func, args, kwargs):
        name = str(func)
        if QUIET.match(name):
            return func(*args, **kwargs)
        if torch._C._functorch.maybe_current_level() is not None:  # under vmap: what it makes counts when it is read
            self.mapped = True
            return func(*args, **kwargs)
        if name == "aten.slice.Tensor" and self.subscript and is_full(*args[1:]):  # x[:, 0]: open sizes hide it
            return args[0]
        if DROPOUT.match(name) and (args[1] == 0 or not args[2]):  # likewise: _dropout in ATen/native/Dropout.cpp
            return args[0]
        if name == "aten.to.device" and list(args[1:2]) == [args[0].device] and not any((*args[3:], *kwargs.values())):
            return self.__torch_dispatch__(torch.ops.aten.to.dtype, (), (args[0], args[2]))  # x.to(y)
        if name in ("aten.type_as.default", "aten.to.other") and not on_device(args[1]):  # its type alone
            return self.__torch_dispatch__(torch.ops.aten.to.dtype, (), (args[0], args[1].dtype))
        composite = func.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)
        if composite and not self.known(name):
            with self, self.cast(func, args):  # its parts
                r = func.decompose(*args, **kwargs)
            if r is not NotImplemented:
                return r
        given = tensors_of(args[:1] if name in ("aten.type_as.default", "aten.to.other") else (args, kwargs))
        moved = bool(given) and not any(map(on_device, given))
        into = [kwargs[a.name] for a in func._schema.arguments if a.is_out and a.name in kwargs]
        if len(into) == 1 and len(given) > 1 and not moved:  # out=: its kernel writes there, and autograd sees nothing
            c = self.call(torch.ops.aten.copy_.default, (into[0], next(t for t in given if t is not into[0])))
        else:
            c = None if moved else self.call(func, args, kwargs)
        out = self.values.run(func, args, kwargs)
        if not writes(func) and args and out is args[0]:
            if name not in SAME:
                return out
            out = torch.ops.aten.alias.default(out)  # x.float(), of a float: in another precision it is a new one
        results = [t for t in tensors_of(out) if on_device(t)]
        if not results:
            if not moved and any(t.requires_grad for t in tensors_of(out)):
                self.unsure.add("what leaves the device, whose gradient comes back")
            return out
        if moved:  # from another device
            c = self.brought(results[0])
        self.calls.append(c)
        stem = func._schema.name.split("::")[1].strip("_")
        for nth, t in enumerate(results):
            view = None
            if id(t) not in self.tensors.name and not moved and name not in APART and args:
                view = self.view(args[0], t, c, nth)
            c.outs.append(self.tensors.fresh(stem))
            c.like.append((t.dtype, list(t.shape)))
            self.tensors.put(t, c.outs[-1], self.died, view)
        if into or writes(func):
            self.written(into[0] if into else args[0], c)
        return out

    def view(self, base, t, c, nth):
        if not isinstance(base, torch.Tensor) or self.tensors.of(base) is None or not shares(base, t):
            return None
        shown = self.tensors.shown[id(base)]
        same = str(c.op) in SAME and base.shape == t.shape
        return Shown(shown.root, shown.chain if same else (*shown.chain, (c, nth)), shown.root.version)

    def written(self, t, c):
        """Of a view that was written, the call's last result is what it shows."""
        shown = self.tensors.shown.get(id(t))
        if shown is None:
            return
        if any({c.reads[0], shown.root.name} & set(names) for names, _, _ in self.holds):
            self.unsure.add("a tensor written in place that a checkpoint runs again on")
        shown.root.version += 1
        if not shown.chain:
            shown.version = shown.root.version
        else:
            c.reads.append(shown.root.name)
            c.outs.append(self.tensors.fresh("written"))
            owner = [k for k, s in self.tensors.shown.items() if s.root is shown.root and not s.chain]
            c.like.append(shown.root.like)
            self.last[c.outs[-1]] = -1
            for key in owner:
                self.died(self.tensors.name[key])
                self.tensors.name[key] = c.outs[-1]
                self.last.pop(c.outs[-1], None)
            shown.root.name = c.outs[-1]
            at = len(self.calls) - 1
            if (self.like[at] if at < len(self.like) else c).grad:
                self.anew(t, self.tensors.of(t))  # rebase_history in torch/csrc/autograd/variable.cpp asks at once

    def known(self, name):
        space, op, overload = name.split(".")
        row = op if space == "aten" else f"{space}.{op}"
        bare = row[:-1] if row.endswith("_") and not row.endswith("__") else row
        return not self.rows or f"{row}.{overload}" in self.rows or f"{bare}.{overload}" in self.rows

    def frames(self):
        """As PyTorch prints a stack: from the model's own forward inwards. Notes the variables on the way."""
        found, f = [], sys._getframe(1)
        while f and not (f.f_code is run.__code__):
            file, function = f.f_code.co_filename, f.f_code.co_name
            inner = file.startswith((TORCH, OWN)) and not file.startswith(os.path.join(TORCH, "nn", "modules", ""))
            if not inner and function not in ("_wrapped_call_impl", "_call_impl", "inner"):
                found.append((file, f.f_lineno, function))
                for name, value in f.f_locals.items():
                    known = isinstance(value, torch.Tensor) and self.tensors.of(value)
                    if known:
                        self.names.setdefault(known, name)
            f = f.f_back
        return "".join(
            f'  File "{short(file)}", line {line}, in {function}\n    {linecache.getline(file, line).strip()}\n'
            for file, line, function in reversed(found)
        )


def is_full(dim=0, start=None, end=None, step=1):
    return (
        (start is None or (isinstance(start, int) and start == 0))
        and step == 1
        and (end is None or (isinstance(end, int) and end >= FULL))
    )


class Methods(torch.overrides.TorchFunctionMode):
    """What dispatch modes don't see: that a gradient is asked for; and contiguous(), which copies or not by the kernels
    that made its argument."""

    def __init__(self, rec):
        super().__init__()
        self.rec = rec

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.contiguous:
            return torch.ops.aten.contiguous.default(*args, **(kwargs or {}))
        if func is torch.Tensor.register_hook:
            self.rec.unsure.add("hooks on gradients")
            return func(*args, **(kwargs or {})) if args[0].requires_grad else None
        if func is torch.Tensor.__getitem__:  # of several indices those that take all are left out, in C++
            self.rec.subscript = isinstance(args[1], tuple)
        if func in (torch.Tensor.requires_grad_, torch.Tensor.requires_grad.__set__) and (*args, True)[1]:
            self.rec.leaf(args[0])
        return func(*args, **(kwargs or {}))


def following(modules):
    """Hooks that keep a list of the modules that run, the innermost last; to be removed."""
    from torch.nn.modules import module

    def left(m, args, out):  # what a hook returns replaces the result
        modules.pop()

    return [
        module.register_module_forward_pre_hook(lambda m, args: modules.append(m)),
        module.register_module_forward_hook(left, always_call=True),
    ]


@contextlib.contextmanager
def watched(rec):
    """Tells the recorder of modules, checkpoints and functions of autograd as they are entered and left."""
    from torch.utils import checkpoint

    @contextlib.contextmanager
    def region(reentrant, *has):
        held = {id(t): rec.tensors.of(t) for t in held_by(has)}
        rec.holds.append((sorted({n for n in held.values() if n}), reentrant, set(held)))
        rec.regions.append(len(rec.holds))
        try:
            yield
        finally:
            rec.regions.pop()

    def around(*args, **kwargs):
        contexts = [a for a in (*args[2:3], kwargs.get("context_fn")) if callable(a)]
        if any(c is not checkpoint.noop_context_fn for c in contexts):
            rec.unsure.add("selective checkpoints")
        with region(False, args, kwargs):
            yield

    def applied(cls, *args, **kwargs):
        if cls is checkpoint.CheckpointFunction:
            with region(True, args[0]):
                out = args[0](*args[2:])
            made = [id(t) for t in tensors_of(out) if t.is_floating_point()]
            if len(set(made)) < len(made) or not {id(t) for t in held_by((args[0], args[2:]))}.isdisjoint(made):
                rec.unsure.add("a reentrant checkpoint that returns one tensor twice, or an argument")
            return out
        if torch._C._functorch.maybe_current_level() is not None:  # which asks modes for what they don't know
            with _pop_mode_temporarily(torch._C.DispatchKey.PreDispatch):
                return apply.__get__(None, cls)(*args, **kwargs)
        rec.functions.append(cls.__name__)
        try:
            return apply.__get__(None, cls)(*args, **kwargs)
        finally:
            rec.functions.pop()

    apply, inner = inspect.getattr_static(torch.autograd.Function, "apply"), "_checkpoint_without_reentrant_generator"
    inner += "_impl" * hasattr(checkpoint, inner + "_impl")  # of newer versions
    generator = getattr(checkpoint, inner)
    handles = following(rec.modules)
    torch.autograd.Function.apply = classmethod(applied)
    setattr(checkpoint, inner, around)
    try:
        yield
    finally:
        setattr(checkpoint, inner, generator)
        torch.autograd.Function.apply = apply
        for h in handles:
            h.remove()


@contextlib.contextmanager
def autocast():
    """Also where there is no device that torch.autocast would ask for."""
    before = torch.is_autocast_enabled(DEVICE), torch.get_autocast_dtype(DEVICE)
    torch.set_autocast_enabled(DEVICE, True)
    torch.set_autocast_dtype(DEVICE, torch.bfloat16)
    torch.autocast_increment_nesting()  # what leaves an inner one clears the cache of casts where this is not said
    try:
        yield
    finally:
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_enabled(DEVICE, before[0])
        torch.set_autocast_dtype(DEVICE, before[1])


def fake(mode, t, sizes=None, half=False):
    dtype = torch.bfloat16 if half and t.dtype is torch.float32 else t.dtype
    strides = torch.empty_like(t, device="meta").stride()  # as .to(device) has them: those of what is dense
    with mode:
        if sizes is not None:
            return torch.empty(sizes, dtype=dtype, device=DEVICE)
        return torch.empty_strided(t.size(), strides, dtype=dtype, device=DEVICE)


@contextlib.contextmanager
def unmoved():
    """Module.to(...) of what parameters are already does nothing, as to a tensor: _apply would swap fake ones."""
    apply = torch.nn.Module._apply

    def apply_once(self, fn, recurse=True):
        own = [
            t for m in (self.modules() if recurse else [self]) for t in (*m._parameters.values(), *m._buffers.values())
        ]
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            same = all(t is None or fn(t) is t for t in own)
        return self if same else apply(self, fn, recurse)

    torch.nn.Module._apply = apply_once
    try:
        yield
    finally:
        torch.nn.Module._apply = apply


@contextlib.contextmanager
def replaced(model, make):
    """The model with parameters and buffers that make(tensor) returns; its own come back. Tied ones stay tied.
    Yields by id of a tensor what stands for it."""
    memo, saved = {}, []
    for m in model.modules():
        for table in (m._parameters, m._buffers):
            for k, t in table.items():
                if t is None:
                    continue
                saved.append((table, k, t))
                if id(t) not in memo:
                    memo[id(t)] = make(t)
                    if isinstance(t, torch.nn.Parameter):
                        memo[id(t)] = torch.nn.Parameter(memo[id(t)], t.requires_grad)
                table[k] = memo[id(t)]
    try:
        with unmoved():
            yield memo
    finally:
        for table, k, t in saved:
            table[k] = t


def open_dims(env, leaves, dims):
    """Per leaf its sizes with symbols for what is open, and the symbols by name. dims(path, tensor): names."""
    symbols, sizes = {}, []
    for path, t in leaves:
        own = list(t.shape)
        for d, name in dims(path, t).items():
            if name not in symbols:
                hint, source = max(own[d], 2), ConstantSource(name)
                symbol = env.create_symbol(hint, source, DimDynamic.DYNAMIC, None, do_not_specialize_zero_one=True)
                symbols[name] = env.create_symintnode(symbol, hint=hint, source=source)
            own[d] = symbols[name]
        sizes.append(own)
    return sizes, symbols


def input_name(model, path):
    """Of a leaf of (args, kwargs, targets): as forward calls it."""
    which, *keys = path
    if which == 0:
        names = list(inspect.signature(model.forward).parameters)
        keys[0] = names[keys[0]] if keys[0] < len(names) else f"input_{keys[0]}"
    return ".".join(str(k) for k in (["target"] if which == 2 else []) + keys)


def output_name(path):
    return ".".join(f"output_{k}" if isinstance(k, int) else str(k) for k in path) or "output"


@contextlib.contextmanager
def explained():
    try:
        yield
    except (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException) as e:
        raise ValueError(
            f"memlint: at {place_of(e)} the program goes on by the values of a tensor, which are not computed: only "
            "those that follow from the inputs are known. Capture what runs on one side of it"
        ) from e
    except UnsupportedOperatorException as e:
        raise ValueError(
            f"memlint: at {place_of(e)} PyTorch's fake tensors can't run {e.func}: capture the model without it"
        ) from e


def place_of(error):
    """The line of the program in which it was raised."""
    found, at = "an unknown place", error.__traceback__
    while at:
        code = at.tb_frame.f_code
        if not code.co_filename.startswith((TORCH, OWN)):
            found = f"{short(code.co_filename)}:{at.tb_lineno}"
        at = at.tb_next
    return found


@contextlib.contextmanager
def taken_for_real():
    """Transformers makes masks for fake tensors that it leaves out of a step (is_tracing in utils/import_utils.py of
    5.0)."""
    module = sys.modules.get("transformers.utils.import_utils")
    asked = getattr(module, "is_fake_tensor", None)
    if asked is None:
        yield
        return
    module.is_fake_tensor = lambda _: False
    try:
        yield
    finally:
        module.is_fake_tensor = asked


def run(rec, contexts, step):
    with contextlib.ExitStack() as stack, explained(), taken_for_real():
        for c in (*contexts, watched(rec), Methods(rec), enable_python_dispatcher(), rec):
            stack.enter_context(c)
        return step()


class Variant:
    """One run of the program."""

    def __init__(self, model, mode, given, sizes, loss, rows, grad=False, like=None, low=False, half=False):
        self.rec, self.half = Recorder(model, rows, lines=grad), half
        rec = self.rec
        rec.like = like.rec.calls if like else []
        rec.under_autocast = low
        leaves = inputs_of(given)
        fakes = {id(t): fake(mode, t, s, half) for (_, t), s in zip(leaves, sizes)}
        for _, t in leaves:
            rec.values.put(fakes[id(t)], t)
        args, kwargs, targets = pytree.tree_map(lambda v: fakes.get(id(v), v), given)

        def step():
            out = model(*args, **kwargs)
            rec.in_loss = True
            return out if loss is None else {"loss": loss(out, *targets), "output": out}

        with replaced(model, lambda t: fake(mode, t, half=half)):
            for name, t in [*model.named_parameters(), *model.named_buffers()]:
                rec.tensors.put(t, name, rec.died)
            mine = [fakes[id(t)] for _, t in leaves]
            self.inputs = [
                (rec.put(t, input_name(model, path)), t.dtype, list(t.shape)) for (path, _), t in zip(leaves, mine)
            ]
            contexts = [mode, torch.set_grad_enabled(grad)] + [autocast()] * low
            out = run(rec, contexts, step)
            rec.done = True
            for t in [*model.parameters(), *model.buffers(), *mine]:
                rec.last[rec.tensors.of(t)] = -1  # the caller has them
            for _, t in leaves_of(out):
                rec.made_by(t)
            self.outputs = [
                (output_name(path), rec.anew(t, rec.tensors.of(t)), t.dtype, list(t.shape))
                for path, t in leaves_of(out)
                if rec.tensors.of(t)
            ]
            held = rec.tensors.beside([t for _, t in leaves_of(out)])
            del out
            rec.last.update({name: -1 for name in held - set(rec.tensors.name.values())})

    def agrees(self, other):
        mine, its, kept = self.rec.calls, other.rec.calls, other.rec.constants
        return (
            len(mine) == len(its)
            and all(a.op is b.op and a.outs == b.outs and a.reads == b.reads for a, b in zip(mine, its))
            and (self.half or all(t.dtype == kept[name].dtype for name, t in self.rec.constants.items()))
        )


TYPE = re.compile(r"torch\.(?:b?float|double|half)\d*")
NUMBER = re.compile(r"(?<![\w%$.])-?(?:\d[\d.e+-]*|inf|nan)")


def merged(texts):
    """One text of those of several precisions: "torch.float32/torch.bfloat16/torch.bfloat16" where types differ; None
    where something else does. Numbers may, as the smallest one of a type does."""
    parts, types = TYPE.split(texts[0]), [TYPE.findall(t) for t in texts]
    if any([NUMBER.sub("", part) for part in TYPE.split(t)] != [NUMBER.sub("", part) for part in parts] for t in texts):
        return None
    words = ["/".join(t) if len(set(t)) > 1 else t[0] for t in zip(*types)]
    return "".join(a + b for a, b in zip(parts, [*words, ""]))


def tried(variant, like, **how):
    try:
        first = variant(like=like, **how)
        return first if first.agrees(like) else variant(like=like, **how)  # a first step sets attributes, too
    except Exception:  # a precision that the model does not run in
        return None


def tables_in(value, found):
    """The lists, dictionaries and sets of a value, by id."""
    if isinstance(value, (list, dict, set)) and id(value) not in found:
        found[id(value)] = value
        for v in value.values() if isinstance(value, dict) else value:
            tables_in(v, found)
    return found


def holds(table):
    return [id(v) for item in table.items() for v in item] if isinstance(table, dict) else [id(v) for v in table]


@contextlib.contextmanager
def unchanged(model):
    """Attributes that the program sets are as they were, and so is what their lists and dictionaries hold."""
    tables = {}
    for m in model.modules():
        tables_in(vars(m), tables)
    saved = [(table, table.copy()) for table in tables.values()]
    try:
        yield
    finally:
        for table, held in saved:
            if holds(table) != holds(held):  # others may refuse: configurations of diffusers are frozen
                table.clear()
                (table.extend if isinstance(table, list) else table.update)(held)


PRECISIONS = {"fp32": {}, "autocast": {"low": True}, "model": {"half": True}}


def capture(model, args, kwargs, targets, dims, loss: Callable | None, rows=frozenset(), precision="fp32") -> Program:
    """What model(*args, **kwargs) calls. dims(path, tensor): by dimension the name of what stays open. precision: of
    those above, the one whose calls count where others make other ones."""
    given = (args, kwargs, targets)
    mode = FakeTensorMode(shape_env=ShapeEnv(specialize_zero_one=False), allow_non_fake_inputs=True)
    sizes, symbols = open_dims(mode.shape_env, inputs_of(given), dims)

    def variant(**how):
        return Variant(model, mode, given, sizes, loss, rows, **how)

    with unchanged(model):
        variant(**PRECISIONS[precision])  # what a first step leaves in attributes
        first = variant(grad=True, **PRECISIONS[precision])
        second = variant(like=first, **PRECISIONS[precision])
        runs = {k: second if k == precision else tried(variant, first, **how) for k, how in PRECISIONS.items()}
    runs = {k: r if r and r.agrees(first) else None for k, r in runs.items()}
    calls, unsure = first.rec.calls, sorted(first.rec.unsure)
    if first.rec.values.spread:
        unsure.append("which places topk or argmax chooses, taken to be spread evenly")
    if any(t.requires_grad for _, t in inputs_of((args, kwargs))):
        unsure.append("gradients of inputs")
    if not first.agrees(second):
        unsure.append("calls that differ without gradients: how long Python holds tensors is not known")
    if runs["autocast"]:
        for a, b in zip(calls, runs["autocast"].rec.calls):
            a.autocast = b.autocast
    texts = [[c.text for c in (r or first).rec.calls] for r in runs.values()]
    for c, *all_texts in zip(calls, *texts):
        text = merged(all_texts)
        if text is None:
            unsure.append(f"arguments of {c.op} that differ by precision")
        c.text = text or c.text
    n, held = len(calls), {}
    for name, r in runs.items():
        key = "held" if name == precision else f"held_{name}"
        if r:
            held[key] = [[r.rec.last.get(o, n) for o in c.outs] for c in calls]
    return Program(
        calls,
        {"held": [[-1] * len(c.outs) for c in calls], **held},
        first.rec.names,
        first.inputs,
        first.outputs,
        first.rec.constants,
        {name: str(s) for name, s in symbols.items() if s.node.maybe_as_int() is None},
        [name for name, r in runs.items() if r or name == precision],
        ", ".join(unsure),
        sorted(line.strip() for line in first.rec.asked),
    )
