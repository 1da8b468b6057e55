/* SPDX-License-Identifier: Apache-2.0 */
/* all.h - every room, for tests. */
#include "advice/advice.h"
#include "advice/edit.h"
#include "cli/cli.h"
#include "lower/lowering.h"
#include "onnx/onnx.h"
#include "torch/run.h"
