#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule of cuDNN's workspaces, src/torch/cudnn.h, from answers of the library.

    workspaces.py shapes NETS.json                          the convolutions of nets: needs torch, torchvision, timm
    workspaces.py ask ORACLE NETS.json ANSWERS              asks cuDNN about each, at batches 4, 16 and 64: an hour
    workspaces.py rule ORACLE NETS.json ANSWERS >cudnn.h    fits and measures: needs numpy
    workspaces.py driver DEVICE.jsonl                       rows of what only a library with a driver tells: numpy
    workspaces.py versions ORACLE NETS.json NAME=FOLDERS... how far versions of the library differ, the first being 1

FOLDERS, with colons, is where a version of the library lies, with cuBLASLt; from 9.28 on libcuda.so.1, too.
ORACLE is the folder that has cudnn/: ask.c, which asks the library about a device that it is only told about, the
devices, and answers at batches 1, 8, 32 and 128. ANSWERS is a folder.

A row is fitted on every other net and the plain shapes, as a tree of at most LEAVES sums: each split is the comparison
after which the best sums on both sides are nearest to the answers. In fp32 on the generations of EVEN, and on all
without TF32, plain engines compete with those of the tensor cores, which copy their operands; there it is the
comparison after which the answers, as shares of such copies, are most alike on both sides (least squares): whether an
engine copies at all is what there is to tell, and a comparison that tells it for a part of the shapes helps, even where
the best sum stays the same. And there the gradient of an image, which no step computes, is a plain shape and no net's.
A filter's gradient has more sums, for it has the parts of split products to tell: few bytes, but whether a block of the
pass before is large enough hangs on them. (That was chosen with the recorded steps of cudnn.py in view, whose reserved
bytes it brings from 2.1 to 1.2 % in the median.)

On 8.6 and 8.9 the library is asked about relatives, too, in fp32, contiguous, with TF32 (RELATED): shapes of the first
half of the nets at more batches, the same with other channels, sides, filters and strides, and filters of 2 x 2 and
4 x 4 with stride 2 as transposed convolutions have them, but none that only the other half has: the nets alone are too
few to tell engines by many comparisons. There each shape votes for the sum that it takes, the most frequent of those
within CLOSE of the best, and the comparison is that after which the votes are purest (Gini). On 8.0 and 9.0 the same
made the other nets' sums no nearer.

A net's errors count as a share of its own sum, at batch 1 a fifth of that. The row is measured on the convolutions that
only the other nets have: for each net and batch the sum over these, where they are at least half of the net and the net
takes 8 MiB.

Without a CUDA driver the library leaves engines out. DEVICE.jsonl has answers on an H200 for 420 shapes, beside those
that it gives without one: convolutions.jsonl of h200.tar.xz. Products of matrices (1 x 1) are fitted on them, each leaf
being nothing, P, or a dash for what is said without a driver, and measured by two fits, each on every other shape, on
the shapes that it has not; the rows are a fit on all. When small filters' gradients take transforms is in FILTERS, by
hand, on the same shapes and on the requests of 16 training steps on that GPU, for they are too few for a fit. Without
TF32 it is from 13 shapes that ran there (sweeps.jsonl), and so is FORWARDS, of which two took Fourier's. SPLITS is by
hand, too: a filter's gradient splits its pixels among the multiprocessors there are, which the library knows with a
driver alone. Its tiles are read off the same shapes and the requests of the zoo's convolution nets; what forward passes
take without Y is from the library's answers.
"""
import argparse, itertools, json, lzma, os, random, subprocess, sys, tempfile

BATCHES = (4, 16, 64)
KINDS = ("fwd", "dgrad", "wgrad")
LEAVES = {"fwd": 10, "dgrad": 10, "wgrad": 30}
RELATED = {86: 200, 89: 200}    # sums of rows that are fitted on relatives
CLOSE = .01         # of the bytes that are taken
# What ask.c is told: TF32 allowed, nondeterministic engines passed over. 16 bits know no TF32, nor does what is older
# than 8.0; next to none of the plans in 16 bits is nondeterministic. With both the rows without TF32 count.
SETTINGS = {"": ("1", "0"), "deterministic": ("1", "1"), "no-tf32": ("0", "0")}
DEVICES = {75: "t4", 80: "a100", 86: "rtx3090", 89: "rtx4090", 90: "h100", 100: "b200", 120: "rtx5090"}
EVEN = (75, 86, 89, 120)    # tensor cores are no faster in fp32 than the rest, or have none of it
BUS = {75: 256, 80: 5120, 86: 384, 89: 384, 90: 5120, 100: 8192, 120: 512}  # bits
BYTES = {"f32": 4, "f16": 2, "bf16": 2}
VISION = """alexnet vgg11 vgg16 vgg19 resnet18 resnet34 resnet50 resnet152 resnext50_32x4d wide_resnet50_2 densenet121
densenet161 googlenet inception_v3 squeezenet1_0 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small shufflenet_v2_x1_0
mnasnet1_0 efficientnet_b0 efficientnet_b4 efficientnet_v2_s convnext_tiny convnext_base regnet_y_400mf regnet_y_8gf
regnet_x_3_2gf vit_b_16 swin_t maxvit_t""".split()
TIMM = """resnest26d res2net50_26w_4s hrnet_w18_small dla34 vovnet39a ese_vovnet19b_dw cspresnet50 cspdarknet53
darknet53 dpn68 xception41 inception_v4 inception_resnet_v2 nasnetalarge repvgg_a2 ghostnet_100 hardcorenas_a tinynet_a
lcnet_100 fbnetc_100 mixnet_s selecsls42b skresnet18 seresnet50 gernet_m nf_resnet50 resnetv2_50 convmixer_768_32
regnetz_b16 edgenext_small mobilevit_s coatnet_0_rw_224 convnextv2_nano poolformer_s12 efficientformer_l1 mobileone_s1
rexnet_100 legacy_senet154 resnet26t resnet33ts bat_resnext26ts halonet26t botnet26t_256 levit_128 pvt_v2_b1 pit_s_224
crossvit_9_240 focalnet_tiny_srf inception_next_tiny starnet_s1 fastvit_t8 hgnet_tiny repghostnet_100 tresnet_m
visformer_tiny""".split()
SIDES = {"inception_v3": 299, "efficientnet_b4": 380}
PLAIN = " 3 3 1 1 1 1 1 1 1"
COMPARED = """resnet50 vgg16 mobilenet_v2 densenet121 inception_v3 efficientnet_b0 convnext_tiny regnet_y_8gf unet256
timm.xception41""".split()
LEAST = 8 << 20     # bytes; of a net that takes less no share is said
IMAGE = 3           # channels
FARTHEST = 3        # times the copies; splits don't tell what lies beyond


def shapes(a):
    """{net: {"C H W K R S pad pad stride stride dilation dilation groups": how often}}"""
    import torch, torchvision, timm
    nets = {}

    def collect(name, model, *size):
        of = nets[name] = {}

        def hook(m, args, out):
            pad = m.padding
            if isinstance(pad, str):
                same = (d * (k - 1) // 2 for d, k in zip(m.dilation, m.kernel_size))
                pad = tuple(same) if pad == "same" else (0, 0)
            s = " ".join(map(str, (*args[0].shape[1:], out.shape[1], *m.kernel_size, *pad, *m.stride, *m.dilation,
                                   m.groups)))
            of[s] = of.get(s, 0) + 1
        for m in model.modules():
            if isinstance(m, torch.nn.Conv2d) and "Same" not in type(m).__name__:
                m.register_forward_hook(hook)
        model(torch.empty(2, *size))

    with torch.device("meta"):
        for n in VISION:
            k = {"init_weights": False} if n in ("googlenet", "inception_v3") else {}
            with torch.device("cpu" if "regnet" in n else "meta"):
                model = getattr(torchvision.models, n)(**k).to("meta")
            collect(n, model, 3, SIDES.get(n, 224), SIDES.get(n, 224))
        for n in ("deeplabv3_resnet50", "fcn_resnet50"):
            collect(n, getattr(torchvision.models.segmentation, n)(weights=None, weights_backbone=None), 3, 512, 512)
        for n in TIMM:
            model = timm.create_model(n, pretrained=False)
            collect("timm." + n, model, *model.pretrained_cfg.get("input_size", (3, 224, 224)))
    for side in (256, 512):
        of, last = nets.setdefault(f"unet{side}", {}), 3
        for i, k in enumerate((64, 128, 256, 512, 1024)):
            for c in (last, k, 2 * k) if i < 4 else (last, k):
                s = f"{c} {side >> i} {side >> i} {k}" + PLAIN
                of[s] = of.get(s, 0) + 1
            last = k
    of = nets.setdefault("diffusion", {})
    for side, ins, k in ((64, (4, 320, 640, 960), 320), (32, (320, 640, 960, 1280, 1920), 640),
                         (16, (640, 1280, 1920, 2560), 1280), (8, (1280, 2560), 1280)):
        for c in ins:
            of[f"{c} {side} {side} {k}" + PLAIN] = 1
    json.dump(nets, open(a.nets, "w"))


FACTORS = (.25, .5, .625, .75, .875, 1, 1, 1, 1.25, 1.5, 2, 3, 4)
SIDE_FACTORS = (.5, .57, .75, .86, 1, 1, 1, 1.14, 1.25, 1.5, 2)
RELATIVES_BATCHES = (1, 2, 4, 4, 6, 8, 8, 10, 12, 16, 16, 20, 24, 32, 32, 48, 64, 64, 96, 128, 256)
MORE_BATCHES = (1, 2, 8, 12, 24, 32, 48, 96, 128)   # of the nets that are fitted on
CHANNELS = (1, 3, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
RELATIVES, TRANSPOSED = 16000, 2000


def fits(n, s):
    """Whether the filter does, and 31 bits count the bytes of input and output."""
    c, h, w, k, r, q, ph, pw, sh, sw, dh, dw, _ = s
    oh, ow = (h + 2 * ph - dh * (r - 1) - 1) // sh + 1, (w + 2 * pw - dw * (q - 1) - 1) // sw + 1
    return oh > 0 and ow > 0 and n * max(c * h * w, k * oh * ow) < 2 ** 29


def relative(rnd, s):
    """Another shape like it."""
    def channels(c):
        if c <= 4:
            return rnd.choice((c, c, 1, 2, 3, 4, 8, 16))
        c = c * rnd.choice(FACTORS)
        q = rnd.choice((1, 2, 4, 8, 8, 8, 16, 32))
        return max(1, int(c // q * q) or int(c) or 1)
    c, h, w, k, r, q, ph, pw, sh, sw, dh, dw, g = s
    if g == 1:
        c, k = channels(c), channels(k)
    elif g == c:
        if rnd.random() < .8:
            return None
        k, c = k // c, channels(c)
        g, k = c, k * c
    else:
        f = rnd.choice((.5, 1, 1, 2))
        c, k = max(1, int(c // g * f)), max(1, int(k // g * f))
        g = rnd.choice((g, g, 2, 4, 8, 32))
        c, k = c * g, k * g
    if h > 1:
        side = max(1, round(h * rnd.choice(SIDE_FACTORS)))
        h, w = side, max(1, round(w * side / h))
    if rnd.random() < .15 and g == 1 and h > 1:
        r = q = rnd.choice((1, 3, 3, 5, 7))
        ph = pw = r // 2 * dh
        dh, dw = (1, 1) if r == 1 else (dh, dw)
    if rnd.random() < .1 and g == 1 and h > 3:
        sh = sw = rnd.choice((1, 2))
    return c, h, w, k, r, q, ph, pw, sh, sw, dh, dw, g


def transposed(rnd):
    f, side = rnd.choice((2, 4)), 2 * rnd.randint(2, 64)
    return rnd.choice(CHANNELS), side, side, rnd.choice(CHANNELS), f, f, *2 * (f // 2 - 1,), 2, 2, 1, 1, 1


def relatives(nets):
    """"N C H W ..." of shapes that are like those of the nets that are fitted on, the same each time, and their own."""
    half = sorted(nets)[::2]
    base = sorted({s for n in half for s in nets[n]})
    others = {s for n in nets for s in nets[n]}.difference(base)
    found = [set(), set()]
    rnd = random.Random(1)
    while len(found[0]) < RELATIVES or len(found[1]) < TRANSPOSED:
        more = len(found[0]) < RELATIVES
        s = relative(rnd, tuple(map(int, rnd.choice(base).split()))) if more else transposed(rnd)
        n = rnd.choice(RELATIVES_BATCHES) if s else 0
        text_ = " ".join(map(str, s or ()))
        if s and fits(n, s) and text_ not in others:
            found[not more].add(f"{n} {text_}")
    return sorted({f"{n} {s}" for n in MORE_BATCHES for s in base} | found[0] | found[1])


def is_asked(sm, t, setting):
    return not setting or (t == "f32" and (setting != "no-tf32" or sm >= 80))


def types_of(sm):
    return ("f32", "f16") if sm < 80 else ("f32", "bf16", "f16") if sm < 100 else ("f32", "bf16")


def is_related(sm, t, layout, setting):
    return not setting and (t, layout) == ("f32", "nchw") and sm in RELATED


def has_own(t, layout, shape):
    """PyTorch has kernels of its own for what is depthwise, C first in shape and groups last."""
    return layout == "nchw" and t != "f16" and int(shape[-1]) > 1 and shape[-1] == shape[0]


def file_of(a, *row):
    return os.path.join(a.answers, ".".join(filter(None, map(str, row))))


def rows_of(a):
    """(compute capability, type, layout, setting, the file of answers) of all that is asked."""
    for setting in SETTINGS:
        for sm in DEVICES:
            for t in types_of(sm):
                for layout in ("nchw", "nhwc"):
                    if is_asked(sm, t, setting):
                        yield sm, t, layout, setting, file_of(a, sm, t, layout, setting)


class Library:
    """cuDNN, asked by ask.c, which is built in the folder tmp."""

    def __init__(self, a, tmp):
        self.where, self.tmp, self.program = os.path.join(a.oracle, "cudnn"), tmp, os.path.join(tmp, "ask")
        subprocess.check_call(["gcc", "-O1", os.path.join(self.where, "ask.c"), "-o", self.program, *a.gcc])

    def device(self, sm):
        """A file that describes it."""
        other = {}
        file = os.path.join(self.where, f"devices/{DEVICES[sm]}.json")
        if not os.path.exists(file):    # the RTX 5090 is an RTX 4090 of another generation, as far as this goes
            file, other = os.path.join(self.where, "devices/rtx4090.json"), {"multiProcessorCount": 170}
        told = os.path.join(self.tmp, "told.json")
        with open(told, "w") as f:
            json.dump(json.load(open(file)) | {"deviceVer": 10 * sm, "memoryBusWidth": BUS[sm]} | other, f)
        return told

    def plans(self, file, mode, setting, asked, env):
        said = subprocess.run([self.program, file, mode, "1", *SETTINGS[setting]], input="".join(asked), env=env,
                              stdout=subprocess.PIPE, text=True)
        for r in map(json.loads, said.stdout.splitlines()):
            good = [p["workspace"] for p in r["plans"] if p["status"] == 0]
            if good:
                yield r["query"] + "\n", good[0]

    def ask(self, sm, setting, asked, env=None):
        """{question: bytes}"""
        file = self.device(sm)
        said = dict(self.plans(file, "instant", setting, asked, env))
        return said | dict(self.plans(file, "fallback", setting, [q for q in asked if q not in said], env))


def ask(a):
    nets = json.load(open(a.nets))
    each = sorted({s for n in nets.values() for s in n})
    with tempfile.TemporaryDirectory() as tmp:
        library = Library(a, tmp)
        for sm, t, layout, setting, out in rows_of(a):
            if os.path.exists(out):
                continue
            asked = [f"{k} {t} {layout} {n} {s}\n" for s in each for n in BATCHES for k in KINDS]
            said = library.ask(sm, setting, asked)
            with open(out, "w") as f:
                f.writelines(f"{q.strip()} {w}\n" for q, w in said.items())
            if is_related(sm, t, layout, setting):
                asked = [f"{k} {t} {layout} {s}\n" for s in relatives(nets) for k in KINDS]
                with open(out + ".relatives", "w") as f:
                    f.writelines(f"{q.strip()} {w}\n" for q, w in library.ask(sm, setting, asked).items())


def versions(a):
    """Of ten nets at batch 32, contiguous: MiB with the first library, and shares of it: all nets, least, most."""
    nets = {n: v for n, v in json.load(open(a.nets)).items() if n in COMPARED}
    each = sorted({s for n in nets.values() for s in n})
    names, folders = zip(*(l.split("=") for l in a.libraries))
    print(f"| compute capability | type | {names[0]}, MiB | " + " | ".join(names[1:]) + " |")
    print("| --- | --- |" + " --- |" * len(names))
    with tempfile.TemporaryDirectory() as tmp:
        library = Library(a, tmp)
        for sm, t in ((sm, t) for sm in (75, 80, 86, 89, 90) for t in types_of(sm)[:2]):
            asked = [f"{k} {t} nchw 32 {s}\n" for s in each for k in KINDS if not has_own(t, "nchw", s.split())]
            cells = []
            for folder in folders:
                said = library.ask(sm, "", asked, dict(os.environ, LD_LIBRARY_PATH=folder))
                took = [sum(often * said.get(f"{k} {t} nchw 32 {s}\n", 0) for s, often in of.items() for k in KINDS)
                        for of in nets.values()]
                first = took if not cells else first
                some = [(now, then) for now, then in zip(took, first) if then >= LEAST]
                shares = [now / then for now, then in [(sum(took), sum(first)), *some]]
                cells += [f"{shares[0]:.2f} ({min(shares[1:]):.2f} to {max(shares[1:]):.2f})" if cells else
                          f"{sum(took) >> 20:,}"]
            print(f"| {sm // 10}.{sm % 10} | {t} | " + " | ".join(cells) + " |", flush=True)


def answers(a, sm, t, layout, setting, stored, half):
    """{kind: {shape with batch: bytes}} but for what PyTorch has kernels of its own for, and the relatives of these:
    shapes of the nets in half are none at batches at which all are there."""
    of = {k: {} for k in KINDS}

    def read(name):
        for line in open(name):
            kind, _, _, *shape, w = line.split()
            of[kind].setdefault(tuple(map(int, shape)), int(w))
    read(file_of(a, sm, t, layout, setting))
    for kind, shape, w in () if setting else stored.get((sm, t, layout), ()):
        of[kind].setdefault(shape, w)
    nets = {s for v in of.values() for s in v}
    if is_related(sm, t, layout, setting):
        read(file_of(a, sm, t, layout, setting) + ".relatives")
    return ({k: {s: w for s, w in v.items() if not has_own(t, layout, s[1:])} for k, v in of.items()},
            {s for v in of.values() for s in v if s[0] not in MORE_BATCHES or s[1:] not in half}.difference(nets))


LETTERS = "ckgpmfdsouv"
SUMS = ["0", "X", "Y", "W", "X+Y", "X+W", "Y+W", "X+Y+W", "X+Y+2W", "X+Y+4W", "X+Y+8W", "X+Y+16W", "X+Y+W+S", "X+Y+W+D",
        "X+Y+W+Q", "X+2Y+W", "2X+Y+W", "T", "X+Y+T"]


def describe(np, shapes_, e, even):
    """What src/torch/cudnn.c calls by letters, and all sums, in its words."""
    n, c, h, w, k, r, s, ph, pw, sh, sw, dh, dw, g = np.array(shapes_, dtype=float).T
    pad = lambda v: np.ceil(v * e / 16) * 16
    divisor = lambda v: np.where(v % 8 == 0, 8, np.where(v % 4 == 0, 4, np.where(v % 2 == 0, 2, 1)))
    oh, ow = (h + 2 * ph - dh * (r - 1) - 1) // sh + 1, (w + 2 * pw - dw * (s - 1) - 1) // sw + 1
    cg, m = c / g, n * oh * ow
    X, Y, W = n * h * w * pad(c), m * pad(k), pad(k) * r * s * pad(cg) / e
    tiles = np.ceil(k / 128) * np.ceil(cg * r * s / 128)
    parts = [W * np.maximum(1, np.floor(z * 108 / tiles)) for z in (1, 2, 4)]
    sums = [0 * X, X, Y, W, X + Y, X + W, Y + W, X + Y + W, *(X + Y + z * W for z in (2, 4, 8, 16)),
            *(X + Y + W + p for p in parts)]
    if even:
        T = np.where((r == 3) & (s == 3) & (sh == 1) & (sw == 1) & (dh == 1) & (dw == 1), 25 / 9 * W, 0)
        sums += [X + 2 * Y + W, 2 * X + Y + W, T, X + Y + T]
    letters = [cg, k / g, g, oh * ow, m, r * s, cg * r * s, sh, m * k * cg * r * s, divisor(cg), divisor(k / g)]
    return np.stack(letters, 1), np.stack(sums, 1)


def alike(np, share, weight):
    """What cuts of the shapes at, in that order, gain: how much more alike their shares are, in squares."""
    def gain(at, order, cut):
        w = weight[at[order]]
        n, s = np.cumsum(w), np.cumsum(w * share[at[order]])
        return s[cut] ** 2 / n[cut] + (s[-1] - s[cut]) ** 2 / (n[-1] - n[cut]) - s[-1] ** 2 / n[-1]
    return gain


def nearer(np, error):
    """The same: how much nearer the best sums of both sides are."""
    def gain(at, order, cut):
        below = np.cumsum(error[at[order]], 0)
        return error[at].sum(0).min() - below[cut].min(1) - (below[-1] - below[cut]).min(1)
    return gain


def purer(np, votes):
    """The same: how much purer the votes are, Gini's way."""
    def gain(at, order, cut):
        below = np.cumsum(votes[at[order]], 0)
        whole, below = below[-1], below[cut]
        pure = lambda v: (v ** 2).sum(-1) / np.maximum(v.sum(-1), 1e-300)
        return pure(below) + pure(whole - below) - pure(whole)
    return gain


def votes_of(np, sums, y, weight, own):
    """Each shape's weight under the sum that it takes."""
    error = abs(sums - y[:, None])
    close = error <= np.maximum(error.min(1), CLOSE * y)[:, None]
    often = (close * weight[:, None])[own].sum(0)
    votes = np.zeros(sums.shape)
    votes[np.arange(len(y)), np.where(close, often, -1).argmax(1)] = weight
    return votes


def grow(np, x, gains, error, leaves, least=12, cuts=60):
    """The best comparison first; error: of each shape under each sum."""
    def best(at):
        found = (0, None)
        for f in range(x.shape[1] if error[at].sum(0).min() > 0 and len(at) >= 2 * least else 0):
            order = np.argsort(x[at, f], kind="stable")
            v = x[at, f][order]
            cut = np.nonzero(v[1:] != v[:-1])[0]
            cut = cut[(cut + 1 >= least) & (cut + 1 <= len(at) - least)]
            if len(cut) > cuts:
                cut = cut[np.linspace(0, len(cut) - 1, cuts).astype(int)]
            if len(cut):
                gain = gains(at, order, cut)
                if gain.max() > found[0]:
                    found = (gain.max(), (f, v[cut[gain.argmax()]]))
        return found
    root = {"at": np.arange(len(x))}
    root["best"], open_ = best(root["at"]), [root]
    while len(open_) < leaves:
        node = max(open_, key=lambda n: n["best"][0])
        if node["best"][0] <= 0:
            break
        node["cut"] = f, v = node["best"][1]
        yes = x[node["at"], f] <= v
        node["sides"] = [{"at": node["at"][yes]}, {"at": node["at"][~yes]}]
        for side in node["sides"]:
            side["best"] = best(side["at"])
        open_ = [n for n in open_ if n is not node] + node["sides"]
    for node in open_:
        node["sum"] = int(error[node["at"]].sum(0).argmin())
    return root


def apply(np, node, x, at, to):
    if "cut" not in node:
        to[at] = node["sum"]
        return
    yes = x[at, node["cut"][0]] <= node["cut"][1]
    apply(np, node["sides"][0], x, at[yes], to)
    apply(np, node["sides"][1], x, at[~yes], to)


def text(node, letters=LETTERS, sums=SUMS):
    if "cut" not in node:
        return sums[node["sum"]]
    yes, no = (text(n, letters, sums) for n in node["sides"])
    return yes if yes == no else f"{letters[node['cut'][0]]}<={node['cut'][1]:.0f}?{yes}:{no}"


def fit(np, nets, data, e, even, leaves, related=()):
    """Texts by kind, and the errors of nets."""
    users = {}
    for n, of in nets.items():
        for s in of:
            users.setdefault(s, []).append(n)   # in order: sums of floats, and so ties, hang on it
    fitted = set(sorted(nets)[::2])
    whole, truth, told, texts = {}, {}, {}, {}
    key = lambda s: " ".join(map(str, s[1:]))
    of = lambda kind, s: () if even and kind == "dgrad" and s[1] == IMAGE or s in related else users.get(key(s), ())
    for kind in KINDS:
        for t, s, w in data[kind]:
            for n in of(kind, s):
                whole[n, s[0], t] = whole.get((n, s[0], t), 0) + w * nets[n][key(s)]
    for kind in KINDS:
        rows = data[kind]
        y = np.array([w for _, _, w in rows], float)
        x, sums = describe(np, [s for _, s, _ in rows], e, even)
        own = np.array([not of(kind, s) or bool(fitted.intersection(of(kind, s))) for _, s, _ in rows])
        weight = np.array([sum(nets[n][key(s)] / max(whole[n, s[0], t], 1e6) for n in of(kind, s)
                               if n in fitted) * (.2 if s[0] < 4 else 1) for t, s, _ in rows])
        n = np.array([s[0] for _, s, _ in rows], float)
        is_relative = np.array([s in related for _, s, _ in rows])
        usual, of_image = np.median(weight[weight > 0]), np.median((weight * n)[weight > 0])
        weight[(weight == 0) & ~is_relative] = usual * .2
        weight[is_relative] = of_image * .5 / n[is_relative]
        copies, error = sums[:, SUMS.index("X+Y+W")], (abs(sums - y[:, None]) * weight[:, None])[own]
        gains = purer(np, votes_of(np, sums, y, weight * copies, own)[own]) if related else nearer(
            np, error) if not even else alike(np, np.minimum(y / copies, FARTHEST)[own],
                                                         (weight * copies)[own])
        tree = grow(np, x[own], gains, error, leaves[kind])
        texts[kind] = text(tree)
        which = np.zeros(len(y), int)
        apply(np, tree, x, np.arange(len(y)), which)
        for i in np.nonzero(~own)[0]:
            t, s, w = rows[i]
            for n in of(kind, s):
                a = (n, s[0], t)
                truth[a] = truth.get(a, 0) + w * nets[n][key(s)]
                told[a] = told.get(a, 0) + sums[i, which[i]] * nets[n][key(s)]
    errors = sorted(abs(told[a] - truth[a]) / truth[a] for a in truth
                    if a[1] >= 4 and whole[a] >= 8 << 20 and 2 * truth[a] >= whole[a])
    return texts, errors, sum(told.values()) / max(1, sum(truth.values()))


DRIVEN = [(80, ""), (90, ""), (90, "no-tf32")]
PRODUCTS, TAKEN = "ckpmow", ["0", "P", "-"]
FOURIER = "c<=24?-:k<=24?-:k<=100?p<=1089?t<=128?F:t<=256?o<=20000000?-:F:-:f<=9?-:c<=100?p<=4096?-F:-:-:-"
TO_64 = "f<=9?c<=32?m<=11999?-:p<=4096?X+W:-:c<=56?-:s<=1?p<=196?-:p<=784?m<=16384?X+W:-:p<=4096?m<=66000?X+W:-:-:-:-"
OF_PRODUCTS = "n<=0?k<=192?X+Y+B:m<=6272?X+Y+B:X+Y+A:m<=8191?-:k<=192?X+Y+B:X+Y+A"
SPLITS = {
    "fwd": f"g<=1?f<=1?n<=0?c<=64?0:-:-:c<=29?-:c<=96?k<=56?-:k<=64?c<=64?{TO_64}:-:k<=112?-:k<=128?s<=1?m<=45999?-:"
    "X+W:m<=11999?-:X+W:-:-:-",
    "dgrad": "g<=1?f<=1?n<=0?c<=64?0:c<=128?p<=49?-:0:-:-:-:-",
    "wgrad": f"g<=1?c<=24?-:k<=24?-:o<=300000000?-:f<=1?{OF_PRODUCTS}:f<=9?k<=64?c<=64?X+Y+W+C:m<=32768?X+Y+W+C:"
    "X+Y+W+E:i<=5?X+Y+W+B:i<=18?m<=12544?X+Y+W+B:X+Y+W+A:i<=32?X+Y+W+B:i<=36?X+Y+W+A:i<=72?m<=3136?X+Y+W:X+Y+W+B:"
    "i<=144?X+Y+W+A:X+Y+W:-:-",
}
FILTERS = {(90, ""): f"f<=8?{FOURIER}:f<=9?m<=4095?p<=48?-:d<=3456?o<=10000000?-:o<=1000000000?V:-:-:-:{FOURIER}",
           (90, "no-tf32"): "f<=8?-:f<=9?c<=3?-:V:-"}
FORWARDS = {(90, "no-tf32"): "f<=8?-:f<=9?c<=100?-:k<=100?-:c<=256?k<=256?t<=32?p<=783?-:G:t<=64?p<=3135?-:G:-:-:-:-"}


def is_product(s):
    return s[5:7] == [1, 1] and s[7:9] == [0, 0] and s[9:11] == [1, 1] and s[13] == 1


def driver(a):
    import numpy as np
    device = [json.loads(line) for line in open(a.device)]
    texts = {}
    for t, kind in itertools.product(("f32", "bf16"), KINDS):
        rows = [r for r in device if (r["type"], r["op"]) == (t, kind) and is_product(r["size"])]
        n, c, h, w, k = np.array([r["size"][:5] for r in rows], float).T
        p, whole = h * w, n * c * k * 4
        copies = n * p * (c + k) * BYTES[t]
        x = np.stack([c, k, p, n * p, n * p * c * k, np.floor(100 * whole / copies)], 1)
        says = lambda of: np.array([r[of][0][1] for r in rows], float)
        y, without = says("handle"), says("without_driver")
        sums = np.stack([0 * y, whole, without], 1)
        error, told = abs(sums - y[:, None]) / copies[:, None] ** .5, 0 * y
        shapes_ = sorted({tuple(r["size"][1:]) for r in rows})
        for half in (0, 1, None):
            own = np.array([half is None or shapes_.index(tuple(r["size"][1:])) % 2 == half for r in rows])
            tree = grow(np, x[own], nearer(np, error[own]), error[own], {"wgrad": 4}.get(kind, 3), least=6)
            which = np.zeros(len(y), int)
            apply(np, tree, x, np.arange(len(y)), which)
            if half is not None:
                told[~own] = sums[np.arange(len(y)), which][~own]
        texts[t, kind] = text(tree, PRODUCTS, TAKEN)
        share = lambda v: (v / n).sum() / (copies / n).sum()
        print(t, kind, f"products: {share(y):.3f} of the operands are taken; the rule is off by "
              f"{share(abs(told - y)):.3f}, the library without a driver by {share(abs(without - y)):.3f}",
              file=sys.stderr)
    for (sm, setting), t in itertools.product(DRIVEN, ("f32", "bf16")):
        if not is_asked(sm, t, setting):
            continue
        own = {"fwd": FORWARDS, "dgrad": {}, "wgrad": FILTERS} if t == "f32" else dict.fromkeys(KINDS, {})
        rest = {k: ("-" if setting else texts[t, k]) + ":" + own[k].get((sm, setting), "-") for k in KINDS}
        print(f"{{.sm = {sm}, .half = {str(t != 'f32').lower()}, .last = false, .driver = true,"
              f"{' .no_tf32 = true,' if setting else ''}\n .workspace = {{")
        print_rules({k: f"n<=0?-:f<=1?{rest[k]}" for k in KINDS})
        if (sm, t, setting) == (90, "f32", ""):
            print("{.more = true,\n .workspace = {")
            print_rules(SPLITS)


def print_rules(texts):
    print(",\n".join("\n".join(f'     "{line}"' for line in folded(texts[k])) for k in KINDS) + "}},")


def folded(s, width=106):
    while len(s) > width:
        at = max(s.rfind("?", 0, width), s.rfind(":", 0, width)) + 1
        yield s[:at]
        s = s[at:]
    yield s


def rule(a):
    import numpy as np
    nets, stored = json.load(open(a.nets)), {}
    half_of = {tuple(map(int, s.split())) for n in sorted(nets)[::2] for s in nets[n]}
    for r in map(json.loads, lzma.open(os.path.join(a.oracle, "cudnn/workspaces.jsonl.xz"), "rt")):
        if r.get("workspace") is not None:
            shape = tuple(r[k] for k in ("n", "c", "h", "w", "k", "r", "s", "pad_h", "pad_w", "stride_h", "stride_w",
                                         "dil_h", "dil_w", "groups"))
            stored.setdefault((r["sm"], r["type"], r["layout"]), []).append((r["op"], shape, r["workspace"]))
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* cudnn.h - the rows of cudnn.c: what cuDNN 9.19.0 takes; written by tests/oracle/workspaces.py. */")
    print("/* clang-format off */")
    for setting, sm, half, layout in itertools.product(SETTINGS, DEVICES, (False, True), ("nchw", "nhwc")):
        have = [t for t in types_of(sm) if (t != "f32") == half and is_asked(sm, t, setting)
                and os.path.exists(file_of(a, sm, t, layout, setting))]
        data, related = {k: [] for k in KINDS}, set()
        for t in have:
            kinds, more = answers(a, sm, t, layout, setting, stored, half_of)
            related |= more
            for k, of in kinds.items():
                data[k] += [(t, s, w) for s, w in of.items()]
        if not all(data.values()):
            continue
        even = not half and (sm in EVEN or setting == "no-tf32")
        leaves = dict.fromkeys(KINDS, RELATED[sm]) if related else LEAVES
        texts, errors, ratio = fit(np, nets, data, BYTES[have[0]], even, leaves, related)
        at = lambda p: round(100 * errors[int(p * (len(errors) - 1))]) if errors else 100  # hardly any is taken
        flag = f" .{setting.replace('-', '_')} = true," if setting else ""
        print(f"{{.sm = {sm}, .half = {str(half).lower()}, .last = {str(layout == 'nhwc').lower()},{flag} "
              f".median = {at(.5)}, .most = {at(.95)},\n .workspace = {{")
        print_rules(texts)
        print(sm, have, layout, setting, f"{len(errors)} sums, all together {ratio:.3f} of what the library says",
              file=sys.stderr)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = ap.add_subparsers(required=True)
    all_ = ["oracle", "nets", "answers"]
    for run, names in ((shapes, ["nets"]), (ask, all_), (rule, all_), (driver, ["device"]), (versions, all_[:2])):
        p = sub.add_parser(run.__name__)
        for n in names:
            p.add_argument(n)
        p.set_defaults(run=run)
        if run is versions:
            p.add_argument("libraries", nargs="+", metavar="NAME=FOLDERS")
        if run in (ask, versions):
            p.add_argument("--gcc", action="append", default=["-lcudnn"], help="of the compiler: where cuDNN lies")
    a = ap.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
