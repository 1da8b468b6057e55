# SPDX-License-Identifier: Apache-2.0
"""What was captured, as an ONNX file: each node is a call of PyTorch's, the weights are left out (docs/CAPTURE.md)."""

from __future__ import annotations

import contextlib
import os
import re

from . import needs  # noqa: F401, before torch and onnx
import onnx
import torch

from . import capture, checking, program, units

SCHEMA = "2"
TYPES = {
    torch.float32: onnx.TensorProto.FLOAT,
    torch.float64: onnx.TensorProto.DOUBLE,
    torch.float16: onnx.TensorProto.FLOAT16,
    torch.bfloat16: onnx.TensorProto.BFLOAT16,
    torch.int64: onnx.TensorProto.INT64,
    torch.int32: onnx.TensorProto.INT32,
    torch.int16: onnx.TensorProto.INT16,
    torch.int8: onnx.TensorProto.INT8,
    torch.uint8: onnx.TensorProto.UINT8,
    torch.bool: onnx.TensorProto.BOOL,
    torch.complex64: onnx.TensorProto.COMPLEX64,
    torch.complex128: onnx.TensorProto.COMPLEX128,
}


class Writer:
    def __init__(self, p: capture.Program):
        self.p = p
        self.symbols = {symbol: name for name, symbol in p.symbols.items()}
        self.outputs = {}  # name of a tensor: as an output is called
        taken = {name for name, *_ in p.inputs} | {o for c in p.calls for o in c.outs}
        for name, tensor, *_ in p.outputs:
            if tensor not in self.outputs and name not in taken and any(tensor in c.outs for c in p.calls):
                self.outputs[tensor] = name
                taken.add(name)

    def name(self, tensor):
        return self.outputs.get(tensor, tensor)

    def size(self, size):
        """A number, or an expression of the names that the caller gave."""
        return size if isinstance(size, int) else self.expression(str(size))

    def expression(self, text):
        return re.sub(r"\w+", lambda m: self.symbols.get(m[0], m[0]), text)

    def value(self, name, dtype, shape):
        return onnx.helper.make_tensor_value_info(name, TYPES[dtype], [self.size(s) for s in shape])

    def node(self, number, c, held):
        n = onnx.NodeProto(
            name=f"call_{number}",
            input=[self.name(t) for t in dict.fromkeys(c.reads)],
            output=[self.name(t) for t in c.outs],
        )
        n.domain, n.op_type, n.overload = str(c.op).split(".")
        text = re.sub(r"%([\w.]+)", lambda m: "%" + self.name(m[1]), c.text)
        names = [self.p.names.get(o, "") for o in c.outs]
        found = {
            "call": text,
            "sizes": [self.expression(s) for s in c.sizes] or None,
            **{k: v for k, v in held.items() if k == "held" or v != held["held"]},
            "names": names if any(names) else None,
            "grad": None if c.grad else 0,
            "autocast": None if c.autocast else 0,
            "anew": c.anew or None,
            "loss": 1 if c.in_loss else None,
            "region": c.region or None,
            "holds": [self.name(t) for t in c.holds] or None,
            "reentrant": 1 if c.reentrant else None,
        }
        n.attribute.extend(onnx.helper.make_attribute(k, v) for k, v in found.items() if v is not None)
        for key, value in (("name_scopes", c.path), ("class_hierarchy", c.classes), ("stack_trace", c.stack)):
            n.metadata_props.add(key="pkg.torch.onnx." + key, value=str(value))
        return n


def weight(name, t):
    """An initializer without its data."""
    w = onnx.TensorProto(name=name, data_type=TYPES[t.dtype], dims=list(t.shape))
    w.data_location = onnx.TensorProto.EXTERNAL
    w.external_data.add(key="location", value="weights.bin")
    return w


def tensors(model, constants):
    """Lines of memlint.tensors, and the initializers that they name."""
    lines, weights, first = [], [], {}
    named = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
    for name, t in [*named, *constants.items()]:
        parameter = isinstance(t, torch.nn.Parameter)
        kind = "constant" if name in constants else "buffer"
        kind = kind if not parameter else "trained" if t.requires_grad else "frozen"
        lines.append(f"{kind} {name}" + (f" = {first[id(t)]}" if id(t) in first else ""))
        if id(t) not in first:
            weights.append(weight(name, t))
        first.setdefault(id(t), name)
    return lines, weights


def build(model, args, kwargs, targets, dims, loss, outputs=(), precision="fp32", optimizer=None, spread=()):
    half = "autocast" if precision.startswith("amp-") else "fp32" if precision == "fp32" else "model"
    with units.without_hooks(model):
        p = capture.capture(model, args, kwargs, targets, dims, loss, program.rows(), half)
    p.outputs = [(name, *o[1:]) for name, o in zip(outputs, p.outputs)] + p.outputs[len(outputs) :]
    w = Writer(p)
    lines, weights = tensors(model, p.constants)
    graph = onnx.GraphProto(name=type(model).__name__, initializer=weights)
    graph.node.extend(w.node(i, c, {k: v[i] for k, v in p.held.items()}) for i, c in enumerate(p.calls))
    graph.input.extend(w.value(*i) for i in p.inputs)
    shown = set()
    for _, tensor, dtype, shape in p.outputs:
        if tensor not in shown:
            graph.output.append(w.value(w.name(tensor), dtype, shape))
        shown.add(tensor)
    for c in p.calls:
        graph.value_info.extend(w.value(o, *like) for o, like in zip(c.outs, c.like) if o not in shown)
    m = onnx.ModelProto(ir_version=10, producer_name="memlint", producer_version=program.version(), graph=graph)
    m.opset_import.add(domain="", version=20)
    for space in sorted({n.domain for n in graph.node}):
        m.opset_import.add(domain=space, version=1)
    (text, unknown), (groups, missing) = ("", []), ("", [])
    if optimizer is not None:
        (text, unknown), (groups, missing) = checking.described(optimizer), checking.groups_of(optimizer, model)
    said = {
        "schema": SCHEMA,
        "torch": torch.__version__,
        "tensors": "\n".join(lines),
        "units": "\n".join(spread),
        "variants": " ".join(p.variants),
        "optimizer": text,
        "groups": groups,
        "unsure": ", ".join(filter(None, [p.unsure, *unknown, *missing])),
        "asked": "; ".join(p.asked),
        "loss": "" if loss is None else w.name(p.outputs[0][1]),
    }
    for key, text in said.items():
        if text:
            m.metadata_props.add(key=f"memlint.{key}", value=text)
    return m


def names_of(model, dynamic):
    """dims(path, tensor) of capture, from what export's caller says."""
    dynamic = {"batch": 0} if dynamic is None else dynamic

    def dims(path, t):
        name = capture.input_name(model, path)
        own = dynamic.get(name)
        if isinstance(own, dict):
            return own
        everywhere = {d: n for n, d in dynamic.items() if isinstance(d, int) and d < t.dim()}
        return {} if any(isinstance(v, dict) for v in dynamic.values()) and not everywhere else everywhere

    return dims


@contextlib.contextmanager
def training(model):
    """A model in evaluation mode is in training mode; of one that is, modules in eval() stay so."""
    modes = [(m, m.training) for m in model.modules()]
    if not model.training:
        model.train()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def write(path, model, inputs, kwargs, dynamic, loss, targets, outputs, precision, optimizer=None):
    """Writes the file; the dimensions that are open in it, and what the example has there."""
    spread, model = units.lines(model), units.inside(model)
    leaves, dims = capture.leaves_of((inputs, kwargs, targets)), names_of(model, dynamic)
    known = {capture.input_name(model, p) for p, _ in leaves}
    for name, d in (dynamic or {}).items():
        if isinstance(d, dict) and name not in known:
            raise ValueError(f"dynamic: no input {name}; the model has {', '.join(sorted(known))}")
    for path_to, t in leaves:
        own = (dynamic or {}).get(capture.input_name(model, path_to))
        for d in own if isinstance(own, dict) else ():
            if d >= t.dim():
                raise ValueError(f"dynamic: {capture.input_name(model, path_to)} has no dimension {d}")
    with training(model):
        m = build(model, inputs, kwargs, targets, dims, loss, outputs, precision, optimizer, spread)
    tmp = f"{path}.{os.getpid()}"
    onnx.save(m, tmp)
    os.replace(tmp, path)
    open_dims = {d.dim_param for i in m.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    return {name: t.shape[d] for p, t in reversed(leaves) for d, name in dims(p, t).items() if name in open_dims}
