# SPDX-License-Identifier: Apache-2.0
"""memlint.verify: the step that memlint predicts, run by PyTorch itself, and both side by side.

Where a GPU is, PyTorch's allocator says what it took. Everywhere the step runs on fake CUDA tensors, too: PyTorch's own
operators, autograd graph and order of its engine, without numbers. A storage counts from birth to death, rounded as the
allocator rounds. What kernels take while they run can't be seen there: memlint counts as fake tensors do then.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import os
import platform
import re
import sys
import tempfile
import weakref
import zipfile

from . import needs  # noqa: F401, before torch and onnx
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import capture, checking, exporting, program, units, values
from .result import Result, Size

GRAIN = 512  # bytes: the caching allocator rounds to them (kMinBlockSize of c10/cuda/CUDACachingAllocator.h)
STEPS = 3  # optimizer states exist from the second on
# Allocated after a phase, and the peak until its end, as the program's result calls them.
PHASES = {
    "model": "parameters",
    "inputs": "inputs",
    "forward": "forward, loss",
    "backward": "backward",
    "step": "optimizer",
}
AS_FAKE = "--assume=accumulate=never"  # fake tensors do what modes see


@dataclasses.dataclass(frozen=True)
class Event:
    """A storage that is born ("+") or dies ("-")."""

    sign: str
    bytes: int
    phase: str
    operator: str
    shape: str
    module: str = ""
    line: str = ""

    def __str__(self):
        return f"{self.sign}{self.bytes} B {self.operator} {self.shape} in {self.phase}"


@dataclasses.dataclass(frozen=True)
class Parting:
    """The first event that differs, None where one side has no more; where PyTorch was then."""

    memlint: Event | None
    torch: Event | None
    module: str
    line: str

    def __str__(self):
        at = " in ".join(filter(None, (self.line, self.module))) or "an unknown place"
        return f"at {at}: memlint {self.memlint or 'has no more'}; PyTorch {self.torch or 'has no more'}"


@dataclasses.dataclass(frozen=True)
class Phase:
    """Bytes after a phase, or the peak until its end, by memlint and as measured."""

    name: str
    memlint: Size
    measured: Size

    @property
    def difference(self) -> int:
        return int(self.memlint) - int(self.measured)


class Tracker(TorchDispatchMode):
    """Counts storages on the device; keeps the events of one step."""

    def __init__(self, model):
        super().__init__()
        self.values = values.Values()
        self.now = self.peak = 0
        self.phase, self.recording = "build", False
        self.events: list = []
        self.refs: dict = {}
        self.paths = {id(m): name for name, m in model.named_modules()}
        self.modules: list = []
        self.places: dict = {}  # of a node of autograd, by its number

    def reset(self):
        self.peak, self.recording = self.now, True
        self.events.clear()

    def add(self, sign, size, operator, shape, phase, place=("", "")):
        self.now += size if sign == "+" else -size
        if self.recording:
            self.events.append(Event(sign, size, phase, operator, shape, *place))

    def gone(self, key, size, operator, shape, phase):
        del self.refs[key]
        self.add("-", size, f"born in {phase} by {operator}", shape, self.phase)

    def see(self, t, operator, place):
        if not capture.on_device(t):
            return
        storage = t.untyped_storage()
        key, size = storage._cdata, -(-storage.nbytes() // GRAIN) * GRAIN
        if key in self.refs or not size:
            return
        shape = str(list(t.shape))
        self.refs[key] = weakref.finalize(storage, self.gone, key, size, operator, shape, self.phase)
        self.add("+", size, operator, shape, self.phase, place)

    def place(self):
        """The module and the line that run, or that ran the node whose gradient is computed."""
        node = torch._C._current_autograd_node()
        if node is not None and not self.modules:
            return self.places.get(node._sequence_nr(), ("", ""))
        f = sys._getframe(2)
        while f and f.f_code.co_filename.startswith((capture.TORCH, capture.OWN)):
            f = f.f_back
        line = f"{capture.short(f.f_code.co_filename)}:{f.f_lineno}" if f and self.modules else ""
        return self.paths.get(id(self.modules[-1]), "") if self.modules else "", line

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        place = self.place() if self.recording else ("", "")
        self.places.setdefault(torch._C._autograd._get_sequence_nr() - 1, place)
        answer = self.values.answer(func, args, kwargs or {})
        if answer is not None:
            return answer
        if self.phase == "update" and str(func) in values.ASKED:  # norms, which decide how far a step goes
            return 1.0
        out = self.values.run(func, args, kwargs or {})
        self.values.noted(func, args, kwargs or {}, out)
        for t in capture.tensors_of(out):
            self.see(t, str(func), place)
        self.peak = max(self.peak, self.now)
        return out

    @contextlib.contextmanager
    def watching(self):
        handles = capture.following(self.modules)
        try:
            with self:
                yield
        finally:
            for h in handles:
                h.remove()


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """scaled_dot_product_attention by the kernels that a GPU since Ampere takes; without one PyTorch can't ask it and
    takes none. Source: aten/src/ATen/native/transformers/attention.cpp, from scaled_dot_product_attention on."""
    aten, mask = torch.ops.aten, attn_mask
    if torch.is_autocast_enabled(capture.DEVICE):
        low = torch.get_autocast_dtype(capture.DEVICE)
        query, key, value = query.to(low), key.to(low), value.to(low)
        mask = mask.to(low) if mask is not None and mask.is_floating_point() else mask
    if enable_gqa:
        groups = query.size(-3) // key.size(-3)
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    if mask is None and query.dtype in (torch.float16, torch.bfloat16):
        return aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
    if mask is not None:
        if mask.dtype is torch.bool:
            zeros = torch.zeros((), dtype=query.dtype, device=query.device)
            mask = torch.where(mask.logical_not(), float("-inf"), zeros)
            del zeros
        length = mask.size(-1)
        if length % 8:  # pad_bias: rows are aligned to 16 bytes
            mask = torch.nn.functional.pad(mask, (0, 8 - length % 8))[..., :length]
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    keeps = torch.is_grad_enabled() and any(t.requires_grad for t in (query, key, value))
    return aten._scaled_dot_product_efficient_attention(
        query, key, value, mask, keeps, dropout_p, is_causal, scale=scale
    )[0]


@contextlib.contextmanager
def without_driver():
    """Lets autograd's engine run nodes of fake CUDA tensors on this thread, where PyTorch has CUDA and the machine no
    driver: before a backward pass the engine asks CUDA's hooks which devices are in use, and these raise then. Here
    they answer that none is. The hooks are a C++ object; the slot of the method follows from its header."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        if torch.version.cuda and not torch.cuda.is_available():
            stack.enter_context(no_device_in_use())
        yield


@contextlib.contextmanager
def no_device_in_use():
    root, word = os.path.dirname(torch.__file__), ctypes.sizeof(ctypes.c_void_p)
    try:
        header = open(os.path.join(root, "include", "ATen", "detail", "AcceleratorHooksInterface.h")).read()
        # A destructor has two slots, and two words are before the first.
        slot = 3 + re.findall(r"^ *virtual [^(;]*?([~\w]+)\(", header, re.M).index("hasPrimaryContext")
        hooks_of = ctypes.CDLL(os.path.join(root, "lib", "libtorch_cpu.so"))["_ZN2at6detail12getCUDAHooksEv"]
    except (OSError, ValueError, AttributeError) as e:
        raise RuntimeError(f"without a GPU memlint.verify can't have PyTorch {torch.__version__} run backward: {e}")
    hooks_of.restype = ctypes.c_void_p
    methods = ctypes.c_void_p.from_address(hooks_of())
    slots = ctypes.c_void_p * 128
    copy, before = slots.from_buffer_copy(slots.from_address(methods.value - 2 * word)), methods.value
    none = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_byte)(lambda hooks, device: False)
    copy[slot] = ctypes.cast(none, ctypes.c_void_p).value
    methods.value = ctypes.addressof(copy) + 2 * word
    try:
        yield
    finally:
        methods.value = before


@contextlib.contextmanager
def as_on_a_gpu():
    """Attention is fused; autocast, which checkpoints enter again, is there; optimizers ask for the number of the step,
    which a fake tensor does not have."""
    from torch.cuda.amp import common

    optimizers = [m for name, m in list(sys.modules.items()) if name.startswith("torch.optim.")]
    changes = [
        (torch.nn.functional, "scaled_dot_product_attention", attention),
        (common, "amp_definitely_not_available", lambda: False),
        (torch.cuda, "is_bf16_supported", lambda *args, **kwargs: True),
    ]
    changes += [(m, "_get_value", lambda x: 0.5) for m in optimizers if hasattr(m, "_get_value")]
    saved = [(m, name, getattr(m, name)) for m, name, _ in changes]
    for m, name, new in changes:
        setattr(m, name, new)
    try:
        yield
    finally:
        for m, name, old in saved:
            setattr(m, name, old)


def loss_of(out):
    """What a model returns that computes its loss."""
    for t in (out, getattr(out, "loss", None), *(out[:1] if isinstance(out, tuple) else ())):
        if isinstance(t, torch.Tensor) and t.numel() == 1:
            return t
    raise ValueError("memlint.verify: the model returns no loss: loss=, a function of its output, is missing")


@dataclasses.dataclass
class Step:
    """What a training step is made of, whatever its tensors are."""

    model: torch.nn.Module
    given: tuple  # args, kwargs, targets
    loss: object
    optimizer: object
    precision: str

    @property
    def low(self):
        return self.precision.startswith("amp-")

    @property
    def half(self):
        return self.precision in ("bf16", "fp16")

    def run(self, make, marks):
        """The training loop, with tensors that make(t) returns; marks.after(phase) is called in its last step."""
        with capture.unchanged(self.model), capture.replaced(self.model, make) as own:
            optimizer = checking.optimizer_of(self.optimizer, self.model, own)
            gc.collect()
            marks.after("model")
            out = loss = None
            for step in range(STEPS):
                if step == STEPS - 1:
                    marks.start()
                marks.phase("input")
                fresh = {id(t): make(t) for _, t in capture.inputs_of(self.given)}
                for _, t in capture.inputs_of(self.given):
                    marks.given(fresh[id(t)], t)
                args, kwargs, targets = pytree.tree_map(lambda v: fresh.get(id(v), v), self.given)
                del fresh
                optimizer.zero_grad()
                marks.after("inputs")
                marks.phase("forward")
                with capture.autocast() if self.low else contextlib.nullcontext():
                    out = self.model(*args, **kwargs)
                    loss = self.loss(out, *targets) if self.loss else loss_of(out)
                marks.after("forward")
                marks.phase("backward")
                loss.backward()
                marks.after("backward")
                marks.phase("update")
                optimizer.step()
                marks.after("step")
                if step < STEPS - 1:
                    del args, kwargs, targets
            marks.phase("end")


class Marks:
    """Bytes of the last step, phase by phase: now(), peak() and reset() are the allocator's, or the tracker's. given is
    told what stands for an input."""

    def __init__(self, now, peak, start, phase, given):
        self.now, self.peak, self.start, self.phase, self.given = now, peak, start, phase, given
        self.allocated, self.peaks = {}, {}

    def after(self, phase):
        gc.collect(0)
        self.allocated[phase], self.peaks[phase] = self.now(), self.peak()


def run_fake(step):
    """Marks, and the events of the last step."""
    mode, tracker = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True), Tracker(step.model)

    def begin(phase):
        tracker.phase = phase
        tracker.recording &= phase != "end"

    marks = Marks(lambda: tracker.now, lambda: tracker.peak, tracker.reset, begin, tracker.values.put)
    try:
        with capture.explained(), capture.taken_for_real(), without_driver(), as_on_a_gpu(), mode, tracker.watching():
            step.run(lambda t: capture.fake(mode, t, half=step.half), marks)
    except torch.AcceleratorError as e:
        at = capture.place_of(e)
        raise RuntimeError(f"memlint.verify: at {at} PyTorch asks for a GPU, as it does for LSTM and GRU") from e
    return marks, tracker.events


def run_real(step):
    """Marks of PyTorch's own allocator."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    half = torch.float16 if step.precision == "fp16" else torch.bfloat16

    def make(t):
        dtype = half if step.half and t.dtype is torch.float32 else t.dtype
        if t.is_meta:
            return torch.zeros(t.shape, dtype=dtype, device="cuda")
        return t.detach().to("cuda", dtype, copy=True)

    marks = Marks(
        lambda: torch.cuda.memory_allocated() - before,
        lambda: torch.cuda.max_memory_allocated() - before,
        torch.cuda.reset_peak_memory_stats,
        lambda phase: None,
        lambda fake, real: None,
    )
    step.run(make, marks)
    return marks


def read_events(text):
    """Those of --dump=step."""
    rows = [line.split("\t") for line in text.splitlines() if line.startswith(("+", "-"))]
    return [Event(sign, int(size), phase, op, shape) for sign, size, _, phase, op, shape, *_ in rows]


def runs(events):
    """Births, each with the deaths before it, among which there is no order."""
    deaths = []
    for e in events:
        if e.sign == "-":
            deaths.append(e)
        else:
            yield sorted(deaths, key=lambda d: (d.bytes, d.phase)), e
            deaths = []
    yield sorted(deaths, key=lambda d: (d.bytes, d.phase)), None


def same(a, b):
    return (a and (a.bytes, a.phase)) == (b and (b.bytes, b.phase))


def first_parting(mine, its):
    """The first event in which two steps differ, by bytes and phase; None where none does."""
    place = ("", "")
    for (deaths, birth), (others, other) in zip(runs(mine), runs(its)):
        at = (other.module, other.line) if other else place
        for i in range(max(len(deaths), len(others))):
            a, b = (side[i] if i < len(side) else None for side in (deaths, others))
            if not same(a, b):
                return Parting(a, b, *at)
        if not same(birth, other):
            return Parting(birth, other, *at)
        place = at
    return None


def anonymous(m):
    """The file without names of modules, variables, tensors, files and lines."""
    names = {}
    values = [*m.graph.input, *m.graph.initializer, *m.graph.output, *m.graph.value_info]
    for n in m.graph.node:
        del n.metadata_props[:]
        kept = [a for a in n.attribute if a.name != "names"]
        n.ClearField("attribute")
        n.attribute.extend(kept)

    def new(name):
        return names.setdefault(name, f"t{len(names)}")

    for v in values:
        v.name = new(v.name)
    for n in m.graph.node:
        n.input[:], n.output[:] = [new(i) for i in n.input], [new(o) for o in n.output]
        for a in n.attribute:
            if a.name == "call":
                a.s = re.sub(r"%([\w.]+)", lambda t: "%" + new(t[1]), a.s.decode()).encode()
    for p in m.metadata_props:
        if p.key == "memlint.tensors":
            p.value = re.sub(r"(?<= )[^\s=]+", lambda t: new(t[0]), p.value)
        if p.key == "memlint.loss":
            p.value = new(p.value)
    m.graph.name = "model"


class Verified:
    """The answer of memlint.verify.

    peak         bytes that memlint says
    measured     bytes that PyTorch took
    difference   peak less measured
    exact        whether they agree to the byte, at the peak and after every phase
    phases       (name, memlint, measured), one after another
    parts_at     the first event of the step on which memlint and PyTorch disagree, or None
    on           what it was measured on: the name of a GPU, or "fake tensors"
    result       all that memlint says of the step
    """

    def __init__(self, result, predicted, marks, events, on, keep):
        self.result, self.on, self._predicted, self._events, self._keep = result, on, predicted, events, keep
        raw = predicted.raw
        self.phases = [
            Phase(f"after {word}", Size(raw["allocated_after"][key]), Size(marks.allocated[key]))
            for key, word in PHASES.items()
        ] + [
            Phase(f"peak until {word}", Size(raw["peak_until"][key]), Size(marks.peaks[key]))
            for key, word in PHASES.items()
            if key in raw["peak_until"]
        ]
        self.measured = Size(marks.peaks["step"])
        self.parts_at = first_parting(self._own_events(), events)

    def _own_events(self):
        how = [*self.result.options, AS_FAKE]
        return read_events(program.said(self.result.model, *how, "--dump=step"))

    @property
    def peak(self) -> Size:
        return self._predicted.peak

    @property
    def difference(self) -> int:
        return int(self.peak) - int(self.measured)

    @property
    def exact(self) -> bool:
        return self.difference == 0 and all(p.difference == 0 for p in self.phases)

    def __str__(self):
        rows = [("bytes", "memlint", "PyTorch", "difference")]
        rows += [(p.name, f"{p.memlint:,d}", f"{p.measured:,d}", f"{p.difference:+,d}") for p in self.phases]
        lines = [f"{name:24}{a:>18}{b:>18}{d:>16}" for name, a, b, d in rows]
        lines.append(f"PyTorch {torch.__version__} on {self.on}: {'exact' if self.exact else 'not the same'}")
        if self._predicted is not self.result:
            lines.append(f"on a GPU, with what kernels take while they run, memlint says {self.result.peak:,d} bytes")
        lines += [f"memlint is not sure: {why}" for why in self.result.unexplained]
        if self.parts_at:
            lines.append(f"they part {self.parts_at}")
        if not self.exact:
            lines.append('to report it, send what .save("case.zip") writes: the file without weights, events')
            lines.append("and versions; names=False leaves out names of modules, variables, files and lines")
        return "\n".join(lines)

    def __repr__(self):
        return f"<memlint.Verified {'exact' if self.exact else 'differs'}: {self.peak}, measured {self.measured}>"

    def save(self, path, names=True):
        """Writes a zip file for a bug report: this table, versions and options, the captured file, both sides'
        events. names: with the names of modules, variables and files, and Python lines."""
        import onnx

        m = onnx.load(self.result.model, load_external_data=False)
        table = str(self)
        events = self._events
        if not names:
            anonymous(m)
            table = "\n".join(line for line in table.splitlines() if not line.startswith(("they part", "memlint is")))
            events = [dataclasses.replace(e, module="", line="") for e in events]
        said = [table, f"options: {' '.join(self.result.options)}", *versions()]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("report.txt", "\n".join(said) + "\n")
            z.writestr("model.onnx", m.SerializeToString())
            for name, side in (("memlint.txt", self._own_events()), ("torch.txt", events)):
                z.writestr(name, "".join(f"{e}  {e.module} {e.line}".rstrip() + "\n" for e in side))
        return path


def versions():
    found = [f"memlint {program.version()}", f"torch {torch.__version__}", f"python {platform.python_version()}"]
    known = ("torchvision", "transformers", "peft", "timm", "diffusers", "onnx")
    found += [f"{name} {sys.modules[name].__version__}" for name in known if name in sys.modules]
    return [*found, platform.platform()]


def verify(model, inputs, kwargs, optimizer, loss, targets, precision, options) -> Verified:
    if capture.DEVICE != "cuda":
        raise RuntimeError(
            "without a GPU memlint.verify needs PyTorch 2.11 or later, whose fake CUDA tensors need no driver: "
            f"this is {torch.__version__}"
        )
    if isinstance(loss, str):
        raise ValueError("memlint.verify: loss is a function here, which PyTorch can run")
    folder = tempfile.TemporaryDirectory(prefix="memlint-")
    result = checking.check(model, inputs, kwargs, optimizer, loss, targets, None, None, precision, {}, options, folder)
    model = units.inside(model)
    step = Step(model, (inputs, kwargs, targets), loss, optimizer, precision)
    with exporting.training(model), units.without_hooks(model):
        marks, events = run_fake(step)
        real = run_real(step) if torch.cuda.is_available() else None
    predicted = result if real else Result(result.model, [*result.options, AS_FAKE], folder)
    on = torch.cuda.get_device_name() if real else "fake tensors"
    return Verified(result, predicted, real or marks, events, on, folder)
