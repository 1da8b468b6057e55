#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of other frameworks, exported by their own converters: what does memlint say first of each?

    foreign.py MEMLINT --keep DIR [--environments DIR] [--only REGEX] [--pack FILE] [--table]

For each framework an environment is built (venv and pip), whose own Python makes models and converts them. The large
tensors go; then memlint reads each file. --pack writes what tests/foreign.sh replays: the files, and beside the archive
a table: the kind of file, how many numbers may be trained, and what memlint says first. These are what PyTorch would
train of the same layers, and tensors of one number, which may be constants; 0 where nothing is trained by gradients.
Exit 1 when a file has a sure answer, or memlint trains more.
"""

import argparse, glob, io, json, os, re, subprocess, sys, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# ---- inside of an environment: each makes files NAME.onnx, and yields names and the numbers that are trained ---------


def tensorflow():
    import keras, numpy, tensorflow as tf, tf2onnx
    from keras import layers as K

    numpy.object = object  # which tf2onnx 1.17 asks for
    cnn = [K.Conv2D(16, 3, padding="same", use_bias=False), K.BatchNormalization(), K.ReLU(), K.MaxPooling2D()]
    cnn += [K.Conv2D(32, 3, strides=2, activation="relu"), K.GlobalAveragePooling2D(), K.Dropout(0.1)]
    x = K.Input((32, 64))
    y = K.LayerNormalization()(x)
    y = K.Add()([x, K.MultiHeadAttention(4, 16)(y, y)])
    z = K.Dense(64)(K.Dense(256, activation="gelu")(K.LayerNormalization()(y)))
    models = {
        "mlp": keras.Sequential([K.Input((64,)), K.Dense(512, activation="relu"), K.Dense(10)]),
        "cnn": keras.Sequential([K.Input((32, 32, 3)), *cnn, K.Dense(10, activation="softmax")]),
        "lstm": keras.Sequential([K.Input((32,), dtype="int32"), K.Embedding(500, 64), K.LSTM(96), K.Dense(10)]),
        "transformer": keras.Model(x, K.Add()([y, z])),
    }
    for name, m in models.items():
        m(tf.zeros((2,) + m.input_shape[1:], m.inputs[0].dtype))
        m.export(f"keras.{name}.onnx", format="onnx", verbose=False)
        twice = 384 * (name == "lstm")  # PyTorch's cells have a second bias
        yield f"keras.{name}", sum(int(tf.size(v)) for v in m.trainable_variables) + twice
    sizes = (tf.TensorSpec((None, None, None, 3), tf.uint8),)

    def scaled(images):
        return tf.image.resize(tf.cast(images, tf.float32), (224, 224)) / 127.5 - 1.0

    function = tf.function(scaled, input_signature=sizes)
    tf2onnx.convert.from_function(function, input_signature=sizes, output_path="tensorflow.scaled.onnx")
    yield "tensorflow.scaled", 0


def jax():
    import jax, jax.numpy as jnp, onnx
    from flax import nnx
    from jax2onnx import to_onnx

    class Mlp(nnx.Module):
        def __init__(self, rngs):
            self.a, self.n = nnx.Linear(64, 256, rngs=rngs), nnx.LayerNorm(256, rngs=rngs)
            self.b = nnx.Linear(256, 10, rngs=rngs)

        def __call__(self, x):
            return self.b(nnx.gelu(self.n(self.a(x))))

    class Cnn(nnx.Module):
        def __init__(self, rngs):
            self.a, self.b = nnx.Conv(3, 16, (3, 3), rngs=rngs), nnx.Linear(16, 10, rngs=rngs)
            self.n = nnx.BatchNorm(16, use_running_average=True, rngs=rngs)

        def __call__(self, x):
            return self.b(jnp.mean(nnx.relu(self.n(self.a(x))), axis=(1, 2)))

    class Attention(nnx.Module):
        def __init__(self, rngs):
            self.a = nnx.MultiHeadAttention(4, 64, rngs=rngs, decode=False)
            self.n = nnx.LayerNorm(64, rngs=rngs)

        def __call__(self, x):
            return x + self.a(self.n(x))

    for name, model, size in (
        ("mlp", Mlp, ("B", 64)),
        ("cnn", Cnn, ("B", 32, 32, 3)),
        ("attention", Attention, ("B", 32, 64)),
    ):
        m = model(nnx.Rngs(0))
        onnx.save(to_onnx(m, [size]), f"jax.{name}.onnx")
        yield f"jax.{name}", sum(p.size for p in jax.tree.leaves(nnx.state(m, nnx.Param)))
    onnx.save(to_onnx(lambda x: (x / 255.0 - 0.5) / 0.25, [("B", 32, 32, 3)]), "jax.scaled.onnx")
    yield "jax.scaled", 0


def paddle():
    import paddle
    from paddle import nn

    class Cnn(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.n, self.drop = nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16), nn.Dropout(0.1)
            self.b = nn.Linear(16, 10)

        def forward(self, x):
            return self.b(self.drop(nn.functional.relu(self.n(self.a(x))).mean([2, 3])))

    for name, model, size in (
        ("lenet", paddle.vision.models.LeNet(), [None, 1, 28, 28]),
        ("cnn", Cnn(), [None, 3, 32, 32]),
        ("encoder", nn.TransformerEncoderLayer(64, 4, 256), [None, 32, 64]),
    ):
        model.eval()
        spec = paddle.static.InputSpec(size, "float32", "x")
        paddle.onnx.export(model, f"paddle.{name}", input_spec=[spec], opset_version=17)
        yield f"paddle.{name}", sum(p.size for p in model.parameters() if not p.stop_gradient)


def classical():
    import catboost, lightgbm, numpy, onnx, onnxmltools, skl2onnx, xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    from skl2onnx.common.data_types import StringTensorType
    from sklearn import cluster, decomposition, ensemble, gaussian_process, linear_model, neighbors, neural_network
    from sklearn import pipeline, preprocessing, svm
    from sklearn.feature_extraction.text import TfidfVectorizer

    x = numpy.random.RandomState(0).rand(200, 8).astype(numpy.float32)
    y = (x.sum(1) > 4).astype(int)
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    models = {
        "pipeline": scaled,
        "forest": ensemble.RandomForestClassifier(10),
        "boosting": ensemble.GradientBoostingRegressor(n_estimators=10),
        "mlp": neural_network.MLPClassifier((32,), max_iter=5),
        "kmeans": cluster.KMeans(3),
        "pca": decomposition.PCA(2),
        "svm": svm.SVC(),
        "gaussian": gaussian_process.GaussianProcessRegressor(),
        "neighbors": neighbors.KNeighborsClassifier(),
    }
    for name, m in models.items():
        onnx.save(skl2onnx.to_onnx(m.fit(x, y), x[:1]), f"sklearn.{name}.onnx")
        yield f"sklearn.{name}", 0
    words = TfidfVectorizer().fit(["one two three", "two four"])
    onnx.save(skl2onnx.to_onnx(words, initial_types=[("words", StringTensorType([None]))]), "sklearn.tfidf.onnx")
    yield "sklearn.tfidf", 0
    types = [("x", FloatTensorType([None, 8]))]
    trees = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(x, y)
    onnx.save(onnxmltools.convert_lightgbm(trees, initial_types=types, zipmap=False), "lightgbm.onnx")
    yield "lightgbm", 0
    trees = xgboost.XGBClassifier(n_estimators=5).fit(x, y)
    onnx.save(onnxmltools.convert_xgboost(trees, initial_types=types), "xgboost.onnx")
    yield "xgboost", 0
    catboost.CatBoostClassifier(iterations=5, verbose=0).fit(x, y).save_model("catboost.onnx", format="onnx")
    yield "catboost", 0


def mxnet():
    import mxnet, numpy
    from mxnet.gluon import nn

    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())
    net.add(nn.Dropout(0.1), nn.Dense(10))
    net.initialize()
    net.hybridize()
    net(mxnet.nd.zeros((1, 3, 32, 32)))
    net.export("net")
    size = [(1, 3, 32, 32)]
    mxnet.onnx.export_model("net-symbol.json", "net-0000.params", size, numpy.float32, "mxnet.cnn.onnx")
    yield "mxnet.cnn", sum(p.data().size for p in net.collect_params().values() if p.grad_req != "null")


def chainer():
    import chainer, chainer.functions as F, chainer.links as L, numpy, onnx_chainer

    class Cnn(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.a, self.n, self.b = L.Convolution2D(3, 16, 3, pad=1), L.BatchNormalization(16), L.Linear(16, 10)

        def forward(self, x):
            return self.b(F.average(F.relu(self.n(self.a(x))), axis=(2, 3)))

    model = Cnn()
    onnx_chainer.export(model, numpy.zeros((1, 3, 32, 32), numpy.float32), filename="chainer.cnn.onnx")
    yield "chainer.cnn", sum(p.size for p in model.params())


def caffe2():
    import numpy, onnx
    from caffe2.python import brew, model_helper, workspace
    from caffe2.python.onnx import frontend
    from caffe2.python.predictor import mobile_exporter

    m = model_helper.ModelHelper(name="net")
    brew.conv(m, "data", "conv", 3, 16, 3, pad=1)
    brew.relu(m, "conv", "relu")
    brew.average_pool(m, "relu", "pool", global_pooling=True)
    brew.fc(m, "pool", "fc", 16, 10)
    brew.softmax(m, "fc", "softmax")
    m.net.Proto().external_output.extend(["softmax"])
    workspace.FeedBlob("data", numpy.zeros((1, 3, 32, 32), numpy.float32))
    workspace.RunNetOnce(m.param_init_net)
    first, net = mobile_exporter.Export(workspace, m.net, m.params)
    onnx.save(frontend.caffe2_net_to_onnx_model(net, first, {"data": (1, (1, 3, 32, 32))}), "caffe2.cnn.onnx")
    yield "caffe2.cnn", sum(workspace.FetchBlob(str(p)).size for p in m.params)


def cntk():
    import cntk, numpy
    from cntk import layers as L

    with L.default_options(activation=cntk.relu):
        first = [L.Convolution2D((3, 3), 16, pad=True), L.BatchNormalization(), L.MaxPooling((2, 2), (2, 2))]
        model = L.Sequential(first + [L.Dropout(0.1), L.Dense(10, activation=None)])
    model = model(cntk.input_variable((3, 32, 32)))
    model.save("cntk.cnn.onnx", format=cntk.ModelFormat.ONNX)
    yield "cntk.cnn", sum(int(numpy.prod(p.shape)) for p in model.parameters)


def nnabla():
    import nnabla, nnabla.functions as F, nnabla.parametric_functions as PF
    from nnabla.utils.save import save

    x = nnabla.Variable((4, 3, 32, 32))
    y = F.relu(PF.batch_normalization(PF.convolution(x, 16, (3, 3), pad=(1, 1)), batch_stat=False))
    y = PF.affine(F.global_average_pooling(y), 10)
    network = {"name": "net", "batch_size": 4, "outputs": {"y": y}, "names": {"x": x}}
    run = {"name": "run", "network": "net", "data": ["x"], "output": ["y"]}
    save("net.nnp", {"networks": [network], "executors": [run]})
    command = os.path.join(os.path.dirname(sys.executable), "nnabla_cli")
    subprocess.check_call([command, "convert", "net.nnp", "nnabla.cnn.onnx"])
    yield "nnabla.cnn", sum(p.size for p in nnabla.get_parameters().values())


# The Python of each, and what pip gets. CNTK wants Open MPI's libraries under the names of its version 1.
ENVIRONMENTS = {
    tensorflow: ("3.11", "tensorflow-cpu==2.21.0", "tf2onnx==1.17.0", "onnx<1.20"),
    jax: ("3.11", "jax==0.10.2", "flax==0.12.8", "jax2onnx==0.17.1"),
    paddle: ("3.11", "paddlepaddle==3.3.1", "paddle2onnx==2.1.0", "onnx==1.17.0", "packaging", "setuptools"),
    classical: ("3.11", "scikit-learn==1.9.1", "skl2onnx==1.20.0", "onnxmltools==1.16.0", "onnx<1.20")
    + ("lightgbm==4.7.0", "xgboost==3.2.0", "catboost==1.2.10"),
    mxnet: ("3.8", "mxnet==1.9.1", "numpy<1.24", "onnx==1.12.0", "protobuf<4"),
    chainer: ("3.8", "chainer==7.8.1", "onnx-chainer", "numpy<1.24", "onnx==1.9.0", "protobuf<4", "setuptools"),
    caffe2: ("3.8", "torch==1.8.1", "numpy<1.24", "onnx==1.9.0", "protobuf<4", "future"),
    cntk: ("3.6", "cntk==2.7", "onnx==1.8.1"),
    nnabla: ("3.10", "nnabla", "nnabla-converter", "numpy<2", "onnx<1.17", "protobuf<4"),
}


def inside(make, folder):
    os.chdir(folder)
    for name, trained in make():
        alone = strip(name + ".onnx")
        with open(name + ".trained", "w") as f:
            print(trained, alone, file=f)
        print(name, flush=True)


def strip(path):
    """No numbers of weights, and one line of the producer. Returns how many float tensors are one number."""
    import onnx
    from onnx import numpy_helper

    m, alone = onnx.load(path), 0
    for t in m.graph.initializer:
        alone += t.data_type == onnx.TensorProto.FLOAT and set(t.dims) <= {1}
        size = numpy_helper.to_array(t).nbytes if t.data_type != onnx.TensorProto.STRING else 0
        if size <= 1024:
            continue
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
            t.ClearField(field)
        t.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("length", str(size))):
            e = t.external_data.add()
            e.key, e.value = key, value
    m.producer_name, m.producer_version = (s.splitlines()[0] if s else s for s in (m.producer_name, m.producer_version))
    with open(path, "wb") as f:
        f.write(m.SerializeToString())
    return alone


# ---- outside ---------------------------------------------------------------------------------------------------------


def environment(folder, name, version, *packages):
    python = os.path.join(folder, name, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call(["python" + version, "-m", "venv", os.path.join(folder, name)])
        for what in (("--upgrade", "pip"), packages):
            subprocess.check_call([python, "-m", "pip", "install", "-q", *what])
    return python


def ask(memlint, path):
    """(where the file is from, the numbers that are trained, whether it is sure)"""
    said = subprocess.run([memlint, path, "--format=json"], capture_output=True, text=True, check=False)
    answer = json.loads(said.stdout)
    return answer["provenance"], answer["model"]["trainable_parameters"], answer["verdict"] != "inconclusive"


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("--keep", required=True, metavar="DIR")
    ap.add_argument("--environments", default=os.path.join(tempfile.gettempdir(), "envs"), metavar="DIR")
    ap.add_argument("--only", default="", metavar="REGEX")
    ap.add_argument("--pack", metavar="FILE")
    ap.add_argument("--table", action="store_true")
    ap.add_argument("--inside", help="make the files of that environment, by the Python that runs this")
    a = ap.parse_args()
    keep = os.path.abspath(a.keep)
    if a.inside:
        return inside({make.__name__: make for make in ENVIRONMENTS}[a.inside], keep)
    os.makedirs(keep, exist_ok=True)
    for make, packages in ENVIRONMENTS.items():
        if re.search(a.only, make.__name__):
            python = environment(a.environments, make.__name__, *packages)
            words = [os.path.abspath(__file__), a.memlint, "--keep", keep, "--inside", make.__name__]
            subprocess.check_call([python, *words])
    bad, lines, data = 0, [], {}
    for path in sorted(glob.glob(os.path.join(keep, "*.trained"))):
        name, (trained, alone) = os.path.basename(path)[: -len(".trained")], map(int, open(path).read().split())
        file = path[: -len("trained")] + "onnx"
        said, counted, sure = ask(a.memlint, file)
        most = trained + alone if trained else 0
        wrong = sure or counted > most
        bad += wrong
        if wrong:
            print(f"WRONG {name}: {counted} of {most} numbers, sure: {sure}")
        if a.table:
            print(f"| {name} | {said['text']} |")
        lines.append(f"{name}.onnx\t{said['kind']}\t{most}\t{said['text']}\n")
        data[name + ".onnx"] = open(file, "rb").read()
    if a.pack:
        with tarfile.open(a.pack, mode="w:xz", preset=9) as tar:
            for name, bytes_ in data.items():
                info = tarfile.TarInfo(name)
                info.size = len(bytes_)
                tar.addfile(info, io.BytesIO(bytes_))
        with open(a.pack.replace(".tar.xz", ".tsv"), "w") as f:
            f.writelines(lines)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
