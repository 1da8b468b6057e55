# SPDX-License-Identifier: Apache-2.0
"""How a model is spread over processes: which modules DistributedDataParallel or fully_shard have wrapped. The step
that is captured is that of the model inside, of one process and without what they gather and reduce."""

from __future__ import annotations

import contextlib
import sys


def known(module, name):
    """A class of torch.distributed, where the program has imported it."""
    return getattr(sys.modules.get(f"torch.distributed.{module}"), name, ())


def inside(model):
    """The model that DistributedDataParallel wraps, or itself. ValueError where no model can be seen inside."""
    sharded = known("fsdp", "FullyShardedDataParallel")
    if sharded and any(isinstance(m, sharded) for m in model.modules()):
        raise ValueError(
            "memlint: FullyShardedDataParallel hides the parameters in flat ones: give the model as it is before that, "
            "or wrap it by torch.distributed.fsdp.fully_shard"
        )
    ddp = getattr(sys.modules.get("torch.nn.parallel"), "DistributedDataParallel", ())
    return model.module if ddp and isinstance(model, ddp) else model


def lines(model):
    """The units of a model, a line each: "ddp . world=8 bucket=26214400 view=0 static=0 unused=0", "fully_shard
    layers.0 world=8 reshard=1 param=bfloat16 reduce=float32 offload=1 meta=1", over nodes "fully_shard . world=32
    shard=8 reshard=1". A dot is the model itself."""
    found = []
    if inside(model) is not model:
        world, view = model.process_group.size(), model.gradient_as_bucket_view
        found.append(
            f"ddp . world={world} bucket={model.bucket_bytes_cap} view={int(view)} "
            f"static={int(model.static_graph)} unused={int(model.find_unused_parameters)}"
        )
    shards = known("fsdp", "FSDPModule")
    for name, m in inside(model).named_modules():
        if shards and isinstance(m, shards):
            group = m._get_fsdp_state()._fsdp_param_group
            words = ["fully_shard", name or "."]
            if group:
                mesh = group.mesh_info
                words += [f"world={mesh.mesh.size()}"]
                words += [f"shard={mesh.shard_mesh_size}"] if mesh.shard_mesh_size != mesh.mesh.size() else []
                words += [f"reshard={int(bool(group.post_forward_mesh_info))}"]
                policy = group.mp_policy
                reduce = policy.reduce_dtype or policy.param_dtype
                words += [f"param={str(policy.param_dtype).split('.')[-1]}"] if policy.param_dtype else []
                words += [f"reduce={str(reduce).split('.')[-1]}"] if reduce else []
                words += ["offload=1"] if "CPU" in type(group.offload_policy).__name__ else []
                words += ["meta=1"] if any(p.sharded_param.is_meta for p in group.fsdp_params) else []
            found.append(" ".join(words))
    return found


@contextlib.contextmanager
def without_hooks(model):
    """The model without fully_shard's hooks, which gather parameters before a module runs."""
    shards, saved = known("fsdp", "FSDPModule"), []
    for m in model.modules() if shards else ():
        for table in (m._forward_pre_hooks, m._forward_hooks):
            for key, hook in list(table.items()):
                if type(getattr(hook, "__self__", None)).__name__ == "FSDPState":
                    saved.append((table, dict(table)))
                    del table[key]
    try:
        yield
    finally:
        for table, hooks in reversed(saved):
            table.clear()
            table.update(hooks)
