#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs: modules that nobody wrote, each a training step, compared with PyTorch event by event.

    programs.py MEMLINT RECORD.PY EXPORT.PY --seed N --count N [--from N] [--only REGEX] [--keep DIR] [--pack FILE]
                [--shrink N] [--unseen SHARE] [--precision P] [--captured | --torchscript] [-v]
    programs.py MEMLINT RECORD.PY EXPORT.PY --keep DIR FILE...

Program K of seed N is always the same text: statements are drawn one by one and run at once on small CPU tensors, so
that what can't run is drawn again. Verdicts: exact; doubt (memlint says so); wrong (sure of itself); skipped (PyTorch
refuses). The first N wrong ones are shrunk: statements are left out and expressions replaced by their parts while
memlint is still wrong and sure; DIR/shrunk has them. Given files are compared, and shrunk where they are wrong. Exit 1
when one is wrong.
"""
import ast, collections, functools, gc, json, logging, os, random, re, sys, warnings
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "packaging", "python")]
import steps

OPTIONS = ["--loss", "sum", "--optimizer", "sgd", "--dropout", "none"]
AT_ONCE = 20  # programs a process
TAIL = 'ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(4, 8, 32)}, None), lambda out, targets: LOSS, (4,))}\n'
FIRST = TAIL.replace("LOSS", "(out[0] if isinstance(out, tuple) else out['a'] if isinstance(out, dict) else out).sum()")
BOTH = TAIL.replace("LOSS", "(lambda a, b: a.sum() + b.sum())(*(out.values() if isinstance(out, dict) else out[:2]))")
HEAD = steps.HEAD + "import torch.utils.checkpoint\n"
WARM = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(32, 32)
    def forward(self, x):
        return self.a(x).relu()
"""
# What an expression does with {t}, a tensor; {u} is another of the same sizes, {n} a number, {d} a dimension.
POINTWISE = ("{t}.tanh()", "torch.sigmoid({t})", "{t}.relu()", "F.relu({t})", "F.gelu({t})", "F.silu({t})",
             "{t}.sin()", "torch.cos({t})", "-{t}", "{t}.abs()", "{t} ** 2",
             "1 - {t}", "{t} / {n}", "{n} * {t}", "{t} + {n}", "{t}.clamp(-1, 1)", "{t}.masked_fill({t} > 0, 0.)",
             "F.softmax({t}, -1)", "{t}.log_softmax(-1)", "torch.exp({t})",
             "F.leaky_relu({t})", "{t}.cumsum({d})", "{t}.detach()", "{n} * {t}.clone()", "{t}.contiguous()",
             "{t}.float()", "F.layer_norm({t}, {t}.shape[-1:])")
TWO = ("{t} + {u}", "{t} * {u}", "{t} - {u}", "{t} / {u}", "torch.where({t} > {u}, {t}, {u})",
       "torch.maximum({t}, {u})", "{t} * {u}.sigmoid()", "{t} + {n} * {u}", "torch.add({t}, {u})",
       "torch.cat([{t}, {u}], {d})", "torch.stack([{t}, {u}], {d})", "{t} @ {u}.transpose(-1, -2)",
       "torch.lerp({t}, {u}, .5)", "({t} + {u}) * {t}", "{t} * {t} - {u}")
VIEWS = ("{t}.transpose(1, 2)", "{t}.transpose(-1, -2)", "{t}.flatten(1)", "{t}.unsqueeze({d})", "{t}.squeeze({d})",
         "{t}[:, 0]", "{t}[:, :4]", "{t}[..., ::2]", "{t}[:, 1:]", "{t}[0]",
         "{t}.narrow(-1, 0, 8)", "{t}.chunk(2, -1)[1]", "{t}.split(2, 1)[0]", "{t}.unbind(1)[0]", "{t}.reshape(4, -1)",
         "{t}.view({t}.shape[0], -1)", "{t}.permute(0, 2, 1)", "{t}.permute(2, 0, 1)",
         "{t}.unflatten(-1, (2, -1))", "{t}.mT", "{t}.select(1, 0)", "{t}[:, :1].expand_as({t})", "{t}.view(-1)",
         "{t}.reshape(-1, 16)")
OTHERS = ("{t}.sum({d})", "{t}.mean(-1, keepdim=True)", "{t} - {t}.mean({d}, keepdim=True)", "{t}.amax({d})",
          "{t}.max({d})[0]", "{t}.logsumexp(-1)", "{t}.flip({d})", "{t}.roll(1, {d})", "F.pad({t}, (1, 1))",
          "{t}.repeat(1, 1, 2)", "torch.tril({t})", "{t}.mean()", "{t}.sum((0, 1))", "torch.cat([{t}, {t}], {d})")
WRITES = ("{v} += {e}", "{v} *= {n}", "{v}.add_({e})", "{v}.mul_({n})", "{v}.relu_()", "{v}.tanh_()",
          "{v}.clamp_(min=0)", "{v}[:, 0] = {n}.", "{v}[:, :2] += {n}", "{v}[..., 0] = {e}", "{v}[0] *= {n}",
          "F.relu({v}, inplace=True)", "{v}.masked_fill_({v} > 0, 0.)", "{v}.zero_()", "{v}.copy_({e})",
          "{v}[:, :4].mul_({n})", "{v} -= {e}")
MODULES = ("nn.Linear({c}, {o})",) * 6 + ("nn.Linear({c}, {o}, bias=False)", "nn.LayerNorm({c})",
                                          "nn.Sequential(nn.Linear({c}, {o}), nn.ReLU(), nn.Linear({o}, {c}))",
                                          "nn.ReLU()",
           "nn.GELU()", "nn.Sequential(nn.Linear({c}, {o}), nn.ReLU())",
                                          "nn.Sequential(nn.LayerNorm({c}), nn.Linear({c}, {o}))", "nn.Dropout(0.)",
                                          "nn.Identity()")

# What an exporter leaves out or takes apart, and a capture sees.
UNSEEN = ("{t}.clone()", "F.dropout({t}, .1)", "{t}.view_as({t})", "{t}[:]", "{t}.expand_as({t})")
UNSEEN_MODULES = ("nn.ReLU(inplace=True)", "nn.Dropout(.2)", "nn.Conv1d({h}, 8, 3, padding=1)", "nn.BatchNorm1d({h})",
                  "nn.Sequential(nn.Linear({c}, {o}), nn.SiLU(inplace=True), nn.Dropout(.1))", "nn.Embedding(8, {c})",
                  "nn.MultiheadAttention({c}, 2, batch_first=True)")
CALLS = {"nn.Embedding": "{m}({t}.argmax(-1))", "nn.MultiheadAttention": "{m}({t}, {t}, {t})[0]"}

DEPTH = 2  # of modules in modules


def once(templates, plain):
    """Those that write their tensor once, unless it is a name: an exporter merges what is computed twice."""
    return templates if plain else [t for t in templates if t.count("{t}") == 1 and t.count("{u}") < 2]


class Frame:
    """A function that is being written: its lines, what its names hold."""

    def __init__(self, rng, globals_, inputs, module, depth):
        self.rng, self.module, self.depth = rng, module, depth
        self.env = dict(globals_, **inputs, self=module)
        self.globals, self.lines, self.init, self.fresh = globals_, [], [], 0
        self.inputs, self.unread, self.inner_frame = list(inputs), set(inputs), depth < DEPTH

    def names(self, kind):
        return [k for k, v in self.env.items() if k not in self.globals and isinstance(v, kind)]

    def tensors(self):
        torch = self.env["torch"]
        return [k for k in self.names(torch.Tensor) if self.env[k].is_floating_point()]

    def pick(self):
        """A tensor's name: what nobody has read yet rather than others, late ones rather than early ones."""
        names = self.tensors()
        late = [n for n in names if n in self.unread]
        return self.rng.choice(late if late and self.rng.random() < .5 else names[-5:] if self.rng.random() < .6
                               else names)

    def atom(self):
        bags = [k for k in self.names((list, tuple)) if self.env[k]]
        if bags and self.rng.random() < .25:
            bag = self.rng.choice(bags)
            return f"{bag}[{self.rng.choice([self.rng.randrange(len(self.env[bag])), -1])}]"
        return self.pick()

    def made(self, what):
        """A submodule or parameter by that text: a new one, or one that is there already."""
        same = [line for line in self.init if line.endswith("= " + what)]
        if same and self.rng.random() < .6:
            return self.rng.choice(same).split(" = ")[0]
        name = f"self.m{len(self.init)}"
        exec(f"{name} = {what}", self.env)
        self.init.append(f"{name} = {what}")
        if self.rng.random() < .12 and "Linear" in what:
            self.init.append(f"{name}.requires_grad_(False)")
            exec(self.init[-1], self.env)
        return name

    def value(self, text):
        v = eval(text, self.env)
        if not self.usable(v):
            raise ValueError(text)
        return v

    def usable(self, v):
        torch = self.env["torch"]
        return isinstance(v, torch.Tensor) and v.is_floating_point() and v.dim() <= 4 and 0 < v.numel() <= 16384

    def step(self, text):
        """The text of one more operator on what that text is."""
        rng, v = self.rng, self.value(text)
        like = [n for n in self.tensors() if self.env[n].shape == v.shape]
        plain = text.isidentifier()
        kind = rng.choices(("pointwise", "two", "views", "others", "module", "frame"),
                           (30, 22, 18, 8, 18, 5 * bool(self.depth)))[0]
        fill = {"t": text if re.fullmatch(r"[\w.]+(\[.*\]|\(.*\))?", text) else f"({text})", "n": rng.randint(2, 5),
                "d": rng.randrange(max(v.dim(), 1))}
        if kind == "two":
            fill["u"] = rng.choice(like)
            if rng.random() < .3:
                fill["u"] = rng.choice(POINTWISE[:7]).format(t=fill["u"])
            return rng.choice(once(TWO, plain)).format(**fill)
        if kind == "module" and self.module is not None and v.dim():
            if rng.random() < .1:
                return rng.choice(("{t} * {p}",
                                   "{t} + {p}")).format(p=self.made(f"nn.Parameter(torch.ones({v.shape[-1]}))"), **fill)
            what = rng.choice(UNSEEN_MODULES if self.unseen(.3) else MODULES)
            module = self.made(what.format(c=v.shape[-1], o=rng.choice((8, 16, 32, 32, 48)),
                                           h=v.shape[min(1, v.dim() - 1)]))
            if what.split("(")[0] in CALLS:
                return CALLS[what.split("(")[0]].format(m=module, t=text)
            if rng.random() < .1:
                return f"torch.utils.checkpoint.checkpoint({module}, {text}, use_reentrant=False)"
            return f"{module}({text})"
        if kind == "frame" and self.depth:
            call, outs = self.inner([text])
            return call + (f"[{rng.randrange(outs)}]" if outs > 1 else "")
        new = rng.choice(once({"pointwise": POINTWISE, "views": VIEWS}.get(kind, OTHERS), plain)).format(**fill)
        if self.unseen(.1):
            new = rng.choice(once(UNSEEN, plain)).format(**fill)
        if kind == "views" and not self.globals["_unseen"]:
            whole = self.value(new)
            if whole.shape == v.shape and whole.stride() == v.stride():
                raise ValueError("an exporter leaves out a view of everything")
        return new

    def expression(self, most=3):
        for _ in range(60):
            text = self.atom()
            try:
                for _ in range(self.rng.randint(1, most)):
                    text = self.step(text)
                self.value(text)
                return text
            except Exception:
                continue
        return self.pick()

    def inner(self, texts):
        """A call of a function or a module's forward, new or there already; how many results it has."""
        rng, torch = self.rng, self.env["torch"]
        values = [self.value(t) for t in texts]
        known = [(n, f) for n, f in self.globals["_frames"].items() if f[0] == [v.shape for v in values]
                 and (f[2] == "function" or self.module is not None)]
        if known and rng.random() < .5:
            name, (_, outs, kind) = rng.choice(known)
        else:
            kind = "function" if self.unseen(.4) else "module"  # frames of other functions are in no file
            inputs = {n: torch.rand(v.shape, requires_grad=True) * 1 for n, v in zip("xyzw", values)}
            module = torch.nn.Module() if kind == "module" else None
            frame = Frame(rng, self.globals, inputs, module, self.depth - 1)
            outs = rng.choice((1, 1, 1, 2, 3))
            frame.write(rng.randint(1, 4), outs)
            name = f"{'B' if kind == 'module' else 'f'}{len(self.globals['_frames'])}"
            text = frame.text(name, kind)
            exec(text, self.globals)
            self.env.update({name: self.globals[name]})
            self.globals["_texts"].append(text)
            self.globals["_frames"][name] = ([v.shape for v in values], outs, kind)
        self.env.setdefault(name, self.globals[name])
        args = ", ".join(texts)
        if kind == "function":
            return f"{name}({args})", outs
        return f"{self.made(name + '()')}({args})", outs

    def unseen(self, share):
        return self.globals["_unseen"] and self.rng.random() < share

    def new(self):
        names = [n for n in self.tensors() if n not in self.unread or self.rng.random() < .1]
        if names and self.rng.random() < .3:
            return self.rng.choice(names)
        self.fresh += 1
        return f"v{self.fresh}"

    def simple(self):
        """One statement on one line."""
        rng = self.rng
        kind = rng.choices(("assign", "write", "pair", "unpack", "bag", "alias", "grow", "del", "call"),
                           (50, 14, 6, 7, 8, 4, 4, 4 * self.globals["_unseen"], 8 * bool(self.depth)))[0]
        if kind == "write":
            v = self.pick()
            return rng.choice(WRITES).format(v=v, n=rng.randint(2, 5),
                                             e=rng.choice([n for n in self.tensors()
                                                           if self.env[n].shape == self.env[v].shape]))
        if kind == "pair":
            return f"{self.new()}, {self.new()} = {self.expression(2)}, {self.expression(2)}"
        if kind == "unpack":
            v = self.atom()
            return rng.choice(("{a}, {b} = {v}.chunk(2, -1)", "{a}, {b} = {v}.split({h}, -1)",
                               "{a}, {b} = {v}[:, :4], {v}[:, 4:]", "{a}, _ = {v}.max(-1)",
                               "{a}, *{b} = {v}.chunk(3, 1)")).format(
                a=self.new(), b=f"w{self.fresh}", v=v, h=max(self.value(v).shape[-1] // 2, 1))
        if kind == "bag":
            return f"t{len(self.lines)} = " + rng.choice(("({a}, {b})", "[{a}, {b}]", "[{e}, {b}]", "{a}.chunk(4, 1)",
                                                          "[{p}(i) for i in {a}.chunk(2, 1)]", "[{a}]")).format(
                a=self.atom(), b=self.atom(), e=self.expression(), p=rng.choice(("torch.tanh", "F.relu", "torch.exp")))
        if kind == "alias":
            return f"{self.new()} = {self.pick()}"
        if kind == "grow":
            lists = self.names(list)
            return f"{rng.choice(lists)}.append({self.expression()})" if lists else f"t{len(self.lines)} = []"
        if kind == "del":
            return f"del {self.pick()}"
        if kind == "call" and self.depth:
            call, outs = self.inner([self.pick() for _ in range(rng.randint(1, 3))])
            apart = outs == 1 or rng.random() < .7
            return (", ".join(self.new() for _ in range(outs)) if apart else f"t{len(self.lines)}") + " = " + call
        return f"{self.new()} = {self.expression()}"

    def statement(self):
        rng = self.rng
        if self.unseen(.05):
            return ["with torch.no_grad():", "    " + self.simple()]
        if self.unseen(.03):
            v = self.pick()
            return [f"if {v}.grad_fn is not None:", f"    {v}.register_hook(lambda g: g * 2)"]
        kind = rng.choices(("simple", "two", "for", "if", "bags", "long", "collect", "part", "table"),
                           (60, 8, 8, 3, 6, 4, 4, 4, 2))[0]
        if kind == "collect":
            v, bag, join = self.pick(), f"t{len(self.lines)}", rng.choice(("torch.cat({b}, 1)",
                                                                           "torch.stack({b}).mean(0)",
                                                                           "torch.stack({b}, 1)"))
            return [f"{bag} = []", f"for i in range({rng.randint(2, 3)}):", f"    {v} = {self.step(self.step(v))}",
                    f"    {bag}.append({v})",
                    f"{self.new()} = {join.format(b=bag)}"]
        if kind == "part":
            v, part = self.pick(), f"p{len(self.lines)}"
            return [f"{part} = {v}" + rng.choice(("[:, 1:]", "[..., ::2]", "[0]", ".transpose(1, 2)", ".view(-1)",
                                                  ".narrow(-1, 0, 8)")),
                    part + rng.choice((".mul_({n})", ".add_({n})", ".relu_()", "[0] *= {n}",
                                       ".clamp_(min=0)")).format(n=rng.randint(2, 5))]
        if kind == "table":
            bag = f"d{len(self.lines)}"
            return [f"{bag} = {{'a': {self.expression(2)}, 'b': {self.pick()}}}",
                    f"{self.new()} = {bag}['a'].sin() + {bag}['b'].mean()"]
        if kind == "two":
            return [f"{self.simple()}; {self.simple()}"]
        if kind == "for":
            lists = [n for n in self.names((list, tuple)) if self.env[n]]
            over = rng.choice(lists) if lists and rng.random() < .4 else f"range({rng.randint(2, 3)})"
            head = f"for i in {over}:"
            v, w = self.pick(), self.pick()  # a loop that carries nothing computes what an exporter leaves out
            body = [f"{v} = {v} + i" if "range" not in head and rng.random() < .7
                    else f"{v} = {self.step(self.step(v))}"]
            body += [f"{w} = {self.step(w)}"] * (rng.random() < .4)
            return [head] + ["    " + line for line in body]
        if kind == "if":
            return ["if self.training:" if self.module is not None else "if True:", "    " + self.simple()]
        if kind == "bags":
            bags = [n for n in self.names((list, tuple)) if self.env[n]]
            if bags:
                return [f"{self.new()} = " + rng.choice(("sum({b})", "torch.cat({b}, -1)",
                                                         "torch.stack(list({b})).mean(0)",
                                                         "torch.cat({b}, 1)")).format(b=rng.choice(bags))]
        if kind == "long":
            return [f"{self.new()} = ({self.expression(2)} +", f"      {self.expression(2)})"]
        return [self.simple()]

    def write(self, n, outs):
        rng, torch = self.rng, self.env["torch"]
        for _ in range(n):
            for _ in range(30):
                saved = dict(self.env)
                bags = {k: list(v) for k, v in saved.items() if isinstance(v, list)}
                init = len(self.init)
                try:
                    lines = self.statement()
                    exec("\n".join(lines), self.env)
                    if any(not self.usable(v) for k in self.names((torch.Tensor, list, tuple))
                           for v in ([self.env[k]] if torch.is_tensor(self.env[k]) else self.env[k])):
                        raise ValueError("a name holds something else")
                    if not self.tensors():
                        raise ValueError("no tensor left")
                except Exception:
                    for k, v in bags.items():
                        saved[k][:] = v
                    self.env = saved
                    continue
                text = "\n".join(lines)
                self.unread -= set(re.findall(r"\w+", text.split("=", 1)[-1]))
                self.unread |= {n for n in re.findall(r"\w+", text.split("=", 1)[0]) if n in self.env
                                and n not in self.globals and "=" in text}
                self.lines += lines
                break
        self.unread &= set(self.tensors())
        results = [self.expression(1) if rng.random() < .3 else self.pick() for _ in range(outs)]
        used = set(re.findall(r"\w+", " ".join(results)))
        rest = sorted(self.unread - used) if rng.random() < .9 else []
        results[0] = " + ".join([results[0]] + [f"{r}.mean()" for r in rest])
        table = outs == 2 and not self.inner_frame and rng.random() < .3
        self.lines.append(f"return {{'a': {results[0]}, 'b': {results[1]}}}" if table else "return "
                          + ", ".join(results))

    def text(self, name, kind):
        body = self.lines
        if kind == "function":
            args = [n for n in "xyzw" if n in self.inputs]
            return f"def {name}({', '.join(args)}):\n" + "".join(f"    {line}\n" for line in body)
        args = ["self"] + [n for n in "xyzw" if n in self.inputs]
        init = [line for line in self.init if re.search(re.escape(line.split(" = ")[0].split(".requires")[0]) + r"\b",
                                                        "\n".join(body))]
        return (f"class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                + "".join(f"        {line}\n" for line in init) +
                f"    def forward({', '.join(args)}):\n" + "".join(f"        {line}\n" for line in body))


def spans(source):
    """The bytes of a text, and where a node of its tree stands in them."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    return source.encode(), lambda n: (starts[n.lineno - 1] + n.col_offset, starts[n.end_lineno - 1] + n.end_col_offset)


def statements(source):
    """(from, to, what stands there instead, what stood there) of every statement of a function, the last one first."""
    data, span = spans(source)
    for f in reversed([n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)
                       and n.name != "__init__"]):
        for node in reversed(list(ast.walk(f))):
            body = getattr(node, "body", None)
            for s in reversed(body if isinstance(body, list) else []):
                a, b = span(s)
                if not isinstance(s, ast.Return):
                    more = data[b:b + 2] == b"; "
                    others = more or len(body) > 1 and data[a - 2:a] != b"; "
                    yield a, b + 2 * more, b"" if others else b"pass", data[a:b]


def cut_out(source, cut):
    data = source.encode()
    text = (data[:cut[0]] + cut[2] + data[cut[1]:]).decode()
    return "".join(line.replace("; pass\n", "\n") for line in text.splitlines(keepends=True) if line.strip(" ;\n"))


def smaller(source):
    """Texts with one statement less or one expression replaced by a part of it, the boldest first."""
    data, span = spans(source)
    cuts = list(statements(source))
    for node in ast.walk(ast.parse(source)):
        a, b = span(node) if hasattr(node, "lineno") else (0, 0)
        if b == a or data.startswith(b"ZOO", data.rfind(b"\n", 0, a) + 1) or data[a:b].startswith(b"super()"):
            continue
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.col_offset == 0:
            cuts.append((a, b, b""))
        if isinstance(node, (ast.For, ast.With, ast.If)):
            cuts.append((a, b, data[span(node.body[0])[0]:b].replace(b"\n    ", b"\n")))
        if isinstance(node, ast.Assign):
            if data[a:b].startswith(b"self."):
                cuts.append((a, b, b"pass"))
            for part in {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)} - {"torch", "F", "self", "nn"}:
                cuts.append((*span(node.value), part.encode()))
        if isinstance(node, ast.expr) and not isinstance(node, (ast.Name, ast.Constant)):
            for child in ast.iter_child_nodes(node):
                cuts += [(a, b, data[slice(*span(n))]) for n in [child]
                         + ([child.value] if isinstance(child, ast.Attribute) else []) if isinstance(n, ast.expr)]
    for cut in sorted(cuts, key=lambda c: len(c[2]) - (c[1] - c[0])):
        yield cut_out(source, cut)


def runs(torch, source):
    """The loss and the gradients of a step on the CPU; None where PyTorch refuses."""
    space = {}
    torch.manual_seed(0)
    try:
        exec(compile(source, "program", "exec"), space)
        entry = space["ZOO"]["case"]
        m = entry.build().train()
        torch.manual_seed(0)
        inputs, _ = entry.inputs(1)
        loss = entry.loss(m(**inputs), None)
        loss.backward()
        return [float(loss)] + [p.grad is not None and float(p.grad.sum()) for p in m.parameters()]
    except Exception:
        return None


def alive(torch, source):
    """The program without what changes nothing: no file shows what is computed for nobody."""
    want, tried = str(runs(torch, source)), set()
    while True:
        for text in unneeded(source):
            if text not in tried:
                tried.add(text)
                if text != source and str(runs(torch, text)) == want:
                    source = text
                    break
        else:
            return source


def wasteful(torch, source):
    """Whether a step computes for nobody: an operator whose storage no result of the model is made of."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    ran, space = [], {}

    def storages(values):
        return {v.untyped_storage() for v in tree_leaves(values) if isinstance(v, torch.Tensor) and v.numel()}

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            name, reads = func.__name__.split(".")[0], tree_leaves(args)
            whole = name in ("zero_", "copy_",
                             "fill_") and args[0].numel() * args[0].itemsize == args[0].untyped_storage().nbytes()
            ran.append((name, storages(reads[whole:]), storages(out), whole))
            return out
    exec(compile(source, "program", "exec"), space)
    m = space["ZOO"]["case"].build().train()
    with torch.no_grad(), Log():
        out = m(**space["ZOO"]["case"].inputs(1)[0])
    live = {s._cdata for s in storages(out)}
    for name, reads, writes, whole in reversed(ran):
        reads, writes = ({s._cdata for s in group} for group in (reads, writes))
        if not writes & live and (name.endswith("_") or writes - reads):
            return True
        if writes & live:
            live = (live - (writes if whole else writes - reads)) | reads
    return False


def unneeded(source):
    for cut in statements(source):
        if not cut[3].startswith((b"del ", b"pass")):
            text = cut_out(source, cut)
            for name in re.findall(r"\w+", cut[3].decode().split("=")[0]):
                text = re.sub(rf"(?m)^ *del {name}$\n|; del {name}\b|\bdel {name}; ", "", text)
            yield text
    data, span = spans(source)
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef) and n.name != "__init__"]
    last = max(f.lineno for f in functions)
    for f in functions:
        for n in ast.walk(f):
            if isinstance(n, ast.Tuple) and isinstance(n.ctx, ast.Load) and not (f.lineno == last
                                                                                 and isinstance(f.body[-1],
                                                                                                ast.Return)
                                                                                 and n is f.body[-1].value):
                for e in n.elts:
                    names = [m.id for m in ast.walk(e) if isinstance(m, ast.Name)
                             and m.id not in ("torch", "F", "self", "i")]
                    others = [m.id for m in n.elts if isinstance(m, ast.Name) and ast.dump(m) != ast.dump(e)]
                    a, b = span(e)
                    for name in others[:1] + ([] if isinstance(e, ast.Name) else names[:1]):
                        yield (data[:a] + name.encode() + data[b:]).decode()


def without(source):
    """The text without submodules and functions that it doesn't use."""
    lines = source.splitlines(keepends=True)
    kept = []
    for i, line in enumerate(lines):
        m = re.match(r"        (self\.m\d+)(\.requires_grad_| = )", line)
        if m:
            rest = "".join(lines[i:])
            rest = rest[:re.search(r"\n(class|def|ZOO)\b", rest).start()]
            if not re.search(re.escape(m[1]) + r"\b", rest[rest.index("def forward"):]):
                continue
        kept.append(line)
    parts = re.split(r"(?m)^(?=class |def |ZOO)", "".join(kept))
    for i in range(len(parts) - 3, 0, -1):
        name = re.match(r"\w+ (\w+)", parts[i])[1]
        if not re.search(rf"\b{name}\(", "".join(parts[i + 1:])):
            del parts[i]
    return "".join(parts)


def several(source):
    """Whether the model's last statement returns several results."""
    model = [k for k in ast.parse(source).body if isinstance(k, ast.ClassDef)][-1]
    last = model.body[-1].body[-1]
    return isinstance(last, ast.Return) and isinstance(last.value, (ast.Tuple, ast.Dict))


def lossy(torch, source):
    """The text whose loss reads what memlint assumes: the first result, and a second that reaches more parameters. None
    where PyTorch refuses to go backward from both."""
    first, both = (source[:source.index("ZOO = ")] + tail for tail in (FIRST, BOTH))
    one, two = runs(torch, first), runs(torch, both)
    if two is None and several(source):
        return None
    return both if one is None or two and sum(g is False for g in one) != sum(g is False for g in two) else first


def program(torch, seed, number, unseen):
    for again in range(1000):
        rng = random.Random(f"{seed}.{number}.{again}")
        torch.manual_seed(0)
        space = {}
        exec(HEAD, space)
        keep = rng.random() < unseen
        space.update(_frames={}, _texts=[], _unseen=keep)
        frame = Frame(rng, space, {"x": torch.rand(4, 8, 32)}, torch.nn.Module(), DEPTH)
        frame.lines.append(f"{rng.choice(('x', 'v0'))} = {frame.made('nn.Linear(32, 32)')}(x)")
        exec(frame.lines[0], frame.env)
        try:
            frame.write(rng.randint(1, rng.choice((2, 4, 9))), rng.choice((1, 1, 1, 1, 2)))
        except Exception:
            continue
        source = HEAD + "".join(space["_texts"]) + frame.text("M", "module") + FIRST
        if runs(torch, source):
            source = lossy(torch, without(source))
            if keep and source:
                return source
            source = source and lossy(torch, without(alive(torch, source)))
            if source and not wasteful(torch, source):
                return source
    raise SystemExit(f"program {number} of seed {seed} can't be drawn")


def elsewhere(bench, work):
    """What work returns, from a child: the first backward pass of a process settles which devices it can do, and a
    record's are fake."""
    answer = bench.file("children", ".answer")

    def save():
        with open(answer, "w") as f:
            json.dump(work(), f)
    if not steps.apart(bench.file("children", ".log"), save, 40 * steps.SECONDS):
        raise SystemExit(open(bench.file("children", ".log")).read() or "drawing programs takes too long")
    return json.load(open(answer))


# ---- comparing -------------------------------------------------------------------------------------------------------

def quicken(torch):
    """The exporter reads its own tables anew in each export; they don't change."""
    from torch.onnx._internal.exporter import _fx_passes, _registration
    from torch._export import utils
    import torch.utils._device  # which record.py takes for granted
    registry = functools.cache(_registration.ONNXRegistry.from_torchlib)
    _registration.ONNXRegistry.from_torchlib = staticmethod(registry)
    operators = functools.cache(utils._collect_all_valid_cia_ops_for_namespace)
    utils._collect_all_valid_cia_ops_for_namespace = lambda namespace: set(operators(namespace))
    logging.disable(logging.WARNING)


def frozen(torch, source):
    """What a user says of parameters that are not trained: no file does."""
    space = {}
    exec(compile(source, "program", "exec"), space)
    return [w for n, p in space["ZOO"]["case"].build().named_parameters() if not p.requires_grad
            for w in ("--freeze", n)]


def judge(bench, programs):
    """(name, source) -> name: (verdict, what to print). Files in one child, steps in another: recording changes
    functions that an export calls."""
    trace = f".{bench.precision}.trace"

    def all_of(what, left):
        """Takes them in a child, up to the first that fails, which leaves PyTorch's modes as they were; the rest."""
        behind = bench.file("children", ".behind")

        def work():
            for i, (name, source) in enumerate(left):
                with open(behind, "w") as f:
                    f.write(str(i + 1))
                with open(bench.file(name, ".options"), "w") as f:
                    json.dump(OPTIONS + frozen(bench.torch, source), f)
                if what == ("step",) or os.path.exists(bench.file(name, trace)):
                    if bench.take(name, source, bench.precision, how=steps.within, what=what, export=bench.export):
                        return
        with open(behind, "w") as f:
            f.write("1")  # a child that dies at once was at the first
        steps.apart(bench.file("children", ".log"), work, steps.SECONDS * len(left))
        return left[int(open(behind).read()):]
    for name, source in programs:
        bench.put(name, source)
    for what in (("step",), ("file",)):
        left = programs
        while left:
            left = all_of(what, left)
    out = {}
    for name, _ in programs:
        if not all(os.path.exists(bench.file(name, s)) for s in (trace, ".onnx")):
            out[name] = "skipped", [steps.reason(bench.file(name, ".log"))
                                    if os.path.exists(bench.file(name, ".log")) else "it died"]
            continue
        verdict, truth, got = bench.compare(name, json.load(open(bench.file(name, ".options"))), bench.precision)
        real, said = (steps.peak(bench.file(name, trace), events) for events in (truth, got))
        out[name] = verdict, [f"    peak {100 * (said / real - 1):+.2f} %"] + steps.first_difference(truth, got, 2)
    return out


# ---- shrinking -------------------------------------------------------------------------------------------------------

def shrink(bench, name, source):
    """The smallest program found that is still wrong."""
    tried, size = {source}, 6
    unseen = elsewhere(bench, lambda: wasteful(bench.torch, source))  # else what no file shows would be found
    while True:
        candidates = [text for text in dict.fromkeys(smaller(source)) if text not in tried and len(text) < len(source)]
        tried.update(candidates)
        candidates = elsewhere(bench, lambda: [text for text in (lossy(bench.torch, text) for text in candidates
                                                                 if runs(bench.torch, text))
                                               if text and (unseen or not wasteful(bench.torch, text))])
        for i in range(0, len(candidates), size):
            group = [(f"{name}-{len(tried)}-{i + k}", text) for k, text in enumerate(candidates[i:i + size])]
            verdicts = judge(bench, group)
            found = [text for n, text in group if verdicts[n][0] == "wrong"]
            for n, _ in group:
                bench.drop(n)
            if found:
                source = min(found, key=len)
                break
        else:
            return source


# ---- the run ---------------------------------------------------------------------------------------------------------

def run(a, bench):
    torch, bench.precision = bench.torch, a.precision
    bench.export = steps.capture if a.captured else steps.scripted if a.torchscript else None
    quicken(torch)
    if a.files:
        programs = [(os.path.basename(f).removesuffix(".py"), open(f).read()) for f in a.files]
    else:
        programs = [(f"r{a.seed}-{i}", None) for i in range(a.first, a.first + a.count)]
    bench.take("warm", HEAD + WARM + FIRST, how=steps.within, what=("file",))
    gc.collect()
    gc.freeze()
    counts, exact, left, row, longest = collections.Counter(), [], a.shrink, 0, 0
    os.makedirs(bench.file("shrunk", ""), exist_ok=True)
    programs = [p for p in programs if re.search(a.only, p[0])]
    for at in range(0, len(programs), AT_ONCE):
        group = elsewhere(bench, lambda: [(n, s or program(torch, a.seed, int(n.split("-")[1]), a.unseen)) for n,
                                          s in programs[at:at + AT_ONCE]])
        verdicts = judge(bench, group)
        for name, source in group:
            verdict, lines = verdicts[name]
            counts[verdict] += 1
            counts["peaks"] += verdict == "wrong" and not -.5 < float(lines[0].split()[1]) < .5
            row = 0 if verdict == "wrong" else row + (verdict != "skipped")
            longest = max(longest, row)
            if verdict == "exact":
                exact.append((name, json.load(open(bench.file(name, ".options"))), a.precision))
            if verdict == "wrong" or a.v:
                print(verdict, name, *(lines if verdict in ("wrong", "skipped") else []),
                      sep="\n" if verdict == "wrong" else " ", flush=True)
            if verdict == "wrong" and left:
                left -= 1
                text = shrink(bench, name, source)
                with open(os.path.join(bench.file("shrunk", ""), name + ".py"), "w") as f:
                    f.write(text)
                print(text[len(HEAD):text.index("ZOO = ")], flush=True)
    if a.pack:
        steps.pack(bench.folder, a.pack, exact)
    print(", ".join(f"{counts[v]} {v}" for v in ("exact", "doubt", "wrong", "skipped")) +
          f"; {counts['peaks']} of the wrong have a peak that is off by more than 0.5 %; {longest} in a row not wrong")
    return counts["wrong"] != 0


def main():
    warnings.filterwarnings("ignore")
    ap = steps.arguments(__doc__)
    ap.add_argument("files", nargs="*", help="programs to compare instead of random ones")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--from", type=int, default=0, dest="first", metavar="N", help="the first program's number")
    ap.add_argument("--unseen", type=float, default=0, metavar="SHARE",
                    help="of the programs that have what no file shows: del, what computes for nobody")
    ap.add_argument("--precision", default="fp32", choices=("fp32", "amp-bf16", "bf16"))
    ap.add_argument("--captured", action="store_true", help="files by memlint's own export instead of PyTorch's")
    ap.add_argument("--torchscript", action="store_true", help="files by TorchScript's exporter")
    ap.add_argument("--shrink", type=int, default=0, metavar="N", help="shrink the first N that are wrong")
    return steps.on_bench(run, ap.parse_intermixed_args())


if __name__ == "__main__":
    os.environ.setdefault("MEMLINT", os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "")
    sys.exit(main())
